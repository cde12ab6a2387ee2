"""Which rows a read asks for: how many a page holds, where it begins, and the time range it may cover."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.gateway.request_values import whole_number
from tradetui.wire.time_windows import DAY_MS


class Paging(NamedTuple):
    """Default and greatest page size; `capped` gives the greatest where more is asked.

    `first` is the idLessThan that stands for the first page.
    """

    default: int
    maximum: int
    capped: bool = False
    first: str | None = None


def page_size(paging: Paging, values: Mapping[str, str]) -> int:
    """How many rows a page holds; raises Refusal."""
    text = values.get("limit")
    if text is None:
        return paging.default
    size = whole_number(text)
    if not size:
        raise Refusal("40020", "Parameter limit error")
    if size > paging.maximum:
        if paging.capped:
            return paging.maximum
        raise Refusal("40058", f"The parameter limit exceeds the maximum value {paging.maximum}")
    return size


def page_before(paging: Paging, values: Mapping[str, str]) -> int | None:
    """The id that every row of the page is below, or None for the first page; raises Refusal.

    Ids grow with time, so that a row that has meanwhile left the book still marks its place.
    """
    text = values.get("idLessThan")
    if text is None or text == paging.first:
        return None
    before = whole_number(text)
    if before is None:
        raise Refusal("40020", "Parameter idLessThan error")
    return before


class Span(NamedTuple):
    """The rule of one endpoint's startTime and endTime.

    `ends`: whether they are free, go together, or are required. `one_missing`: what the other end is taken to be.
    `none`: the range when neither is given. `window_days`: nothing older can be read. `after_binding`: a managed
    sub-account reads nothing from before it was bound.
    """

    days: int
    ends: Literal["free", "both-or-neither", "required"] = "free"
    one_missing: Literal["open", "three-months"] = "open"
    none: Literal["open", "three-months", "previous-day"] = "open"
    window_days: int | None = None
    after_binding: bool = False


def span_of(span: Span, values: Mapping[str, str], now_ms: int, bound_ms: int | None) -> tuple[int | None, int | None]:
    """Start and end of a read in milliseconds, both included, None where open; raises Refusal."""
    start, end = _moment(values, "startTime"), _moment(values, "endTime")
    if span.ends == "required":
        for name, value in (("startTime", start), ("endTime", end)):
            if value is None:
                raise Refusal("40019", f"Parameter {name} cannot be empty")
    if span.ends == "both-or-neither" and (start is None) != (end is None):
        raise Refusal("40017", "Parameter verification failed startTime and endTime")
    if start is not None and end is not None:
        if start > end:
            raise Refusal("40707", "start time is greater than end time")
        if end - start > span.days * DAY_MS:
            raise Refusal("00001", f"startTime and endTime interval cannot be greater than {span.days} days")
    bound = bound_ms if span.after_binding else None
    if bound is not None and start is not None and start < bound:
        raise Refusal("40408", "startTime is earlier than the binding time")
    start, end = _with_defaults(span, start, end, now_ms)
    oldest = now_ms - span.window_days * DAY_MS if span.window_days is not None else None
    return max((lower_bound for lower_bound in (start, oldest, bound) if lower_bound is not None), default=None), end


def _with_defaults(span: Span, start: int | None, end: int | None, now_ms: int) -> tuple[int | None, int | None]:
    longest_ms = span.days * DAY_MS
    if start is None and end is None:
        if span.none == "previous-day":
            midnight = now_ms - now_ms % DAY_MS
            return midnight - DAY_MS, midnight - 1
        return (now_ms - longest_ms if span.none == "three-months" else None), None
    if span.one_missing == "three-months":
        if end is None and start is not None:
            end = start + longest_ms
        elif start is None:
            start = now_ms - longest_ms
    return start, end


def _moment(values: Mapping[str, str], name: str) -> int | None:
    text = values.get(name)
    if text is None:
        return None
    moment = whole_number(text)
    if moment is None:
        raise Refusal("40017", f"Parameter verification failed {name}")
    return moment
