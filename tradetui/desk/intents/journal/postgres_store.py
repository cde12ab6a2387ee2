"""One account's rows in PostgreSQL, as the contract of `AccountStore` names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from tradetui.desk.intents.journal.account_store import (
    AccountState,
    Lease,
    StoreEvent,
    StoreIntent,
    StoreLock,
    Writer,
)
from tradetui.desk.intents.states import Event, Intent, State

if TYPE_CHECKING:
    from tradetui.storage.postgres.server import PostgresServer

_MOST_EVENTS: Final = 10_000
_STATE_DEADLINE_S: Final = 1.2
"""Shorter than that of other calls: the state is read all the time, so that a silent store shows within two seconds."""

_Row = Mapping[str, Any]


class PostgresStore:
    """One session's way to one account, over a connection that it closes in the end."""

    def __init__(self, server: PostgresServer, account: str, machine: str) -> None:
        self.on_change: Callable[[], None] | None = None
        self._server = server
        self._account = account
        self._machine = machine
        server.on_change = self._changed

    @property
    def writer(self) -> Writer:
        return Writer(self._server.person, self._machine)

    @property
    def away_since(self) -> float | None:
        return self._server.away_since

    def _changed(self, account: str) -> None:
        if self.on_change is not None and account in ("", self._account):
            self.on_change()

    async def open(self) -> None:
        await self._server.open()

    async def state(self) -> AccountState:
        [row] = await self._server.call("account_state", self._account, self._machine, deadline_s=_STATE_DEADLINE_S)
        return AccountState(
            row["version"],
            tuple(map(_store_intent, row["open"])),
            tuple(map(_lock, row["locks"])),
            row["role"],
        )

    async def begin(self, intent: str, scope: str, kind: str, details: Mapping[str, Any], *, after: int | None) -> int:
        arguments = (intent, self._account, scope, kind, dict(details), after, self._machine)
        [row] = await self._server.call("begin_intent", *arguments)
        return int(row["number"])

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
        before = None if prior is None else str(prior)
        arguments = (intent, step, str(state), dict(details), before, fence, self._machine)
        [row] = await self._server.call("step_intent", *arguments)
        return int(row["number"])

    async def adopt(
        self, intent: str, scope: str, kind: str, state: State, details: Mapping[str, Any], *, step: str
    ) -> int:
        arguments = (intent, self._account, scope, kind, str(state), dict(details), step, self._machine)
        [row] = await self._server.call("adopt_intent", *arguments)
        return int(row["number"])

    async def take_over(self, intent: str, lease_s: float) -> Lease:
        [row] = await self._server.call("take_over", intent, self._machine, lease_s)
        return Lease(row["fence"], row["left_s"])

    async def lock_trading(self, locked: bool) -> tuple[StoreLock, ...]:
        return tuple(map(_lock, await self._server.call("lock_trading", self._account, locked, self._machine)))

    async def read(self, intent: str) -> Intent:
        events = [_store_event(row) for row in await self._server.call("read_intent", self._account, intent)]
        if not events:
            raise KeyError(intent)
        return self._intent(events)

    async def newest(self, limit: int) -> list[Intent]:
        events = [_store_event(row) for row in await self._server.call("newest_intents", self._account, limit)]
        # Sorting keeps the events of an intent in their order, and its first event says when it was begun.
        of_intents = groupby(sorted(events, key=lambda event: event.intent), key=lambda event: event.intent)
        intents = [self._intent(events) for _, events in of_intents]
        return sorted(intents, key=lambda intent: intent.events[0].number, reverse=True)

    async def events_after(self, number: int) -> list[StoreEvent]:
        rows = await self._server.call("events_after", self._account, number, _MOST_EVENTS)
        return list(map(_store_event, rows))

    async def aclose(self) -> None:
        await self._server.aclose()

    def _intent(self, events: Iterable[StoreEvent]) -> Intent:
        steps = tuple(events)
        last = steps[-1]
        journal_events = tuple(
            Event(step.state, step.at_ms, step.details, step.number, owner=str(step.writer), chain=step.step)
            for step in steps
        )
        return Intent(last.intent, self._account, last.scope, last.kind, last.state, journal_events)


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
