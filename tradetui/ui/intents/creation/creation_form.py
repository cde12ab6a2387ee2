"""The form of a creation, from the key that opens it to the review of what was typed.

It has one row for each item to be created, with every broken rule below its row while one types. It sends nothing.

The two dialogs of a creation: the review of exactly what will be sent, and the result.

It is sent once. A key is shown only once it is saved, and a new result cannot be closed before it could be read.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, ClassVar

from textual import getters, on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, OptionList, Static

from tradetui.desk.creation import (
    FIELD_TITLES,
    CheckedForm,
    Creation,
    CreationKind,
    CreationRequest,
    CreationStatus,
    KeyStoreUnusable,
    StoredKey,
    check_form,
    creation_fields,
    kind_of,
    rows_of,
    titles_of,
)
from tradetui.desk.intents.states import State, Withheld
from tradetui.desk.settings import Environment
from tradetui.ui.app_protocols import trading_app
from tradetui.ui.dialogs.deliberate_dialog import (
    ARMS_S,
    TOO_SOON,
    ChoiceDialog,
    ConfirmDialog,
    LockingDialog,
    with_unlock_binding,
)
from tradetui.ui.dialogs.parameter_form import ParameterForm
from tradetui.ui.intents.creation.issued_keys_screen import IssuedKeys, IssuedKeysDialog, IssuedKeysScreen
from tradetui.ui.intents.creation.titles import BREAKPOINTS, ISSUED_KEYS, TITLES, WIDTHS, choices
from tradetui.ui.intents.journal_screen import ReleaseDialog, show_release
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.safe_text import inside_sentence, notify, sanitized
from tradetui.ui.settings.ui_settings import NO_UID
from tradetui.wire.endpoints.catalogue import endpoint_of
from tradetui.wire.text import scrub

_READING_S = 1.0
_HEADS = {
    State.SETTLED: ("Created", "bold"),
    State.REJECTED: ("Refused: nothing was created", "bold $warn"),
    State.UNKNOWN: ("It is not known what was created", "bold $warn"),
    State.ACKNOWLEDGED: ("Created, and not saved yet", "bold $warn"),
}
_MARKS = {True: ("✓", "bold"), False: ("✗", "bold $warn"), None: ("?", "bold $warn")}
"""The mark of a created item, of a refused one, and of one whose outcome is unknown."""


class ReviewDialog(LockingDialog[CreationStatus | None]):
    """Returns the result, None if nothing was sent.

    Cancel goes back to the form; it has the focus and Enter presses it. Tab then Enter sends.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        ("down,j", "scroll(1)", "Further down"),
        ("up,k", "scroll(-1)", "Further up"),
        ("pagedown", "scroll(10)", "Page down"),
        ("pageup", "scroll(-10)", "Page up"),
    ]
    VERTICAL_BREAKPOINTS = BREAKPOINTS

    def __init__(self, creation: Creation, request: CreationRequest) -> None:
        super().__init__(classes="dialog -creating")
        self._creation = creation
        self._request = request
        self._kind = kind_of(request)
        self._armed = False
        self._sending = False
        self._sentence = ""

    def compose(self) -> ComposeResult:
        settings = self._creation.settings
        style = "live" if settings.environment is Environment.LIVE else "calm"
        uid = self._creation.keys.uid or settings.uid or NO_UID
        account = f"{settings.environment} · {settings.name} · {uid}"
        with self.framed(TITLES[self._kind], "Esc back to the form"):
            yield Static(sanitized(account), classes=style, markup=False)
            with VerticalScroll(can_focus=False):
                yield Static(Content("\n").join(self._lines()), id="body", markup=False)
            count = len(titles_of(self._request))
            account_tag = self._creation.account_tag
            label = f"Create {count}" if count > 1 else "Create it"
            yield from self.buttons(f"{label} · {account_tag}" if account_tag else label, ready=False)

    def _lines(self) -> Iterable[Content]:
        endpoint = endpoint_of(type(self._request))
        yield Content.styled("Sent once, exactly so; passphrases are covered here:", "$quiet")
        yield Content("")
        yield Content.styled(f"{endpoint.method} {endpoint.path}", "bold")
        yield sanitized(_json_text(self._request.redacted()))
        yield Content("")
        sentence = "It cannot be undone from here, and is never sent twice."
        if self._kind.gives_keys:
            sentence += f" Before the new keys are shown they are saved in {scrub(self._creation.keys.where)}."
        yield Content.styled(sentence, "$quiet")

    async def on_mount(self) -> None:
        """Arm a moment later, so that keys typed ahead send nothing."""
        self._show_state("arming …")
        self.run_worker(self._arm(), group="arming", exit_on_error=False)

    async def _arm(self) -> None:
        await asyncio.sleep(ARMS_S)
        self._armed = True
        self._show_state("")

    def _show_state(self, sentence: str) -> None:
        self._sentence = sentence
        reasons = self._creation.blocking_reasons(self._kind)
        enabled = self._armed and not self._sending and not reasons
        button = self.confirm_button
        if not enabled and button.has_focus:
            self.cancel_button.focus()
        button.disabled = not enabled
        if enabled and not sentence:
            self.say_next_step("sends it")
            return
        reasons = with_unlock_binding(reasons, trading_app(self).settings.keys)
        self.give_reason("\n".join(filter(None, (sentence, *reasons))))

    def on_descendant_focus(self) -> None:
        self.say_what_may_be_done()

    def say_what_may_be_done(self) -> None:
        if not self._sending:
            self._show_state(self._sentence)

    def pressed_too_soon(self) -> None:
        self._show_state(TOO_SOON)

    def action_cancel(self) -> None:
        """Go back to the form; during sending there is nothing to cancel."""
        if not self._sending:
            self.dismiss(None)

    def confirm(self) -> None:
        if not self._armed or self._sending:
            return
        self._sending = True
        self.confirm_button.disabled = True
        self.cancel_button.disabled = True
        self.give_reason("sending … the outcome is shown here")
        self.query_one(Vertical).border_subtitle = ""
        # The application's worker, not this screen's: the outcome is shown even if the dialog was closed.
        self.app.run_worker(self._send(), group="creating", exit_on_error=False)

    async def _send(self) -> None:
        try:
            created = await self._creation.create(self._request)
        except Withheld as refused:
            sentence = f"Nothing was sent. {' '.join(refused.reasons)}"
        except Exception as problem:
            sentence = f"The outcome is not known ({type(problem).__name__}). Look at: tradetui journal"
        else:
            if self.is_attached:
                self.dismiss(created)
            return
        self._sending = False
        if self.is_attached:
            self.cancel_button.disabled = False
            self.cancel_button.focus()
            self._show_state(sentence)


def _json_text(body: Any) -> str:
    """A request's object, a field a line, or its list of objects."""
    if isinstance(body, list):
        return "\n".join(("[", ",\n".join(map(_json_text, body)), "]"))
    fields = [f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in body.items()]
    return "\n".join(("{", ",\n".join(fields), "}"))


class ResultDialog(IssuedKeysDialog):
    """Stays until it is closed; a repeated Enter does not close it unread."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "close", "Close"),
        Binding("pagedown", "scroll(10)", "Page down", priority=True),
        Binding("pageup", "scroll(-10)", "Page up", priority=True),
    ]
    VERTICAL_BREAKPOINTS = BREAKPOINTS
    _close_button = getters.query_one("#close", Button)

    def __init__(self, creation: Creation, created: CreationStatus, *, is_new: bool = False) -> None:
        """Show a creation; `is_new` is whether it was just sent from the form, else it is an earlier unsettled one."""
        super().__init__(classes="dialog -creating")
        self._creation = creation
        self._created = created
        self._is_new = is_new

    def compose(self) -> ComposeResult:
        back = self._is_new and self._created.state is State.REJECTED
        with self.framed(TITLES[self._created.kind], "Esc back to the form" if back else "Esc closes"):
            with VerticalScroll(can_focus=False):
                yield Static(id="body", markup=False)
                yield Vertical(id="keys")
            with Horizontal(classes="buttons"):
                yield Button("Release …", id="release")
                yield Button("Write again", id="again", variant="warning")
                yield Button("Back to the form" if back else "Close", id="close", disabled=self._is_new)

    async def on_mount(self) -> None:
        await self._show()
        if self._is_new:
            self.run_worker(self._arm(), group="arming", exit_on_error=False)

    async def _arm(self) -> None:
        await asyncio.sleep(_READING_S)
        self._close_button.disabled = False
        self._focus()

    async def _show(self) -> None:
        created = self._created
        self.query_one("#body", Static).update(Content("\n").join(self._lines()))
        self.query_one("#release", Button).display = created.state is State.UNKNOWN
        self.query_one("#again", Button).display = not created.kept
        if created.state is not State.SETTLED:
            self.app.bell()
        keys_area = self.query_one("#keys", Vertical)
        await keys_area.remove_children()
        entries = await self._entries()
        if entries:
            await keys_area.mount(IssuedKeys(self._creation.keys, entries))
        self._focus()

    def _focus(self) -> None:
        if self.query(OptionList):
            self.query_one(OptionList).focus()
        else:
            self._close_button.focus()

    async def _entries(self) -> list[StoredKey]:
        """The saved keys of this creation, in the order of its rows."""
        names = [row.entry for row in self._created.rows if row.entry is not None]
        if not names or not self._created.kept:
            return []
        try:
            entries = await self._creation.keys.entries()
        except KeyStoreUnusable:
            return []
        by_name = {entry.name: entry for entry in entries}
        return [by_name[name] for name in names if name in by_name]

    def _lines(self) -> Iterable[Content]:
        created = self._created
        head, style = _HEADS.get(created.state, (f"It is {created.state}", "bold $warn"))
        yield Content.styled(head, style)
        yield sanitized(created.sentence)
        if created.next:
            yield Content("")
            yield Content.styled(scrub(created.next), "$warn")
        if created.rows:
            yield Content("")
        for row in created.rows:
            mark, tone = _MARKS[row.good]
            yield Content.assemble((f"{mark} ", tone), (f"{scrub(row.title):<12} ", "bold"), scrub(row.sentence))

    @on(Button.Pressed, "#close")
    def action_close(self) -> None:
        if not self._close_button.disabled:
            self.dismiss()

    @on(Button.Pressed, "#again")
    async def _again(self) -> None:
        with suppress(Withheld):
            self._created = await self._creation.keep(self._created.intent)
        await self._show()

    @on(Button.Pressed, "#release")
    @work(exit_on_error=False)
    async def _release(self) -> None:
        created = self._created
        dialog = ReleaseDialog(TITLES[created.kind], created.sentence, created.kind, created.next)
        if (why := await self.app.push_screen_wait(dialog)) is None:
            return
        if await show_release(self.app, self._creation.release(created.intent, why), created.kind):
            self.dismiss()


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
    if (index := await app.push_screen_wait(ChoiceDialog("Create", names))) is not None:
        _open_named(app, creation, names[index])


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
            key = trading_app(self).key_named(Action.LOCK)
            lines.append(f"Trading is locked. Enter shows the review; {key} unlocks it there.")
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
            self.run_worker(self._review(request))

    async def _review(self, request: CreationRequest) -> None:
        """Show the review, which sends; replace the form by the result. A refused form stays, to be corrected."""
        created = await self.app.push_screen_wait(ReviewDialog(self._creation, request))
        if created is None:
            return
        result = ResultDialog(self._creation, created, is_new=True)
        if created.state is State.REJECTED:
            self.app.push_screen(result)
        else:
            self.app.call_later(self.app.switch_screen, result)

    def action_cancel(self) -> None:
        if any(any(row.values()) for row in self._texts()):
            self._ask_to_leave()
        else:
            self.dismiss()

    @work
    async def _ask_to_leave(self) -> None:
        question = "Everything typed here is discarded; nothing was sent."
        if await self.app.push_screen_wait(ConfirmDialog("Leave the form", question, "Leave")):
            self.dismiss()
