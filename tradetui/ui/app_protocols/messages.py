"""What a screen wants opened that it does not know: the application takes these messages and opens it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, Never

from textual.message import Message

if TYPE_CHECKING:
    from tradetui.desk.results.period import Period
    from tradetui.desk.reversal.preview import Target
    from tradetui.desk.tables.cells.column import Column
    from tradetui.desk.tables.rows.date_filter import DateFilter
    from tradetui.desk.tables.rows.row_source import RowSource, Sort
    from tradetui.desk.tables.table import Table
    from tradetui.ui.settings.preferences import TableChoice


class OpenMessage(Message):
    """What `open_posted` in `ui/application/lazy_imports.py` opens."""


class OpenScreenList(OpenMessage):
    """The list of every panel and lookup."""


class OpenAlerts(OpenMessage):
    """The alerts of the profile, and the log of what was alerted."""


class OpenMoney(OpenMessage):
    """What the account brought in."""


@dataclass(eq=False)
class OpenTrips(OpenMessage):
    """The round trips that ended in a period, of these symbols or of all."""

    period: Period
    symbols: tuple[str, ...] | None = None


class OpenJournal(OpenMessage):
    """The journal of what was sent."""


@dataclass(eq=False)
class OpenCreation(OpenMessage):
    """The form of what can be created by this name; the list of all where there is none."""

    name: str | None = None


@dataclass(eq=False)
class OpenDetail(OpenMessage):
    """Every field of a row; `title` says what it is, `feed_name` which feed it comes from, empty where from none."""

    title: str
    key: str
    record: object
    zone: tzinfo
    feed_name: str


@dataclass(eq=False)
class OpenHistory(OpenMessage):
    """Every row of a panel that was ever seen; `panel` is `fills` or `triggers`, `dates` narrows them.

    `beyond_rows` is what else the figure that was opened is made of, such as `funding -14.86 USDT`.
    """

    panel: str
    dates: DateFilter | None = None
    beyond_rows: str = ""


@dataclass(eq=False)
class OpenDates(OpenMessage):
    """The choice of dates and symbols for the rows of a table; `chosen` is called with it, with None for all of them.

    `now_ms` is the moment that spans such as `7d` end at, in Unix milliseconds. `whole_days` refuses times of day.
    """

    title: str
    before: DateFilter | None
    now_ms: int
    zone: tzinfo
    chosen: Callable[[DateFilter | None], None]
    whole_days: bool = False


@dataclass(eq=False)
class OpenSort(OpenMessage):
    """The choice of a column to order the rows by; `chosen` is called with its id, None for the order they come in.

    `subject` names the rows, `under_cursor` a column's id, `keys` the keys, with commas, that open the list.
    """

    subject: str
    columns: Sequence[Column[Never]]
    under_cursor: str
    sort: Sort | None
    keys: str
    chosen: Callable[[str | None], None]


@dataclass(eq=False)
class OpenColumns(OpenMessage):
    """The choice of a table's columns; `chosen` is called with it. `subject` names the rows.

    `default` are the columns that stand as long as nobody chooses any.
    """

    table: Table[object]
    default: Sequence[Column[Never]]
    subject: str
    chosen: Callable[[TableChoice], None]


class OpenProfiles(OpenMessage):
    """The list of profiles, to open another one."""


@dataclass(eq=False)
class OpenLookup(Message):
    """The lookup of one kind of record, opened by the application itself, which holds it.

    With texts its form opens, filled in with them.
    """

    table: str
    texts: Mapping[str, str] | None = None


@dataclass(eq=False)
class OpenReversal(OpenMessage):
    """The reversal of a target; None asks for it first."""

    target: Target | None


@dataclass(eq=False)
class OpenExport(OpenMessage):
    """Writing rows into a file, whose proposed name begins with `file_stem`; `title` says what they are."""

    rows: RowSource[object]
    columns: Sequence[Column[object]]
    file_stem: str
    title: str
