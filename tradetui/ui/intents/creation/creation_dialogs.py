"""The two dialogs of a creation: the review of exactly what will be sent, and the result.

It is sent once. A key is shown only once it is saved, and a new result cannot be closed before it could be read.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, OptionList, Static

from tradetui.desk.creation import (
    Creation,
    CreationRequest,
    CreationStatus,
    KeyStoreUnusable,
    StoredKey,
    kind_of,
    titles_of,
)
from tradetui.desk.intents.intents import Withheld
from tradetui.desk.intents.states import State
from tradetui.desk.settings import Environment
from tradetui.ui.app_protocols import ask_in_dialog, trading_app
from tradetui.ui.dialogs.deliberate_dialog import ARMS_S, TOO_SOON, LockingDialog, with_unlock_binding
from tradetui.ui.intents.creation.issued_keys_screen import IssuedKeys, IssuedKeysDialog
from tradetui.ui.intents.creation.titles import BREAKPOINTS, TITLES
from tradetui.ui.intents.journal_dialogs import ReleaseDialog, show_release
from tradetui.ui.safe_text import sanitized
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
"""The mark of an item that was created, of one that was refused, and of one whose fate is not known."""


class ReviewDialog(LockingDialog[CreationStatus | None]):
    """Returns the result, None where nothing was sent.

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
        uid = self._creation.keys.uid or settings.uid or "UID not known"
        account = f"{settings.environment} · {settings.name} · {uid}"
        with self.framed(TITLES[self._kind], "Esc back to the form"):
            yield Static(sanitized(account), classes=style, markup=False)
            with VerticalScroll(can_focus=False):
                yield Static(Content("\n").join(self._lines()), id="body", markup=False)
            count = len(titles_of(self._request))
            yield from self.buttons(f"Create {count}" if count > 1 else "Create it", ready=False)

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
        # The application's worker, not this screen's: what was begun is shown even if the dialog went away.
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
        """`is_new` is whether it was sent just now, from the form; else it is an earlier one that is not settled."""
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
    def _release(self) -> None:
        created = self._created
        dialog = ReleaseDialog(TITLES[created.kind], created.sentence, created.kind, created.next)
        ask_in_dialog(self, dialog, lambda why: self.run_worker(self._released(why), exit_on_error=False))

    async def _released(self, why: str) -> None:
        if await show_release(self.app, self._creation.release(self._created.intent, why)):
            self.dismiss()
