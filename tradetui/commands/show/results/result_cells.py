"""Cells of results: times in a zone for a person and in UTC for a spreadsheet, figures without grouping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo

from tradetui.desk.tables.cells.number_format import instant
from tradetui.wire.text.counted import counted
from tradetui.wire.unix_time import utc_moment


def without_fee_or_profit(fill_count: int) -> str:
    """What is to be said of fills that the exchange did not give completely."""
    return f"the exchange gave no fee or no profit for {counted(fill_count, 'fill')}"


def readable_time(at_ms: int | None, zone: tzinfo) -> str | None:
    """Day and time to the second; None for a time that is not known (Unix ms)."""
    return None if at_ms is None else f"{utc_moment(at_ms).astimezone(zone):%Y-%m-%d %H:%M:%S}"


def with_utc_names(columns: Sequence[str], times: Sequence[str]) -> tuple[str, ...]:
    """The columns, behind each of the times another one of the same name and `Utc`, as tables are exported."""
    return tuple(name for column in columns for name in ((column, f"{column}Utc") if column in times else (column,)))


def with_utc_times(row: Mapping[str, object], times: Sequence[str]) -> Mapping[str, object]:
    """The row, with each time that is known (Unix ms as text) in ISO 8601 UTC as well."""
    utc = {name: instant(utc_moment(int(str(row[name]))), UTC) for name in times if row[name] is not None}
    return {**row, **{f"{name}Utc": text for name, text in utc.items()}}


def ungrouped(figure: str) -> str:
    """A figure of the screen as other programs read it, without marks between thousands."""
    return figure.replace(",", "")
