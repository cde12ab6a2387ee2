"""A table as shown, for a spreadsheet or a script: CSV or JSON, its columns, its order, every digit.

Numbers and words are as received, moments in ISO 8601 UTC, nested values as JSON; what is not given is empty in CSV
and null in JSON. Text that a spreadsheet would run as a formula gets an apostrophe before it in CSV.
"""

from __future__ import annotations

import csv
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TextIO

from tradetui.desk.columns import Column
from tradetui.desk.columns.figures import instant
from tradetui.desk.rows import RowSource
from tradetui.wire.json_text import dump
from tradetui.wire.numbers import plain
from tradetui.wire.scrub import escaped

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?(E[+-]?\d+)?", re.ASCII)


class Format(StrEnum):
    """What a file is written as."""

    CSV = "csv"
    JSON = "json"


class RowsMissing(Exception):
    """A row that is shown is not in memory yet; nothing was written."""


def write_rows(stream: TextIO, rows: RowSource, columns: Sequence[Column], form: Format) -> int:
    """Write the rows in their order, one at a time; gives how many.

    Raises:
        RowsMissing: a row is not there yet.
    """
    if form is Format.CSV:
        return _write_csv(stream, rows, columns)
    written = 0
    for row in _each(rows):
        # Whoever looks at the file in a terminal sees escapes; what is parsed from it is exact.
        fields = ",".join(f"{dump(column.id)}:{escaped(dump(_value(row, column)))}" for column in columns)
        stream.write(f"{',' if written else '['}\n{{{fields}}}")
        written += 1
    stream.write("\n]\n" if written else "[]\n")
    return written


def save_rows(path: Path, rows: RowSource, columns: Sequence[Column], form: Format, *, replace: bool = False) -> int:
    """Write a file that is whole or not there; blocks.

    Raises:
        FileExistsError: there is one of that name and it is not to be replaced.
        RowsMissing: a row is not there yet.
        OSError: it cannot be written.
    """
    if path.exists() and not replace:
        raise FileExistsError(f"{path} exists")
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as stream:
            written = write_rows(stream, rows, columns, form)
            stream.flush()
            os.fsync(stream.fileno())
        _put(Path(name), path, replace=replace)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return written


def _put(written: Path, path: Path, *, replace: bool) -> None:
    if not replace:
        try:
            # Unlike a rename, a link fails where another program has just made a file of that name.
            path.hardlink_to(written)
        except FileExistsError:
            raise
        except OSError:
            # A file system without links: the name was free a moment ago.
            pass
        else:
            written.unlink()
            return
    written.replace(path)


def default_name(table: str, account: str, now: datetime, form: Format) -> str:
    """Such as `fills-main-20261121-064500.csv`: what is in it, whose, when; nothing a path is made of."""
    words = "-".join(re.sub(r"[^A-Za-z0-9_.]+", "-", word).strip("-.") for word in (table, account))
    return f"{words.strip('-') or 'table'}-{now.astimezone(UTC):%Y%m%d-%H%M%S}.{form}"


def _write_csv(stream: TextIO, rows: RowSource, columns: Sequence[Column]) -> int:
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow([csv_cell(column.id) for column in columns])
    written = 0
    for row in _each(rows):
        writer.writerow([csv_cell(_value(row, column)) for column in columns])
        written += 1
    return written


def _each(rows: RowSource) -> Iterator[Any]:
    for place in range(rows.count):
        row = rows.row(place)
        if row is None:
            raise RowsMissing(f"row {place + 1} of {rows.count} is still being read")
        yield row


def _value(row: Any, column: Column) -> Any:
    """What a cell holds: None, text, or a nested value."""
    unreadable = getattr(row, "unreadable", None)
    if unreadable and column.id in unreadable:
        return unreadable[column.id]
    value = column.value(row)
    if isinstance(value, Decimal):
        return plain(value)
    if isinstance(value, datetime):
        return instant(value, UTC)
    if value is None or isinstance(value, dict | list | bool):
        return value
    if isinstance(value, tuple):
        return list(value)
    return str(value)


def csv_cell(value: Any) -> str:
    """One cell: nothing for None, JSON for what is nested, no text a spreadsheet would run; numbers keep their sign."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else dump(value)
    if text.lstrip(" ").startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text
