"""Runs the application in a terminal, or without one for a picture."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence

from tradetui.ui.app import CRASHED, TradeApp
from tradetui.wire.scrub import scrub

LOST_TERMINAL_POLL_S = 0.5


def run(app: TradeApp) -> int:
    """Run until the person leaves; returns the exit code, 0 unless the program failed."""
    loop_runner = asyncio.Runner()
    with loop_runner:
        loop_runner.run(_until_end(app))
    if app.failure is not None and app.return_code:
        sys.stderr.write(f"tradetui: {scrub(app.failure)}\n")
    return app.return_code or 0


async def _until_end(app: TradeApp) -> None:
    loop = asyncio.get_running_loop()
    # A closed terminal, or a polite kill, ends the program by the same way as `q`: screen restored, desk stopped.
    for number in (signal.SIGHUP, signal.SIGTERM):
        loop.add_signal_handler(number, app.exit)
    watch = asyncio.create_task(_watch_terminal(app))
    try:
        await app.run_async()
    finally:
        watch.cancel()


async def _watch_terminal(app: TradeApp) -> None:
    """End the process when the terminal is gone and no signal tells it."""
    loop = asyncio.get_running_loop()
    while True:
        await loop.run_in_executor(None, _pause)
        if _terminal_is_gone():
            os._exit(CRASHED)


def _pause() -> None:
    import select

    select.select([], [], [], LOST_TERMINAL_POLL_S)


def _terminal_is_gone() -> bool:
    try:
        os.tcgetpgrp(sys.__stdout__.fileno() if sys.__stdout__ else 1)
    except OSError as problem:
        import errno

        return problem.errno in (errno.EIO, errno.ENXIO, errno.EBADF)
    return False


async def picture(app: TradeApp, size: tuple[int, int], after: float, keys: Sequence[str], *, as_text: bool) -> str:
    """Run without a terminal, press the keys, and return what is on the screen: SVG, or plain text."""
    async with app.run_test(size=size) as pilot:
        await pilot.pause(after)
        for key in keys:
            await pilot.press(key)
        await pilot.pause()
        return screen_text(app) if as_text else app.export_screenshot(title="tradetui", simplify=True)


def screen_text(app: TradeApp) -> str:
    """What is on the screen as lines of plain text."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips()) + "\n"
