"""The only way to send a reversal: preview, check, read again, write to the journal, send once, follow to the end.

Each step has its own file: `market_state` reads, `pretrade_checks` checks, `sending` writes to the journal and sends,
`tracking` follows, and `intent_watch` resumes unfinished reversals. This file calls them in order.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Final

from tradetui.desk.account.identity import current_owner
from tradetui.desk.feeds.polling.feed import StillReading
from tradetui.desk.intents.intents import Intents, SendsNothing
from tradetui.desk.intents.journal.registered_journal import JournalLocation
from tradetui.desk.intents.states import ENDED, Intent, State, Withheld, scope_of
from tradetui.desk.reversal.intent_watch import IntentWatch
from tradetui.desk.reversal.market_state import MarketState
from tradetui.desk.reversal.pretrade_checks import RiskContext, blocking_reasons
from tradetui.desk.reversal.preview import Preview, Target, changes
from tradetui.desk.reversal.progress import Progress, Sent, sent_of
from tradetui.desk.reversal.sending import KIND, Departure, NotConfirmed, Sending
from tradetui.desk.reversal.tracking.evidence import ABSENCE_S
from tradetui.desk.reversal.tracking.order_reads import OrderReads
from tradetui.desk.reversal.tracking.outcome_tracker import FollowedReversals, OutcomeTracker, ended_elsewhere
from tradetui.desk.reversal.unjournaled_orders import UnjournaledOrders
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
"""Reading again before sending takes about a second; a request is not sent on facts older than three seconds."""
CONFIRMING_S: Final = 120.0
"""Longer than all waits of a confirmation together."""


class Execution:
    """Reversals of one account. In monitor mode this object does not exist."""

    def __init__(self, client: TradingClient, settings: DeskSettings, clock: Clock, intents: Intents) -> None:
        """Create the parts; nothing is sent before the journal of the intents is open."""
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
        """This session's attempts that have not ended, by intent."""
        self._tasks = BackgroundTasks()
        self.followed = FollowedReversals(self._tracker, clock, self._tasks)
        self.unjournaled = UnjournaledOrders(client, intents, self._tasks)
        self._watch = IntentWatch(
            self.intents, self.followed, self._tasks, clock, sendings=self._sendings, looked=self._recall_if_readable
        )

    # The journal

    async def open_journal(self, account: str, location: JournalLocation, uid: str | None = None) -> None:
        """Open the account's journal and resume every open intent; trouble with the journal disables sending.

        A `uid` other than the profile's disables it too: the key of one account must not trade for another.
        """
        self.intents.note_key_owner(uid)
        self.intents.uid = uid or self.intents.uid
        if uid is not None:
            self.intents.share(account, location)
        await self.intents.open(account, location)
        self._tasks.begin(self._recall_if_readable())
        # A journal whose loss is accepted later has to be watched as well.
        self._tasks.begin(self._watch.run())
        if self.intents.shared is not None:
            self._tasks.begin(self.intents.shared.run())

    async def stop(self) -> None:
        """Stop following.

        Open intents stay open in the journal, and a request that has not left is not sent any more.
        """
        for sending in self._sendings.values():
            sending.abandon()
        try:
            await self._tasks.stop()
            if self.intents.shared is not None:
                await self.intents.shared.tell_last_steps()
        finally:
            self.intents.close()
            if self.intents.shared is not None:
                await self.intents.shared.store.aclose()

    # The limits

    def use_limits_of(self, settings: DeskSettings) -> None:
        """Apply these limits to every reversal that has not left yet."""
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
        version = self.intents.store_version
        return replace(await self._market_state.preview(target), store_version=version)

    async def faster_machine(self, shown: Preview) -> str:
        """Return which other machine has acted on the symbol since a preview was read, with the time; empty if none."""
        shared, product_type = self.intents.shared, shown.target.product_type
        if shared is None or shown.store_version is None or product_type is None:
            return ""
        return await shared.store.acted_since(scope_of(product_type, shown.target.symbol), shown.store_version)

    async def _read_again(self, shown: Preview) -> Preview:
        version = self.intents.store_version
        await self.intents.refresh()
        await self._recall_contradiction()
        async with ReadGroup() as group:
            fresh, owner = await asyncio.gather(
                group.begin(self._market_state.reread(shown)), group.begin(current_owner(self._client))
            )
        self.intents.note_key_owner(owner)
        return replace(fresh, store_version=version)

    async def _recall_if_readable(self) -> None:
        """Recall a contradiction if the journal is readable: an unreadable one prevents confirming, but no preview."""
        with contextlib.suppress(Withheld, FileUnusable, sqlite3.Error, OSError):
            await self._recall_contradiction()

    async def _recall_contradiction(self) -> None:
        """Take the contradiction that an earlier reversal of the account found in its fills; raises Withheld."""
        self._market_state.contradiction = await self.intents.contradiction()

    @property
    def contradiction(self) -> str:
        """Why sums of this account's hedge-mode fills are not its positions; empty unless a reversal showed it."""
        return self._market_state.contradiction

    @property
    def sends_nothing(self) -> tuple[SendsNothing, ...]:
        """Why nothing at all is sent now; the account may have been moved to unified mode a moment ago."""
        reasons = {
            SendsNothing.MONITOR: self.settings.read_only,
            SendsNothing.UNIFIED: not self._client.is_classic,
            SendsNothing.KEY_READS_ONLY: self.key_reads_only,
            SendsNothing.LOCKED: self.intents.lock.locked,
        }
        return tuple(reason for reason, applies in reasons.items() if applies)

    def holder(self, target: Target) -> str | None:
        """Return which reversal holds the target's symbol, as it is not settled; None if none does."""
        if target.product_type is None:
            return None
        return self.intents.open_scopes.holder(scope_of(target.product_type, target.symbol))

    def blocking_reasons(self, preview: Preview, typed: str = "") -> tuple[str, ...]:
        """Return all reasons why confirming is disabled now; if the key is another account's, only that one."""
        if self.intents.other_owner:
            return (self.intents.other_owner,)
        context = RiskContext(
            settings=self.settings,
            connection_status=self._client.connection_status,
            sends_nothing=self.sends_nothing,
            open_intent=self.holder(preview.target),
            journal_trouble=self.intents.trouble,
            now=self._clock.monotonic(),
            account_tag=self.intents.account_tag,
            store_trouble=self.intents.store_trouble,
            lockers=self.intents.lock.in_store,
            unlocking_helps=self.intents.unlocking_helps,
        )
        return blocking_reasons(preview, context, typed)

    # Sending

    async def confirm(self, shown: Preview, typed: str = "", departure: Departure | None = None) -> Sent:
        """Read again, compare, write the intent, send once, and begin to follow it.

        `departure` can withdraw it until its first byte leaves. The work runs in its own task: if the caller is
        cancelled, a request that has not left does not leave, and one that has left is followed.

        Raises NotConfirmed if a check, a change since the preview or the journal prevents sending. Raises NotSent,
        Rejected or a similar error if the exchange did not take the request. After each of these nothing was done.
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
                raise  # the caller went away; the task continues
            if task.done() and not task.cancelled():
                return task.result()
            # The task hangs, or was cancelled before its first step. `departure` knows whether the request has left.
            task.cancel()
            sent = sending.after_failure(problem)
        self.followed.track(sent)
        return sent

    def _begin_attempt(self, shown: Preview, typed: str, departure: Departure) -> Sending:
        """Begin the only attempt for a symbol; raises NotConfirmed if a check fails or another attempt is running."""
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
        """Run one attempt; after an unexpected error, follow it if its request may have left."""
        try:
            fresh, before_reading = await self._read_before_sending(shown, typed)
            sent = await sending.send(fresh, before_reading, shown.store_version)
        except (NotConfirmed, ExchangeError):
            raise
        except BaseException as problem:
            if is_cancelled(problem):
                raise
            sent = sending.after_failure(problem)
        self.followed.track(sent)
        return sent

    async def _read_before_sending(self, shown: Preview, typed: str) -> tuple[Preview, int]:
        """Return the preview as it is now, and the journal's newest event before it was read; raises NotConfirmed."""
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
        if self.intents.shared is not None and shown.store_version is None:
            raise NotConfirmed(("You looked before the store could be read: look again, then confirm.",), fresh)
        if changed := changes(shown, fresh):
            why = f"Changed since you looked: {'; '.join(map(str, changed))}."
            by = await self.faster_machine(shown)
            raise NotConfirmed((f"{by} was faster. {why}" if by else why,), fresh)
        if reasons := self.blocking_reasons(fresh, typed):
            raise NotConfirmed(reasons, fresh)
        return fresh, before_reading

    # Afterwards

    async def ends_of(
        self, chosen: Callable[[frozenset[str]], Awaitable[frozenset[str]]]
    ) -> list[tuple[Sent, Progress]]:
        """Return settled reversals whose outcome no session shows; `chosen` selects among their ids.

        Empty while the journal cannot be read. An unreadable row of an old version is left out.
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
        """Yield each progress until the outcome is settled, or until the reversal is left open after a while.

        The caller may stop at any time; the search continues for as long as the session lasts.
        """
        async for progress in self.followed.track(sent).updates():
            yield progress

    def reason_against_release(self, intent: Intent) -> str | None:
        """Return why a reversal cannot be released yet; None if it can."""
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
        """Release a symbol whose outcome stays unknown, at the trader's request; the journal records it.

        A contradiction found in its fills outlives the release; a second release takes it back. Raises Withheld while
        the request may still be under way: its effect would be taken for that of the next reversal.
        """
        read = await self.intents.read(intent)
        if reason := self.reason_against_release(read):
            raise Withheld((reason,))
        details, state = {"why": why}, read.state
        if state in ENDED and read.contradiction:
            details["contradiction"] = ""  # fills are trusted again
        if state is State.SETTLED:
            # An outcome from doubtful fills is not valid: it is corrected before it is released.
            await self.intents.step(intent, State.CORRECTED, details, prior=state)
            state = State.CORRECTED
        await self.intents.step(intent, State.RELEASED, details, prior=state)
        await self.intents.refresh()
        self._tasks.begin(self._recall_if_readable())
