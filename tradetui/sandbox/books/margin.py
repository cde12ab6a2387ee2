"""How near a futures account is to liquidation: crossed margin by margin coin, isolated margin by position.

In multi-assets mode all assets stand behind the crossed positions together, each with its weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from tradetui.sandbox.books.futures_account import FuturesBook, Holding
from tradetui.sandbox.books.market import COLLATERAL_WEIGHT, MAINTENANCE
from tradetui.sandbox.books.numbers import ZERO


def equity(book: FuturesBook, coin: str, marks: Mapping[str, Decimal]) -> Decimal:
    """Balance and unrealised profit at mark prices, in the margin coin."""
    return book.balances[coin] + book.unrealised(coin, marks)


def collateral(book: FuturesBook, marks: Mapping[str, Decimal]) -> Decimal:
    """The value of multi-assets mode's other assets as margin, in dollars."""
    return sum((amount * marks[f"{coin}USDT"] * COLLATERAL_WEIGHT[coin] for coin, amount in book.assets.items()), ZERO)


def backing(book: FuturesBook, coin: str, marks: Mapping[str, Decimal]) -> Decimal:
    """The margin behind a coin's crossed positions: their profit, and the balance without isolated margin."""
    crossed = book.balances[coin] - book.margin_held(coin, isolated=True)
    return crossed + book.unrealised(coin, marks, isolated=False) + collateral(book, marks)


def free(book: FuturesBook, coin: str, marks: Mapping[str, Decimal]) -> Decimal:
    """Margin available for new positions, in the margin coin; never below zero."""
    return max(ZERO, backing(book, coin, marks) - book.margin_held(coin, isolated=False))


def risk_rate(book: FuturesBook, coin: str, marks: Mapping[str, Decimal]) -> Decimal:
    """Maintenance margin divided by the margin behind crossed positions; at 1 they are liquidated."""
    return _rate(book.maintenance(coin, marks, isolated=False), backing(book, coin, marks))


def position_rate(book: FuturesBook, held: Holding, marks: Mapping[str, Decimal]) -> Decimal:
    """The risk rate of a position: its own if isolated, its coin's if crossed."""
    if not held.isolated:
        return risk_rate(book, held.spec.margin_coin, marks)
    mark = marks[held.spec.symbol]
    return _rate(held.maintenance(mark), held.margin() + held.profit(mark))


def to_close_by_force(book: FuturesBook, coin: str, marks: Mapping[str, Decimal]) -> list[Holding]:
    """Positions whose margin no longer covers their maintenance margin."""
    crossed_short = backing(book, coin, marks) < book.maintenance(coin, marks, isolated=False)
    return [
        held
        for held in book.holdings.values()
        if held.spec.margin_coin == coin
        and (_falls_short_alone(held, marks[held.spec.symbol]) if held.isolated else crossed_short)
    ]


def liquidation_price(book: FuturesBook, held: Holding, marks: Mapping[str, Decimal]) -> Decimal | None:
    """The price of a contract at which the margin behind a position equals maintenance margin.

    Every other price and the worth of other assets stand still. Crossed, it is the same for both legs of a contract,
    since the margin is the account's. A price that cannot be reached comes out below zero or absurdly high, as the
    live exchange reports it; None where no price would do it.
    """
    spec, coin = held.spec, held.spec.margin_coin
    mark = marks[spec.symbol]
    if held.isolated:
        legs, rest = [held], held.margin()
    else:
        legs = [other for other in book.holdings.values() if other.spec is spec and not other.isolated]
        # What the coin's other contracts and the balance leave for this one, which does not move with its price.
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
