"""A screen that fails with a secret at hand; run by the tests as a program."""

from __future__ import annotations

import sys

from tradetui.desk.desk import Desk
from tradetui.ui.application.app import TradeApp
from tradetui.ui.settings.ui_settings import ProfileChoice, UiSettings
from tradetui.ui.tty.run_app import run_app


def _no_desk() -> Desk:
    raise ValueError("there is none")


class CrashingApp(TradeApp):
    """Fails soon after it was painted."""

    def on_mount(self) -> None:
        """Fail."""
        self.call_after_refresh(self._fail, "canary-secret")

    def _fail(self, secret: str) -> None:
        passphrase = f"{secret} canary-passphrase"
        raise RuntimeError(passphrase)


if __name__ == "__main__":
    sys.exit(run_app(CrashingApp(UiSettings("SANDBOX", "TRADE", [ProfileChoice("none", _no_desk)]))))
