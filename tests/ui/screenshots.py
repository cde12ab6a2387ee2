"""Draws the pictures of `screenshots/` from the embedded exchange in virtual time: the same bytes at each run.

`python -m tests.ui.screenshots [FOLDER]` writes them all.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import looptime
from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui.virtual import Stage
from tradetui.ui.screenshot import screen_svg

FOLDER = Path(__file__).parents[2] / "screenshots"
Play = Callable[[Stage, Pilot[None]], Awaitable[None]]


async def _as_it_is(stage: Stage, pilot: Pilot[None]) -> None:
    await asyncio.sleep(0)


async def _detail(stage: Stage, pilot: Pilot[None]) -> None:
    await pilot.press("3", "enter")


async def _help(stage: Stage, pilot: Pilot[None]) -> None:
    await pilot.press("question_mark")


async def _exchange_down(stage: Stage, pilot: Pilot[None]) -> None:
    stage.sandbox.faults.next("dropped-before", times=1_000_000)
    await asyncio.sleep(40)
    await pilot.pause()


async def play_reversal(stage: Stage, pilot: Pilot[None]) -> None:
    stage.sandbox.world.still = True
    await asyncio.sleep(3)
    await pilot.press("R")
    await asyncio.sleep(2)


async def _reversal_uncertain(stage: Stage, pilot: Pilot[None]) -> None:
    await play_reversal(stage, pilot)
    dialog = stage.app.screen
    dialog.query_one("#size", Input).focus()
    await pilot.press("0", "full_stop", "0", "5", "enter")
    await asyncio.sleep(2)


async def _reversal_outcome(stage: Stage, pilot: Pilot[None]) -> None:
    await play_reversal(stage, pilot)
    stage.sandbox.faults.next("closed-only")
    await pilot.press("tab", "enter")
    await asyncio.sleep(8)


class Scene:
    """One picture: a size, how the session is set up, and what happens in it."""

    def __init__(
        self,
        size: tuple[int, int],
        play: Play = _as_it_is,
        *,
        account: str = "hedge",
        read_only: bool = False,
        after: float = 8.0,
    ):
        self.account = account
        self.size = size
        self.play = play
        self.read_only = read_only
        self.after = after

    async def draw(self) -> str:
        """The picture as SVG."""
        stage = Stage(self.account, read_only=self.read_only)
        async with stage.running(self.size, self.after) as pilot:
            await self.play(stage, pilot)
            await pilot.pause()
            return screen_svg(stage.app)


SCENES = {
    "main-200x60": Scene((200, 60)),
    "main-120x36": Scene((120, 36)),
    "main-80x24": Scene((80, 24)),
    "monitor": Scene((160, 48), read_only=True),
    "detail": Scene((120, 36), _detail),
    "help": Scene((120, 52), _help),
    "reversal-hedge": Scene((120, 52), play_reversal),
    "reversal-one-way": Scene((120, 52), play_reversal, account="one-way"),
    "reversal-uncertain": Scene((120, 56), _reversal_uncertain, account="one-way"),
    "reversal-outcome": Scene((120, 36), _reversal_outcome),
    "exchange-down": Scene((120, 36), _exchange_down),
}


def drawn(scene: Scene) -> str:
    """One picture, drawn in a virtual time of its own."""
    loop = looptime.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(scene.draw())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def write(scenes: Mapping[str, Scene], folder: Path) -> None:
    """Write every picture."""
    folder.mkdir(exist_ok=True)
    for name, scene in scenes.items():
        (folder / f"{name}.svg").write_text(drawn(scene), encoding="utf-8")
        sys.stdout.write(f"{folder / name}.svg\n")


if __name__ == "__main__":
    write(SCENES, Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
