"""Asks which symbol is meant, and with both legs held which leg."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input


class SymbolDialog(ModalScreen[str | None]):
    """Returns what was typed, in capitals and with single spaces, None where nothing was."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "Cancel")]

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Reverse which symbol?"
            yield Input(placeholder="BTCUSDT; in hedge mode with the leg: BTCUSDT SHORT")

    @on(Input.Submitted)
    def _given(self, event: Input.Submitted) -> None:
        self.dismiss(" ".join(event.value.upper().split()) or None)
