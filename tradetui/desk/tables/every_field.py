"""Every field of the interface as a column to choose; its look follows from its type and name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Final, TypeVar, get_args

from tradetui.desk.tables.cells.cell_format import text_or_unknown
from tradetui.desk.tables.cells.column import (
    Column,
    id_column,
    money_column,
    number_column,
    price_column,
    text_column,
    time_column,
)
from tradetui.desk.tables.rows.product_row import record_of
from tradetui.wire.json_text import dump_json
from tradetui.wire.replies.field_types import is_time
from tradetui.wire.replies.record import Record

ContentT = TypeVar("ContentT")
_TITLES: Final = {"cTime": "Created", "uTime": "Updated", "clientOid": "Client id", "unionMm": "Union MM"}
_PROFITS: Final = re.compile(r"PL$|[pP]rofits?$")
_MONEY: Final = re.compile(
    rf"{_PROFITS.pattern}|^accountEquity$|MaxAvailable$|TransferOut$|^(isolated|crossed)Margin$|^marginSize$"
    r"|^(total|deducted)Fee$"
)
_PRICES: Final = re.compile(r"[pP]rice(Avg)?$|^(takeProfit|stopLoss)$")


def field_columns(record: type[Record], taken: Collection[str]) -> Iterator[Column[object]]:
    """Yield a column for each field of a record, except for the names taken."""
    return (_field_column(record, name) for name in record.names() if name not in taken)


def _field_column(model: type[Record], name: str) -> Column[object]:
    """Make the column of a field by its annotation; its value is unknown for a row without a record."""
    attribute = model._attributes[name]
    field = model.model_fields[attribute]
    title = field_title(name)
    width = max(len(title), 10)

    def value(row: object) -> object:
        return getattr(record_of(row), attribute, None)

    def value_as(kind: type[ContentT]) -> Callable[[object], ContentT | None]:
        def value_of_kind(row: object) -> ContentT | None:
            content = value(row)
            return content if isinstance(content, kind) else None

        return value_of_kind

    def text_of(other: str) -> Callable[[object], str | None]:
        return lambda row: getattr(record_of(row), other, None)

    def received(row: object) -> object:
        record = record_of(row)
        return None if record is None else record.received.get(name)

    if is_time(field):
        return time_column(name, title, value_as(datetime))
    if _holds_decimal(field.annotation):
        figure = value_as(Decimal)
        if _PRICES.search(name):
            return price_column(name, title, width, figure, text_of("symbol"))
        if _MONEY.search(name):
            return money_column(
                name, title, width, figure, text_of("margin_coin"), profit=_PROFITS.search(name) is not None
            )
        return number_column(name, title, width, figure)
    if field.annotation in (str, str | None):
        if name == "id" or name.endswith(("Id", "Oid")):
            return id_column(name, title, 19, value_as(str))
        return text_column(name, title, width, value_as(str))
    return Column(name, title, 24, received, lambda row, _: _nested(received(row)))


def _nested(value: object) -> str:
    return dump_json(value) if isinstance(value, list | tuple | dict) else text_or_unknown(value)


def _holds_decimal(annotation: object) -> bool:
    return annotation is Decimal or any(_holds_decimal(part) for part in get_args(annotation))


def field_title(name: str) -> str:
    """Return the title of a field that no table names."""
    if name in _TITLES:
        return _TITLES[name]
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    title = spaced[:1].upper() + spaced[1:].lower()
    return title.replace(" pl", " PL").replace("Btc ", "BTC ").replace("Price avg", "Avg price")
