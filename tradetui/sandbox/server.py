"""The embedded exchange behind a real HTTP server, by default on this machine's loopback."""

from __future__ import annotations

import asyncio
import errno
import json
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import TextIO

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from tradetui.sandbox.app import Sandbox, SandboxOptions
from tradetui.sandbox.seed_accounts import build_exchange_state

CATCH_UP_S = 1.0
LAST_PORT = 65_535


class AddressUnusable(OSError):
    """The address cannot be bound; other system failures are other errors."""


class _Server(uvicorn.Server):
    """Reports when it accepts connections; the caller handles signals."""

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
    return time.time_ns() // 1_000_000


async def serving(sandbox: Sandbox, host: str, port: int, on_ready: Callable[[str], None], stop: asyncio.Event) -> None:
    """Serve until `stop` is set; `on_ready` gets the base URL once connections are accepted.

    Raises ValueError for an impossible port, AddressUnusable if the address cannot be bound.
    """
    listener = _listener(host, port)
    config = uvicorn.Config(
        sandbox, http=_Protocol, log_level="critical", access_log=False, lifespan="off", timeout_keep_alive=60
    )
    server = _Server(config)
    running = asyncio.create_task(server._serve(sockets=[listener]))
    ready, stopping = asyncio.create_task(server.ready.wait()), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            on_ready(_base_url(listener))
        while not (running.done() or stopping.done()):
            # Catch up regularly: after hours without calls the first caller must not wait for all steps since.
            sandbox.catch_up()
            await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED, timeout=CATCH_UP_S)
    finally:
        # Clients still waiting for a reply are cut off: a client that holds on must not keep the port.
        server.should_exit = server.force_exit = True
        for waiting in (ready, stopping):
            waiting.cancel()
        try:
            await running
        finally:
            listener.close()


def _listener(host: str, port: int) -> socket.socket:
    """Open a listening socket; an IPv6 address may be in brackets. Raises ValueError, AddressUnusable."""
    check_port(port)
    address = host.removeprefix("[").removesuffix("]")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        listener = socket.create_server((address, port), family=family)
    except OSError as problem:
        raise AddressUnusable(problem.errno, problem.strerror) from None
    except (TypeError, UnicodeError):  # a name that cannot be looked up never reaches the system
        raise AddressUnusable(errno.EINVAL, "it is neither a host name nor an address") from None
    # Connections inherit it. asyncio sets it only on sockets that name TCP; without it a reply in two parts waits 40
    # ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def check_port(port: int) -> None:
    """Raise ValueError, with the valid range, for an invalid port number."""
    if not 0 <= port <= LAST_PORT:
        raise ValueError(f"port must be a number from 0 to {LAST_PORT}, not {port}; 0 takes one that is free")


def _base_url(listener: socket.socket) -> str:
    address, port = listener.getsockname()[:2]
    return f"http://[{address}]:{port}" if listener.family == socket.AF_INET6 else f"http://{address}:{port}"


def serve(options: SandboxOptions, host: str, port: int, stream: TextIO = sys.stdout) -> None:
    """Serve until SIGINT or SIGTERM, which are not errors; the first line written has address and keys as JSON.

    Raises ValueError for an impossible port, AddressUnusable if the address cannot be bound, and OSError if the first
    line cannot be written.
    """
    check_port(port)
    asyncio.run(_until_signal(options, host, port, stream))


async def _until_signal(options: SandboxOptions, host: str, port: int, stream: TextIO) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    sandbox = Sandbox(build_exchange_state(options.seed, wall_ms(), speed=options.speed), wall_ms, options)

    def print_address(base_url: str) -> None:
        first = {"base_url": base_url, "profiles": [key.public() for key in sandbox.exchange_state.keys]}
        try:
            stream.write(json.dumps(first) + "\n")
            stream.flush()
        except BrokenPipeError:
            # Nobody can learn the address now.
            stop.set()

    await serving(sandbox, host, port, print_address, stop)
