"""Draws the pictures of `tests/ui/pictures/`: every dialog, every theme, and the states of the main screen.

`python -m tests.ui.dialog_pictures [FOLDER]` writes them all, the same bytes at each run.
"""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui.journalled import reversed_once, unknown
from tests.ui.screenshots import Play, Scene, play_reversal, write
from tests.ui.virtual import Stage
from tradetui.ui.themes import THEMES

FOLDER = Path(__file__).parent / "pictures"
SIZE = (110, 34)


async def _pressed(*keys: str, stage: Stage, pilot: Pilot[None]) -> None:
    await pilot.press(*keys)
    await asyncio.sleep(1)


def _press(*keys: str) -> Play:
    async def play(stage: Stage, pilot: Pilot[None]) -> None:
        await _pressed(*keys, stage=stage, pilot=pilot)

    return play


async def _themed(name: str, stage: Stage, pilot: Pilot[None]) -> None:
    stage.app.choose_theme(name)
    await asyncio.sleep(0.5)


async def _export(stage: Stage, pilot: Pilot[None]) -> None:
    await _pressed("3", "e", stage=stage, pilot=pilot)
    stage.app.screen.query_one(Input).value = "orders.xlsx"
    # Where the program runs is this machine's own.
    stage.app.screen.query("Static").first().update("A file in /home/trader, or a path of its own; .csv or .json.")  # type: ignore[attr-defined]
    await _pressed("enter", stage=stage, pilot=pilot)


async def _reversal_scrolled(stage: Stage, pilot: Pilot[None]) -> None:
    await play_reversal(stage, pilot)
    await _pressed("pagedown", "pagedown", stage=stage, pilot=pilot)


async def _reversal_locked(stage: Stage, pilot: Pilot[None]) -> None:
    await pilot.press("L")
    await play_reversal(stage, pilot)


async def _reversal_unread(stage: Stage, pilot: Pilot[None]) -> None:
    stage.sandbox.faults.next("5xx", endpoint="futures.positions", times=1_000)
    await play_reversal(stage, pilot)


async def _journal(stage: Stage, pilot: Pilot[None]) -> None:
    await reversed_once(stage, pilot)
    await _pressed("enter", "J", stage=stage, pilot=pilot)


async def _intent(stage: Stage, pilot: Pilot[None]) -> None:
    await _journal(stage, pilot)
    await _pressed("enter", stage=stage, pilot=pilot)


async def _release(stage: Stage, pilot: Pilot[None]) -> None:
    await unknown(stage, pilot)
    await _pressed("J", stage=stage, pilot=pilot)
    await _pressed("x", stage=stage, pilot=pilot)


SCENES = {
    **{theme.name: Scene(SIZE, partial(_themed, theme.name)) for theme in THEMES},
    "columns": Scene(SIZE, _press("3", "c", "down", "plus", "space")),
    "export": Scene(SIZE, _export),
    "screens": Scene(SIZE, _press("o")),
    "profiles": Scene(SIZE, _press("P")),
    "palette": Scene(SIZE, _press("ctrl+p")),
    "filter": Scene(SIZE, _press("3", "slash", "b", "t", "c")),
    "filter-nothing": Scene(SIZE, _press("3", "slash", "n", "o", "n", "e", "enter")),
    "live-stops": Scene(SIZE, _press("v"), after=14.0),
    "paused": Scene(SIZE, _press("space")),
    "sorted": Scene(SIZE, _press("3", "right", "right", "right", "s", "S")),
    "unlock": Scene(SIZE, _press("L", "L")),
    "which-symbol": Scene(SIZE, _press("4", "R")),
    "reversal-80x24": Scene((80, 24), play_reversal),
    "reversal-80x24-end": Scene((80, 24), _reversal_scrolled),
    "reversal-locked": Scene(SIZE, _reversal_locked),
    "reversal-unread": Scene(SIZE, _reversal_unread),
    "journal": Scene(SIZE, _journal),
    "journal-empty": Scene(SIZE, _press("J")),
    "intent": Scene(SIZE, _intent),
    "release": Scene(SIZE, _release),
    "starting": Scene(SIZE, after=0.0),
}


if __name__ == "__main__":
    write(SCENES, Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
