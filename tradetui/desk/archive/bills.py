"""The futures accounts' bills in the archive's file: funding, transfers, and the wallet balance after each."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from tradetui.desk.archive.coverage import BillCoverage, ReadKind, TimeSpan
from tradetui.desk.archive.ledger.quarter_hours import forget_spans
from tradetui.desk.tables.rows.product_row import id_order
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import BillKind, bill_kind
from tradetui.trading.results.periods import quarter_of
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures_accounts import FuturesBill
from tradetui.wire.product_types import ProductType

OF_KIND: Final = "kind <> 'trade' AND kind"
"""Selects bills except those of fills, by an index without them, since most bills are of fills.

SQLite uses the index only if a statement has this condition. A plus before the product type keeps it off the primary
key, by which it would read every bill of the type.
"""


class Transfer(NamedTuple):
    """A transfer into a futures account (positive) or out of it, at a time in Unix ms.

    `amount_in_usd` is in USDT: for another coin the amount at the price of the fill nearest in time in the coin's own
    contract; None if there is no such fill.
    """

    time: int
    coin: str
    amount: Decimal
    amount_in_usd: Decimal | None


def keep_bills(
    connection: sqlite3.Connection, product_type: ProductType, bills: Sequence[FuturesBill], coverage: BillCoverage
) -> None:
    """Archive bills, each once by its id, with their coverage; called within a transaction.

    If a bill comes again with other figures, the later ones replace the earlier.
    """
    added: list[_BillRow] = []
    replaced: list[_BillRow] = []
    for bill in bills:
        row = _row_of(product_type, bill)
        before = connection.execute(
            f"SELECT {_COLUMNS} FROM bill WHERE product_type = ? AND ordinal = ?", (row.product_type, row.ordinal)
        ).fetchone()
        if before != row:
            connection.execute(f"INSERT OR REPLACE INTO bill ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            added.append(row)
            replaced += [] if before is None else [_BillRow(*before)]
    _change_funding(connection, added, replaced)
    _keep_coverage(connection, product_type, coverage)


class _BillRow(NamedTuple):
    """A bill as the file stores it, amounts as text."""

    product_type: str
    coin: str
    time: int
    ordinal: str
    kind: str
    business_type: str
    symbol: str
    amount: str
    fee: str
    balance: str | None


_COLUMNS: Final = ", ".join(_BillRow._fields)


def _row_of(product_type: ProductType, bill: FuturesBill) -> _BillRow:
    return _BillRow(
        product_type=str(product_type),
        coin=bill.coin.upper(),
        time=unix_ms(bill.c_time),
        ordinal=id_order(bill.bill_id),
        kind=str(bill_kind(bill.business_type)),
        business_type=bill.business_type,
        symbol=(bill.symbol or "").upper(),
        amount=str(bill.amount),
        fee=str(bill.fee or ZERO),
        balance=None if bill.balance is None else str(bill.balance),
    )


def _change_funding(connection: sqlite3.Connection, added: Iterable[_BillRow], replaced: Iterable[_BillRow]) -> None:
    """Change the funding sums by new bills, and take out the bills they replace."""
    changes: defaultdict[tuple[int, str, str, str], Decimal] = defaultdict(lambda: ZERO)
    for rows, sign in ((added, 1), (replaced, -1)):
        for row in rows:
            if row.kind == BillKind.FUNDING:
                key = (quarter_of(row.time), row.product_type, row.symbol, row.coin)
                changes[key] += sign * (Decimal(row.amount) + Decimal(row.fee))
    for key, change in changes.items():
        kept = connection.execute(
            "SELECT amount FROM bill_funding WHERE quarter = ? AND product_type = ? AND symbol = ? AND coin = ?", key
        ).fetchone()
        total = change if kept is None else change + Decimal(kept[0])
        connection.execute(
            "INSERT OR REPLACE INTO bill_funding (quarter, product_type, symbol, coin, amount) VALUES (?, ?, ?, ?, ?)",
            (*key, str(total)),
        )
    forget_spans(connection, (quarter for quarter, *_ in changes))


def _keep_coverage(connection: sqlite3.Connection, product_type: ProductType, coverage: BillCoverage) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO rows_read (kind, product_type, since, until, refusal) VALUES (?, ?, ?, ?, ?)",
        (ReadKind.BILL, str(product_type), coverage.since, coverage.until, coverage.refusal),
    )
    connection.execute("DELETE FROM bill_gap WHERE product_type = ?", (product_type,))
    connection.executemany(
        "INSERT OR REPLACE INTO bill_gap (product_type, since, until) VALUES (?, ?, ?)",
        [(str(product_type), *gap) for gap in coverage.gaps],
    )


def bill_coverage(connection: sqlite3.Connection, product_type: ProductType) -> BillCoverage:
    """Return how far the bills of a product type are read; without ends if none ever were."""
    row = connection.execute(
        "SELECT since, until, refusal FROM rows_read WHERE kind = ? AND product_type = ?", (ReadKind.BILL, product_type)
    ).fetchone()
    if row is None:
        return BillCoverage()
    since, until, refusal = row
    gaps = connection.execute(
        "SELECT since, until FROM bill_gap WHERE product_type = ? ORDER BY since DESC", (product_type,)
    )
    return BillCoverage(since, until, tuple(TimeSpan(*gap) for gap in gaps), refusal)


def transfers(
    connection: sqlite3.Connection, product_types: Sequence[ProductType], since: int, until: int
) -> Iterator[Transfer]:
    """Yield the transfers of some product types' accounts in a period (Unix ms, both included), oldest first."""
    chosen = [str(product_type) for product_type in product_types]
    rows = connection.execute(
        f"SELECT product_type, time, coin, amount, fee FROM bill WHERE {OF_KIND} = 'transfer' AND time BETWEEN ? AND ?"
        f" AND +product_type IN ({', '.join('?' * len(chosen))}) ORDER BY time, ordinal",
        (since, until, *chosen),
    ).fetchall()
    for product_type, time, coin, amount_text, fee_text in rows:
        amount = Decimal(amount_text) + Decimal(fee_text)
        price = Decimal(1) if coin == "USDT" else price_near(connection, product_type, coin, time)
        yield Transfer(time, coin, amount, None if price is None else amount * price)


def price_near(connection: sqlite3.Connection, product_type: str, coin: str, time: int) -> Decimal | None:
    """Return the price of the fill nearest in time in a coin's own contract; of two as near, the earlier."""
    nearest = []
    for comparison, order in (("<=", "DESC"), (">", "ASC")):
        nearest += connection.execute(
            "SELECT time, json_extract(body, '$.price') FROM record WHERE kind = 'fill' AND symbol = ?"
            f" AND product_type = ? AND time {comparison} ? ORDER BY time {order}, ordinal {order} LIMIT 1",
            (f"{coin}USD", product_type, time),
        ).fetchall()
    _, price = min(nearest, key=lambda fill: abs(fill[0] - time), default=(None, None))
    return None if price is None else Decimal(str(price))
