"""What a reversal will cost, as far as it can be known: each figure with its basis; unknown is None, never zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tradetui.trading.money import exact_digits, profit
from tradetui.trading.positions import Position
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.enums import MarginMode, same
from tradetui.wire.models.futures import FuturesAccount, FuturesFill
from tradetui.wire.models.futures_extended import Contract


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """One estimate with the words for where it comes from."""

    name: str
    value: Decimal | None
    coin: str
    basis: str

    def as_json(self) -> dict[str, str | None]:
        """The figure with its decimal as text."""
        return {
            "name": self.name,
            "value": None if self.value is None else exact_digits(self.value),
            "coin": self.coin,
            "basis": self.basis,
        }


@dataclass(frozen=True, slots=True)
class Basis:
    """What estimates are made from: the leg that is reversed, a price, the account, the contract and recent fills."""

    position: Position | None
    price: Decimal | None
    price_from: str
    account: FuturesAccount | None
    contract: Contract | None
    fills: Sequence[FuturesFill] = ()


def estimates(plan: ReversalPlan, basis: Basis) -> tuple[CostEstimate, ...]:
    """Traded amount, notional, fees, realised profit, and margin needed against available."""
    result = max(plan.results, key=lambda projected: projected.traded)
    price, position = basis.price, basis.position
    inverse = plan.wish.product_type.is_coin_margined
    quote = "quote coin"
    margin_coin = plan.wish.margin_coin
    notional = None if price is None else result.traded * price
    rate, rate_from = fee_rate(basis)
    fee = None
    if notional is not None and rate is not None and price:
        fee = -(notional / price if inverse else notional) * rate
    realised = None
    if position is not None and position.entry is not None and price is not None:
        realised = profit(
            plan.wish.product_type,
            long=plan.reverses_long,
            size=result.closed,
            entry=position.entry,
            price=price,
        )
    needed, needed_from = _margin(plan, result.opened, basis)
    available, available_from = _margin_available(basis)
    at = f"at {exact_digits(price)} ({basis.price_from})" if price is not None else "no price can be read"
    return (
        CostEstimate(
            "traded",
            result.traded,
            "base coin",
            f"{exact_digits(result.closed)} closed, {exact_digits(result.opened)} opened",
        ),
        CostEstimate("notional", notional, quote, at),
        CostEstimate("fees", fee, margin_coin, rate_from),
        CostEstimate(
            "realised profit", realised, margin_coin, at if position is not None else "the entry is not known"
        ),
        CostEstimate("margin needed", needed, margin_coin, needed_from),
        CostEstimate(
            "margin available",
            available,
            margin_coin,
            available_from,
        ),
    )


def fee_rate(basis: Basis) -> tuple[Decimal | None, str]:
    """The taker's rate: the contract's, else what the newest taker fill paid."""
    if basis.contract is not None and basis.contract.taker_fee_rate is not None:
        rate = basis.contract.taker_fee_rate
        return rate, f"taker rate {exact_digits(rate * 100)}% of the contract"
    for fill in basis.fills:
        paid = [fee.total_fee for fee in fill.fee_detail if fee.total_fee is not None]
        if fill.is_taker and paid and fill.price and fill.base_volume:
            rate = abs(sum(paid, Decimal(0))) / (fill.price * fill.base_volume)
            return rate, f"rate {exact_digits(round(rate * 100, 4))}% of the newest taker fill"
    return None, "no fee rate can be read"


def _margin(plan: ReversalPlan, opened: Decimal, basis: Basis) -> tuple[Decimal | None, str]:
    position, price = basis.position, basis.price
    if position is None or not position.leverage or price is None:
        return None, "leverage or price is not known"
    notional = opened if plan.wish.product_type.is_coin_margined else opened * price
    return (
        notional / position.leverage,
        f"{exact_digits(opened)} opened at {exact_digits(position.leverage)}x; closing frees margin first",
    )


def _margin_available(basis: Basis) -> tuple[Decimal | None, str]:
    account, position = basis.account, basis.position
    if account is None:
        return None, "not known"
    isolated = position is not None and same(position.margin_mode, MarginMode.ISOLATED)
    available = account.isolated_max_available if isolated else account.crossed_max_available
    if available is None:
        return None, "not known"
    return available, f"the account's maximum to open, {'isolated' if isolated else 'crossed'} margin"


def margin_is_short(figures: Sequence[CostEstimate], freed: Decimal | None) -> bool | None:
    """Whether what is available, with what closing frees, does not cover what is needed; None where unknown."""
    by_name = {figure.name: figure.value for figure in figures}
    needed, available = by_name.get("margin needed"), by_name.get("margin available")
    if needed is None or available is None:
        return None
    return available + (freed or Decimal(0)) < needed
