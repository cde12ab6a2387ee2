"""The dialog for the dates and symbols of rows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import Final

from textual.app import ComposeResult

from tradetui.desk.parameter_form import FormField
from tradetui.desk.tables.rows.row_filters import DATE_FIELDS, FROM, SYMBOL, TO, DateFilter, read_date_filter
from tradetui.trading.results.periods import day_at
from tradetui.ui.dialogs.parameter_form import ParameterForm
from tradetui.ui.safe_text import sanitized
from tradetui.ui.settings.time_zones import zone_label

_HINTS: Final[Mapping[str, str]] = {
    FROM: "today, yesterday, 7d, 11-20 or 2026-11-20 15:30",
    TO: "now",
    SYMBOL: "all; or a piece of the name, such as BTC",
}
_WHOLE_DAY_HINT: Final = "today, yesterday, 7d, 11-20 or 2026-11-20; a whole day"


class DatesDialog(ParameterForm[DateFilter | None]):
    """Returns the typed filter, an empty one for none at all, and None if it was left."""

    def __init__(self, title: str, before: DateFilter | None, now_ms: int, zone: tzinfo, *, whole_days: bool) -> None:
        super().__init__(classes="dialog -form")
        self._heading = title
        self._texts = {} if before is None else dict(before.texts)
        self._now_ms = now_ms
        self._zone = zone
        self._whole_days = whole_days
        self._hints = {**_HINTS, FROM: _WHOLE_DAY_HINT} if whole_days else _HINTS

    def compose(self) -> ComposeResult:
        with self.framed(f"Dates of {self._heading}", "Tab next · Enter shows · empty: all · Esc back"):
            for name in DATE_FIELDS:
                field, text = FormField(name, "", False), self._texts.get(name, "")
                yield from self.field_lines(field, name.capitalize(), text, self._hints[name], whole=True)
            yield from self.buttons("Show", harmless=True)

    def _read(self) -> tuple[DateFilter | None, Mapping[str, str]]:
        return read_date_filter(self.texts, self._now_ms, self._zone, whole_days=self._whole_days)

    def check(self) -> None:
        chosen, problems = self._read()
        for name in DATE_FIELDS:
            problem = "" if self.is_typed_in(f"field-{name}") else problems.get(name, "")
            self.show_problem(f"problem-{name}", sanitized(f"{problem[:1].upper()}{problem[1:]}"))
        shown = "everything" if chosen is None else chosen.title(self._zone, day_at(self._now_ms, self._zone))
        about = f"Shows {shown}, in {zone_label(self._zone)}."
        if problems:
            about = self.to_correct(name.capitalize() for name in DATE_FIELDS if name in problems)
        self.show_result(acceptable=not problems, about=[about])

    def confirm(self) -> None:
        chosen, problems = self._read()
        if not problems:
            self.dismiss(chosen or DateFilter())
