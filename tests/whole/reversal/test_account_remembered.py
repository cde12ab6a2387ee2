"""An order nobody knows the end of locks its symbol also on a day when the exchange does not tell whose key it is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.whole.crashes.kill_counter import SYMBOL
from tests.whole.exchange_thread import ExchangeThread
from tests.whole.opened_journal import open_files_of
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.desk.intents.states import State
from tradetui.desk.reversal.execution import Execution, NotConfirmed
from tradetui.desk.reversal.preview import Preview, Target
from tradetui.profiles.load import Flags, load
from tradetui.wire.enums import Side
from tradetui.wire.product_types import ProductType

CONFIG = """
[profiles.main]
base_url = "{base_url}"
mode = "trade"
start_locked = false
product_types = ["USDT-FUTURES"]
account_kind = "ordinary"
"""
TARGET = Target(SYMBOL, ProductType.USDT_FUTURES, Side.BUY)


@contextlib.asynccontextmanager
async def session(environment: dict[str, str]) -> AsyncIterator[tuple[Execution, Preview]]:
    """A session whose journal has been opened, and a preview in it."""
    desk = OpenProfile(load(environment, Flags())).desk()
    assert desk.execution is not None
    try:
        await open_files_of(desk)
        async with asyncio.timeout(120):
            yield desk.execution, await desk.execution.preview(TARGET)
    finally:
        await desk.stop()


async def sent_into_the_dark(exchange: ExchangeThread, execution: Execution, preview: Preview) -> None:
    """The order never arrives, and whether it did is not known."""
    exchange.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
    sent = await execution.confirm(preview, preview.subject)
    assert sent.progress.state is State.UNKNOWN


async def test_the_next_session_is_locked_out_by_the_same_journal(tmp_path: Path) -> None:
    with ExchangeThread() as exchange:
        exchange.hold("hedge", "2", "0")
        environment = exchange.environment("hedge", tmp_path, CONFIG.format(base_url=exchange.base_url))
        async with session(environment) as (execution, preview):
            await sent_into_the_dark(exchange, execution, preview)
        # From now on the exchange has nothing but its thirteen endpoints, and none of them names the account.
        exchange.sandbox.options = replace(exchange.sandbox.options, core_only=True)
        async with session(environment) as (execution, preview):
            assert any("not settled" in reason for reason in execution.blocking_reasons(preview, preview.subject))
            with pytest.raises(NotConfirmed, match="not settled"):
                await execution.confirm(preview, preview.subject)
        assert exchange.posts == 0, "the first was dropped on its way, and there was no second"
        assert len(list((tmp_path / "data").glob("accounts/*/journal.sqlite"))) == 1


async def test_what_cannot_be_known_of_an_account_is_said(tmp_path: Path) -> None:
    with ExchangeThread(core_only=True) as exchange:
        exchange.hold("hedge", "2", "0")
        environment = exchange.environment("hedge", tmp_path, CONFIG.format(base_url=exchange.base_url))
        async with session(environment) as (execution, _):
            assert "no journal yet" in execution.intents.notice
            assert "does not lock the symbol here. Set uid" in execution.intents.notice
