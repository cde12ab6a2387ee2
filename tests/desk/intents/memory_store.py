"""A store of several machines in memory: the contract of `AccountStore` in the loop's time, with a server's faults.

A `MemoryServer` holds what PostgreSQL would hold. Each machine reaches it over a `Link` of its own.
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from tradetui.desk.intents.journal.account_store import (
    AccountState,
    Lease,
    StoreEvent,
    StoreIntent,
    StoreLock,
    StoreRefusal,
    Writer,
)
from tradetui.desk.intents.states import ENDED, TRANSITIONS, Event, Intent, State
from tradetui.exchange.clock import Clock
from tradetui.storage.postgres.errors import StoreAway, StoreRefused

T = TypeVar("T")

DELAY_S: Final = 0.0005
DEADLINE_S: Final = 2.0
LONGEST_WAIT_S: Final = 5.0
"""The longest wait between two tries to connect again."""


def refused(code: StoreRefusal, message: str, **detail: Any) -> StoreRefused:
    return StoreRefused(code, message, detail)


@dataclass
class Row:
    """One intent as the server holds it; times in seconds of the server."""

    id: str
    scope: str
    kind: str
    state: State
    writer: Writer
    """Of the last step."""
    events: list[StoreEvent] = field(default_factory=list)
    is_open: bool = True
    at_s: float = 0.0
    fence: int = 0
    follower: Writer | None = None
    follower_until_s: float = 0.0

    @property
    def is_shown(self) -> bool:
        """One that was corrected while another held its scope is shown with the open ones."""
        return self.is_open or self.state is State.CORRECTED

    def leased_s(self, now_s: float) -> float:
        return max(0.0, self.follower_until_s - now_s) if self.follower is not None else 0.0


@dataclass
class AccountRows:
    """One account's tables."""

    version: int = 0
    rows: dict[str, Row] = field(default_factory=dict)
    events: list[StoreEvent] = field(default_factory=list)
    steps: dict[str, int] = field(default_factory=dict)
    locks: dict[str, tuple[Writer, float]] = field(default_factory=dict)
    """By person."""
    seen_s: dict[str, float] = field(default_factory=dict)
    """By machine."""


class MemoryServer:
    """The server: one call is one transaction, done in one step of the loop."""

    def __init__(self, start_ms: int = 0) -> None:
        self.start_ms = start_ms
        self.accounts: dict[str, AccountRows] = {}
        self.roles: dict[str, str] = {}
        """By person; whoever is not named is a trader."""
        self.schema_is_newer = False
        self.stores: list[MemoryStore] = []
        self.written: Callable[[str, StoreEvent], None] = lambda account, event: None
        """Called with an account's name and each new event of an intent."""

    # What happens to it

    def snapshot(self) -> dict[str, AccountRows]:
        return copy.deepcopy(self.accounts)

    def restore(self, snapshot: Mapping[str, AccountRows]) -> None:
        """Start again from an older copy: every connection breaks, and what was written since is gone."""
        self.accounts = copy.deepcopy(dict(snapshot))
        self.restart()

    def restart(self) -> None:
        for store in list(self.stores):
            store.lose_connection("the server closed the connection")

    # The functions of the schema

    def _account(self, name: str, writer: Writer, *, trades: bool) -> AccountRows:
        if self.schema_is_newer:
            raise refused(StoreRefusal.OTHER_SCHEMA, "the store's schema is newer")
        if trades and self._role(writer) == "viewer":
            raise refused(StoreRefusal.NOT_A_TRADER, f"{writer.person} may not trade")
        account = self.accounts.setdefault(name, AccountRows())
        account.seen_s[writer.machine] = now_s()
        return account

    def _role(self, writer: Writer) -> str:
        return self.roles.get(writer.person, "trader")

    def state(self, name: str, writer: Writer) -> AccountState:
        account = self._account(name, writer, trades=False)
        return AccountState(
            account.version,
            tuple(self._shown(account, row) for row in account.rows.values() if row.is_shown),
            self._locks(account),
            self._role(writer),
        )

    def _shown(self, account: AccountRows, row: Row) -> StoreIntent:
        now = now_s()
        left_s = row.leased_s(now)
        return StoreIntent(
            id=row.id,
            scope=row.scope,
            kind=row.kind,
            state=row.state,
            writer=row.events[0].writer,
            last_writer=row.writer,
            age_s=now - row.at_s,
            number=row.events[-1].number,
            machine_seen_s=now - account.seen_s.get(row.writer.machine, row.at_s),
            follower=row.follower if left_s else None,
            follower_left_s=left_s,
        )

    def _locks(self, account: AccountRows) -> tuple[StoreLock, ...]:
        return tuple(StoreLock(writer, now_s() - at_s) for writer, at_s in account.locks.values())

    def begin(
        self,
        name: str,
        writer: Writer,
        intent: str,
        scope: str,
        kind: str,
        details: Mapping[str, Any],
        after: int | None,
    ) -> int:
        account = self._account(name, writer, trades=True)
        if (same := account.rows.get(intent)) is not None:
            if (same.writer.person, same.scope) == (writer.person, scope):
                return same.events[0].number
            raise self._already_open(same)
        self._refuse_if_locked(account)
        if (holder := self._holder(account, scope)) is not None:
            raise self._already_open(holder)
        newer = [event for event in account.events if after is not None and event.number > after]
        if others := [event for event in newer if event.scope == scope]:
            event = others[-1]
            age_s = now_s() - account.rows[event.intent].at_s
            raise refused(
                StoreRefusal.OVERTAKEN, "overtaken", **event.writer._asdict(), age_s=age_s, number=event.number
            )
        row = account.rows[intent] = Row(intent, scope, kind, State.INTENDED, writer)
        return self._append(name, account, row, State.INTENDED, writer, details, intent)

    def adopt(
        self,
        name: str,
        writer: Writer,
        intent: str,
        scope: str,
        kind: str,
        state: State,
        details: Mapping[str, Any],
        step: str,
    ) -> int:
        account = self._account(name, writer, trades=True)
        if intent in account.rows:
            return account.rows[intent].events[0].number
        if (holder := self._holder(account, scope)) is not None:
            raise self._already_open(holder)
        row = account.rows[intent] = Row(intent, scope, kind, state, writer, is_open=state not in ENDED)
        return self._append(name, account, row, state, writer, details, step)

    def _already_open(self, row: Row) -> StoreRefused:
        who = row.events[0].writer._asdict()
        return refused(
            StoreRefusal.ALREADY_OPEN,
            "already open",
            intent=row.id,
            state=str(row.state),
            **who,
            age_s=now_s() - row.at_s,
        )

    def _refuse_if_locked(self, account: AccountRows) -> None:
        for writer, at_s in account.locks.values():
            raise refused(StoreRefusal.TRADING_LOCKED, "trading is locked", **writer._asdict(), age_s=now_s() - at_s)

    def _holder(self, account: AccountRows, scope: str) -> Row | None:
        return next((row for row in account.rows.values() if row.is_open and row.scope == scope), None)

    def step(
        self,
        name: str,
        writer: Writer,
        intent: str,
        state: State,
        details: Mapping[str, Any],
        step: str,
        prior: State | None,
        fence: int | None,
    ) -> int:
        account = self._account(name, writer, trades=True)
        if step in account.steps:
            return account.steps[step]
        row = account.rows.get(intent)
        if row is None:
            raise refused(StoreRefusal.WRONG_STEP, "no such intent")
        if (fence or 0) != row.fence or (row.fence and row.follower != writer):
            raise self._another_follows(row)
        if row.state is not (prior or row.state) or state not in TRANSITIONS.get(row.state, ()):
            raise refused(StoreRefusal.WRONG_STEP, f"{row.state} to {state}", state=str(row.state))
        if state is State.SENT:
            self._refuse_if_locked(account)
        holder = self._holder(account, row.scope)
        row.state, row.writer = state, writer
        row.is_open = state not in ENDED and holder in (None, row)
        number = self._append(name, account, row, state, writer, details, step)
        if holder is row and not row.is_open:
            waiting = [other for other in account.rows.values() if other.scope == row.scope]
            corrected = next((other for other in waiting if other.state is State.CORRECTED), None)
            if corrected is not None:
                corrected.is_open = True
        return number

    def _another_follows(self, row: Row) -> StoreRefused:
        follower, left_s = row.follower or row.writer, row.leased_s(now_s())
        return refused(StoreRefusal.ANOTHER_FOLLOWS, "another one follows it", **follower._asdict(), left_s=left_s)

    def _append(
        self,
        name: str,
        account: AccountRows,
        row: Row,
        state: State,
        writer: Writer,
        details: Mapping[str, Any],
        step: str,
    ) -> int:
        account.version += 1
        event = StoreEvent(
            number=account.version,
            intent=row.id,
            scope=row.scope,
            kind=row.kind,
            state=state,
            at_ms=self.start_ms + round(now_s() * 1000),
            writer=writer,
            details=dict(details),
            step=step,
        )
        row.events.append(event)
        row.at_s = now_s()
        account.events.append(event)
        account.steps[step] = account.version
        self.written(name, event)
        self._notify(name)
        return account.version

    def _notify(self, name: str) -> None:
        for store in list(self.stores):
            if store.account == name:
                store.hear_of_change()

    def take_over(self, name: str, writer: Writer, intent: str, lease_s: float) -> Lease:
        account = self._account(name, writer, trades=True)
        row = account.rows.get(intent)
        if row is None:
            raise refused(StoreRefusal.WRONG_STEP, "no such intent")
        is_alive = row.leased_s(now_s()) > 0
        if is_alive and row.follower != writer:
            raise self._another_follows(row)
        if not is_alive or row.follower != writer:
            row.fence += 1
        row.follower, row.follower_until_s = writer, now_s() + lease_s
        self._notify(name)
        return Lease(row.fence, lease_s)

    def lock_trading(self, name: str, writer: Writer, locked: bool) -> tuple[StoreLock, ...]:
        account = self._account(name, writer, trades=True)
        if locked:
            account.locks.setdefault(writer.person, (writer, now_s()))
        else:
            account.locks.pop(writer.person, None)
        account.version += 1
        self._notify(name)
        return self._locks(account)

    def read(self, name: str, writer: Writer, intent: str) -> Intent:
        return _intent(name, self._account(name, writer, trades=False).rows[intent])

    def newest(self, name: str, writer: Writer, limit: int) -> list[Intent]:
        rows = list(self._account(name, writer, trades=False).rows.values())[::-1][:limit]
        return [_intent(name, row) for row in rows]

    def events_after(self, name: str, writer: Writer, number: int) -> list[StoreEvent]:
        return [event for event in self._account(name, writer, trades=False).events if event.number > number]


def _intent(account: str, row: Row) -> Intent:
    events = tuple(
        Event(event.state, event.at_ms, event.details, event.number, owner=str(event.writer), chain=event.step)
        for event in row.events
    )
    return Intent(row.id, account, row.scope, row.kind, row.state, events)


def now_s() -> float:
    return asyncio.get_running_loop().time()


class Link:
    """One machine's way to the server. `delay_s` is the time of one direction."""

    def __init__(self) -> None:
        self.delay_s = DELAY_S
        self.is_cut = False
        self.replies_to_lose = 0
        """So many of the next calls are done, and their replies are lost."""
        self.stores: list[MemoryStore] = []

    def cut(self, notices_s: float = 0.0) -> None:
        """Let nothing through any more; 0 s later a reset connection is noticed, 2 s later a silent one."""
        self.is_cut = True
        for store in self.stores:
            asyncio.get_running_loop().call_later(notices_s, store.notice_cut)

    def mend(self) -> None:
        self.is_cut, self.replies_to_lose, self.delay_s = False, 0, DELAY_S


class MemoryStore:
    """One session's connection to a `MemoryServer`."""

    def __init__(self, server: MemoryServer, account: str, writer: Writer, clock: Clock, link: Link) -> None:
        self.account = account
        self.writer = writer
        self.away_since: float | None = None
        self.on_change: Callable[[], None] | None = None
        self._server = server
        self._clock = clock
        self._link = link
        self._is_closed = False
        self._context = contextvars.copy_context()
        server.stores.append(self)
        link.stores.append(self)

    # The connection

    async def _call(self, work: Callable[..., T], *arguments: Any) -> T:
        """Carry a call to the server and its answer back; the server's part outlives the process that called."""
        if self.away_since is not None or self._is_closed:
            raise StoreAway("no connection")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        loop.call_later(self._link.delay_s, self._arrive, answer, work, arguments)
        try:
            async with asyncio.timeout(DEADLINE_S):
                return await answer
        except TimeoutError:
            reason = f"no answer within {DEADLINE_S:g} s"
            self.lose_connection(reason)
            raise StoreAway(reason) from None

    def _arrive(self, answer: asyncio.Future[T], work: Callable[..., T], arguments: tuple[Any, ...]) -> None:
        if self._link.is_cut:
            return
        result, refusal = None, None
        try:
            result = work(self.account, self.writer, *arguments)
        except (StoreRefused, KeyError) as problem:
            refusal = problem
        if self._link.replies_to_lose:
            self._link.replies_to_lose -= 1
            return
        asyncio.get_running_loop().call_later(self._link.delay_s, self._answer, answer, result, refusal)

    def _answer(self, answer: asyncio.Future[Any], result: Any, refusal: Exception | None) -> None:
        if self._link.is_cut or answer.done():
            return
        if refusal is None:
            answer.set_result(result)
        else:
            answer.set_exception(refusal)

    def notice_cut(self) -> None:
        if self._link.is_cut:
            self.lose_connection("the connection is cut")

    def lose_connection(self, reason: str) -> None:
        if self.away_since is None and not self._is_closed:
            self.away_since = self._clock.monotonic()
            self._changed()
            asyncio.get_running_loop().call_later(0.2, self._reconnect, 0.2)

    def _reconnect(self, waited_s: float) -> None:
        if self._is_closed:
            return
        if self._link.is_cut:
            wait_s = min(waited_s * 2, LONGEST_WAIT_S)
            asyncio.get_running_loop().call_later(wait_s, self._reconnect, wait_s)
            return
        self.away_since = None
        self._changed()

    def hear_of_change(self) -> None:
        """A notification arrives, unless the way is cut."""
        asyncio.get_running_loop().call_later(self._link.delay_s, self._notified)

    def _notified(self) -> None:
        if self.away_since is None and not self._link.is_cut:
            self._changed()

    def _changed(self) -> None:
        if self.on_change is not None and not self._is_closed:
            self._context.run(self.on_change)

    def end(self) -> None:
        """The process is over: nothing more reaches it."""
        if not self._is_closed:
            self._is_closed = True
            self._server.stores.remove(self)
            self._link.stores.remove(self)

    async def open(self) -> None:
        """It is open from the start."""

    async def aclose(self) -> None:
        self.end()

    # The contract

    async def state(self) -> AccountState:
        return await self._call(self._server.state)

    async def begin(self, intent: str, scope: str, kind: str, details: Mapping[str, Any], *, after: int | None) -> int:
        return await self._call(self._server.begin, intent, scope, kind, details, after)

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
        return await self._call(self._server.step, intent, state, details, step, prior, fence)

    async def adopt(
        self, intent: str, scope: str, kind: str, state: State, details: Mapping[str, Any], *, step: str
    ) -> int:
        return await self._call(self._server.adopt, intent, scope, kind, state, details, step)

    async def take_over(self, intent: str, lease_s: float) -> Lease:
        return await self._call(self._server.take_over, intent, lease_s)

    async def lock_trading(self, locked: bool) -> tuple[StoreLock, ...]:
        return await self._call(self._server.lock_trading, locked)

    async def read(self, intent: str) -> Intent:
        return await self._call(self._server.read, intent)

    async def newest(self, limit: int) -> list[Intent]:
        return await self._call(self._server.newest, limit)

    async def events_after(self, number: int) -> list[StoreEvent]:
        return await self._call(self._server.events_after, number)
