"""A proxy in a process of its own, which alone knows where the exchange of a test is.

    python -m tests.exchange.proxy_program http|socks5 [USER PASSWORD]

prints its port. It resolves EXCHANGE to this machine; in the test's own process there is no such name.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

EXCHANGE = "exchange.test"
"""A name below `.test` is in no DNS (RFC 6761)."""


async def serve(kind: str, user: str | None = None, password: str | None = None) -> None:
    import anyio
    import tiny_proxy

    handlers = {"http": tiny_proxy.HttpProxyHandler, "socks5": tiny_proxy.Socks5ProxyHandler}
    handler = handlers[kind](username=user, password=password)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    print(listener.extra(anyio.abc.SocketAttribute.local_port), flush=True)  # noqa: T201
    await listener.serve(handler.handle)


def resolve_exchange_here() -> None:
    getaddrinfo = socket.getaddrinfo

    def resolve(host: Any, *args: Any, **options: Any) -> Any:
        known = host in (EXCHANGE, EXCHANGE.encode())
        return getaddrinfo("127.0.0.1" if known else host, *args, **options)

    socket.getaddrinfo = resolve


@contextlib.asynccontextmanager
async def running_proxy(kind: str, *credentials: str) -> AsyncIterator[int]:
    """The port of a proxy that runs in another process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.exchange.proxy_program",
        kind,
        *credentials,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
        env=dict(os.environ),
    )
    assert process.stdout is not None
    try:
        yield int(await process.stdout.readline())
    finally:
        process.terminate()
        await process.wait()


if __name__ == "__main__":
    resolve_exchange_here()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(*sys.argv[1:]))
