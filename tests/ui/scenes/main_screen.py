"""The main screen: its sizes and states, and what opens over it for one row or for all."""

from __future__ import annotations

import asyncio
from functools import partial

from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui.fixtures.app_on_sandbox import AppOnRecentFills, AppOnSandbox
from tests.ui.scenes.plays import press
from tests.ui.scenes.scene import SIZE, Scene
from tradetui.sandbox.app import Sandbox


async def _exchange_down(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    stage.sandbox.faults.next("dropped-before", times=1_000_000)
    await asyncio.sleep(40)
    await pilot.pause()


def _answer_late(sandbox: Sandbox) -> None:
    sandbox.faults.next("delay", times=1_000)


async def _export(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await press("3", "e")(stage, pilot)
    stage.app.screen.query_one(Input).value = "orders.xlsx"
    # Where the program runs is this machine's own.
    stage.app.screen.query("Static").first().update("A file in /home/trader, or any other path; .csv or .json.")  # type: ignore[attr-defined]
    await press("enter")(stage, pilot)


_HOME = ("SANDBOX   TRADE   hedge", "2 Positions 18", "3 Orders 30", "4 Fills 400")
"""What the main screen shows of the first account, eight seconds after the start."""

_brief = partial(Scene, stage=AppOnRecentFills)

SCENES = {
    "main-200x60": Scene((200, 60), (*_HOME, "1 Accounts 4", "5 Stops 357"), published=True),
    "main-300x80": Scene((300, 80), (*_HOME, "1 Accounts 4", "5 Stops 357")),
    "main-160x48": Scene((160, 48), (*_HOME, "1 Accounts 4", "5 Stops 357")),
    "main-120x36": Scene((120, 36), _HOME, published=True),
    "main-80x24": Scene((80, 24), ("SANDBOX   TRADE   hedge", "2 Positions 18", "BTCUSD   LONG"), published=True),
    "monitor": Scene((160, 48), ("SANDBOX   MONITOR   hedge", "2 Positions 18"), read_only=True, published=True),
    "detail": Scene((120, 36), ("Orders: every field", "As received"), press("3", "enter"), published=True),
    "help": _brief((120, 52), ("╭─ Help", "every key and what it does"), press("question_mark"), published=True),
    "exchange-down": _brief((120, 36), ("✗ link down", "no data for 40 s"), _exchange_down, published=True),
    "columns": _brief(
        SIZE,
        ("Columns of orders", "□ Does ", " 13 wide"),
        press("3", "c", "down", "plus", "space"),
    ),
    "export": _brief(SIZE, ("Export orders", "orders.xlsx", "must end in .csv or .json"), _export),
    "screens": _brief(
        SIZE, ("╭─ Screens", "6 Spot fills", "m Money", "J Journal", "N Create …", "Enter opens"), press("o")
    ),
    "profiles": _brief(SIZE, ("╭─ Profile", "one-way", "copy-new", "Enter opens · Esc back"), press("P")),
    "palette": _brief(SIZE, ("every key and what it does (? F1)",), press("ctrl+p")),
    "filter": _brief(SIZE, ("3 Orders 9/30 /btc", "─ filter orders"), press("3", "slash", "b", "t", "c")),
    "filter-nothing": _brief(SIZE, ("3 Orders 0/30 /none",), press("3", "slash", *"none", "enter")),
    "live-stops": Scene(SIZE, ("─ 5 Waiting stops 9", "closes LONG"), press("5", "v"), after=14.0),
    "paused": _brief(SIZE, ("PAUSED: rows stand still",), press("space")),
    "sorted": _brief(SIZE, ("Price▼",), press("3", "right", "right", "right", "s", "s", "S")),
    "unlock": _brief(SIZE, ("Trading is locked.", "Unlock trading on SANDBOX hedge?"), press("L", "L")),
    "starting": Scene(SIZE, ("SANDBOX   TRADE   hedge", "reading …"), before=_answer_late, after=0.0),
}
