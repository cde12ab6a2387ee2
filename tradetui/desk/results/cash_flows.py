"""Cash flows: transfers into and out of the futures accounts, by bills, or by balances where bills are not read."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tradetui.desk.archive.bills import bill_coverage, transfers
from tradetui.desk.archive.equity import EquitySample, Rates
from tradetui.desk.archive.ledger.missing_fills import READ_LATELY_MS, were_read
from tradetui.desk.archive.ledger_queries import ResultQuery, results
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.periods import Grouping
from tradetui.trading.results.returns import CashFlow
from tradetui.wire.product_types import ProductType


@dataclass(frozen=True, slots=True)
class KnownTransfers:
    """Transfers in USDT, oldest first, and up to when (Unix ms) the bills of them are read."""

    flows: tuple[CashFlow, ...]
    until: int


def known_transfers(
    connection: sqlite3.Connection,
    product_types: Sequence[ProductType],
    rates: Rates,
    since: int,
    until: int,
    now_ms: int,
) -> KnownTransfers | None:
    """The transfers of a period (Unix ms); None where not all of its bills are read.

    Bills are read less often than fills: what they may lack of the newest is what `READ_LATELY_MS` allows. A product
    type that was never traded, and whose bills the exchange never sends, is left out. None too where what was moved in
    a coin has no known worth.
    """
    last_ms = max(since, min(until, now_ms - READ_LATELY_MS))
    known_until = min(until, now_ms)
    for product_type in product_types:
        coverage = bill_coverage(connection, product_type)
        is_used = coverage.until is not None or were_read(connection, product_type)
        if is_used and not coverage.holds(since, last_ms):
            return None
        if coverage.until is not None:
            known_until = min(known_until, coverage.until)
    flows = []
    for transfer in transfers(connection, product_types, since, min(until, now_ms)):
        amount = transfer.amount_in_usd
        if amount is None:
            rate = rates.of_coin(transfer.coin)
            if rate is None:
                return None
            amount = transfer.amount * rate
        flows.append(CashFlow(transfer.time, amount))
    return KnownTransfers(tuple(flows), known_until)


def wallets_beyond_fills(
    connection: sqlite3.Connection, product_types: tuple[ProductType, ...], start: EquitySample, end: EquitySample
) -> Mapping[str, Decimal] | None:
    """By coin what the wallets moved by between two samples beyond profit and fees of the fills between them.

    That is funding, transfers and whatever else the exchange booked, in the coin. None where a sample does not hold
    the single accounts, or a fill came without its fee or profit. The ledger is to be brought forward before.
    """
    if not start.accounts or not end.accounts:
        return None
    query = ResultQuery(Grouping.COIN, end.time, start.time + 1, end.time, None, product_types)
    rows = results(connection, query)
    if any(row.sums.incomplete_fills for row in rows):
        return None
    net = {row.coin: row.sums.net for row in rows}
    moved: dict[str, Decimal] = {}
    for sample, sign in ((end, 1), (start, -1)):
        for account in sample.accounts:
            if account.unrealised is None:
                return None
            moved[account.coin] = moved.get(account.coin, ZERO) + sign * (account.equity - account.unrealised)
    return {coin: amount - net.get(coin, ZERO) for coin, amount in moved.items()}
