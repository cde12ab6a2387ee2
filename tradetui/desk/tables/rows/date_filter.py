"""The filter of rows by dates and symbols: read from what a person types, and named in a title."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final, NamedTuple

from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.desk.tables.rows.product_row import record_of, time_of
from tradetui.desk.tables.time_format import date_text, dated_text
from tradetui.trading.trigger_orders import TriggerState, trigger_state
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import milliseconds, utc_moment
from tradetui.wire.models.futures import TriggerOrder

FROM, TO, SYMBOL = "from", "to", "symbol"
DATE_FIELDS: Final = (FROM, TO, SYMBOL)
_SYMBOLS: Final = re.compile(r"[A-Z0-9_]+", re.ASCII)
_DAY: Final = re.compile(r"(?:(?P<year>\d{4})-)?(?P<month>\d{1,2})-(?P<day>\d{1,2})", re.ASCII)
_NO_SPAN: Final = re.compile(r"0+[smhdw](?: +ago)?", re.ASCII | re.IGNORECASE)
_SPAN_OF_DAYS: Final = re.compile(r"\d+[dw](?: +ago)?", re.ASCII | re.IGNORECASE)
_TIME_REMEDY: Final = "For example today, yesterday, 7d, 36h, 11-20, 2026-11-20, 2026-11-20 15:30."
_DAY_REMEDY: Final = "Give days without a time: today, yesterday, 7d, 11-20, 2026-11-20."


class DateFilter(NamedTuple):
    """Rows from one moment to another (Unix ms, both included; None is open) whose symbol holds one of the pieces.

    `texts` are the typed texts by field. With `whole_symbols` the pieces are symbols themselves. `archive_ids` are the
    ids of the only rows that are shown, where those of the archive are narrowed to single ones.
    """

    since: int | None = None
    until: int | None = None
    symbols: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    whole_symbols: bool = False
    archive_ids: tuple[str, ...] | None = None

    def keeps(self, moment: datetime, symbol: str) -> bool:
        at = moment.timestamp() * 1000
        if (self.since is not None and at < self.since) or (self.until is not None and at >= self.until + 1):
            return False
        return self.keeps_symbol(symbol)

    def keeps_row(self, row: object) -> bool:
        if isinstance(row, FilledOrder):
            return self.keeps(row.record.c_time, row.record.symbol)
        record = record_of(row)
        return record is not None and self.keeps(time_of(record), getattr(record, "symbol", ""))

    def begins_within(self, rows: Iterable[object]) -> bool:
        """Whether rows that end now begin before the stretch does, so that none of it is missing.

        Stops that still wait say nothing: they are all known, however old they are.
        """
        if self.since is None:
            return False
        since = self.since
        return any(moment is not None and moment.timestamp() * 1000 <= since for moment in map(_ended_at, rows))

    def keeps_symbol(self, symbol: str) -> bool:
        if not self.symbols:
            return True
        name = symbol.upper()
        return name in self.symbols if self.whole_symbols else any(piece in name for piece in self.symbols)

    def title(self, zone: tzinfo, today: date | None) -> str:
        """Such as `today`, `20 Nov`, `14 Nov to 20 Nov`, `since 20 Nov 15:30`, with the symbols after it."""
        return " ".join(filter(None, (_period(self.since, self.until, zone, today), ", ".join(self.symbols))))


def _ended_at(row: object) -> datetime | None:
    """The time of a row; None of a stop that still waits."""
    if isinstance(row, FilledOrder):
        return row.record.c_time
    record = record_of(row)
    if record is None or (isinstance(record, TriggerOrder) and trigger_state(record) is TriggerState.WAITING):
        return None
    return time_of(record)


def read_date_filter(
    texts: Mapping[str, str], now_ms: int, zone: tzinfo, *, whole_days: bool = False
) -> tuple[DateFilter | None, Mapping[str, str]]:
    """The filter that these texts mean, None where nothing is narrowed; and what is wrong with each field.

    Days and times are in the zone. A day alone begins with its first moment, and as the end means its last.
    `whole_days` refuses times of day, and a span of days begins or ends with the whole day that it leads to.
    """
    typed = {field: text.strip() for field in DATE_FIELDS if (text := texts.get(field, "")).strip()}
    problems: dict[str, str] = {}

    def refuse(field: str, rule: str, remedy: str) -> None:
        problems[field] = str(InvalidRequest(field, rule, typed[field], remedy))

    read = _whole_day if whole_days else _moment

    def moment_of(field: str, *, at_end: bool) -> int | None:
        if field not in typed:
            return None
        try:
            return read(field, typed[field], now_ms, zone, at_end=at_end)
        except InvalidRequest as problem:
            problems[field] = str(problem)
            return None

    since, until = moment_of(FROM, at_end=False), moment_of(TO, at_end=True)
    if since is not None and until is not None and until < since:
        refuse(TO, "must not lie before from", "Swap the two, or give their years.")
    elif since is not None and until is not None and _is_of_a_year_before(typed[FROM], until, zone):
        read_as = utc_moment(since).astimezone(zone).date()
        refuse(FROM, "is after to", f"Give the earlier date first, or a year as in {read_as}.")
    symbols = tuple(piece for piece in re.split(r"[\s,]+", typed.get(SYMBOL, "").upper()) if piece)
    if any(_SYMBOLS.fullmatch(piece) is None for piece in symbols):
        refuse(SYMBOL, "must be letters and digits", "For example BTC, or BTCUSDT ETHUSDT.")
    if problems or not typed:
        return None, problems
    return DateFilter(since, until, symbols, tuple(typed.items())), {}


def _moment(field: str, text: str, now_ms: int, zone: tzinfo, *, at_end: bool) -> int:
    if _NO_SPAN.fullmatch(text) is not None:
        remedy = "Leave it empty for now." if at_end else _TIME_REMEDY
        raise InvalidRequest(field, "must be a span above zero", text, remedy)
    return read_moment(field, text, now_ms, zone, at_end=at_end)


def read_moment(field: str, text: str, now_ms: int, zone: tzinfo, *, at_end: bool) -> int:
    """The Unix milliseconds of a day, a time or a span that a person typed; of a day its first, or its last `at_end`.

    Raises InvalidRequest of that `field` where it is none of them.
    """
    now = utc_moment(now_ms).astimezone(zone)
    day = _day(field, text, now.date())
    if day is None:
        try:
            return milliseconds(text, now_ms, field, zone)
        except InvalidRequest:
            raise InvalidRequest(field, "must be a day, a time, or a span", text, _TIME_REMEDY) from None
    return _bound(day, zone, at_end=at_end)


def _whole_day(field: str, text: str, now_ms: int, zone: tzinfo, *, at_end: bool) -> int:
    today = utc_moment(now_ms).astimezone(zone).date()
    if _day(field, text, today) is None and _SPAN_OF_DAYS.fullmatch(text) is None:
        raise InvalidRequest(field, "must be a whole day, because results are of whole days", text, _DAY_REMEDY)
    moment_ms = _moment(field, text, now_ms, zone, at_end=at_end)
    return _bound(utc_moment(moment_ms).astimezone(zone).date(), zone, at_end=at_end)


def _bound(day: date, zone: tzinfo, *, at_end: bool) -> int:
    """The first millisecond of a day, or its last."""
    begin = datetime.combine(day + timedelta(days=1) if at_end else day, time(), zone)
    return int(begin.timestamp() * 1000) - (1 if at_end else 0)


def _day(field: str, text: str, today: date) -> date | None:
    """The day that a text names alone; a day without a year is the last one of that name."""
    word = text.lower()
    if word in ("today", "yesterday"):
        return today if word == "today" else today - timedelta(days=1)
    if (parts := _DAY.fullmatch(text)) is None:
        return None
    try:
        if parts["year"] is not None:
            return date(int(parts["year"]), int(parts["month"]), int(parts["day"]))
        of_this_year = date(today.year, int(parts["month"]), int(parts["day"]))
        return of_this_year if of_this_year <= today else of_this_year.replace(year=today.year - 1)
    except ValueError:
        raise InvalidRequest(field, "must be a day of the calendar", text, _TIME_REMEDY) from None


def _is_of_a_year_before(text: str, until: int, zone: tzinfo) -> bool:
    """Whether a day without a year lies after the end when it is read in the end's year."""
    parts = _DAY.fullmatch(text)
    if parts is None or parts["year"] is not None:
        return False
    end = utc_moment(until).astimezone(zone)
    return (int(parts["month"]), int(parts["day"])) > (end.month, end.day)


def _period(since: int | None, until: int | None, zone: tzinfo, today: date | None) -> str:
    """The period by its days where it begins and ends with whole ones, else by moments."""
    begin = None if since is None else utc_moment(since).astimezone(zone)
    # The end is shown by the moment after it, the first that is left out.
    end = None if until is None else utc_moment(until + 1).astimezone(zone)
    whole_days = all(bound is None or bound.time() == time() for bound in (begin, end))
    if whole_days and end is not None:
        end -= timedelta(days=1)

    def named(bound: datetime) -> str:
        return date_text(bound.date(), today) if whole_days else dated_text(bound, today)

    if begin is None:
        return "" if end is None else f"until {named(end)}"
    is_today = whole_days and begin.date() == today
    if end is None:
        return "today" if is_today else f"since {named(begin)}"
    if whole_days and begin.date() == end.date():
        return "today" if is_today else named(begin)
    return f"{named(begin)} to {named(end)}"
