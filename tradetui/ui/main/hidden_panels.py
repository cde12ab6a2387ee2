"""The panels without room on the screen, in one line or a few: the key, the number of rows and a headline of each.

A trader with a small terminal still sees where money is at risk, so free margin and alerts are shortened last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tradetui.desk.tables.table import PANELS, TableName
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.main.panel import has_trouble
from tradetui.ui.table.cells import cells_of, fitted, whole_parts
from tradetui.wire.text import scrub

if TYPE_CHECKING:
    from tradetui.desk.desk import Desk
    from tradetui.desk.feeds.polling.feed import Snapshot
    from tradetui.desk.tables.cells.cell_format import CellFormat
    from tradetui.desk.tables.rows.row_source import FeedRow

_GAP: Final = 2
_HEADLINES_FIRST: Final[Mapping[str, int]] = {"alerts": 0, TableName.ACCOUNTS: 1, TableName.TRIGGERS: 2}
_KEPT_WHOLE: Final = ("alerts", TableName.ACCOUNTS)
_LOWEST_TERMINAL: Final = 8  # the fewest lines of a terminal that shows these lines
_SHORTEST_HEADLINE: Final = 8  # cells below which a headline is useless


class HiddenPanels(Widget):
    """Shows the lines; a click goes to a panel. `key_named` gives the key of a binding."""

    @dataclass(eq=False)
    class Chosen(Message):
        name: str

    def __init__(self, key_named: Callable[[Action], str]) -> None:
        super().__init__(id="hidden-panels")
        self._key_named = key_named
        self._panels: tuple[PanelSummary, ...] = ()
        self._headlines: dict[str, tuple[object, str]] = {}

    def show(self, names: Sequence[str], desk: Desk | None, cell_format: CellFormat, spare: int) -> None:
        """Show these panels, then the unread alerts, in at most `spare` lines, none on a low terminal.

        They are repainted only if their text changes. Without a desk the earlier headlines are forgotten.
        """
        if desk is None:
            self._headlines.clear()
        panels = [self._summary_of(name, desk, cell_format) for name in names]
        unseen = desk.alerts.unseen if desk is not None else 0
        if panels and unseen:
            panels.append(PanelSummary("alerts", self._key_named(Action.ALERTS), "Alerts", headline=f"{unseen} new"))
        if tuple(panels) != self._panels:
            self._panels = tuple(panels)
            self.refresh()
        terminal = self.app.size
        self.display = bool(panels) and terminal.height >= _LOWEST_TERMINAL
        lines = max(1, len(in_lines(panels, max(1, terminal.width - 2), spare)))
        if self.styles.height is None or self.styles.height.value != lines:
            self.styles.height = lines

    def _summary_of(self, name: str, desk: Desk | None, cell_format: CellFormat) -> PanelSummary:
        """A panel with the number of its rows and its headline, or neither before it was read."""
        label, key = PANELS[name].label, self._key_named(Action(name))
        if desk is None:
            return PanelSummary(name, key, label)
        feed = desk.feeds[name]
        if feed.snapshot.read_at is None:
            return PanelSummary(name, key, label, has_trouble=has_trouble(feed))
        rows = desk.panel_rows(name, other_view=False)
        headline = self._headline_of(name, rows, cell_format)
        return PanelSummary(name, key, label, f"{rows.count:,}", headline, has_trouble(feed))

    def _headline_of(self, name: str, rows: Snapshot[FeedRow], cell_format: CellFormat) -> str:
        """A panel's headline, which is written once for unchanged rows."""
        written_of = (rows.generation, cell_format)
        if name not in self._headlines or self._headlines[name][0] != written_of:
            write = PANELS[name].view.headline
            self._headlines[name] = (written_of, "" if write is None else scrub(write(rows.rows, cell_format)))
        return self._headlines[name][1]

    def render(self) -> Content:
        lines: list[Content] = []
        for line in self._lines():
            parts: list[tuple[str, str]] = []
            for panel, text in line:
                key_end, label_end = len(panel.key), len(panel.label)
                parts += [
                    (text[:key_end], "bold $primary"),
                    (text[key_end:label_end], "$warn" if panel.has_trouble else "$foreground"),
                    (text[label_end:], "$quiet"),
                    (" " * _GAP, ""),
                ]
            lines.append(Content.assemble(*parts))
        return Content("\n").join(lines)

    def on_click(self, event: events.Click) -> None:
        lines = self._lines()
        line = lines[event.y] if event.y < len(lines) else []
        end = self.styles.padding.left
        for panel, text in line:
            end += cells_of(text) + _GAP
            if event.x < end:
                self.post_message(self.Chosen(panel.name))
                return

    def _lines(self) -> list[list[SummaryText]]:
        return in_lines(self._panels, self.content_size.width, self.content_size.height)


class PanelSummary(NamedTuple):
    """The summary of one panel: `key` opens it, `has_trouble` marks one whose rows are old or failed."""

    name: str
    key: str
    title: str
    row_count: str = ""
    headline: str = ""
    has_trouble: bool = False

    @property
    def label(self) -> str:
        # A headline that begins with a figure counts by itself: "9 waiting".
        count = "" if self._counts_itself else self.row_count
        return " ".join(filter(None, (self.key, self.title, count))) + ("!" if self.has_trouble else "")

    @property
    def _counts_itself(self) -> bool:
        return self.headline[:1].isdigit()

    def text(self, headline_cells: int | None = None) -> str:
        """Return label and headline; the headline is cut to `headline_cells`, or left out if too little remains."""
        headline = self.headline
        if headline_cells is not None and headline_cells < cells_of(headline):
            shortened = fitted(whole_parts(headline, headline_cells), headline_cells, right=False).rstrip()
            headline = shortened if headline_cells >= _SHORTEST_HEADLINE else ""
        return f"{self.label}{self.separator}{headline}" if headline else self.label

    @property
    def separator(self) -> str:
        return " " if self._counts_itself else " · "


class SummaryText(NamedTuple):
    """The text for one panel in a line: its label, and as much of its headline as fits."""

    panel: PanelSummary
    text: str


def in_lines(panels: Sequence[PanelSummary], width: int, lines: int) -> list[list[SummaryText]]:
    """Return the panels' texts in at most `lines` lines: whole ones if they fit, else all in one, shortened.

    Numbers of rows are left out, the last first, before a headline is cut.
    """
    whole = _wrapped((SummaryText(panel, panel.text()) for panel in panels), width)
    if len(whole) <= lines:
        return whole
    shortened = _with_fewer_counts(panels, width)
    spare = width - _cells_in_a_row(panel.label for panel in shortened)
    texts: dict[str, str] = {}
    for panel in sorted(shortened, key=lambda panel: _HEADLINES_FIRST.get(panel.name, len(shortened))):
        texts[panel.name] = panel.text(max(0, spare - len(panel.separator)))
        spare -= cells_of(texts[panel.name]) - cells_of(panel.label)
    return [[SummaryText(panel, texts[panel.name]) for panel in shortened]]


def _with_fewer_counts(panels: Sequence[PanelSummary], width: int) -> list[PanelSummary]:
    """The panels, without the numbers of rows for which labels and the headlines kept whole leave no room."""
    shortened = list(panels)
    for index in reversed(range(len(shortened))):
        if _cells_in_a_row(panel.text(None if panel.name in _KEPT_WHOLE else 0) for panel in shortened) > width:
            shortened[index] = shortened[index]._replace(row_count="")
    return shortened


def _cells_in_a_row(texts: Iterable[str]) -> int:
    return sum(cells_of(text) + _GAP for text in texts) - _GAP


def _wrapped(texts: Iterable[SummaryText], width: int) -> list[list[SummaryText]]:
    wrapped: list[list[SummaryText]] = []
    used = width
    for summary in texts:
        used += _GAP + cells_of(summary.text)
        if used > width:
            wrapped.append([])
            used = cells_of(summary.text)
        wrapped[-1].append(summary)
    return wrapped
