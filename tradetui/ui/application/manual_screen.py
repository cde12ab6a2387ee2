"""The manual on the screen: the list of its pages, and a page with a search within it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Final, NamedTuple

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Markdown, OptionList, Static

from tradetui.manual import PAGE_NAMES, ManualPage, read_page
from tradetui.ui.dialogs.deliberate_dialog import DimmingScreen, ListDialog
from tradetui.ui.key_bindings.key_queue import LineBox
from tradetui.ui.safe_text import sanitized

_KEYS: Final = "/ searches · Esc back"
_NAME_WIDTH: Final = max(map(len, PAGE_NAMES)) + 2


class ManualDialog(ListDialog[None]):
    """The list of pages; a page opens above it, so that Esc returns to the list."""

    def __init__(self) -> None:
        super().__init__(classes="dialog -tall")

    def compose(self) -> ComposeResult:
        with self.framed("Manual", "↑ ↓ choose · Enter opens · Esc back"):
            yield OptionList(*(_line(read_page(name)) for name in PAGE_NAMES), markup=False)

    @on(OptionList.OptionSelected)
    def _picked(self, event: OptionList.OptionSelected) -> None:
        self.app.push_screen(PageDialog(read_page(PAGE_NAMES[event.option_index])))


def _line(page: ManualPage) -> Content:
    return Content.assemble((f"{page.name:<{_NAME_WIDTH}}", "bold $primary"), page.summary)


class Hit(NamedTuple):
    """One occurrence of the text in a part of the page, such as a paragraph or a table's cell."""

    part: Static
    start: int
    end: int


class PageDialog(DimmingScreen[None]):
    """A page; `/` searches within it ignoring case, and `n` and `N` go from hit to hit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "back", "End the search, then close"),
        ("q", "dismiss", "Close"),
        ("slash", "search", "Search"),
        ("n", "next_hit(1)", "Next hit"),
        ("N", "next_hit(-1)", "Previous hit"),
        ("down,j", "scroll(1)", "Down"),
        ("up,k", "scroll(-1)", "Up"),
        ("pagedown,space", "page(1)", "Page down"),
        ("pageup", "page(-1)", "Page up"),
        ("home,g", "scroll(-9999)", "First line"),
        ("end,G", "scroll(9999)", "Last line"),
    ]
    AUTO_FOCUS = ""
    _box = getters.query_one(Input)
    _markdown = getters.query_one(Markdown)
    _scroll = getters.query_one(VerticalScroll)

    def __init__(self, page: ManualPage) -> None:
        super().__init__(classes="dialog -tall -page")
        self._page = page
        self._hits: list[Hit] = []
        self._current = 0
        self._unmarked: Mapping[Static, Content] = {}

    def compose(self) -> ComposeResult:
        with self.framed(f"Manual · {self._page.name}", _KEYS) as self._frame:
            with VerticalScroll(can_focus=False):
                yield Markdown(self._page.text, open_links=False)
            yield LineBox(placeholder="search in this page")

    def action_page(self, pages: int) -> None:
        self.action_scroll(pages * self._scroll.size.height)

    @on(Markdown.LinkClicked)
    def _open_page(self, event: Markdown.LinkClicked) -> None:
        self.app.push_screen(PageDialog(read_page(event.href.removesuffix(".md"))))

    def action_back(self) -> None:
        if self._box.display or self._unmarked:
            self._end_search()
        else:
            self.dismiss()

    def action_search(self) -> None:
        self._end_search()
        self._box.display = True
        self._box.focus()

    def _end_search(self) -> None:
        self._box.value, self._box.display = "", False
        self.set_focus(None)
        for part, content in self._unmarked.items():
            part.update(content, layout=False)
        self._hits, self._unmarked = [], {}
        self._frame.border_subtitle = _KEYS

    @on(Input.Submitted)
    def _search(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        self._end_search()
        if not text:
            return
        pattern = re.compile(re.escape(text), re.IGNORECASE)
        parts = {part: part.content for part in self._markdown.query(Static) if isinstance(part.content, Content)}
        self._hits = [
            Hit(part, *match.span()) for part, content in parts.items() for match in pattern.finditer(content.plain)
        ]
        self._unmarked = {hit.part: parts[hit.part] for hit in self._hits}
        if self._hits:
            self._current = 0
            self.action_next_hit(0)
        else:
            self._frame.border_subtitle = sanitized(f'"{text}" is not in this page · {_KEYS}')

    def action_next_hit(self, step: int) -> None:
        if not self._hits:
            return
        self._current = (self._current + step) % len(self._hits)
        marked = dict(self._unmarked)
        for index, (part, start, end) in enumerate(self._hits):
            style = "reverse" if index == self._current else "underline $primary"
            marked[part] = marked[part].stylize(style, start, end)
        for part, content in marked.items():
            part.update(content, layout=False)
        self._scroll.scroll_to_widget(self._hits[self._current].part, animate=False, center=True)
        position = f"hit {self._current + 1} of {len(self._hits)}"
        self._frame.border_subtitle = sanitized(f"{position} · n next · N previous · Esc ends the search")
