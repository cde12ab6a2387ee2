"""The form of a creation, from the key that opens it to the review of what was typed.

It has one row for each item to be created, with every broken rule below its row while one types. It sends nothing.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from tradetui.desk.creation import (
    FIELD_TITLES,
    CheckedForm,
    Creation,
    CreationKind,
    CreationStatus,
    KeyStoreUnusable,
    check_form,
    creation_fields,
    rows_of,
)
from tradetui.desk.intents.intents import Withheld
from tradetui.desk.intents.states import State
from tradetui.ui.app_protocols import ask_in_dialog, trading_app
from tradetui.ui.dialogs.parameter_form import ParameterForm
from tradetui.ui.dialogs.question_dialogs import ChoiceDialog, ConfirmDialog
from tradetui.ui.intents.creation.creation_dialogs import ResultDialog, ReviewDialog
from tradetui.ui.intents.creation.issued_keys_screen import IssuedKeysScreen
from tradetui.ui.intents.creation.titles import BREAKPOINTS, ISSUED_KEYS, TITLES, WIDTHS, choices
from tradetui.ui.safe_text import inside_sentence, notify, sanitized
from tradetui.wire.text import scrub


def open_creation(app: App[Any], creation: Creation, name: str | None) -> None:
    if name is not None:
        _open_named(app, creation, name)
        return
    app.run_worker(_choose(app, creation), group="choosing what to create", exclusive=True, exit_on_error=False)


async def _choose(app: App[Any], creation: Creation) -> None:
    """Choose a form; issued keys are among the choices if there are any, or if that cannot be read."""
    names = choices(creation)
    with suppress(KeyStoreUnusable):
        if len(names) > 1 and not await creation.keys.entries():
            names.remove(ISSUED_KEYS)
    ask_in_dialog(app, ChoiceDialog("Create", names), lambda index: _open_named(app, creation, names[index]))


def _open_named(app: App[Any], creation: Creation, name: str) -> None:
    if name == ISSUED_KEYS:
        app.push_screen(IssuedKeysScreen(creation.keys))
        return
    kind = next(kind for kind in CreationKind if TITLES[kind] == name)
    app.run_worker(_open_form(app, creation, kind), group="creating", exit_on_error=False)


async def _open_form(app: App[Any], creation: Creation, kind: CreationKind) -> None:
    """Open the form; with an unsettled creation of the kind, open that one, which blocks another."""
    try:
        unsettled = await creation.unsettled(kind)
    except Withheld as refused:
        notify(app, " ".join(refused.reasons), severity="warning", seconds=8)
        return
    if unsettled is None:
        app.push_screen(CreationForm(creation, kind))
    else:
        app.push_screen(ResultDialog(creation, unsettled))


class CreationForm(ParameterForm[None]):
    """It sends nothing: Enter opens the review, once nothing is wrong or missing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("down", "move(1)", "Row below"),
        ("up", "move(-1)", "Row above"),
        ("f2", "reveal", "Show or hide what is typed"),
    ]
    VERTICAL_BREAKPOINTS = BREAKPOINTS
    HORIZONTAL_BREAKPOINTS = WIDTHS

    def __init__(self, creation: Creation, kind: CreationKind) -> None:
        super().__init__(classes="dialog -creating")
        self._creation = creation
        self._kind = kind
        self._fields = creation_fields(kind)
        self._rows = rows_of(kind)
        self._showed_locked = False

    def compose(self) -> ComposeResult:
        with self.framed(TITLES[self._kind], "Tab next · F2 shows passphrases · Enter reviews · Esc back"):
            with Horizontal(classes="row titles"):
                for field in self._fields:
                    yield Static(sanitized(FIELD_TITLES[field.name]), classes=f"cell {field.name}", markup=False)
            with VerticalScroll(can_focus=False):
                for row in range(self._rows):
                    with Horizontal(classes="row"):
                        for field in self._fields:
                            yield self.box(field, f"box-{row}-{field.name}", classes=f"cell {field.name}")
                    yield Static("", id=f"problem-{row}", classes="problem", markup=False)
            yield from self.buttons("Review", harmless=True)

    def _texts(self) -> list[dict[str, str]]:
        return [
            {field.name: self.query_one(f"#box-{row}-{field.name}", Input).value for field in self._fields}
            for row in range(self._rows)
        ]

    def check(self) -> None:
        result = check_form(self._kind, self._texts())
        for row in range(self._rows):
            self.show_problem(f"problem-{row}", self._problems(result, row))
        self.show_result(acceptable=result.request is not None, about=self._about(result))

    def desk_changed(self) -> None:
        if self._showed_locked != self._creation.locked:
            self.check()

    def _problems(self, result: CheckedForm, row: int) -> Content:
        lines = [
            Content.styled(scrub(f"{FIELD_TITLES[name]}: {problem}"), "$warn")
            for name, problem in result.problems[row].items()
            if not self.is_typed_in(f"box-{row}-{name}")
        ]
        if result.missing[row]:
            missing = ", ".join(inside_sentence(FIELD_TITLES[name]) for name in result.missing[row])
            lines.append(Content.styled(f"still needed: {missing}", "$quiet"))
        return Content("\n").join(lines)

    def _about(self, result: CheckedForm) -> list[str]:
        name = self.focused_id("box-").rpartition("-")[2]
        lines = [
            f"{FIELD_TITLES[field.name]}: {field.rule}{'' if field.required else ', or nothing'}"
            + (f": {', '.join(field.choices)}" if field.choices else "")
            for field in self._fields
            if field.name == name
        ]
        wrong = dict.fromkeys(FIELD_TITLES[name] for names in (*result.problems, *result.missing) for name in names)
        if wrong:
            lines.append(self.to_correct(wrong))
        elif result.request is None:
            lines.append("Fill in a row: Review shows what would be sent.")
        self._showed_locked = self._creation.locked
        if self._showed_locked:
            lines.append(
                f"Trading is locked. Enter shows the review; {trading_app(self).key_named('lock')} unlocks it there."
            )
        if self._kind.gives_keys:
            lines.append(f"The exchange shows a key once; it is saved in {self._creation.keys.where}.")
        return lines

    def action_move(self, by: int) -> None:
        row, _, name = self.focused_id("box-").partition("-")
        if name and 0 <= int(row) + by < self._rows:
            self.query_one(f"#box-{int(row) + by}-{name}", Input).focus()

    def action_reveal(self) -> None:
        for box in self.query(".passphrase").results(Input):
            box.password = not box.password

    def confirm(self) -> None:
        request = check_form(self._kind, self._texts()).request
        if request is not None:
            ask_in_dialog(self, ReviewDialog(self._creation, request), self._reviewed)

    def _reviewed(self, created: CreationStatus) -> None:
        """Replace the form by the result; after a refusal it stays behind the result, to be corrected."""
        result = ResultDialog(self._creation, created, is_new=True)
        if created.state is State.REJECTED:
            self.app.push_screen(result)
        else:
            self.app.call_later(self.app.switch_screen, result)

    def action_cancel(self) -> None:
        if not any(any(row.values()) for row in self._texts()):
            self.dismiss()
            return
        question = "Everything typed here is discarded; nothing was sent."
        ask_in_dialog(self, ConfirmDialog("Leave the form", question, "Leave"), lambda _: self.dismiss())
