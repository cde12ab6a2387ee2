"""Every key and every palette command is pressed, and nothing but GET leaves the process.

This holds in monitor mode, and for a unified account whose profile may trade and create.
"""

from __future__ import annotations

import asyncio
import string
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partialmethod
from pathlib import Path
from unittest.mock import patch

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from tests.ui.fixtures.virtual_time import drawn_when_looked_at
from tests.whole.crashes.kill_counter import SYMBOL
from tests.whole.exchange_thread import ExchangeThread
from tests.whole.opened_journal import open_files_of
from tests.whole.sent_bytes import outgoing_requests
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.desk.reversal.preview import Target
from tradetui.profiles.load import Flags, load
from tradetui.ui.application.app import TradeApp
from tradetui.ui.application.palette import Actions
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.settings.ui_settings import ProfileChoice, UiSettings
from tradetui.wire.enums import Side
from tradetui.wire.product_types import ProductType

PROFILE = """
[profiles.watched]
base_url = "{base_url}"
mode = "trade"
start_locked = false
account_admin = true
product_types = ["USDT-FUTURES"]
budget_share = 1.0
max_reversal_value = 100000000
"""
PATIENCE_S = 120.0
"""How long a busy machine may take over one key."""
ENDS_IT = {"q", "ctrl+q", "ctrl+c", "ctrl+z"}
BOUND = tuple(dict.fromkeys(key.strip() for action in Action for key in action.keys.split(",")))
KEYS = tuple(
    dict.fromkeys(
        key.strip()
        for keys in (
            ",".join(BOUND),
            ",".join(string.ascii_letters + string.digits),
            "enter,tab,shift+tab,space,delete,backspace,plus,minus,full_stop,colon",
            ",".join(f"f{number}" for number in range(1, 13)),
            ",".join(f"ctrl+{letter}" for letter in string.ascii_lowercase),
        )
        for key in keys.split(",")
        if key.strip() not in ENDS_IT
    )
)


@pytest.fixture
def exchange() -> Iterator[ExchangeThread]:
    with ExchangeThread() as running:
        running.hold("hedge", "2", "0.5")
        yield running


def environment_of(exchange: ExchangeThread, folder: Path, account: str = "hedge") -> dict[str, str]:
    return exchange.environment(account, folder, PROFILE.format(base_url=exchange.base_url))


@asynccontextmanager
async def session(
    exchange: ExchangeThread, folder: Path, account: str, flags: Flags
) -> AsyncIterator[tuple[TradeApp, Pilot[None]]]:
    loaded = load(environment_of(exchange, folder, account), flags)
    choices = [ProfileChoice(name, lambda: OpenProfile(loaded).desk()) for name in ("watched", "again")]
    access = "MONITOR" if loaded.read_only else "TRADE"
    app = TradeApp(UiSettings(environment="LIVE", access=access, profiles=choices))

    async def a_moment(*_: float) -> None:
        """Textual would wait until this process rests, and the exchange in its other thread never does."""
        await asyncio.sleep(0.01)

    patient = partialmethod(Pilot._wait_for_screen, PATIENCE_S)
    with (
        drawn_when_looked_at(),
        patch("textual.pilot.wait_for_idle", a_moment),
        patch.object(Pilot, "_wait_for_screen", patient),
    ):
        async with running(app) as pilot:
            yield app, pilot


@asynccontextmanager
async def running(app: TradeApp) -> AsyncIterator[Pilot[None]]:
    """The application once it shows positions."""
    async with app.run_test(size=(120, 36)) as pilot:
        async with asyncio.timeout(PATIENCE_S):
            while app.desk is None or not app.desk.positions.snapshot.rows:
                await pilot.pause(0.05)
        yield pilot


async def back(app: TradeApp, pilot: Pilot[None]) -> None:
    """Close whatever was opened."""
    for _ in range(10):
        if app.screen is app.main:
            return
        await pilot.press("escape")
    assert app.screen is app.main, f"{app.screen} does not close"


async def press_every_key(app: TradeApp, pilot: Pilot[None]) -> None:
    """Every key on the main screen, and those that act on a row in each panel."""
    for key in KEYS:
        await pilot.press(key)
        await back(app, pilot)
    for panel in "1345":
        for key in ("R", "L", "enter", "u", "space", "P"):
            await pilot.press(panel, key)
            await back(app, pilot)


async def run_every_palette_command(app: TradeApp, pilot: Pilot[None]) -> None:
    """Everything that the palette offers; that Enter runs what it lists is proven in tests/ui/application."""
    entries = [entry for entry in Actions(app.screen)._entries() if entry.name != "Quit"]
    assert {"Reverse", "Lock"} <= {entry.name for entry in entries}
    for entry in entries:
        app.call_later(entry.run)
        await pilot.press("enter")
        await back(app, pilot)


async def press_every_key_in_lookups(app: TradeApp, pilot: Pilot[None]) -> None:
    for table in KINDS_OF_LOOKUP:
        await press_every_key_in_a_lookup(table, app, pilot)


async def press_every_key_in_a_lookup(table: str, app: TradeApp, pilot: Pilot[None]) -> None:
    """A lookup opened by its key, with every bound key pressed there."""
    opened = await open_lookup(table, app, pilot)
    for key in sorted({*BOUND, "enter", "tab"} - ENDS_IT):
        if app.screen is not opened:
            await back(app, pilot)
            opened = await open_lookup(table, app, pilot)
        await pilot.press(key)
    await back(app, pilot)


async def open_lookup(table: str, app: TradeApp, pilot: Pilot[None]) -> Screen[object]:
    """The screen of a lookup."""
    assert app.main is not None
    await pilot.press(app.main.key_named(Action(table)))
    async with asyncio.timeout(PATIENCE_S):
        while app.screen is app.main:
            await pilot.pause(0.01)
    return app.screen


KINDS_OF_LOOKUP = ("spot-fills", "email")
"""One that lists rows at once, and one that asks first; the others are of the first kind, and their keys open them."""
DEEDS: Mapping[str, Callable[[TradeApp, Pilot[None]], Awaitable[None]]] = {
    "every key": press_every_key,
    "every palette command": run_every_palette_command,
    "every key in lookups": press_every_key_in_lookups,
}
"""What is done, in parts that can run beside each other: most of it waits for the screen."""


@pytest.mark.parametrize(
    ("account", "flags", "deed"),
    [
        *(("hedge", Flags(read_only=True), deed) for deed in DEEDS),  # the flag beats a profile that may trade
        *(("unified", Flags(), deed) for deed in ("every key", "every palette command")),
    ],
)
async def test_nothing_but_get_leaves(
    exchange: ExchangeThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, account: str, flags: Flags, deed: str
) -> None:
    monkeypatch.chdir(tmp_path)  # a table is exported into the working directory
    with outgoing_requests() as written:
        async with session(exchange, tmp_path, account, flags) as (app, pilot):
            await DEEDS[deed](app, pilot)
            await pilot.press("q")
    assert len(written) > 20, "the screen has read"
    others = [chunk.data[:120] for chunk in written if not chunk.data.startswith(b"GET ")]
    assert not others
    assert {method for method, _ in exchange.sandbox.counts if method != ""} == {"GET"}


async def test_the_same_eyes_see_a_post(exchange: ExchangeThread, tmp_path: Path) -> None:
    desk = OpenProfile(load(environment_of(exchange, tmp_path), Flags())).desk()
    execution = desk.execution
    assert execution is not None
    with outgoing_requests() as written:
        await open_files_of(desk)
        preview = await execution.preview(Target(SYMBOL, ProductType.USDT_FUTURES, Side.BUY))
        await execution.confirm(preview)
        await desk.stop()
    assert sum(chunk.data.startswith(b"POST ") for chunk in written) == 1
