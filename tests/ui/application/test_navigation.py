"""The list of profiles, and what a profile brings to the screen: keys, theme, zone, columns and order."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from textual.widgets import OptionList

from tests.ui.fixtures.app_on_sandbox import EVERY_ACCOUNT, AppOnFewRows
from tradetui.desk.desk import Desk
from tradetui.desk.tables.rows.row_source import Sort
from tradetui.desk.tables.table import POSITIONS
from tradetui.sandbox.app import Sandbox
from tradetui.ui.application.palette import UNKNOWN_UID, profile_lines
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.dialogs.deliberate_dialog import ChoiceDialog, ConfirmDialog
from tradetui.ui.intents.reversal.dialog import ReversalDialog
from tradetui.ui.settings.ui_settings import (
    ColumnChoice,
    ProfileAppearance,
    ProfileSummary,
    ScreenPreferences,
    TableChoice,
)

pytestmark = pytest.mark.looptime

SUMMARIES = (
    ProfileSummary("api.bitget.com", "4100000001", "trade"),
    ProfileSummary("127.0.0.1:8080", None, "monitor"),
    ProfileSummary(trouble="config.toml:3: mode: must be monitor or trade"),
)


async def test_each_line_has_host_uid_and_mode_and_the_open_one_is_marked() -> None:
    lines = profile_lines(("main", "test bed", "broken"), SUMMARIES, 1)
    assert lines == [
        "main      api.bitget.com  4100000001" + " " * 9 + "  trade",
        f"test bed  127.0.0.1:8080  {UNKNOWN_UID}  monitor  open",
        "broken    config.toml:3: mode: must be monitor or trade",
    ]
    assert not any("open" in line.split() for line in profile_lines(("main",), SUMMARIES[:1], None))


async def test_control_characters_of_a_configuration_do_not_reach_the_list() -> None:
    (line,) = profile_lines(("a\x1b[31m",), (ProfileSummary("h\x07st", "1\x9b2", "trade"),), None)
    assert not {character for character in line if ord(character) < 32 or 127 <= ord(character) < 160}


def with_appearances(stage: AppOnFewRows, **appearances: ProfileAppearance) -> AppOnFewRows:
    """The stage with what some of its profiles want of the screen."""
    settings: Any = stage.app.settings
    profiles = [
        replace(
            profile,
            appearance=(lambda appearance=appearances[profile.name]: appearance)
            if profile.name in appearances
            else None,
            summary=lambda: SUMMARIES[0],
        )
        for profile in settings.profiles
    ]
    stage.app.settings = replace(settings, profiles=profiles)
    return stage


SIDE = POSITIONS.columns[1].id
ONE_WAY = ProfileAppearance(
    theme="light",
    timezone="Asia/Tokyo",
    keys={"zoom": "x", "zum": "w"},
    preferences=ScreenPreferences(
        None, {"positions": TableChoice((ColumnChoice("symbol", 20), ColumnChoice(SIDE)), SIDE, True)}
    ),
)


async def switch(stage: AppOnFewRows, pilot: Any, *keys: str) -> None:
    await pilot.press("P", *keys, "enter")
    await asyncio.sleep(3)
    await pilot.pause()


async def test_a_profile_brings_its_keys_theme_zone_columns_and_order_and_takes_them_along() -> None:
    kept: list[ScreenPreferences] = []
    stage = with_appearances(
        AppOnFewRows(profiles=EVERY_ACCOUNT), **{"one-way": ONE_WAY, "hedge": ProfileAppearance(keep=kept.append)}
    )
    async with stage.running((200, 60)) as pilot:
        main = stage.app.main
        await switch(stage, pilot, "j")
        assert stage.desk.settings.name == "one-way"
        assert stage.app.theme == "tradetui-light"
        assert (main.table.columns[0].id, main.table.columns[0].width) == ("symbol", 20)
        assert main.table.sort_filter.sort == Sort(SIDE, True)
        assert "Asia/Tokyo" in screen_text(stage.app)
        assert "keys.zum is not the id of a key" in " ".join(notice.message for notice in stage.app._notifications)
        await pilot.press("z")
        assert sum(panel.display for panel in main.panels.values()) > 1
        await pilot.press("x")
        assert sum(panel.display for panel in main.panels.values()) == 1
        await pilot.press("x")
        await switch(stage, pilot, "k")
        assert stage.desk.settings.name == "hedge"
        assert stage.app.theme == "tradetui-dark"
        assert main.table.columns == POSITIONS.columns
        assert main.table.sort_filter.sort is None
        assert screen_text(stage.app).splitlines()[-1].rstrip().endswith(" UTC")
        await pilot.press("z")
        assert sum(panel.display for panel in main.panels.values()) == 1
        await pilot.press("s", "s")
        await asyncio.sleep(1)
        assert kept == [ScreenPreferences(None, {"positions": TableChoice(None, POSITIONS.columns[0].id)})]


async def test_quitting_asks_while_a_new_key_is_not_saved_though_nothing_is_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        monkeypatch.setattr(Desk, "holds_unsaved_keys", True)
        await pilot.press("q")
        assert isinstance(stage.app.screen, ConfirmDialog)
        assert "NEW API KEYS ARE IN MEMORY ONLY" in screen_text(stage.app)


async def test_the_list_is_always_in_the_same_order_and_says_which_one_is_open() -> None:
    stage = with_appearances(AppOnFewRows(profiles=EVERY_ACCOUNT))
    async with stage.running() as pilot:
        names = [profile.name for profile in stage.app.settings.profiles]
        for opened, keys in (("hedge", ()), ("coin", ("j", "j"))):
            if keys:
                await switch(stage, pilot, *keys)
            await pilot.press("P")
            dialog = stage.app.screen
            assert isinstance(dialog, ChoiceDialog)
            shown = [str(option.prompt) for option in dialog.query_one(OptionList).options]
            assert [line.split("  ")[0] for line in shown] == names
            assert [line.split()[0] for line in shown if line.endswith("  open")] == [opened]
            uid = stage.desk.settings.uid
            assert [line.split()[2] for line in shown if line.endswith("  open")] == [uid], "as the desk knows it"
            await pilot.press("escape")


async def test_another_profile_is_no_position_that_has_closed() -> None:
    stage = AppOnFewRows(profiles=EVERY_ACCOUNT)
    async with stage.running(after=8) as pilot:
        assert stage.app.main.positions_panel.table.cursor.record is not None
        stage.app.open_profile(1)
        await asyncio.sleep(8)
        await pilot.press("R")
        await asyncio.sleep(1)
        assert "has just closed" not in screen_text(stage.app)
        assert isinstance(stage.app.screen, ReversalDialog)


async def test_nothing_of_the_account_before_stays_while_another_is_opened() -> None:
    stage = AppOnFewRows(profiles=EVERY_ACCOUNT)
    async with stage.running(after=8) as pilot:
        assert stage.desk.alerts.newest is not None
        sentence, unseen = stage.desk.alerts.newest.sentence, f"{stage.desk.alerts.unseen} new"
        assert sentence in screen_text(stage.app) and unseen in screen_text(stage.app)
        first_desk, answered = stage.desk, asyncio.Event()
        stop = first_desk.stop

        async def stop_after_a_write() -> None:
            await answered.wait()
            await stop()

        first_desk.stop = stop_after_a_write  # type: ignore[method-assign]
        stage.app.open_profile(1)
        await asyncio.sleep(1)
        await pilot.pause()
        shown = screen_text(stage.app)
        answered.set()
        for part in (sentence, unseen, "88.52 % free", "waiting"):
            assert part not in shown


async def test_the_headlines_of_hidden_panels_are_those_of_the_account_that_is_open() -> None:
    def stand_still(sandbox: Sandbox) -> None:
        sandbox.exchange_state.stands_still = True

    headlines = []
    for first in ("one-way", "hedge"):
        stage = AppOnFewRows(first, before=stand_still, profiles=EVERY_ACCOUNT)
        async with stage.running((80, 24), after=8) as pilot:
            if first == "hedge":
                stage.app.open_profile(1)
                await asyncio.sleep(8)
                await pilot.pause()
            assert stage.desk.settings.name == "one-way"
            headlines.append([line for line in screen_text(stage.app).splitlines() if "1 Accounts" in line])
    assert headlines[0] == headlines[1]


async def test_a_desk_is_stopped_whole_however_often_another_profile_is_chosen_meanwhile() -> None:
    stage = AppOnFewRows(profiles=EVERY_ACCOUNT)
    async with stage.running() as pilot:
        first_desk, answered, stopped = stage.desk, asyncio.Event(), asyncio.Event()
        stop = first_desk.stop

        async def stop_after_a_write() -> None:
            await answered.wait()
            await stop()
            stopped.set()

        first_desk.stop = stop_after_a_write  # type: ignore[method-assign]
        for chosen in (1, 2, 1):
            stage.app.open_profile(chosen)
            await asyncio.sleep(1)
            assert stage.app.desk is None, "two desks of one account at once"
        answered.set()
        await asyncio.sleep(3)
        await pilot.pause()
        assert stopped.is_set()
        assert stage.desk.settings.name == stage.app.settings.profiles[1].name
