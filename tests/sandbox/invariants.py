"""Whether an account's books balance, reckoned anew from its fills and orders by arithmetic of its own.

Nothing here asks a holding for its entry or profit, or an account for its balance, but to compare: a mistake there
must not be one here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from tradetui.sandbox.books.account import Account
from tradetui.sandbox.books.futures_account import FuturesBook
from tradetui.sandbox.books.market import COLLATERAL_WEIGHT, CONTRACTS, MAINTENANCE, MAKER_FEE, TAKER_FEE
from tradetui.sandbox.books.numbers import ZERO
from tradetui.sandbox.books.orders import ONE_WAY, Order
from tradetui.sandbox.books.reply_rows import account_row
from tradetui.sandbox.exchange_state import ExchangeState

_BOOKED_TO: Final = Decimal("0.00000001")
_FEES: Final[Mapping[str, Decimal]] = {"maker": MAKER_FEE, "taker": TAKER_FEE}


@dataclass(slots=True)
class _Leg:
    """What fills leave of one leg: its size, below nothing for a short, and what was paid for it at its prices."""

    size: Decimal = ZERO
    cost: Decimal = ZERO

    def profit(self, price: Decimal, inverse: bool, part: Decimal = Decimal(1)) -> Decimal:
        """What so much of it would gain at a price, in the margin coin."""
        gained = (self.size * price - self.cost) * part
        return gained / price if inverse else gained

    def add(self, size: Decimal, price: Decimal) -> None:
        self.size += size
        self.cost += size * price

    def take(self, size: Decimal, price: Decimal, inverse: bool) -> Decimal:
        """Close so much; returns the profit."""
        part = -size / self.size
        profit = self.profit(price, inverse, part)
        self.cost -= self.cost * part
        self.size += size
        return profit


@dataclass(slots=True)
class _Sums:
    """What the fills of one order come to."""

    size: Decimal = ZERO
    fee: Decimal = ZERO
    profit: Decimal = ZERO


@dataclass(slots=True)
class _Reckoning:
    """All fills of a book, gone through in their order."""

    legs: dict[tuple[str, str], _Leg] = field(default_factory=dict)
    orders: dict[str, _Sums] = field(default_factory=dict)

    def count(self, row: Mapping[str, Any]) -> None:
        """Take in one fill; raises AssertionError where its fee or profit is not what price and size make."""
        spec = CONTRACTS[row["symbol"]]
        size, price = Decimal(row["baseVolume"]), Decimal(row["price"])
        profit, fee = Decimal(row["profit"]), Decimal(row["feeDetail"][0]["totalFee"])
        notional = size if spec.inverse else size * price
        _near(-notional * _FEES[row["tradeScope"]], fee, f"the fee of fill {row['tradeId']}")
        name, change = _change(row, size)
        leg = self.legs.setdefault((spec.symbol, name), _Leg())
        gained = ZERO
        closing = min(size, abs(leg.size)) if leg.size * change < 0 else ZERO
        if closing:
            gained = leg.take(closing.copy_sign(change), price, spec.inverse)
        if size > closing:
            leg.add((size - closing).copy_sign(change), price)
        _near(gained, profit, f"the profit of fill {row['tradeId']}")
        sums = self.orders.setdefault(row["orderId"], _Sums())
        sums.size += size
        sums.fee += fee
        sums.profit += profit


def check_books(exchange_state: ExchangeState) -> None:
    """Raise AssertionError unless what every account holds and is worth follows from what it traded."""
    marks = exchange_state.moment.marks()
    for account in exchange_state.accounts.values():
        check_account(account, marks)


def check_account(account: Account, marks: Mapping[str, Decimal]) -> None:
    """Raise AssertionError unless positions, orders, balances and equity of an account follow from what was traded."""
    for book in account.futures.values():
        reckoned = _Reckoning()
        for row in book.fills:
            reckoned.count(row)
        where = f"{account.name} {book.product_type}"
        _check_positions(book, reckoned, where)
        _check_orders(book, reckoned, where)
        for coin in book.balances:
            _check_coin(book, coin, reckoned, marks, where)


def _check_positions(book: FuturesBook, reckoned: _Reckoning, where: str) -> None:
    held: dict[tuple[str, str], Decimal] = {}
    for (symbol, leg), holding in book.holdings.items():
        size = holding.size if leg == "long" else -holding.size
        held[symbol, "net" if book.mode == ONE_WAY else leg] = size
    traded = {key: leg.size for key, leg in reckoned.legs.items() if leg.size}
    if traded != held:
        raise AssertionError(f"{where}: fills leave {traded}, held is {held}")


def _check_orders(book: FuturesBook, reckoned: _Reckoning, where: str) -> None:
    for order in _every_order(book):
        sums = reckoned.orders.get(order.order_id)
        if sums is not None and (sums.size, sums.fee, sums.profit) != (order.filled, order.fee, order.profit):
            raise AssertionError(f"{where}: order {order.order_id} is not the sum of its fills: {sums}")


def _check_coin(book: FuturesBook, coin: str, reckoned: _Reckoning, marks: Mapping[str, Decimal], where: str) -> None:
    paid = sum((order.fee + order.profit for order in _every_order(book) if order.spec.margin_coin == coin), ZERO)
    moved = sum((movement.amount for movement in book.movements if movement.coin == coin), ZERO)
    balance = book.started_with[coin] + paid + moved
    if balance != book.balances[coin]:
        raise AssertionError(f"{where}: orders and movements leave {balance} {coin}, it is {book.balances[coin]}")
    _check_bills(book, coin, where)
    unrealised = ZERO
    for (symbol, _), leg in reckoned.legs.items():
        spec = CONTRACTS[symbol]
        if spec.margin_coin == coin:
            unrealised += leg.profit(marks[symbol], spec.inverse)
    row = account_row(book, coin, marks)
    _near(unrealised, Decimal(row["unrealizedPL"]), f"{where}: the unrealised profit in {coin}")
    _near(balance + unrealised, Decimal(row["accountEquity"]), f"{where}: the equity in {coin}")
    _check_margin_modes(book, coin, row, reckoned, marks, where)
    if book.assets:
        _check_union(book, coin, row, reckoned, marks, where)


def _check_bills(book: FuturesBook, coin: str, where: str) -> None:
    """The last bill of a coin leaves what the wallet holds."""
    last = next((row for row in reversed(book.bills()) if row["coin"] == coin), None)
    if last is not None and Decimal(last["balance"]) != book.balances[coin]:
        raise AssertionError(f"{where}: the last bill leaves {last['balance']} {coin}, it is {book.balances[coin]}")


def _check_margin_modes(
    book: FuturesBook,
    coin: str,
    row: Mapping[str, Any],
    reckoned: _Reckoning,
    marks: Mapping[str, Decimal],
    where: str,
) -> None:
    """Isolated and crossed positions share margin and profit without rest."""
    isolated = ZERO
    for (symbol, _), leg in reckoned.legs.items():
        spec = CONTRACTS[symbol]
        if spec.margin_coin == coin and symbol in book.isolated:
            isolated += leg.profit(marks[symbol], spec.inverse)
    _near(isolated, Decimal(row["isolatedUnrealizedPL"]), f"{where}: the unrealised profit of isolated positions")
    for whole, crossed, apart in (
        ("locked", "crossedMargin", "isolatedMargin"),
        ("unrealizedPL", "crossedUnrealizedPL", "isolatedUnrealizedPL"),
    ):
        _near(Decimal(row[crossed]) + Decimal(row[apart]), Decimal(row[whole]), f"{where}: {whole}")


def _check_union(
    book: FuturesBook,
    coin: str,
    row: Mapping[str, Any],
    reckoned: _Reckoning,
    marks: Mapping[str, Decimal],
    where: str,
) -> None:
    """The union figures follow from the asset list, the equity and what the fills leave."""
    balances = {asset["coin"]: Decimal(asset["balance"]) for asset in row["assetList"]}
    if balances != {coin: book.balances[coin].quantize(_BOOKED_TO), **book.assets}:
        raise AssertionError(f"{where}: the asset list is {balances}")
    total = Decimal(row["accountEquity"])
    for asset in book.assets:
        total += balances[asset] * marks[f"{asset}USDT"] * COLLATERAL_WEIGHT[asset]
    _near(total, Decimal(row["unionTotalMargin"]), f"{where}: the total margin")
    needed = sum(
        (
            abs(leg.size) * marks[symbol] * MAINTENANCE
            for (symbol, _), leg in reckoned.legs.items()
            if CONTRACTS[symbol].margin_coin == coin
        ),
        ZERO,
    )
    _near(needed, Decimal(row["unionMm"]), f"{where}: the maintenance margin")
    free = max(ZERO, total - Decimal(row["locked"]))
    _near(free, Decimal(row["unionAvailable"]), f"{where}: what is available of the total margin")


def _every_order(book: FuturesBook) -> Iterable[Order]:
    yield from book.orders.values()
    yield from book.done.values()


def _near(reckoned: Decimal, reported: Decimal, what: str) -> None:
    """Within what is lost in booking to eight places."""
    if abs(reckoned - reported) > _BOOKED_TO:
        raise AssertionError(f"{what} is {reckoned}, told is {reported}")


def _change(row: Mapping[str, Any], size: Decimal) -> tuple[str, Decimal]:
    """The leg a fill changes and by how much, a short leg being below nothing."""
    side, trade_side = row["side"], row["tradeSide"]
    if row["posMode"] == ONE_WAY:
        return "net", size if side == "buy" else -size
    # Of what the system closes the suffix names the leg, else side does.
    named = trade_side.rsplit("_", 1)[-1]
    leg = named if named in ("long", "short") else ("long" if side == "buy" else "short")
    return leg, size if (leg == "long") == (trade_side == "open") else -size
