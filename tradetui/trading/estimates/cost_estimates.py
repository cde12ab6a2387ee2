"""The costs of a reversal: fees, realised profit, and the margin that it frees and needs.

An estimate uses one price for every fill, and reported figures for the rest. A cost that cannot be computed is None,
never zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple

from tradetui.trading.contract_math import ZERO, known_sum, mean_entry, profit
from tradetui.trading.positions import Position
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.enums import MarginMode, same
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.futures_accounts import FuturesAccount
from tradetui.wire.models.public import Contract
from tradetui.wire.product_types import ProductType

PRICE_TOLERANCE: Final = Decimal("0.005")
"""An estimate is valid while the price moves by no more than this fraction."""


class PriceSource(StrEnum):
    """The price that the estimates use; the value is its name on the screen."""

    ASK = "the ask"
    BID = "the bid"
    MARK = "the mark, without a bid or ask"
    LAST = "the last price, without a bid or ask"
    FILL = "the newest fill's price"


@dataclass(frozen=True, slots=True)
class Basis:
    """The input of estimates: the leg that is reversed, the other leg, a price, account, contract and fills.

    `price` is in the quote coin. `fills` are the symbol's, newest first.
    """

    position: Position | None
    price: Decimal | None
    price_from: PriceSource
    account: FuturesAccount | None
    contract: Contract | None
    fills: Sequence[FuturesFill] = ()
    other_leg: Position | None = None

    @property
    def mark(self) -> Decimal | None:
        """The mark price of the contract, from its positions."""
        return next((leg.mark for leg in (self.position, self.other_leg) if leg is not None and leg.mark), None)

    @property
    def is_isolated(self) -> bool:
        return self.position is not None and same(self.position.margin_mode, MarginMode.ISOLATED)

    @property
    def margin_unclear(self) -> bool:
        """Whether the position's margin mode is unknown."""
        return self.position is not None and self.position.margin_unclear


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalCosts:
    """Traded sizes and their costs. Amounts are in the margin coin unless stated; paid amounts are negative.

    `closed` and `opened` are in the base coin, `notional` in the quote coin. `freed` is the margin that closing frees,
    `needed` the margin of the opened leg. `free` is the margin available now, `free_after` afterwards. `equity_change`
    is the change of equity at the mark.
    """

    closed: Decimal
    opened: Decimal
    price: Decimal | None
    price_from: PriceSource
    notional: Decimal | None
    fee_rate: Decimal | None
    fee_from: str
    fees: Decimal | None
    realised: Decimal | None
    entry_after: Decimal | None
    needed: Decimal | None
    freed: Decimal | None
    free: Decimal | None
    free_after: Decimal | None
    equity_change: Decimal | None

    @property
    def traded(self) -> Decimal:
        """Closed and opened size together, in the base coin."""
        return self.closed + self.opened

    @property
    def margin_short(self) -> bool | None:
        """Whether the margin does not cover the opened leg; None if too little is known."""
        if self.free_after is not None:
            return self.free_after < ZERO
        if self.needed is None or self.free is None:
            return None
        return self.free + (self.freed or ZERO) < self.needed


def notional_coin(product_type: ProductType, contract: Contract | None) -> str:
    """Return the coin of prices and notionals: the contract's, else the product type's."""
    return (contract.quote_coin if contract is not None else None) or product_type.settlement_coin or "USD"


def reversal_costs(plan: ReversalPlan, basis: Basis) -> ReversalCosts:
    """Return the costs of a plan; of two possible results, those of the one that trades more."""
    result = max(plan.results, key=lambda projected: projected.traded)
    price, mark, reverses_long = basis.price, basis.mark, plan.reverses_long
    product_type = plan.params.product_type
    notional = None if price is None else result.traded * price
    fee = fee_rate(basis, inverse=product_type.is_coin_margined)
    fees = None
    if notional is not None and fee.rate is not None and price:
        fees = -(notional / price if product_type.is_coin_margined else notional) * fee.rate
    entry = basis.position.entry if basis.position is not None else None
    realised = _profit(product_type, long=reverses_long, size=result.closed, entry=entry, price=price)
    closed_at_mark = _profit(product_type, long=reverses_long, size=result.closed, entry=entry, price=mark)
    opened_at_mark = _profit(product_type, long=not reverses_long, size=result.opened, entry=price, price=mark)
    equity_change = known_sum((realised, _minus(closed_at_mark), fees, opened_at_mark))
    needed = _margin_needed(plan, result.opened, basis)
    freed = _margin_freed(plan, result.closed, basis)
    free = _free_margin(basis)
    # The free margin of an isolated position excludes its unrealised profit until it is closed.
    change = known_sum((realised, fees)) if basis.is_isolated else equity_change
    return ReversalCosts(
        closed=result.closed,
        opened=result.opened,
        price=price,
        price_from=basis.price_from,
        notional=notional,
        fee_rate=fee.rate,
        fee_from=fee.source,
        fees=fees,
        realised=realised,
        entry_after=_entry_after(plan, result.opened, basis),
        needed=needed,
        freed=freed,
        free=free,
        free_after=known_sum((free, freed, _minus(needed), change)),
        equity_change=equity_change,
    )


class FeeRate(NamedTuple):
    """A taker's rate as a fraction, None if not known, and its source in words."""

    rate: Decimal | None
    source: str


def fee_rate(basis: Basis, *, inverse: bool) -> FeeRate:
    """Return the contract's taker rate, else the rate of the newest taker fill."""
    if basis.contract is not None and basis.contract.taker_fee_rate is not None:
        return FeeRate(basis.contract.taker_fee_rate, "the contract's taker rate")
    for fill in basis.fills:
        paid = [fee.total_fee for fee in fill.fee_detail if fee.total_fee is not None]
        if fill.is_taker and paid and fill.price and fill.base_volume:
            traded = fill.base_volume if inverse else fill.price * fill.base_volume
            return FeeRate(abs(sum(paid, ZERO)) / traded, "the rate of the newest taker fill")
    return FeeRate(None, "no fee rate can be read")


def _profit(
    product_type: ProductType, *, long: bool, size: Decimal, entry: Decimal | None, price: Decimal | None
) -> Decimal | None:
    """Return the profit of a size from its entry to a price; None if either is not known."""
    if entry is None or not price:
        return None
    return profit(product_type, long=long, size=size, entry=entry, price=price)


def _entry_after(plan: ReversalPlan, opened: Decimal, basis: Basis) -> Decimal | None:
    """Return the entry of the opened leg; in hedge mode averaged with the size already in that leg."""
    if basis.price is None or not opened:
        return None
    other = basis.other_leg
    if other is None or not other.size:
        return basis.price
    return None if other.entry is None else mean_entry(other.size, other.entry, opened, basis.price)


def _margin_needed(plan: ReversalPlan, size: Decimal, basis: Basis) -> Decimal | None:
    leg = basis.other_leg or basis.position
    if leg is None or not leg.leverage or basis.price is None:
        return None
    return (size if plan.params.product_type.is_coin_margined else size * basis.price) / leg.leverage


def _margin_freed(plan: ReversalPlan, closed: Decimal, basis: Basis) -> Decimal | None:
    """Return the closed part of the leg's reported margin, else that by its leverage at the mark."""
    position = basis.position
    if position is None or not position.size:
        return None
    if position.record is not None and position.record.margin_size is not None:
        return position.record.margin_size * closed / position.size
    if not position.leverage or not position.mark:
        return None
    return (closed if plan.params.product_type.is_coin_margined else closed * position.mark) / position.leverage


def _free_margin(basis: Basis) -> Decimal | None:
    if basis.account is None or basis.margin_unclear:
        return None
    return basis.account.isolated_max_available if basis.is_isolated else basis.account.crossed_max_available


def _minus(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else -amount
