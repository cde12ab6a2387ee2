"""How fast `tradetui show spot-bills --all` reads, and in how much memory: `python -m tests.bench.show_all [PAGES]`.

The embedded exchange with its limits on, in another process behind a line with jitter, holds so many pages of bills.
A run is good when its calls a second reach nine tenths of min(N / (1 s + round trip), 1 / round trip), N being the
calls a second that the profile's share of the limit allows, when no call was refused, every bill was printed once,
and the process is no larger at its end than after its first quarter.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from tests.bench.report import Report

PAGE = 500
LIMIT = 10
PAGES = 80
PART = 0.9
GROWTH_MIB = 4
"""What a memory that stands still may differ by: arenas and buffers come and go."""
RUNS = ((0.5, 20, 80), (0.5, 80, 250), (1.0, 20, 80), (1.0, 80, 250))
"""The share of the limit, and the fastest and slowest way through the line in milliseconds."""
BILLS = "/api/v2/spot/account/bills"

Message = MutableMapping[str, Any]


class Line:
    """The embedded exchange behind a line; `/counted` tells when bills were asked for, how long it took, what came."""

    def __init__(self, sandbox: Any, fastest_ms: float, slowest_ms: float) -> None:
        self._sandbox = sandbox
        self._span = (fastest_ms / 1000, slowest_ms / 1000)
        self._chance = random.Random(1)
        self.arrivals: list[float] = []
        self.round_trips: list[float] = []
        self.refused = 0

    def catch_up(self) -> None:
        """The market stands still."""

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        if scope.get("path") == "/counted":
            counts = {"arrivals": self.arrivals, "round_trips": self.round_trips, "refused": self.refused}
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": json.dumps(counts).encode()})
            return
        if scope.get("path") != BILLS:
            await self._sandbox(scope, receive, send)
            return
        began = time.monotonic()
        await asyncio.sleep(self._chance.uniform(*self._span))
        self.arrivals.append(time.monotonic())

        async def later(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.refused += message["status"] == 429
                await asyncio.sleep(self._chance.uniform(*self._span))
                self.round_trips.append(time.monotonic() - began)
            await send(message)

        await self._sandbox(scope, receive, later)


def serve(pages: int, fastest_ms: float, slowest_ms: float) -> None:
    """Serve an account with so many pages of bills; the first line is its address and key."""
    from tradetui.sandbox.app import Sandbox, SandboxOptions
    from tradetui.sandbox.seed_accounts import build_exchange_state
    from tradetui.sandbox.server import serving, wall_ms

    exchange_state = build_exchange_state(5, wall_ms())
    exchange_state.stands_still = True
    key = exchange_state.keys[0]
    account = exchange_state.account(key.uid)
    newest, bill = 10**18, dict(account.spot_history.bills[0])
    account.spot_history.bills[:] = [bill | {"billId": str(newest - index)} for index in range(pages * PAGE)]
    line: Any = Line(Sandbox(exchange_state, wall_ms, SandboxOptions(seed=5)), fastest_ms, slowest_ms)

    def tell(base_url: str) -> None:
        print(json.dumps(key.public() | {"base_url": base_url}), flush=True)

    asyncio.run(serving(line, "127.0.0.1", 0, tell, asyncio.Event()))


def resident_kb(pid: int) -> int:
    """How large a process is now."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def read_all(server: dict[str, Any], share: float, pages: int) -> tuple[int, list[int]]:
    """Run the command; the bills it printed, and the process's size after every twentieth of them."""
    with tempfile.TemporaryDirectory() as home:
        config = Path(home) / "config.toml"
        config.write_text(
            f'[profiles.main]\nbase_url = "{server["base_url"]}"\nbudget_share = {share}\n', encoding="utf-8"
        )
        config.chmod(0o600)
        environment = os.environ | {
            "HOME": home,
            "TRADETUI_CONFIG": str(config),
            "TRADETUI_API_KEY": server["api_key"],
            "TRADETUI_API_SECRET": server["secret"],
            "TRADETUI_PASSPHRASE": server["passphrase"],
            "TRADETUI_DATA_DIR": f"{home}/data",
            "TRADETUI_RUNTIME_DIR": f"{home}/run",
            "TRADETUI_STATE_DIR": f"{home}/state",
        }
        command = [sys.executable, "-m", "tradetui", "show", "spot-bills", "--all", "--json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
        assert process.stdout is not None
        printed, sizes, last = 0, [], ""
        for line in process.stdout:
            # Little work here: it would take the place of what is measured.
            bill = line.partition('"billId":"')[2]
            if bill:
                assert bill != last, f"{bill} twice"
                last, printed = bill, printed + 1
                if printed % (pages * PAGE // 20) == 1:
                    sizes.append(resident_kb(process.pid))
        assert process.wait() == 0, f"it ended with {process.returncode}"
        return printed, sizes


def measure(share: float, fastest_ms: float, slowest_ms: float, pages: int, report: Report) -> None:
    """One run."""
    import urllib.request

    command = [sys.executable, "-m", "tests.bench.show_all", "--serve", str(pages), str(fastest_ms), str(slowest_ms)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        server = json.loads(process.stdout.readline())
        printed, sizes = read_all(server, share, pages)
        with urllib.request.urlopen(f"{server['base_url']}/counted") as answer:
            counted = json.load(answer)
    finally:
        process.kill()
        process.wait()
    allowed = int(LIMIT * share)
    # The first N calls go out at once; what counts is what can be kept up.
    steady = counted["arrivals"][allowed:]
    rate = (len(steady) - 1) / (steady[-1] - steady[0])
    trip = sum(counted["round_trips"]) / len(counted["round_trips"])
    possible = min(allowed / (1 + trip), 1 / trip)
    early, late = sizes[len(sizes) // 4], sizes[-1]
    name = f"show_all: share {share}, {fastest_ms} to {slowest_ms} ms one way"
    report.ratio(f"{name}: rate", rate, "the limit over the round trip", possible, unit="calls/s", at_least=PART)
    report.count(f"{name}: refused", counted["refused"], exactly=0)
    report.count(f"{name}: bills", printed, exactly=pages * PAGE)
    report.absolute(f"{name}: memory grown", (late - early) / 1024, unit="MiB", at_most=GROWTH_MIB)


def main() -> int:
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
        return 0
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else PAGES
    report = Report()
    for run in RUNS:
        measure(*run, pages, report)
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
