"""When a figure that crosses a level is news: a pure function of the figure, the level and the time."""

from __future__ import annotations

from decimal import Decimal
from typing import Final, NamedTuple

REARM_S: Final = 60.0
"""How long a figure must stay back before its level fires again."""
BACK: Final = Decimal("0.1")
"""How far back that is, as a part of the level."""


class ThresholdState(NamedTuple):
    """What is remembered between two figures: whether the next crossing fires, and since when the figure is back.

    `back_since_s` is monotonic seconds, None while it is not back.
    """

    armed: bool = True
    back_since_s: float | None = None


def crossed(value: Decimal, level: Decimal, *, above: bool) -> bool:
    """Whether a figure is beyond its level; the level itself is."""
    return value >= level if above else value <= level


def look(
    state: ThresholdState, value: Decimal, level: Decimal, *, above: bool, now_s: float
) -> tuple[ThresholdState, bool]:
    """Take in a figure.

    It fires where it is beyond the level and armed, the first figure of all included. It is armed again once the
    figure was a tenth of the level back, without a break, for a minute.

    Args:
        state: what the figure before left.
        value: the figure, in the level's unit.
        level: the level.
        above: whether beyond means above.
        now_s: monotonic seconds, never less than before.

    Returns:
        The state to go on with, and whether it fires.
    """
    if state.armed:
        fires = crossed(value, level, above=above)
        return ThresholdState(armed=not fires), fires
    margin = abs(level) * BACK
    # A level of zero has no tenth: back is whatever is not beyond it.
    is_back = not crossed(value, level, above=above) and (value <= level - margin if above else value >= level + margin)
    if not is_back:
        return ThresholdState(armed=False), False
    since_s = now_s if state.back_since_s is None else state.back_since_s
    if now_s - since_s >= REARM_S:
        return ThresholdState(), False
    return ThresholdState(armed=False, back_since_s=since_s), False
