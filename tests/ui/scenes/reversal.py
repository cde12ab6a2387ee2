"""The reversal dialog: previews, what holds it back, how it ends, and the journal of what was sent."""

from __future__ import annotations

import asyncio
from functools import partial

from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui.fixtures.app_on_sandbox import AppOnRecentFills, AppOnSandbox
from tests.ui.fixtures.journalled_reversals import confirmed, reversed_once, unknown
from tests.ui.scenes.plays import press, preview_reversal, until_shown
from tests.ui.scenes.scene import SIZE, Scene


async def _uncertain(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await preview_reversal(stage, pilot)
    stage.app.screen.query_one("#size", Input).focus()
    await pilot.press("0", "full_stop", "0", "5", "enter")
    await asyncio.sleep(2)


async def _outcome(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await preview_reversal(stage, pilot)
    stage.sandbox.faults.next("closed-only")
    await confirmed(stage, pilot)
    await until_shown(stage, pilot, "Settled")
    await asyncio.sleep(2)  # until its button can be pressed


async def _scrolled(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await preview_reversal(stage, pilot)
    await press("pagedown")(stage, pilot)


async def _locked(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await pilot.press("L")
    await asyncio.sleep(8)  # until the message that trading is locked has gone from the corner
    await preview_reversal(stage, pilot)


async def _unread(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    stage.sandbox.faults.next("5xx", endpoint="futures.positions", times=1_000)
    await preview_reversal(stage, pilot)
    await until_shown(stage, pilot, "The preview could not be read")


async def _journal(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await reversed_once(stage, pilot)
    await press("enter", "J")(stage, pilot)


async def _intent(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await _journal(stage, pilot)
    await press("enter")(stage, pilot)


async def _release(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await unknown(stage, pilot)
    await press("J")(stage, pilot)
    await press("x")(stage, pilot)


_HEDGE = ("REVERSE THE LONG OF BTCUSD", "now      change   afterwards")
"""What is held and what would be, in the preview of the first account."""

_scene = partial(Scene, stage=AppOnRecentFills)
SCENES = {
    "reversal-hedge": _scene(
        (120, 36), (*_HEDGE, "Free margin BTC", "cancelled with the LONG (assumed)"), preview_reversal, published=True
    ),
    "reversal-one-way": _scene(
        (120, 36),
        ("now      change   afterwards", "net         +0.2260"),
        preview_reversal,
        account="one-way",
        published=True,
    ),
    "reversal-uncertain": _scene(
        (120, 36),
        ("One of these two results; the outcome says which", "Type BTCUSD "),
        _uncertain,
        account="one-way",
        published=True,
    ),
    "reversal-outcome": _scene(
        (120, 36), ("Settled: closed only", "This differs from the preview"), _outcome, published=True
    ),
    "which-symbol": _scene(SIZE, ("Reverse which symbol?", "BTCUSDT"), press("4", "R")),
    "reversal-80x24": _scene(
        (80, 24), (*_HEDGE, "There is more below: Page Down shows it, then confirm."), preview_reversal
    ),
    "reversal-80x24-end": _scene((80, 24), ("Assumed   Two market orders",), _scrolled),
    "reversal-locked": _scene(SIZE, (*_HEDGE, "Trading is locked; L unlocks it."), _locked),
    "reversal-unread": _scene(SIZE, ("The preview could not be read. ",), _unread),
    "journal": _scene(SIZE, ("─ Journal 1", "settled    Reverse BTCUSD", "reversed"), _journal),
    "journal-empty": _scene(SIZE, ("Nothing has been sent for this account from this machine.",), press("J")),
    "intent": _scene(SIZE, ("─ Intent tt-", "state             settled"), _intent),
    "release": _scene(SIZE, ("Release without an outcome", "type BTCUSD to release it"), _release),
}
