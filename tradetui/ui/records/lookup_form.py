"""The filter form: one line per parameter of an endpoint, with every broken rule at its field while one types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, tzinfo

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll

from tradetui.desk.lookup.query import Checked, Query
from tradetui.desk.parameter_form import FormField
from tradetui.ui.dialogs.parameter_form import ParameterForm
from tradetui.ui.records.lookup_sentences import field_title, in_titles, span_of_query
from tradetui.ui.safe_text import sanitized
from tradetui.ui.settings.time_zones import zone_label

AROUND_THE_FIELDS = 11
"""Lines of the box's border, the words below the fields, the buttons, and the screen around the box."""
_ROOMY_HEIGHT = 30
"""Lines of a form in which every problem is shown whole."""


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
                    title, text = field_title(field.name), self._texts.get(field.name, "")
                    yield from self.field_lines(field, title, text, self._hint(field), whole=False)
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
            # The empty box says already that it is required.
            is_unfinished = self.is_typed_in(f"field-{name}") or (field.required and not texts[name].strip())
            problem = "" if is_unfinished else in_titles(result.problems.get(name, ""))
            line = self.show_problem(f"problem-{name}", sanitized(problem))
            # Where there is little room, whole where one types and its first line elsewhere.
            whole = self.size.height >= _ROOMY_HEIGHT or self.query_one(f"#field-{name}").has_focus
            line.set_class(whole, "-whole")
        self.show_result(acceptable=result.query is not None, about=self._about(result))

    def _about(self, result: Checked) -> list[str]:
        field = self._fields.get(self.focused_id("field-"))
        choices_line = ""
        # Under a box with another word stands already what it takes.
        if field and field.choices and not self.query_one(f"#problem-{field.name}").display:
            choices_line = f"{field_title(field.name)}: {', '.join(field.choices)}"
        if result.query is None:
            return [choices_line, self.to_correct(map(field_title, result.problems))]
        stretch = span_of_query(result.query, self._zone, self._today)
        return [choices_line, f"Reads {stretch}." if stretch else ""]

    def confirm(self) -> None:
        query = self._check_texts(self.texts).query
        if query is not None:
            self.dismiss(query)
