"""A journal that the registry knows: it is never silently new, and its scopes are locked for the account.

The order of a reversal: reserve (registry), `intended`, `sent` (journal), head (registry), first byte; at its end: the
last event (journal), head and free (registry). A kill between any two unlocks nothing: an extra reservation in the
registry is freed once the journal shows its end, a missing one is entered again from the journal.

Opens an account's journal or reports its lost parts, and accepts a loss on the trader's order.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from tradetui.desk.intents.journal.journal import ChainPoint, Journal, written_mark
from tradetui.desk.intents.journal.journal_registry import RegisteredHead, Registry, Reservation, ScopeTaken
from tradetui.desk.intents.states import ENDED, AlreadyOpen, Event, Intent, Overtaken, State, elapsed_s
from tradetui.exchange.clock import Moment
from tradetui.storage.process_life import ProcessLives
from tradetui.storage.sqlite_file import (
    FileLost,
    FileUnusable,
    accept_damage,
    connect_existing,
    set_aside,
    set_aside_before,
)

LEFT_BEHIND_S: Final = 35.0
"""After this many seconds no process can still be working on a step that it began."""
NEW: Final = "This account has no journal yet: orders of another user or another machine are not known here."
ENTERED_AGAIN: Final = (
    "This journal was missing in the list of your journals (state directory) and was added to it again."
)


class JournalLocation(NamedTuple):
    """The files of an account's journal, and the identity that keeps it from being taken for another.

    Without a `registry_file` the journal stands alone. `aliases` are the possible names of the account, `former_files`
    the journals it may have under older names. `alive_dir` holds the lock files of living processes.
    """

    file: Path
    registry_file: Path | None = None
    aliases: tuple[str, ...] = ()
    former_files: tuple[Path, ...] = ()
    alive_dir: Path | None = None


class RegisteredJournal(Journal):
    """One account's journal, with its journals under former names: their intents are finished, none begins there."""

    def __init__(self, file: Path, lives: ProcessLives | None, registry: Registry, aliases: Collection[str]) -> None:
        """Open the file; raises FileUnusable. `check` compares it with the registry."""
        super().__init__(file, lives.owner if lives else "")
        self.notice = ""
        self._lives = lives
        self._registry = registry
        self._aliases = tuple(aliases)
        self._former: tuple[RegisteredJournal, ...] = ()
        self._first_seen_s: dict[str, float] = {}

    def take_over(self, former: Sequence[RegisteredJournal]) -> None:
        """Finish the intents of journals under former names as well."""
        self._former = tuple(former)

    # Held to the registry

    def check(self) -> None:
        """Check the whole of every file, and compare each with the registry; raises FileUnusable."""
        for journal in self._former:
            journal.check()
        with self._naming_held_scopes():
            super().check()
        registered = self._registry.head(self.id)
        if registered is None:
            self.notice = ENTERED_AGAIN if self.last_event_number() else NEW
        elif registered.path != self.file and registered.path.exists():
            raise FileUnusable(
                str(self.file),
                f"it is a copy of {registered.path}",
                "Set data_dir to the directory of that one, or move this one away",
            )
        if registered is None or registered.path != self.file:
            self._registry.enroll(self.id, self.file, self._aliases, self._last())
        else:
            self._registry.add_aliases(self.id, self._aliases)
            self._registry.note(self.id, self._last())

    def verify(self) -> ChainPoint:
        """Verify the file by its hash chain and by the head in the registry; raises FileUnusable."""
        for journal in self._former:
            journal.verify()
        with self._naming_held_scopes():
            point = super().verify()
            registered = self._registry.head(self.id)
            if registered is None:
                return point
            number, chain = registered.head
            if number > point.number:
                raise FileLost(str(self.file), f"its last {number - point.number} events are lost")
            if number and self.chain_at(number) != chain:
                raise FileLost(str(self.file), "it was replaced by another one")
            return point

    def check_not_replaced(self) -> None:
        """Check that the open file is the one others will open; raises FileLost."""
        for journal in self._former:
            journal.check_not_replaced()
        with self._naming_held_scopes():
            try:
                super().check_not_replaced()
            except OSError as problem:
                raise FileLost(str(self.file), str(problem)) from None

    @contextmanager
    def _naming_held_scopes(self) -> Iterator[None]:
        """If this journal is lost, name the scopes that the registry lists for it."""
        try:
            yield
        except FileLost as lost:
            held = [reservation.scope for reservation in self._registry.held_by(self.id)]
            raise FileLost(lost.file, lost.reason, held) from None

    def reconcile(self, moment: Moment) -> dict[str, Reservation]:
        """Update the registry from the journals; return the scopes held by journals in other directories."""
        for journal in self._former:
            journal.reconcile(moment)
        own = {intent.id: intent for intent in super().open_intents()}
        held = self._registry.held_by(self.id)
        for reservation in held:
            if reservation.intent not in own and self._is_over(reservation, self._state_of(reservation), moment):
                self._registry.free(self.id, reservation.intent)
        for intent in own.values():
            if intent.id not in {reservation.intent for reservation in held}:
                with suppress(ScopeTaken):  # another journal's intent locks the scope too
                    self._reserve(intent.id, intent.scope, moment)
        ids = {self.id, *(journal.id for journal in self._former)}
        elsewhere = {}
        for reservation in self._registry.reservations(self._aliases):
            if reservation.journal not in ids and not self._free_if_over(reservation, moment):
                elsewhere[reservation.scope] = reservation
        return elsewhere

    def path_of(self, reservation: Reservation) -> str:
        registered = self._registry.head(reservation.journal)
        return str(registered.path) if registered is not None else "another journal"

    # Steps

    @contextmanager
    def _reserved(self, intent: str, scope: str, at: Moment, after: int | None) -> Iterator[None]:
        """Reserve the scope for the account, and free it again if the new intent could not be written."""
        for journal in self._former:
            for open_intent in journal.open_intents():
                if open_intent.scope == scope:
                    raise AlreadyOpen(open_intent.id, open_intent.state)
        try:
            self._reserve(intent, scope, at, after)
        except ScopeTaken as taken:
            if not self._free_if_over(taken.holder, at):
                raise self._already_open(taken.holder) from None
            # It has ended since the rows for this intent were read.
            raise Overtaken(scope) from None
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self._registry.free(self.id, intent)
            raise

    def step(
        self, intent: str, state: State, details: Mapping[str, Any], at: Moment, *, prior: State | None = None
    ) -> None:
        """Write the next step of an intent, then update the registry; raises WrongStep."""
        for journal in self._former:
            if journal.has(intent):
                journal.step(intent, state, details, at, prior=prior)
                return
        super().step(intent, state, details, at, prior=prior)
        if state in ENDED:
            self._registry.note(self.id, self._last(), freed=intent)
            return
        self._registry.note(self.id, self._last())
        if state is State.CORRECTED:
            with suppress(ScopeTaken):  # the other intent locks the scope
                self._reserve(intent, self.intent(intent).scope, at)

    def prove_writable(self) -> None:
        """Write to every file that takes a step, including the registry; raises OSError or sqlite3.Error."""
        for journal in self._former:
            journal.prove_writable()
        super().prove_writable()
        self._registry.prove_writable()

    def last_event(self) -> int:
        """Return the registry's number to begin after; the registry knows every journal of the account."""
        return self._registry.last_turn()

    def _written_after(self, event: int, scope: str) -> bool:
        """Return False: here the number is the registry's, and reserving the scope has checked it."""
        return False

    def set_trading_lock(self, locked: bool, at: Moment) -> None:
        for journal in self._former:
            journal.set_trading_lock(locked, at)
        super().set_trading_lock(locked, at)
        self._registry.note(self.id, self._last())

    def accepted_loss(self, reasons: Sequence[str], at: Moment) -> None:
        super().accepted_loss(reasons, at)
        self._registry.note(self.id, self._last())

    # Reading

    def has(self, intent: str) -> bool:
        return self._connection.execute("SELECT 1 FROM intent WHERE id = ?", (intent,)).fetchone() is not None

    def last_event_number(self) -> int:
        """Return the number of this journal's newest event, 0 if there is none."""
        return super().last_event()

    def intent(self, intent: str) -> Intent:
        for journal in self._former:
            if journal.has(intent):
                return journal.intent(intent)
        return super().intent(intent)

    def open_intents(self) -> list[Intent]:
        """Return the unsettled intents, those of former journals first."""
        return [*(intent for journal in self._former for intent in journal.open_intents()), *super().open_intents()]

    def newest(self, limit: int = 200) -> list[Intent]:
        former = [intent for journal in self._former for intent in journal.newest(limit)]
        return sorted([*super().newest(limit), *former], key=lambda intent: -intent.events[0].at_ms)[:limit]

    def newest_contradicted(self) -> Intent | None:
        """Return the newest contradicted intent of this journal, else of a former one."""
        journals = (super().newest_contradicted(), *(journal.newest_contradicted() for journal in self._former))
        return next(filter(None, journals), None)

    def trading_locked(self) -> bool | None:
        """Return whether trading was locked or unlocked by hand in any of the journals."""
        locks = [super().trading_locked(), *(journal.trading_locked() for journal in self._former)]
        return True if True in locks else locks[0]

    def close(self) -> None:
        for journal in self._former:
            journal.close()
        super().close()
        self._registry.close()

    def _reserve(self, intent: str, scope: str, at: Moment, after: int | None = None) -> None:
        self._registry.reserve(self._aliases, scope, self.id, intent, self._owner, at, after=after)

    def _already_open(self, holder: Reservation) -> AlreadyOpen:
        state = self._state_of(holder)
        return AlreadyOpen(holder.intent, str(state) if state else f"open in {self.path_of(holder)}")

    def _free_if_over(self, holder: Reservation, moment: Moment) -> bool:
        """Free a scope if the intent that holds it is over, in any journal; True if it was."""
        if holder.journal == self.id or any(journal.id == holder.journal for journal in self._former):
            over = self._is_over(holder, self._state_of(holder), moment)
        else:
            state = self._state_elsewhere(holder)
            over = state is not None and (state in ENDED if state else self._is_over(holder, None, moment))
        if over:
            self._registry.free(holder.journal, holder.intent)
        return over

    def _is_over(self, holder: Reservation, state: State | None, moment: Moment) -> bool:
        """Whether the intent has ended, or was reserved but never written by a process that is gone."""
        if state is not None:
            return state in ENDED
        if holder.owner and holder.owner == self._owner:
            return True
        if self._lives is not None and self._lives.has_ended(holder.owner):
            return True
        seen_s = self._first_seen_s.setdefault(holder.intent, moment.monotonic_s)
        reserved = Event(State.INTENDED, 0, {}, boot=holder.boot, monotonic_s=holder.monotonic_s)
        return elapsed_s(reserved, moment, seen_s) >= LEFT_BEHIND_S

    def _state_of(self, holder: Reservation) -> State | None:
        try:
            return self.intent(holder.intent).state
        except KeyError:
            return None

    def _state_elsewhere(self, holder: Reservation) -> State | str | None:
        """Return the state of an intent in a journal of another directory; empty if it has no such intent.

        None if that journal cannot be read or is not the registered one: an emptied or replaced journal does not show
        what it held.
        """
        registered = self._registry.head(holder.journal)
        if registered is None:
            return None
        try:
            with closing(connect_existing(registered.path, read_only=True)) as connection:
                if not _holds_head(connection, registered):
                    return None
                row = connection.execute(
                    "SELECT state FROM event WHERE intent = ? ORDER BY number DESC LIMIT 1", (holder.intent,)
                ).fetchone()
            return State(row[0]) if row is not None else ""
        except (sqlite3.Error, ValueError):
            return None


def _holds_head(connection: sqlite3.Connection, registered: RegisteredHead) -> bool:
    """Whether a file is the registered journal and still holds its registered head."""
    row = connection.execute("SELECT id FROM identity").fetchone()
    if row is None or row[0] != registered.journal:
        return False
    number, chain = registered.head
    row = connection.execute("SELECT chain FROM event WHERE number = ?", (number,)).fetchone()
    return number == 0 or (row is not None and row[0] == chain)


def located(location: JournalLocation) -> JournalLocation:
    """Resolve every file to its real path, so that a link is not taken for another file."""
    file = location.file.absolute()
    real = file.parent.resolve() / file.name
    former = tuple(path.parent.resolve() / path.name for path in location.former_files)
    return location._replace(file=real, former_files=tuple(path for path in former if path != real))


_log = logging.getLogger(__name__)

_FILES_AT_MOST: Final = 100
"""Each round of accepting sets one lost file aside; an account has a few, and more means a lasting fault."""


def open_journal(location: JournalLocation, lives: ProcessLives | None = None) -> Journal:
    """Open the journal of an account; call `check` to check all of it. Blocks briefly.

    Raises FileLost if it, or another journal of the account, is damaged, absent or changed; FileUnusable if it is
    newer, not writable, a copy, or on a network file system.
    """
    journal = _open(located(location), lives, creates=True)
    assert journal is not None  # a missing one is made
    return journal


def existing_journal(location: JournalLocation) -> Journal | None:
    """Open an existing journal for a session that only reads; nothing is made. Raises as `open_journal`."""
    return _open(located(location), None, creates=False)


def _open(location: JournalLocation, lives: ProcessLives | None, *, creates: bool) -> Journal | None:
    file, registry_file = location.file, location.registry_file
    opens = creates or any(map(_is_there, (file, *location.former_files)))
    if registry_file is None:
        return Journal(file, lives.owner if lives else "") if opens else None
    if not opens and not _is_there(registry_file):
        return None
    with ExitStack() as unless_opened:
        registry = unless_opened.enter_context(closing(Registry(registry_file)))
        journal = _open_registered(location, file, lives, registry, creates=creates)
        if journal is not None:
            unless_opened.pop_all()
    return journal


def _is_there(file: Path) -> bool:
    return file.exists() or set_aside_before(file) is not None


def open_intents_in(location: JournalLocation) -> list[Intent]:
    """Return the unsettled intents of an account's journal, oldest first; nothing is made. Raises as `open_journal`."""
    journal = existing_journal(location)
    if journal is None:
        return []
    with closing(journal):
        return journal.open_intents()


class JournalReader:
    """Reads an account's journal for a session that sends nothing."""

    def __init__(self, location: JournalLocation) -> None:
        self._location = location
        self._mark: object = None
        self._contradiction = ""

    def contradiction(self) -> str:
        """Return why the account's fills do not explain its positions; empty if no intent says so. Blocks."""
        mark = written_mark(located(self._location).file)
        if self._mark is None or self._mark != mark:
            try:
                journal = existing_journal(self._location)
                if journal is not None:
                    with closing(journal):
                        intent = journal.newest_contradicted()
                    self._contradiction = "" if intent is None else intent.contradiction
            except (FileUnusable, sqlite3.Error, OSError) as problem:
                _log.warning("contradictions found by other sessions cannot be read: %s", problem)
            self._mark = mark  # the earlier mark: a write during the read is read next time
        return self._contradiction


class LossAcceptance:
    """Detects that another session accepted the loss of a journal that was intact at the moment `since`."""

    def __init__(self, since: Moment) -> None:
        self._since = since
        self._mark: object = None

    def is_written(self, location: JournalLocation) -> bool:
        """Whether the journal opens again and records an accepted loss since. Blocks.

        A journal that merely comes back, or an older copy, was not accepted, even if it is locked. It is read once
        after each change; a missing one is not made.
        """
        mark = written_mark(located(location).file)
        if mark == self._mark:
            return False
        self._mark = mark
        try:
            journal = existing_journal(location)
            if journal is None:
                return False
            with closing(journal):
                return journal.has_accepted_loss(self._since)
        except (FileUnusable, sqlite3.Error, OSError):
            return False  # unchanged


def _open_registered(
    location: JournalLocation, file: Path, lives: ProcessLives | None, registry: Registry, *, creates: bool
) -> RegisteredJournal | None:
    aliases = registry.known_as(location.aliases)
    heads = registry.journals(aliases)
    by_path = {head.path: head for head in heads}
    opened: dict[Path, RegisteredJournal] = {}
    losses: list[FileLost] = []
    for path in (file, *location.former_files):
        if _is_there(path):
            try:
                opened[path] = RegisteredJournal(path, lives, registry, aliases)
            except FileLost as lost:
                losses.append(FileLost(lost.file, lost.reason, _scopes_of(registry, by_path.get(path))))
    losses += _missing_or_replaced(registry, heads, opened, {Path(lost.file) for lost in losses})
    if losses:
        for journal in opened.values():
            journal.close()
        raise _as_one(losses)
    main = opened.pop(file, None)
    if main is None:
        if not creates and not opened:
            return None
        main = RegisteredJournal(file, lives, registry, aliases)
    main.take_over(list(opened.values()))
    return main


def _missing_or_replaced(
    registry: Registry,
    heads: Sequence[RegisteredHead],
    opened: Mapping[Path, RegisteredJournal],
    damaged: Collection[Path],
) -> Iterator[FileLost]:
    """Yield the registered journals that are absent, emptied or replaced; one that never held anything is forgotten."""
    here = {journal.id for journal in opened.values()}
    for head in heads:
        if head.journal in here or head.path in damaged:
            continue
        if head.path in opened:
            reason = "it was emptied or replaced by another one"
        elif not head.path.exists():
            reason = "it is not there any more"
        else:
            continue
        # A reserved scope may be intended there, since the head is written only when it is sent.
        if head.head.number or registry.held_by(head.journal):
            yield FileLost(str(head.path), reason, _scopes_of(registry, head))
        else:
            registry.forget(head.journal)


def accept_loss(location: JournalLocation, moment: Moment, lives: ProcessLives | None = None) -> tuple[str, ...]:
    """Continue without the lost files: the trader's deliberate step. Nothing is deleted; trading is locked.

    A damaged or changed file is renamed and kept, and its locks are freed. Blocks. Returns the accepted losses as
    sentences; empty if nothing is lost. Raises FileUnusable if the journal cannot be used for another reason.
    """
    location = located(location)
    accepted: list[str] = []
    for _ in range(_FILES_AT_MOST):
        try:
            journal = open_journal(location, lives)
            journal.check()
        except FileLost as lost:
            accepted.append(f"{lost.file}: {lost.reason}")
            _set_lost_aside(location)
            continue
        if accepted:
            journal.accepted_loss(accepted, moment)
        journal.close()
        return tuple(accepted)
    raise FileLost(str(location.file), "it cannot be replaced")


def _set_lost_aside(location: JournalLocation) -> None:
    """Rename the account's damaged and changed files, and drop their scopes from the registry."""
    files = (location.file, *location.former_files)
    for path in files:
        accept_damage(path)
    if location.registry_file is None:
        return
    accept_damage(location.registry_file)
    with closing(Registry(location.registry_file)) as registry:
        for head in registry.journals(registry.known_as(location.aliases)):
            if not head.path.exists():
                registry.forget(head.journal)
            elif head.path in files and not _is_as_registered(head):
                set_aside(head.path)
                accept_damage(head.path)
                registry.forget(head.journal)


def _is_as_registered(head: RegisteredHead) -> bool:
    """Whether the file is the registered journal and holds at least its registered events; damage is accepted."""
    try:
        journal = Journal(head.path)
    except FileLost:
        accept_damage(head.path)
        return not head.path.exists()
    with closing(journal), suppress(FileLost):
        point = journal.verify()
        number, chain = head.head
        return (
            journal.id == head.journal and point.number >= number and (not number or journal.chain_at(number) == chain)
        )
    return False


def _scopes_of(registry: Registry, head: RegisteredHead | None) -> tuple[str, ...]:
    return () if head is None else tuple(reservation.scope for reservation in registry.held_by(head.journal))


def _as_one(losses: Sequence[FileLost]) -> FileLost:
    if len(losses) == 1:
        return losses[0]
    reason = "; ".join([losses[0].reason, *(f"{lost.file}: {lost.reason}" for lost in losses[1:])])
    return FileLost(losses[0].file, reason, [scope for lost in losses for scope in lost.locked])
