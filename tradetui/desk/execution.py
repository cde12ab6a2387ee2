"""The one way a reversal is sent: previewed, guarded, read again, journalled, sent once, and followed to its end."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from tradetui.desk.disk import Disk
from tradetui.desk.evidence import Evidence
from tradetui.desk.following import ABSENCE_MS, REPLY_LOST, Following, Progress, Sent, plan_of
from tradetui.desk.guards import Situation, why_not
from tradetui.desk.intents import WATCH_S, Intents, Withheld
from tradetui.desk.journal import ENDED, AlreadyOpen, Intent, Journal, Overtaken, State
from tradetui.desk.preview import SENDING_S, Preview, Target, changes
from tradetui.desk.registered_journal import JournalLocation
from tradetui.desk.settings import DeskSettings
from tradetui.exchange.client import ExchangeClient
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError, NotSent, OutcomeUnknown
from tradetui.trading.positions import Position
from tradetui.trading.reversal import ReversalPlan, plan_reversal
from tradetui.wire.futures import Contract, OrderDetail
from tradetui.wire.product_types import ProductType
from tradetui.wire.vocabulary import PositionMode, Side

KIND = "reversal"
OTHERS_FOLLOW_MS = 5_000
"""An intent that stood still for so long is followed by every process: whoever sent it may be gone."""


class NotConfirmed(Withheld):
    """It was not sent; `reasons` say why, `preview` is what is so now."""

    def __init__(self, reasons: tuple[str, ...], preview: Preview | None = None) -> None:
        super().__init__(reasons)
        self.preview = preview


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
        self._following = Following(client, self._evidence, self.intents, clock)
        self._contracts: dict[str, Contract | None] = {}
        self._busy: set[str] = set()
        self._followed: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    # The journal

    async def open_journal(self, account: str, location: JournalLocation | Path | None, uid: str | None = None) -> None:
        """Open the account's journal and take up every intent where it stands; trouble with it disables sending."""
        self.uid = uid or self.uid
        if await self.intents.open(account, location):
            self._beside(self._take_up(at_least_ms=0))
        # A journal whose loss is accepted later is watched as well.
        self._beside(self._watch())

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """End following; what is open stays open in the journal."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.intents.close()

    async def _watch(self) -> None:
        """See within a second what other processes of the account lock, begin or settle, and what they left behind."""
        while True:
            await asyncio.sleep(WATCH_S)
            await self.intents.look()
            if self.intents.ids() - self._followed:
                await self._take_up(at_least_ms=OTHERS_FOLLOW_MS)

    async def _take_up(self, *, at_least_ms: int) -> None:
        """Follow every intent nobody here follows that has stood still for so long."""
        try:
            intents = await self.intents.not_settled()
        except (sqlite3.Error, Withheld):
            return  # the next look tells it
        for intent in intents:
            if intent.kind != KIND or intent.id in self._followed:
                continue
            still_s = self.intents.elapsed_s(intent.events[-1])
            if still_s * 1000 >= at_least_ms or await self.intents.is_left_behind(intent):
                self._beside(self._take_up_one(intent))

    async def _take_up_one(self, intent: Intent) -> None:
        self._followed.add(intent.id)
        await self._follow_left_behind(intent)
        self._followed.discard(intent.id)

    async def _follow_left_behind(self, intent: Intent) -> None:
        if intent.state is State.INTENDED:
            await self._say_what_was_left_behind(intent)
            return
        if intent.state is State.SENT:
            # It is looked for at once: what is found settles it, whoever sent it.
            self._beside(self._say_what_was_left_behind(intent))
        told = intent.told
        stamp_ms, newest_fill = int(told["stamp_ms"]), told.get("newest_fill")
        progress = Progress(intent.state, "taken up from the journal")
        acknowledged = any(event.state is State.ACKNOWLEDGED for event in intent.events)
        sent = Sent(intent.id, plan_of(intent), stamp_ms, newest_fill, acknowledged, progress)
        await self._following.to_the_end(sent)

    async def _say_what_was_left_behind(self, intent: Intent) -> None:
        intent = await self.intents.left_behind(intent)
        if intent.state is State.INTENDED:
            await self.intents.note(intent.id, State.WITHDRAWN, {"why": "the program ended before it was sent"})
        elif intent.state is State.SENT:
            await self.intents.note(intent.id, State.UNKNOWN, {"why": REPLY_LOST})
        await self.intents.look()

    # The lock

    @property
    def settings(self) -> DeskSettings:
        """The session's settings."""
        return self._settings

    @property
    def locked(self) -> bool:
        """Whether trading is locked: in this session, or by hand in any process of the account."""
        return self.intents.locked

    def lock(self) -> asyncio.Future[bool]:
        """Lock trading at once, here and for every process of the account; gives whether those are told."""
        return self.intents.set_lock(True)

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

    def target_named(self, name: str) -> Target:
        """A target by its symbol, or by symbol and leg: `BTCUSDT SHORT`, which only hedge mode needs."""
        symbol, _, leg = " ".join(name.upper().split()).partition(" ")
        sides = {"LONG": Side.BUY, "SHORT": Side.SELL}
        return Target(symbol, side=sides[leg]) if leg in sides else Target(f"{symbol} {leg}".strip())

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
            locked=self.intents.locked_by_hand,
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
            asleep_ms = self._asleep_ms()
            now = await self._read_again(shown)
            changed = changes(shown, now)
            if changed:
                raise NotConfirmed((f"Changed since you looked: {'; '.join(map(str, changed))}.",), now)
            if reasons := self.why_not(now, typed):
                raise NotConfirmed(reasons, now)
            assert now.plan is not None
            return await self._send(now, key, before_reading, asleep_ms)
        except NotConfirmed:
            raise
        except Withheld as refused:
            raise NotConfirmed(refused.reasons, shown) from None
        finally:
            self._busy.discard(key)

    async def _send(self, now: Preview, key: str, before_reading: int, asleep_ms: float) -> Sent:
        assert now.plan is not None
        intent = self.intents.new_id()
        plan = plan_reversal(now.plan.wish, client_oid=intent)
        stamp = self._client.server_clock.now_ms
        self._followed.add(intent)
        await self._begin(intent, key, plan, now, before_reading)

        async def before_send(stamp_ms: int) -> None:
            nonlocal stamp
            stamp = stamp_ms
            self._young_enough(now, asleep_ms)
            await self.intents.about_to_send(intent, {"stamp_ms": stamp_ms})
            self._young_enough(now, asleep_ms)  # the disk may have kept it waiting

        def sent(state: State, words: str) -> Sent:
            acknowledged = state is State.ACKNOWLEDGED
            return Sent(intent, plan, stamp, now.newest_fill, acknowledged, Progress(state, words))

        try:
            reply = await self._client.futures.reverse(plan.request, before_send=before_send)
        except NotSent as problem:
            await self.intents.note(intent, State.WITHDRAWN, {"why": str(problem)})
            raise NotConfirmed((str(problem),), now) from None
        except OutcomeUnknown as problem:
            await self.intents.note(intent, State.UNKNOWN, {"why": str(problem)})
            return sent(State.UNKNOWN, str(problem))
        except ExchangeError as problem:
            if await self._exists(plan, intent):
                why = f"refused ({problem.message}, code {problem.code}), yet there is an order of this id"
                await self.intents.note(intent, State.UNKNOWN, {"why": why})
                return sent(State.UNKNOWN, why)
            await self.intents.note(intent, State.REJECTED, {"code": problem.code, "message": problem.message})
            raise
        row = reply.rows[0] if reply.rows else None
        told = dict(row.received) if row is not None else {}
        await self.intents.note(intent, State.ACKNOWLEDGED, {"reply": told})
        return sent(State.ACKNOWLEDGED, "the exchange has taken it")

    async def _exists(self, plan: ReversalPlan, client_oid: str) -> bool:
        """Whether the exchange shows an order of our own id though it has refused it."""
        wish = plan.wish
        try:
            order = await self._evidence.order(wish.product_type, wish.symbol, client_oid)
        except ExchangeError:
            return False
        return isinstance(order, OrderDetail)

    def _young_enough(self, now: Preview, asleep_ms: float) -> None:
        """Raise NotSent where what it rests on is no longer what is so now for certain."""
        slept_s = max(0.0, self._asleep_ms() - asleep_ms) / 1000
        age = self._clock.monotonic() - now.asked_at + slept_s
        if age > SENDING_S:
            raise NotSent(
                f"what was read before sending is {age:.1f} s old, and {SENDING_S:.0f} s is the most",
                remedy="Look at it again and confirm again.",
            )

    def _asleep_ms(self) -> float:
        """What wall time is ahead of monotonic time, which stands still while a machine sleeps."""
        return self._clock.wall_ms() - self._clock.monotonic() * 1000

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
            raise NotConfirmed(("Changed since you looked: another session has reversed this symbol.",), now) from None
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
        async for progress in self._following.looks(sent):
            yield progress
        if progress.state not in ENDED:
            self._beside(self._following.to_the_end(replace(sent, progress=Progress(State.UNKNOWN, "looking again"))))

    def why_not_released(self, intent: Intent) -> str | None:
        """Why a reversal cannot be given free yet, None where it can."""
        left_ms = ABSENCE_MS - (self._client.server_clock.now_ms - int(intent.told.get("stamp_ms") or 0))
        if left_ms <= 0:
            return None
        return f"It may still arrive at the exchange; in {-(-left_ms // 1000)} s it can be released."

    async def release(self, intent: str, why: str) -> None:
        """Give a symbol free whose outcome stays unknown; the trader's own deliberate step, journalled.

        Raises:
            Withheld: the request may still be under way, and what it does would be taken for the next one's doing.
        """
        if reason := self.why_not_released(await self.intents.read(intent)):
            raise Withheld((reason,))
        await self.intents.step(intent, State.RELEASED, {"why": why})
        await self.intents.look()


def lock_key(product_type: ProductType, symbol: str) -> str:
    """What one open intent locks."""
    return f"{product_type}|{symbol.upper()}"
