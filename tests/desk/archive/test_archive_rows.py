"""Archived rows behind a table: what is at hand before a key asks for it, and what stands until it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta, timezone
from typing import TypeVar

import pytest

from tests.desk.archive.loaded_pages import wait_for_pages
from tests.desk.archive.test_archive import FILLS, fills
from tests.desk.fixtures.exchange_rows import trigger
from tests.desk.fixtures.scripted_exchange import USDT
from tradetui.desk.archive.archive_rows import PAGE, ArchiveRows, Selection
from tradetui.desk.archive.database import Archive
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, CellFormat
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.rows.row_source import Sort
from tradetui.desk.tables.table import TABLES
from tradetui.storage.disk_thread import InlineDisk
from tradetui.ui.table.table_model import SortFilter
from tradetui.wire.models.futures import FuturesFill, TriggerOrder

T = TypeVar("T")
OLDEST_FIRST = Sort("cTime")


async def opened(count: int, changed: Callable[[], None] | None = None) -> ArchiveRows[FuturesFill]:
    archive = Archive(None)
    archive.add(FuturesFill, fills(range(count)))
    rows = ArchiveRows(archive.rows, InlineDisk(), FILLS, changed=changed)
    await rows.refresh()
    rows.row(0)
    await wait_for_pages(rows)
    rows.read_ahead(0)
    await wait_for_pages(rows)
    return rows


@pytest.mark.parametrize("row_index", [PAGE, 10 * PAGE - 1, 10 * PAGE + 2])
async def test_the_next_page_and_the_end_are_there_before_a_key_asks_for_them(row_index: int) -> None:
    rows = await opened(10 * PAGE + 3)
    assert rows.row(row_index) is not None


async def test_both_ends_stay_at_hand_while_pages_are_turned() -> None:
    rows = await opened(30 * PAGE)
    for number in range(1, 20):
        assert rows.row(number * PAGE) is not None
        rows.read_ahead(number * PAGE)
        await wait_for_pages(rows)
    assert None not in (rows.row(0), rows.row(30 * PAGE - 1))


async def test_a_page_that_is_read_ahead_repaints_nothing() -> None:
    heard: list[int] = []
    rows = await opened(10 * PAGE, changed=lambda: heard.append(1))
    assert len(heard) == 2, "when rows were counted, and when the first ones came"
    before = rows.generation
    rows.read_ahead(PAGE)
    await wait_for_pages(rows)
    assert rows.row(2 * PAGE) is not None
    assert (rows.generation, len(heard)) == (before, 2)


async def test_a_row_that_is_painted_has_nothing_read_that_its_painting_would_wait_for() -> None:
    rows = await opened(30 * PAGE)
    assert rows.row(PAGE) is not None
    await wait_for_pages(rows)
    assert rows.row(2 * PAGE) is None


async def test_what_was_shown_stays_until_the_first_rows_of_another_order_or_filter_are_there() -> None:
    rows = await opened(5 * PAGE)
    sort_filter = SortFilter(TABLES["fills"].columns, DEFAULT_FORMAT)
    assert sort_filter.view_of(rows).rows is rows
    sort_filter.sort = OLDEST_FIRST
    assert sort_filter.view_of(rows).rows is rows, "an empty table would be painted first"
    await wait_for_pages(rows.ordered(OLDEST_FIRST, ""))
    turned, is_other, is_reordered = sort_filter.view_of(rows)
    assert turned is not rows and is_other and is_reordered
    first, last = turned.row(0), rows.row(rows.count - 1)
    assert first is not None and first == last
    sort_filter.pattern = "nothing of the kind"
    assert sort_filter.view_of(rows).rows is turned
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert sort_filter.view_of(rows).rows.count == 0


async def test_a_search_of_every_word_is_made_again_in_another_zone_and_in_other_columns() -> None:
    archive = Archive(None)
    row = ProductRow(USDT, trigger(1))
    archive.add(TriggerOrder, [row])
    rows = ArchiveRows(archive.rows, InlineDisk(), Selection(TriggerOrder))
    await rows.refresh()
    columns = TABLES["triggers"].columns
    sort_filter = SortFilter(columns, DEFAULT_FORMAT)

    async def count() -> int:
        for _ in range(20):
            sort_filter.view_of(rows)
            await asyncio.sleep(0)
        return sort_filter.view_of(rows).rows.count

    updated = next(column for column in columns if column.id == "uTime")
    sort_filter.pattern = updated.cell(row, DEFAULT_FORMAT)[0]
    assert await count() == 1
    sort_filter.use_format(CellFormat(timezone(timedelta(hours=9))))
    assert await count() == 0, "no row has this time in the other zone"
    sort_filter.use_format(DEFAULT_FORMAT)
    assert await count() == 1
    sort_filter.use_columns([column for column in columns if column.id not in ("uTime", "cTime")])
    assert await count() == 0, "no column that is searched has the time"
    rows.close()


async def test_rows_are_turned_again_without_being_counted_or_read() -> None:
    rows = await opened(5 * PAGE)
    turned = rows.ordered(OLDEST_FIRST, "")
    await wait_for_pages(turned)
    assert rows.ordered(OLDEST_FIRST, "") is turned
    assert (turned.count, turned.row(0) is None) == (5 * PAGE, False)
    await rows.refresh()
    assert rows.ordered(OLDEST_FIRST, "") is not turned, "rows may have come in"
    rows.close()


def test_rows_of_symbols_are_counted_once_and_then_only_what_came_in() -> None:
    archive = Archive(None)
    statements: list[str] = []

    def count(*symbols: str) -> int:
        selection = Selection(FuturesFill, symbols=symbols or None, newest_row=archive.rows.newest_row())
        statements.clear()
        archive.connection.set_trace_callback(statements.append)
        counted = archive.rows.count(selection)
        archive.connection.set_trace_callback(None)
        assert counted == archive.rows.count(Selection(FuturesFill, symbols=symbols or None))
        return counted

    archive.add(FuturesFill, [*fills(range(10)), *fills(range(10, 14), symbol="ETHUSDT")])
    assert count() == 14
    assert (count("ETHUSDT"), count("BTCUSDT", "ETHUSDT"), count("XRPUSDT")) == (4, 14, 0)
    archive.add(FuturesFill, fills(range(14, 17), symbol="XRPUSDT"))
    assert (count("XRPUSDT"), count()) == (3, 17)
    assert all("rowid >" in statement for statement in statements), "what was counted is not counted again"
    archive.add(FuturesFill, fills(range(3), symbol="SOLUSDT"))
    assert (count("SOLUSDT"), count("BTCUSDT")) == (3, 10), "one trade id under two symbols is two fills"
