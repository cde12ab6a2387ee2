"""The embedded exchange behind a real HTTP server, on this machine's loopback unless told otherwise."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from tradetui.sandbox.app import Sandbox
from tradetui.sandbox.options import SandboxOptions
from tradetui.sandbox.population import build_world

CATCH_UP_S = 1.0


class _Server(uvicorn.Server):
    """Tells when it accepts connections; its signals are the caller's business."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


class _Protocol(H11Protocol):
    """Lets the application end its connection, as a network would."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.app_state = {**self.app_state, "transport": transport}
        super().connection_made(transport)


def wall_ms() -> int:
    """Unix milliseconds of this machine."""
    return time.time_ns() // 1_000_000


def sandbox_from(options: SandboxOptions, now: Callable[[], int] = wall_ms) -> Sandbox:
    """A sandbox whose world begins now."""
    return Sandbox(build_world(options.seed, now(), speed=options.speed), now, options)


async def serving(sandbox: Sandbox, host: str, port: int, on_ready: Callable[[str], None], stop: asyncio.Event) -> None:
    """Serve until `stop` is set; `on_ready` is given the base URL once connections are accepted.

    Raises:
        OSError: the address cannot be bound.
    """
    listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    # Connections inherit it. asyncio sets it only on sockets that name TCP; a reply in two parts waits 40 ms without.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        sandbox, http=_Protocol, log_level="critical", access_log=False, lifespan="on", timeout_keep_alive=60
    )
    server = _Server(config)
    running = asyncio.create_task(server._serve(sockets=[listener]))
    ready = asyncio.create_task(server.ready.wait())
    await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
    shown = f"[{host}]" if ":" in host else host
    on_ready(f"http://{shown}:{listener.getsockname()[1]}")
    stopping = asyncio.create_task(stop.wait())
    while not (running.done() or stopping.done()):
        # Nobody asking for hours must not make the first one who does wait for all that happened since.
        sandbox.catch_up()
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED, timeout=CATCH_UP_S)
    server.should_exit = True
    server.force_exit = True
    await running
    stopping.cancel()


def serve(options: SandboxOptions, host: str, port: int, stream: TextIO = sys.stdout) -> None:
    """Serve until SIGINT or SIGTERM; the first line written tells address and keys as JSON."""
    asyncio.run(_until_signal(sandbox_from(options), host, port, stream))


async def _until_signal(sandbox: Sandbox, host: str, port: int, stream: TextIO) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)

    def tell(base_url: str) -> None:
        first: dict[str, Any] = {"base_url": base_url, "profiles": [key.public() for key in sandbox.world.keys]}
        stream.write(json.dumps(first) + "\n")
        stream.flush()

    await serving(sandbox, host, port, tell, stop)
