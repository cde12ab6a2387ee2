"""Whatever happens around a reversal, in whatever order: sent once, never blindly, and accounted for.

A longer run with other orders of events: python -m pytest -m campaign tests/whole/reversal/test_reversal_machine.py -s
"""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.whole.reversal.reversal_machine import ReversalMachine, occurrences

PHASES = (Phase.generate, Phase.shrink)
SAMPLE = settings(
    max_examples=20, stateful_step_count=25, deadline=None, derandomize=True, database=None, phases=PHASES
)
CAMPAIGN = settings(
    max_examples=1_500, stateful_step_count=40, deadline=None, database=None, print_blob=True, phases=PHASES
)


def test_promises_hold_in_any_order_of_events() -> None:
    run_state_machine_as_test(ReversalMachine, settings=SAMPLE)
    assert occurrences["POSTs"] >= 10 and occurrences["crashes"] >= 10, occurrences


@pytest.mark.campaign
def test_promises_hold_in_many_more_orders() -> None:
    run_state_machine_as_test(ReversalMachine, settings=CAMPAIGN)
    print(f"1500 runs of 40 events: {dict(occurrences)}")  # noqa: T201
