"""What several machines share about one account: open intents, their steps, and the lock on trading.

Every call is one transaction of the store. It raises `StoreAway` if the store gave no answer, so that nobody knows
whether the call was carried out, and `StoreRefused` with one of the codes of `StoreRefusal` if it changed nothing. Only
durations cross the wire: no machine's wall clock decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from tradetui.desk.intents.states import Intent, State


class StoreRefusal(StrEnum):
    """Codes of `StoreRefused`, with what its detail holds."""

    ALREADY_OPEN = "TT001"
    """An intent of the scope is open: intent, state, person, machine, age_s."""
    OVERTAKEN = "TT002"
    """Somebody acted on the scope since the given number: person, machine, age_s, number."""
    NOT_A_TRADER = "TT003"
    """The person may not do this on this account."""
    TRADING_LOCKED = "TT004"
    """A person has locked trading on the account: person, machine, age_s."""
    OTHER_SCHEMA = "TT005"
    """The store's schema is not the one that this program knows."""
    WRONG_STEP = "TT006"
    """The intent is unknown to the store, or has no such step."""
    ANOTHER_FOLLOWS = "TT007"
    """Somebody else holds the intent by lease, or held it after this session did: person, machine, left_s."""
    ANOTHER_INSTALLATION = "TT008"
    """Another installation has joined by this machine's name."""


class Writer(NamedTuple):
    """A person at a machine; `anna@desk2` as text."""

    person: str
    machine: str

    def __str__(self) -> str:
        return f"{self.person}@{self.machine}"


class StoreIntent(NamedTuple):
    """An open intent: who began it, its last step, by whom and how long ago, and who follows it by lease, if anybody.

    A follower writes steps too, but `writer` stays the one who began it.
    """

    id: str
    scope: str
    kind: str
    state: State
    writer: Writer
    last_writer: Writer
    age_s: float
    number: int
    machine_seen_s: float
    """Seconds since the last writer's machine last called the store."""
    follower: Writer | None
    follower_left_s: float


class StoreLock(NamedTuple):
    """One person's lock on trading, set at a machine so long ago; a sentence as text."""

    writer: Writer
    age_s: float

    def __str__(self) -> str:
        return f"{self.writer} locked trading {since(self.age_s)}; only {self.writer.person} can unlock it."


def since(age_s: float) -> str:
    return f"{age_s:.0f} s ago" if age_s < 100 else f"{age_s / 60:.0f} min ago"


class StoreEvent(NamedTuple):
    """One step as the store keeps it; `at_ms` is the server's wall time, for display only."""

    number: int
    intent: str
    scope: str
    kind: str
    state: State
    at_ms: int
    writer: Writer
    details: Mapping[str, Any]
    step: str


class AccountState(NamedTuple):
    """The account now; `version` is the number of its newest event, `role` what this session's person may do there."""

    version: int
    open: tuple[StoreIntent, ...]
    locks: tuple[StoreLock, ...]
    role: str = "trader"


class Lease(NamedTuple):
    """The right to settle an intent of somebody else, for a time; each step carries its fence."""

    fence: int
    left_s: float


class AccountStore(Protocol):
    """One session's way to the store of one account."""

    on_change: Callable[[], None] | None
    """Called when somebody has written, and when the store is away or back."""

    @property
    def writer(self) -> Writer:
        """This session's person and machine."""
        ...

    @property
    def away_since(self) -> float | None:
        """When the store stopped to answer, in monotonic seconds; None while it answers."""
        ...

    async def open(self) -> None:
        """Connect; if that fails, it is tried again until `aclose`."""
        ...

    async def state(self) -> AccountState: ...

    async def begin(self, intent: str, scope: str, kind: str, details: Mapping[str, Any], *, after: int | None) -> int:
        """Take the scope for a new intent and return the number of its event.

        `after` is the account's version before the rows were read. The same intent again, by the same person and of
        the same scope, gets its number again.
        """
        ...

    async def step(
        self,
        intent: str,
        state: State,
        details: Mapping[str, Any],
        *,
        step: str,
        prior: State | None,
        fence: int | None,
    ) -> int:
        """Write a step and return its number; the same `step` (an id of its own) again gets its number again."""
        ...

    async def adopt(
        self, intent: str, scope: str, kind: str, state: State, details: Mapping[str, Any], *, step: str
    ) -> int:
        """Enter an intent that is open on this machine already, in its state, also while trading is locked."""
        ...

    async def take_over(self, intent: str, lease_s: float) -> Lease:
        """Become the follower of an intent, or stay it for longer."""
        ...

    async def lock_trading(self, locked: bool) -> tuple[StoreLock, ...]:
        """Set or remove this person's lock; return the locks that hold now."""
        ...

    async def read(self, intent: str) -> Intent:
        """Return an intent, whose events name their writer as owner and their step as chain; raises KeyError."""
        ...

    async def newest(self, limit: int) -> list[Intent]: ...

    async def events_after(self, number: int) -> list[StoreEvent]: ...

    async def aclose(self) -> None: ...
