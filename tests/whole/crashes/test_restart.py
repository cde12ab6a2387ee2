"""The start after a kill: what was left behind is named at once, and nobody waits for a dead process's permits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.ui.fixtures.terminal_screen import Screen, until
from tests.whole.exchange_thread import ExchangeThread

PROFILE = """
[profiles.main]
base_url = "{base_url}"
mode = "trade"
start_locked = false
product_types = ["USDT-FUTURES"]
account_kind = "ordinary"
"""

DIES_AFTER_SENT = """
import asyncio, os, signal
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.desk.account.identity import KnownAccounts
from tradetui.desk.intents.states import State
from tradetui.exchange.clock import Moment
from tradetui.desk.intents.journal.registered_journal import open_journal
from tradetui.exchange.rate_limit.budget import Priority
from tradetui.exchange.clock import SystemClock
from tradetui.profiles.load import Flags, load
from tradetui.storage.process_life import ProcessLives
from tradetui.wire.endpoints.catalogue import CATALOGUE

profile = OpenProfile(load(os.environ, Flags()))
location = profile.journal
KnownAccounts(profile.loaded.data_dir).remember(profile.account_key, profile.account.uid)
lives = ProcessLives(location.alive_dir, "dies")
journal = open_journal(location, lives)
journal.check()
details = {
    "request": {"symbol": "BTCUSDT", "productType": "USDT-FUTURES", "marginCoin": "USDT", "side": "buy",
                "tradeSide": "Open", "size": "0.5", "clientOid": "tt-left"},
    "title": "Reverse BTCUSDT LONG", "before": {"long": "0.5", "short": "0"}, "after": [{"long": "0", "short": "0.5"}],
    "mode": "hedge_mode", "newest_fill": None,
}
now = Moment.now(SystemClock())
journal.begin("tt-left", "account", "USDT-FUTURES|BTCUSDT", "reversal", details, now)
journal.step("tt-left", State.SENT, {"stamp_ms": now.at_ms}, now)

async def take_all_permits():
    client = profile.reader()
    endpoints = [endpoint for endpoint in CATALOGUE.values() if not endpoint.writes]
    async def take(endpoint):
        while True:
            await client.budget.acquire(endpoint, Priority.INTERACTIVE, hold_s=500)
    await asyncio.wait([asyncio.ensure_future(take(endpoint)) for endpoint in endpoints], timeout=2)
    print("ready", flush=True)
    await asyncio.sleep(600)

asyncio.run(take_all_permits())
"""


def test_what_a_killed_process_left_is_named_and_its_permits_are_free(tmp_path: Path) -> None:
    with ExchangeThread() as exchange:
        exchange.hold("hedge", "0.5", "0")
        environment = exchange.environment("hedge", tmp_path, PROFILE.format(base_url=exchange.base_url))
        dying = subprocess.Popen(
            [sys.executable, "-c", DIES_AFTER_SENT],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert dying.stdout is not None
        assert dying.stdout.readline() == "ready\n"
        dying.send_signal(signal.SIGKILL)
        dying.wait()
        with Screen([sys.executable, "-m", "tradetui"], 140, 60, environment) as screen:
            with exchange.silent():  # what was left behind is named from the journal alone
                until([screen], lambda screen_now: "UNKNOWN OUTCOME BTCUSDT" in screen_now.text, "what was left behind")
            # Waiting for the dead process's permits would take the eight minutes that it took them for.
            until([screen], lambda screen_now: "LONG" in screen_now.text, "the position")
