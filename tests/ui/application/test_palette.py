"""The configuration read again from the palette: what is taken at once, what is only named, what is refused."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tradetui.desk.events.rules import Alert, Condition, Direction, RuleKind, rule_of
from tradetui.desk.reversal.preview import Target
from tradetui.desk.settings import DeskSettings
from tradetui.desk.tables.columns.fills import FILLED_ORDER_COLUMNS
from tradetui.ui.application.palette import NO_FILE, UNCHANGED, reload_configuration
from tradetui.ui.settings.ui_settings import ConfigurationReload, ProfileAppearance, ScreenPreferences

pytestmark = pytest.mark.looptime


def with_configuration(stage: AppOnFewRows, **result: Any) -> AppOnFewRows:
    """The stage whose open profile reads this when its configuration is read again."""

    def reload() -> ConfigurationReload:
        settings: DeskSettings = replace(stage.desk.settings, **result.get("limits", {}))
        return ConfigurationReload(
            result.get("appearance", ProfileAppearance()),
            settings,
            result.get("reopens", False),
            frozenset(result.get("changed_appearance", ())),
            result.get("taken", ()),
            result.get("needs_restart", ()),
            result.get("alert_rules", stage.desk.alerts.settings.rules),
        )

    settings = stage.app.settings
    stage.app.settings = replace(settings, profiles=[replace(choice, reload=reload) for choice in settings.profiles])
    return stage


async def reloaded(stage: AppOnFewRows, pilot: Any) -> list[str]:
    """What is said once it was read again."""
    reload_configuration(stage.app)
    await asyncio.sleep(3)
    await pilot.pause()
    return [notice.message for notice in stage.app._notifications]


async def test_a_session_without_configuration_says_so() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        assert NO_FILE in await reloaded(stage, pilot)


async def test_a_stricter_limit_holds_at_once_and_the_rest_is_named() -> None:
    stage = with_configuration(
        AppOnFewRows(),
        limits={"max_reversal_size": Decimal("0.0001")},
        taken=("max_reversal_size: 0.0001, was not set",),
        needs_restart=("uid: 7, was not set",),
    )
    async with stage.running() as pilot:
        (notice,) = await reloaded(stage, pilot)  # of several the screen would show the last alone
        assert notice == (
            "In force now: max_reversal_size: 0.0001, was not set. "
            "After a restart, or once the profile is opened again: uid: 7, was not set."
        )
        execution = stage.desk.execution
        assert execution is not None
        preview = await execution.preview(Target.named("BTCUSDT SHORT"))
        assert any("max_reversal_size 0.0001" in reason for reason in execution.blocking_reasons(preview))


async def test_changed_alerts_are_gone_by_at_once() -> None:
    rules = (rule_of(Condition(RuleKind.PRICE_CROSSES, "BTCUSDT", Decimal(1), Direction.DOWN)),)
    stage = with_configuration(AppOnFewRows(), alert_rules=rules, taken=("alerts changed",))
    async with stage.running() as pilot:
        assert "In force now: alerts changed." in await reloaded(stage, pilot)
        assert stage.desk.alerts.settings.rules == rules
        fired: list[Alert] = []
        stage.desk.alerts.subscribe(fired.append)
        await asyncio.sleep(5)
        assert fired == [], "fills are none of its business any more"


async def test_nothing_new_is_said_too() -> None:
    stage = with_configuration(AppOnFewRows())
    async with stage.running() as pilot:
        assert UNCHANGED in await reloaded(stage, pilot)


async def test_the_screen_is_as_the_configuration_says_now_a_new_theme_before_a_chosen_one() -> None:
    appearance = ProfileAppearance(theme="tradetui-light", timezone="Asia/Tokyo", keys={"zoom": "x"})
    stage = with_configuration(
        AppOnFewRows(preferences=ScreenPreferences("tradetui-red-up")),
        appearance=appearance,
        changed_appearance=["theme", "timezone", "keys"],
    )
    async with stage.running() as pilot:
        await reloaded(stage, pilot)
        assert stage.app.theme == "tradetui-light"
        assert str(stage.app.main.zone) == "Asia/Tokyo"
        await pilot.press("x")
        assert sum(panel.display for panel in stage.app.main.panels.values()) == 1


async def test_columns_that_follow_the_rows_stay_though_no_further_row_comes() -> None:
    stage = with_configuration(
        AppOnFewRows(), appearance=ProfileAppearance(timezone="Asia/Tokyo"), changed_appearance=("timezone",)
    )
    async with stage.running() as pilot:
        tables = [panel.table for panel in stage.app.main.panels.values() if panel.table.rows.count]
        columns = [table.columns for table in tables]
        assert FILLED_ORDER_COLUMNS in columns
        reload_configuration(stage.app)
        await asyncio.sleep(0.1)
        await pilot.pause()
        assert str(stage.app.main.zone) == "Asia/Tokyo"
        assert [table.columns for table in tables] == columns


async def test_a_mode_that_only_reads_blocks_at_once_and_opens_the_session_again() -> None:
    stage = with_configuration(
        AppOnFewRows(),
        limits={"read_only": True},
        reopens=True,
        taken=("mode: monitor, was trade",),
    )
    async with stage.running() as pilot:
        before = stage.desk
        (notice,) = await reloaded(stage, pilot)
        assert notice.startswith("The session is opened again: it may do less than before. In force now: mode: ")
        assert stage.desk is not before
        assert before.execution is not None and before.execution.settings.read_only


async def test_a_configuration_that_cannot_be_taken_leaves_all_as_it_is() -> None:
    def broken() -> ConfigurationReload:
        raise ValueError("config.toml:3: mode: must be monitor or trade")

    stage = AppOnFewRows()
    settings = stage.app.settings
    stage.app.settings = replace(settings, profiles=[replace(choice, reload=broken) for choice in settings.profiles])
    async with stage.running() as pilot:
        before = stage.desk
        (notice,) = await reloaded(stage, pilot)
        assert notice == "The configuration was not taken: config.toml:3: mode: must be monitor or trade"
        assert stage.desk is before


async def test_screens_and_dialogs_of_a_session_that_is_opened_again_are_closed() -> None:
    stage = with_configuration(AppOnFewRows(), limits={"read_only": True}, reopens=True)
    async with stage.running() as pilot:
        for keys in (("2", "R"), ("4", "R"), ("4", "H"), ("m", "t"), ("6",)):
            await pilot.press(*keys)
            await asyncio.sleep(1)
            assert stage.app.screen is not stage.app.main, keys
            await reloaded(stage, pilot)
            assert stage.app.screen is stage.app.main, (
                f"what stands in the screens of {keys} would be read and sent by a desk that is closed"
            )
