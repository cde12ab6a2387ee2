"""Filters are read from what a person types, keep what they say, and a filter by dates reads so in a title."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.desk.fixtures.exchange_rows import fill, trigger
from tradetui.desk.tables.rows.date_filter import DateFilter, read_date_filter
from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.rows.row_source import matcher
from tradetui.wire.product_types import ProductType

NOW = datetime(2026, 11, 21, 15, 42, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
EAST = timezone(timedelta(hours=9))


def read(since: str = "", until: str = "", symbol: str = "", zone: tzinfo = UTC) -> DateFilter:
    chosen, problems = read_date_filter({"from": since, "to": until, "symbol": symbol}, NOW_MS, zone)
    assert not problems
    assert chosen is not None
    return chosen


def ms(year: int, month: int, day: int, hour: int = 0, minute: int = 0, *, zone: tzinfo = UTC) -> int:
    return int(datetime(year, month, day, hour, minute, tzinfo=zone).timestamp() * 1000)


@pytest.mark.parametrize(
    ("since", "until", "expected", "title"),
    [
        ("today", "", (ms(2026, 11, 21), None), "today"),
        ("today", "today", (ms(2026, 11, 21), ms(2026, 11, 22) - 1), "today"),
        ("yesterday", "yesterday", (ms(2026, 11, 20), ms(2026, 11, 21) - 1), "20 Nov"),
        ("last week", "last week", (ms(2026, 11, 9), ms(2026, 11, 16) - 1), "9 Nov to 15 Nov"),
        ("october", "2026-10", (ms(2026, 10, 1), ms(2026, 11, 1) - 1), "1 Oct to 31 Oct"),
        ("this month", "", (ms(2026, 11, 1), None), "since 1 Nov"),
        ("7d", "", (NOW_MS - 7 * 86_400_000, None), "since 14 Nov 15:42"),
        ("2026-11-14", "11-20", (ms(2026, 11, 14), ms(2026, 11, 21) - 1), "14 Nov to 20 Nov"),
        ("12-24", "", (ms(2025, 12, 24), None), "since 24 Dec 2025"),
        ("2026-11-20 15:30", "", (ms(2026, 11, 20, 15, 30), None), "since 20 Nov 15:30"),
        ("", "2026-11-20", (None, ms(2026, 11, 21) - 1), "until 20 Nov"),
        ("11-20", "2h", (ms(2026, 11, 20), NOW_MS - 7_200_000), "20 Nov 00:00 to 21 Nov 13:42"),
    ],
)
def test_days_times_and_spans(since: str, until: str, expected: tuple[int | None, int | None], title: str) -> None:
    chosen = read(since, until)
    assert (chosen.since, chosen.until) == expected
    assert chosen.title(UTC, NOW.date()) == title


def test_days_are_those_of_the_zone() -> None:
    # In Tokyo it is the 22nd already.
    chosen = read("today", zone=EAST)
    assert chosen.since == ms(2026, 11, 22, zone=EAST)
    assert chosen.title(EAST, date(2026, 11, 22)) == "today"


def test_a_day_that_was_today_is_named_the_day_after() -> None:
    assert read("today").title(UTC, date(2026, 11, 22)) == "since 21 Nov"


@pytest.mark.parametrize(
    ("texts", "field", "remedy"),
    [
        ({"from": "soon"}, "from", "yesterday, november, 2026-11-20T15:30."),
        ({"from": "2026-13-01"}, "from", "yesterday, november, 2026-11-20T15:30."),
        ({"from": "12"}, "from", "yesterday, november, 2026-11-20T15:30."),
        ({"from": "december", "to": "january"}, "from", "a year as in 2025-12-01."),
        ({"from": "this month", "to": "last month"}, "to", "Swap the two"),
        ({"from": "today", "to": "yesterday"}, "to", "Swap the two"),
        ({"from": "11-20", "to": "11-25"}, "to", "or give their years"),
        ({"from": "11-25", "to": "11-20"}, "from", "Give the earlier date first, or a year as in 2025-11-25."),
        ({"from": "11-25", "to": "2026-11-20"}, "from", "a year as in 2025-11-25."),
        ({"from": "12-24", "to": "01-05"}, "from", "a year as in 2025-12-24."),
        ({"from": "11-25", "to": "today"}, "from", "a year as in 2025-11-25."),
        ({"from": "11-22", "to": "2h"}, "from", "a year as in 2025-11-22."),
        ({"from": "0d"}, "from", "today, 36h, 7d."),
        ({"from": "00H ago"}, "from", "today, 36h, 7d."),
        ({"from": "7d", "to": "0d"}, "to", "Leave it empty"),
        ({"symbol": "BTC;"}, "symbol", "BTCUSDT ETHUSDT"),
    ],
)
def test_what_cannot_be_read_names_field_rule_and_remedy(texts: dict[str, str], field: str, remedy: str) -> None:
    chosen, problems = read_date_filter(texts, NOW_MS, UTC)
    assert chosen is None
    assert list(problems) == [field]
    assert problems[field].startswith(field)
    assert remedy in problems[field]
    assert texts[field] in problems[field]


def test_a_start_after_the_end_of_the_same_year_says_so() -> None:
    _, problems = read_date_filter({"from": "11-25", "to": "11-20"}, NOW_MS, EAST)
    sentence = "from: is after to; given: 11-25. Give the earlier date first, or a year as in 2025-11-25."
    assert problems == {"from": sentence}
    chosen = read("2025-11-25", "11-20")
    assert (chosen.since, chosen.until) == (ms(2025, 11, 25), ms(2026, 11, 21) - 1), "with its year it is meant"


def test_nothing_typed_narrows_nothing() -> None:
    assert read_date_filter({"from": " ", "symbol": ""}, NOW_MS, UTC) == (None, {})


def test_pieces_of_symbols_are_enough() -> None:
    chosen = read(symbol="btc, ethusdt")
    assert [chosen.keeps(NOW, symbol) for symbol in ("BTCUSDT", "BTCPERP", "ETHUSDT", "ETHPERP")] == [
        True,
        True,
        True,
        False,
    ]
    assert chosen.title(UTC, None) == "BTC, ETHUSDT"


@given(st.integers(-5_000, 5_000), st.integers(-12, 14))
def test_a_day_keeps_exactly_what_happened_on_it(minutes: int, hours: int) -> None:
    moment, zone = datetime(2026, 8, 1, 12, tzinfo=UTC) + timedelta(minutes=minutes), timezone(timedelta(hours=hours))
    chosen = read("2026-08-01", "2026-08-01", zone=zone)
    assert chosen.keeps(moment, "BTCUSDT") == (moment.astimezone(zone).date() == date(2026, 8, 1))


@pytest.mark.parametrize("text", ["2026-11-20 10:42", "2026-11-20T10:42", "36h", "10 minutes"])
def test_where_days_are_whole_a_time_of_day_is_refused(text: str) -> None:
    for field in ("from", "to"):
        chosen, problems = read_date_filter({field: text}, NOW_MS, UTC, whole_days=True)
        assert chosen is None
        assert problems[field].startswith(f"{field}: must be whole days, because results are of whole days")
        assert problems[field].endswith("For example yesterday, last week, 2026-11.")


@pytest.mark.parametrize(("zone", "first", "last"), [(UTC, 14, 19), (EAST, 15, 20)])
def test_where_days_are_whole_named_ones_and_spans_of_days_reach_their_ends(
    zone: tzinfo, first: int, last: int
) -> None:
    chosen, problems = read_date_filter({"from": "7d", "to": "2d"}, NOW_MS, zone, whole_days=True)
    assert not problems
    assert chosen is not None
    bounds = ms(2026, 11, first, zone=zone), ms(2026, 11, last + 1, zone=zone) - 1
    assert (chosen.since, chosen.until) == bounds
    chosen, problems = read_date_filter({"from": "october", "to": "last week"}, NOW_MS, zone, whole_days=True)
    assert chosen is not None
    assert (chosen.since, chosen.until) == (ms(2026, 10, 1, zone=zone), ms(2026, 11, 16, zone=zone) - 1)


def test_rows_of_every_kind_are_held_to_their_own_moment_and_symbol() -> None:
    chosen = read("2026-11-20", "2026-11-20", "btc")
    at = [ms(2026, 11, 20, 23, 59), ms(2026, 11, 21)]
    fills = [ProductRow(ProductType.USDT_FUTURES, fill(number, moment)) for number, moment in enumerate(at)]
    assert [chosen.keeps_row(row) for row in fills] == [True, False]
    assert [chosen.keeps_row(FilledOrder([row])) for row in fills] == [True, False], "by the last of its fills"
    stops = [ProductRow(ProductType.USDT_FUTURES, trigger(number, "live", moment)) for number, moment in enumerate(at)]
    assert [chosen.keeps_row(row) for row in stops] == [True, False]
    assert not chosen.keeps_row(ProductRow(ProductType.USDT_FUTURES, fill(3, at[0], symbol="ETHUSDT")))
    assert not chosen.keeps_row(object())


def test_rows_reach_a_stretch_that_begins_after_the_oldest_of_them() -> None:
    usdt = ProductType.USDT_FUTURES
    fills = [ProductRow(usdt, fill(number, ms(2026, 11, day))) for number, day in ((1, 20), (2, 18))]
    assert DateFilter(since=ms(2026, 11, 18)).begins_within(fills)
    assert DateFilter(since=ms(2026, 11, 19)).begins_within([FilledOrder(fills)]) is False
    assert not DateFilter(since=ms(2026, 11, 17)).begins_within(fills)
    assert not DateFilter(until=ms(2026, 11, 20)).begins_within(fills), "an open start lies before every row"
    assert not DateFilter(since=ms(2026, 11, 18)).begins_within([])


def test_a_stop_that_waits_proves_nothing_about_those_that_ended() -> None:
    usdt = ProductType.USDT_FUTURES
    waiting = ProductRow(usdt, trigger(1, "live", ms(2026, 9, 1)))
    ended = ProductRow(usdt, trigger(2, "executed", ms(2026, 11, 18)))
    assert not DateFilter(since=ms(2026, 11, 1)).begins_within([waiting, ended])
    assert DateFilter(since=ms(2026, 11, 18)).begins_within([waiting, ended])


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("btc", ["BTCUSDT long", "btcusd"]),
        ("!btc", ["ETHUSDT (short)"]),
        ("^btc.*long$", ["BTCUSDT long"]),
        ("(", ["ETHUSDT (short)"]),
        ("!(", ["BTCUSDT long", "btcusd"]),
        ("[", []),
        ("*", []),
        ("a{99999999999}", []),
        ("[[a]", ["BTCUSDT long"]),
    ],
)
def test_patterns(pattern: str, matched: list[str], recwarn: pytest.WarningsRecorder) -> None:
    lines = ["BTCUSDT long", "btcusd", "ETHUSDT (short)"]
    test = matcher(pattern)
    assert test is not None
    if pattern != "[[a]":
        assert [line for line in lines if test(line)] == matched
    assert not recwarn.list, "what is typed warns nobody"


@pytest.mark.parametrize("pattern", ["", "!"])
def test_no_pattern_tests_nothing(pattern: str) -> None:
    assert matcher(pattern) is None


@given(st.text(max_size=12), st.text(max_size=12))
def test_whatever_is_typed_it_and_its_inverse_part_the_rows(pattern: str, line: str) -> None:
    plain, inverse = matcher(pattern.removeprefix("!")), matcher(f"!{pattern.removeprefix('!')}")
    if plain is not None and inverse is not None:
        assert plain(line) != inverse(line)
