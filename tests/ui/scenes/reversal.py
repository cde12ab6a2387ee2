"""The reversal dialog: previews, what holds it back, how it ends, and the journal of what was sent."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from functools import partial

from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui.fixtures.app_on_sandbox import AppOnRecentFills, AppOnSandbox
from tests.ui.fixtures.app_on_shared_account import AppOnSharedAccount
from tests.ui.fixtures.journalled_reversals import confirmed, reversed_once, unknown
from tests.ui.fixtures.reversal_dialog import press_confirm
from tests.ui.scenes.plays import in_light_and_sixteen_colours, in_turn, press, preview_reversal, until_shown
from tests.ui.scenes.scene import SIZE, Scene


async def _type_size(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    stage.app.screen.query_one("#size", Input).focus()
    await pilot.press("0", "full_stop", "0", "5", "enter")
    await asyncio.sleep(2)


async def _close_only(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    stage.sandbox.faults.plan("closed-only")
    await confirmed(stage, pilot)
    await until_shown(stage, pilot, "Settled")
    await asyncio.sleep(2)  # until its button can be pressed


async def _overtaken(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    assert isinstance(stage, AppOnSharedAccount)
    await preview_reversal(stage, pilot)
    await pilot.press("pagedown", "pagedown")
    await asyncio.sleep(2)
    await pilot.pause()
    stage.anna_reverses("BTCUSD", Decimal("0.05"))
    await press_confirm(pilot)
    await until_shown(stage, pilot, "NOT SENT")
    await pilot.press("pageup", "pageup")
    await asyncio.sleep(2)


async def _locked(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await pilot.press("escape", "2", "L")
    await asyncio.sleep(8)  # until the message that trading is locked has gone from the corner
    await preview_reversal(stage, pilot)


async def _unread(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    stage.sandbox.faults.plan("5xx", endpoint="futures.positions", times=1_000)
    await preview_reversal(stage, pilot)
    await until_shown(stage, pilot, "The preview could not be read")


async def _reversed(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await reversed_once(stage, pilot)
    await press("enter", "J")(stage, pilot)


async def _release(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await unknown(stage, pilot)
    await press("J")(stage, pilot)
    await press("x")(stage, pilot)


_HEDGE = ("REVERSE THE LONG OF BTCUSD", "now      change   afterwards")
"""What is held and what would be, in the preview of the first account."""

_scene = partial(Scene, stage=AppOnRecentFills)

_small = _scene((80, 24), (*_HEDGE, "There is more below: Page Down shows it, then confirm."), preview_reversal)
_small_end = _small.then(("Assumed   Two market orders",), press("pagedown"))
_hedge = _small_end.then(
    (*_HEDGE, "Free margin BTC", "cancelled with the LONG (assumed)"), press("pageup"), size=(120, 36), published=True
)
_outcome = _hedge.then(("Settled: closed only", "This differs from the preview"), _close_only, published=True)
_one_way = _scene(
    (120, 36),
    ("now      change   afterwards", "net         +0.2260"),
    preview_reversal,
    account="one-way",
    published=True,
)
_no_journal = _scene(SIZE, ("Nothing has been sent for this account from this machine.",), press("J"))
_which = _no_journal.then(("Reverse which symbol?", "BTCUSDT"), press("escape", "4", "R"))
_journal = _scene(SIZE, ("─ Journal 1", "settled    Reverse BTCUSD", "reversed"), _reversed)
_intent = _journal.then(("─ Intent tt-", "state             settled"), press("enter"))

SCENES = {
    "reversal-80x24": _small,
    "reversal-80x24-end": _small_end,
    "reversal-hedge": _hedge,
    **dict(in_light_and_sixteen_colours("reversal-outcome", _outcome)),
    "reversal-one-way": _one_way,
    "reversal-uncertain": _one_way.then(
        ("One of these two results; the outcome says which", "Type BTCUSD "), _type_size, published=True
    ),
    "reversal-overtaken": Scene(
        (120, 36),
        ("NOT SENT. anna@desk2 (", "was faster. Changed since you looked"),
        _overtaken,
        stage=AppOnSharedAccount,
        published=True,
    ),
    "journal-empty": _no_journal,
    "which-symbol": _which,
    "reversal-locked": _which.then((*_HEDGE, "Trading is locked; L unlocks it."), _locked),
    "journal": _journal,
    "intent": _intent,
    "reversal-unread": _intent.then(("The preview could not be read. ",), in_turn(press("escape", "escape"), _unread)),
    "release": _scene(SIZE, ("Release without an outcome", "type BTCUSD to release it"), _release),
}
