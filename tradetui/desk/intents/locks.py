"""The locks on trading as this session knows them: the trader's on the account, an open intent's on its scope.

The locks themselves are in the journal, where every session of the account sees them. This copy is for the screen and
for early refusals; sending asks the journal again.

Also the processes that wrote the steps of intents: whether each still lives, and the least time since a step.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.states import ENDED, Event, Intent, OpenIntent, State, elapsed_s, scope_name
from tradetui.exchange.clock import Clock, Moment
from tradetui.storage.disk_thread import Disk
from tradetui.storage.process_life import ProcessLives


@dataclass(frozen=True, eq=False, slots=True)
class LockChoice:
    """One decision of this session's trader to lock or unlock; two decisions are never the same."""

    locked: bool


class AccountLock:
    """The lock on all trading of an account. It holds while any of these is true:
    - the profile starts the session locked, and the trader has not chosen yet;
    - the journal says that trading is locked: this holds in every session of the account;
    - a lock chosen here could not be written: this holds in this session alone, until it is written;
    - a person has locked it in the store that several machines share: only that person or an admin can unlock it.

    The newest choice counts, even if an older one is written or read later.
    """

    def __init__(self, disk: Disk, clock: Clock, *, locked: bool) -> None:
        """`locked` is whether the session starts locked."""
        self.newest: LockChoice | None = None
        self.unwritten: LockChoice | None = None
        """The choice to lock that is still to be written: no other session sees it."""
        self.in_store = ""
        """Who has locked trading on every machine, when, and who can unlock it, in sentences; empty if nobody has."""
        self._starts_locked = locked
        self._in_journal = False
        self._is_being_written = False
        self._disk = disk
        self._clock = clock

    @property
    def locked(self) -> bool:
        return self._starts_locked or self._in_journal or self.unwritten is not None or bool(self.in_store)

    def hold(self) -> None:
        """Lock this session alone until the trader unlocks it, as a profile does that starts locked."""
        self._starts_locked = True

    def choose(self, locked: bool, *, has_journal: bool) -> LockChoice:
        """Lock or unlock this session at once; `write` then does so for the others."""
        choice = self.newest = LockChoice(locked)
        self._starts_locked = False
        # The choice counts as written until writing fails or the journal is read again.
        self._in_journal, self._is_being_written = locked, True
        self.unwritten = choice if locked and not has_journal else None
        return choice

    async def write(self, journal: Journal | None, choice: LockChoice) -> bool:
        """Write a choice where every session sees it; False if it is not written, as without a journal.

        Raises:
            FileUnusable, sqlite3.Error, OSError: the newest choice cannot be written.
        """
        is_written = False
        try:
            if journal is not None:
                await self._disk.run(journal.set_trading_lock, choice.locked, Moment.now(self._clock))
                is_written = True
        except Exception:
            if choice is self.newest:
                raise
        finally:
            if choice is self.newest:
                self.unwritten = choice if choice.locked and not is_written else None
                self._in_journal = choice.locked if is_written else self._in_journal
                self._is_being_written = False
        return is_written

    def take_over(self, locked: bool, newest: LockChoice | None) -> None:
        """Take the journal's lock unless a newer choice was made here; `newest` is the choice when reading began."""
        if newest is self.newest and not self._is_being_written:
            self._in_journal = locked


class OpenScopes:
    """Open intents by the scope they lock: in this account's journal, in journals elsewhere, on other machines."""

    def __init__(self) -> None:
        self._here: dict[str, OpenIntent] = {}
        self._elsewhere: dict[str, str] = {}
        self._on_other_machines: dict[str, OpenIntent] = {}
        self._unjournaled: dict[str, str] = {}

    def see(self, here: Mapping[str, OpenIntent], elsewhere: Mapping[str, str]) -> None:
        """Replace the open scopes; `elsewhere` describes the intents of other directories in sentences."""
        self._here, self._elsewhere = dict(here), dict(elsewhere)

    def see_other_machines(self, standing: Mapping[str, OpenIntent]) -> None:
        """Replace the scopes that the store has open and this machine's journal has not."""
        self._on_other_machines = dict(standing)

    def see_unjournaled(self, scope: str, order: str | None) -> None:
        """Lock a scope for an order of this program that is in no journal; None frees it."""
        if order is None:
            self._unjournaled.pop(scope, None)
        else:
            self._unjournaled[scope] = f"order {order} is in no journal: a machine without the store may have sent it"

    def began(self, scope: str, intent: OpenIntent) -> None:
        self._here[scope] = intent

    def stepped(self, intent: str, state: State) -> None:
        """Store an intent's new state; an end frees its scope."""
        scopes = [scope for scope, open_intent in self._here.items() if open_intent.id == intent]
        for scope in scopes:
            if state in ENDED:
                del self._here[scope]
            else:
                self._here[scope] = OpenIntent(intent, state)

    def holder(self, scope: str) -> str | None:
        """Return the intent that locks a scope, as its id and state; None if none does."""
        known = self._on_other_machines | self._here
        return str(known[scope]) if scope in known else (self._unjournaled | self._elsewhere).get(scope)

    def ids(self) -> frozenset[str]:
        return frozenset(intent.id for intent in (*self._here.values(), *self._on_other_machines.values()))

    def names(self) -> tuple[tuple[str, State | None, str], ...]:
        """Return scope, state and other machine's writer of open intents, unknown outcomes first.

        The state is None for what is in other directories or in no journal, which the writer then says.
        """
        open_scopes = [
            (scope_name(scope), intent.state, intent.writer)
            for scope, intent in (self._on_other_machines | self._here).items()
        ]
        by = dict.fromkeys(self._elsewhere, "") | dict.fromkeys(self._unjournaled, "an order in no journal")
        elsewhere = [(scope_name(scope), None, by[scope]) for scope in by.keys() - self._here.keys()]
        return (*sorted(open_scopes, key=lambda scope: scope[1] is not State.UNKNOWN), *elsewhere)

    def sentences(self) -> tuple[str, ...]:
        scopes = dict.fromkeys((*self._here, *self._on_other_machines, *self._unjournaled, *self._elsewhere))
        return tuple(f"{scope}: {self.holder(scope)}" for scope in scopes)


class StepWriters:
    """The processes that write an account's journal, as this process sees them.

    `lives` is None until `show_life`. `show_life`, `has_ended` and `standing` block and belong on the disk thread.
    """

    def __init__(self, clock: Clock) -> None:
        self.lives: ProcessLives | None = None
        self._clock = clock
        self._first_seen_s: dict[str, float] = {}

    def show_life(self, directory: Path | None) -> None:
        """Let other processes see that this one lives, and start to see them."""
        if self.lives is None and directory is not None:
            self.lives = ProcessLives(directory, secrets.token_hex(6))

    def close(self) -> None:
        if self.lives is not None:
            self.lives.close()

    def has_ended(self, event: Event) -> bool:
        """Whether the process that wrote a step has certainly ended; of another machine's nothing is known."""
        if event.writer:
            return False
        if event.boot and self._clock.boot and event.boot != self._clock.boot:
            return True  # no process outlives its boot, even if its number is in use again
        return self.lives is not None and self.lives.has_ended(event.owner)

    def standing(self, intents: Iterable[Intent]) -> dict[str, OpenIntent]:
        """Return each intent and its state by scope; an intent sent by a dead process is unknown at once."""
        standing = {}
        for intent in intents:
            is_lost = intent.state is State.SENT and self.has_ended(intent.events[-1])
            standing[intent.scope] = OpenIntent(intent.id, State.UNKNOWN if is_lost else intent.state)
        return standing

    def saw(self, intents: Iterable[Intent]) -> None:
        """Start counting the time since events of another boot."""
        now_s = self._clock.monotonic()
        for intent in intents:
            self._first_seen_s.setdefault(intent.events[-1].chain, now_s)

    def saw_aged(self, intent: Intent, age_s: float) -> None:
        """Count the time since the steps of an intent whose last one is so old by the store's clock."""
        for event in intent.events:
            self._first_seen_s.setdefault(event.chain, self._clock.monotonic() - age_s)

    def elapsed_s(self, event: Event) -> float:
        """Return the seconds that have certainly passed since a step was written, in any process and boot."""
        now = Moment.now(self._clock)
        return elapsed_s(event, now, self._first_seen_s.setdefault(event.chain, now.monotonic_s))
