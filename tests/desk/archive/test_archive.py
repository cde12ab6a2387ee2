"""The archive: what was seen stays, whatever the exchange forgets, and any place in it is near."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.desk.archive.loaded_pages import wait_for_pages
from tests.desk.fixtures.exchange_rows import fill, trigger
from tests.desk.fixtures.scripted_exchange import COIN, NOW_MS, USDT
from tradetui.desk.archive import archive_rows
from tradetui.desk.archive.archive_rows import PAGE, PAGES_KEPT, ArchiveRows, Selection
from tradetui.desk.archive.coverage import Gap
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.ledger.missing_fills import unread_gaps
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.storage.disk_thread import InlineDisk, ThreadDisk
from tradetui.storage.sqlite_file import FileUnusable
from tradetui.wire.models.futures import FuturesFill, TriggerOrder

FILLS = Selection(FuturesFill)
T = TypeVar("T")


def fills(numbers: range, *, symbol: str = "BTCUSDT") -> list[ProductRow[FuturesFill]]:
    return [ProductRow(USDT, fill(number, symbol=symbol)) for number in numbers]


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "account" / "archive.sqlite"
    archive = Archive(file)
    rows = fills(range(20))
    archive.add(FuturesFill, rows, {USDT: [Gap("7", 5), Gap("3")]})
    archive.close()
    again = Archive(file)
    assert again.rows.newest(FuturesFill, USDT, 100) == rows[::-1]
    assert list(again.rows.fills(USDT)) == [row.record for row in rows]
    assert again.gaps(USDT) == [Gap("7", 5), Gap("3")]
    assert again.gaps(COIN) == []
    assert again.rows.newest(FuturesFill, USDT, 1)[0].record.received == rows[-1].record.received
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_row_known_already_changes_nothing_and_a_changed_one_is_updated() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, fills(range(5)))
    changes = archive.connection.total_changes
    archive.add(FuturesFill, fills(range(5)))
    assert archive.connection.total_changes == changes
    waiting, ended = ProductRow(USDT, trigger(1, "executing")), ProductRow(USDT, trigger(1, "executed", NOW_MS))
    archive.add(TriggerOrder, [waiting])
    archive.add(TriggerOrder, [ended])
    assert archive.rows.newest(TriggerOrder, USDT, 10) == [ended]
    assert archive.rows.count(FILLS) == 5


def test_the_newest_rows_of_a_product_type_without_any_are_not_looked_for_among_all_others() -> None:
    archive, thousands_of_steps = Archive(None), list[None]()
    archive.add(FuturesFill, fills(range(1_000)))
    archive.connection.set_progress_handler(lambda: thousands_of_steps.append(None), 1_000)
    assert archive.rows.newest(FuturesFill, COIN, 100) == []
    assert not thousands_of_steps


def test_two_product_types_may_use_one_id() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, [ProductRow(USDT, fill(1)), ProductRow(COIN, fill(1))])
    assert archive.rows.count(FILLS) == 2
    assert archive.rows.count(Selection(FuturesFill, product_type=COIN)) == 1


@pytest.mark.parametrize("newest", [True, False])
def test_one_trade_id_under_two_symbols_is_two_rows_on_whatever_page(newest: bool) -> None:
    archive = Archive(None)
    archive.add(FuturesFill, [ProductRow(USDT, fill(1, symbol=symbol)) for symbol in ("BTCUSDT", "ETHUSDT", "ethusdt")])
    (rank, first), *_ = archive.rows.page(FILLS, None, 1, newest=newest)
    ((_, second),) = archive.rows.page(FILLS, rank, 5, newest=newest)
    assert {first.record.symbol.upper(), second.record.symbol.upper()} == {"BTCUSDT", "ETHUSDT"}


def test_a_span_below_a_trade_id_of_two_symbols_reaches_up_to_the_newer_of_them() -> None:
    archive, (older, newer) = Archive(None), (NOW_MS - 9_000, NOW_MS - 5_000)
    rows = [ProductRow(USDT, fill(7, at, symbol=symbol)) for at, symbol in ((newer, "ETHUSDT"), (older, "BTCUSDT"))]
    archive.add(FuturesFill, [*rows, ProductRow(USDT, fill(70, NOW_MS))], {USDT: [Gap(rows[0].record.trade_id)]})
    assert [(span.since, span.until) for span in unread_gaps(archive.connection, NOW_MS)] == [(0, newer)]


def test_a_step_that_fails_leaves_nothing_behind() -> None:
    archive = Archive(None)
    with pytest.raises(OverflowError):  # no integer SQLite could hold
        archive.add(FuturesFill, fills(range(3)), {USDT: [Gap("1", 2**70)]})
    assert archive.rows.count(FILLS) == 0


def test_a_newer_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "archive.sqlite"
    Archive(file).close()
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(FileUnusable, match="newer version"):
        Archive(file)
    assert file.exists()


def test_a_file_of_an_earlier_version_is_set_aside_with_a_sentence_and_a_new_one_begun(tmp_path: Path) -> None:
    file = tmp_path / "archive.sqlite"
    with closing(Archive(file)) as archive:
        assert not archive.set_aside
        archive.add(FuturesFill, fills(range(3)))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version=14")
    for checks in ("ledger_mark", ""):
        with closing(Archive(file, checks=checks)) as archive:
            assert archive.rows.count(FILLS) == 0
            kept = "it is of an earlier version and is kept as archive.sqlite.version-14-1"
            sentence = f"{file}: {kept}. What the exchange still keeps is read again."
            assert archive.set_aside == (sentence if checks else "")
    with closing(sqlite3.connect(tmp_path / "archive.sqlite.version-14-1")) as connection:
        assert connection.execute("SELECT count(*) FROM record").fetchone() == (3,)


def test_a_damaged_file_is_set_aside_and_a_new_one_begun(tmp_path: Path) -> None:
    file = tmp_path / "archive.sqlite"
    file.write_bytes(b"this is no database, " * 400)
    archive = Archive(file)
    archive.add(FuturesFill, fills(range(3)))
    assert archive.rows.count(FILLS) == 3
    kept = [file for file in tmp_path.iterdir() if "damaged" in file.name]
    assert len(kept) == 1
    assert kept[0].read_bytes().startswith(b"this is no database")


async def test_what_comes_in_after_counting_is_in_no_page_and_no_sum_until_rows_are_counted_anew() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, [*fills(range(5), symbol="ETHUSDT"), *fills(range(5, 8))])
    rows = ArchiveRows(archive.rows, InlineDisk(), FILLS)
    await rows.refresh()
    view = rows.ordered(None, "ETH")
    await wait_for_pages(view)
    archive.add(FuturesFill, fills(range(8, 10), symbol="ETHUSDT"))
    for source, count in ((rows, 8), (view, 5)):
        listed = [row async for chunk in source.chunks() for row in chunk]
        assert len(listed) == source.count == count
        source.row(0)
        await wait_for_pages(source)
        assert source.row(0) == listed[0]
    await view.refresh()
    assert view.count == 7


def damage_table(file: Path, table: str) -> None:
    """Overwrite where a table begins in a file that nobody has open."""
    with closing(sqlite3.connect(file)) as connection:
        page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    with file.open("r+b") as raw:
        raw.seek((page - 1) * size)
        raw.write(b"\xff" * size)


def test_who_looks_at_one_table_opens_a_file_that_is_damaged_elsewhere(tmp_path: Path) -> None:
    file = tmp_path / "archive.sqlite"
    Archive(file).close()
    damage_table(file, "ledger_quarter")
    with closing(Archive(file, checks="ledger_mark")) as archive, pytest.raises(sqlite3.DatabaseError):
        archive.connection.execute("SELECT * FROM ledger_quarter").fetchall()
    Archive(file).close()
    assert (tmp_path / "archive.sqlite.damaged-1").exists(), "who looks at all of it sets it aside"


def test_without_a_file_every_row_is_kept_until_the_end() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, fills(range(5_500)))
    assert archive.rows.count(FILLS) == 5_500
    archive.close()
    assert Archive(None).rows.count(FILLS) == 0


def test_selections() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, fills(range(10)) + fills(range(10, 14), symbol="ETHUSDT"))
    assert archive.rows.count(Selection(FuturesFill, symbol="ethusdt")) == 4
    middle = NOW_MS - 10_000_000 + 5_000
    assert archive.rows.count(Selection(FuturesFill, since=middle)) == 9
    assert archive.rows.count(Selection(FuturesFill, until=middle)) == 6
    assert archive.rows.count(Selection(TriggerOrder)) == 0


@pytest.mark.parametrize("newest", [True, False])
async def test_every_row_is_reachable_in_either_direction(newest: bool) -> None:
    archive = Archive(None)
    # Many at one moment: the id decides, and ids of other lengths are older or newer as numbers are.
    rows = [ProductRow(USDT, fill(number, NOW_MS - number // 7)) for number in range(730)]
    rows.append(ProductRow(USDT, fill(0, NOW_MS - 3, tradeId="99")))
    archive.add(FuturesFill, rows)
    ordered = sorted(rows, key=lambda row: row.time_order, reverse=newest)
    table = ArchiveRows(archive.rows, InlineDisk(), FILLS, newest=newest)
    assert table.count == 0
    assert table.row(0) is None
    await table.refresh()
    assert table.count == 731
    for index in (730, 0, 350, 351, 699, 700, 100, 99, 400):
        assert table.row(index) is None or table.row(index) == ordered[index]
        await wait_for_pages(table)
        assert table.row(index) == ordered[index]
        assert table.row_id(index) == ordered[index].row_id
        assert table.index_of(ordered[index].row_id) == index
    for index in range(731):
        table.row(index)
        await wait_for_pages(table)
        assert table.row(index) == ordered[index]
    assert len(table._pages) <= PAGES_KEPT
    assert table.row(731) is None


async def test_digits_find_rows_by_a_piece_of_their_own_or_their_orders_id() -> None:
    archive = Archive(None)
    own_id, of_order = fill(1, tradeId="1000987650"), fill(2, orderId="2229876500")
    others = fill(3, price="98765", tradeId="1", orderId="2"), fill(4)
    archive.add(FuturesFill, [ProductRow(USDT, record) for record in (own_id, of_order, *others)])
    table = ArchiveRows(archive.rows, InlineDisk(), FILLS)
    await table.refresh()
    by_symbol = table.ordered(None, "9876")
    await wait_for_pages(by_symbol)
    by_id = table.ordered(None, "98765")
    await wait_for_pages(by_id)
    assert (by_id.count, by_symbol.count) == (2, 0), "fewer digits are of a symbol"
    trade_ids = {row.record.trade_id async for rows in by_id.chunks() for row in rows}
    assert trade_ids == {own_id.trade_id, of_order.trade_id}
    assert by_id.selection.rowids == (1, 2), "pages need no second search"
    archive.add(FuturesFill, [ProductRow(USDT, fill(5, tradeId="3339876533"))])
    await by_id.refresh()
    assert by_id.count == 3


async def test_a_search_that_matches_more_rows_than_are_held_finds_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_rows, "ROWIDS_AT_MOST", 50)
    archive = Archive(None)
    archive.add(FuturesFill, fills(range(60)))
    table = ArchiveRows(archive.rows, InlineDisk(), FILLS).ordered(None, "00000")
    await wait_for_pages(table)
    assert (table.count, table.selection.rowids) == (60, None)
    assert len([row async for rows in table.chunks() for row in rows]) == 60


async def test_rows_that_come_in_are_seen_after_a_refresh() -> None:
    archive = Archive(None)
    archive.add(FuturesFill, fills(range(10)))
    heard = []
    table = ArchiveRows(archive.rows, InlineDisk(), FILLS, changed=lambda: heard.append(1))
    await table.refresh()
    before = table.generation
    archive.add(FuturesFill, fills(range(10, 12)))
    await table.refresh()
    assert table.count == 12
    assert table.generation > before
    assert len(heard) == 2


STEPS_AT_ONCE = 100


async def test_the_end_of_a_long_archive_is_as_near_as_its_beginning(tmp_path: Path) -> None:
    disk = ThreadDisk()
    file = tmp_path / "archive.sqlite"
    archive = await disk.run(Archive, file)
    count = 100_000
    body = '{"tradeId":"%d","symbol":"BTCUSDT","price":"1","baseVolume":"1","side":"buy","cTime":"%d"}'

    def add_fills() -> None:
        archive.connection.execute("BEGIN")
        archive.connection.executemany(
            "INSERT INTO record VALUES ('fill', 'USDT-FUTURES', ?, ?, ?, 'BTCUSDT', ?)",
            ((str(10**18 + n), NOW_MS + n, f"0019{10**18 + n}", body % (10**18 + n, NOW_MS + n)) for n in range(count)),
        )
        archive.connection.execute("COMMIT")

    await disk.run(add_fills)
    table = ArchiveRows(archive.rows, disk, FILLS)
    await table.refresh()

    steps = 0

    def count_steps() -> None:
        nonlocal steps
        steps += STEPS_AT_ONCE

    async def shown(index: int) -> int:
        """About how many steps of SQLite's machine it takes until the row is there, and what is read ahead of it."""
        nonlocal steps
        steps = 0
        table.row(index)
        await wait_for_pages(table)
        assert table.row(index) is not None
        await wait_for_pages(table)
        return steps

    await disk.run(archive.connection.set_progress_handler, count_steps, STEPS_AT_ONCE)

    first = await shown(0)
    last = await shown(count - 1)
    middle = await shown(count // 2)
    beside = await shown(count // 2 + PAGE)
    assert max(last, beside) < 2 * first
    assert middle < 10 * count, "the index is counted through, and no row is read"
    oldest = table.row(count - 1)
    assert oldest is not None and oldest.record.trade_id == str(10**18)
    await disk.run(archive.close)
    disk.close()


@pytest.mark.looptime
@pytest.mark.parametrize("newest", [True, False])
async def test_rows_this_version_cannot_read_are_left_out_told_and_kept(tmp_path: Path, newest: bool) -> None:
    file = tmp_path / "archive.sqlite"
    archive = Archive(file)
    archive.add(FuturesFill, fills(range(3 * PAGE)))
    ids = [row.record.row_id for row in fills(range(3 * PAGE))]
    bodies = {5: "{}", 120: '{"tradeId": "120"', 299: '{"tradeId": []}'}
    with archive.transaction() as connection:
        connection.executemany(
            "UPDATE record SET body = ? WHERE id = ?", [(body, ids[number]) for number, body in bodies.items()]
        )
        connection.execute("UPDATE record SET product_type = 'OF-A-LATER-VERSION' WHERE id = ?", (ids[200],))
    rows = ArchiveRows(archive.rows, InlineDisk(), FILLS, newest=newest)
    await rows.refresh()
    assert (rows.count, rows.unreadable_count) == (3 * PAGE, 0), "bodies are not read for counting"
    while any(rows.row(at) is None for at in range(rows.count)):
        await wait_for_pages(rows)
    expected = [id_ for number, id_ in enumerate(ids) if number not in {*bodies, 200}][:: -1 if newest else 1]
    assert (rows.count, rows.unreadable_count) == (len(expected), 4)
    for source in (rows, rows.whole()):
        shown = [row.record.row_id for at in range(source.count) if (row := source.row(at)) is not None]
        assert shown == expected
    assert [row.record.row_id async for chunk in rows.chunks() for row in chunk] == expected
    kept = archive.connection.execute("SELECT count(*) FROM record").fetchone()[0]
    assert kept == 3 * PAGE, "a later version reads them"


def test_a_page_behind_many_rows_that_cannot_be_read_is_read_once_through() -> None:
    archive, rows = Archive(None), fills(range(2_000))
    archive.add(FuturesFill, rows)
    archive.connection.execute("UPDATE record SET body = '{}' WHERE id <> ?", (rows[0].record.row_id,))
    queries: list[str] = []
    archive.connection.set_trace_callback(queries.append)
    ((_, row),) = archive.rows.page(FILLS, None, 1)
    assert row.record.trade_id == rows[0].record.trade_id
    assert (archive.rows.unreadable_count(FuturesFill), len(queries)) == (1_999, 2_000)
    assert archive.rows.page(FILLS, None, PAGE) == archive.rows.page(FILLS, None, 1)


def test_a_row_that_could_not_be_read_counts_again_once_the_exchange_has_told_it_anew() -> None:
    archive, rows = Archive(None), fills(range(3))
    archive.add(FuturesFill, rows)
    while archive.advance_ledger():
        pass
    archive.connection.execute("UPDATE record SET body = '{}' WHERE id = ?", (rows[-1].record.row_id,))
    assert (len(archive.rows.page(FILLS, None, PAGE)), archive.rows.unreadable_count(FuturesFill)) == (2, 1)
    archive.add(FuturesFill, rows)
    assert (len(archive.rows.page(FILLS, None, PAGE)), archive.rows.unreadable_count(FuturesFill)) == (3, 0)


@pytest.mark.looptime
async def test_pages_that_are_read_at_once_are_all_shown() -> None:
    archive, turn = Archive(None), asyncio.Lock()
    archive.add(FuturesFill, fills(range(2 * PAGE)))

    class SlowDisk(InlineDisk):
        async def run(self, work: Callable[..., T], *arguments: Any, **more: Any) -> T:
            async with turn:
                await asyncio.sleep(1)
                return work(*arguments, **more)

    rows = ArchiveRows(archive.rows, SlowDisk(), FILLS)
    await rows.refresh()
    assert (rows.row(0), rows.row(PAGE)) == (None, None)
    await wait_for_pages(rows)
    assert None not in (rows.row(0), rows.row(PAGE))
