"""What a fault makes of a reversal: the steps the exchange takes instead of those the request asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.books.number_format import ZERO
from tradetui.sandbox.books.reversal_steps import ReversalSteps

REVERSAL_FAULTS: Final = (
    "reverse-smaller",
    "closed-only",
    "remainder",
    "larger",
    "unchanged",
    "liquidated",
    "mode-changed",
    "other",
)


def changed_steps(fault: str | None, steps: ReversalSteps) -> ReversalSteps:
    """The steps under a fault; raises Refusal where so small a size cannot come out as the fault says."""
    return _CHANGES[fault](steps) if fault in _CHANGES else steps


def _smaller(steps: ReversalSteps) -> ReversalSteps:
    part = steps.closing.spec.size(steps.open / 2)
    if not part:
        raise _too_small("reverse-smaller", "opened")
    return replace(steps, open=part)


def _remainder(steps: ReversalSteps) -> ReversalSteps:
    part = steps.closing.spec.size(steps.close / 2)
    if not part:
        raise _too_small("remainder", "closed")
    return replace(steps, close=part, open=ZERO)


def _too_small(fault: str, what: str) -> Refusal:
    return Refusal(
        "45111", f"less than the minimum order quantity: for the fault {fault} at least two steps must be {what}"
    )


#: Under `other` the request is taken the wrong way round: the leg it should have closed grows.
_CHANGES: Final[Mapping[str | None, Callable[[ReversalSteps], ReversalSteps]]] = {
    "reverse-smaller": _smaller,
    "closed-only": lambda steps: replace(steps, open=ZERO),
    "remainder": _remainder,
    "larger": lambda steps: replace(steps, open=steps.open * 2),
    "unchanged": lambda steps: replace(steps, close=ZERO, open=ZERO),
    "liquidated": lambda steps: replace(steps, close=ZERO, open=ZERO),
    "other": lambda steps: replace(steps, close=ZERO, opens=steps.closing.leg),
}
