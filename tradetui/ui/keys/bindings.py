"""The registry's bindings as Textual takes them."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from tradetui.ui.keys.registry import BINDINGS


def bindings(where: str) -> list[BindingType]:
    """The bindings of one screen, each with the id by which a profile may change its keys."""
    return [
        Binding(
            each.keys,
            each.action,
            each.description,
            tooltip=each.tooltip,
            id=each.id,
            show=each.hint,
            priority=each.in_dialogs,
        )
        for each in BINDINGS
        if where in each.where
    ]
