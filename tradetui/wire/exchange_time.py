"""Time as the exchange counts it: whole milliseconds since 1970, and the time spans of requests.

The time rules say which ends a request gives and how long its span may be; longer spans are cut. Also parses typed
times, on the command line or in a form: `last week`, `2026-11`, ISO 8601, `7d` ago, or Unix milliseconds.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import Final, NamedTuple

from tradetui.wire.errors import InvalidRequest


def unix_ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def utc_moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


DAY_MS: Final = 86_400_000
NINETY_DAYS_MS: Final = 90 * DAY_MS
# Three calendar months are 89 to 92 days; pieces of 89 fit any of them, and the live exchange's 90 days.
SHORTEST_THREE_MONTHS_MS: Final = 89 * DAY_MS
ON_THE_WAY_MS: Final = 60_000
"""The most that a request may wait and travel; meanwhile the exchange may drop its oldest rows."""


class Ends(StrEnum):
    """Which of startTime and endTime a request must give."""

    OPTIONAL = "optional"
    BOTH_OR_NEITHER = "both-or-neither"
    REQUIRED = "required"


class Missing(StrEnum):
    """The exchange's default for a missing end."""

    UNSTATED = "unstated"
    THREE_MONTHS = "three-months"  # end: three months after the start; start: three months ago
    PREVIOUS_DAY = "previous-day"  # both: the previous day 00:00 to 23:59 UTC
    NEVER = "never"  # both must be given


class TimeRule(NamedTuple):
    """The time rule of an endpoint; lengths in milliseconds."""

    span_ms: int
    both: Ends = Ends.OPTIONAL
    missing: Missing = Missing.UNSTATED
    #: How far back the exchange reports anything; None if not documented.
    window_ms: int | None = None
    #: Whether, for a managed sub-account, the start cannot be earlier than its binding.
    from_binding: bool = False
    #: The longest span in the interface's words.
    span_text: str = "90 days"

    @property
    def piece_ms(self) -> int:
        """The longest span that is certainly within the rule."""
        return SHORTEST_THREE_MONTHS_MS if self.missing is Missing.THREE_MONTHS else self.span_ms

    def kept_since(self, start: int, now_ms: int) -> int:
        """Return the start (ms), or if later the oldest time still kept when a request made now arrives."""
        return start if self.window_ms is None else max(start, now_ms - self.window_ms + ON_THE_WAY_MS)


THREE_MONTHS: Final = TimeRule(
    span_ms=NINETY_DAYS_MS, missing=Missing.THREE_MONTHS, span_text="three months, taken as 90 days,"
)
"""The rule of most futures endpoints."""


def split_span(start: int, end: int, piece: int) -> Iterator[tuple[int, int]]:
    """Cut start..end (ms, both included) into pieces of at most `piece` ms, newest first.

    Neighbouring pieces share their boundary, so that no row falls between them; rows on it come twice and are told
    apart by id. If the end is before the start there is no piece; if they are equal there is one.
    """
    if piece <= 0:
        raise ValueError("a piece must be longer than zero")
    if end < start:
        return
    while end - start > piece:
        yield end - piece, end
        end -= piece
    yield start, end


_AGO = re.compile(r"^(?P<count>\d{1,9})(?P<unit>[smhdw])(?: +ago)?$", re.IGNORECASE)
_UNIT_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_DAY = re.compile(r"(?:(?P<year>\d{4})-)?(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?", re.ASCII)
_MONTH = re.compile(r"(?P<month>[a-z]{3,9})(?: (?P<year>\d{4}))?", re.ASCII)
_MONTHS = tuple(date(2000, number, 1).strftime("%B").lower() for number in range(1, 13))
_MONTH_NUMBERS = {name[:count]: number for number, name in enumerate(_MONTHS, 1) for count in range(3, len(name) + 1)}
_SMALLEST_MS = 100_000_000_000
"""A smaller number is not a time in milliseconds (it would be in 1973)."""
_FEWEST_DIGITS: Final = 9
"""A number with fewer digits is not a time in seconds either (it would also be in 1973)."""
_LARGEST_MS = 4_102_444_800_000
"""The end of this century; later times may be beyond the calendar."""


class NamedDays(NamedTuple):
    """The days that a text names, both included; `has_year` means that the text fixes their year."""

    first: date
    last: date
    has_year: bool = True


def named_days(text: str, today: date) -> NamedDays | None:
    """Parse the days of `yesterday`, `last week`, `november`, `2026-11`, `11-20` or `2026-11-20`; None for other text.

    Weeks begin on Monday. A day or month without a year is the last one that has begun.
    """
    name = " ".join(text.lower().split())
    if name in ("today", "yesterday"):
        day = today - timedelta(days=name == "yesterday")
        return NamedDays(day, day)
    which, _, rest = name.partition(" ")
    if which in ("this", "last") and rest in ("week", "month", "year"):
        return _days_around(today if which == "this" else _days_around(today, rest).first - timedelta(days=1), rest)
    try:
        if (parts := _MONTH.fullmatch(name)) is not None and parts["month"] in _MONTH_NUMBERS:
            return _days_of(parts["year"], _MONTH_NUMBERS[parts["month"]], None, today)
        if (parts := _DAY.fullmatch(name)) is not None and (parts["year"] or parts["day"]):
            return _days_of(parts["year"], int(parts["month"]), parts["day"], today)
        day = date.fromisoformat(name.upper())
    except ValueError:
        return None
    return None if name.isdecimal() else NamedDays(day, day)


def _days_of(year: str | None, month: int, day: str | None, today: date) -> NamedDays:
    first = date(int(year or today.year), month, int(day or 1))
    if year is None and first > today:
        first = first.replace(year=today.year - 1)
    return NamedDays(first, first if day else _days_around(first, "month").last, year is not None)


def _days_around(day: date, unit: str) -> NamedDays:
    """Return the week, month or year that contains a day."""
    if unit == "week":
        monday = day - timedelta(days=day.weekday())
        return NamedDays(monday, monday + timedelta(days=6))
    first, last = (1, 12) if unit == "year" else (day.month, day.month)
    return NamedDays(date(day.year, first, 1), date(day.year, last, monthrange(day.year, last)[1]))


def milliseconds(text: str, now_ms: int, flag: str, zone: tzinfo = UTC, *, at_end: bool = False) -> int:
    """Parse named days, ISO 8601 (in `zone` unless it names another), `7d` ago, or Unix milliseconds; return Unix ms.

    "7d ago" equals `7d`, in any case. Days give their first millisecond, or their last if `at_end`. A time may be
    followed by UTC or the name of `zone`. Raises InvalidRequest for any other text.
    """
    text = text.strip()
    if ago := _AGO.match(text):
        moment_ms = now_ms - int(ago["count"]) * _UNIT_MS[ago["unit"].lower()]
        if moment_ms < _SMALLEST_MS:
            raise InvalidRequest(flag, "must not be earlier than the first futures exchanges", text, "Try 90d.")
        return moment_ms
    if text.startswith("-") and _AGO.match(text[1:]):
        raise InvalidRequest(flag, "must not have a minus: a span counts back by itself", text, f"Try {text[1:]}.")
    if text.isascii() and text.isdecimal() and _FEWEST_DIGITS <= len(text) <= 18:
        if int(text) >= _SMALLEST_MS:
            return _within_century(int(text), text, flag)
        raise InvalidRequest(flag, "must be in milliseconds", text, "Multiply seconds by 1000.")
    today = utc_moment(now_ms).astimezone(zone).date()
    days = named_days(text, today)
    try:
        if days is not None:
            moment = datetime.combine(days.last if at_end else days.first, time())
        else:
            moment = _from_iso(text, zone)
    except ValueError:
        example = f"{today - timedelta(days=1)}T15:30"
        remedy = f"For example yesterday, {_MONTHS[today.month - 1]}, {example}."
        raise InvalidRequest(flag, "must be a day, a month, a time, or a span such as 7d", text, remedy) from None
    last_of_day = at_end and days is not None
    if last_of_day and moment.date() < date.max:
        moment += timedelta(days=1)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    try:
        seconds = int(moment.timestamp())
    except (ValueError, OverflowError, OSError):  # the calendar's first and last days, in zones that shift them out
        seconds = -1
    return _within_century(seconds * 1000 + moment.microsecond // 1000 - last_of_day, text, flag)


def _from_iso(text: str, zone: tzinfo) -> datetime:
    name = text.partition(":")[2].partition(" ")[2].strip()  # the text after the time of day
    if not name:
        return datetime.fromisoformat(text)
    moment = datetime.fromisoformat(text.removesuffix(name).rstrip())
    if moment.tzinfo is None and name.upper() == "UTC":
        return moment.replace(tzinfo=UTC)
    for fold in (0, 1):  # the name decides in the hour that occurs twice
        local = moment.replace(tzinfo=zone, fold=fold)
        if moment.tzinfo is None and name in (str(zone), local.tzname()):
            return local
    raise ValueError(name)


def _within_century(moment_ms: int, text: str, flag: str) -> int:
    if 0 <= moment_ms <= _LARGEST_MS:
        return moment_ms
    raise InvalidRequest(flag, "must be a date of this century", text, "Give one of this century.")


def end_until_now(moment_ms: int, now_ms: int, name: str, text: str, zone: tzinfo) -> int:
    """Limit the end of a time span to now, since the exchange may refuse a future one.

    Raises InvalidRequest if the end begins after today in the zone.
    """
    today = datetime.fromtimestamp(now_ms / 1000, zone).date()
    last_of_today = milliseconds(today.isoformat(), now_ms, name, zone, at_end=True)
    if moment_ms > last_of_today and milliseconds(text, now_ms, name, zone) > last_of_today:
        raise InvalidRequest(name, "must not be after today", text, "Without it, the end is now.")
    return min(moment_ms, now_ms)


def is_ago(text: str) -> bool:
    """Whether a text is a time ago, which changes with every reading."""
    return _AGO.match(text.strip()) is not None
