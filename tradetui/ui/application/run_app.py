"""Runs the application in a terminal, which is restored however the program ends.

A signal, or the loss of the terminal, ends the program within a second: it must not keep trading unseen.

Also makes pictures of the running application without a terminal: SVG, or plain text.
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
from collections.abc import Sequence
from typing import Any, Final

from textual._context import visible_screen_stack
from textual.app import App

from tradetui.ui.application.app import TradeApp
from tradetui.ui.key_bindings.profile_bindings import is_key_name
from tradetui.wire.text import scrub

THREAD_TURN_S: Final = 0.001
"""The longest time that the threads reading keys and writing the screen wait for the interpreter; Python's is 5 ms."""
GRACE_S: Final = 0.7  # seconds for the polite exit, the desk's own ending included
RESTORING_S: Final = 0.1
"""Seconds for restoring in the hard exit: a terminal that takes no bytes must not keep the process."""
LOOK_EVERY_MS: Final = 500
SIGNALLED: Final = 128  # an exit code above it is this number and a signal's, as shells count
ENDING: Final = (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT)
"""Signals that would otherwise end the process at once and leave the terminal as it is; Ctrl+C is a key here."""
RESTORE: Final = (
    b"\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""Undoes the modes of Textual's driver: pastes, mouse, kitty's keys, the other screen, the hidden cursor, focus."""
_HUNG_UP: Final = select.POLLHUP | select.POLLERR | select.POLLNVAL
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
    """Ends the application on a signal or the loss of the terminal: politely first, then by force."""

    def __init__(self, app: TradeApp) -> None:
        self._app = app
        self._has_ended = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._attributes_before = _terminal_attributes()
        self._signal: int | None = None

    def __enter__(self) -> TerminalGuard:
        for number in ENDING:
            self._loop.add_signal_handler(number, self._end, number)
        threading.Thread(target=self._watch, name="terminal watch", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._has_ended.set()
        for number in ENDING:
            self._loop.remove_signal_handler(number)

    def _end(self, number: int) -> None:
        if self._signal is not None:
            return
        self._signal = number
        threading.Thread(target=self._force_end, name="terminal end", daemon=True).start()
        self._app.exit(return_code=SIGNALLED + number)

    def _force_end(self) -> None:
        """Restore the terminal and end the process, unless the application ended by itself meanwhile."""
        if self._has_ended.wait(GRACE_S):
            return
        writer = threading.Thread(target=self._restore, daemon=True)
        writer.start()
        writer.join(RESTORING_S)
        os._exit(SIGNALLED + (self._signal or signal.SIGHUP))

    def _restore(self) -> None:
        try:
            os.write(2, RESTORE)
            if self._attributes_before is not None:
                termios.tcsetattr(0, termios.TCSANOW, self._attributes_before)
        except (OSError, termios.error):
            return

    def _watch(self) -> None:
        """End when the terminal is gone without a signal: without a controlling one the kernel sends none."""
        poller = select.poll()
        poller.register(0, 0)
        while not self._has_ended.is_set():
            polled = poller.poll(LOOK_EVERY_MS)
            if any(events & _HUNG_UP for _, events in polled) or _is_terminal_gone():
                self._loop.call_soon_threadsafe(self._end, signal.SIGHUP)
                return


def _is_terminal_gone() -> bool:
    try:
        os.tcgetpgrp(sys.__stdout__.fileno() if sys.__stdout__ else 1)
    except OSError as problem:
        return problem.errno in (errno.EIO, errno.ENXIO, errno.EBADF)
    return False


def _terminal_attributes() -> list[Any] | None:
    try:
        return termios.tcgetattr(0)
    except (OSError, termios.error):
        return None


DRAWN_WITHIN_S = 0.3


async def picture(app: App[Any], size: tuple[int, int], after: float, keys: Sequence[str], *, as_text: bool) -> str:
    """Run for some seconds, press the keys (Textual's names, `wait:500` waits) and return the screen."""
    async with app.run_test(size=size, notifications=True) as pilot:
        await asyncio.sleep(after)
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
        if keys:
            await asyncio.sleep(DRAWN_WITHIN_S)
        await pilot.pause()
        return screen_text(app) if as_text else app.export_screenshot(simplify=True)


def is_key(name: str) -> bool:
    """Whether a key can be pressed by this name: one character, Textual's name of it, or `wait:` and milliseconds."""
    if name.startswith("wait:"):
        return name[5:].isdecimal()
    return is_key_name(name)


def screen_text(app: App[Any]) -> str:
    """The characters on the screen, line by line, without colours; behind a dialog, those of the screen."""
    visible_screen_stack.set(app._background_screens)
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips()) + "\n"
