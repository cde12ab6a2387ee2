"""The effect of a fill, or of an order once it fills, on a position, from its terms alone: "opens LONG".

In hedge mode `side` names the leg (buy is LONG) and `tradeSide` is open or close: a close with side `sell` buys a SHORT
back. In one-way mode `side` is the direction, and `tradeSide` only shows forced closes by the exchange. Unknown terms
have no known effect: None, so that no decision depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from tradetui.wire.enums import PlanType, PositionMode, PositionSide, Side, SystemClose, TradeSide, known, system_close

if TYPE_CHECKING:
    from tradetui.wire.models.futures import PendingOrder, TriggerOrder

LONG, SHORT = PositionSide.LONG, PositionSide.SHORT
_MAY_ONLY_REDUCE: Final = {"yes": True, "true": True, "no": False, "false": False}
CLOSING_PLANS: Final = frozenset(
    {PlanType.PROFIT_PLAN, PlanType.LOSS_PLAN, PlanType.MOVING_PLAN, PlanType.POS_PROFIT, PlanType.POS_LOSS}
)
"""Kinds of trigger orders that close a position: take-profits and stop-losses."""


class TradeAction(Enum):
    """The action of a trade, as a verb for an order and for a fill. Actions from REDUCE on are the exchange's own."""

    OPEN = "opens", "opened"
    CLOSE = "closes", "closed"
    BUY = "buys", "bought"
    SELL = "sells", "sold"
    REDUCE = "reduces", "reduced"
    OFFSET = "offsets", "offset"
    LIQUIDATE = "liquidates", "liquidated"
    DELIVER = "settles", "settled"
    DELEVERAGE = "deleverages", "deleveraged"


_ACTION_OF_CAUSE: Final[Mapping[SystemClose | None, TradeAction]] = {
    None: TradeAction.REDUCE,
    SystemClose.OFFSET: TradeAction.OFFSET,
    SystemClose.LIQUIDATION: TradeAction.LIQUIDATE,
    SystemClose.DELIVERY: TradeAction.DELIVER,
    SystemClose.ADL: TradeAction.DELEVERAGE,
}
_SYSTEM_ACTIONS: Final[Mapping[TradeSide | None, TradeAction]] = {
    word: _ACTION_OF_CAUSE[system_close(word)] for word in TradeSide if word.startswith("reduce_") or system_close(word)
}


class TradeEffect(NamedTuple):
    """An action on a leg; `leg` is None for BUY and SELL, which move the net of one-way mode."""

    action: TradeAction
    leg: PositionSide | None = None

    @property
    def opens(self) -> bool | None:
        """Whether it opens; None for BUY and SELL, which close an opposite position and open the rest."""
        return None if self.leg is None else self.action is TradeAction.OPEN

    @property
    def buys(self) -> bool:
        """Whether the coin is bought: the economic direction, which `side` is not in hedge mode."""
        if self.leg is None:
            return self.action is TradeAction.BUY
        return (self.action is TradeAction.OPEN) is (self.leg is LONG)

    @property
    def closed_leg(self) -> PositionSide:
        """The leg that it closes, if any; for BUY or SELL the opposite leg."""
        return self.leg or (SHORT if self.buys else LONG)

    @property
    def present(self) -> str:
        """The effect of an order: `opens LONG`, `buys`."""
        return self._phrase(self.action.value[0])

    @property
    def past(self) -> str:
        """The effect of a fill: `closed SHORT`, `sold`."""
        return self._phrase(self.action.value[1])

    def _phrase(self, verb: str) -> str:
        return verb if self.leg is None else f"{verb} {self.leg.upper()}"


class ReceivedTerms(Protocol):
    """The terms of a fill, of an order's fills together, or of an order, as received."""

    @property
    def side(self) -> str | None: ...
    @property
    def trade_side(self) -> str | None: ...
    @property
    def pos_mode(self) -> str | None: ...


class FillTerms(NamedTuple):
    """The meaning of a fill's terms.

    `mode` is the position mode, None if they do not show it. `leg` is the leg of the fill, the net in one-way mode.
    `effect` is None if a term is unknown: `unknown_word` is its field and value as received. `opens` and `buys` are
    those of the effect. `forced_by` is the cause of a forced close.
    """

    mode: PositionMode | None
    leg: PositionSide
    effect: TradeEffect | None
    opens: bool | None
    buys: bool
    forced_by: SystemClose | None
    unknown_word: str


def terms_of(fill: ReceivedTerms, mode: PositionMode | None = None) -> FillTerms:
    """Return the terms of a fill; `mode` is the position mode if known from elsewhere.

    A fill with words of the other mode has no effect.
    """
    return _fill_terms(fill.side, fill.trade_side, fill.pos_mode, mode)


@lru_cache(maxsize=1024)
def _fill_terms(
    side_word: str | None, trade_side_word: str | None, mode_word: str | None, known_mode: PositionMode | None
) -> FillTerms:
    side, trade_side = known(Side, side_word), known(TradeSide, trade_side_word)
    mode, unknown_word = _mode(trade_side_word, mode_word), ""
    if side is None:
        unknown_word = f"side {side_word!r}"
    elif mode_word and mode is None:
        unknown_word = f"posMode {mode_word!r}"
    elif mode is not PositionMode.ONE_WAY and not _is_of_hedge_mode(trade_side):
        unknown_word = f"tradeSide {trade_side_word!r}"
    mode = known_mode or mode
    effect = None if unknown_word else _effect(side, trade_side, mode)
    is_net = mode is PositionMode.ONE_WAY or (mode is None and bool(mode_word))
    return FillTerms(
        mode,
        PositionSide.NET if is_net else _leg(trade_side_word, side) or SHORT,
        effect,
        None if effect is None else effect.opens,
        effect is not None and effect.buys,
        system_close(trade_side_word),
        unknown_word,
    )


def effect_of_order(order: PendingOrder, mode: PositionMode | None = None) -> TradeEffect | None:
    """Return the effect of a pending order once it fills; `mode` is the position mode if known from elsewhere.

    In one-way mode a reduce-only order can only close.
    """
    reduces = False if order.reduce_only is None else _MAY_ONLY_REDUCE.get(order.reduce_only.lower())
    return None if reduces is None else _effect_of_resting(order, order.trade_side, mode, reduces=reduces)


def effect_of_trigger(trigger: TriggerOrder, mode: PositionMode | None = None) -> TradeEffect | None:
    """Return the effect of a trigger order once it executes; in hedge mode take-profits and stop-losses close."""
    trade_side = trigger.trade_side
    if not trade_side and known(PlanType, trigger.plan_type) in CLOSING_PLANS:
        trade_side = TradeSide.CLOSE
    return _effect_of_resting(trigger, trade_side, mode)


def _effect_of_resting(
    order: PendingOrder | TriggerOrder, trade_side: str | None, mode: PositionMode | None, *, reduces: bool = False
) -> TradeEffect | None:
    leg, mode = known(PositionSide, order.pos_side), mode or _mode(trade_side, order.pos_mode)
    if (order.pos_side and leg is None) or (order.pos_mode and mode is None):
        return None
    return _effect(known(Side, order.side), known(TradeSide, trade_side), mode, leg=leg, reduces=reduces)


def sides_as_received(terms: ReceivedTerms) -> str:
    """Return side and trade side as received, to show them if the effect is not known."""
    return f"{terms.side or ''} {terms.trade_side or ''}".strip()


def _mode(trade_side: str | None, pos_mode: str | None) -> PositionMode | None:
    """Return the position mode that terms show; without `posMode`, only a trade side of one-way mode shows it.

    `open` and `close` do not: one-way mode may have them too.
    """
    if not pos_mode and "_single" in (trade_side or "").lower():
        return PositionMode.ONE_WAY
    return known(PositionMode, pos_mode)


def _leg(trade_side: str | None, side: Side | None) -> PositionSide | None:
    """Return the leg named by hedge-mode terms; by the suffix of a forced close, whose `side` may differ."""
    word = (trade_side or "").lower()
    leg_of_side = {Side.BUY: LONG, Side.SELL: SHORT, None: None}[side]
    return LONG if word.endswith("_long") else SHORT if word.endswith("_short") else leg_of_side


def _is_of_hedge_mode(trade_side: TradeSide | None) -> bool:
    return trade_side is not None and "single" not in trade_side


def _effect(
    side: Side | None,
    trade_side: TradeSide | None,
    mode: PositionMode | None,
    *,
    leg: PositionSide | None = None,
    reduces: bool = False,
) -> TradeEffect | None:
    """Return the effect of known terms; without a mode they are read as hedge mode's.

    `leg` is the leg named by an order.
    """
    system_action = _SYSTEM_ACTIONS.get(trade_side)
    if mode is PositionMode.ONE_WAY:
        if side is None:
            return None
        if system_action is not None or reduces:
            return TradeEffect(system_action or TradeAction.CLOSE, SHORT if side is Side.BUY else LONG)
        return TradeEffect(TradeAction.BUY if side is Side.BUY else TradeAction.SELL)
    if system_action is not None or leg not in (LONG, SHORT):
        leg = _leg(trade_side, side)
    if leg is None or not _is_of_hedge_mode(trade_side):
        return None
    action = TradeAction.OPEN if trade_side is TradeSide.OPEN else system_action or TradeAction.CLOSE
    return TradeEffect(action, leg)
