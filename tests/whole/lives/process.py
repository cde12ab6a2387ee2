"""A running program on its data directory, which can be killed between any two steps of its tasks.

This is the one file here that imports the program: the desk and what it is built of.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from tests.desk.intents.memory_store import MemoryConnection
from tests.exchange.scripted_exchange import NoBudget
from tests.whole.lives.clocks import BootClock
from tests.whole.lives.exchange import API_KEY, PASSPHRASE, SECRET, Request
from tests.whole.lives.exchange_rows import UID
from tests.whole.lives.network import Network, NoResponse, Post
from tests.whole.lives.plan import Act, Plan, ProcessPlan
from tradetui.desk.account.identity import stand_in
from tradetui.desk.desk import Desk
from tradetui.desk.feeds.polling.feed import StillReading
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal.account_store import AccountStore
from tradetui.desk.intents.states import Withheld, WrongStep
from tradetui.desk.reversal.execution import Execution
from tradetui.desk.reversal.preview import Target
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.desk.trading_session import TradingSession
from tradetui.exchange.client import ExchangeClient
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.errors import ExchangeError
from tradetui.exchange.transport.transport import HttpRequest, HttpResponse, TransportError, TransportErrorKind
from tradetui.wire.enums import Side
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tests.whole.lives.life import Life

P = ParamSpec("P")
T = TypeVar("T")
CONNECTS_S = 0.01
RUNTIME_DIR = "runtime"
SELDOM = {"accounts": 40.0, "positions": 30.0, "orders": 40.0, "fills": 20.0, "triggers": 300.0}
TICKERS_SELDOM_S = 60.0
"""No promise is about marks of the screen: a reversal reads the ticker of its own."""

current: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)
confirmation: contextvars.ContextVar[int] = contextvars.ContextVar("confirmation", default=0)


class Killed(BaseException):
    """Ends what a dead process still tries while it is buried."""


@contextmanager
def connections_by_process() -> Iterator[None]:
    """Note which process opens which SQLite file, so that they are closed when it dies."""
    connect = sqlite3.connect

    def connecting(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        process = current.get()
        if process is not None:
            process.connections.append(connection)
        return connection

    sqlite3.connect = connecting  # type: ignore[assignment]
    try:
        yield
    finally:
        sqlite3.connect = connect


class Steps(Coroutine[Any, Any, Any]):
    """A task's coroutine that stands still while its process is suspended.

    Once the process is dead it stands still for ever, without any clean-up.
    """

    def __init__(self, inner: Any, process: Process) -> None:
        self._inner = inner
        self._process = process
        self._missed: tuple[Any, ...] | None = None
        """What was thrown into it while it was suspended."""

    def send(self, value: Any) -> Any:
        process = self._process
        if (process.dead or process.kill_after is not None) and process.stands_still():
            return _never()
        if process.suspended:
            return process.resumes()
        if self._missed is not None:
            missed, self._missed = self._missed, None
            return self._inner.throw(*missed)
        return self._inner.send(value)

    def throw(self, *error: Any) -> Any:
        process = self._process
        if process.stands_still():
            return _never()
        if process.suspended:
            self._missed = error
            return process.resumes()
        return self._inner.throw(*error)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise TypeError("it is run by a task only")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _never() -> asyncio.Future[None]:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future._asyncio_future_blocking = True
    return future


def task_factory(loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> asyncio.Task[Any]:
    """A task of the process in whose context it is made."""
    context = more.get("context")
    process = current.get() if context is None else context.get(current)
    if process is None:
        return asyncio.Task(work, loop=loop, **more)
    task: asyncio.Task[Any] = asyncio.Task(Steps(work, process), loop=loop, **more)
    process.tasks.add(task)
    task.add_done_callback(process.tasks.discard)
    return task


class ProcessDisk:
    """Disk work at once, its end told a little later, so that a kill falls between the two."""

    def __init__(self, process: Process, slow_share: float, random: Random) -> None:
        self._process = process
        self._slow_share = slow_share
        self._random = random

    def now(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._process.dead:
            raise Killed
        return work(*args, **kwargs)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._process.dead:
            raise asyncio.CancelledError
        try:
            return work(*args, **kwargs)
        finally:
            self._process.disk_used()
            slow = self._slow_share and self._random.random() < self._slow_share
            await asyncio.sleep(self._random.uniform(0.5, 4.0) if slow else 0.0005)

    def close(self) -> None:
        """Nothing to end."""


class ProcessTransport:
    """The program's way to the network of the life."""

    read_only = False

    def __init__(self, process: Process, network: Network) -> None:
        self._process = process
        self._network = network

    async def send(
        self, request: HttpRequest, before_first_byte: Callable[[], Awaitable[None]] | None = None
    ) -> HttpResponse:
        if self._process.dead:
            raise asyncio.CancelledError
        carried = Request(request.method, request.target, dict(request.headers), request.body)
        if self._network.is_unconnected(carried):
            await asyncio.sleep(0.3)
            raise TransportError(TransportErrorKind.CONNECT, "no connection", sent=False)
        await asyncio.sleep(CONNECTS_S)
        if before_first_byte is not None:
            await before_first_byte()
        try:
            status, body = await self._network.send(
                carried,
                self._process.number,
                tells_uid=self._process.names.tells_uid,
                confirmation=confirmation.get(),
            )
        except NoResponse as problem:
            kind = TransportErrorKind.TIME_OUT if problem.timed_out else TransportErrorKind.BROKEN
            raise TransportError(kind, "no response", sent=True) from None
        return HttpResponse(status, {"content-type": "application/json"}, body)

    async def aclose(self) -> None:
        """Nothing to close."""


class Process:
    """One run of the program, from its start to its end."""

    def __init__(
        self,
        plan: Plan,
        network: Network,
        number: int,
        run: int,
        boot: BootClock,
        folder: Path,
        disk_used: Callable[[Process], None],
    ) -> None:
        self.number = number
        self.names: ProcessPlan = plan.processes[number]
        self.data_dir = folder / self.names.data_dir
        self.clock = boot
        self.dead = False
        self.buried = False
        self.kill_after: int | None = None
        self.kill_state, self.kill_in = "", 0
        self.steps = 0
        self.tasks: set[asyncio.Task[Any]] = set()
        self.connections: list[sqlite3.Connection] = []
        self.killed: Callable[[], None] = lambda: None
        self._plan = plan
        self._network = network
        self._run = run
        self._folder = folder
        self._disk_used = disk_used
        self._confirmations = iter(range(1_000 * run, 1_000_000))
        self.desk: Desk | None = None
        self.open_store: Callable[[str], AccountStore] | None = None
        """Opens the account's store as this process reaches it; None where no store is shared."""
        self.store_connections: list[MemoryConnection] = []
        self._resumed: asyncio.Future[None] | None = None

    # Death

    def stands_still(self) -> bool:
        """Count a step of a task; whether it must not be made any more."""
        if self.buried:
            return False
        if not self.dead and self.kill_after is not None:
            self.kill_after -= 1
            self.steps += 1
            if self.kill_after <= 0:
                self.kill()
        return self.dead

    def wrote(self, state: str) -> None:
        """A step stands in the journal: the process may be to be killed soon after it."""
        if state == self.kill_state:
            self.kill_state, self.kill_after = "", self.kill_in

    def kill(self) -> None:
        """End at once; nothing is cleaned up, nothing more is written or sent."""
        if not self.dead:
            self.dead = True
            self._lose_life()
            self.killed()

    def _lose_life(self) -> None:
        """The system closes the files of the process; the one that says that it lives stays, unlocked."""
        lives = None if self.desk is None else self.execution.intents.writers.lives
        if lives is not None and lives._descriptor is not None:
            os.close(lives._descriptor)
            lives._descriptor = None
        self.end()

    def end(self) -> None:
        """The process is over: its files are closed."""
        self.dead = True
        for connection in self.connections:
            connection.close()
        for way in self.store_connections:
            way.end()

    async def bury(self) -> None:
        """Let go of what a dead process left in memory."""
        self.dead = self.buried = True
        tasks = [task for task in self.tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def disk_used(self) -> None:
        """Look at what was written."""
        self._disk_used(self)

    def in_context(self, work: Callable[[], T]) -> T:
        """Run something as this process."""

        def inside() -> T:
            current.set(self)
            return work()

        return contextvars.copy_context().run(inside)

    def task(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin a task of this process."""
        return self.in_context(lambda: asyncio.get_running_loop().create_task(work))

    # Suspension

    @property
    def suspended(self) -> bool:
        return self._resumed is not None and not self._resumed.done()

    @property
    def was_suspended(self) -> bool:
        return self._resumed is not None

    def suspend(self) -> None:
        """Make no step of any task until `resume`; time goes on meanwhile."""
        if not self.suspended:
            self._resumed = asyncio.get_running_loop().create_future()

    def resume(self) -> None:
        if self._resumed is not None and not self._resumed.done():
            self._resumed.set_result(None)

    def resumes(self) -> asyncio.Future[None]:
        """What a task yields to be woken when the process goes on."""
        assert self._resumed is not None
        waits: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._resumed.add_done_callback(lambda _: None if waits.done() else waits.set_result(None))
        waits._asyncio_future_blocking = True
        return waits

    # Running

    async def start(self) -> None:
        """Build the desk and begin; returns at once."""
        self.build().start()

    def build(self) -> Desk:
        """The desk, not yet polling."""
        seed = f"{self._plan.seed}/{self.number}/{self._run}"
        credentials = Credentials(API_KEY, SECRET, PASSPHRASE)
        transport: Any = ProcessTransport(self, self._network)
        client = ExchangeClient(
            credentials, transport=transport, clock=self.clock, random=Random(f"{seed}/client"), budget=NoBudget()
        )
        settings = DeskSettings(
            name="life",
            environment=Environment.LIVE,
            product_types=(ProductType.USDT_FUTURES,),
            uid=UID if self.names.profile_uid else None,
            base_url=self.names.base_url,
            key_stand_in=stand_in(API_KEY),
            data_dir=self.data_dir,
            state_dir=self._folder / "state",
            runtime_dir=self._folder / RUNTIME_DIR,
            read_only=False,
            intervals=SELDOM,
            max_reversal_value=Decimal(10**12),
        )
        disk: Any = ProcessDisk(self, self._plan.disk_slow_share, Random(f"{seed}/disk"))
        ids = iter(range(1, 1_000_000))
        run = f"tt-{self.number}-{self._run}"
        intents = Intents(
            None,
            disk,
            self.clock,
            "",
            lambda: f"{run}-{next(ids)}",
            start_locked=settings.start_locked,
            open_store=self.open_store,
        )
        trading = TradingSession(intents, lambda intents: Execution(client, settings, self.clock, intents))
        self.desk = Desk(client, settings, self.clock, Random(f"{seed}/desk"), trading, disk=disk)
        self.desk.market.tickers.interval = TICKERS_SELDOM_S
        return self.desk

    @property
    def execution(self) -> Execution:
        """The reversals of the running desk."""
        assert self.desk is not None and self.desk.execution is not None
        return self.desk.execution

    def target(self, symbol: str, *, side_long: bool, size: Decimal | None) -> Target:
        """What to reverse."""
        side = (Side.BUY if side_long else Side.SELL) if self._plan.hedge else None
        return Target(symbol, ProductType.USDT_FUTURES, side, size)

    def typed_for(self, symbol: str, *, side_long: bool) -> str:
        """What a trader types who wants that leg reversed, whatever is asked for."""
        if not self._plan.hedge:
            side_long = self._network.books.held[symbol].now.net > 0
        return f"{symbol} {'LONG' if side_long else 'SHORT'}"

    # What a trader does

    @property
    def ready(self) -> bool:
        """Whether the journal is open and can be used, and the store if there is one."""
        return self.trouble is None and not self.execution.intents.store_trouble

    @property
    def trouble(self) -> str | None:
        """Why the journal cannot be used."""
        return self.execution.intents.trouble

    @property
    def opened(self) -> bool:
        """Whether its journal was opened already."""
        return self.desk is not None and self.trouble is None

    def unsettled(self) -> tuple[str, ...]:
        """What the header names as not settled."""
        return self.execution.intents.unsettled()

    async def reverse(self, life: Life, act: Act) -> None:
        """Look at a preview, confirm it, and follow what comes of it."""
        promises, execution = life.promises, self.execution
        for _ in range(60):
            if self.trouble is None:
                break
            await asyncio.sleep(0.5)
        if execution.intents.locked:
            execution.intents.set_lock(False)
        number = next(self._confirmations)
        confirmation.set(number)
        try:
            preview = await execution.preview(self.target("BTCUSDT", side_long=act.side_long, size=act.size))
            await asyncio.sleep(act.looked_s)
            if act.kill_step is not None:
                self.kill_state, self.kill_in = act.kill_state, act.kill_step
                self.kill_after = None if act.kill_state else act.kill_step
            sent = await execution.confirm(preview, self.typed_for("BTCUSDT", side_long=act.side_long))
        except Withheld as withheld:
            promises.note(f"process {self.number} does not send: {' '.join(withheld.reasons)[:150]}")
            promises.reports_not_done(self._posts_of(number), "nothing was sent")
            return
        except (ExchangeError, StillReading) as problem:
            promises.note(f"process {self.number}: {problem}")
            promises.reports_not_done(self._posts_of(number), str(problem))
            return
        finally:
            if not self.dead and not act.kill_state:
                self.kill_after = None
        life.followed(self, self._follow(life, sent))

    def _posts_of(self, number: int) -> list[Post]:
        return [post for post in self._network.posts if post.process == self.number and post.confirmation == number]

    async def _follow(self, life: Life, sent: Any) -> None:
        try:
            async for progress in self.execution.follow(sent):
                life.promises.progressed(sent.intent, str(progress.state), str(progress.sentence)[:120])
        except asyncio.CancelledError:
            raise
        except Exception as problem:
            if not self.dead:
                life.promises.breaks("f", f"following {sent.intent} raised {problem!r}")

    async def release_all(self) -> None:
        """Release what is not settled, where the program allows it."""
        execution = self.execution
        try:
            for intent in await execution.intents.not_settled():
                if execution.reason_against_release(intent) is None:
                    with suppress(WrongStep, Withheld):
                        await execution.release(intent.id, "looked at the exchange")
        except Withheld:
            return

    async def lock(self, locked: bool) -> None:
        await self.execution.intents.set_lock(locked)

    @property
    def has_lost(self) -> bool:
        """Whether the program says that its journal is lost or damaged."""
        return self.execution.intents.loss is not None

    async def accept_loss(self) -> None:
        """The trader's deliberate step after a loss."""
        await self.execution.intents.accept_loss()

    @property
    def has_older_store(self) -> bool:
        """Whether the program says that the store went back in time."""
        return "went back" in self.execution.intents.store_trouble

    async def accept_older_store(self) -> None:
        """The trader's deliberate step once the exchange's site was looked at; trading is then unlocked again."""
        await self.execution.intents.accept_older_store()

    async def stop(self) -> None:
        """End the program in good order."""
        assert self.desk is not None
        await self.desk.stop()
