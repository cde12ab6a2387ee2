"""A store of several machines in memory: the functions of its schema in the loop's time, with a server's faults.

A `MemoryServer` holds what PostgreSQL would hold. Each machine reaches it over a `Link` of its own.
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tradetui.desk.intents.journal.account_store import AccountStore, StoreEvent, StoreRefusal, Writer
from tradetui.desk.intents.states import ENDED, TRANSITIONS, State
from tradetui.exchange.clock import Clock
from tradetui.storage.postgres.errors import StoreAway, StoreRefused

Rows = list[dict[str, Any]]

DELAY_S: Final = 0.0005
DEADLINE_S: Final = 2.0
LONGEST_WAIT_S: Final = 2.0
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
    level_s: dict[Writer, float | None] = field(default_factory=dict)
    """By who is on the account: when that machine was last level, None if it never was."""

    def holder(self, scope: str) -> Row | None:
        """The intent that holds a scope."""
        return next((row for row in self.rows.values() if row.is_open and row.scope == scope), None)

    def give_scope(self, scope: str) -> None:
        """A scope that nobody holds goes to the first intent that was corrected while another one held it."""
        waiting = [row for row in self.rows.values() if row.scope == scope and row.state is State.CORRECTED]
        if waiting and self.holder(scope) is None:
            waiting[0].is_open = True


class MemoryServer:
    """The server: one call is one transaction, done in one step of the loop."""

    def __init__(self, start_ms: int = 0) -> None:
        self.start_ms = start_ms
        self.accounts: dict[str, AccountRows] = {}
        self.roles: dict[str, str] = {}
        """By person; whoever is not named is a trader."""
        self.schema_is_newer = False
        self.connections: list[MemoryConnection] = []
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
        for connection in list(self.connections):
            connection.lose("the server closed the connection")

    # The functions of the schema, each with the person that calls it

    def call(self, person: str, function: str, *arguments: Any) -> Rows:
        if self.schema_is_newer:
            raise refused(StoreRefusal.OTHER_SCHEMA, "the store's schema is newer")
        rows: Rows = getattr(self, function)(person, *arguments)
        return rows

    def _account(self, name: str, writer: Writer, *, trades: bool) -> AccountRows:
        if trades and self._role(writer.person) == "viewer":
            raise refused(StoreRefusal.NOT_A_TRADER, f"{writer.person} may not trade")
        account = self.accounts.setdefault(name, AccountRows())
        if writer.machine:
            account.seen_s[writer.machine] = now_s()
            account.level_s.setdefault(writer, None)
        return account

    def _role(self, person: str) -> str:
        return self.roles.get(person, "trader")

    def _holding(self, intent: str) -> str:
        """The name of the account that an intent is of."""
        for name, account in self.accounts.items():
            if intent in account.rows:
                return name
        raise refused(StoreRefusal.WRONG_STEP, "no such intent")

    def account_state(self, person: str, name: str, machine: str, level: int | None) -> Rows:
        account = self._account(name, Writer(person, machine), trades=False)
        if level is not None and level <= account.version:
            account.level_s[Writer(person, machine)] = now_s()
        shown = [self._shown(account, row) for row in account.rows.values() if row.is_shown]
        machines = [
            {**writer._asdict(), "level_s": None if at_s is None else now_s() - at_s}
            for writer, at_s in account.level_s.items()
        ]
        state = {"version": account.version, "open": shown, "locks": _locks(account), "machines": machines}
        state["now_epoch_s"] = self.start_ms / 1000 + now_s()
        return [{**state, "role": self._role(person)}]

    def _shown(self, account: AccountRows, row: Row) -> dict[str, Any]:
        now, begun_by = now_s(), row.events[0].writer
        left_s, may_trade = row.leased_s(now), self._role(row.writer.person) != "viewer"
        follower_person, follower_machine = row.follower if row.follower and left_s else (None, None)
        return {
            "id": row.id,
            "scope": row.scope,
            "kind": row.kind,
            "state": str(row.state),
            **begun_by._asdict(),
            "last_person": row.writer.person,
            "last_machine": row.writer.machine,
            "age_s": now - row.at_s,
            "number": row.events[-1].number,
            "machine_seen_s": now - account.seen_s.get(row.writer.machine, row.at_s) if may_trade else 1e9,
            "follower_person": follower_person,
            "follower_machine": follower_machine,
            "follower_left_s": left_s,
        }

    def begin_intent(
        self,
        person: str,
        intent: str,
        name: str,
        scope: str,
        kind: str,
        details: Mapping[str, Any],
        after: int | None,
        machine: str,
    ) -> Rows:
        writer = Writer(person, machine)
        account = self._account(name, writer, trades=True)
        if (same := account.rows.get(intent)) is not None:
            if (same.events[0].writer.person, same.scope) == (person, scope):
                return _number(same.events[0].number)
            raise _already_open(same)
        _refuse_if_locked(account)
        if (holder := account.holder(scope)) is not None:
            raise _already_open(holder)
        newer = [event for event in account.events if after is not None and event.number > after]
        if others := [event for event in newer if event.scope == scope]:
            event = others[-1]
            age_s = now_s() - account.rows[event.intent].at_s
            raise refused(
                StoreRefusal.OVERTAKEN, "overtaken", **event.writer._asdict(), age_s=age_s, number=event.number
            )
        row = account.rows[intent] = Row(intent, scope, kind, State.INTENDED, writer)
        return self._append(name, row, details, intent)

    def adopt_intent(
        self,
        person: str,
        intent: str,
        name: str,
        scope: str,
        kind: str,
        state: str,
        details: Mapping[str, Any],
        step: str,
        machine: str,
    ) -> Rows:
        writer = Writer(person, machine)
        account = self._account(name, writer, trades=True)
        unsent = (State.INTENDED, State.WITHDRAWN)
        if any(intent in other.rows for other in self.accounts.values() if other is not account):
            raise refused(StoreRefusal.WRONG_STEP, "the intent is of another account")
        row = account.rows.get(intent)
        if row is not None and (row.state not in unsent or state in unsent or step in account.steps):
            return _number(row.events[0].number)
        holder = account.holder(scope)
        if holder not in (None, row) and state not in ENDED:
            raise _already_open(holder)
        row = account.rows.setdefault(intent, row or Row(intent, scope, kind, State(state), writer))
        row.state, row.writer, row.is_open = State(state), writer, state not in ENDED
        rows = self._append(name, row, details, step)
        account.give_scope(scope)
        return rows

    def step_intent(
        self,
        person: str,
        intent: str,
        step: str,
        after: str,
        details: Mapping[str, Any],
        prior: str | None,
        fence: int | None,
        machine: str,
    ) -> Rows:
        name, writer, state = self._holding(intent), Writer(person, machine), State(after)
        account = self._account(name, writer, trades=True)
        if step in account.steps:
            return _number(account.steps[step])
        row = account.rows[intent]
        if (fence or 0) != row.fence or (row.fence and row.follower != writer):
            raise _another_follows(row)
        if row.state != (prior or row.state) or state not in TRANSITIONS.get(row.state, ()):
            raise refused(StoreRefusal.WRONG_STEP, f"{row.state} to {state}", state=str(row.state))
        if state is State.SENT:
            _refuse_if_locked(account)
        holder = account.holder(row.scope)
        row.state, row.writer = state, writer
        row.is_open = state not in ENDED and holder in (None, row)
        rows = self._append(name, row, details, step)
        account.give_scope(row.scope)
        return rows

    def _append(self, name: str, row: Row, details: Mapping[str, Any], step: str) -> Rows:
        account = self.accounts[name]
        if {"\\u0000", "\\ud800"} & set(re.findall(r"\\u....", json.dumps(dict(details)))):
            raise StoreRefused("22P05", "unsupported Unicode escape sequence", {})
        account.version += 1
        event = StoreEvent(
            number=account.version,
            intent=row.id,
            scope=row.scope,
            kind=row.kind,
            state=row.state,
            at_ms=self.start_ms + round(now_s() * 1000),
            writer=row.writer,
            details=dict(details),
            step=step,
        )
        row.events.append(event)
        row.at_s = now_s()
        account.events.append(event)
        account.steps[step] = account.version
        self.written(name, event)
        self._notify(name)
        return _number(account.version)

    def _notify(self, name: str) -> None:
        for connection in self.connections:
            connection.hear_of_change(name)

    def take_over(self, person: str, intent: str, machine: str, lease_s: float) -> Rows:
        name, writer = self._holding(intent), Writer(person, machine)
        row = self._account(name, writer, trades=True).rows[intent]
        is_alive = row.leased_s(now_s()) > 0
        is_own = is_alive and row.follower == writer
        if is_alive and not is_own and row.events[0].writer != writer:
            raise _another_follows(row)
        if not is_own:
            row.fence += 1
        row.follower, row.follower_until_s = writer, now_s() + lease_s
        if not is_own:
            self._notify(name)
        return [{"fence": row.fence, "left_s": lease_s}]

    def lock_trading(self, person: str, name: str, locked: bool, machine: str) -> Rows:
        account = self._account(name, Writer(person, machine), trades=True)
        if locked:
            account.locks.setdefault(person, (Writer(person, machine), now_s()))
        else:
            account.locks.pop(person, None)
        account.version += 1
        self._notify(name)
        return _locks(account)

    def read_intent(self, person: str, name: str, intent: str) -> Rows:
        return [event for event in self.events_after(person, name, 0) if event["intent"] == intent]

    def newest_intents(self, person: str, name: str, limit: int) -> Rows:
        newest = list(self._account(name, Writer(person, ""), trades=False).rows)[::-1][:limit]
        return [event for event in self.events_after(person, name, 0) if event["intent"] in newest]

    def events_after(self, person: str, name: str, number: int, limit: int | None = None) -> Rows:
        account = self._account(name, Writer(person, ""), trades=False)
        events = [event for event in account.events if event.number > number][:limit]
        return [{**event._asdict(), "state": str(event.state), **event.writer._asdict()} for event in events]


def _number(number: int) -> Rows:
    return [{"number": number}]


def _locks(account: AccountRows) -> Rows:
    return [{**writer._asdict(), "age_s": now_s() - at_s} for writer, at_s in account.locks.values()]


def _already_open(row: Row) -> StoreRefused:
    who, age_s = row.events[0].writer._asdict(), now_s() - row.at_s
    return refused(StoreRefusal.ALREADY_OPEN, "already open", intent=row.id, state=str(row.state), **who, age_s=age_s)


def _refuse_if_locked(account: AccountRows) -> None:
    for lock in _locks(account):
        raise refused(StoreRefusal.TRADING_LOCKED, "trading is locked", **lock)


def _another_follows(row: Row) -> StoreRefused:
    follower, left_s = row.follower or row.writer, row.leased_s(now_s())
    return refused(StoreRefusal.ANOTHER_FOLLOWS, "another one follows it", **follower._asdict(), left_s=left_s)


def now_s() -> float:
    return asyncio.get_running_loop().time()


class Link:
    """One machine's way to the server. `delay_s` is the time of one direction."""

    def __init__(self) -> None:
        self.delay_s = DELAY_S
        self.is_cut = False
        self.replies_to_lose = 0
        """So many of the next calls are done, and their replies are lost."""
        self.connections: list[MemoryConnection] = []

    def cut(self, notices_s: float = 0.0) -> None:
        """Let nothing through any more; 0 s later a reset connection is noticed, 2 s later a silent one."""
        self.is_cut = True
        for connection in self.connections:
            asyncio.get_running_loop().call_later(notices_s, connection.notice_cut)

    def mend(self) -> None:
        self.is_cut, self.replies_to_lose, self.delay_s = False, 0, DELAY_S


class MemoryConnection:
    """One session's connection to a `MemoryServer`, in the place of a `PostgresServer`."""

    def __init__(self, server: MemoryServer, person: str, clock: Clock, link: Link) -> None:
        self.person = person
        self.away_since: float | None = None
        self.away_reason = ""
        self.on_change: Callable[[str], None] | None = None
        self._server = server
        self._clock = clock
        self._link = link
        self._is_closed = False
        self._context = contextvars.copy_context()
        server.connections.append(self)
        link.connections.append(self)

    async def open(self) -> None:
        """It is open from the start."""

    async def call(self, function: str, *arguments: object, deadline_s: float = DEADLINE_S) -> Rows:
        """Carry a call to the server and its answer back; the server's part outlives the process that called."""
        if self.away_since is not None or self._is_closed:
            raise StoreAway("no connection")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Rows] = loop.create_future()
        loop.call_later(self._link.delay_s, self._arrive, answer, function, arguments)
        try:
            async with asyncio.timeout(deadline_s):
                return await answer
        except TimeoutError:
            reason = f"no answer within {deadline_s:g} s"
            self.lose(reason)
            raise StoreAway(reason) from None

    def _arrive(self, answer: asyncio.Future[Rows], function: str, arguments: tuple[object, ...]) -> None:
        if self._link.is_cut:
            return
        result, refusal = None, None
        try:
            result = self._server.call(self.person, function, *arguments)
        except StoreRefused as problem:
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
            self.lose("the connection is cut")

    def lose(self, reason: str) -> None:
        """Be away until it has found the server again."""
        if self.away_since is None and not self._is_closed:
            self.away_since, self.away_reason = self._clock.monotonic(), reason
            self._report("")
            asyncio.get_running_loop().call_later(0.2, self._reconnect, 0.2)

    def _reconnect(self, waited_s: float) -> None:
        if self._is_closed:
            return
        if self._link.is_cut:
            wait_s = min(waited_s * 2, LONGEST_WAIT_S)
            asyncio.get_running_loop().call_later(wait_s, self._reconnect, wait_s)
            return
        self.away_since, self.away_reason = None, ""
        self._report("")

    def hear_of_change(self, account: str) -> None:
        """A notification arrives, unless the way is cut."""
        asyncio.get_running_loop().call_later(self._link.delay_s, self._notified, account)

    def _notified(self, account: str) -> None:
        if self.away_since is None and not self._link.is_cut:
            self._report(account)

    def _report(self, account: str) -> None:
        if self.on_change is not None and not self._is_closed:
            self._context.run(self.on_change, account)

    def end(self) -> None:
        """The process is over: nothing more reaches it."""
        if not self._is_closed:
            self._is_closed = True
            self._server.connections.remove(self)
            self._link.connections.remove(self)

    async def aclose(self) -> None:
        self.end()


def memory_store(server: MemoryServer, account: str, writer: Writer, clock: Clock, link: Link) -> AccountStore:
    """A person's way to an account from a machine."""
    return AccountStore(MemoryConnection(server, writer.person, clock, link), account, writer.machine)
