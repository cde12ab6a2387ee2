"""10,000 callers that stop waiting, then 20 calls: how many of them succeed. `python -m tests.bench.cancel`

The budget is off, so that every caller gets as far as it can; the server answers after 20 ms.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from tests.bench.loopback import listen
from tests.bench.report import Report

ABANDONED = 10_000
AFTER = 20
Message = MutableMapping[str, Any]


async def slow(
    scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    """An exchange that takes its time."""
    await asyncio.sleep(0.02)
    reply = {"code": "00000", "msg": "success", "requestTime": time.time_ns() // 1_000_000, "data": []}
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(reply).encode()})


async def measure(abandoned: int = ABANDONED, seed: int = 1) -> tuple[int, int, float]:
    """Callers that stopped waiting, successes of the 20 after them, seconds for all."""

    import uvicorn

    from tests.exchange.scripted_exchange import NoBudget
    from tradetui.exchange import Credentials, ExchangeError, ExchangeReader

    chance = random.Random(seed)
    listening = listen()
    server = uvicorn.Server(uvicorn.Config(slow, log_level="critical", lifespan="off", timeout_keep_alive=60))
    serving = asyncio.create_task(server.serve([listening]))
    base_url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    begun = time.perf_counter()
    stopped = 0
    async with ExchangeReader(Credentials("key", "secret", "passphrase"), base_url, budget=NoBudget()) as reader:
        await reader.futures.accounts(product_type="USDT-FUTURES")
        for _ in range(abandoned // 100):
            crowd = [asyncio.create_task(reader.futures.accounts(product_type="USDT-FUTURES")) for _ in range(100)]
            await asyncio.sleep(chance.uniform(0, 0.03))
            for caller in crowd:
                caller.cancel()
            ends = await asyncio.gather(*crowd, return_exceptions=True)
            stopped += sum(isinstance(end, asyncio.CancelledError) for end in ends)
        successes = 0
        for _ in range(AFTER):
            try:
                await reader.futures.accounts(product_type="USDT-FUTURES")
                successes += 1
            except ExchangeError as failure:
                print(failure)
    server.should_exit = True
    await serving
    return stopped, successes, time.perf_counter() - begun


def main() -> int:
    stopped, successes, seconds = asyncio.run(measure())
    print(f"{ABANDONED} callers, {stopped} stopped waiting before their answer, {seconds:.1f} s")
    report = Report()
    report.count(f"cancel: calls of {AFTER} that succeed afterwards", successes, exactly=AFTER)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
