"""Bases of screens and widgets that style, colour and paint once what Textual does twice, so that keys show sooner.

Also the abilities of a terminal by its environment: how many colours, and which characters.

Also replaces every character outside ASCII by one that every terminal has, cell for cell, if the locale is not UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, on
from textual.color import Color
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region, Size
from textual.screen import Screen, ScreenResultType
from textual.scroll_view import ScrollView
from textual.widget import Widget


class StyledOnce(Screen[ScreenResultType]):
    """A screen whose widgets are styled as they are mounted, with the classes of the terminal's size.

    Textual styles them again as the screen comes to the front.
    """

    def take_size_classes(self, terminal: Size) -> None:
        """Take the classes of the breakpoints before anything is styled."""
        widths, heights = self.HORIZONTAL_BREAKPOINTS or [], self.VERTICAL_BREAKPOINTS or []
        self.add_class(*self._get_breakpoint_classes(terminal.width, widths), update=False)
        self.add_class(*self._get_breakpoint_classes(terminal.height, heights), update=False)

    @on(events.ScreenResume)
    def _keep_first_styles(self, event: events.ScreenResume) -> None:
        event.refresh_styles = event.refresh_styles and self.stack_updates > 0

    def _reset_focus(self, widget: Widget, avoiding: list[Widget] | None = None) -> None:
        # A closing screen has nothing left to focus, and needs no new style.
        if avoiding is None or self not in avoiding:
            super()._reset_focus(widget, avoiding)


class TrueColours(Widget):
    """A widget that draws in the theme's true colours, none of them dimmed.

    Textual would keep a second strip of each of its lines, with colours that were translated to themselves.
    """

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [used for used in super().get_line_filters() if not isinstance(used, ANSIToTruecolor)]


class LinewiseScrollView(ScrollView):
    """A view that repaints only lines that look different, if scrolled or resized by these methods."""

    def show_from(self, y: int) -> None:
        # `scroll_to` would repaint every line, but most of them look as they did.
        self.set_reactive(LinewiseScrollView.scroll_y, float(y))
        self.set_reactive(LinewiseScrollView.scroll_target_y, float(y))
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = y

    def resize_contents(self, size: Size) -> None:
        """Update the scroll bars; the whole screen is laid out only if one of them appears or goes."""
        if size == self.virtual_size:
            return
        tall = size.height > self.size.height
        if self.size and tall == self.show_vertical_scrollbar:
            self.set_reactive(LinewiseScrollView.virtual_size, size)
            if tall:
                self.vertical_scrollbar.window_virtual_size = size.height
        else:
            self.virtual_size = size

    def repaint_line(self, line: int) -> None:
        self.refresh(Region(0, line, self.size.width, 1))


_UTF8: Final = re.compile(r"\.utf-?8\b", re.IGNORECASE)
_MANY_COLOURS: Final = re.compile(r"-(256color|direct|kitty)$|^kitty$")


class TerminalAbilities(NamedTuple):
    """Without `has_256_colours` a terminal has the sixteen of its own palette."""

    has_256_colours: bool = True
    has_utf8: bool = True


def terminal_abilities(environ: Mapping[str, str]) -> TerminalAbilities:
    """The abilities of the terminal that the variables TERM, COLORTERM, LC_ALL, LC_CTYPE and LANG describe."""
    return TerminalAbilities(_has_256_colours(environ), _has_utf8(environ))


def blocking_reason(environ: Mapping[str, str]) -> str | None:
    """Why no screen can be drawn on the terminal, with the remedy; None if one can."""
    term = environ.get("TERM", "").strip().lower()
    if term not in {"", "dumb", "unknown"}:
        return None
    return (
        f"TERM is {term or 'not set'}: tradetui needs a terminal whose cursor can be moved. "
        "Set TERM to the terminal's type, for example xterm-256color."
    )


def _has_256_colours(environ: Mapping[str, str]) -> bool:
    # The same variables decide the output: a colour outside the sixteen is converted to one of them.
    if environ.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}:
        return True
    return _MANY_COLOURS.search(environ.get("TERM", "").strip().lower()) is not None


def _has_utf8(environ: Mapping[str, str]) -> bool:
    """Whether the locale is one of UTF-8, the default if none is named."""
    # Python sets LC_CTYPE=C.UTF-8 in the environment if only LANG=C is set (PEP 538).
    if not environ.get("LC_ALL") and environ.get("LC_CTYPE") == "C.UTF-8" and environ.get("LANG") in {"C", "POSIX"}:
        return False
    locale = next((value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := environ.get(name))), None)
    return locale is None or _UTF8.search(locale) is not None


_LIKENESSES: Final = {
    ">": "…→▸",
    "<": "←◂",
    "^": "↑▲",
    "v": "↓▼✓",
    "*": "●•",
    "o": "○",
    "x": "✗×■",
    "-": "·—–−□─━",
    "/": "÷╱",
    "\\": "╲",
    ".": "╌",
    "|": "│┃",
    "+": "╭╮╰╯┌┐└┘├┤┬┴┼┏┓┗┛╔╗╚╝",
    " ": "▔▁▂▃▅▆▇▊▎▌▐▕▏█▀▄",
}
_BY_CODE_POINT: Final = {ord(drawn): likeness for likeness, family in _LIKENESSES.items() for drawn in family}


def ascii_cells(text: str) -> str:
    """Return the text in as many cells of ASCII; a character without a likeness becomes one question mark per cell."""
    if text.isascii():
        return text
    likeness = text.translate(_BY_CODE_POINT)
    if likeness.isascii():
        return likeness
    return "".join(character if character.isascii() else "?" * cell_len(character) for character in likeness)


class AsciiFilter(LineFilter):
    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(ascii_cells(text), style, control) for text, style, control in segments]
