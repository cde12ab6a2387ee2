"""The screen of results: its sizes, and what it says where figures are missing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from textual.pilot import Pilot

from tests.ui.fixtures.app_on_sandbox import AppOnMonthOfFills, AppOnSandbox
from tests.ui.scenes.plays import choose_theme, in_turn, press, stop_market
from tests.ui.scenes.scene import Scene
from tradetui.sandbox.app import Sandbox
from tradetui.ui.settings.themes import DEFAULT_THEME

_READ_S = 30.0
"""By then all fills of such an account are read."""
_ALL = ("MONEY", "▐30 d▌", "─ Result, ~ converted", "Gross", "Net realised")


async def _sample_equity_again(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    """Equity is sampled once in each minute of the clock, and shown within the next where nothing else changes."""
    await asyncio.sleep(90)


_opened = in_turn(stop_market, press("m"))


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

# The first of August has one day: the month before is the one to look at.
_wide = _month(
    (200, 60),
    (*_ALL, _JULY, "Wallet moved", "An order Factor"),
    in_turn(_opened, press("left_curly_bracket")),
)
_narrow = _wide.then((*_ALL, "By symbol", "Tab Chart"), press("right_curly_bracket"), size=(80, 24))
_light = _narrow.then(_narrow.shows, choose_theme("tradetui-light"))
_terminal = _light.then(_light.shows, choose_theme("tradetui-terminal"))
_trips = _terminal.then(
    ("Round trips", "start not proven", "lost"), in_turn(choose_theme(DEFAULT_THEME), press("t")), size=(120, 36)
)
_sampled = _trips.then(
    (*_ALL, _JULY, "Wallet moved"), in_turn(press("escape", "left_curly_bracket"), _sample_equity_again), published=True
)
_days = _sampled.then(("By day, ~ converted", "Unexplained", "0.00"), press("b", "tab", "tab", "z"))
_equity = _days.then(
    ("Equity without deposits", "▐today▌"),
    press("z", "b", "b", "shift+tab", "shift+tab", "right_curly_bracket", *["left_square_bracket"] * 2, "v", "tab"),
)

SCENES = {
    "money-200x60": _wide,
    "money-80x24": _narrow,
    "tradetui-light-money": _light,
    "tradetui-terminal-money": _terminal,
    "money-trips": _trips,
    "money-120x36": _sampled,
    "money-days": _days,
    "money-equity": _equity,
    "money-holes": Scene((120, 36), (*_ALL, "are being read", "?"), _opened, after=6.0),
    "money-empty": Scene((120, 36), ("No fills are kept yet.",), _opened, before=_without_fills, after=20.0),
    "money-core-only": _month((120, 36), (*_ALL, "funding and wallet not known: "), _opened, before=_core_only),
}
