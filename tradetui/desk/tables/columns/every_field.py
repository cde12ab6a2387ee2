"""Every field of the interface as a column: the chosen ones first, then the rest in the interface's order."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final, get_args

from tradetui.desk.tables.columns.column import Column, id_column, number_column, text_column, time_column
from tradetui.desk.tables.default_columns import COLUMNS
from tradetui.desk.tables.number_format import text_as_given
from tradetui.desk.tables.product_row import record_of
from tradetui.trading.positions import Position
from tradetui.wire.catalogue import endpoint
from tradetui.wire.replies.field_types import is_time
from tradetui.wire.replies.record import Record
from tradetui.wire.text.json_text import dump

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

_SUMMED_SINCE: Final[Column[Position]] = time_column("since", "Fills since", lambda position: position.summed_since)


def every_column(table: str) -> tuple[Column[Any], ...]:
    """The columns of a table's default choice, then one for each field of its records that has none yet."""
    chosen = (*COLUMNS[table], _SUMMED_SINCE) if table == "positions" else COLUMNS[table]
    taken = {column.id for column in chosen}
    if table == "positions":
        taken |= {name for name, shown in _POSITION_FIELDS.items() if shown in taken}
    record = endpoint(ENDPOINTS[table]).row
    return (*chosen, *(_field_column(record, name) for name in record.names() if name not in taken))


def _field_column(model: type[Record], name: str) -> Column[object]:
    """The column of a field by its annotation; unknown where no record is behind a row."""
    attribute = model._attributes[name]
    field = model.model_fields[attribute]

    def value(row: object) -> Any:
        return None if (record := record_of(row)) is None else getattr(record, attribute)

    def received(row: object) -> object:
        return None if (record := record_of(row)) is None else record.received.get(name)

    title = _title(name)
    width = max(len(title), 10)
    if is_time(field):
        return time_column(name, title, value)
    if _holds_decimal(field.annotation):
        return number_column(name, title, width, value, profit=_PROFITS.search(name) is not None)
    if field.annotation in (str, str | None):
        if name == "id" or name.endswith(("Id", "Oid")):
            return id_column(name, title, 19, value)
        return text_column(name, title, width, value)
    return Column(name, title, received, lambda row, _: _nested(received(row)), 24)


def _nested(value: object) -> str:
    return dump(value) if isinstance(value, list | tuple | dict) else text_as_given(value)


def _holds_decimal(annotation: object) -> bool:
    return annotation is Decimal or any(_holds_decimal(part) for part in get_args(annotation))


_TITLES: Final = {"cTime": "Created", "uTime": "Updated", "clientOid": "Client id", "unionMm": "Union MM"}


def _title(name: str) -> str:
    if name in _TITLES:
        return _TITLES[name]
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return (spaced[:1].upper() + spaced[1:].lower()).replace(" pl", " PL").replace("Btc ", "BTC ")
