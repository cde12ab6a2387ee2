"""How near a futures account is to liquidation: crossed margin, each margin coin by itself."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from tradetui.sandbox.contracts import MAINTENANCE, ContractSpec
from tradetui.sandbox.figures import ZERO
from tradetui.sandbox.futures_account import FuturesAccount

ALL_OF_IT = Decimal(1)


def equity(book: FuturesAccount, coin: str, marks: Mapping[str, Decimal]) -> Decimal:
    """Balance and unrealised profit at mark prices, in the margin coin."""
    return book.balances[coin] + book.unrealised(coin, marks)


def free(book: FuturesAccount, coin: str, marks: Mapping[str, Decimal]) -> Decimal:
    """What may become margin of new positions, in the margin coin; never below nothing."""
    return max(ZERO, equity(book, coin, marks) - book.margin_held(coin))


def risk_rate(book: FuturesAccount, coin: str, marks: Mapping[str, Decimal]) -> Decimal:
    """Maintenance margin as a part of equity; at 1 the account is liquidated."""
    needed, there = book.maintenance(coin, marks), equity(book, coin, marks)
    if there > 0:
        return needed / there
    return ALL_OF_IT if needed else ZERO


def falls_short(book: FuturesAccount, coin: str, marks: Mapping[str, Decimal]) -> bool:
    """Whether equity no longer covers the maintenance margin, so that the coin's positions are closed by force."""
    return equity(book, coin, marks) < book.maintenance(coin, marks)


def liquidation_price(book: FuturesAccount, spec: ContractSpec, marks: Mapping[str, Decimal]) -> Decimal | None:
    """The price of a contract at which equity equals maintenance margin, every other price standing still.

    The same for both legs of a contract, since the margin is the account's. A price that cannot be reached comes out
    below nothing or absurdly high, as the live exchange reports it; None where no price would do it.
    """
    legs = [held for held in book.holdings.values() if held.spec is spec]
    coin, mark = spec.margin_coin, marks[spec.symbol]
    signed = [(held, held.size if held.leg == "long" else -held.size) for held in legs]
    net = sum((size for _, size in signed), ZERO)
    cost = sum((size * held.entry for held, size in signed), ZERO)
    kept = MAINTENANCE * sum((held.size for held in legs), ZERO)
    # What the coin's other contracts and the balance leave for this one, which does not move with its price.
    rest = equity(book, coin, marks) - sum((held.profit(mark) for held in legs), ZERO)
    rest -= book.maintenance(coin, marks) - kept * (ALL_OF_IT if spec.inverse else mark)
    if spec.inverse:  # rest + net - cost / price = kept
        above, below = cost, rest + net - kept
    else:  # rest + net x price - cost = kept x price
        above, below = cost - rest, net - kept
    return above / below if below else None
