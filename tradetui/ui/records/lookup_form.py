"""The query of a lookup: the form in which it is typed, and the sentences that say what was asked for.

The form has a line for each parameter of the endpoint, and shows each broken rule at its field while one types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, tzinfo
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll

from tradetui.desk.lookup.query import Checked, Query
from tradetui.desk.parameter_form import FormField
from tradetui.desk.tables.time_format import dated_text
from tradetui.ui.dialogs.parameter_form import ParameterForm
from tradetui.ui.safe_text import sanitized
from tradetui.ui.settings.time_zones import zone_label
from tradetui.wire.exchange_time import utc_moment

AROUND_THE_FIELDS = 11
"""Lines of the box's border, the words below the fields, the buttons, and the screen around the box."""
_ROOMY_HEIGHT = 30  # lines of a form in which every problem is shown whole
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


class FilterForm(ParameterForm[Query | None]):
    """Returns the typed query, None if it was left. Enter shows it once nothing is wrong."""

    def __init__(
        self,
        title: str,
        fields: tuple[FormField, ...],
        texts: Mapping[str, str],
        check: Callable[[Mapping[str, str]], Checked],
        zone: tzinfo,
        today: date | None,
    ) -> None:
        super().__init__(classes="dialog -form")
        self._heading = title
        self._fields = {field.name: field for field in fields}
        self._texts = dict(texts)
        self._check_texts = check
        self._zone = zone
        self._today = today

    def compose(self) -> ComposeResult:
        with self.framed(self._heading, "Tab next · Enter shows · Esc back"):
            with VerticalScroll(can_focus=False):
                for field in self._fields.values():
                    title, text = _field_title(field.name), self._texts.get(field.name, "")
                    yield from self.field_lines(field, title, text, self._hint(field))
            yield from self.buttons("Show", harmless=True)

    def _hint(self, field: FormField) -> str:
        if field.is_time:
            return f"today, 7d, 11-20 or 2026-11-20 15:30 {zone_label(self._zone)}"
        if field.choices:
            return "any, suggested as you type" if len(field.choices) > 4 else " or ".join(field.choices)
        return "needed" if field.required else "any"

    def on_resize(self, event: events.Resize) -> None:
        """Scroll the fields where they do not fit; the summary and the buttons stay visible."""
        self.query_one(VerticalScroll).styles.max_height = max(3, event.size.height - AROUND_THE_FIELDS)
        self.check()

    def check(self) -> None:
        texts = self.texts
        result = self._check_texts(texts)
        for name, field in self._fields.items():
            # The empty box itself says that it is required.
            is_unfinished = self.is_typed_in(f"field-{name}") or (field.required and not texts[name].strip())
            problem = "" if is_unfinished else _in_titles(result.problems.get(name, ""))
            line = self.show_problem(f"problem-{name}", sanitized(problem))
            # With little room only the problem of the focused field is whole, and the others have one line.
            whole = self.size.height >= _ROOMY_HEIGHT or self.query_one(f"#field-{name}").has_focus
            line.set_class(whole, "-whole")
        self.show_result(acceptable=result.query is not None, about=self._about(result))

    def _about(self, result: Checked) -> list[str]:
        field = self._fields.get(self.focused_id("field-"))
        choices_line = ""
        # The problem under a box with a wrong word names the choices already.
        if field and field.choices and not self.query_one(f"#problem-{field.name}").display:
            choices_line = f"{_field_title(field.name)}: {', '.join(field.choices)}"
        if result.query is None:
            return [choices_line, self.to_correct(map(_field_title, result.problems))]
        span = _span_text(result.query, self._zone, self._today)
        return [choices_line, f"Reads {span}." if span else ""]

    def confirm(self) -> None:
        query = self._check_texts(self.texts).query
        if query is not None:
            self.dismiss(query)


def query_text(query: Query, zone: tzinfo, today: date | None) -> str:
    filters = [f"{_field_title(name)} {text}" for name, text in query.texts.items() if name not in _TIMES]
    return " · ".join(filter(None, (*filters, _span_text(query, zone, today))))


def _span_text(query: Query, zone: tzinfo, today: date | None) -> str:
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


def _moment(at_ms: int | None, zone: tzinfo, today: date | None) -> str:
    return "" if at_ms is None else dated_text(utc_moment(at_ms).astimezone(zone), today)


def _field_title(name: str) -> str:
    return _TITLES.get(name, name.capitalize())


def _in_titles(problem: str) -> str:
    """A sentence that begins with a parameter's name, with the titles of all parameters it names."""
    name, colon, sentence = problem.partition(":")
    return f"{_field_title(name)}{colon}{_NAMES.sub(lambda other: _field_title(other[0]), sentence)}"
