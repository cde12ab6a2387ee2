"""The audit of the wallets: by how much their balances changed beyond results and transfers.

Each bill has the wallet's balance after it. The change of these balances, less the net of fills and funding and less
transfers, is unexplained. A period gets no figure if a fill or a bill may be missing: the difference would come from
the reading, not from money.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from tradetui.desk.archive.archive_rows import distinct_texts
from tradetui.desk.archive.bills import OF_KIND, bill_coverage, transfers
from tradetui.desk.archive.coverage import BillCoverage, ReadKind, TimeSpan, rows_read_until
from tradetui.desk.archive.ledger.missing_fills import first_quarter_before, missing_spans, were_read
from tradetui.desk.archive.ledger.quarter_hours import VISIBLE_AFTER_MS
from tradetui.desk.archive.ledger_queries import BillsRead, ResultQuery, day_groups
from tradetui.desk.results.sums import ResultLine
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.periods import PERIODS, Grouping, day_at, first_day, period_name, period_span
from tradetui.wire.product_types import ProductType


@dataclass(frozen=True, slots=True)
class WalletMove:
    """The change of a coin's wallets in a period, all in the coin.

    `moved` is by the balances of the bills, `net` the result with funding, `transfers` deposits minus withdrawals.
    """

    coin: str
    moved: Decimal
    net: Decimal
    transfers: Decimal

    @property
    def unexplained(self) -> Decimal:
        return self.moved - self.net - self.transfers


def with_unexplained(
    connection: sqlite3.Connection, query: ResultQuery, lines: Sequence[ResultLine]
) -> list[ResultLine]:
    """Add to results by period or coin the wallet changes beyond net and transfers, as far as known.

    A period with only such a change gets a line too. Results of chosen symbols stay unchanged, because a wallet covers
    all symbols.
    """
    if query.symbols is not None or query.grouping is Grouping.SYMBOL:
        return list(lines)
    by_period = [(line.group if query.grouping in PERIODS else "", line) for line in lines]
    nets: defaultdict[str, dict[str, Decimal]] = defaultdict(dict)
    for period, line in by_period:
        nets[period][line.coin] = line.net
    unexplained = unexplained_by_period(connection, query, nets)
    audited = [
        replace(line, unexplained=unexplained.get(period, {}).pop(line.coin, None)) for period, line in by_period
    ]
    for period, amounts in unexplained.items():
        for coin, amount in amounts.items():
            if amount:
                group = coin if query.grouping is Grouping.COIN else period
                audited.append(ResultLine(group, coin, funding=ZERO, unexplained=amount))
    return sorted(audited, key=lambda line: (line.group, line.coin))


def unexplained_by_period(
    connection: sqlite3.Connection, query: ResultQuery, nets: Mapping[str, Mapping[str, Decimal]]
) -> dict[str, dict[str, Decimal]]:
    """Return the wallet changes beyond net and transfers by period and coin; without periods that are not known.

    `nets` are the nets with funding by the day, week or month that the query groups by, else under an empty name.
    """
    audit = WalletAudit(connection, query)
    spans = dict(_periods(query, audit.since)) if query.grouping in PERIODS else {"": query.bounds}
    moves_by_period = {period: audit.moves(*span, nets.get(period, {})) for period, span in spans.items()}
    return {
        period: {move.coin: move.unexplained for move in moves}
        for period, moves in moves_by_period.items()
        if moves is not None
    }


def _periods(query: ResultQuery, since: int | None) -> Iterator[tuple[str, TimeSpan]]:
    """Yield a query's days, weeks or months by name since bills are read; the first and last are cut to the query."""
    first_ms, last_ms = query.span
    start = None if since is None else max(first_ms, since)
    while start is not None and start <= min(last_ms, query.now_ms):
        day = first_day(day_at(start, query.zone), query.grouping)
        begin, end = period_span(day, query.grouping, query.zone)
        yield period_name(day, query.grouping), TimeSpan(max(begin, first_ms), min(end, query.bounds.until))
        start = end + 1


class WalletAudit:
    """Wallet changes of some product types in periods of a query, as far as fills and bills are read.

    A bill names no fill. If a trade's fill and bill lie on two sides of midnight, neighbouring days show the same
    amount with opposite signs, because the fill of a bill could only be guessed.
    """

    def __init__(self, connection: sqlite3.Connection, query: ResultQuery) -> None:
        self._connection = connection
        self._query = query
        self._wallets = _wallets_of(connection, query)
        self._bills = BillsRead(connection, query.product_types)
        self._missing = missing_spans(connection, query.now_ms)

    @property
    def since(self) -> int | None:
        """The time (Unix ms) from which the bills of all product types are read; None if they are not."""
        known = [wallets.coverage.since for wallets in self._wallets or ()]
        return max((since for since in known if since is not None), default=None)

    def moves(self, since: int, end: int, net_by_coin: Mapping[str, Decimal]) -> list[WalletMove] | None:
        """Return the changes of the wallets by coin in a span (Unix ms); None if a part of it is unread.

        `net_by_coin` is the period's net with funding. An unfinished period ends when fills and bills were last both
        read. A coin without a bill is left out: its fees are paid by another account.
        """
        if self._wallets is None:
            return None
        span = TimeSpan(since, min([end, *(wallets.known_until for wallets in self._wallets)]))
        if span.until < since or not self._is_all_read(self._wallets, span, net_by_coin):
            return None
        moved = _balance_changes(self._wallets, span, net_by_coin)
        net = defaultdict(lambda: ZERO, net_by_coin)
        if span.until < end:
            for _, group in day_groups(self._connection, replace(self._query, since=span.until + 1, until=end)):
                net[group.coin] -= group.net
        transferred: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
        for transfer in transfers(self._connection, [wallets.product_type for wallets in self._wallets], *span):
            transferred[transfer.coin] += transfer.amount
        return [WalletMove(coin, moved[coin], net[coin], transferred[coin]) for coin in sorted(moved)]

    def _is_all_read(self, all_wallets: Sequence[_Wallets], span: TimeSpan, coins: Iterable[str]) -> bool:
        """Whether every fill and bill of a span is read, the funding of these coins included."""
        types = [wallets.product_type for wallets in all_wallets]
        return (
            all(self._bills.hold(*span, coin) for coin in coins)
            and not any(gap.product_type in types and gap.meets(*span) for gap in self._missing)
            and all(wallets.coverage.holds(*wallets.billed_part(span)) for wallets in all_wallets)
            and not any(wallets.traded_before_first_fill(span) for wallets in all_wallets)
        )


def _balance_changes(
    all_wallets: Sequence[_Wallets], span: TimeSpan, traded_coins: Container[str]
) -> Mapping[str, Decimal]:
    """Return balance changes by coin; a wallet's own coin that was traded without a bill is included."""
    moved: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    for wallets in all_wallets:
        settlement_coin = wallets.product_type.settlement_coin
        if settlement_coin is not None and settlement_coin in traded_coins:
            moved[settlement_coin] += ZERO
        for coin in wallets.coins():
            moved[coin] += wallets.balance_change(coin, span)
    return moved


def _wallets_of(connection: sqlite3.Connection, query: ResultQuery) -> list[_Wallets] | None:
    """Return the wallets of each product type with fills or bills; None if one has only fills or only bills."""
    all_wallets = []
    for product_type in query.product_types:
        coverage = bill_coverage(connection, product_type)
        fills_until = rows_read_until(connection, ReadKind.FILL, product_type)
        if coverage.until is None and not were_read(connection, product_type):
            continue
        if coverage.until is None or fills_until is None:
            return None
        # The newest fills and bills may not be visible yet.
        known_until = min(coverage.until, fills_until) - VISIBLE_AFTER_MS
        first_fill = first_quarter_before(connection, product_type, known_until)
        all_wallets.append(_Wallets(connection, product_type, coverage, known_until, first_fill))
    return all_wallets


class _Bill(NamedTuple):
    """One bill of a wallet: its change, and the balance after it; None if the exchange gave none."""

    time: int
    ordinal: str
    change: Decimal
    balance: Decimal | None


@dataclass(frozen=True, slots=True)
class _Wallets:
    """The wallets of a product type, one per coin, by their bills in the archive.

    `coverage` is which bills are read, `known_until` up to when both bills and fills are read. `first_fill` is the
    start of the quarter-hour of the first known fill (both Unix ms).
    """

    connection: sqlite3.Connection
    product_type: ProductType
    coverage: BillCoverage
    known_until: int
    first_fill: int | None

    def billed_part(self, span: TimeSpan) -> TimeSpan:
        """Return the part of a span for which bills are read."""
        return TimeSpan(max(span.since, self.coverage.since or 0), span.until)

    def coins(self) -> list[str]:
        following = "SELECT coin FROM bill WHERE product_type = ? AND coin > ? ORDER BY coin LIMIT 1"
        return distinct_texts(self.connection, following, str(self.product_type))

    def traded_before_first_fill(self, span: TimeSpan) -> bool:
        """Whether bills show trades before the first known fill, whose profit no net includes.

        A managed sub-account gets no fills from before it was bound.
        """
        since, until = self.billed_part(span)
        if self.first_fill is not None:
            until = min(until, self.first_fill - 1)
        trades = (
            self._bills_between(coin, f"{_OF_WALLET} AND kind = 'trade'", TimeSpan(since, until))
            for coin in self.coins()
        )
        return since <= until and any(next(bills, None) is not None for bills in trades)

    def balance_change(self, coin: str, span: TimeSpan) -> Decimal:
        """Return the change of a wallet's balance; the sum of its bills if they have no balances."""
        billed = self.billed_part(span)
        first = self._bill(coin, "time >= :time", "ASC", time=billed.since)
        last = self._bill(coin, "time <= :time", "DESC", time=billed.until)
        if first is None or last is None or first.time > billed.until:
            return ZERO
        start = self._balance_before(coin, billed.since, first)
        if start is None or last.balance is None:
            return sum(
                (bill.change for bill in self._bills_between(coin, f"{_OF_WALLET} AND kind <> 'margin'", billed)), ZERO
            )
        return last.balance - start - self._margin_in_balances(coin, billed)

    def _balance_before(self, coin: str, since: int, first: _Bill) -> Decimal | None:
        """Return a wallet's balance before its first bill since `since`: from the bill before, else from that bill."""
        before = self._bill(coin, "time < :time", "DESC", time=since)
        if before is not None and before.balance is not None and self.coverage.holds(before.time, since):
            return before.balance
        return None if first.balance is None else first.balance - first.change

    def _margin_in_balances(self, coin: str, span: TimeSpan) -> Decimal:
        """Return the change of reported balances by margin that went to isolated positions and came back.

        That margin still belongs to the wallet. Some reported balances include it; a balance that moves with a margin
        bill does not.
        """
        margin = ZERO
        # The plus keeps SQLite on the index of the few bills that are not of fills.
        of_margin = f"{OF_KIND} = 'margin' AND +product_type = :product_type AND +coin = :coin"
        for bill in list(self._bills_between(coin, of_margin, span)):
            previous = self._bill(
                coin, "(time, ordinal) < (:time, :ordinal)", "DESC", time=bill.time, ordinal=bill.ordinal
            )
            if previous is not None and previous.balance is not None and bill.balance == previous.balance + bill.change:
                margin += bill.change
        return margin

    def _bill(self, coin: str, condition: str, order: Literal["ASC", "DESC"], **values: int | str) -> _Bill | None:
        """Return the first bill in this order of time that meets a condition with these named values."""
        row = self.connection.execute(
            f"{_SELECT} WHERE {_OF_WALLET} AND {condition} ORDER BY time {order}, ordinal {order} LIMIT 1",
            {"product_type": str(self.product_type), "coin": coin, **values},
        ).fetchone()
        return None if row is None else _bill_of(row)

    def _bills_between(self, coin: str, condition: str, span: TimeSpan) -> Iterator[_Bill]:
        rows = self.connection.execute(
            f"{_SELECT} WHERE {condition} AND time BETWEEN :since AND :until",
            {"product_type": str(self.product_type), "coin": coin, **span._asdict()},
        )
        return map(_bill_of, rows)


_SELECT: Final = "SELECT time, ordinal, amount, fee, balance FROM bill"
_OF_WALLET: Final = "product_type = :product_type AND coin = :coin"


def _bill_of(row: tuple[int, str, str, str, str | None]) -> _Bill:
    time, ordinal, amount, fee, balance = row
    return _Bill(time, ordinal, Decimal(amount) + Decimal(fee), None if balance is None else Decimal(balance))
