"""The sequence in which archived fills are booked: by time, then by id."""

from __future__ import annotations

from typing import Final, NamedTuple

from tradetui.desk.tables.rows.product_row import id_order
from tradetui.trading.results.booking import BookedFill, booked_fill
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import UndecodableRowError
from tradetui.wire.text.json_text import load_json

VISIBLE_AFTER_MS: Final = 5_000
"""Every read of the exchange shows a fill that is at least this old."""


class Instant(NamedTuple):
    """A point of the sequence: Unix ms, then the id as it is sorted."""

    time: int
    ordinal: str


class SequencedFill(NamedTuple):
    """A fill as it is booked, and its point of the sequence."""

    instant: Instant
    fill: BookedFill


BEFORE_ALL: Final = Instant(-1, "")


def sequenced_fill(product_type: ProductType, fill: FuturesFill) -> SequencedFill:
    time = unix_ms(fill.c_time)
    return SequencedFill(Instant(time, id_order(fill.trade_id)), booked_fill(product_type, fill, time))


def read_booked_fill(product_type: str, body: str, time: int) -> BookedFill | None:
    """Read a fill from the archive's text; None where this version cannot."""
    try:
        known_type = ProductType(product_type)
        return booked_fill(known_type, FuturesFill.from_row(load_json(body)), time)
    except (UndecodableRowError, ValueError):
        return None
