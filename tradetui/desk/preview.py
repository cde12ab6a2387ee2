"""A preview: everything known about a reversal at one moment, frozen; confirming refers to it and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tradetui.desk.settings import DeskSettings
from tradetui.trading.estimates import Figure
from tradetui.trading.holdings import Holdings
from tradetui.trading.positions import FromFills, Position, unproven_since
from tradetui.trading.resting_orders import Resting
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.futures import TriggerOrder
from tradetui.wire.product_types import ProductType
from tradetui.wire.vocabulary import PositionMode, Side

EXPIRES_S = 10.0
ARMS_S = 0.5
SENDING_S = 3.0
"""What was read again may be this old when its request leaves; somebody else may have traded meanwhile."""
NOTIONAL_TOLERANCE = Decimal("0.005")


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be reversed: a symbol, and in hedge mode the leg by its side (buy = the long leg)."""

    symbol: str
    product_type: ProductType | None = None
    side: Side | None = None
    size: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The plan with its estimates and what it rests on. Times are monotonic seconds.

    `asked_at` is when the first of what may change was asked for: nothing it says is younger than that for certain.
    """

    target: Target
    plan: ReversalPlan | None
    mode: PositionMode | None
    mode_from: str
    position: Position | None
    positions: tuple[Position, ...]
    figures: tuple[Figure, ...]
    resting: tuple[Resting, ...]
    order_ids: frozenset[str]
    stops_known: bool
    margin_short: bool | None
    asked_at: float
    read_at: float
    newest_fill: str | None = None
    stops: tuple[TriggerOrder, ...] | None = None
    doubts: tuple[str, ...] = ()

    @property
    def notional(self) -> Decimal | None:
        """The largest notional traded, in the quote coin."""
        return next((figure.value for figure in self.figures if figure.name == "notional"), None)

    @property
    def before(self) -> Holdings | None:
        """What is held now."""
        return self.plan.before if self.plan is not None else None

    @property
    def unproven(self) -> str:
        """Why what is held may be more than is known of; empty where it is proven."""
        since = unproven_since(self.positions, self.target.symbol)
        if not since:
            return ""
        moments = [moment for moment in since if moment is not None]
        begins = f" since {min(moments):%Y-%m-%d %H:%M} UTC" if moments else ""
        return f"summed from fills{begins}; what was opened before is not known, and would be held afterwards too"

    @property
    def _not_proven(self) -> str:
        return self.unproven and f"what is held is not proven: {self.unproven}"

    def expired(self, now: float) -> bool:
        """Whether it has been on the screen for too long."""
        return now - self.read_at > EXPIRES_S

    def as_json(self, settings: DeskSettings, blocked: tuple[str, ...]) -> dict[str, Any]:
        """The shape of `tradetui preview --json`; decimals as text."""
        plan, position = self.plan, self.position
        source = position.source if position is not None else None
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
                    "orderId": each.order_id,
                    "words": each.words,
                    "wrongWay": each.wrong_way,
                    "effect": each.effect,
                }
                for each in self.resting
            ],
            "assumptions": [] if plan is None else [*plan.assumptions, *filter(None, [self._not_proven])],
            "blocked": list(blocked),
        }


def changes(old: Preview, new: Preview) -> tuple[str, ...]:
    """What is different between what was shown and what is so now, in words; empty where confirming still holds."""
    if old.plan is None or new.plan is None:
        return ("there is nothing to reverse any more",)
    found: list[str] = []
    if old.plan.wish.product_type is not new.plan.wish.product_type:
        found.append("the product type")
    if old.mode is not new.mode:
        found.append("the position mode")
    if old.plan.before != new.plan.before:
        found.append(f"what is held: {old.plan.before} is now {new.plan.before}")
    if _fields(old.plan) != _fields(new.plan):
        found.append("the request")
    if old.order_ids != new.order_ids:
        found.append("the symbol's pending orders")
    if not old.margin_short and new.margin_short:
        found.append("margin is short now")
    if old.notional and new.notional and abs(new.notional - old.notional) > old.notional * NOTIONAL_TOLERANCE:
        found.append("the price moved by more than half a per cent")
    return tuple(found)


def _fields(plan: ReversalPlan) -> dict[str, Any]:
    return {name: value for name, value in plan.request_fields().items() if name != "clientOid"}
