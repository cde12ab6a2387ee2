"""How close a futures account is to liquidation: crossed margin by margin coin, isolated margin by position.

In multi-assets mode all assets together back the crossed positions, each with its weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from tradetui.sandbox.books.futures_account import FuturesBook, Holding
from tradetui.sandbox.books.market import COLLATERAL_WEIGHT, MAINTENANCE
from tradetui.sandbox.books.numbers import ZERO


def equity(book: FuturesBook, coin: str, marks: Mapping[str, Decimal]) -> Decimal:
    """Return balance plus unrealised profit at mark prices, in the margin coin."""
    return book.balances[coin] + book.unrealised(coin, marks)


def collateral(book: FuturesBook, marks: Mapping[str, Decimal]) -> Decimal:
    """Return the value of multi-assets mode's other assets as margin, in dollars."""
    return sum((amount * marks[f"{coin}USDT"] * COLLATERAL_WEIGHT[coin] for coin, amount in book.assets.items()), ZERO)


def backing(book: FuturesBook, coin: str, marks: Mapping[str, Decimal]) -> Decimal:
    """Return the margin behind a coin's crossed positions: their profit, and the balance without isolated margin."""
    crossed = book.balances[coin] - book.margin_held(coin, isolated=True)
    return crossed + book.unrealised(coin, marks, isolated=False) + collateral(book, marks)


def free(book: FuturesBook, coin: str, marks: Mapping[str, Decimal]) -> Decimal:
    """Return the margin available for new positions, in the margin coin; never negative."""
    return max(ZERO, backing(book, coin, marks) - book.margin_held(coin, isolated=False))


def risk_rate(book: FuturesBook, coin: str, marks: Mapping[str, Decimal]) -> Decimal:
    """Return the maintenance margin divided by the margin behind crossed positions; at 1 they are liquidated."""
    return _rate(book.maintenance(coin, marks, isolated=False), backing(book, coin, marks))


def position_rate(book: FuturesBook, held: Holding, marks: Mapping[str, Decimal]) -> Decimal:
    """Return the risk rate of a position: its own if isolated, its coin's if crossed."""
    if not held.isolated:
        return risk_rate(book, held.spec.margin_coin, marks)
    mark = marks[held.spec.symbol]
    return _rate(held.maintenance(mark), held.margin() + held.profit(mark))


def to_close_by_force(book: FuturesBook, coin: str, marks: Mapping[str, Decimal]) -> list[Holding]:
    """Return the positions whose margin no longer covers their maintenance margin."""
    crossed_short = backing(book, coin, marks) < book.maintenance(coin, marks, isolated=False)
    return [
        held
        for held in book.holdings.values()
        if held.spec.margin_coin == coin
        and (_falls_short_alone(held, marks[held.spec.symbol]) if held.isolated else crossed_short)
    ]


def liquidation_price(book: FuturesBook, held: Holding, marks: Mapping[str, Decimal]) -> Decimal | None:
    """Return the price of a contract at which the margin behind a position equals maintenance margin.

    All other prices and assets are constant. In crossed mode both legs of a contract have the same price, since they
    share the account's margin. An unreachable price is negative or absurdly high, as on the live exchange; None if
    there is no such price.
    """
    spec, coin = held.spec, held.spec.margin_coin
    mark = marks[spec.symbol]
    if held.isolated:
        legs, rest = [held], held.margin()
    else:
        legs = [other for other in book.holdings.values() if other.spec is spec and not other.isolated]
        # The margin that balance and other contracts leave for this one; it does not depend on this contract's price.
        rest = backing(book, coin, marks) - sum((leg.profit(mark) for leg in legs), ZERO)
        rest -= book.maintenance(coin, marks, isolated=False) - sum((leg.maintenance(mark) for leg in legs), ZERO)
    signed = [(leg, leg.size if leg.leg == "long" else -leg.size) for leg in legs]
    net = sum((size for _, size in signed), ZERO)
    cost = sum((size * leg.entry for leg, size in signed), ZERO)
    kept = MAINTENANCE * sum((leg.size for leg in legs), ZERO)
    if spec.inverse:  # rest + net - cost / price = kept
        above, below = cost, rest + net - kept
    else:  # rest + net x price - cost = kept x price
        above, below = cost - rest, net - kept
    return above / below if below else None


def _falls_short_alone(held: Holding, mark: Decimal) -> bool:
    return held.margin() + held.profit(mark) < held.maintenance(mark)


def _rate(needed: Decimal, there: Decimal) -> Decimal:
    if there > 0:
        return needed / there
    return Decimal(1) if needed else ZERO
