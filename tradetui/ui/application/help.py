"""Help: every key and what it does, and every figure of the header; typing narrows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from tradetui.ui.application.header_legend import HEADER_FIGURES
from tradetui.ui.dialogs.dimming_screen import DimmingScreen
from tradetui.ui.keys.registry import BINDINGS, shown_keys

HEADER_GROUP = "Header"
NOTES = (
    ("copying", "Copying uses OSC 52; inside tmux it needs `set -g set-clipboard on`."),
    ("filters", "Filters are regular expressions without case; a leading ! shows what does not match."),
    ("own keys", "Every key can be changed in the profile's [keys] table by the id that `tradetui keys` prints."),
    ("selection", "Mouse off in the palette, or mouse = false in the profile, lets the terminal select text."),
)


@dataclass(frozen=True, slots=True)
class HelpLine:
    """One line: `off` says why a key does nothing now, empty where it does something."""

    group: str
    keys: str
    name: str
    about: str
    off: str = ""

    def matches(self, text: str) -> bool:
        """Whether every word of a text is in the line, whatever its case; a `/` before a word only begins a search."""
        line = f"{self.group} {self.keys} {self.name} {self.about} {self.off}".casefold()
        words_typed = text.casefold().split()
        return all((word.removeprefix("/") or word) in line for word in words_typed)


class HelpDialog(DimmingScreen[None]):
    """The key table, generated from the bindings, and the figures of the header."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "back", "Clear, then close"),
        ("f1", "dismiss", "Close"),
        ("down", "scroll(1)", "Down"),
        ("up", "scroll(-1)", "Up"),
        ("pagedown", "page(1)", "Page down"),
        ("pageup", "page(-1)", "Page up"),
    ]
    AUTO_FOCUS = "Input"
    _box = getters.query_one(Input)
    _text = getters.query_one("#help", Static)
    _scroll = getters.query_one(VerticalScroll)

    def __init__(
        self,
        changed: Mapping[str, str],
        blocking_reason: Callable[[str], str | None] = lambda _: None,
        hides: Callable[[str], bool] = lambda _: False,
    ) -> None:
        super().__init__(classes="dialog -tall")
        self._lines = [
            HelpLine(
                binding.group,
                shown_keys(changed.get(binding.id, binding.keys)),
                binding.description,
                binding.tooltip,
                blocking_reason(binding.id) or "",
            )
            for binding in BINDINGS
            if not hides(binding.id)
        ]
        self._lines += [HelpLine(HEADER_GROUP, "", label, about) for label, about in HEADER_FIGURES]
        self._lines += [HelpLine("Notes", "", label, about) for label, about in NOTES]

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Help"
            box.border_subtitle = "Esc clears, then closes"
            search = Input(placeholder="type to search: a key, a name, a figure of the header")
            search.cursor_blink = False
            yield search
            with VerticalScroll(can_focus=False):
                yield Static(self._table(""), id="help", markup=False)

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        self._text.update(self._table(event.value))
        self._scroll.scroll_home(animate=False)

    def action_back(self) -> None:
        """Clear what was typed, or close."""
        if self._box.value:
            self._box.value = ""
        else:
            self.dismiss()

    def action_scroll(self, lines: int) -> None:
        """Move by lines."""
        self._scroll.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Move by pages."""
        self._scroll.scroll_relative(y=pages * self._scroll.size.height, animate=False)

    def _table(self, text: str) -> Content:
        shown = [line for line in self._lines if line.matches(text)]
        if not shown:
            return Content.styled("No key and no figure matches. Esc clears the search.", "$quiet")
        contents: list[Content] = []
        for group, lines in groupby(shown, key=lambda line: line.group):
            contents.append(Content.styled(group, "bold $primary"))
            contents += map(_content, lines)
            contents.append(Content(""))
        return Content("\n").join(contents[:-1])


def _content(line: HelpLine) -> Content:
    about = (f"now off: {line.off}", "$warn") if line.off else (line.about, "$quiet")
    if not line.keys:
        return Content.assemble((f"  {line.name:<22} ", ""), about)
    return Content.assemble((f"  {line.keys:<11} ", "bold $accent"), (f"{line.name:<16}", ""), about)
