"""Runs many commands one after the other against an exchange whose every text is hostile; started by tests.

    python -m tests.commands.hostile_commands DIRECTORY FILE

FILE holds the command lines as a JSON list of lists of words.

After each command its number and exit code stand on a line of their own in standard output and standard error.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import return_permits_soon
from tests.ui.fixtures.hostile_exchange import HostileExchange, build_small_sandbox
from tests.ui.fixtures.hostile_text import HOSTILE
from tradetui.cli import main
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.states import State
from tradetui.exchange.clock import Moment
from tradetui.profiles.load import Flags, load
from tradetui.sandbox.server import serving

MARK = "=== end of command"
BROKER = ("transfers", "email")


class ServedHostileExchange(HostileExchange):
    """The hostile exchange as the HTTP server takes one."""

    def catch_up(self) -> None:
        """Let the market move."""
        self._sandbox.catch_up()


def serve_in_thread(exchange: Any) -> str:
    """Serve until the process ends; the base URL."""
    ready, base_urls = threading.Event(), []

    def on_ready(base_url: str) -> None:
        base_urls.append(base_url)
        ready.set()

    async def run() -> None:
        await serving(exchange, "127.0.0.1", 0, on_ready, asyncio.Event())

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
    assert ready.wait(30), "the exchange never accepted connections"
    return base_urls[0]


def write_hostile_journal() -> None:
    """An unsettled intent with every text of it hostile, in the journal of the account."""
    file = OpenProfile(load(os.environ, Flags())).journal.file
    assert file is not None
    journal = Journal(file)
    text = "".join(HOSTILE)
    journal.begin(
        "tt-1", file.parent.name, "USDT-FUTURES|BTCUSDT", "reversal", {"title": text, "symbol": text}, Moment(1)
    )
    journal.step("tt-1", State.SENT, {"next": text, "message": text}, Moment(2))
    journal.close()


def run_all(directory: Path, commands: list[list[str]]) -> None:
    """Run each command on the account that it suits."""
    return_permits_soon(pytest.MonkeyPatch())
    sandbox = build_small_sandbox()
    sandbox.options = replace(sandbox.options, limits=False)
    exchange = ServedHostileExchange(sandbox)
    os.environ["TRADETUI_BASE_URL"] = serve_in_thread(exchange)
    os.environ |= {"TRADETUI_DATA_DIR": str(directory / "data"), "TRADETUI_RUNTIME_DIR": str(directory / "run")}
    os.environ |= {"XDG_CONFIG_HOME": str(directory / "config"), "HOME": str(directory)}
    use_account(exchange, "hedge")
    write_hostile_journal()
    for number, command in enumerate(commands):
        use_account(exchange, "broker" if set(BROKER) & set(command) else "hedge")
        try:
            code: object = main(command)
        except SystemExit as ended:
            code = ended.code
        for stream in (sys.stdout, sys.stderr):
            print(f"\n{MARK} {number}: {code}", file=stream, flush=True)


def use_account(exchange: HostileExchange, name: str) -> None:
    """Point the environment at an account of the exchange."""
    key = next(key for key in exchange.exchange_state.keys if key.name == name)
    os.environ |= {"TRADETUI_API_KEY": key.api_key, "TRADETUI_API_SECRET": key.secret}
    os.environ["TRADETUI_PASSPHRASE"] = key.passphrase


if __name__ == "__main__":
    run_all(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")))
