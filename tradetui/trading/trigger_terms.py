"""Trigger orders in the terms of the trade: kind, state, and why one failed.

The interface's own terms (`pos_loss`, `fail_execute`) stay in the detail view, the export and the filter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tradetui.wire.enums import PlanStatus, PlanType, known, same

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
# The interface has no field for it; whatever the exchange adds under such a name is the reason.
_REASON_FIELD: Final = re.compile(r"reason|(fail|err)\w*(msg|message|desc|code)|^(msg|message)$", re.IGNORECASE)


class TriggerState(StrEnum):
    """States of a trigger order."""

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
    """Such as `stop-loss (position)`; a kind that is not known as it came, "" where none came."""
    word = known(PlanType, trigger.plan_type)
    return trigger.plan_type or "" if word is None else _KINDS[word]


def trigger_state(trigger: TriggerOrder) -> TriggerState | None:
    """The state; None where the exchange's term is not known."""
    if same(trigger.plan_status, "canceled"):
        return TriggerState.CANCELLED
    word = known(PlanStatus, trigger.plan_status)
    return None if word is None else _STATES[word]


def failure_reason(trigger: TriggerOrder) -> str:
    """Why a trigger failed as the exchange says it, or `no reason given`; "" of one that did not fail."""
    if trigger_state(trigger) is not TriggerState.FAILED:
        return ""
    reasons = [
        str(value)
        for field, value in trigger.unknown.items()
        if _REASON_FIELD.search(field) and isinstance(value, str | int) and value not in ("", "0", 0)
    ]
    return ", ".join(reasons) or NO_REASON
