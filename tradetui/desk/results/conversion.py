"""Turns results of other coins over into USDT, where it is known what they are worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from tradetui.desk.archive.equity import EquitySample
from tradetui.trading.money import ZERO
from tradetui.trading.results.periods import ResultSums
from tradetui.wire.product_types import ProductType, margin_coin

DOLLAR_COINS: Final = frozenset({"USDT", "SUSDT"})
"""Coins that count as USDT; the second is the demo's."""
_PEGGED: Final = frozenset({"USDC", "SUSDC"})
"""Coins that are turned over at the rate the newest sample of equity implies."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What one of a coin is worth in USDT, by coin, as the newest sample of equity says."""

    by_coin: Mapping[str, Decimal]

    @classmethod
    def of(cls, sample: EquitySample | None) -> Rates:
        """The rates of a sample; none without one."""
        accounts = () if sample is None else sample.accounts
        return cls({account.coin: rate for account in accounts if (rate := account.rate) is not None})

    def of_coin(self, coin: str) -> Decimal | None:
        """What one of a coin is worth in USDT now; None where that is not known."""
        return Decimal(1) if coin in DOLLAR_COINS else self.by_coin.get(coin)

    def rate_of(self, product_type: str, symbol: str, coin: str) -> Decimal | None:
        """By what results of a contract in a coin are multiplied: None where that is not known.

        Zero stands for the margin coin of a coin-margined contract, whose fills carry their own price.
        """
        if coin in DOLLAR_COINS:
            return Decimal(1)
        if coin in _PEGGED:
            return self.by_coin.get(coin)
        known_type = ProductType(product_type)
        if known_type.is_coin_margined and coin == margin_coin(known_type, symbol):
            return ZERO
        return None


def in_usdt(sums: ResultSums, rate: Decimal) -> ResultSums:
    """The sums in USDT; zero as the rate means at the price of each fill."""
    if rate == 1:
        return sums
    if rate:
        return ResultSums(
            sums.gross * rate,
            sums.fees * rate,
            sums.volume * rate,
            trades=sums.trades,
            wins=sums.wins,
            losses=sums.losses,
            won=sums.won * rate,
            lost=sums.lost * rate,
        )
    net = sums.gross + sums.fees
    price = (sums.gross_in_usd + sums.fees_in_usd) / net if net else ZERO
    return ResultSums(
        sums.gross_in_usd,
        sums.fees_in_usd,
        sums.volume,
        trades=sums.trades,
        wins=sums.wins,
        losses=sums.losses,
        won=sums.won * price,
        lost=sums.lost * price,
    )
