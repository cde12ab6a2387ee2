"""The base of dialogs that nobody may answer by accident: the button that arms, the keys, and the lock of trading.

Also the screen of every dialog, which dims the screen behind it, and small dialogs: lines to read, and questions for a
choice, a text, or yes or no. The safe answer has the focus.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.css.styles import RulesMap
from textual.message import Message
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets._toast import ToastRack
from textual.widgets.button import ButtonVariant

from tradetui.desk.intents.intents import SendsNothing
from tradetui.ui.app_protocols import trading_app
from tradetui.ui.key_bindings.actions import Action, key_named
from tradetui.ui.key_bindings.key_queue import LineBox, one_line
from tradetui.ui.safe_text import notify, sanitized
from tradetui.ui.terminal.drawn_once import StyledOnce
from tradetui.wire.text import scrub

STYLES_KEPT = 4096


class DimmedScreen(Visual):
    """A screen in dimmed colours, drawn from its strips.

    Textual's own goes through Rich's console and mixes the colours of every segment again: half the time that a frame
    with a dialog took.
    """

    def __init__(self, screen: Screen[object], tint: Color) -> None:
        self._screen = screen
        self._tint = tint

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        under, tint = style.rich_style, self._tint
        return [
            Strip(
                [Segment(segment.text, _dimmed(under, segment.style, tint), segment.control) for segment in strip],
                strip.cell_length,
            )
            for strip in self._screen._compositor.render_strips()[:height]
        ]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return self._screen.size.width

    def get_height(self, rules: RulesMap, width: int) -> int:
        return self._screen.size.height


@lru_cache(STYLES_KEPT)
def _dimmed(under: RichStyle, style: RichStyle | None, tint: Color) -> RichStyle:
    (segment,) = BackgroundScreen.process_segments([Segment("", style)], tint)
    return under if segment.style is None else under + segment.style


class DimmingScreen(ModalScreen[ScreenResultType], StyledOnce[ScreenResultType]):
    """A dialog's screen. Messages show beside the dialog, and not a second time behind it."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")

    @on(events.Mount)
    def _take_messages(self) -> None:
        """Take the messages from the screen behind, which shows them again once it is in front."""
        for screen in self.app.screen_stack[:-1]:
            for rack in screen.query(ToastRack):
                rack.display = False

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    @staticmethod
    def framed(title: str, keys: str = "") -> Vertical:
        box = Vertical()
        box.border_title, box.border_subtitle = sanitized(title), sanitized(keys)
        return box

    def render(self) -> Any:  # Textual draws a Visual too, but does not say so of a screen
        behind = super().render()
        return DimmedScreen(behind.screen, behind.color) if isinstance(behind, BackgroundScreen) else behind


TOO_SOON: Final = "Enter came too soon after another key and pressed nothing: look, then press it again."
ARMS_S: Final = 0.5  # seconds that a request is on the screen before it can be confirmed
Result = TypeVar("Result")


class DeliberateButton(Button):
    """A button that Enter presses only if the focus was already painted on it, and not together with another key.

    `refuses_held` is whether a held Enter presses nothing either, as for every button that sends.
    """

    refuses_held = False

    class PressedTooSoon(Message):
        """Enter came too soon and was dropped."""

    _painted_at: float | None = None

    def on_focus(self) -> None:
        self._painted_at = None
        self.call_after_refresh(self._note_painted)

    def on_blur(self) -> None:
        self._painted_at = None

    def _note_painted(self) -> None:
        if self.has_focus:
            # A message has a time of the same clock as keys.
            self._painted_at = Message().time

    def action_press(self) -> None:
        """Press it if the person could have seen which button Enter presses."""
        keys = trading_app(self).key_order
        key = keys.current
        was_painted = self._painted_at is not None and key is not None and key.time > self._painted_at
        if was_painted and not keys.in_burst and not (self.refuses_held and keys.is_held):
            super().action_press()
        else:
            self.post_message(self.PressedTooSoon())


def with_unlock_binding(reasons: Iterable[str], changed_keys: Mapping[str, str]) -> tuple[str, ...]:
    """Reasons why nothing is sent, with the key that unlocks; `changed_keys` are those of the profile."""
    unlocks = f"Trading is locked; {key_named(Action.LOCK, changed_keys)} unlocks it."
    return tuple(unlocks if reason is SendsNothing.LOCKED else reason for reason in reasons)


class DeliberateDialog(DimmingScreen[Result], Generic[Result]):
    """Cancel is on the left and has the focus, so that Enter presses it; Tab then Enter presses the other button.

    Only the line below them shows why the other button is off. Esc cancels.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "cancel", "Cancel")]
    AUTO_FOCUS = "#cancel"
    cancel_button = getters.query_one("#cancel", Button)
    confirm_button = getters.query_one("#confirm", Button)
    reason_line = getters.query_one("#reason", Static)

    def buttons(
        self, action: str, *, cancel: str = "Cancel", ready: bool = True, harmless: bool = False
    ) -> ComposeResult:
        """Both buttons and the line below them.

        `ready` enables the other button; `harmless` means that it sends and loses nothing.
        """
        with Horizontal(classes="buttons"):
            yield DeliberateButton(cancel, id="cancel")
            variant: ButtonVariant = "primary" if harmless else "error"
            confirm = DeliberateButton(action, id="confirm", variant=variant, disabled=not ready)
            confirm.refuses_held = not harmless
            yield confirm
        yield Static("", id="reason", classes="reason", markup=False)

    def give_reason(self, reason: str | Content) -> None:
        content = reason if isinstance(reason, Content) else sanitized(reason)
        if self.reason_line.content != content:
            self.reason_line.update(content)

    def say_next_step(self, effect: str, note: str = "") -> None:
        """Show the note, and what Enter does at the focus; `effect` is the other button's: "sends it"."""
        focused, step = self.focused, ""
        if focused is self.confirm_button:
            step = f"Enter {effect}; Esc cancels."
        elif focused is self.cancel_button:
            step = f"Enter presses {self.cancel_button.label}; Tab, then Enter, {effect}."
        elif isinstance(focused, Input):
            step = f"Enter goes on to the button that {effect}."
        self.give_reason(Content.assemble(f"{note} " if note else "", (scrub(step), "$quiet")))

    def box_for_text(self, key: str) -> Input | None:
        """The box that takes text while a button has the focus; None if there is none."""
        return None

    def on_key(self, event: events.Key) -> None:
        if event.character is not None and event.is_printable and not isinstance(self.focused, Input):
            self._type(event, event.character, event.key)

    def on_paste(self, event: events.Paste) -> None:
        if not isinstance(self.focused, Input):
            self._type(event, one_line(event.text), "")

    def _type(self, event: events.Event, text: str, key: str) -> None:
        if (box := self.box_for_text(key)) is not None:
            event.stop()
            self.set_focus(box)
            box.insert_text_at_cursor(text)

    def action_cancel(self) -> None:
        self.dismiss(None)

    @abstractmethod
    def confirm(self) -> None: ...
    def pressed_too_soon(self) -> None:
        self.give_reason(TOO_SOON)

    @on(DeliberateButton.PressedTooSoon)
    def _pressed_too_soon(self) -> None:
        self.pressed_too_soon()

    @on(Button.Pressed, "#cancel")
    def _cancel_pressed(self) -> None:
        self.action_cancel()

    @on(Button.Pressed, "#confirm")
    def _confirm_pressed(self) -> None:
        self.confirm()


class LockingDialog(DeliberateDialog[Result], Generic[Result]):
    """A dialog that sends: trading can be locked and unlocked over it, and its buttons follow."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("L", "lock", "Lock or unlock", id="lock")]

    def action_lock(self) -> None:
        """Lock at once; unlocking asks first and then returns to the dialog."""
        trading_app(self).lock_or_unlock()

    def desk_changed(self) -> None:
        self.say_what_may_be_done()

    def on_screen_resume(self) -> None:
        """A screen that was in front may have unlocked trading."""
        self.call_later(self.desk_changed)

    @abstractmethod
    def say_what_may_be_done(self) -> None: ...


class LinesDialog(DimmingScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,enter", "dismiss", "Close")]

    def __init__(self, title: str, lines: Iterable[Content], keys: str = "Esc back", *, is_tall: bool = False) -> None:
        super().__init__(classes="dialog -tall" if is_tall else "dialog")
        self._heading = title
        self._keys = keys
        self._content = Content("\n").join(lines)

    def compose(self) -> ComposeResult:
        with self.framed(self._heading, self._keys), VerticalScroll():
            yield Static(self._content, markup=False)


class ListDialog(DimmingScreen[ScreenResultType]):
    """A dialog around one list: j and k move in it as the arrows do."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q", "dismiss", "Close"), ("j", "down", "Down"), ("k", "up", "Up")]
    option_list = getters.query_one(OptionList)

    def action_down(self) -> None:
        self.option_list.action_cursor_down()

    def action_up(self) -> None:
        self.option_list.action_cursor_up()


class ChoiceDialog(ListDialog[int | None]):
    """Returns the index of the choice, or None."""

    def __init__(self, title: str, options: Sequence[str], chosen: int = 0) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._options = options
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        with self.framed(self._heading, "↑ ↓ choose · Enter opens · Esc back"):
            yield OptionList(*(sanitized(option) for option in self._options), markup=False)

    def on_mount(self) -> None:
        self.option_list.highlighted = self._chosen

    @on(OptionList.OptionSelected)
    def _picked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)


class TextDialog(DimmingScreen[bool]):
    """Returns whether `work` succeeded. It returns a sentence to show; an error is shown, and the dialog asks again."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(False)", "Cancel")]
    AUTO_FOCUS = "Input"

    def __init__(self, title: str, question: str, text: str, work: Callable[[str], Awaitable[str]]) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._question = question
        self._text = text
        self._work = work

    def compose(self) -> ComposeResult:
        with self.framed(self._heading, "Enter does it · Esc back"):
            yield Static(sanitized(self._question), markup=False)
            yield LineBox(self._text)
            yield Static("", classes="reason", markup=False)

    @on(Input.Submitted)
    async def _submitted(self, event: Input.Submitted) -> None:
        try:
            sentence = await self._work(event.value.strip())
        except Exception as problem:
            self.query_one(".reason", Static).update(sanitized(problem))
            return
        notify(self.app, sentence, seconds=12)
        self.dismiss(True)


class ConfirmDialog(DeliberateDialog[bool | None]):
    """Returns True if the named action was chosen; Enter presses Cancel unless the focus was moved."""

    def __init__(self, title: str, question: str, action: str) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._question = question
        self._action = action

    def compose(self) -> ComposeResult:
        with self.framed(self._heading):
            yield Static(sanitized(self._question), markup=False)
            yield from self.buttons(self._action)

    def on_descendant_focus(self) -> None:
        self.say_next_step(f"presses {self._action}")

    def confirm(self) -> None:
        self.dismiss(True)
