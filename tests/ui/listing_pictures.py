"""Draws the pictures of `tests/ui/snapshots/`: each screen of records in every state, and its form.

`python -m tests.ui.listing_pictures [FOLDER]` writes them all, the same bytes at each run.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

import looptime
from textual.pilot import Pilot
from textual.widgets import Input

from tests.desk.listing_stage import ACCOUNTS
from tests.ui.virtual import Stage
from tradetui.desk.listing_kinds import LISTINGS
from tradetui.ui.screenshot import screen_svg

FOLDER = Path(__file__).parent / "snapshots"
KEYS = {"spot-fills": "6", "spot-bills": "7", "convert": "8", "transfers": "9", "email": "0"}
SIZE, NARROW = (100, 28), (60, 20)
STATES = ("loading", "full", "failed", "empty", "form", "narrow")
_WIDE_RANGE = {"startTime": "30d", "endTime": "0d"}
_EMPTY_RANGE = {"startTime": "89d", "endTime": "89d"}
FULL: Mapping[str, Mapping[str, str]] = {
    "spot-fills": {},
    "spot-bills": {},
    "convert": {},
    "transfers": _WIDE_RANGE,
    "email": {"subUid": "4200000002"},
}
"""What is asked for in each kind's full picture."""
REFUSED = {"email": {"subUid": "1"}}
"""What the exchange refuses; the other kinds fail of its being busy."""
WRONG: Mapping[str, Mapping[str, str]] = {
    "spot-fills": {"symbol": "BTCUSDT", "startTime": "1d", "endTime": "2d"},
    "spot-bills": {"groupType": "gift", "startTime": "100d", "endTime": "0d"},
    "convert": {"startTime": "soon"},
    "transfers": {"startTime": "30d", "endTime": "", "type": "withdrawl"},
    "email": {"subUid": ""},
}
"""What is wrong in each kind's form."""
T = TypeVar("T")


async def pictures(table: str) -> dict[str, str]:
    """Every state of one kind's screen as SVG, from one session."""
    stage, drawn = Stage(ACCOUNTS[table]), {}
    endpoint = LISTINGS[table].endpoint_name
    async with stage.running(SIZE) as pilot:
        await pilot.press(KEYS[table])
        await _settle(pilot)
        if stage.app.screen.query(Input):
            # Nothing is empty that must be named: this is the screen before anything was asked for.
            await pilot.press("escape")
        else:
            await _ask(stage, pilot, _EMPTY_RANGE)
        await _settle(pilot, 3)
        drawn["empty"] = screen_svg(stage.app)
        if table not in REFUSED:
            stage.sandbox.faults.next("5xx", endpoint=endpoint, times=2)
        await _ask(stage, pilot, REFUSED.get(table, FULL[table]))
        await _settle(pilot, 3)
        drawn["failed"] = screen_svg(stage.app)
        stage.sandbox.faults.next("delay", endpoint=endpoint)
        await _ask(stage, pilot, FULL[table])
        drawn["loading"] = screen_svg(stage.app)
        await _settle(pilot, 10)
        drawn["full"] = screen_svg(stage.app)
        await pilot.press("f")
        await pilot.pause()
        for name, text in WRONG[table].items():
            stage.app.screen.query_one(f"#field-{name}", Input).value = text
        await pilot.press("tab")
        await _settle(pilot)
        drawn["form"] = screen_svg(stage.app)
        await pilot.press("escape")
        await pilot.resize_terminal(*NARROW)
        await _settle(pilot)
        drawn["narrow"] = screen_svg(stage.app)
    return drawn


async def _ask(stage: Stage, pilot: Pilot[None], texts: Mapping[str, str]) -> None:
    """Fill in the form, which may be open already, and show what it asks for."""
    if not stage.app.screen.query(Input):
        await pilot.press("f")
        await pilot.pause()
    for box in stage.app.screen.query(Input):
        box.value = texts.get((box.id or "").removeprefix("field-"), "")
    await pilot.pause()
    await pilot.press("enter")
    await pilot.pause()


async def _settle(pilot: Pilot[None], seconds: float = 1.0) -> None:
    await asyncio.sleep(seconds)
    await pilot.pause()


def in_virtual_time(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """The result of a coroutine in a virtual time of its own."""
    loop = looptime.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(work())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def main() -> None:
    """Write every picture."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(exist_ok=True)
    for table in LISTINGS:
        for state, drawn in in_virtual_time(lambda table=table: pictures(table)).items():  # type: ignore[misc]
            (folder / f"{table}-{state}.svg").write_text(drawn, encoding="utf-8")
            sys.stdout.write(f"{folder / f'{table}-{state}.svg'}\n")


if __name__ == "__main__":
    main()
