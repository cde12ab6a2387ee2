"""The panel of a period's figures: a cursor goes over them, and each can be opened."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tradetui.ui.money.result_lines import FigureLine
from tradetui.ui.settings.themes import CURSOR_STYLE, REVERSED_CURSOR_STYLE, TONE_STYLES
from tradetui.wire.text.sanitize import scrub

_NAME, _FIGURE, _SHARE, _ASIDE, _MARK, _MARGIN = 13, 10, 9, 10, 1, 1
INNER_WIDTH = _MARGIN + _NAME + _FIGURE + _MARK + _SHARE + _ASIDE + _MARGIN


class ResultPanel(Widget, can_focus=True):
    """Lines of figures; where there is less room it shows those around the cursor, and no shares."""

    class Opened(Message):
        """Enter, or a second click, on a figure."""

        def __init__(self, row: FigureLine) -> None:
            super().__init__()
            self.row = row

    def __init__(self) -> None:
        super().__init__(id="result-lines")
        self._rows: tuple[FigureLine, ...] = ()
        self._cursor = 0

    def show(self, rows: Sequence[FigureLine]) -> None:
        """Show these; nothing is painted where they read the same."""
        if tuple(rows) != self._rows:
            self._rows = tuple(rows)
            self._cursor = max(0, min(self._cursor, len(self._rows) - 1))
            self.refresh()

    @property
    def cursor_row(self) -> FigureLine | None:
        return self._rows[self._cursor] if self._rows else None

    @property
    def _top(self) -> int:
        return max(0, min(self._cursor - self.size.height // 2, len(self._rows) - self.size.height))

    def render(self) -> Content:
        shown = self._rows[self._top : self._top + self.size.height]
        figure_width = max(_FIGURE, *(len(row.figure) for row in self._rows)) if self._rows else _FIGURE
        lines = []
        for number, row in enumerate(shown, self._top):
            has_cursor = number == self._cursor and self.has_focus
            lines.append(self._line(row, figure_width, has_cursor=has_cursor))
        return Content("\n").join(lines)

    def _line(self, row: FigureLine, figure_width: int, *, has_cursor: bool) -> Content:
        mark = "▸" if has_cursor else " "
        room = self.size.width - _MARGIN - _NAME - figure_width - _MARK
        parts = [
            (f"{mark}{scrub(row.name):<{_NAME}}", "$foreground"),
            (f"{row.figure:>{figure_width}}", TONE_STYLES[row.tone]),
            (row.mark or " ", "$warn"),
        ]
        if room >= _SHARE:
            parts.append((f"{row.share:>{_SHARE}}", "$quiet"))
        if room >= _SHARE + _ASIDE:
            parts.append((f"{row.aside:>{_ASIDE}}", "$quiet"))
        line = Content.assemble(*parts)
        line = line.truncate(self.size.width, ellipsis=True, pad=True)
        if not has_cursor:
            return line
        if self.app.native_ansi_color and not self.app.no_color:
            # Reversed whole, each colour of the line would be a block of its own: as in tables one cell is.
            return line.stylize("underline").stylize(REVERSED_CURSOR_STYLE, _MARGIN, _MARGIN + _NAME)
        return line.stylize(REVERSED_CURSOR_STYLE if self.app.no_color else CURSOR_STYLE)

    def _move_to(self, row_index: int) -> None:
        self._cursor = max(0, min(row_index, len(self._rows) - 1))
        self.refresh()

    def action_cursor_up(self) -> None:
        self._move_to(self._cursor - 1)

    def action_cursor_down(self) -> None:
        self._move_to(self._cursor + 1)

    def action_cursor_left(self) -> None:
        """There is one column."""

    def action_cursor_right(self) -> None:
        """There is one column."""

    def action_page_up(self) -> None:
        self._move_to(self._cursor - self.size.height)

    def action_page_down(self) -> None:
        self._move_to(self._cursor + self.size.height)

    def action_first(self) -> None:
        self._move_to(0)

    def action_last(self) -> None:
        self._move_to(len(self._rows) - 1)

    def action_select(self) -> None:
        """Open the rows that the figure is made of."""
        if (row := self.cursor_row) is not None:
            self.post_message(self.Opened(row))

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor there, a second one opens the figure."""
        row_index = self._top + event.y
        again = row_index == self._cursor and event.chain > 1
        self._move_to(row_index)
        if again:
            self.action_select()
