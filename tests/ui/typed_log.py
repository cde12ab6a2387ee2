"""A field for a secret on the program's own application, for a terminal; run by a test that reads the logs."""

from __future__ import annotations

import sys
from typing import Any

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Input

from tests.ui.crashing import _no_desk
from tradetui.ui.application.app import TradeApp
from tradetui.ui.settings.ui_settings import ProfileChoice, UiSettings
from tradetui.ui.tty.run_app import run_app


class SecretScreen(Screen[None]):
    """One field; Enter ends the program."""

    def compose(self) -> ComposeResult:
        yield Input(password=True)

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.app.title = "ready"

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.app.exit(return_code=0 if event.value == sys.argv[1] else 9)


class TypedApp(TradeApp):
    """The application with that field in front."""

    def get_default_screen(self) -> Screen[Any]:
        return SecretScreen()


if __name__ == "__main__":
    sys.exit(run_app(TypedApp(UiSettings("SANDBOX", "TRADE", [ProfileChoice("none", _no_desk)]))))
