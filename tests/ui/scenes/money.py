"""The screen of results: its sizes, and what it says where figures are missing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from textual.pilot import Pilot

from tests.ui.fixtures.app_on_sandbox import AppOnMonthOfFills, AppOnSandbox
from tests.ui.scenes.scene import Scene
from tradetui.sandbox.app import Sandbox

_READ_S = 30.0
"""By then all fills of such an account are read."""
_SAMPLED_S = 90.0
"""By then equity was sampled, a minute apart."""
_ALL = ("MONEY", "▐30 d▌", "─ Result", "Gross", "Net realised")


async def _opened(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    stage.sandbox.exchange_state.still = True
    await pilot.press("m")
    await asyncio.sleep(2)
    await pilot.pause()


async def _month_before(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    """The first of August has one day: the month before is the one to look at."""
    await _opened(stage, pilot)
    await pilot.press("left_curly_bracket")
    await asyncio.sleep(1)


async def _trips(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await _opened(stage, pilot)
    await pilot.press("t")
    await asyncio.sleep(1)


async def _days(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await _opened(stage, pilot)
    await pilot.press("b", "tab", "tab", "z")
    await asyncio.sleep(1)


async def _equity_today(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    stage.sandbox.exchange_state.still = False
    await pilot.press("m", *["left_square_bracket"] * 2, "v", "tab")
    await asyncio.sleep(2)
    await pilot.pause()


def _without_fills(sandbox: Sandbox) -> None:
    """An account that never traded."""
    uid = next(key.uid for key in sandbox.exchange_state.keys if key.name == "hedge")
    account = sandbox.exchange_state.account(uid)
    account.lively = False
    for book in account.futures.values():
        book.fills.clear()
        book.holdings.clear()


def _core_only(sandbox: Sandbox) -> None:
    """An exchange that serves the thirteen endpoints alone: there are no bills."""
    sandbox.options = replace(sandbox.options, core_only=True)


_JULY = "July 2026, net realised"
_month = partial(Scene, stage=AppOnMonthOfFills, after=_READ_S)
SCENES = {
    "money-200x60": _month((200, 60), (*_ALL, _JULY, "Wallet moved", "An order Factor"), _month_before),
    "money-120x36": _month((120, 36), (*_ALL, _JULY, "Wallet moved"), _month_before, after=_SAMPLED_S, published=True),
    "money-80x24": _month((80, 24), (*_ALL, "By symbol", "Tab Chart"), _opened),
    "money-trips": _month((120, 36), ("Round trips", "start not proven", "lost"), _trips),
    "money-days": _month((120, 36), ("By day", "Unexplained", "0.00"), _days, after=_SAMPLED_S),
    "money-equity": _month((120, 36), ("Equity without deposits", "▐today▌"), _equity_today, after=190.0),
    "money-holes": Scene((120, 36), (*_ALL, "are being read", "?"), _opened, after=6.0),
    "money-empty": Scene((120, 36), ("No fills are kept yet.",), _opened, before=_without_fills, after=20.0),
    "money-core-only": _month((120, 36), (*_ALL, "funding and wallet not known: "), _opened, before=_core_only),
}
