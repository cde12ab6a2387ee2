"""Reads a time that was typed, on the command line or in a form: ISO 8601, `7d` ago, or Unix milliseconds."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo

from tradetui.wire.errors import InvalidRequest

_AGO = re.compile(r"^(?P<count>\d{1,9})(?P<unit>[smhdw])(?: +ago)?$", re.IGNORECASE)
_UNIT_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_SMALLEST_MS = 100_000_000_000
"""Below this a number is no time in milliseconds that an exchange could mean (it would be in 1973)."""
_LARGEST_MS = 4_102_444_800_000
"""The end of this century; what is beyond may be beyond the calendar."""


def milliseconds(text: str, now_ms: int, flag: str, zone: tzinfo = UTC, *, at_end: bool = False) -> int:
    """A time in Unix milliseconds from ISO 8601 (in `zone` unless it names another), `7d` ago, or milliseconds.

    "7d ago" reads as `7d` does, in capitals too. A day alone is its first millisecond, or its last `at_end`. UTC or the
    name of `zone` may follow a time. Raises InvalidRequest where the text is none of the three.
    """
    text = text.strip()
    if ago := _AGO.match(text):
        moment_ms = now_ms - int(ago["count"]) * _UNIT_MS[ago["unit"].lower()]
        if moment_ms < _SMALLEST_MS:
            raise InvalidRequest(flag, "must not be earlier than the first futures exchanges", text, "Try 90d.")
        return moment_ms
    if text.startswith("-") and _AGO.match(text[1:]):
        raise InvalidRequest(flag, "must not have a minus: a span counts back by itself", text, f"Try {text[1:]}.")
    if text.isascii() and text.isdecimal() and len(text) <= 18:
        if int(text) >= _SMALLEST_MS:
            return _within_century(int(text), text, flag)
        raise InvalidRequest(flag, "must be in milliseconds", text, "Multiply seconds by 1000.")
    try:
        moment = _from_iso(text, zone)
    except ValueError:
        raise InvalidRequest(
            flag,
            "must be ISO 8601, a span such as 7d, or milliseconds",
            text,
            "For example 2026-11-01, 2026-11-01T09:30, 36h, 1793491200000.",
        ) from None
    last_of_day = at_end and is_day(text)
    if last_of_day and moment.date() < date.max:
        moment += timedelta(days=1)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    try:
        seconds = int(moment.timestamp())
    except (ValueError, OverflowError, OSError):  # the first and last days of the calendar in zones that leave it
        seconds = -1
    return _within_century(seconds * 1000 + moment.microsecond // 1000 - last_of_day, text, flag)


def _from_iso(text: str, zone: tzinfo) -> datetime:
    name = text.partition(":")[2].partition(" ")[2].strip()  # what follows the time of day
    if not name:
        return datetime.fromisoformat(text)
    moment = datetime.fromisoformat(text.removesuffix(name).rstrip())
    if moment.tzinfo is None and name.upper() == "UTC":
        return moment.replace(tzinfo=UTC)
    for fold in (0, 1):  # of the hour that comes twice, the name tells which
        local = moment.replace(tzinfo=zone, fold=fold)
        if moment.tzinfo is None and name in (str(zone), local.tzname()):
            return local
    raise ValueError(name)


def _within_century(moment_ms: int, text: str, flag: str) -> int:
    if 0 <= moment_ms <= _LARGEST_MS:
        return moment_ms
    raise InvalidRequest(flag, "must be a date of this century", text, "Give one of this century.")


def end_until_now(moment_ms: int, now_ms: int, name: str, text: str, zone: tzinfo) -> int:
    """The end of a time span as the exchange accepts it, which may refuse a future one: today lasts until now.

    Raises InvalidRequest where it is after today in the zone.
    """
    today = datetime.fromtimestamp(now_ms / 1000, zone).date()
    if moment_ms > milliseconds(today.isoformat(), now_ms, name, zone, at_end=True):
        raise InvalidRequest(name, "must not be after today", text, "Without it, the end is now.")
    return min(moment_ms, now_ms)


def is_day(text: str) -> bool:
    """Whether a text names a day without a time."""
    try:
        date.fromisoformat(text.strip())
    except ValueError:
        return False
    return not text.strip().isdecimal()


def is_ago(text: str) -> bool:
    """Whether a text is a time ago, which is another time at every reading."""
    return _AGO.match(text.strip()) is not None
