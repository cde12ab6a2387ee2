"""The filter form: one line for each parameter an endpoint takes, every rule told at its field as one types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Static

from tradetui.desk.lookup.query import Checked, FilterField, Query
from tradetui.ui.lookup.sentences import stretch_words
from tradetui.ui.sanitize import sanitized
from tradetui.ui.time_zones import zone_label

AROUND_THE_FIELDS = 11
ROOMY_HEIGHT = 30
"""Lines of the box's border, the words below the fields, the buttons, and the screen around the box."""
LONGEST_TEXT = 200
"""Longer than anything an endpoint takes."""


class FilterForm(ModalScreen[Query | None]):
    """Returns the query that was typed, None when it was left. Enter shows it once nothing is wrong."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "cancel", "Cancel"),
        ("down", "app.focus_next", "Next field"),
        ("up", "app.focus_previous", "Field before"),
    ]
    AUTO_FOCUS = "Input"

    def __init__(
        self,
        title: str,
        fields: tuple[FilterField, ...],
        texts: Mapping[str, str],
        check: Callable[[Mapping[str, str]], Checked],
        zone: tzinfo,
    ) -> None:
        super().__init__(classes="dialog -form")
        self._heading = title
        self._fields = {field.name: field for field in fields}
        self._texts = dict(texts)
        self._check = check
        self._zone = zone

    def compose(self) -> ComposeResult:
        """Name, box and problem of each field, what would be read, two buttons."""
        with Vertical() as box:
            box.border_title = sanitized(self._heading)
            box.border_subtitle = sanitized("Tab next · Enter shows · Esc back")
            with VerticalScroll(can_focus=False):
                for field in self._fields.values():
                    yield from self._lines(field)
            yield Static("", id="about", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Cancel", id="cancel")
                yield Button("Show", id="show", variant="primary")

    def _lines(self, field: FilterField) -> ComposeResult:
        with Horizontal(classes="field"):
            yield Static(sanitized(field.name), classes="name", markup=False)
            box = Input(
                self._texts.get(field.name, ""),
                id=f"field-{field.name}",
                placeholder=self._hint(field),
                max_length=LONGEST_TEXT,
                suggester=SuggestFromList(field.choices, case_sensitive=False) if field.choices else None,
            )
            box.cursor_blink = False
            yield box
        yield Static("", id=f"problem-{field.name}", classes="problem", markup=False)

    def _hint(self, field: FilterField) -> str:
        if field.is_time:
            return f"2026-08-01T09:30 ({zone_label(self._zone)}), 7d ago, or milliseconds"
        if field.choices:
            return f"any of {len(field.choices)} words" if len(field.choices) > 4 else " or ".join(field.choices)
        return "needed" if field.required else "any"

    def on_mount(self) -> None:
        """Say what is wrong or missing from the start."""
        self._tell()

    def on_resize(self, event: events.Resize) -> None:
        """The fields scroll where they do not fit; what would be read and the buttons stay in sight."""
        self.query_one(VerticalScroll).styles.max_height = max(3, event.size.height - AROUND_THE_FIELDS)
        self._tell()

    @property
    def texts(self) -> dict[str, str]:
        """What is typed, by field."""
        return {name: self.query_one(f"#field-{name}", Input).value for name in self._fields}

    @on(Input.Changed)
    def _typed(self) -> None:
        self._tell()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """What a field takes stands below as soon as it has the focus."""
        self._tell()

    def _tell(self) -> None:
        texts = self.texts
        result = self._check(texts)
        for name, field in self._fields.items():
            line = self.query_one(f"#problem-{name}", Static)
            # That it is needed stands in the empty box already.
            empty = field.required and not texts[name].strip()
            problem = "" if empty else result.problems.get(name, "")
            line.update(sanitized(problem))
            line.display = bool(problem)
            # Where there is little room, whole where one types and its first line elsewhere.
            whole = self.size.height >= ROOMY_HEIGHT or self.query_one(f"#field-{name}").has_focus
            line.set_class(whole, "-whole")
        self.query_one("#show", Button).disabled = result.query is None
        self.query_one("#about", Static).update(sanitized("\n".join(filter(None, self._about(result)))))

    def _about(self, result: Checked) -> list[str]:
        focused = self.focused.id if self.focused is not None else None
        field = self._fields.get((focused or "").removeprefix("field-"))
        choices_line = f"{field.name}: {', '.join(field.choices)}" if field is not None and field.choices else ""
        if result.query is None:
            return [choices_line, f"To be mended first: {', '.join(result.problems)}."]
        stretch = stretch_words(result.query, self._zone)
        return [choices_line, f"Reads {stretch}." if stretch else ""]

    @on(Input.Submitted)
    @on(Button.Pressed, "#show")
    def _show(self) -> None:
        query = self._check(self.texts).query
        if query is not None:
            self.dismiss(query)

    @on(Button.Pressed, "#cancel")
    def action_cancel(self) -> None:
        """Leave everything as it was."""
        self.dismiss(None)
