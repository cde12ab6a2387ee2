"""Asks which symbol to reverse, and which of its legs if both are open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.widgets import Input, Static

from tradetui.desk.desk import Desk
from tradetui.desk.reversal.preview import Target
from tradetui.trading.positions import Position
from tradetui.ui.app_protocols import ask_in_dialog
from tradetui.ui.dialogs.dimming_screen import DimmingScreen
from tradetui.ui.key_bindings.line_box import LineBox
from tradetui.ui.safe_text import sanitized


def ask_for_target(app: App[Any], desk: Desk, chosen: Callable[[Target], None]) -> None:
    dialog = SymbolDialog(lambda name: _leg_to_name(Target.named(name), desk.positions.snapshot.rows))
    ask_in_dialog(app, dialog, lambda name: chosen(Target.named(name)))


def _leg_to_name(target: Target, positions: tuple[Position, ...]) -> str:
    """The text to type if both legs of a symbol are open and only the symbol was given; else empty."""
    legs = {position.is_long for position in positions if position.symbol == target.symbol}
    if target.side is not None or not legs >= {True, False}:
        return ""
    return f"Both sides are held: type {target.symbol} LONG or {target.symbol} SHORT."


class SymbolDialog(DimmingScreen[str | None]):
    """Returns the text in capitals, None if nothing was typed; it stays open and shows what `objection` says of it."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "Cancel")]

    def __init__(self, objection: Callable[[str], str]) -> None:
        super().__init__(classes="dialog")
        self._objection = objection

    def compose(self) -> ComposeResult:
        with self.framed("Reverse which symbol?", "Enter shows the reversal · Esc back"):
            yield LineBox(placeholder="BTCUSDT; in hedge mode with the side: BTCUSDT SHORT")
            yield Static("", classes="reason", markup=False)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        name = " ".join(event.value.upper().split())
        if name and (objection := self._objection(name)):
            self.query_one(".reason", Static).update(sanitized(objection))
            return
        self.dismiss(name or None)
