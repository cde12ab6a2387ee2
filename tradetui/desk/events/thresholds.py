"""Compares margin ratio, positions and prices with the levels of rules; a crossing is reported once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Final

from tradetui.desk.events.rules import THRESHOLDS, AlertEvent, Condition, Direction, RuleKind, one_sentence
from tradetui.desk.events.sentences import (
    liquidation_sentence,
    margin_sentence,
    price_sentence,
    result_sentence,
    today_sentence,
)
from tradetui.desk.tables.cells.cell_format import decimals
from tradetui.trading.contract_math import exact_digits
from tradetui.trading.position_figures import in_dollars
from tradetui.trading.positions import Position

FORGOTTEN_S: Final = 60.0  # how long the state of a missing position is kept, because one poll may have missed it
REARM_S: Final = 60.0  # how long a figure must stay back before its level fires again
BACK: Final = Decimal("0.1")  # how far back that is, as a fraction of the level
_IN_PERCENT: Final = frozenset({RuleKind.MARGIN_RATIO_ABOVE, RuleKind.LIQUIDATION_NEARER})
_OF_POSITIONS: Final = frozenset({RuleKind.LIQUIDATION_NEARER, RuleKind.POSITION_RESULT_BELOW})


@dataclass(slots=True)
class ThresholdState:
    """The state of one level between two figures; times are monotonic seconds."""

    armed: bool = True  # whether the next crossing fires
    back_since_s: float | None = None  # since when the figure is back; None while it is not
    seen_s: float = 0.0  # when the last figure came

    def fires(self, value: Decimal, level: Decimal, *, above: bool, now_s: float) -> bool:
        """Process a figure in the level's unit; `above` is whether beyond means above.

        It fires if the figure is beyond the level and the state is armed, also with the very first figure. It is armed
        again after the figure was back by a tenth of the level for a whole minute. `now_s` never decreases.
        """
        self.seen_s = now_s
        is_beyond = crossed(value, level, above=above)
        if self.armed:
            self.armed = not is_beyond
            return is_beyond
        margin = abs(level) * BACK
        # A level of zero has no tenth: any figure not beyond it is back.
        if is_beyond or (value > level - margin if above else value < level + margin):
            self.back_since_s = None
        elif self.back_since_s is None:
            self.back_since_s = now_s
        elif now_s - self.back_since_s >= REARM_S:
            self.armed, self.back_since_s = True, None
        return False


def crossed(value: Decimal, level: Decimal, *, above: bool) -> bool:
    """Whether a figure is beyond its level, or equal to it."""
    return value >= level if above else value <= level


class ThresholdDetector:
    """The levels of all rules; `now_s` is monotonic seconds."""

    def __init__(self, conditions: Iterable[Condition]) -> None:
        self._conditions: list[Condition] = []
        self._watched: dict[tuple[Condition, str], ThresholdState] = {}
        self.use_conditions(conditions)

    def use_conditions(self, conditions: Iterable[Condition]) -> None:
        """Use other levels from now on; the states of those that stay are kept."""
        self._conditions = [c for c in dict.fromkeys(conditions) if c.kind in THRESHOLDS and c.level is not None]
        self._watched = {key: state for key, state in self._watched.items() if key[0] in self._conditions}

    def margin_ratio(self, ratio: Decimal | None, now_s: float) -> list[AlertEvent]:
        """Check the worst margin ratio, a fraction."""
        if ratio is None:
            return []
        figures = {"percent": ratio * 100}
        return self._events(RuleKind.MARGIN_RATIO_ABOVE, figures, partial(margin_sentence, ratio), now_s)

    def today(self, usdt: Decimal, part: Decimal | None, now_s: float) -> list[AlertEvent]:
        """Check today's result, in USDT and as a fraction (None if not known)."""
        figures = {"usdt": usdt} if part is None else {"usdt": usdt, "percent": part * 100}
        return self._events(RuleKind.TODAY_RESULT_BELOW, figures, partial(today_sentence, usdt, part), now_s)

    def positions(self, positions: Sequence[Position], now_s: float) -> list[AlertEvent]:
        """Check each position's distance to liquidation, and its unrealised result."""
        events: list[AlertEvent] = []
        for position in positions:
            if (distance := position.liquidation_distance) is not None:
                percent = distance * 100
                sentence = partial(liquidation_sentence, position, percent)
                events += self._events(RuleKind.LIQUIDATION_NEARER, {"percent": percent}, sentence, now_s, position)
            if (usdt := in_dollars(position, position.unrealised)) is not None:
                sentence = partial(result_sentence, position, usdt)
                events += self._events(RuleKind.POSITION_RESULT_BELOW, {"usdt": usdt}, sentence, now_s, position)
        self._forget(now_s)
        return events

    def prices(self, price_of: Callable[[str], Decimal | None], now_s: float) -> list[AlertEvent]:
        events = []
        for condition in self._of(RuleKind.PRICE_CROSSES):
            if (price := price_of(condition.symbol)) is None:
                continue
            either = condition.direction is Direction.EITHER
            for way in (Direction.UP, Direction.DOWN) if either else (condition.direction,):
                upwards = way is Direction.UP
                if self._fires(condition, way, price, now_s, above=upwards):
                    sentence = price_sentence(condition.symbol, price, condition, upwards=upwards)
                    events.append(_event(condition, way, sentence, {"price": price}, condition.symbol))
        return events

    def _of(self, kind: RuleKind, symbol: str = "") -> Iterable[Condition]:
        return (c for c in self._conditions if c.kind is kind and (not symbol or c.symbol in ("", symbol)))

    def _events(
        self,
        kind: RuleKind,
        figures: Mapping[str, Decimal],
        sentence: Callable[[Condition], str],
        now_s: float,
        position: Position | None = None,
    ) -> list[AlertEvent]:
        """Return the events of conditions that fire; `figures` are by unit, each for conditions of that unit."""
        subject, symbol = ("", "") if position is None else (position.row_id, position.symbol)
        above, events = kind is RuleKind.MARGIN_RATIO_ABOVE, []
        for condition in self._of(kind, symbol):
            value = figures.get("percent" if condition.is_percent or kind in _IN_PERCENT else "usdt")
            if value is not None and self._fires(condition, subject, value, now_s, above=above):
                events.append(_event(condition, subject, sentence(condition), figures, symbol))
        return events

    def _fires(self, condition: Condition, subject: str, value: Decimal, now_s: float, *, above: bool) -> bool:
        assert condition.level is not None
        state = self._watched.get((condition, subject))
        if state is None:
            state = self._watched[condition, subject] = ThresholdState()
            if condition.kind is RuleKind.PRICE_CROSSES and condition.direction is Direction.EITHER:
                # A first figure is on one side of the level and has not crossed it yet.
                state.armed = not crossed(value, condition.level, above=above)
        return state.fires(value, condition.level, above=above, now_s=now_s)

    def _forget(self, now_s: float) -> None:
        for key, state in list(self._watched.items()):
            if key[0].kind in _OF_POSITIONS and now_s - state.seen_s > FORGOTTEN_S:
                del self._watched[key]


def sentence_at_level(
    condition: Condition, positions: Iterable[Position], price: Decimal | None, equity: Decimal | None
) -> str:
    """Return the sentence of a figure that just reaches its level; empty if no position or figure is known for it.

    `price` is the symbol's price, `equity` the base of today's result as a fraction, in USDT.
    """
    level = condition.level
    assert level is not None
    held = [position for position in positions if condition.symbol in ("", position.symbol)]
    match condition.kind:
        case RuleKind.MARGIN_RATIO_ABOVE:
            return margin_sentence(level / 100, condition)
        case RuleKind.PRICE_CROSSES:
            either = condition.direction is Direction.EITHER
            upwards = price is None or price < level if either else condition.direction is Direction.UP
            return price_sentence(condition.symbol, level, condition, upwards=upwards)
        case RuleKind.POSITION_RESULT_BELOW if held:
            return result_sentence(held[0], level, condition)
        case RuleKind.LIQUIDATION_NEARER if level < 100:
            sentences = (_liquidation_at_level(position, level, condition) for position in held)
            return next(filter(None, sentences), "")
        case RuleKind.TODAY_RESULT_BELOW if equity:
            usdt = equity * level / 100 if condition.is_percent else level
            return today_sentence(usdt, usdt / equity, condition)
        case RuleKind.TODAY_RESULT_BELOW if not condition.is_percent:
            return today_sentence(level, None, condition)
    return ""


def _liquidation_at_level(position: Position, level: Decimal, condition: Condition) -> str:
    """Return the sentence for a mark this near to liquidation, `level` in per cent of the mark."""
    mark, liquidation = position.mark, position.liquidation
    if position.liquidation_distance is None or mark is None or liquidation is None:
        return ""
    nearer = liquidation / (1 - level / 100 if liquidation < mark else 1 + level / 100)
    return liquidation_sentence(replace(position, mark=round(nearer, decimals(mark))), level, condition)


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
