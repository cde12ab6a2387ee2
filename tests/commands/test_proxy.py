"""Commands that reach a sandbox through a real proxy, over TLS, under a name that only the proxy resolves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import ssl
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Point
from tests.exchange.certificates import certificate_of_authority
from tests.exchange.proxy_program import EXCHANGE, running_proxy
from tradetui.cli import main
from tradetui.commands.process.console import ATTENTION, DONE, USAGE

ROOT = Path(__file__).parents[2]


@contextlib.asynccontextmanager
async def tls_in_front_of(port: int, context: ssl.SSLContext) -> AsyncIterator[int]:
    """The port of a server that takes TLS and hands what is inside to another port of this machine."""

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while part := await reader.read(65536):
                writer.write(part)
        writer.close()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(copy(reader, back), copy(onward, writer))

    server = await asyncio.start_server(connection, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def tradetui(*arguments: str, **environ: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tradetui", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, **environ},
    )
    output, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, output.decode(), errors.decode()


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_commands_go_through_a_proxy(point: Point, server: dict[str, Any], scheme: str, tmp_path: Path) -> None:
    point()
    context, ca_file = certificate_of_authority(tmp_path, EXCHANGE)
    sandbox_port = int(server["base_url"].rpartition(":")[2])
    async with (
        tls_in_front_of(sandbox_port, context) as tls_port,
        running_proxy(scheme, "trader", "canary-password") as proxy_port,
    ):
        exchange = {"TRADETUI_BASE_URL": f"https://{EXCHANGE}:{tls_port}", "SSL_CERT_FILE": str(ca_file)}
        address = f"{scheme}://127.0.0.1:{proxy_port}"
        with_password = f"{scheme}://trader:canary-password@127.0.0.1:{proxy_port}"
        log_file = tmp_path / "tradetui.log"
        code, output, errors = await tradetui(
            *("doctor", "--json", "--log", str(log_file)), ALL_PROXY=with_password, **exchange
        )
        checks = {check["check"]: check for check in json.loads(output)}
        assert code == DONE, output
        assert checks["proxy"]["found"] == f"{address} (from ALL_PROXY)"
        assert checks["certificates"]["found"] == f"{ca_file} (from SSL_CERT_FILE)"
        assert checks["connection"]["found"].endswith(f"answers through {address}")
        assert all(checks[name]["ok"] for name in ("key", "orders", "fills", "triggers", "permissions", "clock"))
        assert "futures orders: read and write" in checks["permissions"]["found"]
        for text in (output, errors, log_file.read_text()):
            assert "canary-password" not in text

        if scheme == "socks5":
            return  # what the proxy or the certificate refuses reads the same
        code, output, _ = await tradetui("show", "positions", "--json", ALL_PROXY=with_password, **exchange)
        assert code == DONE and json.loads(output)
        # The same proxy without its password.
        code, output, _ = await tradetui("doctor", "--json", "--proxy", address, **exchange)
        checks = {check["check"]: check for check in json.loads(output)}
        assert code == ATTENTION
        assert "the proxy cannot be reached" in checks["connection"]["found"]
        assert "user and password" in checks["connection"]["found"]
        # Without the file of certificates the exchange is not who it says it is.
        code, output, _ = await tradetui(
            "doctor", "--json", ALL_PROXY=with_password, TRADETUI_BASE_URL=exchange["TRADETUI_BASE_URL"]
        )
        checks = {check["check"]: check for check in json.loads(output)}
        assert "TLS fails" in checks["connection"]["found"]
        assert "certificate was refused" in checks["connection"]["found"]


@pytest.mark.parametrize(
    ("base_url", "proxy", "parts"),
    [
        ("https://exchange.invalid", "http://127.0.0.1:1", ("the proxy cannot be reached", "http://127.0.0.1:1")),
        ("https://exchange.invalid", "none", ("its name cannot be resolved", "exchange.invalid")),
        ("http://127.0.0.1:1", "none", ("the exchange does not answer", "127.0.0.1:1")),
    ],
)
def test_doctor_names_the_hop_that_fails_and_says_ok_of_nothing_that_it_could_not_ask(
    point: Point, capsys: pytest.CaptureFixture[str], base_url: str, proxy: str, parts: tuple[str, ...]
) -> None:
    point(TRADETUI_BASE_URL=base_url)
    assert main(["doctor", "--proxy", proxy]) == ATTENTION
    marks = {line.split()[1]: line for line in capsys.readouterr().out.splitlines()}
    assert marks["connection"].startswith("FAIL") and all(word in marks["connection"] for word in parts)
    for name in ("account", "key", "orders", "fills", "triggers", "permissions", "clock"):
        assert marks[name].startswith("--") and "not checked" in marks[name]


@pytest.mark.parametrize(
    ("proxy", "remedy"),
    [
        ("http://trader:canary@127.0.0.1:1", "into the profile"),
        ("ftp://trader@127.0.0.1:1", "socks5://"),
        ("127.0.0.1:1", "http://"),
        ("http://", "http://127.0.0.1:3128"),
    ],
)
@pytest.mark.parametrize("command", ["doctor", "show accounts", "preview BTCUSDT", "monitor", "journal", "init"])
def test_a_proxy_that_cannot_be_used_ends_every_command_with_the_remedy(
    point: Point, capsys: pytest.CaptureFixture[str], command: str, proxy: str, remedy: str
) -> None:
    point(TRADETUI_BASE_URL="https://exchange.invalid")
    assert main([*command.split(), "--proxy", proxy]) == USAGE
    output = capsys.readouterr()
    assert "proxy" in output.err and remedy in output.err
    assert "canary" not in output.err + output.out


@pytest.mark.parametrize("command", ["doctor", "show accounts", "monitor", ""])
def test_what_is_wrong_with_the_environments_route_ends_every_command(
    point: Point, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    point(TRADETUI_BASE_URL="https://exchange.invalid", all_proxy="socks4://trader:canary@127.0.0.1:1")
    assert main(command.split()) == USAGE
    errors = capsys.readouterr().err
    assert "all_proxy" in errors and "--proxy" in errors and "canary" not in errors
    monkeypatch.delenv("all_proxy")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "absent.pem"))
    assert main(command.split()) == USAGE
    errors = capsys.readouterr().err
    assert "SSL_CERT_FILE" in errors and "absent.pem" in errors and "unset the variable" in errors
