"""What a screen wants opened that it does not know: the application takes these messages and opens it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tradetui.desk.reversal.preview import Target
    from tradetui.desk.tables.columns import Column
    from tradetui.desk.tables.row_source import RowSource


class OpenScreenList(Message):
    """The list of every panel and lookup."""


class OpenJournal(Message):
    """The journal of what was sent."""


class OpenCreation(Message):
    """The form of what can be created by this name; the list of all where there is none."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self.name = name


class OpenDetail(Message):
    """Every field of a row; `title` says what it is, `feed_name` which feed it comes from, empty where from none."""

    def __init__(self, title: str, key: str, record: object, zone: tzinfo, feed_name: str) -> None:
        super().__init__()
        self.title = title
        self.key = key
        self.record = record
        self.zone = zone
        self.feed_name = feed_name


class OpenHistory(Message):
    """Every row of a panel that was ever seen; `panel` is `fills` or `triggers`."""

    def __init__(self, panel: str) -> None:
        super().__init__()
        self.panel = panel


class OpenLookup(Message):
    """The lookup of one kind of record; with texts its form opens, filled in with them."""

    def __init__(self, table: str, texts: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.table = table
        self.texts = texts


class OpenReversal(Message):
    """The reversal of a target."""

    def __init__(self, target: Target) -> None:
        super().__init__()
        self.target = target


class OpenExport(Message):
    """Writing rows into a file, whose proposed name begins with `file_stem`; `title` says what they are."""

    def __init__(self, rows: RowSource[object], columns: Sequence[Column[object]], file_stem: str, title: str) -> None:
        super().__init__()
        self.rows = rows
        self.columns = columns
        self.file_stem = file_stem
        self.title = title
