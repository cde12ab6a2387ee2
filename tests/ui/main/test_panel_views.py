"""The views of a panel: one row an order or each fill, and times that become days at midnight."""

from __future__ import annotations

import asyncio

import pytest

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, AppOnSandbox
from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.records.detail_screen import DetailScreen
from tradetui.wire.exchange_time import DAY_MS


@pytest.mark.looptime
async def test_fills_are_one_row_an_order_until_v_shows_each() -> None:
    stage = AppOnSandbox()
    async with stage.running() as pilot:
        await pilot.press("4")
        await pilot.pause()
        panel = stage.app.main.panel
        assert isinstance(panel.table.cursor.record, FilledOrder)
        assert panel.caption.startswith("4 Fills 400 · one row an order")
        assert [column.id for column in panel.table.columns][:3] == ["cTime", "symbol", "did"]
        assert "fills" in [column.id for column in panel.table.columns]
        await pilot.press("enter")
        await pilot.pause()
        detail = stage.app.screen
        assert isinstance(detail, DetailScreen)
        assert "fill 1" in [field.name for field in detail.fields]
        await pilot.press("escape", "v")
        await pilot.pause()
        assert panel.caption.startswith("4 Every fill 400")
        assert panel.table.model.source is stage.desk.fills.snapshot
        assert "fills" not in [column.id for column in panel.table.columns]
        assert panel.size.width == 58, "so narrow that not all of its columns are shown"
        shown = [panel.table.columns[index].title for index in panel.table.model.cells.layout.shown]
        assert shown[:4] == ["Time", "Symbol", "Did", "Size"]
        await pilot.press("v")
        await pilot.pause()
        assert panel.table.model.source is stage.desk.filled_orders.snapshot


@pytest.mark.looptime
async def test_a_time_of_today_is_its_day_after_midnight(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        await pilot.press("4", "z")
        await pilot.pause()
        newest = stage.desk.filled_orders.snapshot.rows[0].record.c_time
        assert f"{newest:%H:%M}  " in screen_text(stage.app)
        assert "1 Aug " not in screen_text(stage.app)
        tomorrow = stage.clock.wall_ms() + DAY_MS
        monkeypatch.setattr(stage.clock, "wall_ms", lambda: tomorrow)
        await asyncio.sleep(2)
        await pilot.pause()
        assert "1 Aug " in screen_text(stage.app)


@pytest.mark.looptime
async def test_dates_narrow_the_waiting_stops_where_they_are_all_known() -> None:
    stage = AppOnFewRows()
    async with stage.running(after=15) as pilot:
        await pilot.press("5", "v")
        await pilot.pause()
        panel = stage.app.main.panel
        waiting = panel.table.rows.count
        assert panel.caption.startswith("5 Waiting stops")
        await pilot.press("f", *"7d", "enter")
        await asyncio.sleep(0.5)
        await pilot.pause()
        assert stage.app.screen is stage.app.main, "a history has none that waits"
        assert "since " in panel.caption and "only" not in panel.caption
        assert 0 < panel.table.rows.count <= waiting
