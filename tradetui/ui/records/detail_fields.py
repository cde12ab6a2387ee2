"""The fields of a row for the detail view: name, value as read, text as received, and what is unusual about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from decimal import Decimal

from tradetui.desk.tables.cells.number_format import LONGEST_DERIVED, UNKNOWN, number
from tradetui.desk.tables.columns.positions import NO_LIQUIDATION
from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.desk.tables.rows.product_row import ProductRow, record_of
from tradetui.trading.position_figures import (
    in_dollars,
    next_funding_payment,
    return_on_margin,
    signed_liquidation_distance,
    value_of,
)
from tradetui.trading.positions import Position
from tradetui.ui.settings.time_zones import zone_label
from tradetui.wire.replies.record import Record
from tradetui.wire.text.decimal_text import trimmed_digits
from tradetui.wire.text.json_text import dump_json

UNREADABLE = "cannot be read"
EXTRA = "not in the interface"
DERIVED = "worked out"
AS_REQUESTED = "as requested"
NOT_SENT = "not sent"
_BEHIND_A_RECORD = ("received", "unreadable")


@dataclass(frozen=True, slots=True)
class Field:
    """One line: `mark` is empty for a field like any other."""

    name: str
    value: str
    received: str
    mark: str = ""


def fields_of(row: object, zone: tzinfo) -> tuple[Field, ...]:
    """Every field of a row: what tradetui adds first, then the interface's in its order, then what that does not name.

    A row that was not received but worked out, such as a position from fills, has only what was worked out.
    """
    return tuple(_fields(row, zone))


def _fields(row: object, zone: tzinfo) -> Iterator[Field]:
    record = record_of(row)
    if isinstance(row, FilledOrder):
        yield from _order_and_fills(row, zone)
    elif isinstance(row, Position):
        names = [field.name for field in dataclasses.fields(row) if field.name not in ("record", "market")]
        for name in names if record is None else ("product_type", "source"):
            yield Field(name.replace("_", " "), _read(getattr(row, name), zone), "", DERIVED)
        yield from _figures(row, zone)
    elif dataclasses.is_dataclass(row):
        for field in dataclasses.fields(row):
            yield Field(field.name.replace("_", " "), _read(getattr(row, field.name), zone), "", DERIVED)
    elif isinstance(row, ProductRow):
        yield Field("product type", str(row.product_type), "", AS_REQUESTED)
    if record is not None:
        yield from _received(record, zone)


def _figures(position: Position, zone: tzinfo) -> Iterator[Field]:
    """What size, price and market come to; money is in dollars, coin-margined money at the mark."""
    market = position.market
    figures = (
        ("value", value_of(position)),
        ("unrealised in USDT", in_dollars(position, position.unrealised)),
        ("return on margin", return_on_margin(position)),
        ("funding rate", market.funding_rate),
        ("next funding in USDT", next_funding_payment(position)),
    )
    for name, figure in figures:
        yield Field(name, number(figure, at_most=LONGEST_DERIVED), "", DERIVED)
    distance = number(signed_liquidation_distance(position), at_most=LONGEST_DERIVED)
    yield Field("away from liquidation", NO_LIQUIDATION if position.has_no_liquidation else distance, "", DERIVED)
    yield Field("next funding", _read(market.next_funding, zone), "", DERIVED)
    stop = str(market.stop_state) if market.stop is None else trimmed_digits(market.stop)
    yield Field("nearest stop", stop, "", DERIVED)


def _order_and_fills(order: FilledOrder, zone: tzinfo) -> Iterator[Field]:
    """What an order's fills come to, then each of them."""
    yield Field("product type", str(order.product_type), "", AS_REQUESTED)
    for name, value in order.record._asdict().items():
        if name != "fee_detail":
            yield Field(name.replace("_", " "), _read(value, zone), "", DERIVED)
    known = "; older ones are not read yet" if order.older_unknown else ""
    yield Field("fills", f"{len(order.fills)}{known}", "", DERIVED)
    for fill_number, row in enumerate(order.fills, 1):
        fill = row.record
        fees = [f"fee {_read(fee.total_fee, zone)} {fee.fee_coin or ''}".strip() for fee in fill.fee_detail]
        parts = (_read(fill.c_time, zone), f"profit {_read(fill.profit, zone)}", *fees, f"trade id {fill.trade_id}")
        size_and_price = f"{_read(fill.base_volume, zone)} at {_read(fill.price, zone)}"
        yield Field(f"fill {fill_number}", size_and_price, ", ".join(parts), fill.trade_scope or "")


def _received(record: Record, zone: tzinfo) -> Iterator[Field]:
    raw, unreadable = record.received, record.unreadable
    for name, attribute in record._attributes.items():
        value: object = getattr(record, attribute)
        received, mark = _as_received(raw, name, record.spellings)
        if name in unreadable:
            yield Field(name, UNKNOWN, unreadable[name], UNREADABLE)
        else:
            yield Field(name, _read(value, zone), received, mark if received or value is None else "")
    for name, value in record.unknown.items():
        yield Field(name, UNKNOWN, _raw(value), EXTRA)


def _as_received(raw: Mapping[str, object], name: str, spellings: Mapping[str, str]) -> tuple[str, str]:
    """A field's text as it came, and a mark where it came under another spelling or not at all."""
    if raw.get(name) in (None, ""):
        for spelling, meant in spellings.items():
            if meant == name and raw.get(spelling) not in (None, ""):
                return _raw(raw[spelling]), f"as {spelling}"
    return (_raw(raw[name]), "") if name in raw else ("", NOT_SENT)


def _read(value: object, zone: tzinfo) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, datetime):
        local = value.astimezone(zone)
        return f"{local:%Y-%m-%d %H:%M:%S}.{local.microsecond // 1000:03} {zone_label(zone)}"
    if isinstance(value, Decimal):
        return trimmed_digits(value)
    if isinstance(value, tuple | list):
        return "; ".join(_read(element, zone) for element in value) or UNKNOWN
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_read(element, zone)}" for name, element in value.items()) or UNKNOWN
    parts: Mapping[str, object] | None = getattr(value, "__dict__", None)
    if parts and not isinstance(value, str):
        given = {name: part for name, part in parts.items() if part is not None and name not in _BEHIND_A_RECORD}
        return ", ".join(f"{name.replace('_', ' ')} {_read(part, zone)}" for name, part in given.items())
    return str(value)


def _raw(value: object) -> str:
    if isinstance(value, str):
        return value or '""'
    return dump_json(value)
