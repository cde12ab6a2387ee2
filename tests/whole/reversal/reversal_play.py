"""Two terminals of one account on one exchange and one disk, in virtual time, watched for what must never happen."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from contextvars import ContextVar
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from pydantic import SecretStr

from tests.bench.virtual_loop import VirtualLoop
from tests.exchange.scripted_exchange import NoBudget
from tests.sandbox.copied_accounts import born_once
from tests.sandbox.exchange_events import heal, liquidate, open_position
from tests.sandbox.invariants import check_books
from tests.whole.reversal.reversal_session import MEMORY, empty_book
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.registered_journal import JournalLocation
from tradetui.desk.intents.states import ENDED, TRANSITIONS, Intent, State, Withheld, WrongStep
from tradetui.desk.reversal.execution import Execution, NotConfirmed
from tradetui.desk.reversal.preview import Preview, Target
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.exchange.client import ExchangeClient, ExchangeReader
from tradetui.exchange.clock import LoopClock
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.errors import ExchangeError, ReadOnly
from tradetui.exchange.transport.in_process import InProcessTransport
from tradetui.exchange.transport.transport import (
    BeforeFirstByte,
    HttpRequest,
    HttpResponse,
    Transport,
    TransportError,
    TransportErrorKind,
)
from tradetui.sandbox.app import Sandbox, SandboxOptions
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.storage.disk_thread import InlineDisk
from tradetui.wire.enums import PositionMode, Side
from tradetui.wire.product_types import ProductType

START_MS = 1_793_491_200_000
USDT = ProductType.USDT_FUTURES
SYMBOL = "BTCUSDT"
REVERSAL_PATH = "/api/v2/mix/order/click-backhand"
WINDOW_MS = 35_000

_owner: ContextVar[str] = ContextVar("owner", default="")
_confirmed_ms: ContextVar[int] = ContextVar("confirmed_ms", default=0)


class Network:
    """The exchange behind a network: delays both ways, and one POST that takes as long as a test says."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._random = Random("network")
        self.next_post_s = 0.0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        post = scope["method"] == "POST"
        slow_s, self.next_post_s = (self.next_post_s, 0.0) if post else (0.0, self.next_post_s)
        await asyncio.sleep(self._random.uniform(0.01, 0.05) + slow_s)

        async def later(message: Any) -> None:
            if message["type"] == "http.response.start":
                await asyncio.sleep(self._random.uniform(0.01, 0.05))
            await send(message)

        try:
            await self._play.sandbox(scope, receive, later)
        finally:
            self._play.note_held()
            if post:
                self._play.own_since = self._play.clock.wall_ms()


class Watched:
    """A transport that looks at every write the moment it leaves, and carries nothing for a program that is dead."""

    def __init__(self, inner: Transport, play: Play, terminal: Terminal) -> None:
        self.read_only = inner.read_only
        self._inner = inner
        self._play = play
        self._terminal = terminal

    async def send(self, request: HttpRequest, before_first_byte: BeforeFirstByte | None = None) -> HttpResponse:
        async def watched() -> None:
            if before_first_byte is not None:
                await before_first_byte()
            if self._terminal.dead:
                raise TransportError(TransportErrorKind.CONNECT, "this program is dead", sent=False)
            if request.writes:
                self._play.departs(self._terminal, json.loads(request.body))

        return await self._inner.send(request, watched)

    async def aclose(self) -> None:
        await self._inner.aclose()


class Terminal:
    """One running program; when it crashes another takes its place."""

    def __init__(self, play: Play, name: str) -> None:
        self.play, self.name, self.dead = play, name, False
        self.preview: Preview | None = None
        key = next(key for key in play.sandbox.exchange_state.keys if key.uid == play.uid)
        credentials = Credentials(key.api_key, SecretStr(key.secret), SecretStr(key.passphrase))
        transport: Any = Watched(InProcessTransport(play.network), play, self)
        self.client = ExchangeClient(
            credentials, transport=transport, clock=play.clock, random=Random(name), budget=NoBudget()
        )
        settings = DeskSettings(
            name="test", environment=Environment.SANDBOX, product_types=(USDT,), uid=play.uid, read_only=False
        )
        intents = Intents(None, InlineDisk(), play.clock, play.uid, play.new_id, start_locked=False)
        self.execution = Execution(self.client, settings, play.clock, intents)

    async def open(self) -> None:
        """Start: the journal is opened, and what it holds taken up."""
        await self.execution.open_journal(self.play.uid, JournalLocation(self.play.file))

    def crash(self, tasks: dict[asyncio.Task[Any], str]) -> None:
        """End at once: nothing is written and nothing sent from here on; what is on the wire arrives."""
        self.dead = True
        journal = self.execution.intents._journal
        if journal is not None:
            journal.close()
        for task, owner in tasks.items():
            # The exchange's own tasks are those that carry a request; they survive.
            if owner == self.name and "_serve" not in (getattr(task.get_coro(), "__qualname__", "")):
                task.cancel()


class Play:
    """The whole: what a trader, the market, the exchange and a power cut may do, and what is checked after each."""

    def __init__(self, mode: str = "hedge", *, core_only: bool = False) -> None:
        self.loop = VirtualLoop()
        self.loop.set_task_factory(self._new_task)
        self.tasks: dict[asyncio.Task[Any], str] = {}
        self.core_only = core_only
        self.clock = LoopClock(START_MS)
        exchange_state = born_once(build_exchange_state(3, START_MS))
        exchange_state.stands_still = True
        self.sandbox = Sandbox(exchange_state, self.clock.wall_ms, SandboxOptions(limits=False, core_only=core_only))
        name = "managed" if mode == "hedge" else "broker"
        self.uid = next(key.uid for key in exchange_state.keys if key.name == name)
        self.mode = PositionMode.HEDGE if mode == "hedge" else PositionMode.ONE_WAY
        self.book = exchange_state.book(self.uid, "USDT-FUTURES")
        self._clear()
        self._folder = tempfile.TemporaryDirectory(dir=MEMORY)
        self.file = Path(self._folder.name) / "journal.sqlite"
        self.network = Network(self)
        self.own_since = 0
        self.departed: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.held_since: list[tuple[int, dict[str, str]]] = []
        self.notes: Counter[str] = Counter()
        self._ids = 0
        self._starts = 0
        self._reader: sqlite3.Connection | None = None
        self.terminals: list[Terminal] = []
        self.run(self._begin())

    async def _begin(self) -> None:
        self.note_held()
        for number in range(2):
            await self._start(number)

    def close(self) -> None:
        """Let everything go."""
        for terminal in self.terminals:
            terminal.crash(self.tasks)
        left = list(self.tasks)
        for task in left:
            task.cancel()

        async def ended() -> None:
            await asyncio.gather(*left, return_exceptions=True)

        self.loop.run_until_complete(ended())
        if self._reader is not None:
            self._reader.close()
        self.loop.close()
        self._folder.cleanup()

    # Running

    def run(self, work: Awaitable[Any]) -> Any:
        """Run a piece of work to its end, and check."""
        result = self.loop.run_until_complete(work)
        self.check()
        return result

    def passes(self, seconds: float) -> None:
        """Let time pass."""
        self.run(asyncio.sleep(seconds))

    def _new_task(self, loop: Any, work: Any, **more: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **more)
        self.tasks[task] = _owner.get()
        task.add_done_callback(lambda done: self.tasks.pop(done, None))
        return task

    def _as(self, terminal: Terminal, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        token = _owner.set(terminal.name)
        try:
            task = self._new_task(self.loop, work)
        finally:
            _owner.reset(token)
        task.add_done_callback(self._unexpected)
        return task

    def _unexpected(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and task.exception() is not None:
            error = task.exception()
            if not isinstance(error, sqlite3.ProgrammingError):  # the journal of a program that has crashed is closed
                self.wrong.append(f"{type(error).__name__}: {error}")

    # Trader

    def previews(self, number: int, long: bool, size: Decimal | None) -> None:
        """Read and plan: for a leg in hedge mode, or for the other one where that is not held."""
        terminal = self.terminals[number]
        side = None
        if self.mode is PositionMode.HEDGE:
            leg = "long" if long else "short"
            held = self.book.held(SYMBOL, leg) is not None
            side = Side.BUY if long is held else Side.SELL

        async def work() -> None:
            with suppress(ExchangeError):
                terminal.preview = await terminal.execution.preview(Target(SYMBOL, USDT, side, size))

        self.run(asyncio.wait_for(self._as(terminal, work()), 60))

    def confirms(self, number: int) -> None:
        """Confirm what was previewed and follow it; goes on while other things happen."""
        terminal = self.terminals[number]
        preview = terminal.preview
        if preview is None:
            return

        async def work() -> None:
            _confirmed_ms.set(self.clock.wall_ms())
            try:
                sent = await terminal.execution.confirm(preview, preview.subject)
            except NotConfirmed as refused:
                self.notes[f"not confirmed: {refused.reasons[0][:40]}"] += 1
                return
            except ExchangeError as problem:
                self.notes[type(problem).__name__] += 1
                return
            async for progress in terminal.execution.follow(sent):
                if progress.outcome is not None:
                    self.notes[str(progress.outcome)] += 1

        self._as(terminal, work())

    def locks(self, number: int, locked: bool) -> None:
        """Lock or unlock; the lock is on disk before the next thing happens."""
        terminal = self.terminals[number]

        async def work() -> None:
            if locked:
                terminal.execution.intents.set_lock(True)
            else:
                terminal.execution.intents.set_lock(False)
            await asyncio.sleep(0)

        self.run(self._as(terminal, work()))

    def releases(self, number: int) -> None:
        """The trader's own step, wherever the program offers it."""
        terminal = self.terminals[number]

        async def work() -> None:
            for intent in self.intents():
                if intent.state is State.UNKNOWN:
                    with suppress(WrongStep, Withheld):
                        await terminal.execution.release(intent.id, "looked on the exchange's own page")

        self.run(self._as(terminal, work()))

    # What happens

    def crashes(self, number: int) -> None:
        """One program dies where it stands, and is started again on the same disk."""
        self.notes["crashes"] += 1
        self.terminals[number].crash(self.tasks)
        self.run(self._start(number))

    async def _start(self, number: int) -> None:
        self._starts += 1
        terminal = Terminal(self, f"terminal {number}, start {self._starts}")
        self.terminals[number : number + 1] = [terminal]
        await self._as(terminal, terminal.open())

    def trades(self, long: bool, size: Decimal) -> None:
        """Somebody else trades on the account."""
        if self.mode is PositionMode.ONE_WAY and self.book.holdings:
            long = next(iter(self.book.holdings.values())).leg == "long"
        self.sandbox.exchange_state.advance(self.clock_ms())
        open_position(self.sandbox.exchange_state, self.uid, SYMBOL, "long" if long else "short", size)
        self.note_held()

    def closes(self) -> None:
        """Everything is liquidated."""
        for held in list(self.book.holdings.values()):
            liquidate(self.sandbox.exchange_state, self.book, held)
        self.note_held()

    def moves(self, percent: int) -> None:
        """The price moves."""
        price = self.sandbox.exchange_state.market.last(SYMBOL)
        self.sandbox.exchange_state.market.set_price(SYMBOL, (price * (100 + percent) / 100).quantize(Decimal("0.1")))

    def fails(self, kind: str, endpoint: str | None, times: int) -> None:
        """Bad weather for the next calls."""
        self.sandbox.faults.plan(kind, endpoint=endpoint, times=times)

    def slow_post(self, seconds: float) -> None:
        """The next order takes so long to arrive."""
        self.network.next_post_s = seconds

    def monitors(self) -> None:
        """A session in monitor mode tries to send."""
        key = next(key for key in self.sandbox.exchange_state.keys if key.uid == self.uid)
        credentials = Credentials(key.api_key, SecretStr(key.secret), SecretStr(key.passphrase))
        reader = ExchangeReader(credentials, app=self.network, clock=self.clock, random=Random(1), budget=NoBudget())
        assert not hasattr(reader.futures, "reverse")
        http_request = HttpRequest("POST", REVERSAL_PATH, {}, b"{}")

        async def work() -> None:
            transport = await reader._calls._transport()
            try:
                await transport.send(http_request)
            except ReadOnly:
                return
            self.wrong.append("a reader's transport took a write")

        self.run(work())

    # What must hold

    def departs(self, terminal: Terminal, body: dict[str, Any]) -> None:
        """A POST leaves: everything that has to be so at this moment."""
        oid = body.get("clientOid", "")
        self.departed[oid] += 1
        self.notes["POSTs"] += 1
        say = self.wrong.append
        if self.departed[oid] > 1:
            say(f"{oid} was sent twice")
        rows = self._read("SELECT state, open, lock_key FROM intent WHERE id = ?", oid)
        if not rows:
            say(f"{oid} was sent without an intent")
            return
        state, still_open, scope = rows[0]
        if state != State.SENT or not still_open:
            say(f"{oid} was sent while its intent is {state}")
        newest_lock = self._read("SELECT state FROM event WHERE intent = '' ORDER BY number DESC LIMIT 1")
        if newest_lock == [("locked",)] or terminal.execution.intents.locked:
            say(f"{oid} was sent while trading is locked")
        others = self._read("SELECT id FROM intent WHERE open = 1 AND lock_key = ? AND id != ?", scope, oid)
        if others:
            say(f"{oid} was sent while {others} is not settled")
        details = self._reported_details(oid)
        if details["before"] not in self.held_after(_confirmed_ms.get()):
            say(f"{oid} was sent on {details['before']}, which was not held any more when it was confirmed")
        elif details["before"] not in self.held_after(self.own_since):
            say(f"{oid} was sent on {details['before']}, read before the reversal that came first")

    def check(self) -> None:
        """Everything that holds at any moment."""
        self.note_held()
        for intent in self.intents():
            self._check_intent(intent)
        assert not self.wrong, self.wrong

    def _check_intent(self, intent: Intent) -> None:
        states = [event.state for event in intent.events]
        assert intent.state is states[-1], f"{intent.id} is {intent.state}, its last event {states[-1]}"
        for before, after in pairwise(states):
            assert after in TRANSITIONS[before], f"{intent.id}: {states}"
        (row,) = self._read("SELECT open FROM intent WHERE id = ?", intent.id)
        assert bool(row[0]) is (intent.state not in ENDED), f"{intent.id} is {intent.state} and open is {row[0]}"
        taken = self.taken(intent.id)
        if intent.state is State.WITHDRAWN:
            assert not self.departed[intent.id], f"{intent.id} was withdrawn and sent"
        if intent.state is State.REJECTED:
            assert not taken, f"{intent.id} was rejected and done"
        if intent.state is State.SETTLED:
            self._check_settled(intent, taken)

    def _check_settled(self, intent: Intent, taken: bool) -> None:
        details, at_ms = intent.details, intent.events[-1].at_ms
        outcome, waited_ms = details["outcome"], at_ms - details["stamp_ms"]
        if outcome == "unchanged":
            assert waited_ms > WINDOW_MS, f"{intent.id}: absence became unchanged after {waited_ms} ms"
            assert not self.core_only, f"{intent.id}: unchanged without anything that knows orders by id"
        if outcome == "not done":
            assert not taken, f"{intent.id}: not done, and taken"
        if not taken:
            assert waited_ms > WINDOW_MS, f"{intent.id}: settled as {outcome} after {waited_ms} ms, never taken"
        if outcome == "reversed":
            assert taken and details["held"] in details["after"], f"{intent.id}: reversed, {taken}, {details['held']}"
        held = [legs for since, legs in self.held_since if since <= at_ms]
        assert details["held"] in held, f"{intent.id}: {details['held']} was never held"

    def end(self) -> None:
        """The weather clears: every intent comes to an end that matches the exchange."""
        heal(self.sandbox.faults)
        self.network.next_post_s = 0.0
        self.passes(180)
        for intent in self.intents():
            if intent.state in ENDED:
                continue
            assert intent.state is State.UNKNOWN, f"{intent.id} stays {intent.state}"
            assert self.core_only, f"{intent.id} was never settled: {intent.events}"
            self.releases(0)
        self.locks(0, False)
        self.passes(1)
        assert not self.terminals[0].execution.intents.unsettled()
        assert not self.terminals[1].execution.intents.unsettled()
        processed = [order.client_oid for order in (*self.book.orders.values(), *self.book.done.values())]
        for intent in self.intents():
            assert processed.count(intent.id) <= 1
            assert self.departed[intent.id] <= 1
        check_books(self.sandbox.exchange_state)

    # Reading

    def clock_ms(self) -> int:
        """Now, by the one clock of this world."""
        return self.loop.run_until_complete(_now(self.clock))

    def note_held(self) -> None:
        """Remember what is held from now on."""
        held = self.held()
        if not self.held_since or self.held_since[-1][1] != held:
            now = self.clock.wall_ms() if asyncio._get_running_loop() else self.clock_ms()
            self.held_since.append((now, held))

    def held(self) -> dict[str, str]:
        """What the exchange holds, as the journal writes it."""
        long, short = self.book.held(SYMBOL, "long"), self.book.held(SYMBOL, "short")
        sizes = [position.size if position else Decimal(0) for position in (long, short)]
        if self.book.mode == "hedge_mode":
            return {"long": _plain(sizes[0]), "short": _plain(sizes[1])}
        return {"net": _plain(sizes[0] - sizes[1])}

    def held_after(self, moment: int) -> list[dict[str, str]]:
        """Everything that was held at that moment or after it."""
        before = [legs for since, legs in self.held_since if since <= moment][-1:]
        return before + [legs for since, legs in self.held_since if since > moment]

    def taken(self, oid: str) -> bool:
        """Whether the exchange took an order of this id."""
        return any(order.client_oid == oid for order in (*self.book.orders.values(), *self.book.done.values()))

    def intents(self) -> list[Intent]:
        """What is in the journal, read by nobody's program."""
        rows = self._read("SELECT id FROM intent ORDER BY rowid") if self.file.exists() else []
        journal = Journal.__new__(Journal)
        if self._reader is not None:
            journal._connection = self._reader
        return [journal.intent(row[0]) for row in rows]

    def new_id(self) -> str:
        """Ids that no two programs share."""
        self._ids += 1
        return f"tt-{self._ids}"

    def _reported_details(self, oid: str) -> dict[str, Any]:
        (row,) = self._read("SELECT told FROM event WHERE intent = ? ORDER BY number LIMIT 1", oid)
        details: dict[str, Any] = json.loads(row[0])
        return details

    def _read(self, statement: str, *values: Any) -> list[Any]:
        if self._reader is None:
            self._reader = sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, isolation_level=None)
        return self._reader.execute(statement, values).fetchall()

    def _clear(self) -> None:
        empty_book(self.sandbox.exchange_state, self.uid)
        open_position(self.sandbox.exchange_state, self.uid, SYMBOL, "long", Decimal(2))


async def _now(clock: LoopClock) -> int:
    return clock.wall_ms()


def _plain(size: Decimal) -> str:
    return f"{size.normalize():f}"
