"""Views of rows: stable, complete, and never upset by what a trader types or an exchange sends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tradetui.desk.tables.rows.row_source import MemoryRows, RowSource, comparable, view


@dataclass(frozen=True)
class Row:
    name: str
    value: Any = None


def source(*rows: Row) -> MemoryRows[Row]:
    return MemoryRows(rows, [row.name for row in rows], 7)


def names(rows: RowSource[object]) -> list[str | None]:
    return [rows.row_id(index) for index in range(rows.count)]


def test_nothing_asked_is_the_source_itself() -> None:
    rows = source(Row("a"))
    assert view(rows) is rows


def test_a_view_keeps_the_generation_and_finds_its_keys() -> None:
    shown = view(source(Row("a", 1), Row("b", 3), Row("c", 2)), sort_key=lambda row: row.value, reverse=True)
    assert names(shown) == ["b", "c", "a"]
    assert shown.generation == 7
    assert [shown.index_of(name) for name in ("a", "b", "c", "d")] == [2, 0, 1, None]


values = st.one_of(
    st.none(),
    st.integers(-3, 3),
    st.decimals(-3, 3, places=1),
    st.sampled_from(["", "a", "B", "日本"]),
    st.datetimes(timezones=st.just(UTC)),
    st.tuples(st.integers(0, 3), st.text("ab", max_size=2)),
)


@given(st.lists(values, max_size=20), st.booleans())
def test_any_values_sort_stably_and_unknown_ones_come_last(values: list[Any], reverse: bool) -> None:
    rows = source(*(Row(f"r{index}", value) for index, value in enumerate(values)))
    shown = view(rows, sort_key=lambda row: row.value, reverse=reverse)
    assert sorted(map(str, names(shown))) == sorted(f"r{index}" for index in range(len(values)))
    order = [row for index in range(shown.count) if (row := shown.row(index)) is not None]
    assert len(order) == shown.count
    known = [row for row in order if row.value is not None]
    assert order == known + [row for row in order if row.value is None]
    for before, after in pairwise(known):
        first, second = comparable(before.value), comparable(after.value)
        assert first >= second if reverse else first <= second
        if first == second:
            assert int(before.name[1:]) < int(after.name[1:]), "equal rows keep their order"


def test_words_sort_without_case_and_apart_from_numbers() -> None:
    assert comparable("b") > comparable("A")
    assert comparable(Decimal(10)) < comparable(datetime(2026, 1, 1, tzinfo=UTC)) < comparable("1")


def test_rows_that_are_not_there_yet_are_left_out() -> None:
    rows: RowSource[Row] = MemoryRows([Row("a", 1), None], ["a", ""], 1)
    assert names(view(rows, keep=lambda row: True)) == ["a"]
