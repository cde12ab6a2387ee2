"""What a position has won or lost when its nearest stop-loss fills, before and after a reversal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tradetui.trading.contract_math import ZERO, profit
from tradetui.trading.estimates.cost_estimates import Basis, ReversalCosts
from tradetui.trading.holdings import Legs
from tradetui.trading.positions import Position
from tradetui.trading.resting.order_impact import StopLoss, nearest_stop_loss, trailing_sizes
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.enums import PositionSide
from tradetui.wire.models.futures import TriggerOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class StopResult:
    """Results in the margin coin of the leg that is opened, should its nearest stop-loss fill at its trigger price.

    `price` is None where no stop-loss waits for that leg; `ending` is then the one of the leg that is reversed, and
    `now` its result. `trails` is whether trailing stops wait for the leg instead, whose price moves. `size` is what the
    stop closes afterwards, or the trailing stops together, `leg_size` all of the leg, both in the base coin.
    `is_only_reported` is whether the position alone names the stop, and no order of it can be read; `others_unread`
    whether waiting stops could not be read at all, so that a nearer one may wait.
    """

    leg: PositionSide
    price: Decimal | None = None
    now: Decimal | None = None
    afterwards: Decimal | None = None
    size: Decimal = ZERO
    leg_size: Decimal = ZERO
    ending: Decimal | None = None
    trails: bool = False
    is_only_reported: bool = False
    others_unread: bool = False

    @property
    def is_part(self) -> bool:
        """Whether what waits closes only a part of the leg."""
        return self.size < self.leg_size


def result_if_stopped(
    plan: ReversalPlan, basis: Basis, costs: ReversalCosts, stops: Sequence[TriggerOrder] | None
) -> StopResult | None:
    """The results of one leg's nearest stop-loss, its price taken for the price of its fill.

    `stops` are the symbol's waiting trigger orders, None where they cannot be read. Then only a stop that the position
    itself names is known; without one the result is None.
    """
    old, new = (
        (PositionSide.LONG, PositionSide.SHORT) if plan.reverses_long else (PositionSide.SHORT, PositionSide.LONG)
    )
    # In one-way mode what waits was made for the position that ends.
    waiting = (stops or ()) if isinstance(plan.before, Legs) else ()
    other = basis.other_leg
    stop = nearest_stop_loss(plan, waiting, new, other.stop_loss if other is not None else None)
    if stop is None and stops is None:
        return None
    leg_size = costs.opened + (other.size if other is not None else ZERO)
    if stop is None:
        held = basis.position
        ending = nearest_stop_loss(plan, stops or (), old, held.stop_loss if held is not None else None)
        trailing = trailing_sizes(plan, waiting, new)
        return StopResult(
            leg=new,
            now=None if ending is None else _held_result(plan, basis.position, ending),
            size=min(sum((leg_size if size is None else size for size in trailing), ZERO), leg_size),
            leg_size=leg_size,
            ending=None if ending is None else ending.price,
            trails=bool(trailing),
        )
    size = leg_size if stop.size is None else min(stop.size, leg_size)
    afterwards = None
    if costs.entry_after is not None:
        afterwards = _result(plan, stop, size, costs.entry_after)
    return StopResult(
        leg=new,
        price=stop.price,
        now=_held_result(plan, other, stop),
        afterwards=afterwards,
        size=size,
        leg_size=leg_size,
        is_only_reported=stop.is_only_reported,
        others_unread=stops is None,
    )


def _held_result(plan: ReversalPlan, position: Position | None, stop: StopLoss) -> Decimal | None:
    if position is None or position.entry is None:
        return None
    return _result(plan, stop, position.size if stop.size is None else min(stop.size, position.size), position.entry)


def _result(plan: ReversalPlan, stop: StopLoss, size: Decimal, entry: Decimal) -> Decimal:
    is_long = stop.leg is PositionSide.LONG
    return profit(plan.params.product_type, long=is_long, size=size, entry=entry, price=stop.price)
