"""A kept fill where it stands among all: by its time, then by the order of its id."""

from __future__ import annotations

from typing import Final, NamedTuple

from tradetui.desk.tables.rows.product_row import id_order
from tradetui.trading.results.booking import BookedFill, booked_fill
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import UndecodableRowError
from tradetui.wire.text.json_text import load_json
from tradetui.wire.unix_time import unix_ms

SETTLED_MS: Final = 5_000
"""How long a fill must be past for every reading of the exchange to have it."""


class Instant(NamedTuple):
    """Where a fill stands: Unix ms, then the order of its id."""

    time: int
    ordinal: str


class PlacedFill(NamedTuple):
    """A fill with where it stands."""

    instant: Instant
    fill: BookedFill


BEFORE_ALL: Final = Instant(-1, "")


def placed_fill(product_type: ProductType, fill: FuturesFill) -> PlacedFill:
    """A fill with where it stands among all."""
    time = unix_ms(fill.c_time)
    return PlacedFill(Instant(time, id_order(fill.trade_id)), booked_fill(product_type, fill, time))


def read_booked_fill(product_type: str, body: str, time: int) -> BookedFill | None:
    """A fill as the archive keeps it; None for one that this version cannot read."""
    try:
        known_type = ProductType(product_type)
        return booked_fill(known_type, FuturesFill.from_row(load_json(body)), time)
    except (UndecodableRowError, ValueError):
        return None
