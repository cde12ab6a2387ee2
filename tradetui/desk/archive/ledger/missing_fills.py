"""Which fills of a period are missing, so that no incomplete result looks complete.

There are three kinds: gaps still to be read, the time since the last read, and lost fills, which the exchange no longer
kept when they were requested.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from tradetui.desk.archive.bills import bill_coverage
from tradetui.desk.archive.coverage import HOUR_MS, ReadKind
from tradetui.trading.results.booking import QUARTER_MS
from tradetui.wire.product_types import ProductType

READ_LATELY_MS: Final = 120_000
"""A period up to now counts as read to its end if fills were read at most this long ago."""


class MissingSpan(NamedTuple):
    """A period (Unix ms, both included) in which fills of a product type are known to be missing.

    `is_lost` means for good. `cursor` is the fill above a gap that is still to be read, else empty. If a request for
    the gap failed, `refused_ms` (Unix ms) and `refusal` say when and why.
    """

    product_type: ProductType
    since: int
    until: int
    is_lost: bool = False
    cursor: str = ""
    refused_ms: int = 0
    refusal: str = ""

    @property
    def is_recent(self) -> bool:
        """Whether it is the time since the last read, and no longer than usual between two reads."""
        return not self.is_lost and not self.cursor and self.until - self.since <= READ_LATELY_MS

    def meets(self, since: int, until: int) -> bool:
        """Whether it overlaps a period (Unix ms, both ends included)."""
        return self.since <= until and since <= self.until

    def touches(self, since: int, until: int, coin: str) -> bool:
        """Whether it overlaps a period and could hold fills that are settled in a coin."""
        return self.meets(since, until) and (settles_in(self.product_type, coin) or coin not in ("USDT", "USDC"))


@lru_cache(maxsize=256)
def settles_in(product_type: ProductType, coin: str) -> bool:
    """Whether funding of a product type may be paid in a coin."""
    settlement = product_type.settlement_coin
    return coin not in ("USDT", "USDC") if settlement is None else coin in (settlement, f"S{settlement}")


def missing_spans(connection: sqlite3.Connection, now_ms: int, *, is_over: bool = False) -> list[MissingSpan]:
    """Return the spans of known missing fills: unread gaps, lost fills, and the time since the last read.

    For a running period (not `is_over`) that time is left out if it is short.
    """
    spans = unread_gaps(connection, now_ms)
    lost = "SELECT product_type, since, until FROM lost_fills WHERE since > 0"
    for product_type, since, until in connection.execute(lost):
        spans.append(MissingSpan(ProductType(product_type), since, until - 1, is_lost=True))
    read = "SELECT product_type, until FROM rows_read WHERE kind = ? AND until < ?"
    for product_type, read_until in connection.execute(read, (ReadKind.FILL, now_ms)):
        spans.append(MissingSpan(ProductType(product_type), read_until, now_ms))
    return [span for span in spans if is_over or not span.is_recent]


def unread_gaps(connection: sqlite3.Connection, now_ms: int) -> list[MissingSpan]:
    """Return the unread gaps between fills and before all of them."""
    gaps = connection.execute("SELECT product_type, cursor, until, refused_ms, refusal FROM fill_gap")
    spans = []
    for product_type, cursor, until, refused_ms, refusal in gaps:
        newest_ms = fill_time(connection, product_type, cursor)
        newest_ms = now_ms if newest_ms is None else newest_ms
        spans.append(MissingSpan(ProductType(product_type), until or 0, newest_ms, False, cursor, refused_ms, refusal))
    return spans


def keep_refusals(
    connection: sqlite3.Connection, product_type: ProductType, refusals: Mapping[str, str], at_ms: int
) -> None:
    """Store which gaps (by cursor) were requested in vain, and why."""
    connection.executemany(
        "UPDATE fill_gap SET refused_ms = ?, refusal = ? WHERE product_type = ? AND cursor = ?",
        [(at_ms, refusal, str(product_type), cursor) for cursor, refusal in refusals.items()],
    )


def fill_time(connection: sqlite3.Connection, product_type: str, trade_id: str) -> int | None:
    """Return the time (Unix ms) of an archived fill, the newest if several symbols share the id; None without any."""
    # This finds, by the index, all ids that begin with the trade id and "|": "}" is the character after "|".
    newest: int | None = connection.execute(
        "SELECT max(time) FROM record WHERE kind = 'fill' AND product_type = ? AND id > ? AND id < ?",
        (product_type, f"{trade_id}|", f"{trade_id}}}"),
    ).fetchone()[0]
    return newest


def ends_of_lost_fills(connection: sqlite3.Connection, product_type: ProductType) -> list[int]:
    """Return the times (Unix ms) after each span of lost fills, oldest first."""
    rows = connection.execute(
        "SELECT until FROM lost_fills WHERE product_type = ? AND since > 0 ORDER BY until", (product_type,)
    )
    return [until for (until,) in rows]


def spans_never_kept(
    connection: sqlite3.Connection, product_types: Sequence[ProductType], since: int | None
) -> list[MissingSpan]:
    """Return the spans before the oldest fill available at the first read, for a period that begins earlier.

    A period that begins up to an hour earlier is one of ninety days and counts as beginning there. A period without a
    beginning covers known fills only.
    """
    spans: list[MissingSpan] = []
    if since is None:
        return spans
    for product_type in product_types:
        known_from = _returned_from(connection, product_type)
        if known_from is not None and since < known_from - HOUR_MS:
            first_quarter = first_quarter_before(connection, product_type, known_from)
            known_from = known_from if first_quarter is None else first_quarter
            if since < known_from - HOUR_MS:
                spans.append(MissingSpan(product_type, 0, known_from - 1, is_lost=True))
    return spans


def _returned_from(connection: sqlite3.Connection, product_type: ProductType) -> int | None:
    """Return the time (Unix ms) from which the exchange returned fills at the first read; None if it is not known.

    It is not stored while the archive's past is still being read. Until then the bills show it: they are read from
    ninety days before their first read.
    """
    row = connection.execute(
        "SELECT until FROM lost_fills WHERE product_type = ? AND since = 0", (product_type,)
    ).fetchone()
    return bill_coverage(connection, product_type).since if row is None else int(row[0])


def first_quarter_before(connection: sqlite3.Connection, product_type: ProductType, before_ms: int) -> int | None:
    """Return the start (Unix ms) of the first quarter-hour with fills of a product type before a time, if any.

    Quarter-hours of other product types are read on the way, all of them if this type has no fill.
    """
    if not has_booked_fills(connection, product_type):
        return None
    quarter: int | None = connection.execute(
        "SELECT min(quarter) FROM ledger_quarter WHERE quarter < ? AND product_type = ?",
        (-(-before_ms // QUARTER_MS), str(product_type)),
    ).fetchone()[0]
    return None if quarter is None else quarter * QUARTER_MS


def has_booked_fills(connection: sqlite3.Connection, product_type: ProductType) -> bool:
    leg = "SELECT 1 FROM ledger_leg WHERE product_type = ? LIMIT 1"
    return connection.execute(leg, (product_type,)).fetchone() is not None


def were_read(connection: sqlite3.Connection, product_type: ProductType) -> bool:
    """Whether fills of a product type were ever read; before that is stored, archived fills show it."""
    row = connection.execute(
        "SELECT 1 FROM rows_read WHERE kind = 'fill' AND product_type = :product_type UNION ALL"
        " SELECT 1 FROM record WHERE kind = 'fill' AND product_type = :product_type LIMIT 1",
        {"product_type": product_type},
    ).fetchone()
    return row is not None
