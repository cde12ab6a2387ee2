"""Which column orders a table: a small list in which every column has a letter."""

from __future__ import annotations

import string
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple, Never

from textual import events, on
from textual.app import ComposeResult
from textual.widgets import OptionList, Static

from tradetui.desk.tables.cells.column import Column
from tradetui.desk.tables.rows.row_source import Sort
from tradetui.ui.dialogs.question_dialogs import ListDialog
from tradetui.ui.key_bindings.binding_registry import shown_keys
from tradetui.ui.key_bindings.textual_bindings import long_name
from tradetui.ui.safe_text import sanitized

UNSORTED_KEY: Final = "0"
_MOVES_OR_CLOSES: Final = frozenset("jkq")


class SortChoice(NamedTuple):
    """The id of the column to sort by; None for the order in which rows come."""

    column: str | None


def column_letters(titles: Sequence[str], taken: Collection[str]) -> list[str]:
    """A key for each title: a letter of the title where one is free, else any free letter; empty where none is left."""
    free = dict.fromkeys(
        letter
        for letter in string.ascii_lowercase + string.ascii_uppercase
        if letter not in taken and letter not in _MOVES_OR_CLOSES
    )
    letters = []
    for title in titles:
        wanted = [letter for letter in title.lower() if letter in free]
        letter = next(iter(wanted or free), "")
        free.pop(letter, None)
        letters.append(letter)
    return letters


class SortDialog(ListDialog[SortChoice | None]):
    """Returns the choice, None where nothing was chosen. The key that opened it chooses the column under the cursor."""

    def __init__(
        self, subject: str, columns: Sequence[Column[Never]], under_cursor: str, sort: Sort | None, sort_keys: str
    ) -> None:
        """`under_cursor` is a column's id; `sort_keys` are the keys, with commas, that open this list."""
        super().__init__(classes="dialog -small")
        self._subject = subject
        names = [key.strip() for key in sort_keys.split(",")]
        self._own_keys = frozenset(map(long_name, names))
        titles = {column.id: column.title for column in columns}
        letters = column_letters(list(titles.values()), {*names, UNSORTED_KEY})
        arrow = "" if sort is None else "▼" if sort.reverse else "▲"
        self._choices = (under_cursor, *titles, None)
        self._keys = {letter: column for letter, column in zip(letters, titles, strict=True) if letter}
        self._lines = [
            f"{shown_keys(names[0])}  this column, {titles[under_cursor]}",
            *(
                f"{letter or ' '}  {title} {arrow if sort is not None and sort.column == column else ''}"
                for letter, (column, title) in zip(letters, titles.items(), strict=True)
            ),
            f"{UNSORTED_KEY}  unsorted",
        ]

    def compose(self) -> ComposeResult:
        with self.framed(f"Sort {self._subject.lower()} by"):
            yield OptionList(*(sanitized(line) for line in self._lines), markup=False)
            yield Static(sanitized("The same column again turns the order round."), classes="keys", markup=False)

    def on_mount(self) -> None:
        self.option_list.highlighted = 0

    def on_key(self, event: events.Key) -> None:
        """Choose the column whose letter was pressed."""
        if event.key in self._own_keys:
            self.dismiss(SortChoice(self._choices[0]))
        elif event.character == UNSORTED_KEY:
            self.dismiss(SortChoice(None))
        elif event.character in self._keys:
            self.dismiss(SortChoice(self._keys[event.character]))
        else:
            return
        event.stop()

    @on(OptionList.OptionSelected)
    def _picked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(SortChoice(self._choices[event.option_index]))
