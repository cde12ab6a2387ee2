"""The overview on the screen: who comes first, entering an account and coming back, and that nothing there sends."""

from __future__ import annotations

import asyncio
import itertools
import re
from dataclasses import replace
from decimal import Decimal
from typing import cast

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Button

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, newest_message
from tests.ui.fixtures.overview_on_sandbox import ACCOUNTS, AppWithOverview
from tradetui.commands.session import demo_desk
from tradetui.desk.overview.account_row import AccountRow
from tradetui.desk.overview.watched_account import Kept
from tradetui.desk.settings import Access, DeskSettings
from tradetui.desk.tables.cells.cell_format import percent_points
from tradetui.sandbox.app import Sandbox
from tradetui.sandbox.books.orders import ONE_WAY
from tradetui.sandbox.gateway.api_keys import ALL, ANYWHERE, made_key
from tradetui.ui.application.palette import Actions, help_lines
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.records.overview_screen import OverviewScreen
from tradetui.ui.safe_text import notify
from tradetui.ui.settings.ui_settings import NO_UID
from tradetui.ui.table.record_table import RecordTable

pytestmark = pytest.mark.looptime
CARRY = "4400010051"


def shown(stage: AppWithOverview) -> OverviewScreen:
    """The overview, which is the screen."""
    assert isinstance(stage.app.screen, OverviewScreen)
    return stage.app.screen


def names(stage: AppWithOverview) -> list[str]:
    rows = cast("RecordTable[AccountRow]", shown(stage).table).rows
    return [row.name for row in map(rows.row, range(rows.count)) if row is not None]


async def go_to(pilot: Pilot[None], stage: AppWithOverview, name: str) -> None:
    """Put the cursor on an account."""
    shown(stage).table.move_to(names(stage).index(name))
    await pilot.pause()


def uid_of(stage: AppOnFewRows, name: str) -> str:
    return next(key.uid for key in stage.sandbox.exchange_state.keys if key.name == name)


async def test_every_account_is_a_row_and_the_sums_stand_below() -> None:
    stage = AppWithOverview()
    async with stage.running(size=(120, 36), after=4):
        text = screen_text(stage.app)
        assert set(names(stage)) == set(ACCOUNTS)
        assert f"SANDBOX {len(ACCOUNTS)} of {len(ACCOUNTS)} accounts" in text
        assert stage.app.desk is None, "nothing is opened by looking"


async def test_80_columns_keep_what_matters_and_200_show_what_the_account_holds() -> None:
    for size, expected in (
        ((80, 24), ("State", "Account", "Equity", "Unrealised", "Margin %", "Unknown")),
        ((200, 60), ("positions", "newest fills", "Nearest", "Away %")),
    ):
        stage = AppWithOverview()
        async with stage.running(size=size, after=4):
            text = screen_text(stage.app)
            assert all(part in text for part in expected), text


async def test_an_unknown_outcome_comes_first_and_is_named_beside_the_table() -> None:
    stage = AppWithOverview()
    async with stage.running(size=(200, 60), after=4) as pilot:
        stage.kept[uid_of(stage, "coin")] = Kept(("BTCUSD",))
        await asyncio.sleep(6)
        assert names(stage)[0] == "coin"
        await go_to(pilot, stage, "coin")
        assert "UNKNOWN OUTCOME: BTCUSD" in screen_text(stage.app)
        assert any("coin: Outcome unknown: BTCUSD" in notice.message for notice in stage.app._notifications)


async def test_enter_opens_the_account_locked_and_escape_comes_back_to_rows_that_went_on() -> None:
    stage = AppWithOverview()
    async with stage.running(after=4) as pilot:
        await go_to(pilot, stage, "one-way")
        await pilot.press("enter")
        await asyncio.sleep(3)
        assert stage.app.screen is stage.app.main and stage.desk.settings.name == "one-way"
        assert stage.desk.access is Access.LOCKED, "the profile would not start locked"
        assert "one-way · " in screen_text(stage.app)
        overview = stage.app.overview
        await asyncio.sleep(20)
        await pilot.press("escape")
        await asyncio.sleep(1)
        assert stage.app.overview is overview and shown(stage).table.cursor.row_id == "one-way"
        assert overview is not None and all(row.age_s is not None and row.age_s <= 6 for row in overview.rows)
        assert not [call for call in stage.sandbox.calls if call.code == "429"], "session and row share their permits"
        await pilot.press("escape")
        assert stage.app.screen is stage.app.main and stage.desk.settings.name == "one-way"
        await pilot.press("O")
        await asyncio.sleep(1)
        assert shown(stage)


async def test_escape_closes_the_dialog_and_the_next_one_goes_back_whatever_message_is_shown() -> None:
    stage = AppWithOverview()
    async with stage.running(size=(140, 48), after=4) as pilot:
        await go_to(pilot, stage, "hedge")
        await pilot.press("enter")
        await asyncio.sleep(3)
        await pilot.press("R")
        await asyncio.sleep(3)
        notify(stage.app, "A message.", seconds=600)
        await pilot.press("escape")
        await asyncio.sleep(1)
        assert stage.app.screen is stage.app.main
        await pilot.press("escape")
        await asyncio.sleep(1)
        assert shown(stage) and not len(stage.app._notifications)


async def test_escape_is_offered_only_where_it_does_something_and_help_lists_the_keys_of_here() -> None:
    stage = AppWithOverview(("hedge", "coin"))
    async with stage.running(size=(200, 60), after=4) as pilot:
        assert "Esc Back" not in screen_text(stage.app).splitlines()[-1]
        await pilot.press("z")
        await pilot.pause()
        assert "Esc Back" in screen_text(stage.app).splitlines()[-1]
        await pilot.press("escape")
        lines = {(line.keys, line.name) for line in help_lines({}, shown(stage))}
        assert ("L", "Lock all") in lines and ("F9", "Lock at once") in lines
        assert not {name for _, name in lines} & {"Positions", "Reverse", "Next panel"}
        await go_to(pilot, stage, "hedge")
        await pilot.press("enter")
        await asyncio.sleep(3)
        await pilot.press("O")
        await asyncio.sleep(1)
        assert "Esc Back" in screen_text(stage.app).splitlines()[-1]


async def test_the_dialog_names_the_account_in_title_button_and_typed_word() -> None:
    stage = AppWithOverview()
    async with stage.running(size=(140, 48), after=4) as pilot:
        await go_to(pilot, stage, "hedge")
        await pilot.press("enter")
        await asyncio.sleep(3)
        execution, intents = stage.desk.execution, stage.desk.intents
        assert execution is not None and intents is not None
        execution.settings = replace(execution.settings, typed_above=Decimal(0))
        await intents.set_lock(False)
        await pilot.press("R")
        await asyncio.sleep(3)
        text, tail = screen_text(stage.app), uid_of(stage, "hedge")[-4:]
        assert f"SANDBOX · hedge · {uid_of(stage, 'hedge')}" in text
        assert f"hedge {tail}" in str(stage.app.screen.query_one("#confirm").label)  # type: ignore[attr-defined]
        assert f"hedge {tail} to go on" in text


def only_core(sandbox: Sandbox) -> None:
    sandbox.options = replace(sandbox.options, core_only=True)


@pytest.mark.parametrize("is_uid_known", [True, False])
async def test_an_account_is_named_before_the_overview_was_ever_opened(
    is_uid_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_uid_known:
        monkeypatch.setattr(demo_desk, "DeskSettings", lambda **fields: DeskSettings(**fields | {"uid": None}))
    stage = AppOnFewRows(profiles=("hedge", "coin"), before=None if is_uid_known else only_core)
    async with stage.running(size=(140, 48), after=4) as pilot:
        execution = stage.desk.execution
        assert execution is not None and stage.app.overview is None
        execution.settings = replace(execution.settings, typed_above=Decimal(0))
        uid = uid_of(stage, "hedge")
        shown, tag = (uid, f"hedge {uid[-4:]}") if is_uid_known else (NO_UID, "hedge")
        assert f"hedge · {shown}" in screen_text(stage.app).splitlines()[0]
        await pilot.press("R")
        await asyncio.sleep(3)
        text = screen_text(stage.app)
        assert f"SANDBOX · hedge · {shown}" in text and f" {tag} to go on." in text
        assert str(stage.app.screen.query_one("#confirm", Button).label).endswith(f" · {tag}")
        await pilot.press("escape", "L")
        await asyncio.sleep(1)
        await pilot.press("L")
        await pilot.pause()
        assert str(stage.app.screen.query_one("#confirm", Button).label) == f"Unlock · {tag}"


async def test_keys_typed_ahead_never_reach_the_account_that_is_entered() -> None:
    stage = AppWithOverview()
    async with stage.running(after=4) as pilot:
        await go_to(pilot, stage, "hedge")
        await pilot.press("enter", "R", "L", "3", "m", "N")
        assert any("was dropped" in notice.message for notice in stage.app._notifications)
        await asyncio.sleep(3)
        assert stage.app.screen is stage.app.main and stage.app.main.focused_panel == "positions"
        assert stage.desk.access is Access.LOCKED
        await pilot.press("3")
        assert stage.app.main.focused_panel == "orders", "after half a second keys are taken again"


async def test_enter_does_nothing_once_the_row_under_the_cursor_has_gone() -> None:
    stage = AppWithOverview()
    async with stage.running(after=4) as pilot:
        await go_to(pilot, stage, "isolated")
        overview = stage.app.overview
        assert overview is not None
        overview.use_sources([source for source in stage.overview_sources() if source.name != "isolated"])
        await asyncio.sleep(1)
        await pilot.press("enter")
        await asyncio.sleep(1)
        assert stage.app.desk is None and shown(stage)
        assert any("isolated was here until just now" in notice.message for notice in stage.app._notifications)
        await pilot.press("enter")
        await asyncio.sleep(2)
        assert stage.app.desk is not None


class AppWithSubaccounts(AppWithOverview):
    """The main account `hedge` has the sub-account `carry`, which also has a key for a profile of its own."""

    def build_sandbox(self) -> Sandbox:
        sandbox = demo_desk.build_sandbox(self.seed, self.clock, desk_of=3)
        sandbox.exchange_state.keys.append(made_key(self.seed, "carry", CARRY, ALL, ONE_WAY, "virtual", ips=ANYWHERE))
        return sandbox


async def test_enter_on_a_sub_account_without_a_profile_says_how_to_get_one_and_opens_nothing() -> None:
    stage = AppWithSubaccounts(("hedge", "coin"))
    async with stage.running(after=30) as pilot:
        await pilot.press("end", "home")
        await go_to(pilot, stage, f"hedge/{CARRY[-4:]}")
        await pilot.press("enter")
        await asyncio.sleep(1)
        assert stage.app.desk is None and shown(stage)
        assert "`tradetui init --profile NAME` sets up a profile with the sub-account's own key." in newest_message(
            stage
        )
        await pilot.press("d")
        await pilot.pause()
        assert "no key" in screen_text(stage.app)


async def test_enter_on_a_sub_account_with_a_profile_opens_that_profile() -> None:
    stage = AppWithSubaccounts(("hedge", "coin", "carry"), profiles=("hedge", "coin", "carry"))
    async with stage.running(after=30) as pilot:
        assert f"hedge/{CARRY[-4:]}" not in names(stage)
        await go_to(pilot, stage, "carry")
        await pilot.press("enter")
        await asyncio.sleep(3)
        assert (stage.desk.settings.name, stage.desk.uid) == ("carry", CARRY)


async def test_a_row_that_was_clicked_stays_under_the_cursor() -> None:
    stage = AppWithOverview()
    async with stage.running(after=4) as pilot:
        assert await pilot.click("#table-overview", offset=(10, 4))
        await pilot.pause()
        clicked = shown(stage).table.cursor.row_id
        assert clicked != names(stage)[0]
        await asyncio.sleep(5)
        assert shown(stage).table.cursor.row_id == clicked


async def test_lock_all_locks_every_account_and_the_open_session() -> None:
    stage = AppWithOverview()
    async with stage.running(after=4) as pilot:
        await go_to(pilot, stage, "hedge")
        await pilot.press("enter")
        await asyncio.sleep(3)
        intents = stage.desk.intents
        assert intents is not None
        await intents.set_lock(False)
        assert stage.desk.access is Access.TRADE
        await pilot.press("O")
        await asyncio.sleep(1)
        await pilot.press("L")
        await asyncio.sleep(1)
        assert sorted(stage.locked) == sorted(ACCOUNTS)
        assert intents.locked


OPENING = frozenset({Action.ENTER_ACCOUNT, Action.QUIT, Action.BACK, Action.PALETTE})
"""What leaves the overview."""


async def test_no_key_palette_entry_or_paste_there_leads_to_a_request_that_writes() -> None:
    stage = AppWithOverview()
    async with stage.running(size=(200, 60), after=4) as pilot:
        await go_to(pilot, stage, "hedge")
        await pilot.press("enter")
        await asyncio.sleep(3)
        intents = stage.desk.intents
        assert intents is not None
        await intents.set_lock(False)
        await pilot.press("O")
        await asyncio.sleep(1)
        entries = list(Actions(stage.app.screen)._entries())
        listed = {entry.name for entry in entries}
        assert not listed & {"Reverse", "Create", "Journal"} and "Lock all" in listed
        assert not any("sub-account" in name.lower() or "api key" in name.lower() for name in listed)
        keys = itertools.chain.from_iterable(
            action.keys.split(",") for action in Action if "overview" in action.where and action not in OPENING
        )
        for key in (*keys, "R", "N", "J", "r", "x"):
            await pilot.press(key)
            await asyncio.sleep(0.2)
            while stage.app.screen is not shown_or_none(stage):
                await pilot.press("escape")
                await pilot.pause()
        for text in ("R\nBTCUSDT LONG\n", "enter", "N"):
            stage.app.post_message(events.Paste(text))
            await asyncio.sleep(0.3)
        await asyncio.sleep(5)
        assert {method for method, _ in stage.sandbox.counts} == {"GET"}, "of the rows and of the session behind them"
        assert not intents.unsettled()


def shown_or_none(stage: AppWithOverview) -> OverviewScreen | None:
    return next((screen for screen in stage.app.screen_stack if isinstance(screen, OverviewScreen)), None)


async def test_a_number_that_moved_is_marked_for_a_moment_and_not_with_reduced_motion() -> None:
    for reduced in (False, True):
        stage = AppWithOverview(reduced_motion=reduced)
        async with stage.running(after=4) as pilot:
            moved = set()
            for _ in range(60):
                await asyncio.sleep(0.2)
                await pilot.pause()
                rows = cast("RecordTable[AccountRow]", shown(stage).table).rows
                moved |= {id_ for index in range(rows.count) for id_ in getattr(rows.row(index), "moved", ())}
            assert bool(moved) is not reduced


async def test_reload_configuration_adds_and_removes_rows_while_it_runs() -> None:
    stage = AppWithOverview(("hedge", "coin"))
    async with stage.running(after=4) as pilot:
        stage.accounts = ("hedge", "one-way")
        entry = next(entry for entry in Actions(stage.app.screen)._entries() if entry.name == "Reload configuration")
        entry.run()
        await asyncio.sleep(4)
        await pilot.pause()
        assert set(names(stage)) == {"hedge", "one-way"}


async def test_what_a_trader_asks_takes_a_few_keys() -> None:
    stage = AppWithOverview()
    async with stage.running(after=4) as pilot:
        assert "isolated" in screen_text(stage.app).splitlines()[2], "who needs me"
        everyone = names(stage)
        await pilot.press("/", *"one-way", "enter")
        assert names(stage) == ["one-way"]
        await pilot.press("escape")
        assert names(stage) == everyone
        await pilot.press("s", "i")
        await pilot.pause()
        assert names(stage)[0] == "multi-assets", "who has the least equity"
        for key, sentence in (("d", "Margin %"), ("e", "overview")):
            await pilot.press(key)
            await asyncio.sleep(1)
            assert sentence in screen_text(stage.app)
            await pilot.press("escape")


async def test_the_detail_of_an_account_has_the_table_s_units_with_every_digit() -> None:
    stage = AppWithOverview(("coin", "hedge"))
    async with stage.running(size=(140, 48), after=4) as pilot:
        stage.kept[uid_of(stage, "hedge")] = Kept()
        await asyncio.sleep(6)
        await go_to(pilot, stage, "hedge")
        row = cast("AccountRow", shown(stage).table.cursor.record)
        await pilot.press("d")
        await pilot.pause()
        text = screen_text(stage.app)
        assert row.margin_ratio is not None and row.last_fill is not None
        percent = percent_points(row.margin_ratio, exact=True)
        assert re.search(rf"Margin % +{re.escape(percent)} ", text), text
        assert re.search(r"Unknown +0 ", text), "it is known that there is none"
        assert re.search(rf"Filled +{row.last_fill:%Y-%m-%dT%H:%M:%S}", text), text


async def test_without_a_second_profile_the_key_says_how_to_make_one() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        await pilot.press("O")
        await pilot.pause()
        assert any("tradetui init --profile NAME" in notice.message for notice in stage.app._notifications)


async def test_alerts_of_every_account_sound_with_its_name_whatever_screen_is_open() -> None:
    stage = AppWithOverview()
    async with stage.running(after=4) as pilot:
        await go_to(pilot, stage, "hedge")
        await pilot.press("enter")
        await asyncio.sleep(3)
        stage.kept[uid_of(stage, "coin")] = Kept(("BTCUSD",))
        stage.kept[uid_of(stage, "hedge")] = Kept(("ETHUSDT",))
        await asyncio.sleep(7)
        messages = [notice.message for notice in stage.app._notifications]
        assert any(message.startswith("coin: Outcome unknown: BTCUSD") for message in messages)
        assert not any(message.startswith("hedge: ") for message in messages), "its own session alerts of it"


async def test_enter_on_the_open_account_goes_back_to_its_session_and_locks_it() -> None:
    stage = AppWithOverview(begins=False)
    async with stage.running(after=3) as pilot:
        desk, intents = stage.desk, stage.desk.intents
        assert intents is not None and not intents.locked
        await pilot.press("O")
        await asyncio.sleep(3)
        assert shown(stage).table.cursor.row_id == "hedge"
        await pilot.press("enter", "R")
        await asyncio.sleep(2)
        assert stage.app.screen is stage.app.main and stage.desk is desk, "what it has sent is followed without a break"
        assert intents.locked


async def test_the_lock_s_own_key_works_while_an_account_is_being_entered() -> None:
    stage = AppWithOverview()
    async with stage.running(after=4) as pilot:
        await go_to(pilot, stage, "hedge")
        await pilot.press("enter", "f9")
        await asyncio.sleep(0.3)
        messages = [notice.message for notice in stage.app._notifications]
        sentences = ("Trading is locked", "locks no other session")
        assert any(sentence in message for message in messages for sentence in sentences), messages
