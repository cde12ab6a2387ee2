"""How fast a page of 100 pending orders is fetched and parsed: `python -m tests.bench.fetch`.

One server in another process, one call after the other, by turns so that all meet the same machine: ours (signed,
checked, Decimals, with a permit that is there at once), ccxt's `fetch_open_orders` (signed, its limiter off), bare
httpx with json.loads, and the floor, which is bare httpx with our reading of its reply: what a call costs before it is
signed, counted and traced.
"""

from __future__ import annotations

import asyncio
import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from tests.bench.loopback import listen
from tests.bench.parse import _MARKET, ORDERS, body
from tests.bench.report import Report, median_ratio

TURNS = 31
CALLS = 25
FASTER_THAN_CCXT = 1.8
"""The floor itself is 2.1 to 2.4 times as fast as ccxt, which calls through aiohttp: more cannot be had with httpx."""
SLOWER_THAN_BARE = 1.9
SLOWER_THAN_FLOOR = 1.25
SYMBOL = "BTC/USDT:USDT"
PATH = "/api/v2/mix/order/orders-pending"

Message = MutableMapping[str, Any]


def serve() -> None:
    """Answer every request with the same page; the port is the first line."""
    import uvicorn

    page = body()

    async def app(
        scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        status, content = (200, page) if scope["path"] == PATH else (400, b'{"code": "40404", "msg": "not here"}')
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    listening = listen()
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_keep_alive=60)
    asyncio.run(uvicorn.Server(config).serve([listening]))


async def compare(base_url: str) -> dict[str, list[float]]:
    """Seconds of a call by client, one figure a turn."""
    import ccxt.async_support as ccxt
    import httpx

    from tests.wire.whole_reply import read_reply
    from tradetui.exchange import Budget, Credentials, ExchangeReader, SystemClock
    from tradetui.wire.endpoints.catalogue import CATALOGUE

    class HurriedClock(SystemClock):
        """A second passes in a millisecond, so that a permit is back for every call."""

        def monotonic(self) -> float:
            return super().monotonic() * 1_000

    peer = ccxt.bitget({"apiKey": "key", "secret": "secret", "password": "passphrase", "enableRateLimit": False})
    peer.urls["api"] = {name: base_url for name in peer.urls["api"]}
    peer.set_markets([_MARKET])
    bare = httpx.AsyncClient(trust_env=False)
    own = ExchangeReader(Credentials("key", "secret", "passphrase"), base_url, budget=Budget(clock=HurriedClock()))

    async def theirs() -> int:
        return len(await peer.fetch_open_orders(SYMBOL))

    async def barely() -> int:
        reply = await bare.get(base_url + PATH, params={"productType": "USDT-FUTURES"})
        return len(json.loads(reply.content)["data"]["entrustedList"])

    async def floor() -> int:
        reply = await bare.get(base_url + PATH, params={"productType": "USDT-FUTURES"})
        return len(read_reply(CATALOGUE["futures.pending_orders"], reply.content).rows)

    async def ours() -> int:
        return len((await own.futures.pending_orders(product_type="USDT-FUTURES")).rows)

    clients: dict[str, Callable[[], Awaitable[int]]] = {"ccxt": theirs, "bare": barely, "floor": floor, "ours": ours}
    measured: dict[str, list[float]] = {name: [] for name in clients}
    try:
        for turn in range(TURNS + 1):
            gc.collect()
            gc.freeze()  # nobody pays for walking the modules of the others
            for name, call in clients.items():
                start = time.perf_counter()
                for _ in range(CALLS):
                    assert (count := await call()) == ORDERS, f"{name}: {count} orders"
                if turn:  # the first turn connects and imports
                    measured[name].append((time.perf_counter() - start) / CALLS)
    finally:
        await peer.close()
        await bare.aclose()
        await own.aclose()
    return measured


def main() -> int:
    if sys.argv[1:] == ["--serve"]:
        serve()
        return 0
    server = subprocess.Popen([sys.executable, "-m", "tests.bench.fetch", "--serve"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        times = asyncio.run(compare(f"http://127.0.0.1:{int(server.stdout.readline())}"))
    finally:
        server.terminate()
        server.wait()
    report = Report()
    report.ratio(
        "fetch: calls in a second",
        1 / statistics.median(times["ours"]),
        "ccxt",
        1 / statistics.median(times["ccxt"]),
        unit="calls/s",
        at_least=FASTER_THAN_CCXT,
        ratio=median_ratio(times["ccxt"], times["ours"]),
    )
    for anchor, name, at_most in (
        ("bare httpx", "bare", SLOWER_THAN_BARE),
        ("bare httpx with our reading", "floor", SLOWER_THAN_FLOOR),
    ):
        report.ratio(
            "fetch: a call",
            statistics.median(times["ours"]) * 1000,
            anchor,
            statistics.median(times[name]) * 1000,
            unit="ms",
            at_most=at_most,
            ratio=median_ratio(times["ours"], times[name]),
        )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
