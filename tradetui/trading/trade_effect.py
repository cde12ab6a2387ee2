"""What an order or a fill does, by its terms alone ("opens LONG"), and what that does to holdings ("adds to the LONG").

In hedge mode `side` names the leg (buy is LONG) and `tradeSide` says open or close: a close whose side is `sell` buys a
SHORT back. In one-way mode `side` is the direction and nothing else counts. An order or fill with an unknown term has
no effect that is known: None, so that nothing is decided by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from tradetui.trading.contract_math import ZERO
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.wire.enums import PlanType, PositionMode, PositionSide, Side, SystemClose, TradeSide, known, system_close

if TYPE_CHECKING:
    from tradetui.wire.models.futures import PendingOrder, TriggerOrder

LONG, SHORT = PositionSide.LONG, PositionSide.SHORT
_MAY_ONLY_REDUCE: Final = {"yes": True, "true": True, "no": False, "false": False}
CLOSING_PLANS: Final = frozenset(
    {PlanType.PROFIT_PLAN, PlanType.LOSS_PLAN, PlanType.MOVING_PLAN, PlanType.POS_PROFIT, PlanType.POS_LOSS}
)
"""Kinds of trigger orders that take profit or stop a loss of a position, and so close it."""


class TradeAction(StrEnum):
    """What a trade does. The exchange itself takes the actions from REDUCE on, and a trader the others."""

    OPEN = "open"
    CLOSE = "close"
    BUY = "buy"
    SELL = "sell"
    REDUCE = "reduce"
    OFFSET = SystemClose.OFFSET
    LIQUIDATE = SystemClose.LIQUIDATION
    DELIVER = SystemClose.DELIVERY
    DELEVERAGE = SystemClose.ADL


_VERBS: Final[Mapping[TradeAction, tuple[str, str]]] = {
    TradeAction.OPEN: ("opens", "opened"),
    TradeAction.CLOSE: ("closes", "closed"),
    TradeAction.BUY: ("buys", "bought"),
    TradeAction.SELL: ("sells", "sold"),
    TradeAction.REDUCE: ("reduces", "reduced"),
    TradeAction.OFFSET: ("offsets", "offset"),
    TradeAction.LIQUIDATE: ("liquidates", "liquidated"),
    TradeAction.DELIVER: ("settles", "settled"),
    TradeAction.DELEVERAGE: ("deleverages", "deleveraged"),
}
_SYSTEM_ACTIONS: Final[Mapping[str, TradeAction]] = {
    word: TradeAction(system_close(word) or TradeAction.REDUCE)
    for word in TradeSide
    if word.startswith("reduce_") or system_close(word)
}
_ONE_WAY_SIDES: Final = frozenset(word for word in TradeSide if "single" in word)


class FilledTrade(Protocol):
    """The terms of a trade: those of a fill, or of an order's fills together."""

    @property
    def side(self) -> str: ...
    @property
    def trade_side(self) -> str | None: ...
    @property
    def pos_mode(self) -> str | None: ...


class TradeEffect(NamedTuple):
    """An action on a leg; `leg` is None for BUY and SELL, which move the net of one-way mode."""

    action: TradeAction
    leg: PositionSide | None = None

    @property
    def buys(self) -> bool:
        """Whether the coin is bought; the economic direction, which `side` is not in hedge mode."""
        match self.action:
            case TradeAction.BUY:
                return True
            case TradeAction.SELL:
                return False
            case TradeAction.OPEN:
                return self.leg is LONG
            case _:
                return self.leg is SHORT

    @property
    def closed_leg(self) -> PositionSide:
        """The leg that it closes, if any: of a BUY or SELL the opposite one."""
        return self.leg or (SHORT if self.buys else LONG)

    @property
    def present(self) -> str:
        """The effect of an order: `opens LONG`, `buys`."""
        return self._phrase(_VERBS[self.action][0])

    @property
    def past(self) -> str:
        """The effect of a fill: `closed SHORT`, `sold`."""
        return self._phrase(_VERBS[self.action][1])

    def _phrase(self, verb: str) -> str:
        return verb if self.leg is None else f"{verb} {self.leg.upper()}"


def effect_of_order(order: PendingOrder, mode: PositionMode | None = None) -> TradeEffect | None:
    """The effect of a pending order once it fills; `mode` where it is known better than from the order.

    A reduce-only order of one-way mode closes: it can do nothing else.
    """
    reduces = False if order.reduce_only is None else _MAY_ONLY_REDUCE.get(order.reduce_only.lower())
    if reduces is None:
        return None
    return _effect(order.side, order.trade_side, order.pos_mode, mode, pos_side=order.pos_side, reduces=reduces)


def effect_of_trigger(trigger: TriggerOrder, mode: PositionMode | None = None) -> TradeEffect | None:
    """The effect of a trigger order once it executes; in hedge mode a take-profit or stop-loss closes by its kind."""
    trade_side = trigger.trade_side
    if not trade_side and known(PlanType, trigger.plan_type) in CLOSING_PLANS:
        trade_side = TradeSide.CLOSE
    return _effect(trigger.side, trade_side, trigger.pos_mode, mode, pos_side=trigger.pos_side)


def effect_of_fill(fill: FilledTrade) -> TradeEffect | None:
    """The effect of a fill on its leg; None where a term of it is not known."""
    return _effect(fill.side, fill.trade_side, fill.pos_mode)


def _effect(
    side_word: str | None,
    trade_side_word: str | None,
    mode_word: str | None,
    mode: PositionMode | None = None,
    *,
    pos_side: str | None = None,
    reduces: bool = False,
) -> TradeEffect | None:
    side, trade_side = known(Side, side_word), known(TradeSide, trade_side_word)
    leg = known(PositionSide, pos_side)
    if pos_side and leg is None:
        return None
    if mode is None:
        mode = known(PositionMode, mode_word)
        if mode is None and mode_word:
            return None
    if mode is None:
        # Each mode has words of its own, so that they tell it where nothing else does.
        mode = PositionMode.ONE_WAY if trade_side in _ONE_WAY_SIDES else PositionMode.HEDGE
    if mode is PositionMode.ONE_WAY:
        return _one_way(side, trade_side, reduces=reduces)
    return _hedge(side, trade_side, leg)


def _one_way(side: Side | None, trade_side: TradeSide | None, *, reduces: bool) -> TradeEffect | None:
    if side is None:
        return None
    closed_leg = SHORT if side is Side.BUY else LONG
    if trade_side in _SYSTEM_ACTIONS and trade_side in _ONE_WAY_SIDES:
        return TradeEffect(_SYSTEM_ACTIONS[trade_side], closed_leg)
    if reduces:
        return TradeEffect(TradeAction.CLOSE, closed_leg)
    return TradeEffect(TradeAction.BUY if side is Side.BUY else TradeAction.SELL)


def _hedge(side: Side | None, trade_side: TradeSide | None, pos_side: PositionSide | None) -> TradeEffect | None:
    if trade_side is None or trade_side in _ONE_WAY_SIDES:
        return None
    if trade_side in _SYSTEM_ACTIONS:
        # The suffix names the leg; `side` does not always.
        return TradeEffect(_SYSTEM_ACTIONS[trade_side], LONG if trade_side.endswith("_long") else SHORT)
    leg = pos_side if pos_side in (LONG, SHORT) else {Side.BUY: LONG, Side.SELL: SHORT, None: None}[side]
    if leg is None:
        return None
    return TradeEffect(TradeAction.OPEN if trade_side is TradeSide.OPEN else TradeAction.CLOSE, leg)


class ImpactKind(StrEnum):
    """Possible effects of an order on the holdings."""

    ADDS = "adds"
    OPENS = "opens"
    OPENS_AGAINST = "opens against"
    REDUCES = "reduces"
    CLOSES = "closes"
    TURNS = "turns"
    NOTHING = "nothing"


class Impact(NamedTuple):
    """An order's effect on what is held: `leg` is the one it works on, the one it opens where it turns a net round."""

    kind: ImpactKind
    leg: PositionSide

    def phrase(self, new: PositionSide | None = None) -> str:
        """Such as `adds to the new LONG`; `new` is the leg that a reversal has just opened."""
        other = SHORT if self.leg is LONG else LONG

        def the(leg: PositionSide) -> str:
            return f"the {'new ' if leg is new else ''}{leg.upper()}"

        match self.kind:
            case ImpactKind.ADDS:
                return f"adds to {the(self.leg)}"
            case ImpactKind.OPENS:
                return f"opens a {self.leg.upper()}"
            case ImpactKind.OPENS_AGAINST:
                return f"opens a {self.leg.upper()} against {the(other)}"
            case ImpactKind.REDUCES:
                return f"reduces {the(self.leg)}"
            case ImpactKind.CLOSES:
                return f"closes {the(self.leg)}"
            case ImpactKind.TURNS:
                return f"closes {the(other)} and opens a {self.leg.upper()}"
            case ImpactKind.NOTHING:
                return f"has no {self.leg.upper()} left to close"


def impact_on(effect: TradeEffect, size: Decimal | None, held: Holdings) -> Impact | None:
    """The impact of an order of a size (base coin; None is the whole leg) on the holdings.

    None where the effect is of the other position mode than the holdings.
    """
    if isinstance(held, Net):
        return _impact_on_net(effect, size, held.net)
    return _impact_on_legs(effect, size, held)


def _impact_on_net(effect: TradeEffect, size: Decimal | None, net: Decimal) -> Impact | None:
    if effect.action is TradeAction.OPEN:
        return None
    closed, opened = (SHORT, LONG) if effect.buys else (LONG, SHORT)
    held = max(-net if effect.buys else net, ZERO)
    if held:
        if size is None or size == held or (size > held and effect.leg is not None):
            return Impact(ImpactKind.CLOSES, closed)
        return Impact(ImpactKind.REDUCES, closed) if size < held else Impact(ImpactKind.TURNS, opened)
    if effect.leg is not None:
        return Impact(ImpactKind.NOTHING, closed)
    return Impact(ImpactKind.ADDS if net else ImpactKind.OPENS, opened)


def _impact_on_legs(effect: TradeEffect, size: Decimal | None, held: Legs) -> Impact | None:
    if effect.leg is None:
        return None
    own = held.size_of(effect.leg)
    if effect.action is TradeAction.OPEN:
        kind = ImpactKind.ADDS if own else ImpactKind.OPENS if held == Legs() else ImpactKind.OPENS_AGAINST
    elif not own:
        kind = ImpactKind.NOTHING
    else:
        kind = ImpactKind.CLOSES if size is None or size >= own else ImpactKind.REDUCES
    return Impact(kind, effect.leg)


def held_after_fill(effect: TradeEffect, size: Decimal | None, held: Holdings) -> Holdings:
    """The holdings once an order of a size (base coin; None is all that it can close) has filled.

    An order that may only close is limited by the holdings. Raises ValueError where the effect is of the other position
    mode.
    """
    if isinstance(held, Net):
        if effect.action is TradeAction.OPEN:
            raise ValueError(f"{effect.present} is of hedge mode, and a net of one-way mode is held")
        opposite = max(-held.net if effect.buys else held.net, ZERO)
        traded = opposite if size is None else size if effect.leg is None else min(size, opposite)
        return Net(held.net + (traded if effect.buys else -traded))
    if effect.leg is None:
        raise ValueError(f"{effect.present} is of one-way mode, and a LONG and a SHORT of hedge mode are held")
    own = held.size_of(effect.leg)
    opens = effect.action is TradeAction.OPEN
    return held.moved(effect.leg, (size or ZERO) if opens else -(own if size is None else min(size, own)))
