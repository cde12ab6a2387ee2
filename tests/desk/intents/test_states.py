"""What an intent says of itself, by the details of its steps."""

from __future__ import annotations

from typing import Any

import pytest

from tradetui.desk.intents.states import Event, Intent, State


def intent(*steps: tuple[State, dict[str, Any]]) -> Intent:
    events = tuple(Event(state, number, details) for number, (state, details) in enumerate(steps))
    return Intent("1", "account", "account|BTCUSDT", "reversal", events[-1].state, events)


SENT = (State.SENT, {"title": "Reverse BTCUSDT LONG"})


@pytest.mark.parametrize(
    ("steps", "end"),
    [
        ([SENT], ""),
        ([SENT, (State.REJECTED, {"message": "no position"})], "no position"),
        ([SENT, (State.WITHDRAWN, {"why": "not sent within 5 s"})], "not sent within 5 s"),
        ([SENT, (State.SETTLED, {"outcome": "reversed"})], "reversed"),
        ([SENT, (State.SETTLED, {"outcome": "reversed", "attribution": "others' orders"})], "reversed; others' orders"),
        ([SENT, (State.SETTLED, {"outcome": "unchanged"}), (State.CORRECTED, {})], ""),
        ([SENT, (State.UNKNOWN, {"message": "no answer"}), (State.RELEASED, {"why": "flat by hand"})], "flat by hand"),
    ],
)
def test_an_end_that_was_corrected_or_released_is_told_by_the_last_step_alone(
    steps: list[tuple[State, dict[str, Any]]], end: str
) -> None:
    assert intent(*steps).end == end


def test_without_a_title_an_intent_is_called_by_its_kind_and_scope() -> None:
    assert intent(SENT).title == "Reverse BTCUSDT LONG"
    assert intent((State.SENT, {})).title == "reversal account|BTCUSDT"
