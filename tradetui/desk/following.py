"""What becomes of a reversal that was sent: looked at again and again until it is settled and named."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from tradetui.desk.evidence import Evidence, Held, fills_since
from tradetui.desk.intents import Intents
from tradetui.desk.journal import ENDED, Intent, State
from tradetui.desk.outcome import Outcome, matched_result
from tradetui.desk.settling import STEADY_S, Finding, Seen, found
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.positions import holdings_of, unproven_since
from tradetui.trading.resting_orders import Resting
from tradetui.trading.reversal import ReversalPlan, Wish, plan_reversal
from tradetui.wire.product_types import ProductType
from tradetui.wire.vocabulary import PositionMode, Side

NOT_SHOWN_YET = "the order has filled, and what is held does not show it"
REPLY_LOST = "the program ended before the reply was written down"
LOOK_EVERY_S = (0.4, 1.5)
OFTEN_S = 4.0
ABSENCE_MS = 35_000
FOLLOW_S = 60.0
AGAIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a sent reversal stands: its state, what that means in words, what is held, and how it ended.

    Once it is settled `resting` are the symbol's orders and live stops as they stand then; `resting_unread` says why
    they could not be read.
    """

    state: State
    words: str
    held: Holdings | None = None
    outcome: Outcome | None = None
    came_true: str | None = None
    resting: tuple[Resting, ...] = ()
    resting_unread: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """A reversal that left this machine: its id, its plan, the request's time stamp by the exchange's clock.

    `newest_fill` is the id of the symbol's newest fill before it was sent, None where there was none; `acknowledged`
    that the exchange has said that it took the order.
    """

    intent: str
    plan: ReversalPlan
    stamp_ms: int
    newest_fill: str | None
    acknowledged: bool
    progress: Progress


class Following:
    """Looks at reversals of one account that were sent, and writes what settles them into the journal."""

    def __init__(self, client: ExchangeReader, evidence: Evidence, intents: Intents, clock: Clock) -> None:
        self._client = client
        self._evidence = evidence
        self._intents = intents
        self._clock = clock

    async def to_the_end(self, sent: Sent) -> None:
        """Look again and again, until it is settled or the session ends."""
        while True:
            async for progress in self.looks(sent):
                if progress.state in ENDED:
                    await self._intents.look()
                    return
            sent = replace(sent, progress=Progress(State.UNKNOWN, "looking again"))
            await asyncio.sleep(AGAIN_S)

    async def looks(self, sent: Sent) -> AsyncIterator[Progress]:
        """Look until it is settled and named, for a minute at most."""
        state = sent.progress.state
        yield sent.progress
        began = self._clock.monotonic()
        steady_since, last = began, None
        while self._clock.monotonic() - began < FOLLOW_S:
            try:
                seen = await self._look(sent)
            except ExchangeError as problem:
                yield Progress(state, f"looking: {problem}")
                await asyncio.sleep(self._pause(began))
                continue
            if seen.unread:
                yield Progress(state, f"looking: {seen.unread} rows of positions or fills cannot be read")
                await asyncio.sleep(self._pause(began))
                continue
            finding = found(sent.plan, seen, acknowledged=sent.acknowledged)
            if (seen.held, finding.outcome) != last:
                steady_since, last = self._clock.monotonic(), (seen.held, finding.outcome)
            if finding.settles(steady=self._clock.monotonic() - steady_since >= STEADY_S):
                progress = await self._settle(sent, seen, finding)
                yield progress
                if progress.state in ENDED:
                    return
            else:
                so_far = f"{finding.outcome} so far" if finding.possible else NOT_SHOWN_YET
                yield Progress(state, f"looking: {so_far}", seen.held)
            await asyncio.sleep(self._pause(began))
        if state is State.ACKNOWLEDGED:
            await self._intents.note(sent.intent, State.UNKNOWN, {"why": "no outcome could be named within a minute"})
        yield Progress(State.UNKNOWN, "not settled; the symbol stays locked until it is settled or released")

    def _pause(self, began: float) -> float:
        """Until the next look; one that goes on for long must not take the budget from everything else."""
        often, seldom = LOOK_EVERY_S
        return often if self._clock.monotonic() - began < OFTEN_S else seldom

    async def _look(self, sent: Sent) -> Seen:
        wish = sent.plan.wish
        window_over = self._client.server_clock.now_ms - sent.stamp_ms > ABSENCE_MS
        order = await self._evidence.order(wish.product_type, wish.symbol, sent.intent)
        held = await self._evidence.held(wish.product_type, wish.symbol)
        return Seen(
            order=order,
            held=self._holdings(held, wish.product_type, wish.symbol, wish.mode),
            new_fills=fills_since(held.fills, sent.newest_fill, sent.stamp_ms),
            window_over=window_over,
            unread=held.unread,
            proven=not unproven_since(held.positions, wish.symbol),
        )

    async def _settle(self, sent: Sent, seen: Seen, finding: Finding) -> Progress:
        held, outcome, came_true = seen.held, finding.outcome, matched_result(sent.plan, seen.held)
        told = {
            "outcome": str(outcome),
            "held": held.as_json(),
            "came_true": came_true,
            "inferred": finding.inferred,
            "proven": seen.proven,
        }
        words = f"{outcome}: {held}" + (" (inferred)" if finding.inferred else "")
        if not seen.proven:
            words += " (summed from fills, not proven: more may be held)"
        if sent.progress.state is State.SENT:
            await self._intents.note(sent.intent, State.UNKNOWN, {"why": REPLY_LOST})
        if not await self._intents.note(sent.intent, State.SETTLED, told):
            return await self._ended_elsewhere(sent, words, held)
        progress = Progress(State.SETTLED, words, held, outcome, came_true)
        try:
            return replace(progress, resting=await self._evidence.left_over(sent.plan, held))
        except ExchangeError as problem:
            return replace(progress, resting_unread=str(problem))

    async def _ended_elsewhere(self, sent: Sent, words: str, held: Holdings) -> Progress:
        """What the journal says where the end could not be written: another process wrote it, or the disk is full."""
        try:
            intent = await self._intents.read(sent.intent)
        except sqlite3.Error:
            intent = None
        if intent is None or intent.state not in ENDED:
            return Progress(sent.progress.state, f"{words}; not settled: {self._intents.trouble}", held)
        await self._intents.look()
        told = intent.told
        outcome = Outcome(told["outcome"]) if "outcome" in told else None
        return Progress(intent.state, f"{intent.state} by another session: {outcome or words}", held, outcome)

    def _holdings(self, held: Held, product_type: ProductType, symbol: str, mode: PositionMode) -> Holdings:
        modes = {each.mode for each in held.positions if each.mode is not None}
        if held.fills and not modes:
            newest = held.fills[0].position_mode
            modes = {newest} if newest is not None else set()
        now = modes.pop() if len(modes) == 1 else mode
        return holdings_of(held.positions, product_type, symbol, now or mode)


def plan_of(intent: Intent) -> ReversalPlan:
    """The plan of an intent, made again from what the journal tells of it."""
    told = intent.told
    request, before = told["request"], told["before"]
    held: Holdings = Net(Decimal(before["net"])) if "net" in before else _legs(before)
    wish = Wish(
        product_type=ProductType(request["productType"]),
        symbol=request["symbol"],
        margin_coin=request["marginCoin"],
        mode=PositionMode(told["mode"]),
        held=held,
        side=Side(request["side"]) if "side" in request and "tradeSide" in request else None,
        size=Decimal(request["size"]) if "size" in request else None,
    )
    return plan_reversal(wish, client_oid=intent.id)


def _legs(before: Mapping[str, str]) -> Legs:
    return Legs(Decimal(before["long"]), Decimal(before["short"]))
