"""The embedded exchange behind its real HTTP server, in a thread, so that a test sees what it holds and what came."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

from tests.sandbox.copied_accounts import born_once
from tests.sandbox.exchange_events import cancel_order, liquidate, open_position
from tests.whole.crashes.kill_counter import SYMBOL
from tradetui.sandbox.app import Sandbox, SandboxOptions
from tradetui.sandbox.gateway.api_keys import SandboxKey
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.sandbox.server import serving, wall_ms

REVERSAL = ("POST", "/api/v2/mix/order/click-backhand")


class ExchangeThread:
    """A still market on loopback, as a rule without limits; `ahead_ms` puts its clock ahead of this machine's.

    Each account keeps the newest sixty of its fills: a program would read all of its past over HTTP.
    """

    def __init__(self, **options: Any) -> None:
        self.ahead_ms = 0
        self._pace, self._fast_since_ms = 1, 0
        self._turning = threading.Lock()
        exchange_state = born_once(build_exchange_state(3, wall_ms()), fills=60)
        exchange_state.stands_still = True
        self.sandbox = Sandbox(exchange_state, self._now_ms, SandboxOptions(**{"limits": False, **options}))
        self.base_url = ""
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(120), "the exchange never accepted connections"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @contextmanager
    def fast(self, pace: int) -> Iterator[int]:
        """Let the exchange's clock run so many times as fast; yields since when, in Unix ms of this machine."""
        with self._turning:
            self._fast_since_ms, self._pace = wall_ms(), pace
        try:
            yield self._fast_since_ms
        finally:
            with self._turning:
                self.ahead_ms += self._gained_ms()
                self._pace = 1

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Let the exchange answer nothing meanwhile; connections wait."""
        speaks = threading.Event()
        self._loop.call_soon_threadsafe(speaks.wait)
        try:
            yield
        finally:
            speaks.set()

    def _now_ms(self) -> int:
        with self._turning:
            return wall_ms() + self.ahead_ms + self._gained_ms()

    def _gained_ms(self) -> int:
        return (wall_ms() - self._fast_since_ms) * (self._pace - 1)

    async def _serve(self) -> None:
        self._stop, self._loop = asyncio.Event(), asyncio.get_running_loop()

        def ready(base_url: str) -> None:
            self.base_url = base_url
            self._ready.set()

        await serving(self.sandbox, "127.0.0.1", 0, ready, self._stop)

    def key(self, mode: str) -> SandboxKey:
        """An account in hedge or one-way mode that trades by nobody's hand."""
        name = "managed" if mode == "hedge" else "broker"
        return next(key for key in self.sandbox.exchange_state.keys if key.name == name)

    def environment(self, mode: str, folder: Path, config: str) -> dict[str, str]:
        """What makes `tradetui` trade on such an account, with everything it keeps in a folder.

        `config` is the configuration's text; the first profile in it, or the one that is named, gets the account's key.
        """
        file = folder / "config.toml"
        file.write_text(config)
        key = self.key(mode)
        return {
            "TRADETUI_CONFIG": str(file),
            "TRADETUI_API_KEY": key.api_key,
            "TRADETUI_API_SECRET": key.secret,
            "TRADETUI_PASSPHRASE": key.passphrase,
            "TRADETUI_DATA_DIR": str(folder / "data"),
            "TRADETUI_RUNTIME_DIR": str(folder / "run"),
            "TRADETUI_STATE_DIR": str(folder / "state"),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }

    def hold(self, mode: str, long: str, short: str) -> None:
        """Make the account hold just this, without orders or triggers."""
        exchange_state, uid = self.sandbox.exchange_state, self.key(mode).uid
        self.sandbox.catch_up()
        book = exchange_state.book(uid, "USDT-FUTURES")
        for order in list(book.orders):
            cancel_order(exchange_state, uid, book.orders[order].spec.symbol, order)
        book.live_triggers.clear()
        for held in list(book.holdings.values()):
            liquidate(exchange_state, book, held)
        # What all the opening and closing cost; an account without margin reverses less than it was asked to.
        book.balances["USDT"] = Decimal(1_000_000)
        for leg, size in (("long", long), ("short", short)):
            if Decimal(size):
                open_position(exchange_state, uid, SYMBOL, leg, Decimal(size))

    def held(self, mode: str) -> dict[str, str]:
        """What the account holds, as the journal writes it."""
        book = self.sandbox.exchange_state.book(self.key(mode).uid, "USDT-FUTURES")
        long, short = book.held(SYMBOL, "long"), book.held(SYMBOL, "short")
        sizes = [position.size if position else Decimal(0) for position in (long, short)]
        if book.mode == "hedge_mode":
            return {"long": plain(sizes[0]), "short": plain(sizes[1])}
        return {"net": plain(sizes[0] - sizes[1])}

    @property
    def posts(self) -> int:
        """Reversals that arrived."""
        return self.sandbox.counts[REVERSAL]


def plain(size: Decimal) -> str:
    """A size without trailing zeros."""
    return f"{size.normalize():f}"
