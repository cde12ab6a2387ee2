"""The main screen: its sizes and states, and what opens over it for one row or for all."""

from __future__ import annotations

import asyncio
from functools import partial

from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui.fixtures.app_on_sandbox import EVERY_ACCOUNT, AppOnDemo, AppOnRecentFills, AppOnSandbox
from tests.ui.scenes.plays import in_turn, press, stop_market
from tests.ui.scenes.scene import SIZE, Scene
from tradetui.sandbox.app import Sandbox


async def _exchange_down(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    stage.sandbox.faults.plan("dropped-before", times=1_000_000)
    await asyncio.sleep(41)
    await pilot.pause()


def _answer_late(sandbox: Sandbox) -> None:
    sandbox.faults.plan("delay", times=1_000)


async def _export_orders(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    await press("3", "e")(stage, pilot)
    stage.app.screen.query_one(Input).value = "orders.xlsx"
    # Where the program runs is this machine's own.
    stage.app.screen.query("Static").first().update("A file in /home/trader, or any other path; .csv or .json.")  # type: ignore[attr-defined]
    await press("enter")(stage, pilot)


_HOME = ("SANDBOX   TRADE   hedge", "2 Positions 18", "3 Orders 30", "4 Fills 400")
"""What the main screen shows of the first account, eight seconds after the start."""

_brief = partial(Scene, stage=AppOnRecentFills)

_demo = partial(Scene, stage=AppOnDemo)
_main = _demo((120, 36), _HOME, published=True)
_detail = _main.then(("Orders: every field", "As received"), press("3", "enter"), published=True)

_help = _brief(
    (120, 52),
    ("╭─ Help", "every key and what it does"),
    in_turn(stop_market, press("question_mark")),
    stage=partial(AppOnRecentFills, profiles=EVERY_ACCOUNT),
    published=True,
)
_screens = _help.then(
    ("╭─ Screens", "6 Spot fills", "m Money", "J Journal", "N Create …", "Enter opens"), press("escape", "o"), size=SIZE
)
_profiles = _screens.then(("╭─ Profile", "one-way", "copy-new", "Enter opens · Esc back"), press("escape", "P"))
_palette = _profiles.then(("every key and what it does (? F1)",), press("escape", "ctrl+p"))
_export = _palette.then(
    ("Export orders", "orders.xlsx", "must end in .csv or .json"), in_turn(press("escape"), _export_orders)
)
_filter = _export.then(("3 Orders 9/30 /btc", "─ filter orders"), press("escape", "3", "slash", "b", "t", "c"))
_filter_nothing = _filter.then(("3 Orders 0/30 /none",), press("escape", "3", "slash", *"none", "enter"))
_paused = _filter_nothing.then(("PAUSED: rows stand still",), press("escape", "space"))
_down = _paused.then(
    ("✗ link down", "no data for 40 s"), in_turn(press("space", "2"), _exchange_down), size=(120, 36), published=True
)

_manual = _brief(
    (120, 36), ("╭─ Manual", "troubleshooting", "Enter opens"), in_turn(stop_market, press("question_mark", "tab"))
)
_page = _manual.then(
    ("╭─ Manual · alerts", "/ searches · Esc back", "Without any setting"), press(*"jjjj", "enter"), size=(80, 24)
)
_page_120 = _page.then(_page.shows, size=(120, 36))
_page_200 = _page_120.then(_page.shows, size=(200, 60))

_sorted = _brief(SIZE, ("Price▼",), in_turn(stop_market, press("3", "right", "right", "right", "s", "s", "S")))
_columns = _sorted.then(("Columns of orders", "□ Does ", " 13 wide"), press("c", "down", "plus", "space"))

_UNIFIED = ("SANDBOX   MONITOR · UNIFIED   unified", "2 Positions 18", "3 Orders ", "4 Fills 400")
_unified = _demo((120, 36), _UNIFIED, in_turn(stop_market), account="unified", after=30.0, published=True)
_unified_reversal = _unified.then(
    ("A unified account is only read, and the exchange has no reversal for it",), press("R")
)
_unified_narrow = _unified_reversal.then(_UNIFIED[:2], press("escape"), size=(80, 24), after=20.0)

SCENES = {
    "main-200x60": _demo((200, 60), (*_HOME, "1 Accounts 4", "5 Stops 357"), published=True),
    "main-300x80": Scene((300, 80), (*_HOME, "1 Accounts 4", "5 Stops 357")),
    "main-160x48": Scene((160, 48), (*_HOME, "1 Accounts 4", "5 Stops 357")),
    "main-80x24": _demo((80, 24), ("SANDBOX   TRADE   hedge", "2 Positions 18", "BTCUSD   LONG"), published=True),
    "main-120x36": _main,
    "detail": _detail,
    "live-stops": _detail.then(("─ 5 Waiting stops 9", "closes LONG"), press("escape", "5", "v"), size=SIZE, after=5.0),
    "monitor": _demo((160, 48), ("SANDBOX   MONITOR   hedge", "2 Positions 18"), read_only=True, published=True),
    "unified-120x36": _unified,
    "unified-reversal": _unified_reversal,
    "unified-80x24": _unified_narrow,
    "unified-money": _unified_narrow.then(("MONEY", "Funding               —", "funding"), press("m"), size=(120, 36)),
    "help": _help,
    "screens": _screens,
    "profiles": _profiles,
    "palette": _palette,
    "export": _export,
    "filter": _filter,
    "filter-nothing": _filter_nothing,
    "paused": _paused,
    "exchange-down": _down,
    "manual": _manual,
    "manual-alerts-80x24": _page,
    "manual-alerts-120x36": _page_120,
    "manual-alerts-200x60": _page_200,
    "manual-search": _page_200.then(
        ("hit 4 of", "n next · N previous"), press("slash", *"desktop", "enter", *"nnn"), size=(80, 24)
    ),
    "sorted": _sorted,
    "columns": _columns,
    "unlock": _columns.then(("Trading is locked.", "Unlock trading on SANDBOX hedge?"), press("escape", "L", "L")),
    "starting": Scene(SIZE, ("SANDBOX   TRADE   hedge", "reading …"), before=_answer_late, after=0.0),
}
