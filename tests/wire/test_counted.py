"""Counts in titles and sentences."""

from __future__ import annotations

from tradetui.wire.text.counted import counted, shown_of


def test_a_noun_agrees_with_its_count() -> None:
    assert [counted(count, "row") for count in (0, 1, 2, 2_000)] == ["0 rows", "1 row", "2 rows", "2,000 rows"]


def test_titles_group_thousands_and_say_what_a_filter_leaves() -> None:
    assert (shown_of(2_000, 2_000), shown_of(12, 2_000), shown_of(0, 0)) == ("2,000", "12/2,000", "0")
