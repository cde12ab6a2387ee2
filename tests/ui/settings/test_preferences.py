"""Columns, order, theme, live stops and exports: chosen on the screen, remembered, written."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, workers_in_front
from tests.ui.fixtures.reversal_dialog import text_in_one_line
from tradetui.commands.session import screen_state
from tradetui.desk.tables.export import CsvTable
from tradetui.desk.tables.table import TABLES
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.dialogs.table_dialogs import ColumnsDialog, ExportDialog
from tradetui.ui.settings.ui_settings import (
    ColumnChoice,
    ScreenPreferences,
    TableChoice,
    chosen_columns,
    preferences_from,
)

PREFERENCES = ScreenPreferences(
    "tradetui-light",
    {"orders": TableChoice((ColumnChoice("orderId", 21), ColumnChoice("symbol")), "symbol", True)},
)


def test_preferences_survive_their_file(tmp_path: Path) -> None:
    screen_state.write_screen_state(tmp_path / "data", "main", PREFERENCES.as_plain())
    assert preferences_from(screen_state.read_screen_state(tmp_path / "data", "main")[0]) == PREFERENCES


def test_each_profile_has_its_own_choices_and_keeps_what_others_wrote(tmp_path: Path) -> None:
    other = ScreenPreferences(None, {"fills": TableChoice(None, "cTime")})
    screen_state.write_screen_state(tmp_path, "main", {**PREFERENCES.as_plain(), "silenced": ["fill"]})
    screen_state.write_screen_state(tmp_path, "other", other.as_plain())
    screen_state.write_screen_state(tmp_path, "main", {"theme": None})
    stored, notice = screen_state.read_screen_state(tmp_path, "main")
    assert preferences_from(stored) == replace(PREFERENCES, theme=None)
    assert stored["silenced"] == ["fill"] and notice == ""
    assert preferences_from(screen_state.read_screen_state(tmp_path, "other")[0]) == other
    assert preferences_from(screen_state.read_screen_state(tmp_path, "third")[0]) == ScreenPreferences()


def test_profiles_that_write_at_the_same_moment_lose_nothing(tmp_path: Path) -> None:
    names = [f"profile-{number}" for number in range(12)]
    writers = [
        threading.Thread(target=screen_state.write_screen_state, args=(tmp_path, name, {"theme": name}))
        for name in names
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [screen_state.read_screen_state(tmp_path, name)[0] for name in names] == [{"theme": n} for n in names]


def test_no_file_is_no_choice(tmp_path: Path) -> None:
    assert preferences_from(screen_state.read_screen_state(tmp_path, "main")[0]) == ScreenPreferences()


@pytest.mark.parametrize("text", ["theme = [", "\x00", "= 1"])
def test_a_file_that_cannot_be_read_is_put_aside(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.toml").write_text(text)
    stored, notice = screen_state.read_screen_state(tmp_path, "main")
    assert preferences_from(stored) == ScreenPreferences()
    assert "cannot be read" in notice and "state.toml.unread" in notice and "no alert made on the screen" in notice
    assert (tmp_path / "state.toml.unread").read_text() == text
    screen_state.write_screen_state(tmp_path, "main", PREFERENCES.as_plain())
    assert preferences_from(screen_state.read_screen_state(tmp_path, "main")[0]) == PREFERENCES


@pytest.mark.parametrize(
    "stored",
    [
        {"theme": 3},
        {"tables": [1]},
        {"tables": {"orders": 3}},
        {"tables": {"orders": {"columns": "symbol", "sort": 3, "reverse": "yes"}}},
        {"tables": {"orders": {"columns": [3, {"width": 3}, {"id": 4}]}}},
    ],
)
def test_what_is_not_as_it_should_be_counts_as_not_chosen(stored: Mapping[str, Any]) -> None:
    read = preferences_from(stored)
    assert read.theme is None
    assert read.table("orders") == TableChoice()


def test_widths_stay_within_bounds_and_unknown_columns_are_overlooked() -> None:
    stored = {"tables": {"orders": {"columns": [{"id": "symbol", "width": 9999}, {"id": "gone"}, {"id": "symbol"}]}}}
    (column,) = chosen_columns(TABLES["orders"].every_column, preferences_from(stored).table("orders")) or ()
    assert (column.id, column.width) == ("symbol", 60)
    assert chosen_columns(TABLES["orders"].every_column, TableChoice((ColumnChoice("gone"),))) is None


@pytest.mark.looptime
async def test_columns_sort_and_theme_are_chosen_and_remembered() -> None:
    kept: list[ScreenPreferences] = []
    stage = AppOnFewRows(keep=kept.append)
    async with stage.running() as pilot:
        await pilot.press("3", "c")
        assert isinstance(stage.app.screen, ColumnsDialog)
        # The second column goes first, the first gets wider, the third is hidden.
        await pilot.press("down", "shift+up", "down", "plus", "plus", "down", "space", "enter")
        await asyncio.sleep(1)
        ids = [column.id for column in stage.app.main.table.columns]
        default = [column.id for column in TABLES["orders"].columns]
        assert ids == [default[1], default[0], *default[3:]]
        assert stage.app.main.table.columns[1].width == TABLES["orders"].columns[0].width + 2
        assert kept[-1].table("orders").columns is not None

        await pilot.press("c", "0", "enter")
        assert stage.app.main.table.columns == TABLES["orders"].columns
        await asyncio.sleep(1)
        assert "orders" not in kept[-1].tables

        await pilot.press("s", "s", "S")
        stage.app.choose_theme("tradetui-light")
        await asyncio.sleep(1)
        assert kept[-1] == ScreenPreferences(
            "tradetui-light", {"orders": TableChoice(None, TABLES["orders"].columns[0].id, True)}
        )

        await pilot.press("c")
        at = [column.id for column in TABLES["orders"].every_column].index("posMode")
        await pilot.press(*["down"] * at, "space", "enter")
        assert stage.app.main.table.columns[-1].id == "posMode", "every field of the interface can be a column"


@pytest.mark.looptime
async def test_columns_confirmed_as_they_are_stay_and_still_follow_the_rows() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        for panel_key in ("2", "4", "5"):
            await pilot.press(panel_key)
            main = stage.app.main
            shown = main.table.columns
            await pilot.press("c")
            dialog = stage.app.screen
            assert isinstance(dialog, ColumnsDialog)
            assert list(dialog._shown) == [column.id for column in shown], panel_key
            await pilot.press("enter")
            assert main.table.columns == shown, panel_key
            await pilot.press("v")
            await asyncio.sleep(1)
            rows = main.panel.table.model.source
            kinds = TABLES[main.panel.kind.name].default_columns
            of_rows = kinds([row for at in range(rows.count) if (row := rows.row(at)) is not None])
            assert main.table.columns == of_rows, panel_key


@pytest.mark.looptime
async def test_the_dialog_shows_columns_keys_and_buttons_at_80_columns_and_leaving_it_changes_nothing() -> None:
    kept: list[ScreenPreferences] = []
    stage = AppOnFewRows(keep=kept.append)
    async with stage.running((80, 24)) as pilot:
        await pilot.press("3", "c")
        await pilot.pause()
        lines = [line for line in screen_text(stage.app).splitlines() if "│ ■" in line]
        assert len(lines) == 15
        assert any("…" in line for line in lines), "each in one line that says where it is cut"
        await pilot.press("space")
        await pilot.pause()
        shown = screen_text(stage.app)
        assert "Space shows, hides" in shown and "Show these" in shown and "Cancel" in shown
        await pilot.press("escape")
        assert stage.app.main.table.columns == TABLES["orders"].columns
        assert kept == []


@pytest.mark.looptime
async def test_what_was_chosen_is_there_the_next_time() -> None:
    stage = AppOnFewRows(preferences=PREFERENCES)
    async with stage.running() as pilot:
        await pilot.press("3")
        table = stage.app.main.table
        assert [(column.id, column.width) for column in table.columns] == [("orderId", 21), ("symbol", 8)]
        assert table.sort_filter.sort is not None
        assert (table.sort_filter.sort.column, table.sort_filter.sort.reverse) == ("symbol", True)
        assert stage.app.theme == "tradetui-light"


@pytest.mark.looptime
async def test_what_cannot_be_remembered_is_said() -> None:
    def full(preferences: ScreenPreferences) -> None:
        raise OSError(28, "No space left on device")

    stage = AppOnFewRows(keep=full)
    async with stage.running() as pilot:
        await pilot.press("3", "s", "s")
        await asyncio.sleep(1)
        await pilot.pause()
        assert "Your choice could not be saved: " in screen_text(stage.app)


@pytest.mark.looptime
async def test_the_waiting_stops_alone_have_their_own_name_in_panel_tab_dialogs_and_file() -> None:
    stage = AppOnFewRows()
    async with stage.running(after=12) as pilot:
        desk = stage.desk
        live = desk.panel_rows("triggers", other_view=True)
        assert live.count != desk.feeds["triggers"].snapshot.count
        await pilot.press("v")
        assert not stage.app.main.panel.in_other_view, "positions have one view"
        await pilot.press("5", "v")
        await pilot.pause()
        assert stage.app.main.focused_panel == "triggers"
        assert f"5 Waiting stops {live.count}" in screen_text(stage.app)
        assert stage.app.main.table.model.source is live
        assert {row.record.plan_status for row in desk.triggers_reader.waiting or ()} == {"live"}
        await pilot.press("v")
        await pilot.pause()
        assert f"5 Stops {live.count + desk.triggers.snapshot.count}" in screen_text(stage.app)

        await pilot.resize_terminal(80, 24)
        await pilot.press("v")
        await pilot.pause()
        assert stage.app.main.panel.caption == f"5 Waiting stops {live.count}"
        await pilot.press("e")
        assert "Export waiting stops" in screen_text(stage.app)
        assert stage.app.screen.query_one(Input).value.startswith("waiting-stops-hedge-")
        await pilot.press("escape", "c")
        assert "Columns of waiting stops" in screen_text(stage.app)
        await pilot.press("escape", "v", "e")
        assert "Export stops" in screen_text(stage.app)
        assert stage.app.screen.query_one(Input).value.startswith("triggers-hedge-")
        await pilot.press("escape")
        await pilot.pause()
        assert stage.app.main.panel.caption == f"5 Stops {desk.panel_rows('triggers').count}"


async def exported(stage: AppOnFewRows, name: str, tmp_path: Path) -> Path:
    dialog = stage.app.screen
    assert isinstance(dialog, ExportDialog)
    path = tmp_path / name
    dialog.query_one(Input).value = str(path)
    return path


async def written(path: Path, stage: AppOnFewRows) -> None:
    """Until the thread of the dialog's worker has ended."""
    await workers_in_front(stage)
    await asyncio.sleep(0.1)


@pytest.mark.looptime
async def test_a_table_as_shown_is_written(tmp_path: Path) -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        await pilot.press("3", "slash", *"BTCUSDT", "enter", "s", "s", "S", "e")
        assert "orders-hedge-20260801-" in stage.app.screen.query_one(Input).value
        path = await exported(stage, "orders.csv", tmp_path)
        await pilot.press("enter")
        await written(path, stage)
        assert not isinstance(stage.app.screen, ExportDialog)
        rows = list(csv.DictReader(path.read_text().splitlines()))
        assert {row["symbol"] for row in rows} == {"BTCUSDT"}
        assert list(rows[0]) == CsvTable(TABLES["orders"].columns).heading()
        assert len(rows) == stage.app.main.table.rows.count


@pytest.mark.looptime
async def test_what_was_written_is_counted_in_words(tmp_path: Path) -> None:
    notices: list[str | None] = []
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        for rows, count_text in ((0, "0 rows"), (1, "1 row"), (2, "2 rows")):
            path = tmp_path / f"{rows}.csv"
            stage.app.push_screen(ExportDialog("orders", str(path), lambda *_, rows=rows: rows), notices.append)
            await pilot.pause()
            await pilot.press("enter")
            await written(path, stage)
            assert notices[rows:] == [f"{count_text} written to {path}"]


@pytest.mark.looptime
async def test_nothing_is_overwritten_without_asking_and_where_it_cannot_be_written_the_dialog_says_so(
    tmp_path: Path,
) -> None:
    stage = AppOnFewRows()
    async with stage.running(after=3) as pilot:
        await pilot.press("3", "e")
        await exported(stage, "nowhere/orders.csv", tmp_path)
        await pilot.press("enter")
        await written(tmp_path, stage)
        assert "Nothing was written" in screen_text(stage.app)
        await exported(stage, "orders.xlsx", tmp_path)
        await pilot.press("enter")
        await pilot.pause()
        assert "must end in .csv or .json" in screen_text(stage.app)
        await pilot.press("escape")
        assert not os.listdir(tmp_path)

        (tmp_path / "orders.json").write_text("mine")
        await pilot.press("e")
        path = await exported(stage, "orders.json", tmp_path)
        await pilot.press("enter")
        await written(path, stage)
        assert path.read_text() == "mine"
        assert "Enter once more replaces it" in text_in_one_line(stage)
        await pilot.press("enter")
        await written(path, stage)
        assert len(json.loads(path.read_text())) == stage.app.main.table.rows.count
