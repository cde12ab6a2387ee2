"""What several machines share about one account: open intents, their steps, and the lock on trading.

Every call is one transaction of the store. It raises `StoreAway` if the store gave no answer, so that nobody knows
whether the call was carried out, and `StoreRefused` with one of the codes of `StoreRefusal` if it changed nothing. Only
durations cross the wire: no machine's wall clock decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from itertools import groupby
from math import inf
from typing import Any, Final, NamedTuple, Protocol

from tradetui.desk.intents.states import Event, Intent, State
from tradetui.storage.postgres.errors import StoreAway, StoreRefused
from tradetui.wire.exchange_time import utc_moment

_MOST_EVENTS: Final = 10_000
_STATE_DEADLINE_S: Final = 1.2
"""Shorter than that of other calls: the state is read all the time, so that a silent store shows within two seconds."""

_Row = Mapping[str, Any]

OTHERS_LISTED: Final = 50
"""How many intents of other machines a list shows at least."""


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
        person = self.writer.person
        return (
            f"{self.writer} locked trading {since(self.age_s)}; only {person} can unlock it, "
            f"or an admin with tradetui store unlock {person}."
        )


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
    """The account now; `version` is the number of its newest event, `role` what this session's person may do there.

    `others_level_s` is for how many seconds not every other machine has said that it is level with the store: inf if
    one never has, 0 if there is no other. `now_ms` is the server's wall time, which with a step's gives its age.
    """

    version: int
    open: tuple[StoreIntent, ...]
    locks: tuple[StoreLock, ...]
    role: str = "trader"
    others_level_s: float = 0.0
    now_ms: int = 0


class StoreConnection(Protocol):
    """A session's way to the store's functions, as `PostgresServer` documents it."""

    away_since: float | None
    away_reason: str
    on_change: Callable[[str], None] | None
    person: str

    async def open(self) -> None: ...

    async def call(self, function: str, *arguments: object, deadline_s: float = ...) -> list[dict[str, Any]]: ...

    async def aclose(self) -> None: ...


class AccountStore:
    """One session's way to the store of one account, over a connection that it closes in the end.

    `on_change` is called when somebody has written, and when the store is away or back.
    """

    def __init__(self, connection: StoreConnection, account: str, machine: str) -> None:
        self.on_change: Callable[[], None] | None = None
        self._connection = connection
        self._account = account
        self._machine = machine
        connection.on_change = self._changed

    @property
    def writer(self) -> Writer:
        """This session's person and machine."""
        return Writer(self._connection.person, self._machine)

    @property
    def away_since(self) -> float | None:
        """When the store stopped to answer, in monotonic seconds; None while it answers."""
        return self._connection.away_since

    def _changed(self, account: str) -> None:
        if self.on_change is not None and account in ("", self._account):
            self.on_change()

    @property
    def away_reason(self) -> str:
        """Why it does not answer, as a clause; empty while it answers."""
        return self._connection.away_reason

    async def open(self) -> None:
        """Connect; if that fails, it is tried again until `aclose`."""
        await self._connection.open()

    async def state(self, *, level: int | None = None) -> AccountState:
        """Read the account; `level` is the version with which this machine's journal was compared, if it was."""
        arguments = (self._account, self._machine, level)
        [row] = await self._connection.call("account_state", *arguments, deadline_s=_STATE_DEADLINE_S)
        others = [machine["level_s"] for machine in row["machines"] if _writer(machine) != self.writer]
        return AccountState(
            row["version"],
            tuple(map(_store_intent, row["open"])),
            tuple(map(_lock, row["locks"])),
            row["role"],
            max((inf if level_s is None else level_s for level_s in others), default=0.0),
            round(row["now_epoch_s"] * 1000),
        )

    async def begin(self, intent: str, scope: str, kind: str, details: Mapping[str, Any], *, after: int | None) -> int:
        """Take the scope for a new intent and return the number of its event.

        `after` is the account's version before the rows were read. The same intent again, by the same person and of
        the same scope, gets its number again.
        """
        return await self._written(
            "begin_intent", intent, self._account, scope, kind, _storable(details), after, self._machine
        )

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
        before = None if prior is None else str(prior)
        return await self._written(
            "step_intent", intent, step, str(state), _storable(details), before, fence, self._machine
        )

    async def adopt(
        self, intent: str, scope: str, kind: str, state: State, details: Mapping[str, Any], *, step: str
    ) -> int:
        """Enter an intent that this machine has already, in its state, also while trading is locked.

        If the store has it as intended or withdrawn and it was sent, it is brought to that state.
        """
        return await self._written(
            "adopt_intent", intent, self._account, scope, kind, str(state), _storable(details), step, self._machine
        )

    async def _written(self, function: str, *arguments: object) -> int:
        [row] = await self._connection.call(function, *arguments)
        return int(row["number"])

    async def take_over(self, intent: str, lease_s: float) -> int:
        """Become the follower of an intent for a time, or stay it for longer; each step carries the returned fence."""
        [row] = await self._connection.call("take_over", intent, self._machine, lease_s)
        return int(row["fence"])

    async def lock_trading(self, locked: bool) -> tuple[StoreLock, ...]:
        """Set or remove this person's lock; return the locks that hold now."""
        return tuple(map(_lock, await self._connection.call("lock_trading", self._account, locked, self._machine)))

    async def read(self, intent: str) -> Intent:
        """Return an intent, whose events name their writer as owner and their step as chain; raises KeyError."""
        events = await self._events("read_intent", intent)
        if not events:
            raise KeyError(intent)
        return self._intent(events)

    async def newest(self, limit: int) -> list[Intent]:
        events = await self._events("newest_intents", limit)
        # Sorting keeps the events of an intent in their order, and its first event says when it was begun.
        of_intents = groupby(sorted(events, key=lambda event: event.intent), key=lambda event: event.intent)
        intents = [self._intent(events) for _, events in of_intents]
        return sorted(intents, key=lambda intent: intent.events[0].number, reverse=True)

    async def events_after(self, number: int) -> list[StoreEvent]:
        return await self._events("events_after", number, _MOST_EVENTS)

    async def acted_since(self, scope: str, number: int) -> str:
        """Return who last acted on a scope after an event from another machine, with the time; empty if nobody did.

        It is empty too if the store cannot be read.
        """
        try:
            events = await self.events_after(number)
        except (StoreAway, StoreRefused):
            return ""
        events = [event for event in events if event.scope == scope and event.writer != self.writer]
        return f"{events[-1].writer} ({utc_moment(events[-1].at_ms):%H:%M:%S} UTC)" if events else ""

    async def _events(self, function: str, *arguments: object) -> list[StoreEvent]:
        return list(map(_store_event, await self._connection.call(function, self._account, *arguments)))

    async def aclose(self) -> None:
        await self._connection.aclose()

    def _intent(self, events: Iterable[StoreEvent]) -> Intent:
        steps = tuple(events)
        last = steps[-1]
        journal_events = tuple(
            Event(step.state, step.at_ms, step.details, step.number, owner=str(step.writer), chain=step.step)
            for step in steps
        )
        return Intent(last.intent, self._account, last.scope, last.kind, last.state, journal_events)


def _storable(value: Any) -> Any:
    """Return a step's details with `?` for each character that an exchange may send and PostgreSQL takes in no text."""
    match value:
        case str():
            return value.encode(errors="replace").decode().replace("\0", "?")
        case Mapping():
            return {name: _storable(part) for name, part in value.items()}
        case list() | tuple():
            return list(map(_storable, value))
    return value


def _writer(row: _Row) -> Writer:
    return Writer(row["person"], row["machine"])


def _lock(row: _Row) -> StoreLock:
    return StoreLock(_writer(row), row["age_s"])


def _store_event(row: _Row) -> StoreEvent:
    return StoreEvent(
        number=row["number"],
        intent=row["intent"],
        scope=row["scope"],
        kind=row["kind"],
        state=State(row["state"]),
        at_ms=row["at_ms"],
        writer=_writer(row),
        details=row["details"],
        step=row["step"],
    )


def _store_intent(row: _Row) -> StoreIntent:
    follower = row["follower_person"]
    return StoreIntent(
        id=row["id"],
        scope=row["scope"],
        kind=row["kind"],
        state=State(row["state"]),
        writer=_writer(row),
        last_writer=Writer(row["last_person"], row["last_machine"]),
        age_s=row["age_s"],
        number=row["number"],
        machine_seen_s=row["machine_seen_s"],
        follower=None if follower is None else Writer(follower, row["follower_machine"]),
        follower_left_s=row["follower_left_s"],
    )
