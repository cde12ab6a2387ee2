from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from decimal import Decimal

from tradetui.desk.intents.states import Intent, State
from tradetui.desk.reversal.outcome import Outcome, SearchStage
from tradetui.desk.tables.time_format import zoned_text
from tradetui.trading.estimates.reversal_actuals import ReversalActuals
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.orders_after_reversal import OrderImpact, compared_with_preview
from tradetui.trading.reversal import ReversalParams, ReversalPlan, plan_reversal
from tradetui.wire.enums import PositionMode, Side
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.product_types import ProductType


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """The rows read after a reversal was settled: the symbol's orders and live stops, its costs and risks.

    `unread` is why they could not be read; empty if they could. `orders_are_whole` and `stops_are_whole` are whether
    none of their rows was left out.
    """

    resting: tuple[OrderImpact, ...] = ()
    actuals: ReversalActuals | None = None
    unread: str = ""
    orders_are_whole: bool = True
    stops_are_whole: bool = True

    def compared_orders(
        self, previewed: Iterable[OrderImpact], plan: ReversalPlan, held: Holdings | None, *, stops_were_whole: bool
    ) -> tuple[OrderImpact, ...]:
        """Return the orders and stops with their differences from the preview; no comparison if `held` is not known."""
        if self.unread or held is None:
            return self.resting

        def may_be_unread(order: OrderImpact) -> bool:
            return not (self.orders_are_whole if order.rests_in_book else self.stops_are_whole and stops_were_whole)

        return compared_with_preview(
            previewed, self.resting, leg_is_gone=not held.size_of(plan.closed_leg), may_be_unread=may_be_unread
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a sent reversal: the intent's state, the stage of the search, and a sentence for the screen.

    `effect` is the holdings by our order alone; `held` is the actual holdings. `aftermath` was read when it settled.
    `ends` is how often the reversal has ended, this time included: a corrected one ends again.
    """

    state: State
    stage: SearchStage
    sentence: str
    held: Holdings | None = None
    effect: Holdings | None = None
    outcome: Outcome | None = None
    came_true: str | None = None
    aftermath: Aftermath | None = None
    ends: int = 1


@dataclass(frozen=True, slots=True)
class Sent:
    """A reversal that left this machine: its intent, its plan, and the request's time (ms by the exchange's clock).

    `newest_fill` is the trade id of the symbol's newest fill before sending, None if there was none. `recent_fills` are
    the ids of the minute before it, in which later fills may still be booked. `call_ended_s` is the monotonic time at
    which this process knew that the call was over, None if another process made it. `acknowledged`, `order_id` and
    `refused` repeat the exchange's reply in case the journal lacks it. `refused` is only set if the size was traded
    nevertheless, by orders without our id. `by` is the person and machine that sent it; empty for this machine.
    """

    intent: str
    plan: ReversalPlan
    stamp_ms: int
    newest_fill: str | None
    progress: Progress
    recent_fills: frozenset[str] = frozenset()
    call_ended_s: float | None = None
    acknowledged: bool = False
    order_id: str | None = None
    refused: bool = False
    by: str = ""
    reversed_since: bool = False
    """Whether the symbol was reversed again before this process began to look."""

    def described(self, sentence: str, zone: tzinfo) -> str:
        """Return title and sentence, then intent, time and sender, because another reversal may have the same title.

        These come last: a line that is cut must still show the outcome.
        """
        sent_at = f", sent {zoned_text(utc_moment(self.stamp_ms), zone)}" if self.stamp_ms else ""
        by = f" by {self.by}" if self.by else ""
        return f"{self.plan.title}: {sentence} ({self.intent}{sent_at}{by})"


def sent_of(intent: Intent) -> Sent:
    details = intent.details
    return Sent(
        intent.id,
        plan_of(intent),
        int(details.get("stamp_ms") or 0),
        details.get("newest_fill"),
        Progress(intent.state, SearchStage.SEARCHING, "taken up from the journal"),
        frozenset(details.get("recent_fills", ())),
        by=intent.events[0].writer,
    )


def plan_of(intent: Intent) -> ReversalPlan:
    """Rebuild the plan of an intent from the journal."""
    details = intent.details
    request = details["request"]
    params = ReversalParams(
        product_type=ProductType(request["productType"]),
        symbol=request["symbol"],
        margin_coin=request["marginCoin"],
        mode=PositionMode(details["mode"]),
        held=holdings_of_json(details["before"]),
        side=Side(request["side"]) if "side" in request and "tradeSide" in request else None,
        size=Decimal(request["size"]) if "size" in request else None,
    )
    return plan_reversal(params, client_oid=intent.id)


def holdings_of_json(sizes: Mapping[str, str]) -> Holdings:
    """Return holdings from the journal's JSON: `net`, or `long` and `short`, in the base coin."""
    return Net(Decimal(sizes["net"])) if "net" in sizes else Legs(Decimal(sizes["long"]), Decimal(sizes["short"]))
