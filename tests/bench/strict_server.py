"""A server that takes 10 calls in any sliding second, counted when they arrive, behind a line with jitter.

    python -m tests.bench.strict_server SLOWEST_MS

prints its port, then answers; `/counted` tells what arrived and what was refused.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from tests.bench.loopback import listen

Message = MutableMapping[str, Any]

LIMIT = 10
FASTEST_MS = 20


class StrictServer:
    def __init__(self, slowest_ms: float, seed: int = 1) -> None:
        self.slowest = slowest_ms / 1000
        self.chance = random.Random(seed)
        self.recent: deque[float] = deque()
        self.accepted: dict[str, int] = {}
        self.refused = 0
        self.ways: list[float] = []

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] == "/counted":
            await answer(
                send, 200, {"accepted": self.accepted, "refused": self.refused, "round_trip_s": self.round_trip_s}
            )
            return
        await asyncio.sleep(self.one_way())
        now = time.monotonic()
        while self.recent and now - self.recent[0] >= 1.0:
            self.recent.popleft()
        if len(self.recent) >= LIMIT:
            self.refused += 1
            status, code = 429, "429"
        else:
            self.recent.append(now)
            who = dict(scope["headers"]).get(b"locale", b"").decode()
            self.accepted[who] = self.accepted.get(who, 0) + 1
            status, code = 200, "00000"
        await asyncio.sleep(self.one_way())
        await answer(send, status, {"code": code, "msg": "", "requestTime": time.time_ns() // 1_000_000, "data": []})

    def one_way(self) -> float:
        way = self.chance.uniform(FASTEST_MS / 1000, self.slowest)
        self.ways.append(way)
        return way

    @property
    def round_trip_s(self) -> float:
        """The mean of the round trips so far."""
        return 2 * sum(self.ways) / max(1, len(self.ways))


async def answer(send: Callable[[Message], Awaitable[None]], status: int, content: Any) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(content).encode()})


def main() -> None:
    import uvicorn

    listening = listen()
    print(listening.getsockname()[1], flush=True)
    app = StrictServer(float(sys.argv[1]))
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_keep_alive=60)
    asyncio.run(uvicorn.Server(config).serve([listening]))


if __name__ == "__main__":
    main()
