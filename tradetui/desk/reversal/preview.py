"""A preview: everything known about a reversal at one moment, frozen; confirming refers to it and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from tradetui.desk.settings import DeskSettings
from tradetui.desk.tables.time_format import dated_text
from tradetui.trading.contract_math import exact_digits, grouped_digits
from tradetui.trading.estimates.cost_estimates import PRICE_TOLERANCE
from tradetui.trading.estimates.reversal_estimates import CostEstimate, ReversalEstimates
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.order_impact import OrderImpact
from tradetui.trading.positions import FromFills, Position, unproven_since
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.enums import PositionMode, Side, same
from tradetui.wire.models.futures import TriggerOrder
from tradetui.wire.models.public import Contract
from tradetui.wire.product_types import ProductType

EXPIRES_S = 10.0
SENDING_S = 3.0
"""The highest age of the second read when its request leaves; somebody else may have traded meanwhile."""


_LEGS = {"LONG": Side.BUY, "SHORT": Side.SELL}


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a reversal: a symbol, and the leg by its side (buy = the long leg) where one was named."""

    symbol: str
    product_type: ProductType | None = None
    side: Side | None = None
    size: Decimal | None = None

    @classmethod
    def named(cls, name: str) -> Target:
        """By its symbol, or by symbol and leg: `BTCUSDT SHORT`, which only hedge mode needs."""
        symbol, _, leg = " ".join(name.upper().split()).partition(" ")
        return cls(symbol, side=_LEGS[leg]) if leg in _LEGS else cls(f"{symbol} {leg}".strip())

    @property
    def subject(self) -> str:
        return " ".join([self.symbol, *(leg for leg, side in _LEGS.items() if side is self.side)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The plan with its estimates and what it rests on. Times are monotonic seconds.

    `requested_at` is when the first of what may change was requested: nothing it says is younger than that for certain.
    """

    target: Target
    plan: ReversalPlan | None
    mode: PositionMode | None
    mode_from: str
    position: Position | None
    positions: tuple[Position, ...]
    estimates: ReversalEstimates | None
    resting: tuple[OrderImpact, ...]
    order_ids: frozenset[str]
    requested_at: float
    read_at: float
    contract: Contract | None = None
    newest_fill: str | None = None
    recent_fills: frozenset[str] = frozenset()
    stops: tuple[TriggerOrder, ...] | None = None
    unread_stops: int = 0
    """How many rows of stops could not be read."""
    doubts: tuple[str, ...] = ()

    @property
    def notional(self) -> Decimal | None:
        """The largest notional traded, in the quote coin, which limits are held to.

        At the mark, where that is above the price to be hit: an empty order book may give next to nothing for that.
        """
        costs = None if self.estimates is None else self.estimates.costs
        if costs is None or costs.notional is None:
            return None
        mark = None if self.position is None else self.position.mark
        return max(costs.notional, costs.traded * (mark or Decimal(0)))

    @property
    def margin_short(self) -> bool | None:
        """Whether the margin does not cover what is opened; None where that is not known."""
        return None if self.estimates is None else self.estimates.costs.margin_short

    @property
    def figures(self) -> tuple[CostEstimate, ...]:
        return () if self.estimates is None else self.estimates.rows()

    @property
    def before(self) -> Holdings | None:
        """The holdings before the reversal; None without a plan."""
        return self.plan.before if self.plan is not None else None

    @property
    def subject(self) -> str:
        """Symbol and leg, `BTCUSDT SHORT`, as it is typed to confirm; as it was requested where there is no plan."""
        return self.plan.subject if self.plan is not None else self.target.subject

    def unproven(self, zone: tzinfo = UTC) -> str:
        """Why the position may be larger than known, its time in a zone; empty where it is proven."""
        since = unproven_since(self.positions, self.target.symbol)
        if not since:
            return ""
        moments = [moment for moment in since if moment is not None]
        begins = f" since {dated_text(local := min(moments).astimezone(zone), None)} {local:%Z}" if moments else ""
        return f"summed from fills{begins}; anything opened before is not known, and would stay open"

    def expired(self, now: float) -> bool:
        """Whether it has been on the screen for too long."""
        return now - self.read_at > EXPIRES_S

    def as_json(self, settings: DeskSettings, blocked: tuple[str, ...]) -> dict[str, Any]:
        """The shape of `tradetui preview --json`; decimals as text."""
        plan, position = self.plan, self.position
        source = position.source if position is not None else None
        doubts = [f"the position is not proven: {unproven}"] if (unproven := self.unproven()) else []
        return {
            "environment": str(settings.environment),
            "account": settings.uid or settings.name,
            "mode": str(self.mode) if self.mode is not None else None,
            "source": None if source is None else ("fills" if isinstance(source, FromFills) else "reported"),
            "request": dict(plan.request_fields()) if plan is not None else None,
            "before": plan.before.as_json() if plan is not None else None,
            "after": [result.after.as_json() for result in plan.results] if plan is not None else [],
            "estimates": [figure.as_json() for figure in self.figures],
            "orders": [
                {
                    "orderId": order.order_id,
                    "words": order.summary,
                    "wrongWay": order.wrong_way,
                    "effect": order.effect,
                }
                for order in self.resting
            ],
            "assumptions": [] if plan is None else [*plan.assumptions, *doubts],
            "blocked": list(blocked),
        }


class ChangedFact(StrEnum):
    """Facts that may change between a preview and the moment of sending; the value is the name on the screen."""

    POSSIBLE_AGAIN = "possible again"
    NOT_POSSIBLE = "not possible any more"
    PRODUCT_TYPE = "product type"
    MODE = "position mode"
    MARGIN_MODE = "margin mode"
    LEVERAGE = "leverage"
    SIZE = "size"
    LONG = "LONG"
    SHORT = "SHORT"
    HELD = "held"
    REQUEST = "request"
    NEW_ORDER = "new order"
    ORDER_GONE = "order gone"
    MARGIN = "margin"
    NOTIONAL = "notional"
    CONTRACT = "contract"


_NONE: Final = "none"
_SIZES: Final = (ChangedFact.SIZE, ChangedFact.LONG, ChangedFact.SHORT)


@dataclass(frozen=True, slots=True)
class Change:
    """One fact that is not as it was shown. `row` is the order's id, the request's or the contract's field, or the
    other leg it is about.

    `before` and `now` are exact texts; `SIZE` is the size of the leg that is reversed, `HELD` all holdings where
    the side or the mode is another one.
    """

    fact: ChangedFact
    before: str
    now: str
    row: str = ""

    def __str__(self) -> str:
        before, now = self.before, self.now
        match self.fact:
            case ChangedFact.POSSIBLE_AGAIN:
                return f"{now} is {self.fact}"
            case ChangedFact.NOT_POSSIBLE:
                return f"{before} is {self.fact}: {now}"
            case ChangedFact.NEW_ORDER:
                return f"{self.fact}: {now}"
            case ChangedFact.ORDER_GONE:
                return f"{self.fact}: {before}"
        name = f"{self.fact} {self.row}".rstrip()
        if self.fact in _SIZES:
            before, now = (grouped_digits(Decimal(size)) for size in (before, now))
        return f"{name} {before} → {now}"


def changes(old: Preview, new: Preview) -> tuple[Change, ...]:
    """The changes since the preview was shown; empty where confirming still holds."""
    if old.plan is None:
        return () if new.plan is None else (Change(ChangedFact.POSSIBLE_AGAIN, _NONE, new.plan.title),)
    if new.plan is None:
        doubts = "; ".join(doubt.removesuffix(".") for doubt in new.doubts)
        return (Change(ChangedFact.NOT_POSSIBLE, old.plan.title, doubts or "nothing is left to reverse"),)
    return tuple(_changes(old, old.plan, new, new.plan))


def _changes(old: Preview, shown: ReversalPlan, new: Preview, now: ReversalPlan) -> Iterator[Change]:
    if shown.params.product_type is not now.params.product_type:
        yield Change(ChangedFact.PRODUCT_TYPE, str(shown.params.product_type), str(now.params.product_type))
    if old.mode is not new.mode:
        yield Change(ChangedFact.MODE, str(old.mode), str(new.mode))
    now_held = {leg.leg: leg for leg in new.positions if leg.symbol == new.target.symbol}
    for leg in old.positions:
        if leg.symbol == old.target.symbol and leg.leg in now_held:
            yield from _changed_margin(leg, now_held[leg.leg], is_reversed=leg.is_long == shown.reverses_long)
    held = tuple(_changed_holdings(shown, now))
    yield from held
    before_fields, now_fields = _fields(shown), _fields(now)
    for name in dict.fromkeys([*before_fields, *now_fields]):
        before, value = before_fields.get(name), now_fields.get(name)
        # The size of the whole position follows the leg, which is named already.
        if before != value and not (name == "size" and held):
            yield Change(ChangedFact.REQUEST, _text(before), _text(value), name)
    orders = {order.order_id: order.summary for preview in (old, new) for order in preview.resting}
    for order_id in sorted(old.order_ids - new.order_ids):
        yield Change(ChangedFact.ORDER_GONE, orders.get(order_id, order_id), _NONE, order_id)
    for order_id in sorted(new.order_ids - old.order_ids):
        yield Change(ChangedFact.NEW_ORDER, _NONE, orders.get(order_id, order_id), order_id)
    yield from _changed_contract(old.contract, new.contract)
    if not old.margin_short and new.margin_short:
        yield Change(ChangedFact.MARGIN, "enough" if old.margin_short is False else "not known", "short")
    if old.notional and new.notional and abs(new.notional - old.notional) > old.notional * PRICE_TOLERANCE:
        yield Change(ChangedFact.NOTIONAL, f"{old.notional:,.2f}", f"{new.notional:,.2f}")


def _changed_margin(before: Position, now: Position, *, is_reversed: bool) -> Iterator[Change]:
    """Changes of the facts behind a leg's margin; a fact that either reading lacks is no change."""
    leg = "" if is_reversed else before.shown_leg.upper()
    if before.margin_mode and now.margin_mode and not same(before.margin_mode, now.margin_mode):
        yield Change(ChangedFact.MARGIN_MODE, before.margin_mode, now.margin_mode, leg)
    if before.leverage and now.leverage and before.leverage != now.leverage:
        was, leverage = (f"{exact_digits(times)}x" for times in (before.leverage, now.leverage))
        yield Change(ChangedFact.LEVERAGE, was, leverage, leg)


def _changed_contract(before: Contract | None, now: Contract | None) -> Iterator[Change]:
    """Changes of facts that decide whether a contract takes an order; one that either reading lacks is no change."""
    if before is None or now is None:
        return
    if before.symbol_status and now.symbol_status and not same(before.symbol_status, now.symbol_status):
        yield Change(ChangedFact.CONTRACT, before.symbol_status, now.symbol_status, "status")
    for was, limit, name in (
        (before.size_multiplier, now.size_multiplier, "size step"),
        (before.min_trade_num, now.min_trade_num, "minimum size"),
        (before.min_trade_usdt, now.min_trade_usdt, "minimum value"),
        (before.max_market_order_qty, now.max_market_order_qty, "maximum size"),
    ):
        if was is not None and limit is not None and was != limit:
            yield Change(ChangedFact.CONTRACT, exact_digits(was), exact_digits(limit), name)


def _changed_holdings(shown: ReversalPlan, now: ReversalPlan) -> Iterator[Change]:
    before, held = shown.before, now.before
    if before == held:
        return
    if isinstance(before, Legs) and isinstance(held, Legs):
        for fact, was, size in (
            (ChangedFact.LONG, before.long, held.long),
            (ChangedFact.SHORT, before.short, held.short),
        ):
            if was != size:
                reversed_leg = (fact is ChangedFact.LONG) == shown.reverses_long
                yield Change(ChangedFact.SIZE if reversed_leg else fact, exact_digits(was), exact_digits(size))
    elif isinstance(before, Net) and isinstance(held, Net) and before.net * held.net > 0:
        yield Change(ChangedFact.SIZE, exact_digits(abs(before.net)), exact_digits(abs(held.net)))
    else:
        yield Change(ChangedFact.HELD, str(before), str(held))


def _fields(plan: ReversalPlan) -> dict[str, Any]:
    return {name: value for name, value in plan.request_fields().items() if name != "clientOid"}


def _text(value: object) -> str:
    return _NONE if value is None else str(value)
