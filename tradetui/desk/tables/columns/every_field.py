"""Every field of the interface as a column: the chosen ones first, then the rest in the interface's order."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, get_args

from tradetui.desk.tables.columns.column import (
    UTC_ZONE,
    Column,
    Tone,
    id_column,
    number_column,
    text_column,
    time_column,
)
from tradetui.desk.tables.default_columns import COLUMNS
from tradetui.desk.tables.number_format import text_as_given

if TYPE_CHECKING:
    from tradetui.wire.replies.record import Record

ENDPOINTS: Final = {
    "accounts": "futures.accounts",
    "positions": "futures.positions",
    "orders": "futures.pending_orders",
    "fills": "futures.fills",
    "triggers": "futures.triggers",
    "spot-fills": "spot.fills",
    "spot-bills": "spot.bills",
    "convert": "convert.history",
    "transfers": "broker.transfers",
    "email": "broker.subaccount_email",
}
"""Whose rows a table shows."""
_PROFITS: Final = re.compile(r"PL$|[pP]rofits?$")
_POSITION_FIELDS: Final = {
    "symbol": "symbol",
    "holdSide": "leg",
    "total": "size",
    "openPriceAvg": "entry",
    "markPrice": "mark",
    "unrealizedPL": "unrealised",
    "achievedProfits": "realised",
}
"""Fields of a reported position that a column of the panel shows already, whatever the position's source."""

_SUMMED_SINCE: Final = time_column("since", "Fills since", "summed_since")


def every_column(table: str) -> tuple[Column, ...]:
    """The columns of a table's default choice, then one for each field of its records that has none yet."""
    from tradetui.wire.catalogue import endpoint

    chosen = (*COLUMNS[table], _SUMMED_SINCE) if table == "positions" else COLUMNS[table]
    taken = {column.id for column in chosen}
    if table == "positions":
        taken |= {name for name, shown in _POSITION_FIELDS.items() if shown in taken}
    row = endpoint(ENDPOINTS[table]).row
    return (*chosen, *(_column(row, name, table) for name in row.names() if name not in taken))


def _column(row: type[Record], name: str, table: str) -> Column:
    from tradetui.wire.replies.field_types import is_time

    attribute = row._attributes[name]
    # A position is the desk's own row, with what was received, if it was, behind it.
    column = _of_kind(row.model_fields[attribute], is_time, name, attribute)
    return _behind(column) if table == "positions" else column


def _of_kind(field: Any, is_time: Any, name: str, attribute: str) -> Column:
    title = _title(name)
    width = max(len(title), 10)
    if is_time(field):
        return time_column(name, title, attribute)
    if _holds_decimal(field.annotation):
        return number_column(name, title, width, attribute, profit=_PROFITS.search(name) is not None)
    if field.annotation in (str, str | None):
        if name == "id" or name.endswith(("Id", "Oid")):
            return id_column(name, title, 19, attribute)
        return text_column(name, title, width, attribute)
    return Column(name, title, lambda row: row.received.get(name), lambda row, _: _nested(row, name), 24)


def _nested(row: Any, name: str) -> str:
    from tradetui.wire.text.json_text import dump

    value = row.received.get(name)
    return dump(value) if isinstance(value, list | tuple | dict) else text_as_given(value)


def _holds_decimal(annotation: Any) -> bool:
    return annotation is Decimal or any(_holds_decimal(part) for part in get_args(annotation))


_TITLES: Final = {"cTime": "Created", "uTime": "Updated", "clientOid": "Client id", "unionMm": "Union MM"}


def _title(name: str) -> str:
    if name in _TITLES:
        return _TITLES[name]
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return (spaced[:1].upper() + spaced[1:].lower()).replace(" pl", " PL").replace("Btc ", "BTC ")


def _behind(column: Column) -> Column:
    """The same column over the record behind a row, unknown where there is none."""

    def over(read: Any) -> Any:
        def value(row: Any) -> Any:
            return None if row.record is None else read(row.record)

        return value

    return Column(
        column.id,
        column.title,
        over(column.value),
        lambda row, zone: text_as_given(None) if row.record is None else column.text(row.record, zone),
        column.width,
        column.right,
        None if column.tone is None else lambda row: column.cell(row.record, UTC_ZONE)[1] if row.record else Tone.PLAIN,
        column.unit,
        None if column.order is None else over(column.order),
        column.is_received_time,
    )
