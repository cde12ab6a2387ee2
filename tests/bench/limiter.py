"""A strict server, 10 calls in any sliding second, 30 waiters: how many calls a second, how many refused.

    python -m tests.bench.limiter [--seconds 20]

One process and four sharing the budget, one-way jitter 20 to 120 and 20 to 320 ms. The bench `store` measures the same
with processes on two machines that share a store.
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
from typing import TYPE_CHECKING, Any

from tests.bench.report import Report
from tests.bench.strict_server import LIMIT

if TYPE_CHECKING:
    from tradetui.exchange.rate_limit.permits_in_store import PermitServer

WAITERS = 30
SLOWEST_MS = (120, 320)
PART = 0.95
MACHINES = ("desk1", "desk2")
PYTHON = [sys.executable, "-m"]


def permit_server(conninfo: str, machine: str) -> PermitServer:
    """The permits of one of two machines in a store."""
    from tradetui.exchange.rate_limit.permits_in_store import PermitServer
    from tradetui.storage.postgres.server import PostgresServer

    return PermitServer(PostgresServer(conninfo), machine, "office", 0.5)


async def call_for(
    base_url: str, directory: str, conninfo: str, who: str, waiters: int, begin: float, seconds: float
) -> None:
    """One process: so many waiters, each calling as soon as it may."""
    from tradetui.exchange import Credentials, ExchangeError, ExchangeReader, Priority
    from tradetui.exchange.rate_limit.budget import Budget

    machine = MACHINES[int(who[1:]) % 2]
    shared = permit_server(conninfo, machine) if conninfo else None
    budget = Budget(Path(directory) / machine if conninfo else Path(directory), "bench", shared=shared)
    credentials = Credentials("key", "secret", "passphrase")
    stalls: list[float] = []
    async with ExchangeReader(credentials, base_url, locale=who, priority=Priority.FEED, budget=budget) as reader:
        await reader.prepare()
        await asyncio.sleep(begin - time.monotonic())
        end = begin + seconds

        async def waiter() -> None:
            while time.monotonic() < end:
                try:
                    async with asyncio.timeout(end - time.monotonic()):
                        await reader.with_priority(Priority.INTERACTIVE).futures.accounts(product_type="USDT-FUTURES")
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


def measure(processes: int, slowest_ms: int, seconds: float, report: Report, conninfo: str = "") -> None:
    """One run, held to what the limit allows over the round trips that the server made of its jitter."""
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
                        *("--child", base_url, directory, conninfo, f"p{i}"),
                        *(str(WAITERS // processes + (i < WAITERS % processes)), str(begin), str(seconds)),
                    ],
                    stdout=subprocess.PIPE,
                    text=True,
                )
                for i in range(processes)
            ]
            stalls = [json.loads(caller.communicate()[0].splitlines()[-1])["stall_ms"] for caller in callers]
        with urllib.request.urlopen(f"{base_url}/counted") as counted:
            result: dict[str, Any] = json.load(counted)
    finally:
        server.terminate()
        server.wait()
    shares = [result["accepted"].get(f"p{i}", 0) for i in range(processes)]
    # A permit is given back a second after the reply.
    possible = LIMIT / (1 + result["round_trip_s"])
    bench = "store" if conninfo else "limiter"
    name = f"{bench}: {processes} process{'es' if processes > 1 else ''}, 20 to {slowest_ms} ms one way"
    print(f"{name}: shares {shares}, longest stall {max(stalls):.0f} ms")
    report.ratio(
        f"{name}: rate", sum(shares) / seconds, "the limit over the round trip", possible, unit="calls/s", at_least=PART
    )
    report.count(f"{name}: refused", result["refused"], exactly=0)
    report.count(f"{name}: processes without a call", shares.count(0), exactly=0)


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        base_url, directory, conninfo, who, waiters, begin, seconds = sys.argv[2:]
        asyncio.run(call_for(base_url, directory, conninfo, who, int(waiters), float(begin), float(seconds)))
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    report = Report()
    for slowest_ms in SLOWEST_MS:
        for processes in (1, 4):
            measure(processes, slowest_ms, seconds, report)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
