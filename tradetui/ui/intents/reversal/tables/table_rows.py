"""Rows of the reversal dialog's tables: cells in columns that align, a note behind them, and marks of what changed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from textual.content import Content

from tradetui.desk.reversal.preview import Change, ChangedFact
from tradetui.wire.text.sanitize import scrub

CHANGED: Final = "bold $error"
DIFFERENT: Final = "DIFFERENT"
"""Marks a row whose outcome is not as previewed."""
_GAP: Final = 3
_WIDE, _AIRY, _ROOMY = 98, 30, 44
_LABEL: Final = 18


@dataclass(frozen=True, slots=True)
class Room:
    """The cells and lines there are for the preview and what is pinned below it."""

    width: int
    height: int

    @property
    def is_wide(self) -> bool:
        """Whether notes fit behind the rows."""
        return self.width >= _WIDE

    @property
    def is_airy(self) -> bool:
        """Whether the tables are set apart by blank lines."""
        return self.height >= _AIRY

    @property
    def most_orders(self) -> int:
        """How many orders and stops are listed one by one before those that stay as they are become one row."""
        return 20 if self.height >= _ROOMY else 5


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: its name, its cells, a note behind them, its style, and a mark of what has changed in it."""

    name: str
    cells: Sequence[str]
    note: str = ""
    style: str = ""
    note_style: str = "$quiet"
    changed: str | None = None
    keeps_note: bool = False
    """Whether the note is shown, on a line of its own, also where it does not fit."""


def table(rows: Sequence[TableRow], widths: Sequence[int], room: Room) -> Iterator[Content]:
    """The rows in columns at least so wide: the name from the left, every cell to the right."""
    name_width = max(widths[0], *(len(row.name) for row in rows))
    columns = [
        max(width, *(len(row.cells[index]) + 1 for row in rows if index < len(row.cells)))
        for index, width in enumerate(widths[1:])
    ]
    for row in rows:
        cells = "".join(f"{cell:>{width}}" for cell, width in zip(row.cells, columns, strict=False))
        name_style = row.style or "$quiet"
        parts = [(f"{scrub(row.name):<{name_width}}", name_style), (scrub(cells), row.style)]
        length = name_width + len(cells)
        note = scrub(row.note)
        changed = "" if row.changed is None else f" ◂ {scrub(row.changed)}"
        behind: list[tuple[str, str]] = []
        below: list[tuple[str, str]] = []
        if changed:
            (behind if length + len(changed) <= room.width else below).append((changed, CHANGED))
        if note and (room.is_wide or row.keeps_note):
            fits = length + _GAP + len(note) + len(changed) <= room.width
            (behind if fits else below).insert(0, (f"{' ' * _GAP}{note}", row.note_style))
        yield Content.assemble(*parts, *behind)
        if below:
            yield Content.assemble(*below)


def line(label: str, text: str, style: str = "", *, width: int | None = None) -> Content:
    """A label in a column of its own, then text; in so many cells it goes on under itself, else as the dialog wraps."""
    text = scrub(text)
    if width is not None:
        text = f"\n{' ' * _LABEL}".join(textwrap.wrap(text, max(_LABEL, width - _LABEL)))
    return Content.assemble((f"{label:<{_LABEL - 1}} ", "$quiet"), (text, style))


class Marks:
    """What stood in each row when the trader looked at it last, where it has changed."""

    def __init__(self, changed: Iterable[Change] = ()) -> None:
        self._before = {(change.fact, change.row): change.before for change in changed}

    def before(self, fact: ChangedFact, row: str = "") -> str | None:
        """What stood there before, None where it has not changed."""
        return self._before.get((fact, row))

    def was(self, fact: ChangedFact, row: str = "") -> str | None:
        """`size was 0.2934`, None where it has not changed."""
        before = self.before(fact, row)
        return None if before is None else f"{row or fact} was {before}"

    def were(self, *facts: ChangedFact) -> str | None:
        """`leverage was 10x, leverage SHORT was 5x`: these facts of every row, None where none has changed."""
        changed = ((fact, row, before) for (fact, row), before in self._before.items() if fact in facts)
        return ", ".join(f"{fact} {row}".rstrip() + f" was {before}" for fact, row, before in changed) or None
