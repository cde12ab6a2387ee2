"""Funding and transfers of the ninety days before the start, worked out from the fills when they are asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from operator import attrgetter
from typing import Any, Final

from tradetui.sandbox.books.accounts.bills import FUNDING, TRANSFER_IN, TRANSFER_OUT, Movement
from tradetui.sandbox.books.accounts.futures_account import FuturesBook, funding
from tradetui.sandbox.books.contracts import CONTRACTS, FUNDING_INTERVAL_MS
from tradetui.sandbox.books.number_format import ZERO
from tradetui.sandbox.books.order import ONE_WAY
from tradetui.sandbox.history.backfill import past_level
from tradetui.wire.time_windows import DAY_MS

_TRANSFERS: Final = (
    (61 * DAY_MS + 11_000_000, TRANSFER_IN, Decimal("0.1")),
    (24 * DAY_MS + 40_000_000, TRANSFER_OUT, Decimal("-0.04")),
    (6 * DAY_MS + 5_000_000, TRANSFER_IN, Decimal("0.02")),
)
"""How long before the start, and what part of the balance of now."""


def past_movements(book: FuturesBook, built_ms: int) -> list[Movement]:
    """Funding of what the fills left at each settlement before the book's account began to live, and transfers."""
    movements = [
        Movement(built_ms - age_ms, business_type, coin, (balance * part).quantize(Decimal("0.01")))
        for coin, balance in book.started_with.items()
        for age_ms, business_type, part in _TRANSFERS
    ]
    movements += _past_funding(book, built_ms)
    return sorted(movements, key=attrgetter("time_ms"))


def _past_funding(book: FuturesBook, built_ms: int) -> Iterator[Movement]:
    sizes: defaultdict[tuple[str, str], Decimal] = defaultdict(lambda: ZERO)
    fills = iter(book.fills)
    fill = next(fills, None)
    settlement_ms = (int(fill["cTime"]) // FUNDING_INTERVAL_MS + 1) * FUNDING_INTERVAL_MS if fill else book.begun_ms + 1
    while settlement_ms <= book.begun_ms:
        while fill is not None and int(fill["cTime"]) < settlement_ms:
            _apply(fill, sizes)
            fill = next(fills, None)
        level = past_level(built_ms - settlement_ms)
        for (symbol, name), signed in sizes.items():
            if signed:
                spec, leg = CONTRACTS[symbol], name or ("long" if signed > ZERO else "short")
                amount = funding(spec, leg, abs(signed), spec.price(spec.start_price * level))
                yield Movement(settlement_ms, FUNDING, spec.margin_coin, amount, symbol, leg)
        settlement_ms += FUNDING_INTERVAL_MS


def _apply(fill: dict[str, Any], sizes: defaultdict[tuple[str, str], Decimal]) -> None:
    size = Decimal(fill["baseVolume"])
    if fill["posMode"] == ONE_WAY:
        sizes[fill["symbol"], ""] += size if fill["side"] == "buy" else -size
        return
    leg = "long" if fill["side"] == "buy" else "short"
    sizes[fill["symbol"], leg] += size if fill["tradeSide"] == "open" else -size
