"""The one way a reversal is sent: previewed, guarded, read again, journalled, sent once, and followed to its end."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from tradetui.desk.disk import Disk
from tradetui.desk.evidence import Evidence, Held, fills_since
from tradetui.desk.guards import Situation, why_not
from tradetui.desk.intents import Intents, Withheld
from tradetui.desk.journal import ENDED, AlreadyOpen, Intent, Journal, Overtaken, State
from tradetui.desk.outcome import Outcome, matched_result
from tradetui.desk.preview import Preview, Target, changes
from tradetui.desk.settings import DeskSettings
from tradetui.desk.settling import Finding, Seen, found
from tradetui.exchange.client import ExchangeClient
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError, NotSent, OutcomeUnknown
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.positions import Position, holdings_of
from tradetui.trading.resting_orders import Resting
from tradetui.trading.reversal import ReversalPlan, Wish, plan_reversal
from tradetui.wire.futures import Contract
from tradetui.wire.product_types import ProductType
from tradetui.wire.vocabulary import PositionMode, Side

KIND = "reversal"
REPLY_LOST = "the program ended before the reply was written down"
LOOK_EVERY_S = 0.4
STEADY_S = 1.2
ABSENCE_MS = 35_000
FOLLOW_S = 60.0
AGAIN_S = 10.0


class NotConfirmed(Withheld):
    """It was not sent; `reasons` say why, `preview` is what is so now."""

    def __init__(self, reasons: tuple[str, ...], preview: Preview | None = None) -> None:
        super().__init__(reasons)
        self.preview = preview


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


class Execution:
    """Reversals of one account. There is no such object in monitor mode."""

    def __init__(
        self,
        client: ExchangeClient,
        settings: DeskSettings,
        clock: Clock,
        journal: Journal | None,
        disk: Disk,
        account: str,
        new_id: Callable[[], str],
    ) -> None:
        """`journal` is None until it is known whose account this is; nothing is sent before `open_journal`."""
        self.intents = Intents(journal, disk, clock, account, new_id, start_locked=settings.start_locked)
        self.uid = settings.uid
        self._client = client
        self._settings = settings
        self._clock = clock
        self._evidence = Evidence(client, settings, clock)
        self._contracts: dict[str, Contract | None] = {}
        self._busy: set[str] = set()
        self._following: set[asyncio.Task[None]] = set()

    # The journal

    async def open_journal(self, account: str, file: Path | None, uid: str | None = None) -> None:
        """Open the account's journal and take up every intent where it stands; trouble with it disables sending."""
        self.uid = uid or self.uid
        if await self.intents.open(account, file):
            self._beside(self._take_up())
            self._beside(self.intents.watch())

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def stop(self) -> None:
        """End following; what is open stays open in the journal."""
        for task in tuple(self._following):
            task.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)
        self.intents.close()

    async def _take_up(self) -> None:
        for intent in await self.intents.not_settled():
            if intent.kind == KIND:
                self._beside(self._take_up_one(intent))

    async def _take_up_one(self, intent: Intent) -> None:
        if intent.state in (State.INTENDED, State.SENT):
            # One that was sent is looked for at once: what is found settles it, whoever sent it.
            self._beside(self._say_what_was_left_behind(intent))
        if intent.state is State.INTENDED:
            return
        told = intent.told
        stamp_ms, newest_fill = int(told["stamp_ms"]), told.get("newest_fill")
        progress = Progress(intent.state, "taken up from the journal")
        acknowledged = any(event.state is State.ACKNOWLEDGED for event in intent.events)
        sent = Sent(intent.id, plan_of(intent), stamp_ms, newest_fill, acknowledged, progress)
        await self._follow_to_the_end(sent)

    async def _say_what_was_left_behind(self, intent: Intent) -> None:
        intent = await self.intents.left_behind(intent)
        if intent.state is State.INTENDED:
            await self.intents.note(intent.id, State.WITHDRAWN, {"why": "the program ended before it was sent"})
        elif intent.state is State.SENT:
            await self.intents.note(intent.id, State.UNKNOWN, {"why": REPLY_LOST})
        await self.intents.look()

    async def _follow_to_the_end(self, sent: Sent) -> None:
        while True:
            async for progress in self._looks(sent):
                if progress.state in ENDED:
                    await self.intents.look()
                    return
            sent = replace(sent, progress=Progress(State.UNKNOWN, "looking again"))
            await asyncio.sleep(AGAIN_S)

    # The lock

    @property
    def settings(self) -> DeskSettings:
        """The session's settings."""
        return self._settings

    @property
    def locked(self) -> bool:
        """Whether trading is locked: in this session, or by hand in any process of the account."""
        return self.intents.locked

    def lock(self) -> None:
        """Lock trading at once, here and for every process of the account."""
        self.intents.set_lock(True)

    def unlock(self) -> None:
        """Unlock trading."""
        self.intents.set_lock(False)

    def unsettled(self) -> tuple[str, ...]:
        """Intents that are not settled, in words."""
        return self.intents.unsettled()

    # Preview

    def target_of(self, position: Position) -> Target:
        """The target that a position on the screen stands for."""
        side = None
        if position.mode is not PositionMode.ONE_WAY:
            side = Side.BUY if position.is_long else Side.SELL
        return Target(position.symbol, position.product_type, side)

    def target_named(self, symbol: str) -> Target:
        """A target by symbol alone."""
        return Target(symbol.strip().upper())

    async def preview(self, target: Target) -> Preview:
        """Read everything again and plan; raises `ExchangeError`."""
        await self.intents.look()
        preview, contract = await self._evidence.preview(target)
        self._contracts[preview.target.symbol] = contract
        return preview

    async def _read_again(self, shown: Preview) -> Preview:
        await self.intents.look()
        return await self._evidence.again(shown, self._contracts.get(shown.target.symbol))

    def why_not(self, preview: Preview, typed: str = "") -> tuple[str, ...]:
        """Every reason confirming is disabled now."""
        symbol, product_type = preview.target.symbol, preview.target.product_type
        situation = Situation(
            settings=self._settings,
            link=self._client.link,
            locked=self.locked,
            open_intent=self.intents.open_on(lock_key(product_type, symbol)) if product_type else None,
            journal_trouble=self.intents.trouble,
            contract=self._contracts.get(symbol),
            now=self._clock.monotonic(),
        )
        return why_not(preview, situation, typed)

    # Sending

    async def confirm(self, shown: Preview, typed: str = "") -> Sent:
        """Read again, compare, write the intent, and send once.

        Raises:
            NotConfirmed: a guard, a change since the preview, or the journal; nothing was sent.
            NotSent, Rejected and its like: the exchange did not take it; nothing was done.
        """
        if reasons := self.why_not(shown, typed):
            raise NotConfirmed(reasons, shown)
        assert shown.plan is not None and shown.target.product_type is not None
        key = lock_key(shown.target.product_type, shown.target.symbol)
        if key in self._busy:
            raise NotConfirmed(("This reversal is being sent already.",), shown)
        self._busy.add(key)
        try:
            before_reading = await self.intents.last_event()
            now = await self._read_again(shown)
            changed = changes(shown, now)
            if changed:
                raise NotConfirmed(tuple(f"Changed since the preview: {each}." for each in changed), now)
            if reasons := self.why_not(now, typed):
                raise NotConfirmed(reasons, now)
            assert now.plan is not None
            return await self._send(now, key, before_reading)
        except NotConfirmed:
            raise
        except Withheld as refused:
            raise NotConfirmed(refused.reasons, shown) from None
        finally:
            self._busy.discard(key)

    async def _send(self, now: Preview, key: str, before_reading: int) -> Sent:
        assert now.plan is not None
        intent = self.intents.new_id()
        plan = plan_reversal(now.plan.wish, client_oid=intent)
        stamp = self._client.server_clock.now_ms
        await self._begin(intent, key, plan, now, before_reading)

        async def before_send(stamp_ms: int) -> None:
            nonlocal stamp
            stamp = stamp_ms
            await self.intents.about_to_send(intent, {"stamp_ms": stamp_ms})

        def sent(state: State, words: str) -> Sent:
            acknowledged = state is State.ACKNOWLEDGED
            return Sent(intent, plan, stamp, now.newest_fill, acknowledged, Progress(state, words))

        try:
            reply = await self._client.futures.reverse(plan.request, before_send=before_send)
        except NotSent as problem:
            await self.intents.note(intent, State.WITHDRAWN, {"why": str(problem)})
            raise
        except OutcomeUnknown as problem:
            await self.intents.note(intent, State.UNKNOWN, {"why": str(problem)})
            return sent(State.UNKNOWN, str(problem))
        except ExchangeError as problem:
            await self.intents.note(intent, State.REJECTED, {"code": problem.code, "message": problem.message})
            raise
        row = reply.rows[0] if reply.rows else None
        told = dict(row.received) if row is not None else {}
        await self.intents.note(intent, State.ACKNOWLEDGED, {"reply": told})
        return sent(State.ACKNOWLEDGED, "the exchange has taken it")

    async def _begin(self, intent: str, key: str, plan: ReversalPlan, now: Preview, before_reading: int) -> None:
        told: dict[str, Any] = {
            "request": dict(plan.request_fields()),
            "title": plan.title,
            "before": plan.before.as_json(),
            "after": [result.after.as_json() for result in plan.results],
            "mode": str(plan.wish.mode),
            "newest_fill": now.newest_fill,
        }
        try:
            await self.intents.begin(intent, key, KIND, told, after=before_reading)
        except Overtaken:
            raise NotConfirmed(("Changed since the preview: another session has reversed this symbol.",), now) from None
        except AlreadyOpen as problem:
            raise NotConfirmed((f"An earlier reversal of this symbol is not settled ({problem}).",)) from None
        except Withheld as refused:
            raise NotConfirmed(refused.reasons) from None

    # Afterwards

    async def follow(self, sent: Sent) -> AsyncIterator[Progress]:
        """Look until the outcome is settled and named; ends after a minute with what is known where it is not.

        Looking goes on behind it then, for as long as the session lasts.
        """
        progress = sent.progress
        async for progress in self._looks(sent):
            yield progress
        if progress.state not in ENDED:
            self._beside(self._follow_to_the_end(replace(sent, progress=Progress(State.UNKNOWN, "looking again"))))

    async def _looks(self, sent: Sent) -> AsyncIterator[Progress]:
        state = sent.progress.state
        yield sent.progress
        began = self._clock.monotonic()
        steady_since, last = began, None
        while self._clock.monotonic() - began < FOLLOW_S:
            try:
                seen = await self._look(sent)
            except ExchangeError as problem:
                yield Progress(state, f"looking: {problem}")
                await asyncio.sleep(LOOK_EVERY_S)
                continue
            if seen.unread:
                yield Progress(state, f"looking: {seen.unread} rows of positions or fills cannot be read")
                await asyncio.sleep(LOOK_EVERY_S)
                continue
            finding = found(sent.plan, seen, acknowledged=sent.acknowledged)
            if (seen.held, finding.outcome) != last:
                steady_since, last = self._clock.monotonic(), (seen.held, finding.outcome)
            if finding.settles(steady=self._clock.monotonic() - steady_since >= STEADY_S):
                progress = await self._settle(sent, seen.held, finding)
                yield progress
                if progress.state in ENDED:
                    return
            else:
                yield Progress(state, f"looking: {finding.outcome} so far", seen.held)
            await asyncio.sleep(LOOK_EVERY_S)
        if state is State.ACKNOWLEDGED:
            await self.intents.note(sent.intent, State.UNKNOWN, {"why": "no outcome could be named within a minute"})
        yield Progress(State.UNKNOWN, "not settled; the symbol stays locked until it is settled or released")

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
        )

    async def _settle(self, sent: Sent, held: Holdings, finding: Finding) -> Progress:
        outcome, came_true = finding.outcome, matched_result(sent.plan, held)
        told = {
            "outcome": str(outcome),
            "held": held.as_json(),
            "came_true": came_true,
            "inferred": finding.inferred,
        }
        words = f"{outcome}: {held}" + (" (inferred)" if finding.inferred else "")
        if sent.progress.state is State.SENT:
            await self.intents.note(sent.intent, State.UNKNOWN, {"why": REPLY_LOST})
        if not await self.intents.note(sent.intent, State.SETTLED, told):
            return await self._ended_elsewhere(sent, words, held)
        progress = Progress(State.SETTLED, words, held, outcome, came_true)
        try:
            return replace(progress, resting=await self._evidence.left_over(sent.plan, held))
        except ExchangeError as problem:
            return replace(progress, resting_unread=str(problem))

    async def _ended_elsewhere(self, sent: Sent, words: str, held: Holdings) -> Progress:
        """What the journal says where the end could not be written: another process wrote it, or the disk is full."""
        try:
            intent = await self.intents.read(sent.intent)
        except sqlite3.Error:
            intent = None
        if intent is None or intent.state not in ENDED:
            return Progress(sent.progress.state, f"{words}; not settled: {self.intents.trouble}", held)
        await self.intents.look()
        told = intent.told
        outcome = Outcome(told["outcome"]) if "outcome" in told else None
        return Progress(intent.state, f"{intent.state} by another session: {outcome or words}", held, outcome)

    async def release(self, intent: str, why: str) -> None:
        """Give a symbol free whose outcome stays unknown; the trader's own deliberate step, journalled."""
        await self.intents.step(intent, State.RELEASED, {"why": why})
        await self.intents.look()

    def _holdings(self, held: Held, product_type: ProductType, symbol: str, mode: PositionMode) -> Holdings:
        modes = {each.mode for each in held.positions if each.mode is not None}
        if held.fills and not modes:
            newest = held.fills[0].position_mode
            modes = {newest} if newest is not None else set()
        now = modes.pop() if len(modes) == 1 else mode
        return holdings_of(held.positions, product_type, symbol, now or mode)


def lock_key(product_type: ProductType, symbol: str) -> str:
    """What one open intent locks."""
    return f"{product_type}|{symbol.upper()}"


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
