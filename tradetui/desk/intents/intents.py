"""The intents of one account: every request to be sent is first written here and locks its symbol until it ends.

Each step is on disk before it is taken. While the journal cannot be read and written, nothing is sent.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeVar

from tradetui.desk.intents.journal.account_store import OTHERS_LISTED, AccountStore
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.registered_journal import (
    LEFT_BEHIND_S,
    JournalLocation,
    LossAcceptance,
    RegisteredJournal,
    accept_loss,
    open_intents_in,
    open_journal,
)
from tradetui.desk.intents.journal.store_mark import JOINED, MARK_FILE, REJOIN
from tradetui.desk.intents.locks import AccountLock, LockChoice, OpenScopes, StepWriters
from tradetui.desk.intents.lost_intents import STORE_NUMBER
from tradetui.desk.intents.shared_account import SharedAccount
from tradetui.desk.intents.states import ENDED, AlreadyOpen, Intent, OpenIntent, State, Withheld, WrongStep
from tradetui.exchange.clock import Clock, Moment
from tradetui.exchange.errors import NotSent
from tradetui.storage.disk_thread import Disk
from tradetui.storage.postgres.errors import StoreAway, StoreRefused
from tradetui.storage.sqlite_file import FileLost, FileUnusable
from tradetui.wire.text import uid_tail

_log = logging.getLogger(__name__)

Content = TypeVar("Content")

WATCH_S = 0.7
"""Seconds between two looks at what other processes of the account have written."""
_VERIFIED_PER_LOOK = 50_000
"""A changed journal of at most this many events is verified by its hash chain at each look; that takes 0.2 s."""


_UID_FOR_STORE: Final = (
    "The exchange does not report this account's UID, and with a store nothing is sent until it is known: set uid in "
    "the profile."
)


class JournalFault(StrEnum):
    """Faults of the journal. Nothing is sent until the trader has it tried again and it can be written."""

    UNREADABLE = "cannot be read"
    UNWRITABLE = "cannot be written"
    UNUSABLE = "cannot be used"


_REMEDIES: Final = {
    JournalFault.UNREADABLE: "Check the disk",
    JournalFault.UNWRITABLE: "Check the disk's free space and the data directory",
    JournalFault.UNUSABLE: "Check the data directory",
}


class SendsNothing(StrEnum):
    """Why a session sends nothing at all."""

    MONITOR = "Monitor mode: nothing can be sent."
    KEY_READS_ONLY = (
        "This API key can only read: the exchange would refuse the order. "
        "Allow the key to trade futures on the exchange's site, then start again."
    )
    LOCKED = "Trading is locked."
    UNIFIED = (
        "This is a unified account, which tradetui only reads: the exchange has no reversal for it. To trade here, use "
        "an API key of a sub-account in classic mode; this account is traded on the exchange's web page."
    )


class _Changes(NamedTuple):
    """The journal as last read: the lock, and the scopes of open intents here and in other directories."""

    locked: bool
    open_intents: list[Intent]
    standing: dict[str, OpenIntent]
    elsewhere: dict[str, str]


class Intents:
    """The intents of an account. A session in monitor mode has none.

    `trouble` is why the journal cannot be used, None if it can; nothing is sent while it is set.
    """

    def __init__(
        self,
        journal: Journal | None,
        disk: Disk,
        clock: Clock,
        account: str,
        new_id: Callable[[], str],
        *,
        start_locked: bool,
        open_store: Callable[[str], AccountStore] | None = None,
    ) -> None:
        """`journal` is None until the account is identified; nothing is sent before `open`.

        `open_store` returns the store of an account of this name, if several machines share one.
        """
        self.trouble: str | None = None if journal is not None else "the account is not identified yet"
        self.account = account
        self.uid: str | None = None
        """The UID of the account, if it is known."""
        self.other_owner = ""
        """Why nothing is sent any more: the exchange names another UID for the API key; else empty."""
        self.loss: FileLost | None = None
        """The lost part of the journal; nothing is sent until `accept_loss`, in this session or another."""
        self.fault: JournalFault | None = None
        """Any other fault of the journal; nothing is sent until `try_again`."""
        self.notice = ""
        """A note, shown once, that the journal is new or was not registered; else empty."""
        self._journal = journal
        self._location: JournalLocation | None = None
        self._acceptance = LossAcceptance(Moment.now(clock))
        self.checks_before_sending: list[Callable[[], None]] = []
        """Checks of the account's other files, run on the disk thread; each may raise FileUnusable."""
        self._disk = disk
        self._clock = clock
        self.new_id = new_id
        self.open_scopes = OpenScopes()
        """The scopes that open intents lock, as last read."""
        self.writers = StepWriters(clock)
        self.lock = AccountLock(disk, clock, locked=start_locked)
        self.profile_to_name: Callable[[], str] = lambda: ""
        """The profile's name while the session knows several profiles, else empty."""
        self.shared: SharedAccount | None = None
        """The part in a store that several machines share; None without one, and until the account's UID is known."""
        self.store_changed: Callable[[], None] = lambda: None
        """Called when what other machines do, or the way to them, has changed."""
        self._open_store = open_store
        self._shown_of_store: object = None

    @property
    def account_tag(self) -> str:
        """Names the account in every button and typed text that sends; empty where the session knows one profile."""
        profile = self.profile_to_name()
        return f"{profile} {uid_tail(self.uid)}" if profile and self.uid else profile

    # The journal

    async def open(self, account: str, location: JournalLocation) -> bool:
        """Open the account's journal; True if it can be used, else `trouble` says why not."""
        self.account, self._location = account, location
        try:
            self._journal = await self._disk.run(self._open_file, location)
            # Locks and open intents show at once; nothing is sent before the whole file was checked.
            self.trouble = "it is being checked"
            await self.refresh()
            if self._journal is None:
                return False
            await self._disk.run(self._journal.check)
        except Exception as problem:  # whatever the reason, a missing journal must be reported
            self._note_fault(JournalFault.UNREADABLE, problem)
            return False
        self._take_into_use(self._journal)
        await self.refresh()
        return True

    def share(self, account: str, location: JournalLocation) -> None:
        """Open the store that this account shares with other machines, if the session has one."""
        if self._open_store is not None:
            self.shared = SharedAccount(
                self._open_store(account),
                lambda: self._journal,
                location.file.with_name(MARK_FILE),
                self._disk,
                self._clock,
                self.new_id,
                self._see_store,
            )

    def _see_store(self) -> None:
        """Take over what the store says: the locks of all persons, and the open intents of other machines."""
        if (shared := self.shared) is None:
            return
        self.lock.in_store = shared.lockers
        self.open_scopes.see_other_machines(shared.open_elsewhere)
        lockers, refusals = [lock.writer for lock in shared.locks], (shared.refusal, shared.may_only_view)
        shown = shared.open_elsewhere, lockers, refusals, shared.store.away_since, shared.went_back
        if shown != self._shown_of_store:
            self._shown_of_store = shown
            self.store_changed()

    def lock_unjournaled(self, scope: str, order: str | None) -> None:
        """Lock a scope for an order of this program that is in no journal, until None frees it; early refusals say so.

        Only an account that shares a store has it: without one, another machine's orders are not told apart.
        """
        self.open_scopes.see_unjournaled(scope, order)
        self.store_changed()

    @property
    def store_trouble(self) -> str:
        """Why nothing can be sent because of the store, as a sentence; empty without a store, and if it can."""
        if self.shared is not None:
            return self.shared.trouble
        has_no_journal = self._journal is None and self._location is None  # `trouble` says why
        return "" if self._open_store is None or has_no_journal else _UID_FOR_STORE

    async def accept_older_store(self) -> bool:
        """Go on with a store that went back in time: the trader's deliberate step. Trading is then locked.

        True if it is accepted, else `store_trouble` says why not.
        """
        if self.shared is not None:
            with suppress(StoreAway, StoreRefused):
                await self.shared.accept_older_store()
        return not (self.shared is not None and self.shared.went_back)

    async def look_ahead(self, location: JournalLocation) -> None:
        """Show what is open in the expected journal; nothing is sent before `open` has opened the right one."""
        try:
            intents = await self._disk.run(open_intents_in, location)
            await self._disk.run(self.writers.show_life, location.alive_dir)
            standing = await self._disk.run(self.writers.standing, intents)
        except Exception as problem:
            _log.info("open intents are not known yet: %s", problem)  # opening it will say why
            return
        if self._journal is None and self._location is None:
            self.open_scopes.see(standing, {})

    async def try_again(self) -> bool:
        """Open an unusable journal anew, check all of it and write to it: the trader's deliberate step.

        True if it can be used now, else `trouble` says why not.
        """
        if self.fault is None or self._location is None:
            return self.trouble is None
        former = self._journal
        try:
            self._journal = await self._disk.run(self._open_again, self._location, former)
        except Exception as problem:
            self._note_fault(JournalFault.UNWRITABLE, problem)
            return False
        self._take_into_use(self._journal)
        if former is not None:
            await self._disk.run(former.close)
        await self.refresh()
        return self.trouble is None

    def _take_into_use(self, journal: Journal) -> None:
        self.trouble = self.fault = None
        self.notice = journal.notice if isinstance(journal, RegisteredJournal) else ""

    def _open_again(self, location: JournalLocation, former: Journal | None) -> Journal:
        journal = self._open_file(location)
        try:
            journal.check()
            if former is not None and journal.id != former.id:
                raise FileLost(str(location.file), "it was replaced by another one")
            journal.prove_writable()
        except BaseException:
            journal.close()
            raise
        return journal

    def _refuse_if_joined(self, location: JournalLocation) -> None:
        """Raise FileUnusable if this machine has joined a store that this session does not have."""
        if self._open_store is None and location.file.with_name(MARK_FILE).exists():
            raise FileUnusable(str(location.file), JOINED, REJOIN)

    def _check_files(self) -> None:
        if self._location is not None:
            self._refuse_if_joined(self._location)
        for check in self.checks_before_sending:
            check()

    def _open_file(self, location: JournalLocation) -> Journal:
        self._refuse_if_joined(location)
        self.writers.show_life(location.alive_dir)
        return open_journal(location, self.writers.lives)

    def _note_fault(self, fault: JournalFault, problem: Exception) -> None:
        """Note why the journal cannot be used: it is lost, or the fault may be repaired and tried again."""
        if not isinstance(problem, FileUnusable):
            self.fault = fault
            self.trouble = f"it {fault} ({problem}). {_REMEDIES[fault]}, then try again: press L in tradetui"
            return
        self._journal = None
        self.trouble = f"{problem.reason}. {problem.remedy}"
        if isinstance(problem, FileLost):
            self.loss, self.fault = problem, None
        else:
            self.fault = JournalFault.UNUSABLE

    async def accept_loss(self) -> bool:
        """Continue without the lost part: the trader's deliberate step. Trading is then locked.

        True if the journal can be used now, else `trouble` says why not.
        """
        if self.loss is None or self._location is None:
            return self.trouble is None
        try:
            await self._disk.run(accept_loss, self._location, Moment.now(self._clock), self.writers.lives)
        except (FileUnusable, sqlite3.Error, OSError) as problem:
            self.trouble = str(problem)
            return False
        return await self._open_after_loss(self._location)

    async def _open_after_loss(self, location: JournalLocation) -> bool:
        """Open the journal after the loss was accepted; `trouble` stays until the whole file was checked."""
        self.loss = None
        self.open_scopes = OpenScopes()
        self._see_store()
        return await self.open(self.account, location)

    def close(self) -> None:
        """Close the disk after pending writes, and let other processes see that this one has ended."""
        self.writers.close()
        self._disk.close()

    async def refresh(self) -> None:
        """Read what other processes wrote: the trading lock, unsettled intents, an accepted loss."""
        if self._journal is None:
            if self.loss is None or self._location is None:
                return
            if await self._disk.run(self._acceptance.is_written, self._location) and self.loss is not None:
                await self._open_after_loss(self._location)
            return
        if self.lock.unwritten is not None:
            await self._write_lock(self.lock.unwritten)
        newest_choice, moment = self.lock.newest, Moment.now(self._clock)
        try:
            changes = await self._disk.run(self._read_changes, self._journal, moment)
        except (FileUnusable, sqlite3.Error, OSError) as problem:
            self._note_fault(JournalFault.UNREADABLE, problem)
            return
        self._acceptance = LossAcceptance(moment)
        self.lock.take_over(changes.locked, newest_choice)
        self.writers.saw(changes.open_intents)
        self.open_scopes.see(changes.standing, changes.elsewhere)

    def _read_changes(self, journal: Journal, moment: Moment) -> _Changes:
        journal.check_not_replaced()
        elsewhere: dict[str, str] = {}
        if isinstance(journal, RegisteredJournal) and self.trouble is None:
            if journal.touched and journal.last_event_number() <= _VERIFIED_PER_LOOK:
                journal.verify()
            for scope, reservation in journal.reconcile(moment).items():
                elsewhere[scope] = f"{reservation.intent}, open in {journal.path_of(reservation)}"
        intents = journal.open_intents()
        return _Changes(bool(journal.trading_locked()), intents, self.writers.standing(intents), elsewhere)

    async def not_settled(self) -> list[Intent]:
        """Return the unsettled intents that this machine settles, its own first, oldest first; raises Withheld."""
        intents = await self._read_from(self._ready().open_intents)
        for intent, age_s in [] if self.shared is None else await self.shared.followed():
            self.writers.saw_aged(intent, age_s)
            intents.append(intent)
        return intents

    async def newest(self) -> list[Intent]:
        """Return this machine's newest intents, newest first; raises Withheld if the journal cannot be read."""
        return await self._read_from(self._ready().newest)

    async def newest_of_all(self) -> list[Intent]:
        """Return the newest intents of all machines, newest first, as far as they can be read; raises Withheld."""
        own = await self.newest()
        if self.shared is None:
            return own
        ids = {intent.id for intent in own}
        others = [intent for intent in await self.shared.newest(len(own) + OTHERS_LISTED) if intent.id not in ids]
        return sorted([*own, *others], key=lambda intent: -intent.events[0].at_ms)

    async def contradiction(self) -> str:
        """Return why the account's fills do not explain its positions, by the newest such intent; raises Withheld."""
        intent = await self._read_from(self._ready().newest_contradicted)
        return "" if intent is None else intent.contradiction

    async def read(self, intent: str) -> Intent:
        """Return one intent with all its steps, also of another machine; raises KeyError, Withheld."""
        try:
            own = await self._read_from(self._ready().intent, intent)
        except KeyError:
            if self.shared is None:
                raise
            return await self.shared.read(intent)
        return await self.shared.read(intent) if self.shared is not None and self._goes_on_there(own) else own

    def _goes_on_there(self, own: Intent) -> bool:
        """Whether only the store can go on with an intent: it is corrected there, and no step follows its end here.

        What is settled here can be corrected here, and the store may not know yet that it is.
        """
        is_final = own.state in ENDED and own.state is not State.SETTLED
        return is_final and self.shared is not None and self.shared.is_corrected_there(own.id)

    async def _is_of_other_machine(self, intent: str) -> bool:
        if self.shared is None:
            return False
        try:
            return self._goes_on_there(await self._disk.run(self._ready().intent, intent))
        except KeyError:
            return True

    async def _read_from(self, read: Callable[..., Content], *arguments: object) -> Content:
        try:
            return await self._disk.run(read, *arguments)
        except (FileUnusable, sqlite3.Error, OSError) as problem:
            self._note_fault(JournalFault.UNREADABLE, problem)
            raise self._withheld() from None

    async def once_left_behind(self, intent: Intent) -> Intent:
        """Wait until no other process can still be sending this intent; return it as it is then.

        This is at once if its process has ended, else after 35 s have certainly passed. A step of ours before that
        would spoil the next step of the other process.
        """
        while intent.state in (State.INTENDED, State.SENT) and not await self.is_left_behind(intent):
            await asyncio.sleep(WATCH_S)
            intent = await self.read(intent.id)
        return intent

    async def is_left_behind(self, intent: Intent) -> bool:
        """Whether no process can still be working on the intent's last step."""
        event = intent.events[-1]
        return self.writers.elapsed_s(event) >= LEFT_BEHIND_S or await self._disk.run(self.writers.has_ended, event)

    def _ready(self) -> Journal:
        if self._journal is None:
            raise self._withheld()
        return self._journal

    def _withheld(self) -> Withheld:
        return Withheld((f"The journal cannot be used: {self.trouble}.",))

    # Steps

    async def last_event(self) -> int:
        """Return the journal's newest event number; call it before reading an intent's rows. Raises Withheld."""
        try:
            return await self._disk.run(self._ready().last_event)
        except sqlite3.Error as problem:
            self._note_fault(JournalFault.UNREADABLE, problem)
            raise self._withheld() from None

    @property
    def store_version(self) -> int | None:
        """The number of the store's newest event as last read; None without a store. Take it before reading rows."""
        return None if self.shared is None else self.shared.version

    async def begin(
        self,
        intent: str,
        scope: str,
        kind: str,
        details: Mapping[str, Any],
        *,
        after: int | None = None,
        after_in_store: int | None = None,
    ) -> None:
        """Write a new intent, synced on return: first in the store, if there is one, then in the journal.

        `after` and `after_in_store` are `last_event` and `store_version` before reading the rows it is based on. Raises
        AlreadyOpen if an intent of the same scope is not settled, Overtaken if one of the same scope moved on after
        those events, Withheld if it cannot be written; then nothing may be sent.
        """
        if self.shared is None:
            if self.store_trouble:
                raise Withheld((self.store_trouble,))
            await self._begin_here(intent, scope, kind, details, after)
            return
        number = await self.shared.begin(intent, scope, kind, details, after_in_store)
        try:
            await self._begin_here(intent, scope, kind, {**details, STORE_NUMBER: number}, after)
        except BaseException:
            self.shared.withdraw(intent)
            raise

    async def _begin_here(
        self, intent: str, scope: str, kind: str, details: Mapping[str, Any], after: int | None
    ) -> None:
        try:
            now = Moment.now(self._clock)
            await self._disk.run(self._check_files)
            await self._disk.run(self._ready().begin, intent, self.account, scope, kind, details, now, after=after)
        except AlreadyOpen as problem:
            if problem.state in set(State):
                self.open_scopes.began(scope, OpenIntent(problem.intent, State(problem.state)))
            raise
        except (FileUnusable, sqlite3.Error, OSError) as problem:
            self._note_fault(JournalFault.UNWRITABLE, problem)
            raise self._withheld() from None
        self.open_scopes.began(scope, OpenIntent(intent, State.INTENDED))

    async def about_to_send(self, intent: str, details: Mapping[str, Any]) -> None:
        """Write the step `sent`, the last act before the first byte; raises NotSent if it must not be sent."""
        try:
            await self._disk.run(self._check_files)
            locked = await self._disk.run(self._ready().trading_locked)
            if not (locked or self.lock.locked or self.other_owner or self.store_trouble):
                sent = await self._disk.run(self._write_sent, self._ready(), intent, details, Moment.now(self._clock))
                self.open_scopes.stepped(intent, State.SENT)
                if self.shared is not None:
                    await self.shared.write_sent(sent)
        except WrongStep:
            raise NotSent("another session has withdrawn it") from None
        except (FileUnusable, sqlite3.Error, OSError) as problem:
            self._note_fault(JournalFault.UNWRITABLE, problem)
            raise NotSent(f"the journal cannot be used: {self.trouble}") from None
        if self.other_owner or self.store_trouble:
            raise NotSent(self.other_owner or self.store_trouble)
        if locked or self.lock.locked:  # or here, while the disk was writing
            raise NotSent("trading was locked before it was sent")

    def _write_sent(self, journal: Journal, intent: str, details: Mapping[str, Any], at: Moment) -> Intent:
        journal.step(intent, State.SENT, details, at)
        return journal.intent(intent)

    async def step(self, intent: str, state: State, details: Mapping[str, Any], *, prior: State | None = None) -> None:
        """Write the next step, synced; raises WrongStep or sqlite3.Error, with a store also Withheld.

        `prior` is the state that was read and on which the step is based: on a slow disk another process may have moved
        on.
        """
        if self.shared is not None and (state is State.RELEASED or await self._is_of_other_machine(intent)):
            await self.shared.step_there(intent, state, details, prior)
            return
        await self._disk.run(self._ready().step, intent, state, details, Moment.now(self._clock), prior=prior)
        self.open_scopes.stepped(intent, state)
        if self.shared is not None:
            self.shared.stepped(intent)

    async def note(self, intent: str, state: State, details: Mapping[str, Any], *, prior: State | None = None) -> bool:
        """Write a step that has already happened; if that fails, the intent stays open and a restart takes it up."""
        try:
            await self.step(intent, state, details, prior=prior)
        except WrongStep:
            return False  # another process of the account was faster
        except Withheld:
            return False  # the store is away, and its follower looks again
        except (FileUnusable, sqlite3.Error, OSError) as problem:
            self._note_fault(JournalFault.UNWRITABLE, problem)
            return False
        return True

    def unsettled(self) -> tuple[str, ...]:
        return self.open_scopes.sentences()

    # The lock

    @property
    def locked(self) -> bool:
        """Whether trading is locked: by hand in any process of the account, by the journal, or for the key's owner."""
        return self.lock.locked or self.loss is not None or self.fault is not None or bool(self.other_owner)

    @property
    def may_only_view(self) -> bool:
        """Whether the store lets this person only view the account, so that no lock chosen here reaches others."""
        return self.shared is not None and self.shared.may_only_view

    @property
    def unlocking_helps(self) -> bool:
        """Whether this person could send after unlocking: not if the store refuses it, or only others have locked."""
        if self.shared is None:
            return True
        is_locked_by_others = bool(self.shared.locks) and self.shared.locks == self.shared.locks_of_others
        return not (self.shared.refusal or self.may_only_view or is_locked_by_others)

    @property
    def lock_is_untold(self) -> bool:
        """Whether a lock chosen here is not known yet to every session of the account."""
        return self.lock.unwritten is not None or (self.shared is not None and self.shared.untold_lock is True)

    def note_key_owner(self, uid: str | None) -> None:
        """Note the owner of the API key by the exchange; if it is another account, nothing more is sent."""
        if uid is not None and self.uid is not None and uid != self.uid:
            self.other_owner = (
                f"The exchange says that this API key belongs to UID {uid}, and this session was started for "
                f"{self.uid}: nothing is sent. End the session, correct uid or the key in the profile, and start again."
            )

    def set_lock(self, locked: bool) -> asyncio.Future[bool]:
        """Lock or unlock trading at once, for every process of the account; any of them may unlock it again.

        The result is True once it is written, so that the others see it, also on other machines. A lock that cannot be
        written holds for this session and is retried at every look.
        """
        choice = self.lock.choose(locked, has_journal=self._journal is not None)
        return asyncio.ensure_future(self._write_lock(choice))

    async def _write_lock(self, choice: LockChoice) -> bool:
        is_written = await self._write_lock_here(choice)
        return (self.shared is None or await self.shared.lock_trading(choice.locked)) and is_written

    async def _write_lock_here(self, choice: LockChoice) -> bool:
        try:
            return await self.lock.write(self._journal, choice)
        except (sqlite3.Error, OSError, FileUnusable) as problem:
            self._note_fault(JournalFault.UNWRITABLE, problem)
            others = "are not locked, lock them there" if choice.locked else "stay locked"
            self.trouble = f"{self.trouble}. The lock is not written: other sessions {others}"
            return False
