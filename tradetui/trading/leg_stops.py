"""Stop-losses and trailing stops that wait for one leg: which fires first, and the size they close."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from tradetui.trading.contract_math import ZERO
from tradetui.trading.trade_effect import effect_of_trigger
from tradetui.wire.enums import PlanType, PositionMode, PositionSide, known

if TYPE_CHECKING:
    from tradetui.wire.models.futures import TriggerOrder

_STOP_LOSSES: Final = frozenset({PlanType.POS_LOSS, PlanType.LOSS_PLAN})


class StopLoss(NamedTuple):
    """A stop-loss that waits: its leg, its trigger price (quote coin), its size (base coin), None for the whole leg.

    `is_only_reported` is whether the position alone names it, and no order of it can be read.
    """

    leg: PositionSide | None
    price: Decimal
    size: Decimal | None
    is_only_reported: bool = False


class LegStops(NamedTuple):
    """The waiting stops of a leg; `trailing` sizes are in the base coin, None for the whole leg."""

    nearest: StopLoss | None
    stop_losses: tuple[StopLoss, ...]
    trailing: tuple[Decimal | None, ...]

    def stopped_size(self, leg_size: Decimal) -> Decimal:
        """The size that all of them close of a leg of this size, in the base coin; it may be more than the leg."""
        sizes = (*(stop.size for stop in self.stop_losses), *self.trailing)
        return sum((size or leg_size for size in sizes), ZERO)


def stops_of_leg(
    stops: Iterable[TriggerOrder],
    leg: PositionSide | None,
    mode: PositionMode | None,
    reported: Decimal | None = None,
) -> LegStops:
    """The stops of a leg among a symbol's waiting trigger orders; the nearest fires first: the highest of a LONG.

    One that the exchange gives under two kinds of trigger orders closes its size once. `reported` is the price (quote
    coin) that the leg's position names as its stop-loss; it counts, for the whole leg, where none of the orders has it.
    """
    stop_losses: dict[tuple[str, Decimal | None], StopLoss] = {}
    trailing: dict[tuple[str, Decimal | None], Decimal | None] = {}
    for stop in stops:
        plan_type, effect = known(PlanType, stop.plan_type), effect_of_trigger(stop, mode)
        if effect is None or effect.closed_leg is not leg:
            continue
        # The price too: a stop-loss may share its id with the take-profit beside it, or with another stop-loss.
        order = stop.order_id, stop.trigger_price
        if plan_type in _STOP_LOSSES and stop.trigger_price:
            stop_losses[order] = StopLoss(leg, stop.trigger_price, stop.size or None)
        elif plan_type is PlanType.MOVING_PLAN:
            trailing[order] = stop.size or None
    waiting = list(stop_losses.values())
    if reported and all(stop_loss.price != reported for stop_loss in waiting):
        waiting.append(StopLoss(leg, reported, None, is_only_reported=True))
    first = max if leg is PositionSide.LONG else min
    nearest = first(waiting, key=lambda stop_loss: stop_loss.price, default=None)
    return LegStops(nearest, tuple(waiting), tuple(trailing.values()))
