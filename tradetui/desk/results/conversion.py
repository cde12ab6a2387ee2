"""Turns results of other coins over into USDT, where it is known what they are worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from tradetui.desk.archive.equity import EquitySample
from tradetui.wire.product_types import USDT_COINS

PEGGED: Final = frozenset({"USDC", "SUSDC"})
"""Coins that are turned over at the rate the newest sample of equity implies, and at par before there is one."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What one of a coin is worth in USDT, by coin, as the newest sample of equity says."""

    by_coin: Mapping[str, Decimal]

    @classmethod
    def of(cls, sample: EquitySample | None) -> Rates:
        accounts = () if sample is None else sample.accounts
        return cls({account.coin: rate for account in accounts if (rate := account.rate) is not None})

    def of_coin(self, coin: str) -> Decimal | None:
        """What one of a coin is worth in USDT now; None where that is not known."""
        return Decimal(1) if coin in USDT_COINS else self.by_coin.get(coin)

    def of_dollar(self, coin: str) -> Decimal | None:
        """What one of a dollar coin is worth in USDT; None of other coins, whose worth then may have been another."""
        if coin in PEGGED:
            return self.by_coin.get(coin, Decimal(1))
        return Decimal(1) if coin in USDT_COINS else None
