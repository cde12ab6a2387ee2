"""What locks an account's trading, as this session knows it: a trader's hand all of it, an open intent its own scope.

The locks themselves are in the journal, where every session of the account sees them. What is known here shows on the
screen and refuses early; whatever is sent asks the journal again.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.states import ENDED, State
from tradetui.exchange.clock import Clock, Moment
from tradetui.storage.disk_thread import Disk


class SendsNothing(StrEnum):
    """Why a session sends nothing, whatever it is asked to send."""

    MONITOR = "Monitor mode: nothing can be sent."
    KEY_READS_ONLY = (
        "This API key can only read: the exchange would refuse the order. "
        "Allow the key to trade futures on the exchange's site, then start again."
    )
    LOCKED = "Trading is locked."


class AccountLock:
    """The lock that is chosen by hand. A session's newest choice counts, even where an older one is written later."""

    def __init__(self, disk: Disk, clock: Clock, *, locked: bool) -> None:
        self.is_shared = True
        """Whether the other sessions see that this one was locked by hand."""
        self.here = locked
        """Whether this session is locked, whatever the others see."""
        self._everywhere = False
        self._disk = disk
        self._clock = clock
        self.choice = 0
        """The number of the newest choice of this session."""

    @property
    def locked(self) -> bool:
        """Whether it was locked in this session, or by hand in any process of the account."""
        return self.here or self._everywhere

    def choose(self, locked: bool, *, has_journal: bool) -> int:
        """Lock or unlock at once; gives the number of the choice, with which it is to be written."""
        self.choice += 1
        self._everywhere = locked
        # Without a journal no other session can see it, so it holds in this one alone.
        self.here = locked and not has_journal
        self.is_shared = True
        return self.choice

    def take_over(self, locked: bool, choice: int) -> None:
        """Take the journal's lock, unless a choice was made here since it was read."""
        if choice == self.choice:
            self._everywhere = locked

    async def write(self, journal: Journal | None, locked: bool, choice: int) -> bool:
        """Write a choice for every process; whether it was written. A lock that was not holds in this session alone.

        Raises:
            FileUnusable, sqlite3.Error, OSError: the newest choice cannot be written.
        """
        if journal is None:
            self.is_shared = not locked
            return False
        try:
            await self._disk.run(journal.set_trading_lock, locked, Moment.now(self._clock))
        except Exception:
            if choice != self.choice:
                return False
            self.here = self.here or locked
            self.is_shared = not locked
            raise
        if choice == self.choice:
            self.is_shared, self.here = True, False
        return True


class OpenScopes:
    """Open intents by the scope they lock: those of this account's journal, and those of journals elsewhere."""

    def __init__(self) -> None:
        self._here: dict[str, tuple[str, State]] = {}
        self._elsewhere: dict[str, str] = {}

    def see(self, here: Mapping[str, tuple[str, State]], elsewhere: Mapping[str, str]) -> None:
        """Take over what was read: intent and state by scope, and what holds scopes in other directories, in words."""
        self._here, self._elsewhere = dict(here), dict(elsewhere)

    def began(self, scope: str, intent: str, state: State) -> None:
        self._here[scope] = (intent, state)

    def stepped(self, intent: str, state: State) -> None:
        """Take over an intent's new state; an end frees its scope."""
        for scope, (open_intent, _) in tuple(self._here.items()):
            if open_intent == intent and state in ENDED:
                del self._here[scope]
            elif open_intent == intent:
                self._here[scope] = (intent, state)

    def holder(self, scope: str) -> str | None:
        """The intent that locks a scope, as its id and state; None where none does."""
        holder = self._here.get(scope)
        return f"{holder[0]}, {holder[1]}" if holder is not None else self._elsewhere.get(scope)

    def ids(self) -> frozenset[str]:
        return frozenset(intent for intent, _ in self._here.values())

    def names(self) -> tuple[tuple[str, State | None], ...]:
        """The scopes of open intents, unknown outcomes first; the state is None for intents in other directories."""
        scopes: dict[str, State | None] = {scope: state for scope, (_, state) in self._here.items()}
        scopes = dict.fromkeys(self._elsewhere) | scopes
        most_urgent_first = sorted(scopes.items(), key=lambda named: (named[1] is not State.UNKNOWN, named[1] is None))
        return tuple((scope.rpartition("|")[2], state) for scope, state in most_urgent_first)

    def sentences(self) -> tuple[str, ...]:
        elsewhere = (f"{scope}: {holder}" for scope, holder in self._elsewhere.items() if scope not in self._here)
        return (*(f"{scope}: {intent}, {state}" for scope, (intent, state) in self._here.items()), *elsewhere)
