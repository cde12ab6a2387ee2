"""The audit of the wallets: the change of their balances that results and transfers do not explain.

It says nothing of a period of which a fill or a bill may be missing: then the difference would be of reading, not of
money.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, NamedTuple

from tradetui.desk.archive.bills import OF_KIND, bill_coverage, funding_by_quarter, transfers
from tradetui.desk.archive.equity import Rates
from tradetui.desk.archive.ledger.fill_sequence import VISIBLE_AFTER_MS
from tradetui.desk.archive.ledger.missing_fills import fills_read_until, first_quarter_before, missing_spans, were_read
from tradetui.desk.archive.ledger_queries import BillsRead, ResultQuery, ResultRow, quarter_sums, results
from tradetui.desk.archive.reading_extent import BillCoverage, TimeSpan
from tradetui.desk.archive.row_queries import distinct_texts
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.periods import PERIODS, Grouping, day_at, first_day, period_name, period_span
from tradetui.trading.results.result_sums import ResultSums
from tradetui.wire.product_types import ProductType

_NO_END: Final = 2**62
_BILLS: Final = "SELECT time, ordinal, amount, fee, balance FROM bill"


@dataclass(frozen=True, slots=True)
class WalletMove:
    """The change of a coin's wallets in a period, all in the coin.

    `moved` is by the balances of the bills, `net` the result with funding, `transfers` deposits less withdrawals.
    """

    coin: str
    moved: Decimal
    net: Decimal
    transfers: Decimal

    @property
    def unexplained(self) -> Decimal:
        return self.moved - self.net - self.transfers


class WalletAudit:
    """Wallet changes of some product types in periods of a query, as far as fills and bills are read.

    A bill names no fill. Where the two of a trade lie on two sides of midnight, neighbouring days show the same amount
    with opposite signs: which fill a bill is of could only be guessed.
    """

    def __init__(self, connection: sqlite3.Connection, query: ResultQuery) -> None:
        self._connection = connection
        self._query = query
        self._wallets = _wallets_of(connection, query)
        self._bills = BillsRead(connection, query.product_types)
        self._missing = missing_spans(connection, query.now_ms)

    @property
    def since(self) -> int | None:
        """From when on (Unix ms) bills of all are read; None where they are not."""
        known = [wallet.coverage.since for wallet in self._wallets or ()]
        return max((since for since in known if since is not None), default=None)

    def moves(self, since: int, end: int, net_by_coin: Mapping[str, Decimal]) -> list[WalletMove] | None:
        """The changes of the wallets by coin between two moments (Unix ms); None where not all of it is read.

        `net_by_coin` is the period's net with funding. A period that is not over lasts until fills and bills were both
        read last. A coin without a bill is left out: fees in it are paid by another account.
        """
        if self._wallets is None:
            return None
        span = TimeSpan(since, min([end, *(wallet.known_until for wallet in self._wallets)]))
        if span.until < since or not self._is_all_read(self._wallets, span, net_by_coin):
            return None
        moved = self._balance_changes(self._wallets, span, net_by_coin)
        net = defaultdict(lambda: ZERO, net_by_coin)
        if span.until < end:
            for coin, amount in _net_between(self._connection, self._query, span.until + 1, end):
                net[coin] -= amount
        transferred: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
        types = [wallet.product_type for wallet in self._wallets]
        for transfer in transfers(self._connection, types, *span):
            transferred[transfer.coin] += transfer.amount
        return [WalletMove(coin, moved[coin], net[coin], transferred[coin]) for coin in sorted(moved)]

    def _is_all_read(self, wallets: Sequence[_Wallets], span: TimeSpan, coins: Iterable[str]) -> bool:
        """Whether every fill and bill of a span is read, the funding of these coins included."""
        types = [wallet.product_type for wallet in wallets]
        return (
            all(self._bills.hold(*span, coin) for coin in coins)
            and not any(gap.product_type in types and gap.meets(*span) for gap in self._missing)
            and all(wallet.coverage.holds(*wallet.billed_part(span)) for wallet in wallets)
            and not any(_traded_unseen(self._connection, wallet, wallet.billed_part(span)) for wallet in wallets)
        )

    def _balance_changes(
        self, wallets: Sequence[_Wallets], span: TimeSpan, traded_coins: Container[str]
    ) -> Mapping[str, Decimal]:
        """By coin; a coin that was traded and has no bill is there too where it is the wallets' own."""
        moved: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
        for wallet in wallets:
            settlement_coin = wallet.product_type.settlement_coin
            if settlement_coin is not None and settlement_coin in traded_coins:
                moved[settlement_coin] += ZERO
            for coin in _wallet_coins(self._connection, wallet.product_type):
                moved[coin] += _balance_change(self._connection, wallet, coin, wallet.billed_part(span))
        return moved


def with_unexplained(connection: sqlite3.Connection, query: ResultQuery, rows: Sequence[ResultRow]) -> list[ResultRow]:
    """Results by period or coin, each with what its wallet did beyond net and transfers, as far as that is known.

    A period in which nothing but that happened is a row too. Results of chosen symbols are given as they are: a
    wallet is of all symbols.
    """
    if query.symbols is not None or query.grouping is Grouping.SYMBOL:
        return list(rows)
    audited = []
    for group, (of_group, unexplained) in _audited(connection, query, rows).items():
        beyond = dict(unexplained or {})
        audited += [replace(row, unexplained=beyond.pop(row.coin, None)) for row in of_group]
        for coin, amount in beyond.items():
            if amount:
                name = coin if query.grouping is Grouping.COIN else group
                audited.append(ResultRow(name, coin, ResultSums(), complete=True, funding=ZERO, unexplained=amount))
    return sorted(audited, key=lambda row: (row.group, row.coin))


def unexplained_by_day(connection: sqlite3.Connection, query: ResultQuery, rates: Rates) -> dict[str, Decimal]:
    """The change of the wallets beyond net and transfers by day, in USDT, where that is known."""
    days = _audited(connection, query, results(connection, query))
    in_usdt = {day: rates.in_usdt(amounts) for day, (_, amounts) in days.items() if amounts is not None}
    return {day: amount for day, amount in in_usdt.items() if amount is not None}


def _audited(
    connection: sqlite3.Connection, query: ResultQuery, rows: Sequence[ResultRow]
) -> dict[str, tuple[list[ResultRow], dict[str, Decimal] | None]]:
    """By period the rows of it, and by coin what its wallet did beyond them; None where that is not known."""
    audit = WalletAudit(connection, query)
    rows_by_group: defaultdict[str, list[ResultRow]] = defaultdict(list)
    for row in rows:
        rows_by_group[row.group if query.grouping in PERIODS else ""].append(row)
    spans = {"": TimeSpan(query.since or 0, _NO_END if query.until is None else query.until)}
    if query.grouping in PERIODS:
        spans = dict(_periods(query, audit.since))
    audited = {}
    for group in sorted({*rows_by_group, *spans}):
        of_group = rows_by_group[group]
        moves = audit.moves(*spans[group], {row.coin: row.net for row in of_group}) if group in spans else None
        unexplained = None if moves is None else {move.coin: move.unexplained for move in moves}
        audited[group] = of_group, unexplained
    return audited


def _periods(query: ResultQuery, since: int | None) -> Iterator[tuple[str, TimeSpan]]:
    """The days, weeks or months of a query by name, from when on bills are read; of the first and last what counts."""
    first_ms, last_ms = query.span
    end_ms = _NO_END if query.until is None else query.until
    start = None if since is None else max(first_ms, since)
    while start is not None and start <= min(last_ms, query.now_ms):
        day = first_day(day_at(start, query.zone), query.grouping)
        begin, end = period_span(day, query.grouping, query.zone)
        yield period_name(day, query.grouping), TimeSpan(max(begin, first_ms), min(end, end_ms))
        start = end + 1


class _Wallets(NamedTuple):
    """The wallets of a product type: which of their bills are read, up to when these and fills both are (Unix ms)."""

    product_type: ProductType
    coverage: BillCoverage
    known_until: int
    first_fill: int | None

    def billed_part(self, span: TimeSpan) -> TimeSpan:
        """The part of a span from when on bills are read."""
        return TimeSpan(max(span.since, self.coverage.since or 0), span.until)


def _wallets_of(connection: sqlite3.Connection, query: ResultQuery) -> list[_Wallets] | None:
    """The wallets of each product type with fills or bills; None where not both of them are read."""
    wallets = []
    for product_type in query.product_types or tuple(ProductType):
        coverage = bill_coverage(connection, product_type)
        fills_until = fills_read_until(connection, product_type)
        if coverage.until is None and not were_read(connection, product_type):
            continue
        if coverage.until is None or fills_until is None:
            return None
        # The newest of both may still be on their way.
        known_until = min(coverage.until, fills_until) - VISIBLE_AFTER_MS
        first_fill = first_quarter_before(connection, product_type, known_until)
        wallets.append(_Wallets(product_type, coverage, known_until, first_fill))
    return wallets


def _traded_unseen(connection: sqlite3.Connection, wallet: _Wallets, span: TimeSpan) -> bool:
    """Whether bills show trades before the first fill that is known: no net has what these brought in.

    A managed sub-account gets no fill from before its binding.
    """
    until = span.until if wallet.first_fill is None else min(span.until, wallet.first_fill - 1)
    if span.since > until:
        return False
    trade = "SELECT 1 FROM bill WHERE product_type = ? AND coin = ? AND time BETWEEN ? AND ? AND kind = 'trade' LIMIT 1"
    product_type = wallet.product_type
    return any(
        connection.execute(trade, (str(product_type), coin, span.since, until)).fetchone() is not None
        for coin in _wallet_coins(connection, product_type)
    )


def _net_between(
    connection: sqlite3.Connection, query: ResultQuery, since: int, until: int
) -> Iterator[tuple[str, Decimal]]:
    rest = replace(query, since=since, until=until)
    for quarter in quarter_sums(connection, rest):
        yield quarter.coin, quarter.sums.net
    for funding in funding_by_quarter(connection, rest.since, rest.until, *rest.condition):
        yield funding.coin, funding.amount


def _wallet_coins(connection: sqlite3.Connection, product_type: ProductType) -> list[str]:
    following = "SELECT coin FROM bill WHERE product_type = ? AND coin > ? ORDER BY coin LIMIT 1"
    return distinct_texts(connection, following, str(product_type))


class _Bill(NamedTuple):
    time: int
    ordinal: str
    change: Decimal
    balance: Decimal | None


def _balance_change(connection: sqlite3.Connection, wallets: _Wallets, coin: str, span: TimeSpan) -> Decimal:
    """By how much a wallet's balance changed; the sum of its bills where they carry no balance."""
    wallet = (str(wallets.product_type), coin)
    before = _end_bill(connection, wallet, "time < ?", span.since, newest=True)
    first = _end_bill(connection, wallet, "time >= ?", span.since, newest=False)
    last = _end_bill(connection, wallet, "time <= ?", span.until, newest=True)
    if first is None or last is None or first.time > span.until:
        return ZERO
    start: Decimal | None = None if first.balance is None else first.balance - first.change
    if before is not None and before.balance is not None and wallets.coverage.holds(before.time, span.since):
        start = before.balance
    if start is None or last.balance is None:
        amounts = connection.execute(
            "SELECT amount, fee FROM bill WHERE product_type = ? AND coin = ? AND time BETWEEN ? AND ?"
            " AND kind <> 'margin'",
            (*wallet, *span),
        )
        return sum((Decimal(amount) + Decimal(fee) for amount, fee in amounts), ZERO)
    return last.balance - start - _margin_in_balances(connection, wallet, span)


def _margin_in_balances(connection: sqlite3.Connection, wallet: tuple[str, str], span: TimeSpan) -> Decimal:
    """What reported balances changed by as margin went to isolated positions and came back: it is still the wallet's.

    Some balances include that margin; a bill whose balance moves with it shows that this one does not.
    """
    rows = connection.execute(
        f"{_BILLS} WHERE {OF_KIND} = 'margin' AND +product_type = ? AND +coin = ? AND time BETWEEN ? AND ?",
        (*wallet, *span),
    ).fetchall()
    margin = ZERO
    for bill in map(_bill_of, rows):
        previous = _end_bill(connection, wallet, "(time, ordinal) < (?, ?)", bill.time, bill.ordinal, newest=True)
        if previous is not None and previous.balance is not None and bill.balance == previous.balance + bill.change:
            margin += bill.change
    return margin


def _end_bill(
    connection: sqlite3.Connection, wallet: tuple[str, str], condition: str, *values: int | str, newest: bool
) -> _Bill | None:
    """The newest or oldest bill of a wallet that meets a condition."""
    order = "DESC" if newest else "ASC"
    row = connection.execute(
        f"{_BILLS} WHERE product_type = ? AND coin = ? AND {condition} ORDER BY time {order}, ordinal {order} LIMIT 1",
        (*wallet, *values),
    ).fetchone()
    return None if row is None else _bill_of(row)


def _bill_of(row: tuple[int, str, str, str, str | None]) -> _Bill:
    time, ordinal, amount, fee, balance = row
    return _Bill(time, ordinal, Decimal(amount) + Decimal(fee), None if balance is None else Decimal(balance))
