"""A reversal from end to end: execution, client and the embedded exchange in one process, in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from pydantic import SecretStr

from tests.exchange.scripted_exchange import NoBudget
from tests.sandbox.copied_accounts import born_once
from tests.sandbox.exchange_events import cancel_order, liquidate, open_position
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.registered_journal import JournalLocation
from tradetui.desk.intents.states import Intent
from tradetui.desk.reversal.execution import Execution
from tradetui.desk.reversal.preview import Target
from tradetui.desk.reversal.progress import Progress, Sent
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.exchange.client import ExchangeClient
from tradetui.exchange.clock import LoopClock
from tradetui.exchange.credentials import Credentials
from tradetui.sandbox.app import Sandbox, SandboxOptions
from tradetui.sandbox.exchange_state import ExchangeState
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.storage.disk_thread import Disk, InlineDisk
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.wire.product_types import ProductType

START_MS = 1_793_491_200_000
USDT = ProductType.USDT_FUTURES
SYMBOL = "BTCUSDT"
REVERSAL_PATH = "/api/v2/mix/order/click-backhand"
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where a directory needs no disk: a journal syncs each step."""


@dataclass
class Scene:
    """One account on a still market, and what trades for it."""

    sandbox: Sandbox
    execution: Execution
    journal: Journal
    client: ExchangeClient
    uid: str

    def hold(self, long: str = "0", short: str = "0") -> None:
        """Open so much of each leg."""
        for leg, size in (("long", long), ("short", short)):
            if Decimal(size):
                open_position(self.sandbox.exchange_state, self.uid, SYMBOL, leg, Decimal(size))

    def held(self) -> Holdings:
        """What the exchange itself holds."""
        book = self.sandbox.exchange_state.book(self.uid, "USDT-FUTURES")
        long, short = book.held(SYMBOL, "long"), book.held(SYMBOL, "short")
        sizes = (long.size if long else Decimal(0), short.size if short else Decimal(0))
        return Legs(*sizes) if book.mode == "hedge_mode" else Net(sizes[0] - sizes[1])

    @property
    def posts(self) -> int:
        """Reversals that arrived at the exchange."""
        return self.sandbox.counts["POST", REVERSAL_PATH]

    @property
    def intent(self) -> Intent:
        """The only one in the journal."""
        (intent,) = self.journal.newest()
        return intent

    async def confirm(self, target: Target, typed: str | None = None) -> Sent:
        """Preview and confirm."""
        preview = await self.execution.preview(target)
        return await self.execution.confirm(preview, preview.subject if typed is None else typed)

    async def reverse(self, target: Target, typed: str | None = None) -> list[Progress]:
        """Preview, confirm, and follow to the end."""
        sent = await self.confirm(target, typed)
        return [progress async for progress in self.execution.follow(sent)]


def empty_book(exchange_state: ExchangeState, uid: str) -> None:
    """Leave nothing of what an account held, ordered and traded but its wallet."""
    book = exchange_state.book(uid, "USDT-FUTURES")
    for order in list(book.orders):
        cancel_order(exchange_state, uid, book.orders[order].spec.symbol, order)
    for held in list(book.holdings.values()):
        liquidate(exchange_state, book, held)
    book.live_triggers.clear()
    book.fills.clear()
    book.done.clear()
    book.started_with = dict(book.balances)


@asynccontextmanager
async def scene(
    mode: str = "hedge", *, core_only: bool = False, one_way_size: str = "honour", clear: bool = True, seed: int = 3
) -> AsyncIterator[Scene]:
    """An account without positions (unless `clear` is false) on a market that stands still."""
    clock = LoopClock(START_MS)
    exchange_state = born_once(build_exchange_state(seed, START_MS))
    exchange_state.stands_still = True
    options = SandboxOptions(seed=seed, core_only=core_only, limits=False, one_way_size=one_way_size)  # type: ignore[arg-type]
    sandbox = Sandbox(exchange_state, clock.wall_ms, options)
    key = next(key for key in exchange_state.keys if key.name == ("managed" if mode == "hedge" else "broker"))
    if clear:
        empty_book(exchange_state, key.uid)
    random = Random(seed)
    client = ExchangeClient(
        Credentials(key.api_key, SecretStr(key.secret), SecretStr(key.passphrase)),
        app=sandbox,
        clock=clock,
        random=random,
        budget=NoBudget(),
    )
    settings = DeskSettings(
        name="test", environment=Environment.SANDBOX, product_types=(USDT,), uid=key.uid, read_only=False
    )
    folder = TemporaryDirectory(dir=MEMORY)
    journal = Journal(Path(folder.name) / "journal.sqlite")
    ids = (f"tt-{number}" for number in range(1_000_000))
    intents = Intents(journal, InlineDisk(), clock, key.uid, lambda: next(ids), start_locked=False)
    execution = Execution(client, settings, clock, intents)
    try:
        yield Scene(sandbox, execution, journal, client, key.uid)
    finally:
        await execution.stop()
        await client.aclose()
        journal.close()
        folder.cleanup()


def another_session(on: Scene, disk: Disk, ids: str = "tt") -> Execution:
    """One more session of the scene's account, whose journal is not open yet."""
    numbers, clock = count(), on.client.clock
    intents = Intents(None, disk, clock, "", lambda: f"{ids}-{next(numbers)}", start_locked=False)
    return Execution(on.client, on.execution.settings, clock, intents)


@asynccontextmanager
async def session(on: Scene, file: Path | JournalLocation) -> AsyncIterator[Execution]:
    """A session of the scene's account that keeps its journal in a file."""
    execution = another_session(on, InlineDisk())
    location = file if isinstance(file, JournalLocation) else JournalLocation(file)
    await execution.open_journal(on.uid, location)
    try:
        yield execution
    finally:
        await execution.stop()
