"""The query of a lookup: the texts of its filter form, checked by the request's rules, and their time span."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import Any, Final

from tradetui.desk.parameter_form import FormField, form_fields, read_fields
from tradetui.desk.tables.time_format import is_utc_text, with_zoned_times
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.enums import TransferType
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.exchange_time import DAY_MS, Missing, TimeRule, end_until_now, is_ago, milliseconds, utc_moment
from tradetui.wire.models.subaccounts import LIVE_WITHDRAWAL
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.parameter import Milliseconds, Parameter
from tradetui.wire.requests.request import Request, check_window

START, END = "startTime", "endTime"
_MISSPELT: Final = str(TransferType.WITHDRAWAL)
_PAGING: Final = frozenset({"limit", "idLessThan"})


@dataclass(frozen=True, slots=True)
class Stretch:
    """The time span of a lookup in Unix ms, both ends included; None if an end is not known.

    `assumed` is set if the user gave none: then it is the exchange's default, or a substitute if the exchange requires
    one.
    """

    start_ms: int | None
    end_ms: int | None
    assumed: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A checked lookup: the texts as given, the request without its time span, and the time span.

    `sent` is whether the request has the span; `pieces` is the number of requests that it is divided into.
    """

    endpoint: Endpoint
    texts: Mapping[str, str]
    request: Request[Record]
    stretch: Stretch
    sent: bool
    pieces: int


@dataclass(frozen=True, slots=True)
class Checked:
    """The query, or the errors by field in the request's own sentences."""

    query: Query | None
    problems: Mapping[str, str]


def filter_fields(endpoint: Endpoint) -> tuple[FormField, ...]:
    """Return the fields of a filter form: all parameters except paging; times with a default are optional."""
    fields, rule = form_fields(endpoint.request, without=_PAGING), endpoint.time
    standing_in = (START, END) if rule is not None and rule.missing is Missing.NEVER else ()
    return tuple(
        replace(
            field,
            required=field.required and field.name not in standing_in,
            choices=tuple(map(_spelt_as_spoken, field.choices)),
        )
        for field in fields
    )


def _spelt_as_spoken(sentence: str) -> str:
    return sentence.replace(_MISSPELT, LIVE_WITHDRAWAL)


def check_query(endpoint: Endpoint, texts: Mapping[str, str], now_ms: int, zone: tzinfo = UTC) -> Checked:
    """Parse these texts into a query at `now_ms`, the exchange's time; times without a zone are in `zone`.

    A refusal quotes a time as typed, and the resulting span in that zone.
    """

    def read(parameter: Parameter, text: str) -> Any:
        if isinstance(parameter, Milliseconds):
            at_end = parameter.name == END
            moment_ms = milliseconds(text, now_ms, parameter.name, zone, at_end=at_end)
            return parameter.read(end_until_now(moment_ms, now_ms, END, text, zone) if at_end else moment_ms)
        return parameter.read(text)

    typed = {name: _spelt_as_spoken(text.strip()) for name, text in texts.items() if text.strip()}
    values, refused = read_fields(endpoint.request, typed, read)
    problems = {name: _refusal(problem, typed, zone) for name, problem in refused.items()}
    query = None
    try:
        query = _query(endpoint, _lasting(endpoint, typed, values, zone), values, now_ms)
    except InvalidRequest as problem:
        problems.setdefault(problem.parameter, _refusal(problem, typed, zone))
    return Checked(None if problems else query, problems)


def _refusal(problem: InvalidRequest, typed: Mapping[str, str], zone: tzinfo) -> str:
    text, value = typed.get(problem.parameter), problem.value
    if text is not None and not is_ago(text) and is_utc_text(value):
        value = text
    elif value != text:
        value = with_zoned_times(value, zone)
    return _spelt_as_spoken(str(InvalidRequest(problem.parameter, problem.rule, value, problem.remedy)))


def _assumed_stretch(rule: TimeRule, now_ms: int) -> Stretch:
    """Return the span read without times: the exchange's default, or the longest span if it requires one."""
    if rule.missing is Missing.PREVIOUS_DAY:
        midnight = now_ms - now_ms % DAY_MS
        return Stretch(midnight - DAY_MS, midnight - 1, assumed=True)
    if rule.missing is Missing.NEVER:
        return Stretch(now_ms - rule.span_ms, now_ms, assumed=True)
    return Stretch(None if rule.window_ms is None else now_ms - rule.window_ms, now_ms, assumed=True)


def _lasting(endpoint: Endpoint, texts: Mapping[str, str], values: Mapping[str, Any], zone: tzinfo) -> dict[str, str]:
    """Return the texts with times that mean the same in any zone; relative times stay relative."""
    kept = dict(texts)
    for name, value in values.items():
        if isinstance(endpoint.request.parameters[name], Milliseconds) and not is_ago(texts[name]):
            kept[name] = utc_moment(value).astimezone(zone).isoformat()
    return kept


def _query(endpoint: Endpoint, texts: Mapping[str, str], values: dict[str, Any], now_ms: int) -> Query:
    """Return the query of checked values; raises InvalidRequest if its times do not go together."""
    rule = endpoint.time
    if endpoint.page is not None:
        values = {**values, "limit": endpoint.page.maximum}
    if rule is None:
        return Query(endpoint, texts, endpoint.request(**values), Stretch(None, None, True), sent=False, pieces=1)
    start, end = values.pop(START, None), values.pop(END, None)
    assumed = start is None and end is None
    if rule.missing is Missing.NEVER:
        end = now_ms if end is None else end
        start = max(0, end - rule.span_ms) if start is None else start
    _check_times(endpoint, rule, values, start, end, now_ms)
    stretch = _assumed_stretch(rule, now_ms) if assumed else Stretch(start, end, False)
    if start is None:
        request = endpoint.request(**values, **_times(None, end))
        return Query(endpoint, texts, request, stretch, sent=not assumed, pieces=1)
    # Each piece sets its own times; a request that requires times has placeholders until then.
    request = endpoint.request(**values, **({START: 0, END: 0} if rule.missing is Missing.NEVER else {}))
    length = (now_ms if end is None else end) - start
    return Query(endpoint, texts, request, stretch, sent=True, pieces=max(1, -(-length // rule.piece_ms)))


def _check_times(
    endpoint: Endpoint, rule: TimeRule, values: Mapping[str, Any], start: int | None, end: int | None, now_ms: int
) -> None:
    """Check the times against the rules; a span divided into pieces may be as long as the exchange keeps records."""
    check_window(rule, start, end, now_ms)
    cut = rule.window_ms is not None and rule.span_ms < rule.window_ms
    if cut and start is not None and end is not None and end - start > rule.span_ms:
        start = end - rule.span_ms
    endpoint.request(**values, **_times(start, end))


def _times(start: int | None, end: int | None) -> dict[str, int]:
    return {name: time_ms for name, time_ms in ((START, start), (END, end)) if time_ms is not None}
