"""Trigger orders in a trader's words: their kind, state and failure, and which of them are the stops of a leg.

A trigger order waits at the exchange for a price. The interface's own terms (`pos_loss`, `fail_execute`) remain in the
detail view, in exports and in filters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from tradetui.trading.contract_math import ZERO
from tradetui.trading.fill_terms import effect_of_trigger
from tradetui.wire.enums import PlanStatus, PlanType, PositionMode, PositionSide, known, same

if TYPE_CHECKING:
    from tradetui.wire.models.futures import TriggerOrder

NO_REASON: Final = "no reason given"
_KINDS: Final[Mapping[str, str]] = {
    PlanType.NORMAL_PLAN: "trigger order",
    PlanType.TRACK_PLAN: "trailing order",
    PlanType.PROFIT_LOSS: "take-profit or stop-loss",
    PlanType.PROFIT_PLAN: "take-profit",
    PlanType.LOSS_PLAN: "stop-loss",
    PlanType.MOVING_PLAN: "trailing stop",
    PlanType.POS_PROFIT: "take-profit (position)",
    PlanType.POS_LOSS: "stop-loss (position)",
}
_STOP_LOSSES: Final = frozenset({PlanType.POS_LOSS, PlanType.LOSS_PLAN})
# The interface has no such field; any field that the exchange adds under such a name is the reason.
_REASON_FIELD: Final = re.compile(r"reason|(fail|err)\w*(msg|message|desc|code)|^(msg|message)$", re.IGNORECASE)


class TriggerState(StrEnum):
    WAITING = "waiting"
    EXECUTING = "executing"
    EXECUTED = "executed"
    FAILED = "failed"
    CANCELLED = "cancelled"


_STATES: Final[Mapping[str, TriggerState]] = {
    PlanStatus.LIVE: TriggerState.WAITING,
    PlanStatus.NOT_TRIGGER: TriggerState.WAITING,
    PlanStatus.EXECUTING: TriggerState.EXECUTING,
    PlanStatus.EXECUTED: TriggerState.EXECUTED,
    PlanStatus.FAIL_EXECUTE: TriggerState.FAILED,
    PlanStatus.FAIL_TRIGGER: TriggerState.FAILED,
    PlanStatus.CANCELLED: TriggerState.CANCELLED,
}


def trigger_kind(trigger: TriggerOrder) -> str:
    """Name the kind, such as `stop-loss (position)`; an unknown kind as received, "" without one."""
    word = known(PlanType, trigger.plan_type)
    return trigger.plan_type or "" if word is None else _KINDS[word]


def trigger_state(trigger: TriggerOrder) -> TriggerState | None:
    """Return the state; None if the exchange's term is unknown."""
    if same(trigger.plan_status, "canceled"):
        return TriggerState.CANCELLED
    word = known(PlanStatus, trigger.plan_status)
    return None if word is None else _STATES[word]


def failure_reason(trigger: TriggerOrder) -> str:
    """Return the exchange's reason why a trigger failed, or `no reason given`; "" if it did not fail."""
    if trigger_state(trigger) is not TriggerState.FAILED:
        return ""
    reasons = [
        str(value)
        for field, value in trigger.unknown.items()
        if _REASON_FIELD.search(field) and isinstance(value, str | int) and value not in ("", "0", 0)
    ]
    return ", ".join(reasons) or NO_REASON


class StopLoss(NamedTuple):
    """A waiting stop-loss: its leg, its trigger price (quote coin), its size (base coin), None for the whole leg.

    `is_only_reported` is whether only the position names it, and no order of it can be read.
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
        """Return the size that all stops together close of a leg of this size (base coin); it may exceed the leg."""
        sizes = (*(stop.size for stop in self.stop_losses), *self.trailing)
        return sum((size or leg_size for size in sizes), ZERO)


def stops_of_leg(
    stops: Iterable[TriggerOrder],
    leg: PositionSide | None,
    mode: PositionMode | None,
    reported: Decimal | None = None,
) -> LegStops:
    """Return the stops of a leg among a symbol's waiting trigger orders; the nearest is the highest for a LONG.

    A stop listed under two kinds of trigger orders closes its size once. `reported` is the stop-loss price (quote coin)
    of the leg's position; it counts, for the whole leg, if no order has that price.
    """
    stop_losses: dict[tuple[str, Decimal | None], StopLoss] = {}
    trailing: dict[tuple[str, Decimal | None], Decimal | None] = {}
    for stop in stops:
        plan_type, effect = known(PlanType, stop.plan_type), effect_of_trigger(stop, mode)
        if effect is None or effect.closed_leg is not leg:
            continue
        # The key includes the price, because a stop-loss may share its id with a take-profit or another stop-loss.
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
