"""Points in time as a person writes them."""

from __future__ import annotations

from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import milliseconds

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


@pytest.mark.parametrize("text", ["", "yesterday", "1793400000", "7x", "-7d", "2026-13-01", "7 d", "7dago", "ago"])
def test_refused_with_flag_and_value(text: str) -> None:
    with pytest.raises(InvalidRequest, match="--since"):
        milliseconds(text, NOW, "--since")


def test_a_span_with_a_minus_is_told_to_be_written_without() -> None:
    with pytest.raises(InvalidRequest, match=r"must not have a minus.*Try 5d\."):
        milliseconds("-5d", NOW, "--since")
