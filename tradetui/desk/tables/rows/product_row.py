"""Records with the product type they were read under, and the common order of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from operator import attrgetter
from typing import Final, Generic, TypeVar

from tradetui.trading.positions import Position
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record

RecordT = TypeVar("RecordT", bound=Record)
RecordT_co = TypeVar("RecordT_co", bound=Record, covariant=True)

_time_order = attrgetter("time_order")
BEGINNING: Final = datetime.fromtimestamp(0, UTC)


class ProductRow(Generic[RecordT_co]):
    """A record with the product type it was read under, which the interface's rows lack."""

    __slots__ = ("_time_order", "product_type", "record", "row_id")

    def __init__(self, product_type: ProductType, record: RecordT_co) -> None:
        self.product_type = product_type
        self.record = record
        self.row_id = f"{product_type}|{record.row_id}"
        self._time_order: tuple[datetime, str] | None = None

    @property
    def time_order(self) -> tuple[datetime, str]:
        """The sort key of rows: time, then id."""
        if self._time_order is None:
            self._time_order = (time_of(self.record), id_order(self.record.row_id))
        return self._time_order

    @property
    def received(self) -> Mapping[str, object]:
        return self.record.received

    @property
    def original(self) -> Mapping[str, object]:
        return self.record.original

    @property
    def unreadable(self) -> Mapping[str, str]:
        return self.record.unreadable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProductRow) and self.row_id == other.row_id and self.record == other.record

    def __hash__(self) -> int:
        return hash(self.row_id)


class MarkedRow(ProductRow[RecordT_co]):
    """A pending order or a waiting stop, with its symbol's mark when it was read; None if unknown."""

    __slots__ = ("mark",)

    def __init__(self, product_type: ProductType, record: RecordT_co, mark: Decimal | None) -> None:
        super().__init__(product_type, record)
        self.mark = mark

    @property
    def distance(self) -> Decimal | None:
        """The distance from the mark to its price, as a fraction of the mark; negative if the price is below."""
        match self.record:
            case TriggerOrder(trigger_price=price) | PendingOrder(price=price) if self.mark and price is not None:
                return (price - self.mark) / self.mark
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MarkedRow) and self.mark == other.mark and super().__eq__(other)

    __hash__ = ProductRow.__hash__


def record_of(row: object) -> Record | None:
    """Return the record of a row; None for derived rows, such as a position summed from fills."""
    if isinstance(row, ProductRow | Position):
        record: Record | None = row.record
        return record
    return row if isinstance(row, Record) else None


def time_of(record: Record) -> datetime:
    """Return the time of a record; for a past trigger order, when it ended."""
    if isinstance(record, TriggerOrder):
        return record.u_time or record.c_time or BEGINNING
    if isinstance(record, FuturesFill | PendingOrder):
        return record.c_time or BEGINNING
    return BEGINNING


def id_order(row_id: str) -> str:
    """Return a row's id as text that sorts like the number it mostly begins with: shorter numbers are older."""
    return f"{len(row_id.partition('|')[0]):04d}{row_id}"


def newest_first(rows: Iterable[ProductRow[RecordT]]) -> list[ProductRow[RecordT]]:
    return sorted(rows, key=_time_order, reverse=True)
