"""Sizes, profit and notional: linear contracts in the quote coin, coin-margined ones inverse in the base coin."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from tradetui.wire.product_types import ProductType

ZERO: Final = Decimal(0)
_DOLLAR_COINS: Final = frozenset({"USD", "USDT", "USDC", "SUSD", "SUSDT", "SUSDC"})


def is_dollar(coin: str) -> bool:
    """Whether a coin is counted as a dollar: its amounts add up with those of the other dollars."""
    return coin.upper() in _DOLLAR_COINS


def profit(product_type: ProductType, *, long: bool, size: Decimal, entry: Decimal, price: Decimal) -> Decimal:
    """Profit of closing a size at a price, in the margin coin.

    Linear: size times the move. Coin-margined: the same divided by the closing price, since profit is paid in the base
    coin.
    """
    moved = price - entry if long else entry - price
    amount = moved * size
    return amount / price if product_type.is_coin_margined else amount


def mean_entry(held: Decimal, entry: Decimal, added: Decimal, price: Decimal) -> Decimal:
    """The average entry after adding to a leg, weighted by size.

    Coin-margined contracts too, since their size is in the base coin: it is the one average from which the profit of
    the whole is the sum of its parts' profits at any price.
    """
    return (held * entry + added * price) / (held + added)


def known_sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """The sum; None where an amount is not known, since the rest would be another figure, and None of no amounts."""
    total: Decimal | None = None
    for amount in amounts:
        if amount is None:
            return None
        total = amount if total is None else total + amount
    return total


def exact_digits(value: Decimal) -> str:
    """A number as people write it: no exponent, no idle zeros."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text


def exact_digits_if_known(value: Decimal | None) -> str | None:
    return None if value is None else exact_digits(value)


def grouped_digits(value: Decimal, least_places: int = 0) -> str:
    """`exact_digits` with a comma after each thousand, for sentences; what is not zero has `least_places` decimals."""
    exact = Decimal(exact_digits(value))
    decimals = len(f"{exact:f}".partition(".")[2])
    return f"{exact:,.{max(decimals, least_places)}f}" if exact else "0"
