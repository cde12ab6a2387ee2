"""Texts of rows are made before they are filtered where a source only grows."""

from __future__ import annotations

import weakref
from collections import Counter
from datetime import timedelta, timezone

import pytest

from tests.desk.fixtures.exchange_rows import trigger
from tests.ui.fixtures.three_column_table import Row, source
from tradetui.desk.lookup.lookup import LoadedRows
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT, CellFormat
from tradetui.desk.tables.cells.column import Column
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.rows.row_source import MemoryRows
from tradetui.desk.tables.table import TRIGGERS
from tradetui.ui.table.cells import Cells
from tradetui.ui.table.table_model import SortFilter
from tradetui.wire.product_types import ProductType


def counted(made: Counter[str]) -> tuple[Column[Row], ...]:
    """A column that counts how often each row's text is made."""

    def text(row: Row, _: object) -> str:
        made[row.name] += 1
        return row.name

    return (Column("name", "Name", 8, lambda row: row.name, text),)


def grown(rows: LoadedRows[Row], names: range) -> LoadedRows[Row]:
    rows.add([Row(f"r{number}") for number in names])
    return rows


def test_a_filter_of_rows_that_are_ready_makes_no_text() -> None:
    made: Counter[str] = Counter()
    narrowing, rows = SortFilter(counted(made), DEFAULT_FORMAT), grown(LoadedRows(), range(250))
    assert narrowing.texts.make_ready(rows, 100)
    assert narrowing.texts.make_ready(rows, 100)
    assert not narrowing.texts.make_ready(rows, 100)
    assert len(made) == sum(made.values()) == 250
    for pattern in ("r1", "", "r2"):
        narrowing.pattern = pattern
        shown = narrowing.view_of(rows).rows
        assert all((shown.row_id(index) or "").startswith(pattern) for index in range(shown.count))
    assert sum(made.values()) == 250
    grown(rows, range(250, 300))
    assert not narrowing.texts.make_ready(rows, 100)
    assert sum(made.values()) == 300


def test_another_zone_other_columns_and_another_source_are_made_anew() -> None:
    made: Counter[str] = Counter()
    narrowing, rows = SortFilter(counted(made), DEFAULT_FORMAT), grown(LoadedRows(), range(10))
    narrowing.texts.make_ready(rows, 100)
    narrowing.use_format(CellFormat(timezone(timedelta(hours=9))))
    narrowing.texts.make_ready(rows, 100)
    assert set(made.values()) == {2}
    narrowing.use_columns(counted(made))
    narrowing.texts.make_ready(rows, 100)
    assert set(made.values()) == {3}
    narrowing.texts.make_ready(grown(LoadedRows(), range(20, 25)), 100)
    assert [made[f"r{number}"] for number in range(20, 25)] == [1] * 5


def test_texts_and_cells_of_rows_that_are_gone_are_forgotten() -> None:
    columns = counted(Counter())
    narrowing, cells = SortFilter(columns, DEFAULT_FORMAT), Cells(columns, DEFAULT_FORMAT)
    narrowing.pattern = "r"
    met = []
    for poll in range(80):
        rows = source([f"r{number}" for number in range(poll * 50, poll * 50 + 100)])
        assert narrowing.view_of(rows).rows.count == 100
        for index in range(100):
            row = rows.row(index)
            assert row is not None
            cells.drawn_row(row.row_id, row)
            met.append(weakref.ref(row))
            del row
    assert sum(row() is not None for row in met) < 1500


def test_a_filter_finds_the_words_of_the_interface_and_those_of_the_trade() -> None:
    rows = [
        ProductRow(ProductType.USDT_FUTURES, trigger(1, planType="pos_loss", tradeSide="close")),
        ProductRow(ProductType.USDT_FUTURES, trigger(2)),
    ]
    narrowing = SortFilter(TRIGGERS.columns, DEFAULT_FORMAT)
    for pattern in ("pos_loss", r"stop-loss \(position", "closes long", "close\\b"):
        narrowing.pattern = pattern
        shown = narrowing.view_of(MemoryRows(rows, [row.row_id for row in rows], 1)).rows
        assert [shown.row_id(index) for index in range(shown.count)] == [rows[0].row_id], pattern


@pytest.mark.parametrize("pattern", ["84,210", "84210.5", r"\b84210"])
def test_a_filter_finds_a_price_with_and_without_commas(pattern: str) -> None:
    rows = [
        ProductRow(ProductType.USDT_FUTURES, trigger(1, triggerPrice="84210.5")),
        ProductRow(ProductType.USDT_FUTURES, trigger(2, triggerPrice="2936.46")),
    ]
    sort_filter = SortFilter(TRIGGERS.columns, DEFAULT_FORMAT)
    sort_filter.pattern = pattern
    shown = sort_filter.view_of(MemoryRows(rows, [row.row_id for row in rows], 1)).rows
    assert [shown.row_id(index) for index in range(shown.count)] == [rows[0].row_id]


def test_a_filter_finds_what_is_in_a_hidden_column() -> None:
    rows = [
        ProductRow(ProductType.USDT_FUTURES, trigger(1, symbol="BTCUSDT")),
        ProductRow(ProductType.USDT_FUTURES, trigger(2, symbol="ETHUSDT")),
    ]
    sort_filter = SortFilter(TRIGGERS.columns, DEFAULT_FORMAT)
    without_symbol = [column for column in TRIGGERS.columns if column.id != "symbol"]
    sort_filter.use_columns(without_symbol, also_searched=TRIGGERS.columns)
    sort_filter.pattern = "eth"
    shown = sort_filter.view_of(MemoryRows(rows, [row.row_id for row in rows], 1)).rows
    assert [shown.row_id(index) for index in range(shown.count)] == [rows[1].row_id]
