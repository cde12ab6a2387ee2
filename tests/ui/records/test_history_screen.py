"""The archive on the screen: any number of rows, by time, filtered by symbol, exported whole."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import UTC, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui.fixtures.app_on_sandbox import AppOnMonthOfFills, AppOnSandbox, workers_in_front
from tradetui.desk.archive import archive_rows
from tradetui.desk.archive.archive_rows import ArchiveRows, RowQueries, RowRank
from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.columns.fills import fills_footer
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.dialogs.table_dialogs import DatesDialog, ExportDialog
from tradetui.ui.key_bindings.actions import Action, key_named
from tradetui.ui.records.detail_screen import DetailScreen
from tradetui.ui.records.history_screen import HistoryScreen
from tradetui.ui.settings.ui_settings import UiSettings
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.models.futures import FuturesFill, TriggerOrder
from tradetui.wire.replies.record import Record

pytestmark = pytest.mark.looptime


async def opened(stage: AppOnSandbox, pilot: Pilot[None], panel: str = "4") -> HistoryScreen:
    await pilot.press(panel, "H")
    await asyncio.sleep(0.5)
    await pilot.pause()
    screen = stage.app.screen
    assert isinstance(screen, HistoryScreen)
    return screen


async def settled(pilot: Pilot[None]) -> None:
    await asyncio.sleep(0.5)
    await pilot.pause()


def sums_under_columns(page: Iterable[tuple[RowRank, ProductRow[Record]]]) -> Sequence[str]:
    """What the row under the fills of a page of the archive shall say."""
    rows = [ProductRow(row.product_type, fill_of(row)) for _, row in page]
    return [text for text, _ in fills_footer(rows, CellFormat()).totals.values()]


def fill_of(row: object) -> FuturesFill:
    assert isinstance(row, ProductRow)
    assert isinstance(row.record, FuturesFill)
    return row.record


async def test_every_fill_newest_first_the_other_way_round_and_by_symbol() -> None:
    stage = AppOnMonthOfFills()
    async with stage.running(after=8) as pilot:
        screen = await opened(stage, pilot)
        assert stage.desk.archive is not None
        count = screen.table.rows.count
        assert count > 500, "more than the panel holds"
        assert f"Every fill seen {count:,}" in screen_text(stage.app)
        newest = fill_of(screen.table.rows.row(0)).c_time
        await pilot.press("G")
        await settled(pilot)
        last = fill_of(screen.table.cursor.record)
        assert last.c_time < newest
        await pilot.press("s")
        await settled(pilot)
        assert fill_of(screen.table.rows.row(0)) == last
        every = screen.table.rows.count
        assert f"Every fill seen {every:,}" in screen_text(stage.app)

        await pilot.press("slash")
        await pilot.pause()
        assert "filter every fill seen: symbols and IDs" in screen_text(stage.app)
        assert "Symbol or regular expression" in screen_text(stage.app)
        await pilot.press(*"btc", "enter")
        await settled(pilot)
        assert 0 < screen.table.rows.count < every
        assert fill_of(screen.table.rows.row(0)).symbol.startswith("BTC")
        await pilot.press("escape", "slash", *"zzz", "enter")
        await settled(pilot)
        assert "It finds symbols, and five digits or more of an ID" in screen_text(stage.app)
        await pilot.press("escape")
        await settled(pilot)
        assert screen.table.rows.count == every

        await pilot.press("g", "enter")
        assert isinstance(stage.app.screen, DetailScreen)
        await pilot.press("escape", "escape")
        assert stage.app.screen_stack[-1] is stage.app.main


async def test_stops_are_found_by_every_word_and_carry_the_mark_on_the_time_that_orders_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archive_rows, "SEARCHED_AT_ONCE", 7)
    stage = AppOnMonthOfFills()
    async with stage.running(after=8, size=(200, 60)) as pilot:
        for searched_unseen in (archive_rows.SEARCHED_UNSEEN, 10):
            monkeypatch.setattr(archive_rows, "SEARCHED_UNSEEN", searched_unseen)
            screen = await opened(stage, pilot, "5")
            source = screen.table.rows
            assert isinstance(source, ArchiveRows)
            stops = [row async for rows in source.chunks() for row in rows]
            failed = [row for row in stops if row.record.plan_status in ("fail_execute", "fail_trigger")]
            assert 0 < len(failed) < len(stops)
            await pilot.press("slash", *"failed")
            await settled(pilot)
            assert "filter stops that ended: every word and ID of a row" in screen_text(stage.app)
            assert [screen.table.rows.row_id(index) for index in range(screen.table.rows.count)] == [
                row.row_id for row in failed
            ], searched_unseen
            for pattern, count in (
                ("no reason", len(failed)),
                ("!failed", len(stops) - len(failed)),
                ("stop-loss", sum("loss" in str(row.record.plan_type) for row in stops)),
                (str(failed[0].record.order_id)[-7:], 1),
                ("zzz", 0),
            ):
                screen.query_one("#filter", Input).value = pattern
                await settled(pilot)
                assert screen.table.rows.count == count, (pattern, searched_unseen)
            assert "Nothing matches zzz." in screen_text(stage.app)
            await pilot.press("escape", "escape")
            assert stage.app.screen_stack[-1] is stage.app.main

        screen = await opened(stage, pilot, "5")
        await pilot.press("s")
        await settled(pilot)
        times = []
        for index in range(20):
            row = screen.table.rows.row(index)
            assert isinstance(row, ProductRow)
            assert isinstance(row.record, TriggerOrder)
            assert row.record.u_time is not None
            times.append(row.record.u_time)
        assert times == sorted(times)
        assert "Updated▲" in screen_text(stage.app)
        assert "Created▲" not in screen_text(stage.app)


def test_no_match_is_not_taken_for_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    app = SimpleNamespace(
        desk=None, settings=UiSettings("demo", "read-only", ()), key_named=lambda key: key_named(key, {})
    )
    monkeypatch.setattr(HistoryScreen, "trade_app", app)
    screen = HistoryScreen("fills")
    assert screen.nothing == "There are no rows yet."
    screen.table.filter("failed")
    limit = "It finds symbols, and five digits or more of an ID; / in panel 4 finds every word. Esc clears the filter."
    assert limit in screen.nothing
    assert screen.filter_prompt.startswith("Symbol")


async def test_the_history_of_a_unified_account_is_whole_and_exported_as_received(
    tmp_path: Path,
) -> None:
    stage = AppOnSandbox("unified")
    async with stage.running(after=60) as pilot:
        stage.sandbox.exchange_state.stands_still = True
        await settled(pilot)
        screen = await opened(stage, pilot)
        assert stage.desk.account is not None
        uid = stage.desk.account.uid
        fills = [
            row
            for product_type in stage.desk.settings.product_types
            for row in stage.sandbox.exchange_state.rows(uid, "fills", product_type)
        ]
        times = [int(row["cTime"]) for row in fills]
        assert max(times) - min(times) > 31 * DAY_MS, "more than one span of interface v3"
        assert screen.table.rows.count == len(fills)
        await pilot.press("e")
        stage.app.screen.query_one(Input).value = str(tmp_path / "fills.json")
        await pilot.press("enter")
        await workers_in_front(stage)
        written = json.loads((tmp_path / "fills.json").read_text())
        assert {row["v3"]["execId"] for row in written} == {row["tradeId"] for row in fills}
        assert all(
            row["v3"]["execPrice"] == row["price"] and row["v3"]["tradeSide"] != row["tradeSide"] for row in written
        )


async def test_all_of_it_is_exported_and_dates_and_symbols_narrow_it_and_what_is_exported(tmp_path: Path) -> None:
    stage = AppOnMonthOfFills()
    async with stage.running(after=8) as pilot:
        screen = await opened(stage, pilot)
        every = screen.table.rows.count
        stage.desk.zone = timezone(timedelta(hours=2))
        await pilot.press("e")
        assert isinstance(stage.app.screen, ExportDialog)
        proposed = stage.app.screen.query_one(Input).value
        assert proposed.startswith("fills-hedge-20260801-1400"), "when it is in the profile's zone"
        stage.desk.zone = UTC
        stage.app.screen.query_one(Input).value = str(tmp_path / "fills.json")
        await pilot.press("enter")
        await workers_in_front(stage)
        written = json.loads((tmp_path / "fills.json").read_text())
        assert len(written) == screen.table.rows.count == every
        times = [row["cTime"] for row in written]
        assert times == sorted(times, reverse=True)

        dialog = await typed_dates(stage, pilot, **{"from": "yester"})
        assert "Fill in or correct: From." in screen_text(stage.app), "the button is off for a reason"
        dialog.query_one("#field-from", Input).value = ""
        await pilot.press("escape")
        await typed_dates(stage, pilot, **{"from": "07-20", "to": "2026-07-29", "symbol": "btc"})
        assert "Shows 20 Jul to 29 Jul BTC, in UTC." in screen_text(stage.app)
        await pilot.press("enter")
        await settled(pilot)
        assert 0 < screen.table.rows.count < every / 5
        assert f"Every fill seen {screen.table.rows.count} · 20 Jul to 29 Jul BTC" in screen_text(stage.app)
        await pilot.press("e")
        stage.app.screen.query_one(Input).value = str(tmp_path / "btc.json")
        await pilot.press("enter")
        await workers_in_front(stage)
        written = json.loads((tmp_path / "btc.json").read_text())
        assert len(written) == screen.table.rows.count
        assert {row["symbol"][:3] for row in written} == {"BTC"}
        assert {row["cTimeUtc"][:8] for row in written} == {"2026-07-"}
        assert {int(row["cTimeUtc"][8:10]) for row in written} <= set(range(20, 30))
        await pilot.press("escape")
        await settled(pilot)
        assert screen.table.rows.count >= every
        assert stage.app.screen_stack[-1] is screen


async def test_what_is_not_read_yet_is_not_called_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnMonthOfFills()
    async with stage.running(after=8) as pilot:
        is_disk_free, count = asyncio.Event(), ArchiveRows.refresh

        async def wait_and_count(rows: ArchiveRows[Record]) -> None:
            await is_disk_free.wait()
            await count(rows)

        monkeypatch.setattr(ArchiveRows, "refresh", wait_and_count)
        screen = await opened(stage, pilot)
        assert "Reading the archive …" in screen_text(stage.app)
        is_disk_free.set()
        await settled(pilot)
        assert screen.table.rows.count > 500
        is_disk_free.clear()
        await pilot.press("slash", *"9998887776", "enter")
        await settled(pilot)
        assert "Looking for 9998887776 …" in screen_text(stage.app)
        is_disk_free.set()
        await settled(pilot)
        assert "Nothing matches 9998887776." in screen_text(stage.app)


async def test_a_long_paste_is_named_as_wrong_and_the_order_of_no_rows_can_be_turned_round() -> None:
    stage = AppOnMonthOfFills()
    async with stage.running((120, 36), after=5) as pilot:
        screen = await opened(stage, pilot)
        dialog = await typed_dates(stage, pilot)
        dialog.query_one("#field-from", Input).post_message(Paste("a date that nobody would type, " * 10))
        await pilot.pause()
        await pilot.press("tab")
        assert len(dialog.texts["from"]) > 300, "it is not dropped"
        assert "Fill in or correct: From." in screen_text(stage.app)
        await pilot.press("escape")

        await typed_dates(stage, pilot, symbol="nosuchcoin")
        await pilot.press("enter")
        await settled(pilot)
        assert "Nothing was seen of these dates and symbols." in screen_text(stage.app)
        await pilot.press("s")
        await settled(pilot)
        assert screen.table.sort_filter.sort is not None
        assert "Nothing was seen of these dates and symbols." in screen_text(stage.app), "there are none still"
        assert "Every fill seen 0 " in screen_text(stage.app)


async def typed_dates(stage: AppOnMonthOfFills, pilot: Pilot[None], **texts: str) -> DatesDialog:
    await pilot.press("f")
    await pilot.pause()
    dialog = stage.app.screen
    assert isinstance(dialog, DatesDialog)
    for field, text in texts.items():
        dialog.query_one(f"#field-{field}", Input).value = text
    await pilot.pause()
    return dialog


async def test_a_panel_has_dates_of_its_own_and_hands_them_to_its_history(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnMonthOfFills()
    async with stage.running(after=8) as pilot:
        await pilot.press("4")
        dialog = await typed_dates(stage, pilot, **{"from": "soon"})
        assert "given: soon." not in screen_text(stage.app), "one may still be typing"
        await pilot.press("enter")
        assert "From: must be a day, a month, a time, or a span such as 7d; given: soon." in screen_text(stage.app)
        assert len(stage.app.screen_stack) == 3, "what cannot be read is not taken"
        dialog.query_one("#field-from", Input).value = "today"
        await pilot.press("enter")
        await pilot.pause()
        panel = stage.app.main.panel
        shown, fills = panel.table.rows.count, stage.desk.panel_rows("fills").count
        assert 0 < shown < fills
        assert panel.caption.startswith(f"4 Fills {shown}/{fills} · today")
        await pilot.press("H")
        await settled(pilot)
        history = stage.app.screen
        assert isinstance(history, HistoryScreen)
        assert history.table.rows.count >= shown
        assert "· today" in screen_text(stage.app)
        await pilot.press("escape", "escape")
        await pilot.pause()
        assert stage.app.screen_stack[-1] is stage.app.main
        await pilot.press("escape")
        await pilot.pause()
        assert panel.table.rows.count == stage.desk.panel_rows("fills").count

        await typed_dates(stage, pilot, to="yesterday")
        await pilot.press("enter")
        await settled(pilot)
        history = stage.app.screen
        assert isinstance(history, HistoryScreen), "dates before its oldest row open the history of them"
        assert history.table.rows.count > stage.desk.panel_rows("fills").count
        assert panel.dates is None
        await pilot.press("escape", "escape")
        assert stage.app.screen_stack[-1] is stage.app.main

        monkeypatch.setattr(type(stage.desk), "archive", None)
        await typed_dates(stage, pilot, to="yesterday")
        await pilot.press("enter")
        await pilot.pause()
        assert stage.app.screen is stage.app.main
        newest = f"· until 31 Jul, newest {stage.desk.panel_rows('fills').count} rows only"
        assert newest in panel.caption, "there is no history"


async def test_what_is_shown_is_summed_whatever_its_length_and_sums_that_come_late_not_under_other_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chunks, may_be_read = ArchiveRows.chunks, asyncio.Event()

    async def late_chunks(rows: ArchiveRows[Record]) -> AsyncIterator[list[ProductRow[Record]]]:
        await may_be_read.wait()
        async for chunk in chunks(rows):
            yield chunk

    stage = AppOnMonthOfFills()
    async with stage.running(after=8) as pilot:
        with monkeypatch.context() as late:
            late.setattr(ArchiveRows, "chunks", late_chunks)
            screen = await opened(stage, pilot)
            await pilot.press("slash", *"ethusdt", "enter")
            await settled(pilot)
            late.setattr("tradetui.ui.records.history_screen.MOST_SUMMED", screen.table.rows.count)
            await pilot.press("escape")
            await settled(pilot)
            may_be_read.set()
            await settled(pilot)
            assert "profit and fees are summed of" in screen_text(stage.app)
            assert screen.table.model.footer.totals == {}

        # What is of yesterday stands still while more comes in.
        await typed_dates(stage, pilot, to="yesterday")
        await pilot.press("enter")
        await settled(pilot)

        def sums_of(symbol_part: str) -> Sequence[str]:
            archive = stage.desk.archive
            assert archive is not None
            assert isinstance(screen.table.rows, ArchiveRows)
            page = archive.rows.page(screen.table.rows.selection, None, 1_000_000)
            assert {symbol_part} == {row.record.symbol[: len(symbol_part)] for _, row in page}
            return sums_under_columns(page)

        for amount in sums_of(""):
            assert amount in screen_text(stage.app)
        assert "sums in USDT of " in screen_text(stage.app)
        await pilot.press("slash", *"ethusdt", "enter")
        await settled(pilot)
        for amount in sums_of("ETHUSDT"):
            assert amount in screen_text(stage.app)
        await pilot.press("escape", "slash", *fill_of(screen.table.rows.row(0)).trade_id, "enter")
        await settled(pilot)
        assert "sums in USDT of 1 fill " in screen_text(stage.app)
        monkeypatch.setattr("tradetui.ui.records.history_screen.MOST_SUMMED", 10)
        await pilot.press("escape")
        await settled(pilot)
        assert "profit and fees are summed of 10 fills at" in screen_text(stage.app)


async def test_newer_rows_are_looked_for_when_asked_and_the_product_type_of_the_panels_narrows_them() -> None:
    stage = AppOnMonthOfFills()
    async with stage.running(after=8) as pilot:
        screen = await opened(stage, pilot)
        before = screen.table.rows.count
        await asyncio.sleep(20)
        assert screen.table.rows.count == before
        await pilot.press("u")
        await settled(pilot)
        every = screen.table.rows.count
        assert every > before
        await pilot.press("escape", "p")
        screen = await opened(stage, pilot)
        assert 0 < screen.table.rows.count < every
        first = screen.table.rows.row(0)
        assert isinstance(first, ProductRow)
        assert str(first.product_type) == stage.app.main.product
        assert f"Every fill seen {screen.table.rows.count:,} USDT" in screen_text(stage.app)


async def test_other_panels_have_no_history(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnMonthOfFills()
    async with stage.running() as pilot:
        await pilot.press("2", "H")
        await pilot.pause()
        assert stage.app.screen is stage.app.main
        assert "Only fills and stops have a history" in screen_text(stage.app)
        await pilot.press("4")
        with monkeypatch.context() as before_identification:
            before_identification.setattr(type(stage.desk), "archive", None)
            assert stage.app.main.reason(Action.HISTORY) == "the account is not known yet"


async def test_what_cannot_be_read_is_said_with_what_to_do_and_a_disk_that_failed_is_read_again_on_demand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    newest_row, newest = RowQueries.newest_row, set[int]()

    def without_later_fills(row_queries: RowQueries) -> int:
        newest.add(newest_row(row_queries))
        return min(newest)

    def fail(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    stage = AppOnMonthOfFills()
    async with stage.running(after=8) as pilot:
        with monkeypatch.context() as broken:
            broken.setattr(RowQueries, "newest_row", fail)
            screen = await opened(stage, pilot)
            text = screen_text(stage.app)
            assert "The archive cannot be read: disk I/O error." in text
            assert "Reading the archive" not in text and " ? " in text
        await pilot.press("u")
        await settled(pilot)
        assert screen.table.rows.count > 0 and "cannot be read" not in screen_text(stage.app)
        with monkeypatch.context() as broken:
            broken.setattr(RowQueries, "page", fail)
            await pilot.press("u", "G")
            await settled(pilot)
            text = screen_text(stage.app)
            assert "the archive cannot be read: disk I/O error" in text and "being summed" not in text
        await pilot.press("u")
        await settled(pilot)
        assert "cannot be read" not in screen_text(stage.app)
        await pilot.press("escape")

        # Sums that could not be read are made once the disk answers again.
        with monkeypatch.context() as unchanged:
            unchanged.setattr(RowQueries, "newest_row", without_later_fills)
            with monkeypatch.context() as broken:
                broken.setattr(RowQueries, "page", fail)
                screen = await opened(stage, pilot)
                count = screen.table.rows.count
                assert "the archive cannot be read: disk I/O error" in screen_text(stage.app)
            await pilot.press("u")
            await settled(pilot)
            text = screen_text(stage.app)
            assert screen.table.rows.count == count > 0 and "cannot be read" not in text
            assert "being summed" not in text and "sums in USDT of" in text
        await pilot.press("escape")

        archive = stage.desk.archive
        assert archive is not None
        with archive.transaction() as connection:
            connection.execute(
                "UPDATE record SET body = '{}' WHERE kind = 'fill' AND time = (SELECT max(time) FROM record)"
            )
        screen = await opened(stage, pilot)
        await settled(pilot)
        assert screen.table.rows.row(0) is not None
        unreadable = "1 unreadable and left out: use the newer tradetui that wrote them"
        assert unreadable in screen_text(stage.app), "rows this version cannot read are counted beside the others"
