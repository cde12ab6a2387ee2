"""The actions with a key: every one complete, none twice, each a method of its screen."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import SimpleNamespace

import pytest

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, newest_message
from tradetui.desk.settings import Access
from tradetui.ui.alerts.alerts_screen import AlertsScreen
from tradetui.ui.application.app import TradeApp
from tradetui.ui.application.palette import HelpLine
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.dialogs.table_dialogs import column_letters
from tradetui.ui.intents.journal_screen import JournalScreen
from tradetui.ui.key_bindings.actions import SCREEN_NAMES, Action, key_named, key_table, shown_keys
from tradetui.ui.key_bindings.profile_bindings import actions_of_key
from tradetui.ui.main.main_screen import MainScreen
from tradetui.ui.money.money_screen import MoneyScreen
from tradetui.ui.money.trips_screen import TripsScreen
from tradetui.ui.records.detail_screen import DetailScreen
from tradetui.ui.records.history_screen import HistoryScreen
from tradetui.ui.records.lookup_screen import LookupScreen
from tradetui.ui.records.overview_screen import OverviewScreen
from tradetui.ui.settings.ui_settings import UiSettings

GROUPS = ("Anywhere", "Panels", "Records", "Rows", "View", "Money", "Trading", "Account")
SCREENS = {
    "main": MainScreen,
    "lookup": LookupScreen,
    "journal": JournalScreen,
    "history": HistoryScreen,
    "detail": DetailScreen,
    "alerts": AlertsScreen,
    "money": MoneyScreen,
    "trips": TripsScreen,
    "overview": OverviewScreen,
    "app": TradeApp,
}


@pytest.mark.parametrize("action", Action)
def test_every_action_is_complete(action: Action) -> None:
    assert action.description and action.tooltip and action.group in GROUPS
    of_app, _, method = action.textual_action.partition("(")[0].rpartition(".")
    for name in (of_app,) if of_app else action.where:
        assert hasattr(SCREENS[name], f"action_{method}"), f"{name} has no {method}"


def test_no_id_and_on_no_screen_a_key_or_textual_action_twice() -> None:
    assert list(Action.__members__.values()) == list(Action), "an id that comes twice would be an alias"
    for screen in SCREENS:
        here = [action for action in Action if screen in action.where]
        assert max(Counter(key for action in here for key in action.keys.split(",")).values()) == 1
        assert max(Counter(action.textual_action for action in here).values()) == 1


DESIGNED = (
    "?", "/", "Esc", "q", "Tab", "1", "2", "3", "4", "5", "o", "↑", "↓", "←", "→", "j", "k", "g", "G", "PgUp", "PgDn",
    "Enter", "h", "l", "H", "v", "f", "F9", "s", "S", "z", "y", "Y", "p", "P", "u", "Space", "R", "L", "T", "A",
    "Ctrl+P", "O", "d", "m", "b", "t", "[", "]", "{", "}",
)  # fmt: skip


def test_the_keys_are_the_designed_ones() -> None:
    keys = {key for row in key_table({}) for key in row.keys.split()}
    assert set(DESIGNED) <= keys
    assert "r" not in keys


def test_nothing_needs_ctrl() -> None:
    assert [action for action in Action if all("ctrl" in key for key in action.keys.split(","))] == [Action.PALETTE]


def test_no_letter_is_given_twice_and_each_title_has_one_of_its_own_where_one_is_free() -> None:
    titles = ["Symbol", "Side", "Size", "Sj", "Kq", "", *map(str, range(60))]
    letters = column_letters(titles, {"s", "0"})
    assert letters[:3] == ["y", "i", "z"]
    used = [letter for letter in letters if letter]
    assert len(used) == len(set(used)) == 26 * 2 - 4
    assert not {"s", "j", "k", "q", "0"} & set(used)


def test_ctrl_l_is_free() -> None:
    assert not [action for action in Action if "ctrl+l" in action.keys.split(",")]


def test_own_keys_are_shown() -> None:
    assert next(row.keys for row in key_table({"zoom": "x,f5"}) if row.id == "zoom") == "x F5"
    assert shown_keys("question_mark,f1") == "? F1"


def test_every_screen_with_keys_of_its_own_has_a_name_for_sentences() -> None:
    assert SCREEN_NAMES.keys() == SCREENS.keys() - {"app"}


def test_a_key_is_found_on_every_screen_under_the_name_textual_tells_it_by() -> None:
    assert actions_of_key("left_square_bracket", {}) == [Action.PERIOD_BEFORE]
    assert actions_of_key("slash", {}) == [Action.FILTER]
    assert actions_of_key("slash", {"filter": "ctrl+f"}) == []
    assert actions_of_key("Z", {}) == []


@pytest.mark.looptime
async def test_a_key_that_does_nothing_says_so_and_where_it_does_something() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        for key, sentence in (
            ("Z", "Z does nothing here. ? lists the keys."),
            ("left_square_bracket", "[ does nothing here: it is Shorter in the screen of results. ? lists the keys."),
        ):
            await pilot.press(key)
            await pilot.pause()
            assert [notice.message for notice in stage.app._notifications] == [sentence]
            stage.app.clear_notifications()
        await pilot.press("3")
        assert not list(stage.app._notifications), "a key that does something says nothing"


@pytest.mark.looptime
async def test_a_key_that_does_nothing_is_named_after_the_screen_it_was_opened_from() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        for keys, sentence in (
            (("4", "H", "p"), "p does nothing here: it is Product in the main screen. ? lists the keys."),
            (("P",), "P does nothing here: it is Profile in the main screen. ? lists the keys."),
            (("escape", "m", "t", "v"), "v does nothing here: it is Chart in the screen of results. ? lists the keys."),
            (("f",), "f does nothing here: it is Dates in the screen of results. ? lists the keys."),
        ):
            await pilot.press(*keys)
            await asyncio.sleep(1)
            assert newest_message(stage) == sentence


@pytest.mark.looptime
async def test_help_is_wrapped_for_the_width_beside_its_scrollbar() -> None:
    stage = AppOnFewRows()
    async with stage.running((60, 20)) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        assert f"{' ' * 31}dates and messages," in screen_text(stage.app)


def test_help_goes_on_under_what_a_key_does() -> None:
    line = HelpLine("Anywhere", "q", "Quit", "quit; asks first while an outcome is unknown")
    rows = line.content(60).plain.split("\n")
    assert rows == [f"  {'q':<11} {'Quit':<16}quit; asks first while an", f"{' ' * 30}outcome is unknown"]


@pytest.mark.parametrize(
    ("failure", "reason"),
    [(None, "still starting"), ("main cannot be opened: no such file", "main cannot be opened: no such file")],
)
def test_before_the_account_is_open_a_key_says_what_it_waits_for(
    failure: str | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = UiSettings("DEMO", Access.LOCKED, (), 0)
    app = SimpleNamespace(desk=None, failure=failure, settings=settings, key_named=lambda action: key_named(action, {}))
    monkeypatch.setattr(MainScreen, "trade_app", app)
    opening = MainScreen()
    for action in (Action.REVERSE, Action.LOCK, Action.LOCK_AT_ONCE):
        assert opening.reason(action) == reason


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ("question_mark,f1", "? F1"),
        ("ctrl+r", "Ctrl+R"),
        ("shift+tab", "Shift+Tab"),
        ("ctrl+pageup, R", "Ctrl+PgUp R"),
        ("u,f5", "u F5"),
        ("full_stop,at", ". @"),
        ("ctrl+full_stop", "Ctrl+."),
        ("less_than_sign,left_curly_bracket,backslash,minus", "< { \\ -"),
        ("space,tab,delete,backspace", "Space Tab Delete Backspace"),
    ],
)
def test_keys_are_shown_as_keyboards_name_them(keys: str, shown: str) -> None:
    assert shown_keys(keys) == shown
