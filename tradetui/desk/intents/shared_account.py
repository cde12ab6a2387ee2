"""One session's part in an account that several machines share.

The store is the second word beside the local journal. An intent begins in the store first, which locks its scope on
every machine. `sent` is in both before the first byte. Every other step is written locally at once, and the store gets
it in order as soon as it can be reached: the local journal is the outbox, and the hash of a local event is the id of
its step in the store, so that the same step is never written twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import Any, Final

from tradetui.desk.intents.journal.account_store import (
    OTHERS_LISTED,
    AccountState,
    AccountStore,
    StoreIntent,
    StoreLock,
    StoreRefusal,
)
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.registered_journal import LEFT_BEHIND_S
from tradetui.desk.intents.journal.store_mark import OLDER_COPY, OLDER_COPY_REMEDY, OlderCopy, StoreMark
from tradetui.desk.intents.journal.store_refusals import begin_refused, may_only_view, sentence_of
from tradetui.desk.intents.lost_intents import BY, COPY_OF, STORE_NUMBER, LostIntents, is_sent_only_here, shared_details
from tradetui.desk.intents.states import ENDED, TRANSITIONS, Event, Intent, OpenIntent, State, Withheld, WrongStep
from tradetui.desk.intents.store_absence import StoreAbsence
from tradetui.exchange.clock import Clock, Moment
from tradetui.exchange.errors import NotSent
from tradetui.storage.disk_thread import Disk
from tradetui.storage.postgres.errors import StoreAway, StoreRefused

_log = logging.getLogger(__name__)

STORE_READ_EVERY_S: Final = 0.7
"""Seconds between two looks at the store; a notice of the store brings the next one forward."""
MACHINE_GONE_S: Final = 15.0
"""A machine that has not called the store for so long is gone, and another one settles what it has sent."""
LEASE_S: Final = 20.0
_LAST_LOOK_S: Final = 1.5


class SharedAccount:
    """What this session knows of the store, and what it still has to write there.

    `locks` are the locks on trading of all persons, `open_elsewhere` the open intents that this machine's journal does
    not hold open, by scope.
    """

    def __init__(
        self,
        store: AccountStore,
        journal: Callable[[], Journal | None],
        mark_file: Path,
        disk: Disk,
        clock: Clock,
        new_id: Callable[[], str],
        changed: Callable[[], None],
    ) -> None:
        """`journal` gives the local journal once it can be used; `changed` is called after each change of the state."""
        self.locks: tuple[StoreLock, ...] = ()
        self.open_elsewhere: dict[str, OpenIntent] = {}
        self.went_back = ""
        """What the store lacks if it is an older copy of itself; nothing is sent until a person accepts it."""
        self.absence = StoreAbsence()
        self.version: int | None = None
        """The number of the newest event as last read."""
        self.store = store
        self._journal = journal
        self.mark = StoreMark(mark_file, disk)
        self._disk = disk
        self._clock = clock
        self._new_id = new_id
        self._changed = changed
        self._is_level = False
        """Whether the store was compared with the local journal since it was last away."""
        self._has_objected = False
        """Whether trading was locked because the store went back."""
        self.refusal = ""
        self.may_only_view = False
        """Whether this person's role in the store is that of a viewer."""
        self.fault = ""
        """Why the last comparison failed, other than by the store; empty if it did not."""
        self._compared: dict[str, tuple[int, str]] = {}
        """The last events, in the store and here, with which an intent was last brought to the same level."""
        self._refused_steps: set[str] = set()
        self._stepped: set[str] = set()
        self._to_withdraw: set[str] = set()
        self._fences: dict[str, int] = {}
        self._followed: set[str] = set()
        self._elsewhere: list[StoreIntent] = []
        self._lost = LostIntents(store, disk)
        self._of_others: dict[str, Intent] = {}
        """The same with every step: an older copy of the store may lack it while its own machine does not run."""
        self.untold_lock: bool | None = None
        """What this person chose and the store does not know yet: to lock, or while it is being told also to unlock."""
        self._woken = asyncio.Event()
        self._nothing_to_send = asyncio.Event()
        self._nothing_to_send.set()
        self._looking = asyncio.Lock()
        store.on_change = self._hear

    @property
    def away_s(self) -> float | None:
        """For how many seconds the store has been away; None while it answers."""
        since_s = self.store.away_since
        return None if since_s is None else max(0.0, self._clock.monotonic() - since_s)

    @property
    def trouble(self) -> str:
        """Why nothing can be sent because of the store, as a sentence; empty if it can."""
        if self.went_back:
            return f"{OLDER_COPY.format(self.went_back)} Nothing is sent. {OLDER_COPY_REMEDY}"
        if self.away_s is not None:
            away = f"The store has been away for {self.away_s:.0f} s"
            return f"{away}: nothing new can be sent until it is back. The reason: {self.store.away_reason}."
        if self.refusal:
            return f"The store refuses this session: {self.refusal}."
        if self.may_only_view:
            return may_only_view(self.store.writer.person)
        if not self._is_level:
            fault = f" That fails ({self.fault}): check the disk and the data directory." if self.fault else ""
            return f"The store is being compared with this machine's journal.{fault}"
        if (left_s := self.absence.others_look_s(self._clock.monotonic())) > 0:
            compares = "so that every machine compares its journal with the store first"
            return f"Nothing is sent for {ceil(left_s)} s, {compares}."
        return ""

    def _hear(self) -> None:
        if self.store.away_since is not None:
            self._is_away()
            self._changed()
        self._woken.set()

    def _is_away(self) -> None:
        self.absence.lost(self._clock.monotonic())
        self._is_level = False
        self._has_objected = False  # what comes back may be an even older copy
        self._compared.clear()

    async def run(self) -> None:
        """Open the store, and look at it until the session ends."""
        await self.store.open()
        while True:
            with suppress(StoreAway, StoreRefused):
                await self.look()
            # What is begun is sent first: meanwhile a look would keep the store and the disk busy.
            for awaited in (self._woken, self._nothing_to_send):
                with suppress(TimeoutError):
                    async with asyncio.timeout(STORE_READ_EVERY_S):
                        await awaited.wait()

    async def tell_last_steps(self) -> None:
        """Write what the store lacks before the session ends: another machine need not find out by itself then."""
        if self._stepped or self._to_withdraw:
            with suppress(StoreAway, StoreRefused, TimeoutError):
                async with asyncio.timeout(_LAST_LOOK_S):
                    await self.look()

    async def look(self) -> None:
        """Read the store, and bring it and the local journal to the same level. Raises StoreAway, StoreRefused."""
        async with self._looking:
            self._woken.clear()
            try:
                await self._look()
            except StoreAway:
                self._is_away()
                raise
            except StoreRefused as refused:
                self.refusal = str(refused)
                raise
            except OlderCopy as problem:
                self.went_back, self._is_level = str(problem), False
                await self._object()
            except Exception as problem:  # whatever the reason, nothing is sent without the comparison
                former, self.fault = self.fault, f"{type(problem).__name__}: {problem}"
                self._is_level = False
                if self.fault != former:
                    _log.warning("the store cannot be compared with the journal: %s", self.fault)
            finally:
                self._changed()

    async def _look(self) -> None:
        called_s, journal = self._clock.monotonic(), self._journal()
        state = await self.store.state(level=self.version if self._is_level else None)
        self.locks = state.locks
        self.absence.read(called_s, state.others_level_s)
        self.may_only_view, self.refusal = state.role == "viewer", ""
        if not self.may_only_view:
            if await self.mark.has_untold_lock():  # of another session, or of the overview
                self.untold_lock = True
            if self.untold_lock and journal is not None and not await self._disk.run(journal.trading_locked):
                self.untold_lock = None  # its person has unlocked since, perhaps in another session
                await self.mark.keep_untold_lock(False)
            await self._tell_lock()
            await self._withdraw_unused()
        if journal is None:
            return
        await self._check_mark(state)
        own = await self._disk.run(journal.open_intents)
        self._show(state, own)
        if self.may_only_view:
            self._is_level = True  # nobody waits for the objection of a person who may not object
            return
        if await self._level(journal, state, own):
            state = await self.store.state()
            self._show(state, await self._disk.run(journal.open_intents))
        await self._lost.enter_blocked()
        await self._read_others()
        if not self.absence.others_look_s(self._clock.monotonic()):
            await self._follow()
        self.fault, self._has_objected, self._is_level = "", False, True
        self.absence.compared()

    def _show(self, state: AccountState, own: Iterable[Intent]) -> None:
        open_here = {intent.id for intent in own}
        self.version, self.locks = state.version, state.locks
        self._elsewhere = [row for row in state.open if row.id not in open_here]
        self.open_elsewhere = {
            row.scope: OpenIntent(row.id, row.state, str(row.writer), str(row.follower or ""))
            for row in self._elsewhere
        }

    async def _read_others(self) -> None:
        known, newest = self._of_others, {}
        for row in self._elsewhere:
            intent = known.get(row.id)
            is_newest = intent is not None and intent.events[-1].number == row.number
            newest[row.id] = intent if intent is not None and is_newest else await self.store.read(row.id)
        self._of_others = newest

    # Whether the store is the one that was here before

    async def _check_mark(self, state: AccountState) -> None:
        """Find the newest event seen before where it was, and remember the newest now; raises OlderCopy."""
        if self.went_back:
            former = self.mark.newest_step
            await self.mark.read()
            if self.mark.newest_step == former:
                # The event may be there again, entered by another machine: a person has to look all the same.
                raise OlderCopy(self.went_back)
            self.went_back = ""
        elif not self._is_level:
            await self.mark.catch_up()
        newest = self.mark.newest_step
        if newest is None or not self._is_level or state.version != newest.version:
            events = await self.mark.events_since(self.store, state.version)
            await self.mark.remember(events, state.version)
            if not self._is_level:
                self._stepped |= {event.intent for event in events}  # meanwhile they may have ended otherwise

    async def accept_older_store(self) -> None:
        """Go on with a store that went back in time: a person's deliberate step. Trading is then locked.

        What the store has lost of this machine is entered again, and what other machines had open as far as it is known
        here: theirs may not run. Raises StoreAway, StoreRefused.
        """
        journal = self._journal()
        if journal is None:
            return
        async with self._looking:
            await self._lost.enter(journal, self._of_others.values())
            state = await self.store.state()
            if not self.may_only_view:
                await self.store.lock_trading(True)
            # Before any event there is nothing to find again.
            await self.mark.remember(await self.store.events_after(max(0, state.version - 100)), state.version)
            self.went_back = ""
        await self.look()

    async def _object(self) -> None:
        """Lock what is open here, and all trading, for the machines that have not seen more than the older copy."""
        journal = self._journal()
        if journal is None:
            return
        try:
            if not any(lock.writer.person == self.store.writer.person for lock in self.locks):
                self.locks = await self.store.lock_trading(True)
            await (self._lost.enter_blocked() if self._has_objected else self._lost.enter(journal))
        except StoreRefused as refused:
            _log.warning("the store went back, and this session may not lock it: %s", refused)
        except Exception as problem:  # it is tried again at the next look, whatever the reason
            if not isinstance(problem, StoreAway):
                _log.warning("the store went back, and what it has lost cannot be entered: %r", problem)
            return
        self._has_objected = True

    # Sending

    async def begin(self, intent: str, scope: str, kind: str, details: Mapping[str, Any], after: int | None) -> int:
        """Take the scope on every machine, and return the number of the event.

        Raises AlreadyOpen, Overtaken, Withheld; then nothing may be sent.
        """
        if self.away_s is not None:
            raise Withheld((self.trouble,))
        try:
            if self._woken.is_set() or not self._is_level:
                await self.look()
            if self.trouble:
                raise Withheld((self.trouble,))
            shared = {"title": details.get("title")} if scope == kind else details
            after = self.version if after is None else after
            self._nothing_to_send.clear()
            number = await self.store.begin(intent, scope, kind, shared, after=after)
        except StoreAway as away:
            self.withdraw(intent)
            raise Withheld((sentence_of(away),)) from None
        except StoreRefused as refused:
            self._nothing_to_send.set()
            raise begin_refused(refused, scope) from None
        except BaseException:
            self.withdraw(intent)
            raise
        if self.mark.newest_step is not None and number <= self.mark.newest_step.number:
            self.withdraw(intent)
            self._is_away()
            raise Withheld(("The store has lost events that this machine has seen there.",))
        return number

    async def write_sent(self, intent: Intent) -> None:
        """Write the step `sent` of the local journal into the store; raises NotSent unless it is certainly there."""
        try:
            await self._tell(intent, next(event for event in intent.events if event.state is State.SENT))
        except StoreAway as away:
            raise NotSent(f"the store did not answer ({away.reason})") from None
        except StoreRefused as refused:
            raise NotSent(sentence_of(refused).rstrip(".")) from None
        finally:
            self._nothing_to_send.set()

    def withdraw(self, intent: str) -> None:
        """Withdraw an intent in the store that was never written here, at the next look."""
        self._to_withdraw.add(intent)
        self._nothing_to_send.set()
        self._woken.set()

    async def _withdraw_unused(self) -> None:
        for intent in tuple(self._to_withdraw):
            with suppress(StoreRefused):  # the store never had it, or it is withdrawn already
                await self._withdraw(intent, "it was not sent")
            self._to_withdraw.discard(intent)

    async def _withdraw(self, intent: str, why: str) -> None:
        await self._step(intent, State.WITHDRAWN, {"why": why}, f"{intent}-withdrawn", State.INTENDED)

    # The outbox

    def stepped(self, intent: str) -> None:
        """Have a step that was written here told to the store."""
        self._stepped.add(intent)
        self._nothing_to_send.set()
        self._woken.set()

    async def _level(self, journal: Journal, state: AccountState, own: Iterable[Intent]) -> bool:
        """Bring every open intent and every one that went on to the same level; True if anything was written."""
        rows = {row.id: row for row in state.open}
        intents = {intent.id: intent for intent in own}
        stepped, self._stepped = self._stepped, set()
        was_level = True
        try:
            if others := (rows.keys() | stepped) - intents.keys():
                intents |= await self._disk.run(_known_here, journal, others)
            for intent in intents.values():
                row = rows.get(intent.id)
                level = (row.number if row is not None else 0), intent.events[-1].chain
                if self._compared.get(intent.id) != level:
                    was_level = False
                    if await self._level_one(journal, intent):
                        self._compared[intent.id] = level
        except BaseException:
            self._stepped |= stepped
            raise
        return not was_level

    async def _level_one(self, journal: Journal, intent: Intent) -> bool:
        """Write what the store lacks of an intent, and here how another machine ended it; False: to be tried again."""
        try:
            shared = await self.store.read(intent.id)
        except KeyError:
            if intent.state in ENDED:
                return True
            if STORE_NUMBER in intent.details:
                raise OlderCopy(f"{intent.title!r}, which is open on this machine") from None
            if not await self._lost.is_entered(intent):
                return False  # it locks its symbol here, and is entered once it can be
            shared = await self.store.read(intent.id)
        if intent.state is not State.SENT and is_sent_only_here(intent, shared.state):
            if not await self._lost.is_entered(intent):
                return False
            shared = await self.store.read(intent.id)
        ids_there = [event.chain for event in shared.events]
        ids_here = [event.details.get(COPY_OF, event.chain) for event in intent.events]
        common = max((at for at, step in enumerate(ids_here) if step in ids_there), default=0)
        newer_there = shared.events[ids_there.index(ids_here[common]) + 1 if common else 1 :]
        lacking = [event for event in intent.events[common + 1 :] if event.chain not in self._refused_steps]
        is_corrected_there = any(event.state is State.CORRECTED for event in newer_there)
        if any(event.state in ENDED for event in newer_there):
            # They rest on less than what another machine has seen since, except a correction of that machine's end.
            begins = next((at for at, event in enumerate(lacking) if event.state is State.CORRECTED), len(lacking))
            lacking = lacking[begins:] if shared.state is State.SETTLED else []
        for event in lacking:
            try:
                await self._tell(intent, event)
            except StoreRefused as refused:
                if refused.code == StoreRefusal.ANOTHER_FOLLOWS:
                    return False  # for as long as its lease lives
                if refused.code not in (StoreRefusal.WRONG_STEP, StoreRefusal.TRADING_LOCKED):
                    raise
                self._refused_steps.add(event.chain)
        if lacking:
            shared = await self.store.read(intent.id)
        goes_on_there = intent.state is State.SETTLED and is_corrected_there and not lacking
        if goes_on_there or (shared.state in ENDED and intent.state not in ENDED):
            await self._copy_here(journal, intent, shared)
        return True

    async def _tell(self, intent: Intent, event: Event) -> None:
        """Write a local step into the store."""
        await self._step(intent.id, event.state, shared_details(intent, event), event.chain)

    async def _step(
        self, intent: str, state: State, details: Mapping[str, Any], step: str, prior: State | None = None
    ) -> None:
        """Write a step into the store, as the follower of the intent if somebody else's lease has ended."""
        try:
            await self.store.step(intent, state, details, step=step, prior=prior, fence=self._fences.get(intent))
        except StoreRefused as refused:
            if refused.code != StoreRefusal.ANOTHER_FOLLOWS:
                raise
            await self._take_over(intent)
            await self.store.step(intent, state, details, step=step, prior=prior, fence=self._fences[intent])

    async def _copy_here(self, journal: Journal, intent: Intent, shared: Intent) -> None:
        """Write here how another machine has ended an intent, or that it has corrected its end."""
        last, prior = shared.events[-1], intent.state
        details = {**last.details, BY: last.owner, COPY_OF: last.chain}
        if shared.contradiction:
            details["contradiction"] = shared.contradiction
        between = State.CORRECTED if prior is State.SETTLED else State.UNKNOWN
        states = (shared.state,) if shared.state in TRANSITIONS[prior] else (between, shared.state)
        with suppress(WrongStep):  # another process of this machine was faster
            for state in states:
                await self._disk.run(journal.step, intent.id, state, details, Moment.now(self._clock), prior=prior)
                prior = state

    # Following what other machines have sent

    async def _take_over(self, intent: str) -> None:
        self._fences[intent] = await self.store.take_over(intent, LEASE_S)

    async def _follow(self) -> None:
        """Take over what a machine that is gone has left open, and withdraw what it never sent."""
        self._followed &= {row.id for row in self._elsewhere}
        for row in self._elsewhere:
            if not self._is_left(row):
                self._followed.discard(row.id)
                continue
            try:
                if row.follower != self.store.writer or row.follower_left_s < LEASE_S / 2:
                    await self._take_over(row.id)
                if row.state is State.INTENDED:
                    await self._withdraw(row.id, "the program ended before it was sent")
                elif row.kind == row.scope:
                    why = {"why": "its machine is gone; check on the exchange's site what was created"}
                    await self._step(row.id, State.UNKNOWN, why, f"{row.id}-left-{row.number}")
                else:
                    self._followed.add(row.id)
            except StoreRefused as refused:
                if refused.code not in (StoreRefusal.ANOTHER_FOLLOWS, StoreRefusal.WRONG_STEP):
                    raise
                self._followed.discard(row.id)

    def _is_left(self, row: StoreIntent) -> bool:
        """Whether an intent has nobody any more who settles it.

        A creation can only be settled by its own machine: once that is gone, a person may release it.
        """
        own, is_creation = self.store.writer, row.kind == row.scope
        if (is_creation and row.state is State.UNKNOWN) or row.follower not in (None, own):
            return False
        if row.id not in self._followed and row.age_s < LEFT_BEHIND_S:
            return False
        is_gone = row.machine_seen_s >= MACHINE_GONE_S
        is_own = row.last_writer == own if is_creation else row.last_writer.machine == own.machine
        return is_gone or row.state is State.INTENDED or is_own

    async def followed(self) -> list[tuple[Intent, float]]:
        """Return the intents of other machines that this session settles, each with the age of its last step."""
        try:
            read = [(await self.read(row.id), row.age_s) for row in self._elsewhere if row.id in self._followed]
        except (KeyError, Withheld):  # an older copy of the store lacks it
            return []
        return [(intent, age_s) for intent, age_s in read if intent.state not in ENDED]

    def is_corrected_there(self, intent: str) -> bool:
        """Whether the store has corrected an intent that has ended in this machine's journal, or is not in it."""
        return any(row.id == intent and row.state is State.CORRECTED for row in self._elsewhere)

    async def step_there(self, intent: str, state: State, details: Mapping[str, Any], prior: State | None) -> None:
        """Write a step into the store, and from there into the journal; raises WrongStep, Withheld.

        It is of another machine's intent, or a release, which must know what others have done.
        """
        try:
            if state is State.RELEASED:
                await self.look()
                if not self._is_level:
                    raise Withheld((self.trouble,))
            await self._step(intent, state, details, self._new_id(), prior)
        except StoreAway as away:
            raise Withheld((sentence_of(away),)) from None
        except StoreRefused as refused:
            raise WrongStep(sentence_of(refused)) from None
        with suppress(StoreAway, StoreRefused):
            await self.look()

    async def read(self, intent: str) -> Intent:
        """Return an intent as the store has it; raises KeyError, Withheld."""
        try:
            return await self.store.read(intent)
        except (StoreAway, StoreRefused) as problem:
            raise Withheld((sentence_of(problem),)) from None

    async def newest(self, limit: int) -> list[Intent]:
        """Return the newest intents of all machines; none while the store cannot be read."""
        try:
            return await self.store.newest(limit)
        except (StoreAway, StoreRefused):
            return []

    async def newest_with_ages(self) -> list[tuple[Intent, float]]:
        """Return the newest intents of all machines, each with the age of its last step.

        Raises Withheld before the first look at the store; StoreAway, StoreRefused.
        """
        if self.version is None:
            raise Withheld((self.trouble,))
        intents, state = await self.store.newest(OTHERS_LISTED), await self.store.state()
        return [(intent, (state.now_ms - intent.events[-1].at_ms) / 1000) for intent in intents]

    # The lock on trading

    async def lock_trading(self, locked: bool) -> bool:
        """Set or remove this person's lock on every machine; False if the others could not be told, yet or ever.

        A lock is told later. Its removal is not: meanwhile the same person may have locked at another machine.
        """
        if self.may_only_view:
            return False
        self.untold_lock = locked
        try:
            await self._tell_lock()
        except (StoreAway, StoreRefused):
            with suppress(OSError):  # the local journal has it in any case
                await self.mark.keep_untold_lock(locked)
            self.untold_lock = locked or None
            return False
        return True

    async def _tell_lock(self) -> None:
        if (locked := self.untold_lock) is None:
            return
        locks = await self.store.lock_trading(locked)
        if self.untold_lock is locked:
            self.untold_lock, self.locks = None, locks
            self._changed()
            await self.mark.keep_untold_lock(False)

    @property
    def lockers(self) -> str:
        """Who has locked trading, when, and who can unlock it, in sentences; empty if nobody has."""
        return " ".join(map(str, self.locks))

    @property
    def locks_of_others(self) -> tuple[StoreLock, ...]:
        """The locks that this person cannot remove."""
        return tuple(lock for lock in self.locks if lock.writer.person != self.store.writer.person)


def _known_here(journal: Journal, ids: Iterable[str]) -> dict[str, Intent]:
    """Read those of these intents that a journal has, in one visit to the disk."""
    known = {}
    for intent in ids:
        with suppress(KeyError):
            known[intent] = journal.intent(intent)
    return known
