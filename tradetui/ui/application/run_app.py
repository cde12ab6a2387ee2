"""Runs the application in a terminal."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Final

from tradetui.ui.application.app import TradeApp
from tradetui.ui.terminal.terminal_guard import TerminalGuard
from tradetui.wire.text.sanitize import scrub

THREAD_TURN_S: Final = 0.001
"""The longest wait of the threads that read keys and write the screen for the interpreter; Python's is 5 ms."""
_log = logging.getLogger(__name__)


def run_app(app: TradeApp) -> int:
    """Run until the person leaves; returns the exit code: 0, 1 after a failure of the program, 128 + a signal."""
    sys.setswitchinterval(THREAD_TURN_S)
    with asyncio.Runner() as runner:
        runner.run(_until_end(app))
    if app.failure is not None:
        _log.info("%s", app.failure)
    if app.failure is not None and app.return_code:
        failure = "\n".join(map(scrub, app.failure.split("\n")))
        sys.stderr.write(f"tradetui: {failure}\n")
    return app.return_code or 0


async def _until_end(app: TradeApp) -> None:
    with TerminalGuard(app):
        await app.run_async(mouse=app.settings.mouse)
