"""The settings of the screen: a profile's, those of a session, and the choices made on the screen itself.

Choices made there (theme, columns, order) are kept for the next session: `ScreenPreferences` has a form for a file, and
`PreferenceWriter` writes it. The module is small, because the first paint waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

from tradetui.ui.safe_text import notify
from tradetui.ui.terminal.drawn_once import TerminalAbilities

if TYPE_CHECKING:
    from textual.app import App
    from textual.worker import Worker

    from tradetui.desk.desk import Desk
    from tradetui.desk.events.rules import Rule
    from tradetui.desk.overview.overview import Overview
    from tradetui.desk.overview.watched_account import AccountSource
    from tradetui.desk.settings import DeskSettings
    from tradetui.desk.tables.cells.column import Column
    from tradetui.desk.tables.rows.row_source import RowT

NARROWEST, WIDEST = 3, 60
NO_UID: Final = "UID not known"
KEY_READS_ONLY: Final = "key reads only"
"""The mode of a profile that may send, with a key whose orders the exchange refuses."""


class ColumnChoice(NamedTuple):
    """A column that is shown; `width` in cells, None for the column's own."""

    id: str
    width: int | None = None


class TableChoice(NamedTuple):
    """A table's columns and order; `columns` None is the default choice, `sort` None the order rows come in."""

    columns: tuple[ColumnChoice, ...] | None = None
    sort: str | None = None
    reverse: bool = False


@dataclass(frozen=True, slots=True)
class ScreenPreferences:
    """Everything chosen on the screen; `theme` None leaves it to the profile."""

    theme: str | None = None
    tables: Mapping[str, TableChoice] = field(default_factory=dict)

    def table(self, name: str) -> TableChoice:
        return self.tables.get(name, TableChoice())

    def with_table(self, name: str, choice: TableChoice) -> ScreenPreferences:
        """A copy with another choice for one table; one that is all defaults is removed."""
        tables = {**self.tables, name: choice}
        if choice == TableChoice():
            del tables[name]
        return replace(self, tables=tables)

    def as_plain(self) -> dict[str, Any]:
        """The preferences as nested dictionaries of text, numbers and lists, for a file."""
        plain: dict[str, Any] = {} if self.theme is None else {"theme": self.theme}
        tables = {name: _plain_table(choice) for name, choice in self.tables.items()}
        return {**plain, **({"tables": tables} if tables else {})}


KeepPreferences: TypeAlias = Callable[[ScreenPreferences], None]
"""Writes the choices made on the screen; blocks, so it is called in a thread."""


@dataclass(frozen=True, kw_only=True)
class ProfileAppearance:
    """A profile's settings of the screen, the choices made in it, and the function that keeps them.

    `theme` is the one the profile names, None if it names none.
    """

    theme: str | None = None
    timezone: str = "utc"
    exact_figures: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)
    mouse: bool = True
    reduced_motion: bool = False
    preferences: ScreenPreferences = field(default_factory=ScreenPreferences)
    keep: KeepPreferences | None = None
    notice: str = ""
    """A sentence to be shown once, when the profile is opened."""


class ConfigurationReload(NamedTuple):
    """The present configuration of the open profile.

    `settings` has the limits from now on, never looser than before. `reopens` is whether the session loses rights and
    is opened again. `taken` and `needs_restart` name the changes in sentences; `changed_appearance` has the names of
    changed settings of appearance and keys. `alert_rules` are the new rules.
    """

    appearance: ProfileAppearance
    settings: DeskSettings
    reopens: bool
    changed_appearance: frozenset[str]
    taken: tuple[str, ...]
    needs_restart: tuple[str, ...]
    alert_rules: tuple[Rule, ...]


class ProfileSummary(NamedTuple):
    """One line of the list of profiles; `mode` is `trade` or `monitor`, `trouble` why it cannot be opened."""

    host: str = ""
    uid: str | None = None
    mode: str = ""
    trouble: str = ""


@dataclass(frozen=True)
class ProfileChoice:
    """A profile to switch to. Its functions block, so they are called in a thread.

    `open_desk` builds its desk, `appearance` reads its settings of the screen (None: the present ones), `summary` reads
    its line in the list of profiles.
    """

    name: str
    open_desk: Callable[[], Desk]
    appearance: Callable[[], ProfileAppearance] | None = None
    summary: Callable[[], ProfileSummary] = ProfileSummary
    reload: Callable[[], ConfigurationReload] | None = None
    """Reads the configuration of the open profile again; None if there is no configuration."""


class OverviewMaker(Protocol):
    """The profiles of an overview; both block, and raise where the configuration cannot be read."""

    def overview(self) -> Overview:
        """An overview of these profiles, not begun."""

    def overview_sources(self) -> Sequence[AccountSource]:
        """The profiles as the configuration has them now."""


@dataclass(frozen=True)
class UiSettings(ProfileAppearance):
    """The badges at the start, all profiles, and the open one's settings of the screen."""

    environment: str
    access: str
    profiles: Sequence[ProfileChoice]
    chosen: int = 0
    terminal: TerminalAbilities = field(default_factory=TerminalAbilities)
    overview: OverviewMaker | None = None
    """The profiles of an overview; None where there is one profile."""
    begins_with_overview: bool = False

    def with_appearance(self, appearance: ProfileAppearance) -> UiSettings:
        return replace(
            self, **{setting.name: getattr(appearance, setting.name) for setting in fields(ProfileAppearance)}
        )


def preferences_from(stored: Mapping[str, Any]) -> ScreenPreferences:
    """The preferences in a file; invalid ones count as not chosen."""
    theme, tables = stored.get("theme"), stored.get("tables")
    read = {}
    for name, table in tables.items() if isinstance(tables, Mapping) else ():
        if isinstance(table, Mapping):
            read[str(name)] = _table_from(table)
    return ScreenPreferences(theme if isinstance(theme, str) else None, read)


def chosen_columns(every: Sequence[Column[RowT]], choice: TableChoice) -> tuple[Column[RowT], ...] | None:
    """The columns of a choice in its order and widths; None for the default, or if none of them exists."""
    if choice.columns is None:
        return None
    known = {column.id: column for column in every}
    chosen = [(known[column_id], width) for column_id, width in choice.columns if column_id in known]
    return tuple(column if width is None else column._replace(width=width) for column, width in chosen) or None


def _plain_table(choice: TableChoice) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    if choice.columns is not None:
        plain["columns"] = [
            {"id": column_id, **({} if width is None else {"width": width})} for column_id, width in choice.columns
        ]
    if choice.sort is not None:
        plain |= {"sort": choice.sort, "reverse": choice.reverse}
    return plain


def _table_from(stored: Mapping[str, Any]) -> TableChoice:
    columns, sort = stored.get("columns"), stored.get("sort")
    chosen = None
    if isinstance(columns, list):
        named: dict[str, int | None] = {}
        for stored_column in columns:
            if isinstance(stored_column, Mapping) and isinstance(stored_column.get("id"), str):
                named.setdefault(stored_column["id"], _width(stored_column.get("width")))
        chosen = tuple(ColumnChoice(name, width) for name, width in named.items()) or None
    return TableChoice(chosen, sort if isinstance(sort, str) else None, stored.get("reverse") is True)


def _width(stored: object) -> int | None:
    if isinstance(stored, int) and not isinstance(stored, bool):
        return max(NARROWEST, min(stored, WIDEST))
    return None


class PreferenceWriter:
    """Holds the newest choices of each profile until they are written."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._unwritten: dict[str, tuple[KeepPreferences, ScreenPreferences]] = {}
        self._worker: Worker[None] | None = None

    def write(self, profile: str, keep: KeepPreferences | None, preferences: ScreenPreferences) -> None:
        """Write a profile's choices soon; without `keep` nothing is written."""
        if keep is None:
            return
        self._unwritten[profile] = (keep, preferences)
        if self._worker is None or self._worker.is_finished:
            self._worker = self._app.run_worker(self._write_all(), group="preferences", exit_on_error=False)

    async def written(self) -> None:
        """Wait until everything chosen so far is written, or could not be."""
        if self._worker is not None and not self._worker.is_finished:
            await self._worker.wait()

    async def _write_all(self) -> None:
        while self._unwritten:
            keep, preferences = self._unwritten.pop(next(iter(self._unwritten)))
            try:
                await asyncio.to_thread(keep, preferences)
            except OSError as problem:
                notify(self._app, f"Your choice could not be saved: {problem}", severity="warning", seconds=8)
