"""Sizes, profit and notional: linear contracts in the quote coin, coin-margined ones inverse in the base coin."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from tradetui.wire.product_types import ProductType

ZERO: Final = Decimal(0)
_DOLLAR_COINS: Final = frozenset({"USD", "USDT", "USDC", "SUSD", "SUSDT", "SUSDC"})


def is_dollar(coin: str) -> bool:
    """Whether a coin counts as a dollar, so that its amounts add up with those of other dollar coins."""
    return coin.upper() in _DOLLAR_COINS


def profit(product_type: ProductType, *, long: bool, size: Decimal, entry: Decimal, price: Decimal) -> Decimal:
    """Return the profit of closing a size at a price, in the margin coin.

    Linear: size times the price move. Coin-margined: the same divided by the closing price, because profit is paid in
    the base coin.
    """
    moved = price - entry if long else entry - price
    amount = moved * size
    return amount / price if product_type.is_coin_margined else amount


def mean_entry(held: Decimal, entry: Decimal, added: Decimal, price: Decimal) -> Decimal:
    """Return the average entry after adding to a leg, weighted by size.

    This applies to coin-margined contracts too, because their size is in the base coin: only with this average is the
    profit of the whole the sum of its parts' profits at any price.
    """
    return (held * entry + added * price) / (held + added)


def known_sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """Return the sum; None if an amount is not known, or without amounts."""
    total: Decimal | None = None
    for amount in amounts:
        if amount is None:
            return None
        total = amount if total is None else total + amount
    return total


def exact_digits(value: Decimal) -> str:
    """Format a number as people write it: no exponent, no trailing zeros."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text


def exact_digits_if_known(value: Decimal | None) -> str | None:
    return None if value is None else exact_digits(value)


def grouped_digits(value: Decimal, least_places: int = 0) -> str:
    """Return `exact_digits` with thousands separators; a number other than zero has `least_places` decimals or more."""
    exact = Decimal(exact_digits(value))
    decimals = len(f"{exact:f}".partition(".")[2])
    return f"{exact:,.{max(decimals, least_places)}f}" if exact else "0"
