"""A strict server, 10 calls in any sliding second, 30 waiters: how many calls a second, how many refused.

    python -m tests.bench.limiter [--seconds 20]

One process and four sharing the budget, one-way jitter 20 to 120 and 20 to 320 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

WAITERS = 30
TARGETS = {120: 9.0, 320: 7.6}
SLACK = 0.05
PYTHON = [sys.executable, "-m"]


async def call_for(base_url: str, directory: str, who: str, waiters: int, begin: float, seconds: float) -> None:
    """One process: so many waiters, each calling as soon as it may."""
    from tradetui.exchange import Credentials, ExchangeError, ExchangeReader, Lane
    from tradetui.exchange.shared_budget import SharedBudget

    budget = SharedBudget(Path(directory), "bench")
    credentials = Credentials("key", "secret", "passphrase")
    stalls: list[float] = []
    async with ExchangeReader(credentials, base_url, locale=who, lane=Lane.FEED, budget=budget) as reader:
        await reader.prepare()
        await asyncio.sleep(begin - time.monotonic())
        end = begin + seconds

        async def waiter() -> None:
            while time.monotonic() < end:
                try:
                    async with asyncio.timeout(end - time.monotonic()):
                        await reader.with_lane(Lane.PERSON).futures.accounts(product_type="USDT-FUTURES")
                except (ExchangeError, TimeoutError):
                    continue

        async def watch() -> None:
            while time.monotonic() < end:
                before = time.monotonic()
                await asyncio.sleep(0.005)
                stalls.append(time.monotonic() - before - 0.005)

        await asyncio.gather(watch(), *(waiter() for _ in range(waiters)))
    await budget.aclose()
    print(json.dumps({"stall_ms": max(stalls) * 1000}))


def measure(processes: int, slowest_ms: int, seconds: float) -> bool:
    server = subprocess.Popen(
        [*PYTHON, "tests.bench.strict_server", str(slowest_ms)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        base_url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        with tempfile.TemporaryDirectory() as directory:
            begin = time.monotonic() + 3.0
            callers = [
                subprocess.Popen(
                    [
                        *PYTHON,
                        "tests.bench.limiter",
                        *("--child", base_url, directory, f"p{i}"),
                        *(str(WAITERS // processes + (i < WAITERS % processes)), str(begin), str(seconds)),
                    ],
                    stdout=subprocess.PIPE,
                    text=True,
                )
                for i in range(processes)
            ]
            told = [json.loads(caller.communicate()[0].splitlines()[-1]) for caller in callers]
        with urllib.request.urlopen(f"{base_url}/counted") as counted:
            result: dict[str, Any] = json.load(counted)
    finally:
        server.terminate()
        server.wait()
    shares = [result["accepted"].get(f"p{i}", 0) for i in range(processes)]
    rate = sum(shares) / seconds
    target = TARGETS[slowest_ms]
    good = result["refused"] == 0 and rate >= target * (1 - SLACK) and min(shares) > 0
    stall = max(each["stall_ms"] for each in told)
    print(
        f"{processes} process{'es' if processes > 1 else '  '}  20-{slowest_ms} ms one way: "
        f"{result['refused']} x 429 (0), {rate:.2f} calls/s ({target}), shares {shares}, "
        f"longest stall {stall:.0f} ms  {'ok' if good else 'MISSED'}",
        flush=True,
    )
    return good


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        base_url, directory, who, waiters, begin, seconds = sys.argv[2:]
        asyncio.run(call_for(base_url, directory, who, int(waiters), float(begin), float(seconds)))
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    results = [measure(processes, slowest, seconds) for slowest in TARGETS for processes in (1, 4)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
