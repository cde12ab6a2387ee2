"""Compares margin ratio, positions and prices with the levels of rules, as they are read; a crossing is news once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from tradetui.desk.alerts.alert_event import AlertEvent, one_sentence
from tradetui.desk.alerts.detection.alert_sentences import (
    liquidation_sentence,
    margin_sentence,
    price_sentence,
    result_sentence,
    today_sentence,
)
from tradetui.desk.alerts.rules import THRESHOLDS, Condition, Direction, RuleKind
from tradetui.trading.contract_math import exact_digits
from tradetui.trading.position_figures import in_dollars
from tradetui.trading.positions import Position

FORGOTTEN_S: Final = 60.0
"""How long the state of a position is kept that is not held any more: one poll may have missed it."""
REARM_S: Final = 60.0
"""How long a figure must stay back before its level fires again."""
BACK: Final = Decimal("0.1")
"""How far back that is, as a part of the level."""
_WAYS: Final[Mapping[Direction, tuple[Direction, ...]]] = {
    Direction.UP: (Direction.UP,),
    Direction.DOWN: (Direction.DOWN,),
    Direction.EITHER: (Direction.UP, Direction.DOWN),
}
"""The ways in which a price may cross its level; each is watched by itself."""


@dataclass(slots=True)
class ThresholdState:
    """The state between two figures: whether the next crossing fires, and since when the figure is back.

    `back_since_s` is monotonic seconds, None while it is not back; `seen_s` is when the last figure came.
    """

    armed: bool = True
    back_since_s: float | None = None
    seen_s: float = 0.0

    def fires(self, value: Decimal, level: Decimal, *, above: bool, now_s: float) -> bool:
        """Take in a figure, in the level's unit; `above` is whether beyond means above.

        It fires where it is beyond the level and armed, the first figure of all included. It is armed again once the
        figure was a tenth of the level back, without a break, for a minute. `now_s` is never less than before.
        """
        self.seen_s = now_s
        is_beyond = crossed(value, level, above=above)
        if self.armed:
            self.armed = not is_beyond
            return is_beyond
        margin = abs(level) * BACK
        # A level of zero has no tenth: back is whatever is not beyond it.
        if is_beyond or (value > level - margin if above else value < level + margin):
            self.back_since_s = None
        elif self.back_since_s is None:
            self.back_since_s = now_s
        elif now_s - self.back_since_s >= REARM_S:
            self.armed, self.back_since_s = True, None
        return False


def crossed(value: Decimal, level: Decimal, *, above: bool) -> bool:
    """Whether a figure is beyond its level; the level itself is."""
    return value >= level if above else value <= level


class ThresholdDetector:
    """The levels of all rules; `now_s` is monotonic seconds."""

    def __init__(self, conditions: Iterable[Condition]) -> None:
        self._conditions: list[Condition] = []
        self._watched: dict[tuple[Condition, str], ThresholdState] = {}
        self.use_conditions(conditions)

    def use_conditions(self, conditions: Iterable[Condition]) -> None:
        """Look at other levels from now on; what is known of those that stay is kept."""
        self._conditions = [c for c in dict.fromkeys(conditions) if c.kind in THRESHOLDS and c.level is not None]
        self._watched = {key: state for key, state in self._watched.items() if key[0] in self._conditions}

    def margin_ratio(self, ratio: Decimal | None, now_s: float) -> list[AlertEvent]:
        """Look at the worst margin ratio, a fraction."""
        events = []
        for condition in self._of(RuleKind.MARGIN_RATIO_ABOVE):
            if ratio is not None and self._fires(condition, "", ratio * 100, now_s, above=True):
                events.append(_event(condition, "", margin_sentence(ratio, condition), {"percent": ratio * 100}))
        return events

    def today(self, usdt: Decimal, part: Decimal | None, now_s: float) -> list[AlertEvent]:
        """Look at today's result, in USDT and as a fraction (None where that is not known)."""
        events = []
        for condition in self._of(RuleKind.TODAY_RESULT_BELOW):
            percent = None if part is None else part * 100
            value = percent if condition.is_percent else usdt
            if value is not None and self._fires(condition, "", value, now_s, above=False):
                figures = {"usdt": usdt} if percent is None else {"usdt": usdt, "percent": percent}
                events.append(_event(condition, "", today_sentence(usdt, part, condition), figures))
        return events

    def positions(self, positions: Sequence[Position], now_s: float) -> list[AlertEvent]:
        """Look at how near each position is to liquidation, and at its unrealised result."""
        events = []
        for position in positions:
            percent = None if position.liquidation_distance is None else position.liquidation_distance * 100
            for condition in self._of(RuleKind.LIQUIDATION_NEARER, position.symbol):
                if percent is not None and self._fires(condition, position.row_id, percent, now_s, above=False):
                    sentence = liquidation_sentence(position, percent, condition)
                    events.append(_event(condition, position.row_id, sentence, {"percent": percent}, position.symbol))
            for condition in self._of(RuleKind.POSITION_RESULT_BELOW, position.symbol):
                usdt = in_dollars(position, position.unrealised)
                if usdt is not None and self._fires(condition, position.row_id, usdt, now_s, above=False):
                    sentence = result_sentence(position, usdt, condition)
                    events.append(_event(condition, position.row_id, sentence, {"usdt": usdt}, position.symbol))
        self._forget(now_s)
        return events

    def prices(self, price_of: Callable[[str], Decimal | None], now_s: float) -> list[AlertEvent]:
        events = []
        for condition in self._of(RuleKind.PRICE_CROSSES):
            price = price_of(condition.symbol)
            if price is None:
                continue
            for way in _WAYS[condition.direction]:
                upwards = way is Direction.UP
                if condition.direction is Direction.EITHER:
                    # From the side on which it begins it has crossed nothing yet.
                    self._begin_beyond(condition, way, price, now_s, above=upwards)
                if self._fires(condition, way, price, now_s, above=upwards):
                    sentence = price_sentence(condition.symbol, price, condition, upwards=upwards)
                    events.append(_event(condition, way, sentence, {"price": price}, condition.symbol))
        return events

    def _of(self, kind: RuleKind, symbol: str = "") -> Iterable[Condition]:
        return (c for c in self._conditions if c.kind is kind and (not symbol or c.symbol in ("", symbol)))

    def _begin_beyond(self, condition: Condition, subject: str, value: Decimal, now_s: float, *, above: bool) -> None:
        assert condition.level is not None
        armed = not crossed(value, condition.level, above=above)
        self._watched.setdefault((condition, subject), ThresholdState(armed, seen_s=now_s))

    def _fires(self, condition: Condition, subject: str, value: Decimal, now_s: float, *, above: bool) -> bool:
        assert condition.level is not None
        state = self._watched.setdefault((condition, subject), ThresholdState())
        return state.fires(value, condition.level, above=above, now_s=now_s)

    def _forget(self, now_s: float) -> None:
        for key, watched in list(self._watched.items()):
            of_position = key[0].kind in (RuleKind.LIQUIDATION_NEARER, RuleKind.POSITION_RESULT_BELOW)
            if of_position and now_s - watched.seen_s > FORGOTTEN_S:
                del self._watched[key]


def _event(
    condition: Condition, subject: str, sentence: str, figures: Mapping[str, Decimal], symbol: str = ""
) -> AlertEvent:
    assert condition.level is not None
    level = exact_digits(condition.level)
    return AlertEvent(
        kinds=frozenset({condition.kind}),
        key=f"{condition.kind}|{condition.symbol}|{level}{'%' * condition.is_percent}|{condition.direction}|{subject}",
        sentence=one_sentence(sentence),
        symbol=symbol,
        recurs=True,
        condition=condition,
        figures={"level": level, **{name: exact_digits(value) for name, value in figures.items()}},
    )
