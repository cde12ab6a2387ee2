"""Product types of the futures endpoints, and the margin coins in which they are settled."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Final

USDT_COINS: Final = frozenset({"USDT", "SUSDT"})
"""USDT and its counterpart in the older demo scheme."""
_USDC_COINS: Final = frozenset({"USDC", "SUSDC"})
_DELIVERY_MONTHS: Final = "FGHJKMNQUVXZ"  # of futures: January is F, December Z


class ProductType(StrEnum):
    """The six documented product types; the S-types are the older demo scheme on live keys."""

    USDT_FUTURES = "USDT-FUTURES"
    COIN_FUTURES = "COIN-FUTURES"
    USDC_FUTURES = "USDC-FUTURES"
    SUSDT_FUTURES = "SUSDT-FUTURES"
    SCOIN_FUTURES = "SCOIN-FUTURES"
    SUSDC_FUTURES = "SUSDC-FUTURES"

    @classmethod
    def parse(cls, text: str) -> ProductType:
        """Parse a product type in any case; raises ValueError naming the six."""
        try:
            return cls(text.strip().upper())
        except ValueError:
            raise ValueError(f"{text!r} is not a product type; use one of {', '.join(cls)}") from None

    @property
    def is_demo(self) -> bool:
        """Whether this is one of the S-types, which trade demo money."""
        return self.value.startswith("S")

    @property
    def is_coin_margined(self) -> bool:
        return self.value.endswith("COIN-FUTURES")

    @property
    def settlement_coin(self) -> str | None:
        """USDT or USDC; None if every symbol is settled in its own base coin."""
        if self.is_coin_margined:
            return None
        return "USDC" if "USDC" in self.value else "USDT"


def may_trade(product_type: ProductType, symbol: str) -> bool:
    """Whether a symbol can belong to a product type, by its name; True if the name does not show it.

    USDT contracts end in USDT, USDC contracts in PERP or USDC, and inverse ones in USD, optionally followed by a
    delivery date or `_PERP`.
    """
    symbol = symbol.upper()
    if symbol.endswith("USDT"):
        return product_type.settlement_coin == "USDT"
    if symbol.endswith(("PERP", "USDC")) and not symbol.endswith("_PERP"):
        return product_type.settlement_coin == "USDC"
    base, quote, rest = symbol.rpartition("USD")
    is_delivery = rest.lstrip("_")[:1] in tuple(_DELIVERY_MONTHS) and rest[-2:].isdigit()
    is_inverse = base and quote and (rest in ("", "_PERP") or is_delivery or rest.lstrip("_").isdigit())
    return product_type.is_coin_margined if is_inverse else True


def may_hold(product_type: ProductType, coin: str) -> bool:
    """Whether a product type can have an account in a coin.

    USDT and USDC contracts are settled in their own coin alone. Inverse ones accept many, including USDC, but never
    USDT.
    """
    coin = coin.upper()
    if product_type.is_coin_margined:
        return coin not in USDT_COINS
    return coin in (_USDC_COINS if product_type.settlement_coin == "USDC" else USDT_COINS)


def may_move(product_type: ProductType, coin: str) -> bool:
    """Whether a product type's wallets can move a coin; several assets, including USDC, may back USDT contracts."""
    if may_hold(product_type, coin) or coin.upper() not in USDT_COINS | _USDC_COINS:
        return True
    return product_type.settlement_coin == "USDT"


@lru_cache(1024)
def margin_coin(product_type: ProductType, symbol: str) -> str | None:
    """Return the margin coin by the product type's rule: USDT, USDC, or the base coin of a coin-margined symbol.

    None if a coin-margined symbol names no base coin. Demo symbols have an S before both coins (SBTCSUSDT, SBTCSUSD),
    and so has the margin coin.
    """
    symbol = symbol.upper()
    settlement = product_type.settlement_coin
    if settlement is not None:
        demo = f"S{settlement}"
        return demo if product_type.is_demo and symbol.endswith(demo) else settlement
    # The quote of an inverse contract is always USD; a delivery date may follow it (BTCUSDH26, BTCUSD_PERP).
    for quote in ("SUSD", "USD") if product_type.is_demo else ("USD",):
        base, matched_quote, _ = symbol.partition(quote)
        if base and matched_quote:
            return base
    return None
