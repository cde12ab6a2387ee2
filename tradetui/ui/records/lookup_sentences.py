"""The sentences of a lookup's screen: what is looked up, in which span of time, and how far it is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, tzinfo
from typing import Final

from tradetui.desk.lookup.lookup import Lookup, LookupState
from tradetui.desk.lookup.query import Query
from tradetui.desk.tables.time_format import dated_text
from tradetui.ui.settings.time_zones import zone_label
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.text.counted import counted

_TIMES: Final = ("startTime", "endTime")
_TITLES: Final[Mapping[str, str]] = {
    "startTime": "From",
    "endTime": "To",
    "orderId": "Order ID",
    "groupType": "Group",
    "businessType": "Business",
    "subUid": "Sub-account",
}
_NAMES: Final = re.compile(rf"\b(?:{'|'.join(_TITLES)})\b")
BAR: Final = 24


def field_title(name: str) -> str:
    return _TITLES.get(name, name.capitalize())


def in_titles(problem: str) -> str:
    """A sentence that begins with a parameter's name, with the titles of all parameters it names."""
    name, colon, sentence = problem.partition(":")
    return f"{field_title(name)}{colon}{_NAMES.sub(lambda other: field_title(other[0]), sentence)}"


def query_text(query: Query, zone: tzinfo, today: date | None) -> str:
    filters = [f"{field_title(name)} {text}" for name, text in query.texts.items() if name not in _TIMES]
    return " · ".join(filter(None, (*filters, span_of_query(query, zone, today))))


def span_of_query(query: Query, zone: tzinfo, today: date | None) -> str:
    """The span of time, and whether somebody chose it; empty for a query without one."""
    start, end, assumed = query.stretch.start_ms, query.stretch.end_ms, query.stretch.assumed
    if query.endpoint.time is None:
        return ""
    if start is None and (assumed or end is None):
        return "as far back as the exchange reports"
    begin, last = _moment(start, zone, today), _moment(end, zone, today)
    if start is None:
        stretch = f"until {last} {zone_label(zone)}"
    elif end is None:
        stretch = f"from {begin} {zone_label(zone)} to now"
    else:
        stretch = f"{begin} to {last} {zone_label(zone)}"
    if assumed:
        stretch += ", since no time is given"
    return f"{stretch}, in {query.pieces} requests" if query.pieces > 1 else stretch


def progress_text(lookup: Lookup, key: Callable[[str], str]) -> str:
    rows, state = lookup.rows.count, lookup.state
    read = counted(rows, "row")
    if lookup.undecodable_rows:
        read += f", {lookup.undecodable_rows:,} unreadable"
    if state is LookupState.FULL:
        return f"{read}, as many as fit here · {key('query')} narrows the query, `tradetui show` prints all"
    why = f" · {lookup.error.sentence}" if lookup.error is not None and rows else ""
    stages = {
        LookupState.LOADING: f"reading … · {key('back')} stops",
        LookupState.STOPPED: f"stopped · {key('poll_now')} goes on",
        LookupState.FAILED: f"failed, {key('poll_now')} tries again{why}",
        LookupState.COMPLETE: "all there are",
    }
    older = f"scroll for older ones, if any · {key('read_all')} reads all"
    return f"{read} · {stages.get(state, older)}"


def bar_of(part: float | None) -> str:
    if part is None:
        return ""
    full = round(part * BAR)
    return f"{'━' * full}{'╌' * (BAR - full)} {int(part * 100):3d} %"


def _moment(at_ms: int | None, zone: tzinfo, today: date | None) -> str:
    return "" if at_ms is None else dated_text(utc_moment(at_ms).astimezone(zone), today)
