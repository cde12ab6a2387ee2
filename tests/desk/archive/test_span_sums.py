"""Sums of days and months: of those that are kept only the requested ones are read from their text."""

from __future__ import annotations

from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.span_sums import QuarterSpan, _groups_of, span_sums


def test_a_month_is_read_without_the_sums_of_its_days() -> None:
    archive = Archive(None)
    days = [QuarterSpan(day * 96, (day + 1) * 96) for day in range(30)]
    month = QuarterSpan(days[0].first, days[-1].beyond)
    archive.connection.executemany(
        "INSERT INTO ledger_span (by_symbol, first, beyond, groups) VALUES (1, ?, ?, ?)",
        [(*span, f"[{' ' * number}]") for number, span in enumerate([month, *days])],
    )
    _groups_of.cache_clear()
    assert list(span_sums(archive.connection, [month], month.beyond, by_symbol=True)) == []
    assert _groups_of.cache_info().misses == 1
