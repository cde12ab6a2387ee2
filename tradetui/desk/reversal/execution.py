"""The one way a reversal is sent: previewed, guarded, read again, journalled, sent once, and followed to its end.

Each part has a file of its own: `market_state` reads, `pretrade_checks` guards, `sending` journals and sends,
`tracking` follows, `intent_watch` takes up what was left behind. Here is the order in which they come.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from tradetui.desk.account.identity import current_owner
from tradetui.desk.feeds.polling.feed import StillReading
from tradetui.desk.intents.intents import Intents, Withheld
from tradetui.desk.intents.journal.registered_journal import JournalLocation
from tradetui.desk.intents.states import ENDED, Intent, State, scope_of
from tradetui.desk.reversal.intent_watch import IntentWatch
from tradetui.desk.reversal.market_state import MarketState
from tradetui.desk.reversal.pretrade_checks import RiskContext, blocking_reasons
from tradetui.desk.reversal.preview import Preview, Target, changes
from tradetui.desk.reversal.progress import Progress, Sent, sent_of
from tradetui.desk.reversal.sending import KIND, Departure, NotConfirmed, Sending
from tradetui.desk.reversal.tracking.evidence import ABSENCE_S
from tradetui.desk.reversal.tracking.order_reads import OrderReads
from tradetui.desk.reversal.tracking.outcome_tracker import FollowedReversals, OutcomeTracker, ended_elsewhere
from tradetui.desk.settings import DeskSettings
from tradetui.desk.task_groups import BackgroundTasks, ReadGroup, is_cancelled
from tradetui.exchange.client import TradingClient
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError
from tradetui.storage.sqlite_file import FileUnusable
from tradetui.trading.positions import Position
from tradetui.wire.enums import PositionMode, Side

__all__ = ["Execution", "NotConfirmed"]

READING_AGAIN_S: Final = 20.0
"""Reading again before sending takes a second; what it rests on must be three seconds old at most."""
CONFIRMING_S: Final = 120.0
"""Longer than all that a confirmation waits for."""


class Execution:
    """Reversals of one account. There is no such object in monitor mode."""

    def __init__(self, client: TradingClient, settings: DeskSettings, clock: Clock, intents: Intents) -> None:
        """Nothing is sent before the journal of the intents is open."""
        self.intents = intents
        intents.uid = settings.uid
        self.key_reads_only = False
        """Whether the exchange says that the API key may not trade futures."""
        self._client = client
        self.settings = settings
        self._clock = clock
        self._market_state = MarketState(client, settings, clock)
        self._reads = OrderReads(client, self._market_state)
        self._tracker = OutcomeTracker(self._reads, self._market_state, self.intents, clock)
        self._sendings: dict[str, Sending] = {}
        """The attempts of this session that have not ended, by their intent."""
        self._tasks = BackgroundTasks()
        self.followed = FollowedReversals(self._tracker, clock, self._tasks)
        self._watch = IntentWatch(
            self.intents, self.followed, self._tasks, clock, sendings=self._sendings, looked=self._recall_if_readable
        )

    # The journal

    async def open_journal(self, account: str, location: JournalLocation, uid: str | None = None) -> None:
        """Open the account's journal and take up every intent where it stands; trouble with it disables sending.

        So does a `uid` that is not the one the profile names: the key of one account must not trade for another.
        """
        self.intents.note_key_owner(uid)
        self.intents.uid = uid or self.intents.uid
        await self.intents.open(account, location)
        self._tasks.begin(self._recall_if_readable())
        # A journal whose loss is accepted later is watched as well.
        self._tasks.begin(self._watch.run())

    async def stop(self) -> None:
        """End following; what is open stays open in the journal, and what has not left does not leave any more."""
        for sending in self._sendings.values():
            sending.abandon()
        try:
            await self._tasks.stop()
        finally:
            self.intents.close()

    # The limits

    def use_limits_of(self, settings: DeskSettings) -> None:
        """Hold every reversal that has not left to other limits, from now on."""
        self.settings = self.settings.with_limits_of(settings)

    # Preview

    def target_of(self, position: Position) -> Target:
        side = None
        if position.mode is not PositionMode.ONE_WAY and position.is_long is not None:
            side = Side.BUY if position.is_long else Side.SELL
        return Target(position.symbol, position.product_type, side)

    async def preview(self, target: Target) -> Preview:
        """Read everything again and plan; raises `ExchangeError`."""
        await self.intents.refresh()
        await self._recall_if_readable()
        return await self._market_state.preview(target)

    async def _read_again(self, shown: Preview) -> Preview:
        await self.intents.refresh()
        await self._recall_contradiction()
        async with ReadGroup() as group:
            fresh, owner = await asyncio.gather(
                group.begin(self._market_state.reread(shown)), group.begin(current_owner(self._client))
            )
        self.intents.note_key_owner(owner)
        return fresh

    async def _recall_if_readable(self) -> None:
        """Recall as far as the journal can be read: an unreadable one prevents confirming, not the preview."""
        with contextlib.suppress(Withheld, FileUnusable, sqlite3.Error, OSError):
            await self._recall_contradiction()

    async def _recall_contradiction(self) -> None:
        """Take over what an earlier reversal of the account, of any process, showed of its fills; raises Withheld."""
        self._market_state.contradiction = await self.intents.contradiction()

    @property
    def contradiction(self) -> str:
        """Why sums of this account's hedge-mode fills do not show what is held; empty while nothing says so."""
        return self._market_state.contradiction

    def blocking_reasons(self, preview: Preview, typed: str = "") -> tuple[str, ...]:
        """Every reason confirming is disabled now; that the key is another account's alone, where it is."""
        if self.intents.other_owner:
            return (self.intents.other_owner,)
        symbol, product_type = preview.target.symbol, preview.target.product_type
        context = RiskContext(
            settings=self.settings,
            connection_status=self._client.connection_status,
            locked=self.intents.lock.locked,
            open_intent=self.intents.open_scopes.holder(scope_of(product_type, symbol)) if product_type else None,
            journal_trouble=self.intents.trouble,
            now=self._clock.monotonic(),
            key_reads_only=self.key_reads_only,
        )
        return blocking_reasons(preview, context, typed)

    # Sending

    async def confirm(self, shown: Preview, typed: str = "", departure: Departure | None = None) -> Sent:
        """Read again, compare, write the intent, send once, and begin to follow it.

        `departure` withdraws it until its first byte leaves. It runs in a task of its own: should the caller be
        cancelled, a request that has not left does not leave, and one that has left is followed all the same.

        Raises NotConfirmed for a check, a change since the preview, or the journal, with nothing sent; NotSent,
        Rejected and their like where the exchange did not take it, with nothing done.
        """
        sending = self._begin_attempt(shown, typed, departure or Departure())
        task: asyncio.Task[Sent] = self._tasks.begin(self._read_and_send(sending, shown, typed))
        task.add_done_callback(lambda _: self._sendings.pop(sending.intent))
        try:
            async with asyncio.timeout(CONFIRMING_S):
                return await asyncio.shield(task)
        except (NotConfirmed, ExchangeError):
            raise
        except BaseException as problem:
            sending.abandon()
            if is_cancelled(problem):
                raise  # the caller went away: the task goes on by itself
            if task.done() and not task.cancelled():
                return task.result()
            # It hangs, or was cancelled before its first step: whether its request has left is known all the same.
            task.cancel()
            sent = sending.after_failure(problem)
        self.followed.track(sent)
        return sent

    def _begin_attempt(self, shown: Preview, typed: str, departure: Departure) -> Sending:
        """One attempt for a symbol at a time; raises NotConfirmed where a check, or another attempt, is against it."""
        if reasons := self.blocking_reasons(shown, typed):
            raise NotConfirmed(reasons, shown)
        if departure.withdrawn:
            raise NotConfirmed(("You withdrew it.",), shown)
        assert shown.target.product_type is not None
        scope = scope_of(shown.target.product_type, shown.target.symbol)
        for other in self._sendings.values():
            if other.scope == scope and other.departure.withdrawn:
                raise NotConfirmed(("The attempt you withdrew has not ended yet: confirm again in a moment.",), shown)
            if other.scope == scope:
                raise NotConfirmed(("This reversal is being sent already.",), shown)
        sending = Sending(
            self._client,
            self._reads,
            self.intents,
            self._clock,
            intent=self.intents.new_id(),
            scope=scope,
            run_in_background=self._tasks.begin,
            departure=departure,
        )
        self._sendings[sending.intent] = sending
        return sending

    async def _read_and_send(self, sending: Sending, shown: Preview, typed: str) -> Sent:
        """The whole of an attempt; what fails in an unforeseen way is followed wherever its request may have left."""
        try:
            fresh, before_reading = await self._read_before_sending(shown, typed)
            sent = await sending.send(fresh, before_reading)
        except (NotConfirmed, ExchangeError):
            raise
        except BaseException as problem:
            if is_cancelled(problem):
                raise
            sent = sending.after_failure(problem)
        self.followed.track(sent)
        return sent

    async def _read_before_sending(self, shown: Preview, typed: str) -> tuple[Preview, int]:
        """The preview as it is now, and the journal's newest event before it was read; raises NotConfirmed."""
        try:
            async with asyncio.timeout(READING_AGAIN_S):
                before_reading = await self.intents.last_event()
                fresh = await self._read_again(shown)
        except Withheld as refused:
            raise NotConfirmed(refused.reasons, shown) from None
        except TimeoutError:
            why = f"The account could not be read again within {READING_AGAIN_S:.0f} s."
            raise NotConfirmed((why,), shown) from None
        except ExchangeError:
            raise
        except StillReading as reading:
            raise NotConfirmed((f"{reading}.",), shown) from None
        except BaseException as problem:
            if is_cancelled(problem):
                raise
            why = f"The account could not be read again ({type(problem).__name__}: {problem})."
            raise NotConfirmed((why,), shown) from problem
        if self.intents.other_owner:
            raise NotConfirmed((self.intents.other_owner,), fresh)
        if changed := changes(shown, fresh):
            raise NotConfirmed((f"Changed since you looked: {'; '.join(map(str, changed))}.",), fresh)
        if reasons := self.blocking_reasons(fresh, typed):
            raise NotConfirmed(reasons, fresh)
        return fresh, before_reading

    # Afterwards

    async def ends_of(
        self, chosen: Callable[[frozenset[str]], Awaitable[frozenset[str]]]
    ) -> list[tuple[Sent, Progress]]:
        """The ends of those reversals that `chosen` gives back of all that are settled, and that no process is about
        to show; empty while the journal cannot be read. A row of an old version that cannot be read is left out.
        """
        ends: list[tuple[Sent, Progress]] = []
        with contextlib.suppress(Withheld, FileUnusable, sqlite3.Error, OSError):
            newest = await self.intents.newest()
            settled = [intent for intent in newest if intent.kind == KIND and intent.state is State.SETTLED]
            settled = [intent for intent in settled if await self.intents.is_left_behind(intent)]
            ids = await chosen(frozenset(intent.id for intent in settled))
            for intent in settled:
                if intent.id in ids:
                    with contextlib.suppress(ArithmeticError, KeyError, TypeError, ValueError):
                        ends.append((sent_of(intent), ended_elsewhere(intent)))
        return ends

    async def follow(self, sent: Sent) -> AsyncIterator[Progress]:
        """Each progress until the outcome is settled and named, or until it is left open after a while.

        Whoever follows may stop at any time: the search goes on behind, for as long as the session lasts.
        """
        async for progress in self.followed.track(sent).updates():
            yield progress

    def reason_against_release(self, intent: Intent) -> str | None:
        """Why a reversal cannot be given free yet, None where it can."""
        if pending := self._tracker.pending(intent.id):
            return f"Its order is still live at the exchange ({pending}): cancel it there first."
        left_s = math.ceil(ABSENCE_S - self._tracker.waited_s(intent))
        if left_s > 0:
            return f"It may still arrive at the exchange; in {left_s} s it can be released."
        if intent.state is State.CORRECTED:
            left_s = math.ceil(ABSENCE_S - self.intents.writers.elapsed_s(intent.events[-1]))
            if left_s > 0:
                return f"Its order went on filling; in {left_s} s it can be released."
        return None

    async def release(self, intent: str, why: str) -> None:
        """Free a symbol whose outcome stays unknown; the trader's own deliberate step, journalled.

        What its fills showed of the account's outlives that. Released once more, it is taken back as well. Raises
        Withheld where the request may still be under way: its effect would be taken for the next one's.
        """
        read = await self.intents.read(intent)
        if reason := self.reason_against_release(read):
            raise Withheld((reason,))
        details, state = {"why": why}, read.state
        if state in ENDED and read.contradiction:
            details["contradiction"] = ""  # fills are trusted again
        if state is State.SETTLED:
            # An end that rests on fills in doubt is none: it is corrected before it is released.
            await self.intents.step(intent, State.CORRECTED, details, prior=state)
            state = State.CORRECTED
        await self.intents.step(intent, State.RELEASED, details, prior=state)
        await self.intents.refresh()
        self._tasks.begin(self._recall_if_readable())
