"""The filter of rows by dates and symbols: parsed from typed text, and described in a title."""

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
from tradetui.wire.exchange_time import NamedDays, milliseconds, named_days, utc_moment
from tradetui.wire.models.futures import TriggerOrder

FROM, TO, SYMBOL = "from", "to", "symbol"
DATE_FIELDS: Final = (FROM, TO, SYMBOL)
_SYMBOLS: Final = re.compile(r"[A-Z0-9_]+", re.ASCII)
_NO_SPAN: Final = re.compile(r"0+[smhdw](?: +ago)?", re.ASCII | re.IGNORECASE)
_SPAN_OF_DAYS: Final = re.compile(r"\d+[dw](?: +ago)?", re.ASCII | re.IGNORECASE)


class DateFilter(NamedTuple):
    """Rows from one time to another (Unix ms, both included; None: no bound) whose symbol contains one of `symbols`.

    `texts` are the typed texts by field. With `whole_symbols` the symbols must be equal. `archive_ids` limits archived
    rows to these ids.
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
        """Whether the rows that have ended reach back to the start of the period, so that none is missing.

        Waiting stops do not count: they are all known, however old they are.
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
        """Return a title such as `today`, `20 Nov`, `14 Nov to 20 Nov` or `since 20 Nov 15:30`, with the symbols."""
        return " ".join(filter(None, (_period(self.since, self.until, zone, today), ", ".join(self.symbols))))


def _ended_at(row: object) -> datetime | None:
    """Return the time of a row; None for a waiting stop."""
    if isinstance(row, FilledOrder):
        return row.record.c_time
    record = record_of(row)
    if record is None or (isinstance(record, TriggerOrder) and trigger_state(record) is TriggerState.WAITING):
        return None
    return time_of(record)


def read_date_filter(
    texts: Mapping[str, str], now_ms: int, zone: tzinfo, *, whole_days: bool = False
) -> tuple[DateFilter | None, Mapping[str, str]]:
    """Parse the typed texts into a filter, None if nothing is filtered; and return the problem of each field.

    Days and times are in `zone`. A named day begins with its first moment, and as the end means its last. `whole_days`
    refuses times of day; a span of days then begins or ends with a whole day.
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
    elif since is not None and until is not None:
        begin = named_days(typed[FROM], _day_of(now_ms, zone))
        if _is_of_a_year_before(begin, _day_of(until, zone)):
            refuse(FROM, "is after to", f"Give the earlier date first, or a year as in {_day_of(since, zone)}.")
    symbols = tuple(piece for piece in re.split(r"[\s,]+", typed.get(SYMBOL, "").upper()) if piece)
    if any(_SYMBOLS.fullmatch(piece) is None for piece in symbols):
        refuse(SYMBOL, "must be letters and digits", "For example BTC, or BTCUSDT ETHUSDT.")
    if problems or not typed:
        return None, problems
    return DateFilter(since, until, symbols, tuple(typed.items())), {}


def _moment(field: str, text: str, now_ms: int, zone: tzinfo, *, at_end: bool) -> int:
    if _NO_SPAN.fullmatch(text) is not None:
        remedy = "Leave it empty for now." if at_end else "For example today, 36h, 7d."
        raise InvalidRequest(field, "must be a span above zero", text, remedy)
    return milliseconds(text, now_ms, field, zone, at_end=at_end)


def _whole_day(field: str, text: str, now_ms: int, zone: tzinfo, *, at_end: bool) -> int:
    if named_days(text, _day_of(now_ms, zone)) is None and _SPAN_OF_DAYS.fullmatch(text) is None:
        remedy = f"For example yesterday, last week, {_day_of(now_ms, zone):%Y-%m}."
        raise InvalidRequest(field, "must be whole days, because results are of whole days", text, remedy)
    day = _day_of(_moment(field, text, now_ms, zone, at_end=at_end), zone)
    return milliseconds(day.isoformat(), now_ms, field, zone, at_end=at_end)


def _day_of(moment_ms: int, zone: tzinfo) -> date:
    return utc_moment(moment_ms).astimezone(zone).date()


def _is_of_a_year_before(begin: NamedDays | None, end: date) -> bool:
    """Whether days without a year would begin after the end if read in the end's year."""
    return begin is not None and not begin.has_year and begin.first.timetuple()[1:3] > end.timetuple()[1:3]


def _period(since: int | None, until: int | None, zone: tzinfo, today: date | None) -> str:
    """Write the period by its days if it covers whole days, else by times."""
    begin = None if since is None else utc_moment(since).astimezone(zone)
    # The end is exclusive: the first moment that is left out.
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
