"""The base of forms over a request's parameters: it checks every box while one types, and sends nothing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar, Generic

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from tradetui.desk.parameter_form import FormField
from tradetui.ui.dialogs.deliberate_dialog import DeliberateDialog, Result
from tradetui.ui.key_bindings.key_queue import LineBox
from tradetui.ui.safe_text import sanitized


class ParameterForm(DeliberateDialog[Result], Generic[Result]):
    """Boxes, each with a line for its error, two buttons, and below them the rule of the focused box.

    Each form lays out its boxes and buttons, shows errors in `check`, and returns its result in `confirm`. This class
    calls `check` at the start and whenever a text or the focus changes; Enter in a box confirms if there is no error.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        ("down", "app.focus_next", "Next field"),
        ("up", "app.focus_previous", "Field before"),
    ]
    AUTO_FOCUS = "Input"
    _typed_in: str | None = None

    @abstractmethod
    def check(self) -> None:
        """Show missing and wrong fields: `show_problem` for each line, then `show_result` for the whole form."""

    def box(self, field: FormField, box_id: str, *, text: str = "", placeholder: str = "", classes: str = "") -> Input:
        return LineBox(
            text,
            id=box_id,
            classes=classes,
            placeholder=placeholder,
            password=field.is_secret,
            suggester=SuggestFromList(field.choices, case_sensitive=False) if field.choices else None,
        )

    def field_lines(self, field: FormField, title: str, text: str, placeholder: str) -> ComposeResult:
        """The title of a field with its box, and below it the error, as many lines as that has."""
        with Horizontal(classes="field"):
            yield Static(sanitized(title), classes="name", markup=False)
            yield self.box(field, f"field-{field.name}", text=text, placeholder=placeholder)
        yield Static("", id=f"problem-{field.name}", classes="problem -whole", markup=False)

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the boxes of `field_lines`, by the field's name."""
        boxes = self.query(".field Input").results(Input)
        return {(box.id or "").removeprefix("field-"): box.value for box in boxes}

    def show_problem(self, line_id: str, problem: Content) -> Static:
        """Write the error under a box, or hide its line; return the line, whose height the form sets."""
        line = self.query_one(f"#{line_id}", Static)
        line.update(problem)
        line.display = bool(problem.plain)
        return line

    def show_result(self, *, acceptable: bool, about: list[str]) -> None:
        """Show the focused box's rule, and whether the form may be accepted."""
        self.confirm_button.disabled = not acceptable
        self.give_reason("\n".join(filter(None, about)))

    @staticmethod
    def to_correct(titles: Iterable[str]) -> str:
        """The fields that are missing or wrong, by their titles."""
        return f"Fill in or correct: {', '.join(titles)}."

    def focused_id(self, prefix: str) -> str:
        """The rest of the focused box's id after a prefix; empty if another widget has the focus."""
        focused = (self.focused.id if self.focused is not None else None) or ""
        return focused.removeprefix(prefix) if focused.startswith(prefix) else ""

    def on_mount(self) -> None:
        self.check()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._typed_in = None
        self.check()

    def is_typed_in(self, box_id: str) -> bool:
        """Whether a person is typing in a box, whose incomplete text is not called wrong yet."""
        return self._typed_in == box_id

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._typed_in = event.input.id if event.input.has_focus else None
        self.check()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._typed_in = None
        self.check()
        if not self.confirm_button.disabled:
            self.confirm()
