"""The registry's bindings as Textual takes them."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from tradetui.ui.keys.registry import BINDINGS


def bindings(where: str) -> list[BindingType]:
    """The bindings of one screen, each with the id by which a profile may change its keys."""
    return [
        Binding(
            binding.keys,
            binding.action,
            binding.description,
            tooltip=binding.tooltip,
            id=binding.id,
            show=binding.hint,
            priority=binding.in_dialogs,
        )
        for binding in BINDINGS
        if where in binding.where
    ]
