"""A desk on the embedded exchange in virtual time: jitter, faults, and the promises checked while it runs."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from pydantic import SecretStr

from tests.sandbox.born_once import born_once
from tradetui.desk.alerts.settings import AlertSettings
from tradetui.desk.desk import Desk
from tradetui.desk.feeds.polling.feed import Feed
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.desk.tables.rows.row_source import FeedRow
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import LoopClock
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.rate_limit.budget import Budget
from tradetui.exchange.rate_limit.local_budget import LocalBudget
from tradetui.exchange.transport.in_process import InProcessTransport
from tradetui.exchange.transport.transport import Transport
from tradetui.sandbox.app import Sandbox
from tradetui.sandbox.options import SandboxOptions
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.storage.disk_thread import InlineDisk
from tradetui.wire.product_types import ProductType

START_MS = 1_790_000_000_000
PRODUCT_TYPES = (ProductType.USDT_FUTURES, ProductType.COIN_FUTURES, ProductType.USDC_FUTURES)
WEATHER = {
    "delay": 0.01,
    "dropped-before": 0.01,
    "dropped-after": 0.01,
    "429": 0.002,
    "5xx": 0.01,
    "truncated": 0.005,
    "non-json": 0.005,
    "wrong-types": 0.005,
}


class Jitter:
    """An ASGI application behind a network whose delays are drawn by a seed, one way and back."""

    def __init__(self, app: Any, random: Random, low: float = 0.02, high: float = 0.12) -> None:
        self._app = app
        self._random = random
        self._low, self._high = low, high

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(self._random.uniform(self._low, self._high))

        async def later(message: Any) -> None:
            if message["type"] == "http.response.start":
                await asyncio.sleep(self._random.uniform(self._low, self._high))
            await send(message)

        await self._app(scope, receive, later)


@dataclass
class Simulation:
    """One run: the exchange, the desk on it, and what was found out on the way."""

    seed: int
    name: str = "hedge"
    core_only: bool = False
    data_dir: Path | None = None
    jitter: bool = True
    weather: dict[str, float] = field(default_factory=dict)
    product_types: Sequence[ProductType] = PRODUCT_TYPES
    options: dict[str, Any] = field(default_factory=dict)
    checked: bool = True
    fills: int | None = None
    """How many of its newest fills each account keeps, where a test is not about the past; None is ninety days."""
    alerts: AlertSettings | None = None
    budget: Budget | None = None
    """Who gives leave to call, in the place of a budget of the session's own."""
    wrap_transport: Callable[[Transport], Transport] = field(default=lambda transport: transport)

    def __post_init__(self) -> None:
        self.clock = LoopClock(START_MS)
        options = SandboxOptions(seed=self.seed, faults=dict(self.weather), core_only=self.core_only, **self.options)
        self.exchange_state = born_once(build_exchange_state(self.seed, START_MS), fills=self.fills)
        self.sandbox = Sandbox(self.exchange_state, self.clock.wall_ms, options)
        self.digest = hashlib.sha256()
        self.polling: set[str] = set()
        self.steps = 0
        self.desk = self.open_desk()

    @property
    def uid(self) -> str:
        return next(key.uid for key in self.exchange_state.keys if key.name == self.name)

    def open_desk(self) -> Desk:
        """A desk on the same exchange, as a program that was started anew."""
        key = next(key for key in self.exchange_state.keys if key.name == self.name)
        credentials = Credentials(key.api_key, SecretStr(key.secret), SecretStr(key.passphrase))
        app: Any = Jitter(self.sandbox, Random(f"{self.seed}/network")) if self.jitter else self.sandbox
        budget = self.budget or LocalBudget(
            share=1.0, account_kind=None, clock=self.clock, random=Random(f"{self.seed}/budget")
        )
        self.transport = self.wrap_transport(InProcessTransport(app, read_only=True))
        client = ExchangeReader(
            credentials,
            transport=self.transport,
            clock=self.clock,
            random=Random(f"{self.seed}/client"),
            budget=budget,
        )
        settings = DeskSettings(
            name=self.name,
            environment=Environment.SANDBOX,
            product_types=tuple(self.product_types),
            base_url="http://in-process",
            data_dir=self.data_dir,
        )
        desk = Desk(client, settings, self.clock, Random(f"{self.seed}/desk"), disk=InlineDisk(), alerts=self.alerts)
        desk.subscribe(self._published)
        for feed in desk.feeds.values():
            self._watch(feed)
        return desk

    async def run(self, seconds: float, *, every: float = 1.0, check: Callable[[], None] | None = None) -> None:
        """Let so much time pass, checking the promises again and again."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while loop.time() < end:
            await asyncio.sleep(min(every, end - loop.time()))
            if self.checked:
                self.check()
            if check is not None:
                check()

    def check(self) -> None:
        """The promises that hold at any moment."""
        self.steps += 1
        for name, feed in self.desk.feeds.items():
            keys = feed.snapshot.keys
            assert len(set(keys)) == len(keys), f"{name} repeats a row (seed {self.seed})"
            assert all(feed.snapshot.index[key] == index for index, key in enumerate(keys))
        self._check_fills()

    def _check_fills(self) -> None:
        """Between the newest and the oldest fill shown none is missing, unless the feed says that some are."""
        snapshot = self.desk.fills.snapshot
        if snapshot.note or not snapshot.rows or snapshot.error is not None:
            return
        for product_type in self.product_types:
            rows = [row for row in snapshot.rows if row.product_type is product_type]
            if not rows:
                continue
            # Each product type was read at a moment of its own.
            times = [round(row.record.c_time.timestamp() * 1000) for row in rows]
            low, high = min(times), max(times)
            held = {
                f"{product_type}|{row['tradeId']}"
                for row in self.exchange_state.rows(self.uid, "fills", product_type)
                if low < int(row["cTime"]) < high
            }
            lost = held - set(snapshot.keys)
            assert not lost, f"{len(lost)} fills lost (seed {self.seed})"

    def converged(self) -> None:
        """Once nothing moves any more, the desk shows what the exchange holds."""
        desk, exchange_state = self.desk, self.exchange_state
        orders = {
            f"{product_type}|{row['orderId']}": row
            for product_type in self.product_types
            for row in self.held("orders", product_type)
        }
        shown = {row.key: row for row in desk.orders.snapshot.rows}
        assert orders.keys() == shown.keys(), f"orders differ (seed {self.seed})"
        assert all(str(shown[key].record.status) == row["status"] for key, row in orders.items())
        fills = [
            f"{product_type}|{row['tradeId']}"
            for product_type in self.product_types
            for row in self.held("fills", product_type)
        ]
        assert set(desk.fills.snapshot.keys) <= set(fills)
        count = len(desk.fills.snapshot.keys)
        newest = sorted(
            (
                (int(row["cTime"]), f"{product_type}|{row['tradeId']}")
                for product_type in self.product_types
                for row in self.held("fills", product_type)
            ),
            reverse=True,
        )[:count]
        assert {key for _, key in newest[: count // 2]} <= set(desk.fills.snapshot.keys)
        triggers = {
            f"{product_type}|{row['orderId']}": row["planStatus"]
            for product_type in self.product_types
            for row in self.held("triggers", product_type)
        }
        seen = {row.key: row.record.plan_status for row in desk.triggers.snapshot.rows}
        missing = [key for key in triggers if key not in seen]
        assert len(seen) >= min(500, len(triggers)), f"{len(missing)} triggers missing (seed {self.seed})"
        assert all(triggers[key] == status for key, status in seen.items())
        positions = {
            f"{product_type}|{row['symbol']}|{row['holdSide']}": Decimal(str(row["total"]))
            for product_type in self.product_types
            for row in exchange_state.positions(self.uid, product_type)
        }
        held = {row.key: row.size for row in desk.positions.snapshot.rows}
        assert held == positions, f"positions differ (seed {self.seed})"
        equity = {
            f"{product_type}|{row['marginCoin']}": Decimal(str(row["accountEquity"]))
            for product_type in self.product_types
            for row in exchange_state.futures_accounts(self.uid, product_type)
        }
        assert {row.key: row.record.account_equity for row in desk.accounts.snapshot.rows} == equity
        for name, feed in desk.feeds.items():
            assert feed.snapshot.error is None, f"{name}: {feed.snapshot.error} (seed {self.seed})"

    def held(self, book: str, product_type: ProductType) -> Sequence[Any]:
        """What the exchange holds."""
        return self.exchange_state.rows(self.uid, book, product_type)

    def _watch(self, feed: Feed[FeedRow]) -> None:
        inner = feed.reader.read

        async def read() -> Any:
            assert feed.name not in self.polling, f"two polls of {feed.name} at once (seed {self.seed})"
            self.polling.add(feed.name)
            try:
                return await inner()
            finally:
                self.polling.discard(feed.name)

        feed.reader.read = read  # type: ignore[method-assign]

    def _published(self, feed: Feed[FeedRow]) -> None:
        if not self.checked:
            return
        snapshot = feed.snapshot
        # Every key, and of the rows themselves those that can be new.
        rows = "".join(str(getattr(row, "record", row)) for row in snapshot.rows[:40])
        line = (
            f"{self.clock.wall_ms()} {feed.name} {snapshot.generation} {snapshot.count} {snapshot.undecodable_rows} "
            f"{snapshot.error} {'|'.join(snapshot.keys)} {rows}\n"
        )
        self.digest.update(line.encode())
