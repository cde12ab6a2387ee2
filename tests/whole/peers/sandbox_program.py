"""The embedded exchange as a program of its own, for public clients that know it by its address alone."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pydantic import SecretStr

from tradetui.cli import main
from tradetui.commands.process.console import DONE
from tradetui.exchange import Credentials, ExchangeReader
from tradetui.wire.endpoints.reply import Reply

ROOT = Path(__file__).parents[3]


@contextmanager
def sandbox_program(*flags: str) -> Iterator[dict[str, Any]]:
    """What the program prints at its start: its address and its keys. Its market stands almost still."""
    command = [sys.executable, "-m", "tradetui", "sandbox", "--seed", "3", "--speed", "0.001", *flags]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(10)


def key_of(server: dict[str, Any], name: str) -> dict[str, Any]:
    """The key of one of its accounts."""
    return next(profile for profile in server["profiles"] if profile["name"] == name)


def show(server: dict[str, Any], name: str, *arguments: str) -> list[dict[str, Any]]:
    """The rows that `tradetui show` prints for one of its accounts."""
    key = key_of(server, name)
    environment = {
        "TRADETUI_BASE_URL": server["base_url"],
        "TRADETUI_API_KEY": key["api_key"],
        "TRADETUI_API_SECRET": key["secret"],
        "TRADETUI_PASSPHRASE": key["passphrase"],
    }
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with patch.dict(os.environ, environment), redirect_stdout(output):
        assert main(["show", *arguments, "--json"]) == DONE
    output.seek(0)
    rows: list[dict[str, Any]] = json.load(output)
    return rows


def unified_rows(server: dict[str, Any], method: str, **parameters: Any) -> list[dict[str, Any]]:
    """The rows that a method of our own client for interface v3 receives, of the unified account."""
    reply = unified_reply(server, lambda client: getattr(client.unified, method)(**parameters))
    return [dict(row.received) for row in reply.rows]


def unified_reply(server: dict[str, Any], call: Callable[[ExchangeReader], Awaitable[Reply[Any]]]) -> Reply[Any]:
    """The reply to a call of our own client, of the unified account; nothing of it is lost."""
    key = key_of(server, "unified")
    credentials = Credentials(key["api_key"], SecretStr(key["secret"]), SecretStr(key["passphrase"]))

    async def read() -> Reply[Any]:
        async with ExchangeReader(credentials, server["base_url"]) as client:
            return await call(client)

    reply = asyncio.run(read())
    assert not reply.undecodable_rows and not reply.left_out and not reply.unreadable
    return reply
