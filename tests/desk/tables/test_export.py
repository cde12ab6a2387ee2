"""Exports: the table as shown, every digit, nothing a spreadsheet would run, nothing overwritten."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.desk.fixtures.exchange_rows import fill
from tests.wire.unified_rows import UNIFIED_FILL
from tradetui.desk.tables.cells.column import Column, number_column, text_column
from tradetui.desk.tables.export import Format, RowsMissing, csv_cell, default_name, save_rows, write_rows
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.rows.row_source import NO_ROWS, MemoryRows, RowSource, view
from tradetui.desk.tables.table import TABLES
from tradetui.wire.classic_rows import classic_fill
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType

FILLS = [
    ProductRow(ProductType.USDT_FUTURES, fill(1, price="100.50", profit="-1.25", at_ms=1_790_000_000_123)),
    ProductRow(ProductType.USDT_FUTURES, fill(2, price="12345.678", profit="", tradeScope="=1+1")),
]
NAMES = ["cTime", "cTimeUtc", *(column.id for column in TABLES["fills"].columns[1:]), "side", "tradeSide"]
ROWS = MemoryRows(FILLS, [row.row_id for row in FILLS], 1)


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def written(form: Format, rows: RowSource[Any] = ROWS, columns: Sequence[Column[Any]] = TABLES["fills"].columns) -> str:
    stream = io.StringIO()
    assert write_rows(stream, rows, columns, form) == rows.count
    return stream.getvalue()


def test_csv_has_the_columns_shown_and_every_digit() -> None:
    first, second = read_csv(written(Format.CSV))
    assert list(first) == NAMES
    assert (first["price"], first["profit"]) == ("100.50", "-1.25")
    assert (first["cTime"], first["cTimeUtc"]) == ("1790000000123", "2026-09-21T14:13:20.123Z")
    assert (first["fee"], first["feeCoin"]) == ("-0.06", "USDT")
    assert first["productType"] == "USDT-FUTURES"
    assert second["profit"] == "", "unknown is empty"
    assert second["tradeScope"] == "'=1+1"


def test_json_has_the_same_with_null_for_unknown() -> None:
    first, second = json.loads(written(Format.JSON))
    assert list(first) == NAMES
    assert first["price"] == "100.50"
    assert second["profit"] is None
    assert second["tradeScope"] == "=1+1", "JSON is no spreadsheet"


def test_a_unified_accounts_rows_have_a_classic_ones_names_and_in_json_the_row_as_received() -> None:
    converted = FuturesFill.from_row(classic_fill(UNIFIED_FILL, "hedge_mode", None))
    rows = MemoryRows([ProductRow(ProductType.USDT_FUTURES, converted)], ["1"], 1)
    (shown,) = json.loads(written(Format.JSON, rows))
    assert list(shown) == [*NAMES, "v3"] and shown["v3"] == UNIFIED_FILL
    assert (shown["price"], shown["tradeSide"], shown["side"]) == ("181.02", "close", "sell")
    (row,) = read_csv(written(Format.CSV, rows))
    assert (list(row), row["fee"], row["price"]) == (NAMES, "", "181.02"), "a fee of unknown sign is not known"


def test_nested_values_are_json() -> None:
    columns = [column for column in TABLES["fills"].every_column if column.id == "feeDetail"]
    (only, _) = read_csv(written(Format.CSV, columns=columns))
    assert json.loads(only["feeDetail"]) == [{"feeCoin": "USDT", "totalFee": "-0.06"}]
    assert json.loads(written(Format.JSON, columns=columns))[0]["feeDetail"][0]["feeCoin"] == "USDT"


def test_the_order_and_the_filter_shown_are_the_ones_written() -> None:
    shown = view(ROWS, sort_key=lambda row: row.record.price, reverse=True, keep=lambda row: row.record.price > 1)
    assert [row["price"] for row in read_csv(written(Format.CSV, shown))] == ["12345.678", "100.50"]


def test_no_rows_are_an_empty_table() -> None:
    assert written(Format.JSON, NO_ROWS) == "[]\n"
    assert written(Format.CSV, NO_ROWS).count("\n") == 1


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        ("-1.5", "-1.5"),
        ("+2", "+2"),
        ("-1+1", "'-1+1"),
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("  =1", "'  =1"),
        ("\t=1", "'\t=1"),
        ("＝1", "'＝1"),
        (["a", None], '["a",null]'),
        (True, "true"),
        (Decimal("1234567890123456789.10"), "1234567890123456789.10"),
        ("1491757402652127232", "'1491757402652127232"),
        ("123456789012345", "123456789012345"),
        ("0012", "'0012"),
        ("12E34", "'12E34"),
        ("0.5", "0.5"),
    ],
)
def test_cells_of_csv(value: Any, cell: str) -> None:
    assert csv_cell(value) == cell


@given(st.text(max_size=20))
def test_no_cell_runs(text: str) -> None:
    cell = csv_cell(text)
    assert cell in (text, f"'{text}")
    assert not cell.startswith(("=", "@", "\t", "\r"))


class Fields:
    """A row of two words."""

    def __init__(self, first: str, second: str) -> None:
        self.first = first
        self.second = second


TWO: tuple[Column[Fields], ...] = (
    text_column("first", "First", 5, lambda row: row.first),
    text_column("second", "Second", 5, lambda row: row.second),
)


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), max_size=5))
def test_any_words_come_back(pairs: list[tuple[str, str]]) -> None:
    rows = MemoryRows([Fields(*pair) for pair in pairs], [str(index) for index in range(len(pairs))], 1)
    back = json.loads(written(Format.JSON, rows, TWO))
    assert [(row["first"], row["second"]) for row in back] == pairs


def test_a_file_is_whole_or_not_there_and_nobody_elses_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "fills.csv"
    assert save_rows(path, ROWS, TABLES["fills"].columns, Format.CSV) == 2
    assert len(read_csv(path.read_text(encoding="utf-8"))) == 2
    with pytest.raises(FileExistsError):
        save_rows(path, ROWS, TABLES["fills"].columns, Format.CSV)
    missing: RowSource[object] = MemoryRows([FILLS[0], None], ["a", "b"], 1)
    before = path.read_bytes()
    with pytest.raises(RowsMissing):
        save_rows(path, missing, TABLES["fills"].columns, Format.CSV, replace=True)
    assert path.read_bytes() == before
    save_rows(path, ROWS, TABLES["fills"].columns, Format.JSON, replace=True)
    assert len(json.loads(path.read_text(encoding="utf-8"))) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["fills.csv"], "nothing is left lying about"


def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("not supported")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    save_rows(tmp_path / "a.csv", ROWS, TABLES["fills"].columns, Format.CSV)
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


def test_names_say_what_whose_and_when_and_are_no_paths() -> None:
    now = datetime(2026, 11, 21, 6, 45, tzinfo=UTC)
    assert default_name("fills", "main", now, Format.CSV) == "fills-main-20261121-064500.csv"
    assert default_name("fills", "../../etc/passwd\x1b", now, Format.JSON) == "fills-etc-passwd-20261121-064500.json"


def test_numbers_are_decimals_with_their_zeros() -> None:
    columns: tuple[Column[Decimal], ...] = (number_column("amount", "Amount", 8, lambda amount: amount),)
    assert written(Format.CSV, MemoryRows([Decimal("1.500")], ["a"], 1), columns).splitlines()[1] == "1.500"
