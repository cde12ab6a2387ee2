"""This program's changes to Textual's application: keys come in turn, styles are read once, a crash reveals no secret.

It knows no desk. Every override of Textual's application is here with its reason, except those for the first screen.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from textual import events, on
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen
from textual.worker import WorkerFailed

from tradetui.ui.app_protocols import KeyedScreen, SeesEveryKey
from tradetui.ui.key_bindings.key_queue import KeyOrder, TypedInput
from tradetui.ui.safe_text import notify
from tradetui.ui.settings.themes import THEMES
from tradetui.ui.terminal.bounded_input import BoundedInputDriver, InputDropped
from tradetui.ui.terminal.crash_report import crash_report, silence_textual_log
from tradetui.ui.terminal.drawn_once import AsciiFilter, StyledOnce

if TYPE_CHECKING:
    from textual.actions import ActionParseResult
    from textual.dom import DOMNode
    from textual.filter import LineFilter

STARTED_S: Final = 3.0  # seconds after which the start is over, so that collecting garbage delays nothing
_ASCII: Final = AsciiFilter()


class TextualApp(App[None], inherit_bindings=False):
    def __init__(self, *, has_utf8: bool) -> None:
        """Create the application; without `has_utf8` every character outside ASCII is replaced by an ASCII one."""
        silence_textual_log()
        # By no-color.org the variable counts if it is not empty; Textual also counts an empty one.
        without_colours = bool(os.environ.get("NO_COLOR"))
        if not without_colours:
            os.environ.pop("NO_COLOR", None)
        # Textual's greys are colours too, and black on black with the terminal's own colours, so they are removed
        # as well.
        super().__init__(ansi_color=True if without_colours else None)
        self._has_utf8 = has_utf8
        self.animation_level = "none"
        for theme in THEMES:
            self.register_theme(theme)
        self.key_order = KeyOrder(self, self._dispatch_key)
        self.failure: str | None = None
        """Why the program failed, or why the chosen account could not be opened; None if neither happened."""

    def postpone_garbage(self) -> None:
        """Collect no garbage before the start is over."""
        gc.disable()
        self.set_timer(STARTED_S, _tidy_up)

    # Keys

    def note_typing(self) -> None:
        """Called for every key and paste that comes from the terminal."""

    async def on_event(self, event: events.Event) -> None:
        """Queue keys one after the other; keys that work in dialogs, such as the lock's, skip the queue."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        self.note_typing()
        if not (
            self.key_order.is_busy
            and isinstance(event, events.Key)
            and await self._check_bindings(event.key, priority=True)
        ):
            await self.key_order.add(event)

    @on(InputDropped)
    @on(events.Paste)  # one that no field took
    def _say_what_was_dropped(self) -> None:
        sentence = "What came at once was dropped: no field here takes it."
        notify(self, sentence, severity="warning", seconds=10)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action, by a key, a click or the palette, unless its screen shows why it can do nothing now."""
        if isinstance(default_namespace, KeyedScreen) and isinstance(action, str) and default_namespace.refuses(action):
            return True
        return await super().run_action(action, default_namespace, namespaces)

    async def _dispatch_key(self, event: TypedInput) -> None:
        """Pass the key to the screen, which may drop it, and then to the focused widget."""
        screen = self.screen
        if isinstance(screen, SeesEveryKey) and not screen.before_key(event):
            return
        await super().on_event(event)

    async def on_key(self, event: events.Key) -> None:
        """Run a key's binding if no widget took the key, or have the screen show that it does nothing."""
        event.prevent_default()  # Textual's own method would look for the binding again
        if not await self._check_bindings(event.key) and isinstance(self.screen, KeyedScreen):
            self.screen.say_unbound(event)

    # Colours and styles

    def set_first_theme(self, name: str) -> None:
        """Set a theme before styles are parsed: a later change parses every style again."""
        theme = next(theme for theme in THEMES if theme.name == name)
        if theme.ansi:
            self.theme = name  # the theme of the terminal's own colours changes more than styles
            return
        self.set_reactive(App.theme, name)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colours our styles name, for themes that do not define them."""
        return dict(THEMES[0].variables)

    def _paint_all(self, _: object) -> None:
        """Paint every cell: another program used the terminal meanwhile, or a colour's meaning has changed."""
        for screen in self.screen_stack:
            screen.refresh(layout=True)
            for widget in screen.walk_children():
                widget.refresh()

    @on(events.Mount)
    def _paint_all_when_needed(self) -> None:
        self.app_resume_signal.subscribe(self, self._paint_all)
        self.theme_changed_signal.subscribe(self, self._paint_all)

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = super().get_line_filters()
        return filters if self._has_utf8 else [*filters, _ASCII]

    def get_screen(self, screen: Any, screen_class: Any = None) -> Any:
        """The screen with its styles parsed: Textual parses them only after styling it, and all others again."""
        shown: Screen[Any] = super().get_screen(screen, screen_class)
        if unread := [file for file in shown.css_path if not self.stylesheet.has_source(str(file))]:
            self.stylesheet.read_all(unread)
            self.stylesheet.parse()
        if isinstance(shown, StyledOnce) and not shown.is_attached:
            shown.take_size_classes(self.size)
        return shown

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """The screen as SVG; the spaces that a text begins with are kept by every renderer."""
        drawn = super().export_screenshot(title=title, simplify=simplify)
        return drawn.replace("<text ", '<text xml:space="preserve" ')

    # The terminal

    def get_driver_class(self) -> type[Driver]:
        driver_class = super().get_driver_class()
        return BoundedInputDriver if driver_class is LinuxDriver else driver_class

    def switch_mouse(self, *, on: bool) -> None:
        """Take the mouse, or leave it to the terminal, also after a suspension; no effect without a terminal."""
        driver = self._driver
        if not isinstance(driver, LinuxDriver) or driver._mouse == on:
            return
        if on:
            driver._mouse = True
            driver._enable_mouse_support()
        else:
            driver._disable_mouse_support()
            driver._mouse = False
        driver.flush()

    def _fatal_error(self) -> None:
        # Textual's own prints every local variable of every frame.
        failed = self._exception
        error = failed.error if isinstance(failed, WorkerFailed) else failed
        self.failure = crash_report(error) if error is not None else "internal error"
        self._close_messages_no_wait()


def _tidy_up() -> None:
    """Collect garbage once after the start, and exempt modules and classes from later collections."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(500, 3, 3)  # garbage in cycles is kept a fifth as long, which spares half a MiB and more
    gc.enable()
