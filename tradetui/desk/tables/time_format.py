"""Times as the screen writes them, each form in one place."""

from __future__ import annotations

import re
from datetime import date, datetime, tzinfo
from typing import Final

_UTC_TIME: Final = re.compile(r"\b(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\b")


def date_text(day: date, today: date | None) -> str:
    """Write a date such as `8 Nov`; with the year if it is not today's, or today is unknown."""
    return f"{day.day} {day:%b}" if today is not None and day.year == today.year else f"{day.day} {day:%b %Y}"


def dated_text(local: datetime, today: date | None) -> str:
    """Write day and time in the time's own zone, such as `8 Nov 14:03`, even for today."""
    return f"{date_text(local.date(), today)} {local:%H:%M}"


def moment_text(moment: datetime, zone: tzinfo, today: date | None, *, seconds: bool = False) -> str:
    """Write the time, such as `14:03` or `14:03:22`, with the date before it unless it is today."""
    local = moment.astimezone(zone)
    clock = f"{local:%H:%M:%S}" if seconds else f"{local:%H:%M}"
    return clock if local.date() == today else f"{date_text(local.date(), today)} {clock}"


def short_moment_text(moment: datetime, zone: tzinfo, today: date | None) -> str:
    """Write the time today, such as `14:03`; for another day the date, `20 Nov`, or the month, `Nov'25`."""
    local = moment.astimezone(zone)
    if local.date() == today:
        return f"{local:%H:%M}"
    return f"{local.day} {local:%b}" if today is not None and local.year == today.year else f"{local:%b'%y}"


def zoned_text(moment: datetime, zone: tzinfo) -> str:
    """Write date and time to the second with the zone, such as `2026-07-31 14:03:22 NZST`, for commands."""
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M:%S %Z}"


def with_zoned_times(sentence: str, zone: tzinfo) -> str:
    """Convert the UTC times in a sentence to a zone; the rules of a request only know UTC.

    Text that only looks like a time stays as it is, since a refusal quotes typed text.
    """

    def zoned(time: re.Match[str]) -> str:
        try:
            return zoned_text(datetime.fromisoformat(f"{time[1]}+00:00"), zone)
        except (ValueError, OverflowError):
            return time[0]

    return _UTC_TIME.sub(zoned, sentence)


def is_utc_text(text: str) -> bool:
    """Whether a text is a UTC time as the rules of a request write it."""
    return _UTC_TIME.fullmatch(text) is not None


def exact_moment_text(moment: datetime, zone: tzinfo) -> str:
    """Write date and time to the millisecond with the zone, such as `2026-07-31 14:03:22.120 UTC`."""
    local = moment.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M:%S}.{local.microsecond // 1000:03d} {local:%Z}"
