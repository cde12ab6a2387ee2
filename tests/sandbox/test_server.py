"""The HTTP server: signals end it cleanly, its port is free at once, and it serves on either internet protocol."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.sandbox.signed_requests import NOW_MS
from tradetui.sandbox.app import Sandbox, SandboxOptions
from tradetui.sandbox.gateway.faults import CallFault
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.sandbox.server import serve, serving

TIME = "/api/v2/public/time"
SERVE = """
import sys
from tradetui.sandbox.app import SandboxOptions
from tradetui.sandbox.server import serve
serve(SandboxOptions(delay_ms=60_000), sys.argv[1], int(sys.argv[2]))
"""


@contextmanager
def served(host: str = "127.0.0.1", port: int = 0) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A server in a process of its own, and what it told in its first line."""
    command = [sys.executable, "-c", SERVE, host, str(port)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


def port_of(first: dict[str, Any]) -> int:
    port: int = urlsplit(first["base_url"]).port or 0
    return port


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """How a process that was told to end did so: its exit code and what it still wrote."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_and_frees_the_port(number: signal.Signals) -> None:
    with served() as (process, first):
        assert httpx.get(first["base_url"] + TIME).json()["code"] == "00000"
        process.send_signal(number)
        assert ended(process) == (0, "", "")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port_of(first)))
    with served(port=port_of(first)) as (process, again):
        assert again["base_url"] == first["base_url"]
        process.send_signal(number)
        assert ended(process) == (0, "", "")


def test_clients_that_hold_on_do_not_keep_it() -> None:
    with served() as (process, first), httpx.Client(base_url=first["base_url"]) as kept_alive:
        assert kept_alive.get(TIME).status_code == 200
        with socket.create_connection(("127.0.0.1", port_of(first))) as half_request:
            half_request.sendall(b"POST /api/v2/mix/order/click-backhand HTTP/1.1\r\nContent-Length: 99\r\n")
            process.terminate()
            process.send_signal(signal.SIGINT)
            assert ended(process) == (0, "", "")
    with socket.create_server(("127.0.0.1", port_of(first))):
        pass


async def test_it_ends_while_an_answer_is_delayed() -> None:
    exchange_state = build_exchange_state(7, NOW_MS)
    sandbox = Sandbox(exchange_state, lambda: NOW_MS, SandboxOptions(delay_ms=60_000))
    stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
    server = asyncio.create_task(serving(sandbox, "127.0.0.1", 0, ready.set_result, stop))
    base_url = await ready
    arrived = asyncio.Event()
    chosen = sandbox.faults.take_for_call

    def delayed(endpoint: str) -> CallFault | None:
        arrived.set()
        return chosen(endpoint)

    sandbox.faults.take_for_call = delayed  # type: ignore[method-assign]
    sandbox.faults.plan("delay")
    async with httpx.AsyncClient(base_url=base_url) as client:
        asking = asyncio.create_task(client.get(TIME))
        await arrived.wait()
        stop.set()
        await server
        asking.cancel()
    with socket.create_server(("127.0.0.1", urlsplit(base_url).port or 0)):
        pass


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_it_serves_on_ipv6(host: str) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    with served(host) as (process, first):
        assert first["base_url"] == f"http://[::1]:{port_of(first)}"
        assert httpx.get(first["base_url"] + TIME).json()["code"] == "00000"
        process.terminate()
        assert ended(process) == (0, "", "")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("::1", port_of(first)))


async def test_a_caller_over_ipv6_is_known_by_its_address() -> None:
    exchange_state = build_exchange_state(7, NOW_MS)
    sandbox = Sandbox(exchange_state, lambda: NOW_MS)
    addresses: list[str] = []
    answer = sandbox.answer

    def seeing(request: Any, fault: CallFault | None = None) -> Any:
        addresses.append(request.address)
        return answer(request, fault)

    sandbox.answer = seeing  # type: ignore[method-assign]
    stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
    server = asyncio.create_task(serving(sandbox, "::1", 0, ready.set_result, stop))
    await asyncio.wait({server, ready}, return_when=asyncio.FIRST_COMPLETED)
    if server.done() and isinstance(server.exception(), OSError):
        pytest.skip("this machine has no IPv6 loopback")
    async with httpx.AsyncClient(base_url=await ready) as client:
        await client.get(TIME)
    stop.set()
    await server
    assert addresses == ["::1"]


@pytest.mark.parametrize("port", [-1, 65_536, 1_000_000])
def test_a_port_that_is_none_is_refused_in_a_sentence(port: int) -> None:
    rule = f"port must be a number from 0 to 65535, not {port}; 0 takes one that is free"
    with pytest.raises(ValueError, match=rule):
        serve(SandboxOptions(), "127.0.0.1", port)


async def test_serving_refuses_it_too_and_leaves_nothing_behind() -> None:
    sandbox = Sandbox(build_exchange_state(7, NOW_MS), lambda: NOW_MS)
    with pytest.raises(ValueError, match="from 0 to 65535"):
        await serving(sandbox, "127.0.0.1", 65_536, print, asyncio.Event())
    assert len(asyncio.all_tasks()) == 1


async def test_an_address_in_use_is_an_os_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        sandbox = Sandbox(build_exchange_state(7, NOW_MS), lambda: NOW_MS)
        with pytest.raises(OSError, match="in use"):
            await serving(sandbox, "127.0.0.1", taken.getsockname()[1], print, asyncio.Event())


async def test_a_failing_start_frees_the_port() -> None:
    sentences: list[str] = []

    def fail(base_url: str) -> None:
        sentences.append(base_url)
        raise RuntimeError("nobody is there")

    sandbox = Sandbox(build_exchange_state(7, NOW_MS), lambda: NOW_MS)
    with pytest.raises(RuntimeError, match="nobody"):
        await serving(sandbox, "127.0.0.1", 0, fail, asyncio.Event())
    with socket.create_server(("127.0.0.1", urlsplit(sentences[0]).port or 0)):
        pass


def test_where_nobody_reads_its_first_line_it_ends() -> None:
    command = [sys.executable, "-c", SERVE, "127.0.0.1", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as one:
        assert one.stdout is not None and one.stderr is not None
        one.stdout.close()
        try:
            one.wait(120)
            assert b"Traceback" not in one.stderr.read()
        finally:
            one.kill()
