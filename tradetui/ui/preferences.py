"""What a person chose on the screen and finds again next time: theme, columns, order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tradetui.desk.tables.columns import Column

NARROWEST, WIDEST = 3, 60


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """A column that is shown; `width` in cells, None for the column's own."""

    id: str
    width: int | None = None


@dataclass(frozen=True, slots=True)
class TableChoice:
    """How a table is shown; `columns` None is the default choice, `sort` None the order rows come in."""

    columns: tuple[ColumnChoice, ...] | None = None
    sort: str | None = None
    reverse: bool = False


@dataclass(frozen=True, slots=True)
class ScreenChoices:
    """Everything chosen on the screen; `theme` None leaves it to the profile."""

    theme: str | None = None
    tables: Mapping[str, TableChoice] = field(default_factory=dict)

    def table(self, name: str) -> TableChoice:
        """The choice for a table."""
        return self.tables.get(name, TableChoice())

    def with_table(self, name: str, choice: TableChoice) -> ScreenChoices:
        """The same with another choice for one table; one that is all defaults is forgotten."""
        tables = {**self.tables, name: choice}
        if choice == TableChoice():
            del tables[name]
        return replace(self, tables=tables)

    def as_plain(self) -> dict[str, Any]:
        """The choices as nested dictionaries of text, numbers and lists, for a file."""
        told: dict[str, Any] = {} if self.theme is None else {"theme": self.theme}
        tables = {name: _plain_table(choice) for name, choice in self.tables.items()}
        return {**told, **({"tables": tables} if tables else {})}


def choices_from(told: Mapping[str, Any]) -> ScreenChoices:
    """The choices a file tells; whatever in it is not as it should be counts as not chosen."""
    theme, tables = told.get("theme"), told.get("tables")
    read = {}
    for name, table in tables.items() if isinstance(tables, Mapping) else ():
        if isinstance(table, Mapping):
            read[str(name)] = _table_from(table)
    return ScreenChoices(theme if isinstance(theme, str) else None, read)


def chosen_columns(every: Sequence[Column], choice: TableChoice) -> tuple[Column, ...] | None:
    """The columns of a choice in its order and widths; None for the default, or where none of them is there."""
    if choice.columns is None:
        return None
    known = {column.id: column for column in every}
    found = tuple(
        known[each.id] if each.width is None else replace(known[each.id], width=each.width)
        for each in choice.columns
        if each.id in known
    )
    return found or None


def _plain_table(choice: TableChoice) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if choice.columns is not None:
        told["columns"] = [
            {"id": each.id, **({} if each.width is None else {"width": each.width})} for each in choice.columns
        ]
    if choice.sort is not None:
        told |= {"sort": choice.sort, "reverse": choice.reverse}
    return told


def _table_from(told: Mapping[str, Any]) -> TableChoice:
    columns, sort = told.get("columns"), told.get("sort")
    found = None
    if isinstance(columns, list):
        named: dict[str, int | None] = {}
        for each in columns:
            if _is_column(each):
                named.setdefault(each["id"], _width(each.get("width")))
        found = tuple(ColumnChoice(name, width) for name, width in named.items()) or None
    return TableChoice(found, sort if isinstance(sort, str) else None, told.get("reverse") is True)


def _is_column(told: object) -> bool:
    return isinstance(told, Mapping) and isinstance(told.get("id"), str)


def _width(told: object) -> int | None:
    if isinstance(told, int) and not isinstance(told, bool):
        return max(NARROWEST, min(told, WIDEST))
    return None
