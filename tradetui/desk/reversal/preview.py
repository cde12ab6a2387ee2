"""A preview: all facts about a reversal at one moment, frozen; a confirmation refers to exactly this."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from tradetui.desk.settings import DeskSettings
from tradetui.desk.tables.time_format import dated_text
from tradetui.trading.contract_math import exact_digits, grouped_digits
from tradetui.trading.estimates.cost_estimates import PRICE_TOLERANCE, Basis, ReversalCosts, reversal_costs
from tradetui.trading.estimates.reversal_estimates import CostEstimate, ReversalEstimates, reversal_estimates
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.orders_after_reversal import OrderImpact, resting_after
from tradetui.trading.positions import FromFills, Position, unproven_since
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.enums import PositionMode, PositionSide, Side, same
from tradetui.wire.models.futures import PendingOrder, TriggerOrder
from tradetui.wire.models.public import Contract
from tradetui.wire.product_types import ProductType

EXPIRES_S = 10.0
SENDING_S = 3.0
"""Maximum age of the second read when the request leaves; the account may have traded meanwhile."""


_LEGS = {"LONG": Side.BUY, "SHORT": Side.SELL}


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a reversal: a symbol, and its leg if one was named (buy = the long leg)."""

    symbol: str
    product_type: ProductType | None = None
    side: Side | None = None
    size: Decimal | None = None

    @classmethod
    def named(cls, name: str) -> Target:
        """Parse a symbol, or symbol and leg: `BTCUSDT SHORT`, which only hedge mode needs."""
        symbol, _, leg = " ".join(name.upper().split()).partition(" ")
        return cls(symbol, side=_LEGS[leg]) if leg in _LEGS else cls(f"{symbol} {leg}".strip())

    @property
    def subject(self) -> str:
        return " ".join([self.symbol, *(leg for leg, side in _LEGS.items() if side is self.side)])


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The facts that were read, the plan, and the figures that explain both. Times are monotonic seconds.

    The checks before sending use the facts, the plan and its `costs`. The `estimates` and the `resting` orders only
    explain it to the trader: they are computed when a screen or a command first reads them.
    """

    target: Target
    plan: ReversalPlan | None
    mode: PositionMode | None
    mode_from: str
    """The source of the position mode, or why it is not known."""
    position: Position | None
    """The leg that is reversed; without a plan the symbol's first."""
    positions: tuple[Position, ...]
    basis: Basis | None
    """The input of the costs; None without a plan."""
    orders: tuple[PendingOrder, ...]
    """The symbol's open orders."""
    requested_at: float
    """When the first changeable fact was requested: no fact is certainly younger than that."""
    read_at: float
    contract: Contract | None = None
    newest_fill: str | None = None
    """The trade id of the symbol's newest fill."""
    recent_fills: frozenset[str] = frozenset()
    """The trade ids of the minute before the newest fill, in which later fills may still be booked."""
    stops: tuple[TriggerOrder, ...] | None = None
    unread_stops: int = 0
    """Number of rows of stops that could not be read."""
    store_version: int | None = None
    """The number of the newest event in the store before anything was read; None without a store."""
    doubts: tuple[str, ...] = ()
    """Why the position is not certain, or why there is no plan, in sentences."""

    @property
    def stops_are_whole(self) -> bool:
        """Whether the exchange reports live stops, and each of their rows could be read."""
        return self.stops is not None and not self.unread_stops

    @cached_property
    def costs(self) -> ReversalCosts | None:
        return None if self.plan is None or self.basis is None else reversal_costs(self.plan, self.basis)

    @cached_property
    def estimates(self) -> ReversalEstimates | None:
        """Costs, risks and the result of the nearest stop; None without a plan."""
        if self.plan is None or self.basis is None or self.costs is None:
            return None
        # The nearest stop may be among the unreadable ones.
        return reversal_estimates(self.plan, self.basis, self.costs, self.stops if self.stops_are_whole else None)

    @cached_property
    def resting(self) -> tuple[OrderImpact, ...]:
        """The symbol's orders and live stops with what each would do after the reversal; empty without a plan."""
        if self.plan is None:
            return ()
        market = None if self.basis is None else self.basis.mark or self.basis.price
        return resting_after(self.plan, self.orders, self.stops or (), market=market)

    @property
    def notional(self) -> Decimal | None:
        """The largest notional that may be traded, in the quote coin; limits apply to it.

        It uses the mark price if that is above the bid or ask: with an empty order book the latter may be close to
        zero.
        """
        costs = self.costs
        if costs is None or costs.notional is None:
            return None
        mark = None if self.position is None else self.position.mark
        return max(costs.notional, costs.traded * (mark or Decimal(0)))

    @property
    def margin_short(self) -> bool | None:
        """Whether the margin does not cover the new position; None if that is not known."""
        return None if self.costs is None else self.costs.margin_short

    @property
    def figures(self) -> tuple[CostEstimate, ...]:
        return () if self.estimates is None else self.estimates.rows()

    @property
    def before(self) -> Holdings | None:
        return self.plan.before if self.plan is not None else None

    @property
    def subject(self) -> str:
        """Symbol and leg, `BTCUSDT SHORT`, as typed to confirm; without a plan as requested."""
        return self.plan.subject if self.plan is not None else self.target.subject

    def unproven(self, zone: tzinfo = UTC) -> str:
        """Return why the position may be larger than known, with a time in `zone`; empty if it is proven."""
        since = unproven_since(self.positions, self.target.symbol)
        if not since:
            return ""
        begins = ""
        if moments := [moment for moment in since if moment is not None]:
            first = min(moments).astimezone(zone)
            begins = f" since {dated_text(first, None)} {first:%Z}"
        return f"summed from fills{begins}; anything opened before is not known, and would stay open"

    def expired(self, now: float) -> bool:
        """Whether it was on the screen for too long."""
        return now - self.read_at > EXPIRES_S

    def as_json(self, settings: DeskSettings, blocked: tuple[str, ...]) -> dict[str, Any]:
        """Return the shape of `tradetui preview --json`; decimals as text."""
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
                {"orderId": order.order_id, "words": order.summary, "wrongWay": order.wrong_way, "effect": order.effect}
                for order in self.resting
            ],
            "assumptions": [] if plan is None else [*plan.assumptions, *doubts],
            "blocked": list(blocked),
        }


class ChangedFact(StrEnum):
    """Facts that may change between a preview and sending; each value is the name on the screen."""

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
    """One fact that differs from the preview, with exact texts before and now."""

    fact: ChangedFact
    """`SIZE` is the size of the reversed leg; `HELD` is all holdings, used if the side or the mode changed."""
    before: str
    now: str
    row: str = ""
    """The row that the change belongs to: an order id, a field of the request or the contract, or another leg."""

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
    """Return the changes since the preview was shown; empty if it may be confirmed.

    A fact that is no longer known counts as a change only for the mode, the holdings and the request.
    """
    if old.plan is None:
        return () if new.plan is None else (Change(ChangedFact.POSSIBLE_AGAIN, _NONE, new.plan.title),)
    if new.plan is None:
        doubts = "; ".join(doubt.removesuffix(".") for doubt in new.doubts)
        return (Change(ChangedFact.NOT_POSSIBLE, old.plan.title, doubts or "nothing is left to reverse"),)
    held = tuple(_changed_holdings(old.plan, new.plan))
    return (
        *_changed_account(old, old.plan, new, new.plan),
        *held,
        # The size of the whole position follows from the leg, which is named already.
        *_changed_request(old.plan, new.plan, ignored=("size",) if held else ()),
        *_changed_orders(old, new),
        *_changed_contract(old.contract, new.contract),
        *_changed_amounts(old, new),
    )


def _changed_account(old: Preview, old_plan: ReversalPlan, new: Preview, new_plan: ReversalPlan) -> Iterator[Change]:
    if old_plan.params.product_type is not new_plan.params.product_type:
        yield Change(ChangedFact.PRODUCT_TYPE, str(old_plan.params.product_type), str(new_plan.params.product_type))
    if old.mode is not new.mode:
        yield Change(ChangedFact.MODE, str(old.mode), str(new.mode))
    positions_now = {position.leg: position for position in new.positions if position.symbol == new.target.symbol}
    for position in old.positions:
        if position.symbol == old.target.symbol and position.leg in positions_now:
            is_reversed = position.is_long == old_plan.reverses_long
            yield from _changed_margin(position, positions_now[position.leg], is_reversed=is_reversed)


def _changed_request(old: ReversalPlan, new: ReversalPlan, *, ignored: Collection[str]) -> Iterator[Change]:
    fields, fields_now = old.request_fields(), new.request_fields()
    for name in dict.fromkeys([*fields, *fields_now]):
        before, now = fields.get(name), fields_now.get(name)
        if before != now and name not in ("clientOid", *ignored):
            yield Change(ChangedFact.REQUEST, _text(before), _text(now), name)


def _changed_orders(old: Preview, new: Preview) -> Iterator[Change]:
    ids, ids_now = ({order.order_id for order in preview.orders} for preview in (old, new))
    if ids == ids_now:
        return
    summaries = {order.order_id: order.summary for preview in (old, new) for order in preview.resting}
    for order_id in sorted(ids - ids_now):
        yield Change(ChangedFact.ORDER_GONE, summaries.get(order_id, order_id), _NONE, order_id)
    for order_id in sorted(ids_now - ids):
        yield Change(ChangedFact.NEW_ORDER, _NONE, summaries.get(order_id, order_id), order_id)


def _changed_amounts(old: Preview, new: Preview) -> Iterator[Change]:
    if not old.margin_short and new.margin_short:
        yield Change(ChangedFact.MARGIN, "enough" if old.margin_short is False else "not known", "short")
    if old.notional and new.notional and abs(new.notional - old.notional) > old.notional * PRICE_TOLERANCE:
        yield Change(ChangedFact.NOTIONAL, f"{old.notional:,.2f}", f"{new.notional:,.2f}")


def _changed_margin(before: Position, now: Position, *, is_reversed: bool) -> Iterator[Change]:
    """Yield changes of a leg's margin mode and leverage; a fact that either preview lacks is no change."""
    leg = "" if is_reversed else before.shown_leg.upper()
    if before.margin_mode and now.margin_mode and not same(before.margin_mode, now.margin_mode):
        yield Change(ChangedFact.MARGIN_MODE, before.margin_mode, now.margin_mode, leg)
    if before.leverage and now.leverage and before.leverage != now.leverage:
        was, leverage = (f"{exact_digits(times)}x" for times in (before.leverage, now.leverage))
        yield Change(ChangedFact.LEVERAGE, was, leverage, leg)


def _changed_contract(before: Contract | None, now: Contract | None) -> Iterator[Change]:
    """Yield changes of the contract's limits and status; a fact that either preview lacks is no change."""
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


def _changed_holdings(old: ReversalPlan, new: ReversalPlan) -> Iterator[Change]:
    before, now = old.before, new.before
    if before == now:
        return
    if isinstance(before, Legs) and isinstance(now, Legs):
        for leg in (PositionSide.LONG, PositionSide.SHORT):
            size, size_now = before.size_of(leg), now.size_of(leg)
            if size != size_now:
                fact = ChangedFact.SIZE if leg is old.closed_leg else ChangedFact[leg.name]
                yield Change(fact, exact_digits(size), exact_digits(size_now))
    elif isinstance(before, Net) and isinstance(now, Net) and before.net * now.net > 0:
        yield Change(ChangedFact.SIZE, exact_digits(abs(before.net)), exact_digits(abs(now.net)))
    else:
        yield Change(ChangedFact.HELD, str(before), str(now))


def _text(value: object) -> str:
    return _NONE if value is None else str(value)
