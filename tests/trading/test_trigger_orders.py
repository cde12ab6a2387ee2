"""Trigger orders in the words of the trade."""

from __future__ import annotations

import pytest

from tests.desk.fixtures.exchange_rows import trigger
from tradetui.trading.trigger_orders import TriggerState, failure_reason, trigger_kind, trigger_state
from tradetui.wire.enums import PlanStatus, PlanType


@pytest.mark.parametrize(
    ("plan_type", "kind"),
    [
        ("pos_loss", "stop-loss (position)"),
        ("POS_PROFIT", "take-profit (position)"),
        ("moving_plan", "trailing stop"),
        ("loss_plan", "stop-loss"),
        ("normal_plan", "trigger order"),
        ("grid_plan", "grid_plan"),
        ("", ""),
    ],
)
def test_a_kind_is_named_as_traders_name_it_and_an_unknown_one_as_it_came(plan_type: str, kind: str) -> None:
    assert trigger_kind(trigger(1, planType=plan_type)) == kind


@pytest.mark.parametrize("plan_type", PlanType)
def test_no_kind_of_the_interface_is_shown_in_its_words(plan_type: PlanType) -> None:
    assert "_" not in trigger_kind(trigger(1, planType=plan_type))


@pytest.mark.parametrize("status", PlanStatus)
def test_every_status_of_the_interface_is_a_state(status: PlanStatus) -> None:
    assert trigger_state(trigger(1, status)) is not None


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("fail_execute", TriggerState.FAILED),
        ("canceled", TriggerState.CANCELLED),
        ("not_trigger", TriggerState.WAITING),
        ("triggered", None),
    ],
)
def test_a_state_is_what_the_status_means(status: str, state: TriggerState | None) -> None:
    assert trigger_state(trigger(1, status)) is state


def test_a_failure_has_the_reason_that_the_exchange_gave_or_none() -> None:
    assert failure_reason(trigger(1, "fail_execute")) == "no reason given"
    assert failure_reason(trigger(1, "fail_execute", failReason="Insufficient margin")) == "Insufficient margin"
    assert failure_reason(trigger(1, "fail_trigger", errorMsg="", errorCode="40762")) == "40762"
    assert failure_reason(trigger(1, "executed", failReason="Insufficient margin")) == ""
