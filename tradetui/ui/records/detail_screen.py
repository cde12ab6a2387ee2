"""The detail view of one row: every field with the table's name for it, as read and as the exchange sent it.

Every received field is listed, also unreadable ones and those that the interface does not name. `fields_of` lists the
fields, `DetailScreen` shows them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from typing import ClassVar, Final

from pydantic.alias_generators import to_camel
from textual import getters
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from tradetui.desk.tables.cells.cell_format import LONGEST_DERIVED, UNKNOWN, number, percent_points
from tradetui.desk.tables.cells.column import Column, Tone
from tradetui.desk.tables.columns.positions import NO_LIQUIDATION
from tradetui.desk.tables.every_field import field_title
from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.desk.tables.rows.product_row import ProductRow, record_of
from tradetui.desk.tables.rows.row_source import MemoryRows, RowSource
from tradetui.desk.tables.table import POSITIONS, TABLES, Table
from tradetui.desk.tables.time_format import exact_moment_text
from tradetui.desk.tables.time_zones import MachineZone
from tradetui.trading.position_figures import (
    in_dollars,
    next_funding_payment,
    return_on_margin,
    signed_liquidation_distance,
    value_of,
)
from tradetui.trading.positions import Position
from tradetui.ui.app_protocols import trading_app
from tradetui.ui.dialogs.deliberate_dialog import DimmingScreen
from tradetui.ui.key_bindings.actions import Action, Move
from tradetui.ui.key_bindings.profile_bindings import bindings
from tradetui.ui.safe_text import sanitized
from tradetui.ui.table.record_table import RecordTable
from tradetui.wire.decimal_text import trimmed_digits
from tradetui.wire.json_text import dump_json
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.replies.record import Record

UNREADABLE = "cannot be read"
EXTRA = "not in the interface"
INTERFACE_V3 = "as received"
DERIVED = "worked out"
AS_REQUESTED = "as requested"
NOT_SENT = "not sent"
_BEHIND_A_RECORD = ("received", "unreadable")  # attributes of a nested object that are no fields of the interface
_HINTS: Final = {
    Action.COPY_CELL: "copy value",
    Action.COPY_ROW: "copy line",
    Action.ZONE: "UTC/local",
    Action.BACK: "back",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One line of the view, with the interface's name and the name in the row's table.

    `received` is empty if the exchange did not send the field; `mark` is empty for an ordinary field.
    """

    name: str
    value: str
    received: str
    mark: str = ""
    title: str = ""


class DetailScreen(DimmingScreen[None]):
    """One row's fields as a separate table; it follows the row while the feed continues."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("detail")
    _frame = getters.query_one(Vertical)

    def __init__(self, title: str, row_id: str, record: object, zone: tzinfo, feed_name: str = "") -> None:
        super().__init__(classes="dialog -tall")
        self.feed_name = feed_name
        self._gone = False
        self._heading = title
        self._row_id = row_id
        self._record = record
        self._zone = zone
        self.table = RecordTable(_COLUMNS, id="detail")

    def compose(self) -> ComposeResult:
        keys = (f"{trading_app(self).key_named(action)} {title}" for action, title in _HINTS.items())
        with self.framed(self._heading_now, " · ".join(keys)):
            yield self.table

    def on_mount(self) -> None:
        self._fill()
        self.table.move(Move.RIGHT)
        self.table.focus()

    @property
    def fields(self) -> tuple[Field, ...]:
        return tuple(fields_of(self._record, self._zone))

    def follow(self, feed_name: str, rows: RowSource[object]) -> None:
        if feed_name != self.feed_name or not self.is_mounted:
            return
        index = rows.index_of(self._row_id)
        if (index is None) != self._gone:
            self._gone = index is None
            self._frame.border_title = sanitized(self._heading_now)
        record = rows.row(index) if index is not None else None
        if record is not None and record != self._record:
            self._record = record
            self._fill()

    @property
    def _heading_now(self) -> str:
        gone = " · gone from the panel, as last seen" if self._gone else ""
        return f"{self._heading}: every field{gone}"

    def _fill(self) -> None:
        fields = self.fields
        self.table.set_source(MemoryRows(fields, [field.name for field in fields]))

    def action_move(self, way: str) -> None:
        self.table.move(Move(way))

    def action_copy_cell(self) -> None:
        field = self.table.cursor.record
        trading_app(self).copy(self.table.model.cell_text(), field.name if field is not None else "")

    def action_copy_row(self) -> None:
        trading_app(self).copy(self.table.model.row_text(), "line")

    def action_zone(self) -> None:
        self._zone = UTC if self._zone is not UTC else MachineZone()
        self._fill()

    def action_back(self) -> None:
        self.dismiss()

    action_leave = action_back


def fields_of(row: object, zone: tzinfo) -> Iterator[Field]:
    """Every field of a row: this program's own, then the interface's in its order, then those it does not name."""
    table = _table_of(row)
    for field in _untitled_fields(row, zone):
        is_received = field.mark not in (DERIVED, AS_REQUESTED)
        name = field.name if is_received else _FIGURES.get(field.name, to_camel(field.name.replace(" ", "_")))
        title = "" if table is None else table.title_of(name)
        yield replace(field, title=title or (field_title(name) if is_received else _capitalised(field.name)))


def _capitalised(name: str) -> str:
    return name[:1].upper() + name[1:]


_FIGURES: Final[Mapping[str, str]] = {
    "return on margin": "roi",
    "away from liquidation": "liquidation",
    "nearest stop": "stop",
    "product type": "productType",
}
"""Figures of a position whose columns have another id."""


def _table_of(row: object) -> Table[object] | None:
    """The table whose rows are of this kind."""
    if isinstance(row, Position):
        return POSITIONS
    kind = FuturesFill if isinstance(row, FilledOrder) else type(record_of(row))
    return next((table for table in TABLES.values() if table.endpoint.row is kind), None)


def _untitled_fields(row: object, zone: tzinfo) -> Iterator[Field]:
    record = record_of(row)
    if isinstance(row, FilledOrder):
        yield from _order_and_fills(row, zone)
    elif isinstance(row, Position):
        names = [field.name for field in dataclasses.fields(row) if field.name not in ("record", "market")]
        for name in names if record is None else ("product_type", "source"):
            yield _derived(name, _text(getattr(row, name), zone))
        yield from _figures(row, zone)
    elif dataclasses.is_dataclass(row):
        for field in dataclasses.fields(row):
            yield _derived(field.name, _text(getattr(row, field.name), zone))
    elif isinstance(row, ProductRow):
        yield Field("product type", str(row.product_type), "", AS_REQUESTED)
    if record is not None:
        yield from _received(record, zone)


def _derived(name: str, value: str) -> Field:
    return Field(name.replace("_", " "), value, "", DERIVED)


def _figures(position: Position, zone: tzinfo) -> Iterator[Field]:
    """Yield the figures computed from size, price and market; money is in dollars, coin-margined money at the mark."""
    market = position.market
    distance = _percent(signed_liquidation_distance(position))
    figures = [
        ("value", number(value_of(position), at_most=LONGEST_DERIVED)),
        ("unrealised in USDT", number(in_dollars(position, position.unrealised), at_most=LONGEST_DERIVED)),
        ("return on margin", _percent(return_on_margin(position))),
        ("funding rate", _percent(market.funding_rate)),
        ("next funding in USDT", number(next_funding_payment(position), at_most=LONGEST_DERIVED)),
        ("away from liquidation", NO_LIQUIDATION if position.has_no_liquidation else distance),
        ("next funding", _text(market.next_funding, zone)),
        ("nearest stop", str(market.stop_state) if market.stop is None else trimmed_digits(market.stop)),
    ]
    if market.stop_part is not None:
        figures.append(("part that stops close", _percent(market.stop_part)))
    for name, figure in figures:
        yield _derived(name, figure)


def _percent(part: Decimal | None) -> str:
    return UNKNOWN if part is None else f"{percent_points(part, exact=True)} %"


def _order_and_fills(order: FilledOrder, zone: tzinfo) -> Iterator[Field]:
    yield Field("product type", str(order.product_type), "", AS_REQUESTED)
    for name, value in order.record._asdict().items():
        if name != "fee_detail":
            yield _derived(name, _text(value, zone))
    older = "; older ones are not read yet" if order.older_unknown else ""
    yield _derived("fills", f"{len(order.fills)}{older}")
    for fill_number, row in enumerate(order.fills, 1):
        fill = row.record
        fees = [f"fee {_text(fee.total_fee, zone)} {fee.fee_coin or ''}".strip() for fee in fill.fee_detail]
        parts = (_text(fill.c_time, zone), f"profit {_text(fill.profit, zone)}", *fees, f"trade id {fill.trade_id}")
        size_and_price = f"{_text(fill.base_volume, zone)} at {_text(fill.price, zone)}"
        yield Field(f"fill {fill_number}", size_and_price, ", ".join(parts), fill.trade_scope or "")


def _received(record: Record, zone: tzinfo) -> Iterator[Field]:
    raw, unreadable, is_converted = record.received, record.unreadable, record.is_converted
    for name, attribute in record._attributes.items():
        value: object = getattr(record, attribute)
        received, mark = _as_received(raw, name, record.spellings)
        received = "" if is_converted else received
        if name in unreadable:
            yield Field(name, UNKNOWN, unreadable[name], UNREADABLE)
        else:
            yield Field(name, _text(value, zone), received, mark if received or value is None else "")
    # Of a unified account every field of the exchange is listed, also those that the fields above were made from.
    for name, value in (record.original if is_converted else record.unknown).items():
        is_read, mark = ("", INTERFACE_V3) if is_converted else (UNKNOWN, EXTRA)
        yield Field(name, is_read, _received_text(value), mark)


def _as_received(raw: Mapping[str, object], name: str, spellings: Mapping[str, str]) -> tuple[str, str]:
    """A field's text as received, and a mark for another spelling or a missing field."""
    if raw.get(name) in (None, ""):
        for spelling, meant in spellings.items():
            if meant == name and raw.get(spelling) not in (None, ""):
                return _received_text(raw[spelling]), f"as {spelling}"
    return (_received_text(raw[name]), "") if name in raw else ("", NOT_SENT)


def _text(value: object, zone: tzinfo) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, datetime):
        return exact_moment_text(value, zone)
    if isinstance(value, Decimal):
        return trimmed_digits(value)
    if isinstance(value, tuple | list):
        return "; ".join(_text(element, zone) for element in value) or UNKNOWN
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_text(element, zone)}" for name, element in value.items()) or UNKNOWN
    parts: Mapping[str, object] | None = getattr(value, "__dict__", None)
    if parts and not isinstance(value, str):
        shown_parts = {name: part for name, part in parts.items() if part is not None and name not in _BEHIND_A_RECORD}
        return ", ".join(f"{name.replace('_', ' ')} {_text(part, zone)}" for name, part in shown_parts.items())
    return str(value)


def _received_text(value: object) -> str:
    if isinstance(value, str):
        return value or '""'
    return dump_json(value)


def _interface_name(field: Field) -> str:
    return "" if field.mark in (DERIVED, AS_REQUESTED) else field.name


def _quiet(_: Field) -> Tone:
    return Tone.MUTED


def _mark_tone(field: Field) -> Tone:
    return Tone.WARN if field.mark in (UNREADABLE, EXTRA) else Tone.MUTED


_COLUMNS: Final[tuple[Column[Field], ...]] = (
    Column("title", "Field", 22, lambda field: field.title, lambda field, _: field.title),
    Column("value", "Read as", 29, lambda field: field.value, lambda field, _: field.value),
    Column("name", "Interface", 22, _interface_name, lambda field, _: _interface_name(field), tone=_quiet),
    Column("mark", "Note", 20, lambda field: field.mark, lambda field, _: field.mark, tone=_mark_tone),
    Column("received", "As received", 40, lambda field: field.received, lambda field, _: field.received),
)
