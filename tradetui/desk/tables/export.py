"""Exports a table as shown to CSV or JSON: its columns, its order, every digit.

Numbers and words are as received, nested values as JSON. Rows of a unified account have the names of a classic one, so
that one sheet reads both; in JSON `v3` is the row as received. A time is written twice, as received (`cTime`) and in
ISO 8601 UTC (`cTimeUtc`). A missing value is empty in CSV and null in JSON. Text that a spreadsheet would run as a
formula, or change as a number, gets an apostrophe before it in CSV.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final, Generic, TextIO

from tradetui.desk.tables.cells.cell_format import instant
from tradetui.desk.tables.cells.column import Column, unreadable_text
from tradetui.desk.tables.rows.product_row import record_of
from tradetui.desk.tables.rows.row_source import RowSource, RowT, RowT_contra
from tradetui.storage.atomic_file import atomic_writer
from tradetui.wire.decimal_text import trimmed_digits
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.json_text import dump_json
from tradetui.wire.replies.record import ORIGINAL
from tradetui.wire.text import csv_row, escaped

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?(E[+-]?\d+)?", re.ASCII)
# A spreadsheet keeps 15 digits of a number, drops leading zeros, and reads 12E3 as 12000.
_CHANGED_BY_A_SPREADSHEET: Final = re.compile(r"\d{16,}|0\d+|\d+(\.\d+)?[eE][+-]?\d+", re.ASCII)


class Format(StrEnum):
    CSV = "csv"
    JSON = "json"


class RowsMissing(Exception):
    """A shown row is not in memory yet; nothing was written."""


def write_rows(stream: TextIO, rows: RowSource[RowT], columns: Sequence[Column[RowT]], form: Format) -> int:
    """Write the rows in order, one at a time; return how many. Raises RowsMissing if a row is not loaded yet."""
    if form is Format.CSV:
        return _write_csv(stream, rows, columns)
    fields, written = _fields(columns), 0
    for written, row in enumerate(_rows_of(rows), 1):
        # A terminal that prints the file gets escapes; parsing it gives the exact text.
        values = [(name, _in_json(value(row))) for name, value in fields]
        if (record := record_of(row)) is not None and record.is_converted:
            values.append((ORIGINAL, record.original))
        members = ",".join(f"{dump_json(name)}:{escaped(dump_json(value))}" for name, value in values)
        stream.write(f"{',' if written > 1 else '['}\n{{{members}}}")
    stream.write("\n]\n" if written else "[]\n")
    return written


def save_rows(
    path: Path, rows: RowSource[RowT], columns: Sequence[Column[RowT]], form: Format, *, replace: bool = False
) -> int:
    """Write a whole file or none; blocks.

    Raises OSError if it cannot be written, FileExistsError if the file exists and must not be replaced, and RowsMissing
    if a row is not loaded yet.
    """
    with atomic_writer(path, overwrite=replace, durable=False) as stream:
        return write_rows(stream, rows, columns, form)


def default_name(table: str, account: str, now: datetime, form: Format) -> str:
    """Return a name such as `fills-main-20261121-064500.csv`: table, account, time; without characters of a path."""
    stem = "-".join(re.sub(r"[^A-Za-z0-9_.]+", "-", word).strip("-.") for word in (table, account))
    return f"{stem.strip('-') or 'table'}-{now:%Y%m%d-%H%M%S}.{form}"


class CsvTable(Generic[RowT_contra]):
    """The names and cells of a table's CSV, the same wherever its rows are written."""

    def __init__(self, columns: Iterable[Column[RowT_contra]]) -> None:
        self._fields = _fields(columns)

    def heading(self) -> list[str]:
        return [csv_cell(name) for name, _ in self._fields]

    def cells(self, row: RowT_contra) -> list[str]:
        """Return the cells of a row: a record, a record with its product type, or a position."""
        return [csv_cell(value(row)) for _, value in self._fields]


def _write_csv(stream: TextIO, rows: RowSource[RowT], columns: Sequence[Column[RowT]]) -> int:
    table = CsvTable(columns)
    stream.write(csv_row(table.heading()))
    written = 0
    for row in _rows_of(rows):
        stream.write(csv_row(table.cells(row)))
        written += 1
    return written


def _rows_of(rows: RowSource[RowT]) -> Iterator[RowT]:
    for index in range(rows.count):
        row = rows.row(index)
        if row is None:
            raise RowsMissing(f"row {index + 1} of {rows.count} is still being read")
        yield row


def _fields(columns: Iterable[Column[RowT]]) -> list[tuple[str, Callable[[RowT], object]]]:
    """Return name and value of each written column; a received time gives the received value and the ISO time."""
    fields: list[tuple[str, Callable[[RowT], object]]] = []
    for column in columns:
        if column.is_received_time:
            fields.append((column.id, partial(_received_time, column)))
            fields.append((f"{column.id}Utc", partial(_moment, column)))
        else:
            fields.append((column.id, partial(_value, column)))
    for column in columns:
        taken = {name for name, _ in fields}
        fields += [(name, source) for name, source in column.sources if name not in taken]
    return fields


def _received_time(column: Column[RowT], row: RowT) -> object:
    """Return a time as received, or in Unix milliseconds if the received value is missing."""
    record = record_of(row)
    received = None if record is None else record.received.get(column.id)
    if received not in (None, ""):
        return received
    moment = column.value(row)
    return str(unix_ms(moment)) if isinstance(moment, datetime) else None


def _moment(column: Column[RowT], row: RowT) -> str | None:
    moment = column.value(row)
    return instant(moment, UTC) if isinstance(moment, datetime) else None


def _value(column: Column[RowT], row: RowT) -> object:
    unreadable = unreadable_text(row, column.id)
    if unreadable is not None:
        return unreadable
    value = column.value(row)
    if isinstance(value, datetime):
        return instant(value, UTC)
    if value is None or isinstance(value, Decimal | dict | list | bool):
        return value
    if isinstance(value, tuple):
        return list(value)
    return str(value)


def _in_json(value: object) -> object:
    # As text a number keeps its trailing zeros in every JSON reader.
    return trimmed_digits(value) if isinstance(value, Decimal) else value


def csv_cell(value: object) -> str:
    """Write one cell: empty for None, JSON for nested values; numbers keep their sign and digits.

    Text that a spreadsheet would run, or change as a number, gets an apostrophe before it: an id of 19 digits would
    lose its last four.
    """
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return trimmed_digits(value)
    text = value if isinstance(value, str) else dump_json(value)
    if isinstance(value, str) and _CHANGED_BY_A_SPREADSHEET.fullmatch(text):
        return f"'{text}"
    if text.lstrip(" ").startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text
