"""The form: one row for each thing to create, every rule told beneath its row as one types."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Static

from tradetui.desk.creation.creation import Creation
from tradetui.desk.creation.form import CheckedForm, FormField, checked, fields_of, rows_of
from tradetui.desk.creation.kinds import CreationKind, CreationStatus
from tradetui.desk.intents.journal import State
from tradetui.ui.creation.result import ResultDialog
from tradetui.ui.creation.review import ReviewDialog
from tradetui.ui.creation.titles import BREAKPOINTS, TITLES
from tradetui.ui.dialogs.confirm import ConfirmDialog
from tradetui.ui.sanitize import sanitized
from tradetui.wire.text.sanitize import scrub

LONGEST_TEXT = 1_400
"""Longer than thirty addresses."""


class CreationForm(ModalScreen[None]):
    """Nothing is sent from here: Enter shows what would be, once nothing is wrong or missing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "leave", "Cancel"),
        ("down", "move(1)", "Row below"),
        ("up", "move(-1)", "Row above"),
        ("f2", "reveal", "Show or hide what is typed"),
    ]
    VERTICAL_BREAKPOINTS = BREAKPOINTS
    AUTO_FOCUS = "Input"

    def __init__(self, creation: Creation, kind: CreationKind) -> None:
        super().__init__(classes="dialog -creating")
        self._creation = creation
        self._kind = kind
        self._fields = fields_of(kind)
        self._rows = rows_of(kind)
        self._told_locked = False

    def compose(self) -> ComposeResult:
        """Titles, then a line of boxes and a line for what is wrong with them, for each row."""
        with Vertical() as box:
            box.border_title = sanitized(TITLES[self._kind])
            box.border_subtitle = sanitized("Tab next · F2 shows passphrases · Enter reviews · Esc back")
            with Horizontal(classes="row titles"):
                for field in self._fields:
                    yield Static(sanitized(field.title), classes=f"cell {field.name}", markup=False)
            with VerticalScroll(can_focus=False):
                for row in range(self._rows):
                    with Horizontal(classes="row"):
                        yield from (self._box(row, field) for field in self._fields)
                    yield Static("", id=f"problem-{row}", classes="problem", markup=False)
            yield Static("", id="about", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Cancel", id="cancel")
                yield Button("Review", id="review", variant="primary")

    def _box(self, row: int, field: FormField) -> Input:
        box = Input(
            id=f"box-{row}-{field.name}",
            classes=f"cell {field.name}",
            password=field.secret,
            max_length=LONGEST_TEXT,
            suggester=SuggestFromList(field.choices, case_sensitive=False) if field.choices else None,
        )
        box.cursor_blink = False
        return box

    def on_mount(self) -> None:
        """Say what is needed from the start."""
        self._tell()

    def _texts(self) -> list[dict[str, str]]:
        return [
            {field.name: self.query_one(f"#box-{row}-{field.name}", Input).value for field in self._fields}
            for row in range(self._rows)
        ]

    @on(Input.Changed)
    def _typed(self) -> None:
        self._tell()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The rule of a field stands below as soon as it has the focus."""
        self._tell()

    def _tell(self) -> None:
        result = checked(self._kind, self._texts())
        for row in range(self._rows):
            line = self.query_one(f"#problem-{row}", Static)
            problem_lines = self._words(result, row)
            line.update(problem_lines)
            line.display = bool(problem_lines.plain)
        self.query_one("#review", Button).disabled = result.request is None
        self.query_one("#about", Static).update(sanitized("\n".join(self._about())))

    def desk_changed(self) -> None:
        """The lock may be another one."""
        if self._told_locked != self._creation.locked:
            self._tell()

    def _words(self, result: CheckedForm, row: int) -> Content:
        titles = {field.name: field.title for field in self._fields}
        lines = [
            Content.styled(scrub(f"{titles[name]}: {problem}"), "$warn")
            for name, problem in result.problems[row].items()
        ]
        if result.missing[row]:
            missing = ", ".join(titles[name].lower() for name in result.missing[row])
            lines.append(Content.styled(f"still needed: {missing}", "$quiet"))
        return Content("\n").join(lines)

    def _about(self) -> list[str]:
        name = ((self.focused.id if self.focused is not None else None) or "").rpartition("-")[2]
        lines = [
            f"{field.title}: {field.rule}{'' if field.required else ', or nothing'}"
            + (f": {', '.join(field.choices)}" if field.choices else "")
            for field in self._fields
            if field.name == name
        ]
        self._told_locked = self._creation.locked
        if self._told_locked:
            lines.append("Trading is locked. Enter shows the review; L unlocks it there.")
        return [*lines, f"What the exchange tells once is kept in {self._creation.keys.where}."]

    def action_move(self, by: int) -> None:
        """To the same field of another row."""
        _, _, box_id = ((self.focused.id if self.focused is not None else None) or "").partition("box-")
        row, _, name = box_id.partition("-")
        if name and 0 <= int(row) + by < self._rows:
            self.query_one(f"#box-{int(row) + by}-{name}", Input).focus()

    def action_reveal(self) -> None:
        """Show the passphrases as they are typed, or cover them."""
        for box in self.query(".passphrase").results(Input):
            box.password = not box.password

    @on(Input.Submitted)
    @on(Button.Pressed, "#review")
    def _review(self) -> None:
        request = checked(self._kind, self._texts()).request
        if request is not None:
            self.app.push_screen(ReviewDialog(self._creation, request), self._reviewed)

    def _reviewed(self, created: CreationStatus | None) -> None:
        """Once something was sent the form has done its work: what became of it takes its place.

        Where it was refused the form stays behind what is said, to be mended.
        """
        if created is None:
            return
        if created.state is State.REJECTED:
            self.app.push_screen(ResultDialog(self._creation, created, fresh=True))
        else:
            self.app.call_later(self._show, created)

    def _show(self, created: CreationStatus) -> None:
        self.app.switch_screen(ResultDialog(self._creation, created, fresh=True))

    @on(Button.Pressed, "#cancel")
    def action_leave(self) -> None:
        """Close; asks where something typed would be lost."""
        if not any(any(row.values()) for row in self._texts()):
            self.dismiss()
            return

        def leave(yes: bool | None) -> None:
            if yes:
                self.dismiss()

        question = "What was typed is forgotten; nothing was sent."
        self.app.push_screen(ConfirmDialog("Leave the form", question, "Leave"), leave)
