"""The review of a creation: exactly what will be sent, which is sent once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tradetui.desk.creation import Creation, CreationRequest, CreationStatus, kind_of, titles_of
from tradetui.desk.intents.intents import Withheld
from tradetui.desk.settings import Environment
from tradetui.ui.app_protocols import trading_app
from tradetui.ui.dialogs.deliberate_dialog import ARMS_S, TOO_SOON, LockingDialog, with_unlock_binding
from tradetui.ui.intents.creation.titles import BREAKPOINTS, TITLES
from tradetui.ui.safe_text import sanitized
from tradetui.wire.endpoints.catalogue import endpoint_of
from tradetui.wire.text import scrub


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
