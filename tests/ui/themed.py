"""The program in the theme named on the command line, without an exchange; run by the tests in a pseudo-terminal.

With the argument `mouse=off` it leaves the mouse to the terminal.
"""

from __future__ import annotations

import sys

from tradetui.desk.desk import Desk
from tradetui.ui.application.app import TradeApp
from tradetui.ui.settings.ui_settings import ProfileChoice, UiSettings
from tradetui.ui.tty.run_app import run_app


def _no_desk() -> Desk:
    raise ValueError("no exchange here")


if __name__ == "__main__":
    choices = [ProfileChoice("none", _no_desk)]
    settings = UiSettings("SANDBOX", "TRADE", choices, theme=sys.argv[1], mouse="mouse=off" not in sys.argv)
    sys.exit(run_app(TradeApp(settings)))
