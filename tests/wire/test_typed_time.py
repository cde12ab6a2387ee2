"""Points in time as a person writes them."""

from __future__ import annotations

import re
from datetime import UTC, date, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import end_until_now, milliseconds, named_days, utc_moment

NOW = 1_793_491_200_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1793400000123", 1_793_400_000_123),
        ("7d", NOW - 7 * 86_400_000),
        ("36h", NOW - 36 * 3_600_000),
        ("7d ago", NOW - 7 * 86_400_000),
        (" 7D  Ago ", NOW - 7 * 86_400_000),
        ("90s", NOW - 90_000),
        ("2026-11-01", 1_793_491_200_000),
        ("2026-11-01T00:00:00.250", 1_793_491_200_250),
        ("2026-11-01T01:00:00+01:00", 1_793_491_200_000),
    ],
)
def test_read(text: str, expected: int) -> None:
    assert milliseconds(text, NOW, "--since") == expected


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("2026-11-01", 1_793_491_200_000 + 86_400_000 - 1),
        (" 2026-W44-7 ", 1_793_491_200_000 + 86_400_000 - 1),
        ("2026-11-01T00:00", 1_793_491_200_000),
        ("7d", NOW - 7 * 86_400_000),
        ("1793400000123", 1_793_400_000_123),
    ],
)
def test_as_an_end_a_day_alone_is_included(text: str, last: int) -> None:
    assert milliseconds(text, NOW, "--until", at_end=True) == last


def test_a_time_may_carry_its_zone_as_the_screen_writes_it() -> None:
    zone = ZoneInfo("Europe/Berlin")
    for text in ("2026-11-01 00:00 UTC", "2026-11-01T00:00 utc", "2026-11-01 01:00:00.000 CET"):
        assert milliseconds(text, NOW, "--since", zone) == 1_793_491_200_000
    assert milliseconds("2026-11-01 01:00 Europe/Berlin", NOW, "--since", zone) == 1_793_491_200_000
    of_summer, of_winter = (milliseconds(f"2026-10-25 02:30 {name}", NOW, "--since", zone) for name in ("CEST", "CET"))
    assert of_winter - of_summer == 3_600_000, "the hour that comes twice"
    for text in ("2026-11-01 00:00 EST", "2026-11-01 UTC", "2026-11-01T00:00Z UTC", "2026-11-01 00:00 CET"):
        with pytest.raises(InvalidRequest):
            milliseconds(text, NOW, "--since", UTC)


def test_as_an_end_a_day_of_twenty_five_hours_is_included_to_its_last_moment() -> None:
    zone = ZoneInfo("Europe/Berlin")
    first, last = (milliseconds("2026-10-25", NOW, "--until", zone, at_end=at_end) for at_end in (False, True))
    assert last - first == 25 * 3_600_000 - 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "last",
        "last day",
        "ma",
        "november x",
        "12",
        "2026",
        "2026-00",
        "11-31",
        "1793400000",
        "7x",
        "-7d",
        "2026-13-01",
        "7 d",
        "7dago",
        "ago",
    ],
)
def test_refused_with_flag_and_value(text: str) -> None:
    with pytest.raises(InvalidRequest, match="--since"):
        milliseconds(text, NOW, "--since")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("today", "2026-11-21", "2026-11-21"),
        ("Yesterday", "2026-11-20", "2026-11-20"),
        ("this week", "2026-11-16", "2026-11-22"),
        ("last  week", "2026-11-09", "2026-11-15"),
        ("this month", "2026-11-01", "2026-11-30"),
        ("LAST MONTH", "2026-10-01", "2026-10-31"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("november", "2026-11-01", "2026-11-30"),
        ("dec", "2025-12-01", "2025-12-31"),
        ("feb 2024", "2024-02-01", "2024-02-29"),
        ("2026-11", "2026-11-01", "2026-11-30"),
        ("2026-2", "2026-02-01", "2026-02-28"),
        ("11-22", "2025-11-22", "2025-11-22"),
        ("2026-11-2", "2026-11-02", "2026-11-02"),
    ],
)
def test_days_may_be_named_as_one_speaks_of_them(text: str, first: str, last: str) -> None:
    days = named_days(text, date(2026, 11, 21))
    assert days is not None
    assert [str(days.first), str(days.last)] == [first, last]


ZONES = ("UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kathmandu", "Pacific/Auckland", "Pacific/Kiritimati")
MOMENTS = st.integers(1_000_000_000_000, 3_786_912_000_000)


@given(MOMENTS, st.sampled_from(ZONES), st.sampled_from(["week", "month", "year"]))
def test_the_last_of_its_kind_ends_where_this_one_begins_around_now(now_ms: int, zone_name: str, unit: str) -> None:
    zone = ZoneInfo(zone_name)

    def bound(text: str, *, at_end: bool) -> int:
        return milliseconds(text, now_ms, "--since", zone, at_end=at_end)

    begin, end = (bound(f"this {unit}", at_end=at_end) for at_end in (False, True))
    assert begin <= now_ms <= end
    assert bound(f"last {unit}", at_end=True) + 1 == begin
    for moment_ms in (begin, end + 1, bound(f"last {unit}", at_end=False)):
        local = utc_moment(moment_ms).astimezone(zone)
        assert utc_moment(moment_ms - 1).astimezone(zone).date() == local.date() - timedelta(days=1)
        assert unit == "year" or (local.weekday() == 0 if unit == "week" else local.day == 1)
    if unit == "month":
        month = utc_moment(begin).astimezone(zone)
        for name in (f"{month:%Y-%m}", f"{month:%B}", f"{month:%b %Y}"):
            assert (bound(name, at_end=False), bound(name, at_end=True)) == (begin, end)


@given(MOMENTS, st.sampled_from(ZONES))
def test_a_refusal_shows_three_times_that_can_be_typed(now_ms: int, zone_name: str) -> None:
    zone = ZoneInfo(zone_name)
    with pytest.raises(InvalidRequest) as refusal:
        milliseconds("soon", now_ms, "--since", zone)
    examples = re.findall(r"[\w:-]+", refusal.value.remedy)[2:]
    assert len(examples) == 3
    assert all(milliseconds(example, now_ms, "--since", zone) <= now_ms for example in examples)


def test_as_the_end_of_a_request_days_that_began_last_until_now() -> None:
    noon = NOW + 43_200_000

    def end(text: str) -> int:
        moment_ms = milliseconds(text, noon, "--until", at_end=True)
        return end_until_now(moment_ms, noon, "--until", text, UTC)

    assert [end(text) for text in ("today", "this month", "2026-11", "this year")] == [noon] * 4
    assert end("last month") == NOW - 1
    for text in ("2026-12", "2026-11-02", "2026-11-02T10:00"):
        with pytest.raises(InvalidRequest, match="must not be after today"):
            end(text)


def test_a_span_with_a_minus_is_told_to_be_written_without() -> None:
    with pytest.raises(InvalidRequest, match=r"must not have a minus.*Try 5d\."):
        milliseconds("-5d", NOW, "--since")
