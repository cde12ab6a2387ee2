"""A journal that the user's registry knows: never silently new, and its scopes locked for the account.

The order of a reversal: reserve (registry), `intended`, `sent` (journal), head (registry), first byte; at its end: the
last event (journal), head and free (registry). Killed between any two, nothing is unlocked: what the registry holds
too much is freed once the journal shows that it is over, what it lacks is entered again from the journal.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.journal_registry import RegisteredHead, Registry, Reservation, ScopeTaken
from tradetui.desk.intents.journal.schema import ChainPoint
from tradetui.desk.intents.states import ENDED, AlreadyOpen, Event, Intent, Overtaken, State, elapsed_s
from tradetui.exchange.clock import Moment
from tradetui.storage.process_life import ProcessLives
from tradetui.storage.sqlite_file import FileLost, FileUnusable, connect_existing

LEFT_BEHIND_S: Final = 35.0
"""After so long nothing can be in the middle of its own work any more, whoever began it."""
NEW: Final = "This account has no journal yet: orders of another user or another machine are not known here."
ENTERED_AGAIN: Final = (
    "This journal was missing in the list of your journals (state directory) and was added to it again."
)


class JournalLocation(NamedTuple):
    """The files of an account's journal, and the identity that keeps it from being taken for another.

    `file` is None for memory only; without a `registry_file` the journal stands alone. `aliases` are the names under
    which the account may be known; `former_files` journals that it may have under older names; `alive_dir` holds the
    lock files of living processes.
    """

    file: Path | None
    registry_file: Path | None = None
    aliases: tuple[str, ...] = ()
    former_files: tuple[Path, ...] = ()
    alive_dir: Path | None = None


class RegisteredJournal(Journal):
    """One account's journal, with those it had under former names: these are led to their end, and begin nothing."""

    def __init__(self, file: Path, lives: ProcessLives | None, registry: Registry, aliases: Collection[str]) -> None:
        """Open the file; raises FileUnusable. It is held to the registry by `check`."""
        super().__init__(file, lives.owner if lives else "")
        self.file = file
        self.notice = ""
        self._lives = lives
        self._registry = registry
        self._aliases = tuple(aliases)
        self._former: tuple[RegisteredJournal, ...] = ()
        self._first_seen_s: dict[str, float] = {}

    def take_over(self, former: Sequence[RegisteredJournal]) -> None:
        """Lead the intents of journals under former names to their end as well."""
        self._former = tuple(former)

    # Held to the registry

    def check(self) -> None:
        """Look at all of every file, and hold each to the registry; raises FileUnusable."""
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
        """Hold the file to its hash chain, and to what the registry has seen of it; raises FileUnusable."""
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
        """Make sure that the open file is the one others will open; raises FileLost."""
        for journal in self._former:
            journal.check_not_replaced()
        with self._naming_held_scopes():
            try:
                super().check_not_replaced()
            except OSError as problem:
                raise FileLost(str(self.file), str(problem)) from None

    @contextmanager
    def _naming_held_scopes(self) -> Iterator[None]:
        """Where this journal is lost, name the scopes that it holds by the registry."""
        try:
            yield
        except FileLost as lost:
            held = [reservation.scope for reservation in self._registry.held_by(self.id)]
            raise FileLost(lost.file, lost.reason, held) from None

    def reconcile(self, moment: Moment) -> dict[str, Reservation]:
        """Bring the registry to what the journals say; what is held by journals elsewhere, by scope."""
        for journal in self._former:
            journal.reconcile(moment)
        own = {intent.id: intent for intent in super().open_intents()}
        held = self._registry.held_by(self.id)
        for reservation in held:
            if reservation.intent not in own and self._is_over(reservation, self._state_of(reservation), moment):
                self._registry.free(self.id, reservation.intent)
        for intent in own.values():
            if intent.id not in {reservation.intent for reservation in held}:
                with suppress(ScopeTaken):  # another journal's intent locks the scope as well
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
        """Reserve the scope for the account, and free it again where the new intent could not be written."""
        for journal in self._former:
            for open_intent in journal.open_intents():
                if open_intent.scope == scope:
                    raise AlreadyOpen(open_intent.id, open_intent.state)
        try:
            self._reserve(intent, scope, at, after)
        except ScopeTaken as taken:
            if not self._free_if_over(taken.holder, at):
                raise self._already_open(taken.holder) from None
            # It has ended since what this intent rests on was read.
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
        """Write the next step of an intent, then what the registry has to know of it; raises WrongStep."""
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
            with suppress(ScopeTaken):  # the other one locks the scope
                self._reserve(intent, self.intent(intent).scope, at)

    def prove_writable(self) -> None:
        """Write to every file a step is written to, the registry too; raises OSError or sqlite3.Error."""
        for journal in self._former:
            journal.prove_writable()
        super().prove_writable()
        self._registry.prove_writable()

    def last_event(self) -> int:
        """The number to begin after: that of the registry, which knows of every journal of the account."""
        return self._registry.last_turn()

    def _written_after(self, event: int, scope: str) -> bool:
        """No: a number to begin after is the registry's here, to which reserving the scope has held it."""
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
        """Whether this journal itself knows an intent."""
        return self._connection.execute("SELECT 1 FROM intent WHERE id = ?", (intent,)).fetchone() is not None

    def last_event_number(self) -> int:
        """The number of this journal's newest event, 0 where there is none."""
        return super().last_event()

    def intent(self, intent: str) -> Intent:
        for journal in self._former:
            if journal.has(intent):
                return journal.intent(intent)
        return super().intent(intent)

    def open_intents(self) -> list[Intent]:
        """Intents that are not settled, those of former journals first."""
        return [*(intent for journal in self._former for intent in journal.open_intents()), *super().open_intents()]

    def newest(self, limit: int = 200) -> list[Intent]:
        former = [intent for journal in self._former for intent in journal.newest(limit)]
        return sorted([*super().newest(limit), *former], key=lambda intent: -intent.events[0].at_ms)[:limit]

    def newest_contradicted(self) -> Intent | None:
        """The same, that of this journal before those of former ones."""
        journals = (super().newest_contradicted(), *(journal.newest_contradicted() for journal in self._former))
        return next(filter(None, journals), None)

    def trading_locked(self) -> bool | None:
        """Whether trading was locked or unlocked by hand, in any of the journals."""
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
        """Free what is held by an intent that is over, in whatever journal it stands; whether it was."""
        if holder.journal == self.id or any(journal.id == holder.journal for journal in self._former):
            over = self._is_over(holder, self._state_of(holder), moment)
        else:
            state = self._state_elsewhere(holder)
            over = state is not None and (state in ENDED if state else self._is_over(holder, None, moment))
        if over:
            self._registry.free(holder.journal, holder.intent)
        return over

    def _is_over(self, holder: Reservation, state: State | None, moment: Moment) -> bool:
        """Whether nothing can come of it any more: ended, or never begun by a process that is not at it now."""
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
        """The state of an intent in a journal of another directory; empty where it has none.

        None where that journal cannot be read or is not what was registered: one that was emptied or replaced says
        nothing about what it held.
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
    """Whether a file is the journal that was registered, and still holds what it had come to then."""
    row = connection.execute("SELECT id FROM identity").fetchone()
    if row is None or row[0] != registered.journal:
        return False
    number, chain = registered.head
    row = connection.execute("SELECT chain FROM event WHERE number = ?", (number,)).fetchone()
    return number == 0 or (row is not None and row[0] == chain)


def located(location: JournalLocation) -> JournalLocation:
    """The same with every file by its real path, so that a link is no other file."""
    if location.file is None:
        return location
    file = location.file.absolute()
    real = file.parent.resolve() / file.name
    former = tuple(path.parent.resolve() / path.name for path in location.former_files)
    return location._replace(file=real, former_files=tuple(path for path in former if path != real))
