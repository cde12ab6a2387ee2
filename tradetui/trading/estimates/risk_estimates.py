"""How a reversal changes margin ratio and liquidation price, as far as the reported figures confirm it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Final

from tradetui.trading.contract_math import ZERO
from tradetui.trading.estimates.cost_estimates import Basis, ReversalCosts
from tradetui.trading.estimates.margin import (
    Leg,
    LegCounting,
    MarginedContract,
    best_meeting,
    counted_size,
    nearest_to,
    sensible_liquidation,
)
from tradetui.trading.positions import Position
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.models.futures_accounts import FuturesAccount

_SHOWN_STEP: Final = Decimal("0.0001")
"""The smallest difference of two ratios that are shown in per cent with two decimals."""


class Estimable(StrEnum):
    """Whether a liquidation price can be given for afterwards; the value says why not."""

    YES = ""
    NOT_REPORTED = "the exchange reports none to check it by"
    SEVERAL_COINS = "other coins stand behind the margin too"
    TOO_LITTLE = "the exchange reports too little about the margin"
    UNKNOWN_MODE = "the position's margin mode is not known"
    DOES_NOT_MEET = "the formula does not give the reported price for what is held now"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalRisks:
    """Margin ratios are fractions (1 is liquidation), liquidation prices in the quote coin.

    `liquidation` is the reported price, `liquidation_after` is estimated where `estimable` says so; None then means
    that no price would liquidate. `ratio_is_own` is whether the ratio is the isolated position's own, `ratio_is_most`
    whether less is possible, since what is reported does not say how the exchange counts the legs.
    """

    ratio: Decimal | None = None
    ratio_after: Decimal | None = None
    ratio_is_own: bool = False
    ratio_is_most: bool = False
    liquidation: Decimal | None = None
    liquidation_after: Decimal | None = None
    estimable: Estimable


def reversal_risks(plan: ReversalPlan, basis: Basis, costs: ReversalCosts) -> ReversalRisks:
    """Both risks now and afterwards; where two results are possible, those of the one that trades more."""
    position, account, mark = basis.position, basis.account, basis.mark
    reported = position.liquidation if position is not None else None
    if position is None or account is None or not mark:
        return ReversalRisks(estimable=Estimable.NOT_REPORTED if reported is None else Estimable.TOO_LITTLE)
    liquidation = None if reported is None else sensible_liquidation(reported, mark)
    if basis.margin_unclear:
        return ReversalRisks(liquidation=liquidation, estimable=Estimable.UNKNOWN_MODE)
    known = ReversalRisks(
        ratio=position.margin_ratio if basis.is_isolated else account.margin_ratio,
        ratio_is_own=basis.is_isolated,
        liquidation=liquidation,
        estimable=Estimable.NOT_REPORTED if reported is None else Estimable.TOO_LITTLE,
    )
    legs = tuple(leg for held in (position, basis.other_leg) if held is not None and (leg := _leg(held)) is not None)
    after = _legs_after(plan, legs, costs)
    rate = position.record.keep_margin_rate if position.record is not None else None
    if rate is None or after is None:
        return known
    inverse = plan.params.product_type.is_coin_margined
    if basis.is_isolated:
        pairs = _isolated(position, basis.other_leg, after, costs, mark, rate, inverse)
    else:
        pairs = _crossed(account, legs, after, costs, mark, rate, inverse)
    if not pairs:
        return known
    if reported is None:
        estimable = Estimable.NOT_REPORTED
    elif account.is_union and not basis.is_isolated:
        estimable = Estimable.SEVERAL_COINS
    else:
        met = [pairs[index] for index in best_meeting([now.liquidation_price() for now, _ in pairs], liquidation)]
        estimable = Estimable.YES if met else Estimable.DOES_NOT_MEET
        pairs = met or pairs
    ratios = [then.ratio for _, then in pairs if then.ratio is not None]
    prices = [then.liquidation_price() for _, then in pairs]
    return replace(
        known,
        ratio_after=max(ratios, default=None),
        ratio_is_most=bool(ratios) and max(ratios) - min(ratios) >= _SHOWN_STEP,
        liquidation_after=nearest_to(mark, prices) if estimable is Estimable.YES else None,
        estimable=estimable,
    )


_Pair = tuple[MarginedContract, MarginedContract]


def _crossed(
    account: FuturesAccount,
    legs: tuple[Leg, ...],
    after: tuple[Leg, ...],
    costs: ReversalCosts,
    mark: Decimal,
    rate: Decimal,
    inverse: bool,
) -> Sequence[_Pair]:
    """The account now and afterwards, per way of counting legs."""
    ratio, change = account.margin_ratio, costs.equity_change
    backing = account.union_total_margin if account.is_union else _crossed_equity(account)
    if ratio is None or backing is None or change is None:
        return ()
    pairs = []
    for counting in LegCounting:
        own = rate * counted_size(legs, counting) * (1 if inverse else mark)
        now = MarginedContract(legs, mark, backing, ratio * backing - own, rate, inverse, counting)
        pairs.append((now, replace(now, legs=after, backing=backing + change)))
    return pairs


def _isolated(
    position: Position,
    other: Position | None,
    after: tuple[Leg, ...],
    costs: ReversalCosts,
    mark: Decimal,
    rate: Decimal,
    inverse: bool,
) -> Sequence[_Pair]:
    """The leg that is reversed now, and the leg that is opened afterwards, with their own margins."""
    held, opened = _leg(position), after[-1]
    margin = position.record.margin_size if position.record is not None else None
    other_margin: Decimal | None = ZERO
    if other is not None:
        other_margin = other.record.margin_size if other.record is not None else None
    if held is None or margin is None or other_margin is None or costs.needed is None:
        return ()

    def alone(leg: Leg, margin: Decimal) -> MarginedContract:
        # With nothing but its margin behind it at the entry, where it has won and lost nothing.
        at_entry = MarginedContract((leg,), leg.entry, margin, ZERO, rate, inverse, LegCounting.LARGER_LEG)
        return replace(at_entry, mark=mark, backing=at_entry.backing_at(mark))

    return ((alone(held, margin), alone(opened, other_margin + costs.needed)),)


def _crossed_equity(account: FuturesAccount) -> Decimal:
    """Equity without the margin of isolated positions."""
    return account.account_equity - (account.isolated_margin or ZERO) - (account.isolated_unrealized_pl or ZERO)


def _leg(position: Position) -> Leg | None:
    if position.is_long is None or position.entry is None:
        return None
    return Leg(position.is_long, position.size, position.entry)


def _legs_after(plan: ReversalPlan, legs: Sequence[Leg], costs: ReversalCosts) -> tuple[Leg, ...] | None:
    """The remainder of the reversed leg, if any, and then the opened leg with the size already in it.

    None where an entry is not known, or where nothing is opened.
    """
    reversed_leg = next((leg for leg in legs if leg.is_long == plan.reverses_long), None)
    other = next((leg for leg in legs if leg.is_long != plan.reverses_long), None)
    if reversed_leg is None or costs.entry_after is None:
        return None
    left = replace(reversed_leg, size=reversed_leg.size - costs.closed)
    opened = Leg(not plan.reverses_long, costs.opened + (other.size if other is not None else ZERO), costs.entry_after)
    return (left, opened) if left.size > ZERO else (opened,)
