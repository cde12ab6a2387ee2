"""Runs the application in a terminal, which is restored however the program ends.

A signal, or a terminal that is gone, ends the program within a second: it must not go on trading unseen.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import select
import signal
import sys
import termios
import threading
from typing import Any, Final

from tradetui.ui.application.app import TradeApp
from tradetui.wire.text.sanitize import scrub

THREAD_TURN_S: Final = 0.001
"""The longest wait of the threads that read keys and write the screen for the interpreter; Python's is 5 ms."""
GRACE_S: Final = 0.7
"""Seconds for the polite exit, the desk's own ending included."""
RESTORING_S: Final = 0.1
"""Seconds for restoring in the hard exit: a terminal that takes no bytes must not keep the process."""
LOOK_EVERY_MS: Final = 500
SIGNALLED: Final = 128
ENDING: Final = (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT)
"""Signals that would otherwise end the process at once and leave the terminal as it is; Ctrl+C is a key here."""
RESTORE: Final = (
    b"\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
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


class TerminalGuard:
    """Watches over the terminal while an application runs in it; `ended_by` is the signal that ended it, if any."""

    def __init__(self, app: TradeApp) -> None:
        self._app = app
        self._over = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._attributes = _attributes()
        self.ended_by: int | None = None

    def __enter__(self) -> TerminalGuard:
        for number in ENDING:
            self._loop.add_signal_handler(number, self._end, number)
        threading.Thread(target=self._watch, name="terminal watch", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for number in ENDING:
            self._loop.remove_signal_handler(number)

    def _end(self, number: int) -> None:
        if self.ended_by is not None:
            return
        self.ended_by = number
        threading.Thread(target=self._insist, name="terminal end", daemon=True).start()
        self._app.exit(return_code=SIGNALLED + number)

    def _insist(self) -> None:
        if self._over.wait(GRACE_S):
            return
        writer = threading.Thread(target=self._restore, daemon=True)
        writer.start()
        writer.join(RESTORING_S)
        os._exit(SIGNALLED + (self.ended_by or signal.SIGHUP))

    def _restore(self) -> None:
        try:
            os.write(2, RESTORE)
            if self._attributes is not None:
                termios.tcsetattr(0, termios.TCSANOW, self._attributes)
        except (OSError, termios.error):
            return

    def _watch(self) -> None:
        """End when the terminal is gone without a signal: without a controlling one the kernel sends none."""
        poller = select.poll()
        poller.register(0, 0)
        while not self._over.is_set():
            hung_up = any(
                what & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, what in poller.poll(LOOK_EVERY_MS)
            )
            if hung_up or _gone():
                self._loop.call_soon_threadsafe(self._end, signal.SIGHUP)
                return


def _gone() -> bool:
    try:
        os.tcgetpgrp(sys.__stdout__.fileno() if sys.__stdout__ else 1)
    except OSError as problem:
        return problem.errno in (errno.EIO, errno.ENXIO, errno.EBADF)
    return False


def _attributes() -> list[Any] | None:
    try:
        return termios.tcgetattr(0)
    except (OSError, termios.error):
        return None
