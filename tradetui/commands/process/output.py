"""Prints records for scripts as a JSON array or CSV, streamed row by row, with values as the exchange sent them.

On a terminal, control characters of the values are escaped.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from tradetui.commands.process.console import Output, stdout
from tradetui.desk.tables.export import csv_cell
from tradetui.desk.tables.rows.row_source import RowT
from tradetui.wire.json_text import dump_json
from tradetui.wire.text import scrub

WrittenT = TypeVar("WrittenT", contravariant=True)


class RowWriter(Protocol[WrittenT]):
    """Takes rows one at a time; `close` completes the output even after a failure."""

    def write(self, row: WrittenT) -> None: ...

    def close(self) -> None: ...


class JsonWriter:
    def __init__(self, output: Output) -> None:
        self._output = output
        self._rows = 0

    def write(self, row: Mapping[str, object]) -> None:
        self._output.layout(",\n" if self._rows else "[\n")
        self._output.json(dump_json(row))
        self._rows += 1

    def close(self) -> None:
        self._output.layout("\n]\n" if self._rows else "[]\n")
        self._output.flush()


class CsvWriter(Generic[RowT]):
    """CSV with headings first; `cells` makes the cells of a row."""

    def __init__(self, output: Output, headings: Sequence[str], cells: Callable[[RowT], Sequence[str]]) -> None:
        self._output = output
        self._headings = headings
        self._cells = cells
        self._begun = False

    def write(self, row: RowT) -> None:
        self._begin()
        self._output.csv(self._cells(row))

    def close(self) -> None:
        self._begin()
        self._output.flush()

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._output.csv(self._headings)


def csv_writer(output: Output, columns: Sequence[str]) -> CsvWriter[Mapping[str, object]]:
    """Make CSV with these column names; nested values are JSON, and formulas are made safe."""
    return CsvWriter(output, columns, lambda row: [csv_cell(row.get(name)) for name in columns])


class TableWriter:
    """Aligned text for a person; the widths depend on all rows, so it prints when closed."""

    def __init__(self, output: Output, columns: Iterable[str]) -> None:
        self._output = output
        self._columns = tuple(columns)
        self._rows: list[list[str]] = []

    def write(self, row: Mapping[str, object]) -> None:
        self._rows.append([scrub(plain_cell(row.get(name))) for name in self._columns])

    def close(self) -> None:
        shown = [list(self._columns), *self._rows]
        widths = [max(len(line[index]) for line in shown) for index in range(len(self._columns))]
        for line in shown:
            self._output.line("  ".join(map(str.ljust, line, widths)).rstrip())
        self._output.flush()


def row_writer(options: argparse.Namespace, columns: Sequence[str]) -> RowWriter[Mapping[str, object]]:
    if options.json:
        return JsonWriter(stdout())
    return csv_writer(stdout(), columns) if getattr(options, "csv", False) else TableWriter(stdout(), columns)


def plain_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping | list | tuple):
        return dump_json(value)
    return str(value)
