"""An account that is moved to unified mode around a reversal: nothing more is sent, and no outcome is guessed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.whole.crashes.kill_counter import SYMBOL as CRASH_SYMBOL
from tests.whole.exchange_thread import ExchangeThread
from tests.whole.opened_journal import open_files_of
from tests.whole.reversal.reversal_session import SYMBOL, USDT, Scene, scene, session
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.desk.intents.intents import SendsNothing
from tradetui.desk.intents.states import State
from tradetui.desk.reversal.execution import NotConfirmed
from tradetui.desk.reversal.outcome import Outcome, SearchStage
from tradetui.desk.reversal.preview import Target
from tradetui.desk.reversal.progress import Progress
from tradetui.exchange import capabilities
from tradetui.exchange.errors import ReadOnly, UnifiedAccount
from tradetui.profiles.load import Flags, load
from tradetui.sandbox.books.account import AccountMode
from tradetui.sandbox.handlers import unified
from tradetui.trading.holdings import Legs
from tradetui.wire.enums import Side

LONG = Target(SYMBOL, USDT, Side.BUY)
in_virtual_time = pytest.mark.looptime


def move(on: Scene, mode: AccountMode = AccountMode.UNIFIED) -> None:
    on.sandbox.exchange_state.account_modes[on.uid] = mode


def renumber(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Have interface v3 give fills other ids than v2 does."""

    def fill(call: Any, row: Mapping[str, Any]) -> dict[str, Any]:
        converted = unified._futures_fill(call, row)
        return converted | {name: f"9{converted[name]}" for name in names} | {"clientOid": ""}

    monkeypatch.setitem(unified._CONVERSIONS, "unified.fills", fill)


async def progress_until(on: Scene, stage: SearchStage) -> list[Progress]:
    """Send a reversal whose account moves as the first look arrives, and follow it to a stage."""
    preview = await on.execution.preview(LONG)
    sent = await on.execution.confirm(preview, preview.subject)
    came: list[Progress] = []
    async for progress in on.execution.follow(sent):
        came.append(progress)
        if progress.stage is stage:
            break
    return came


async def check_nothing_more_is_sent(on: Scene) -> None:
    assert on.execution.sends_nothing == (SendsNothing.UNIFIED,)
    preview = await on.execution.preview(LONG)
    assert SendsNothing.UNIFIED in on.execution.blocking_reasons(preview, preview.subject)
    posts = on.posts
    with pytest.raises(NotConfirmed, match="unified account"):
        await on.execution.confirm(preview, preview.subject)
    with pytest.raises(ReadOnly, match="only read"):
        await on.client.futures.reverse(symbol=SYMBOL, margin_coin="USDT", product_type=USDT, size=Decimal(1))
    assert on.posts == posts


@in_virtual_time
@pytest.mark.parametrize("fault", [None, "dropped-after"])
async def test_a_reversal_is_followed_to_its_end_by_the_fills_of_its_own_order(fault: str | None) -> None:
    async with scene(clear=False) as on:
        on.hold(long="2", short="0.5")
        before = on.held()
        assert isinstance(before, Legs)
        if fault is not None:
            on.sandbox.faults.plan(fault, endpoint="futures.reverse")
        on.sandbox.faults.plan("account-unified", endpoint="futures.order_detail")
        came = await progress_until(on, SearchStage.ENDED)
        assert (came[-1].outcome, came[-1].held) == (Outcome.REVERSED, on.held())
        assert on.held() == Legs(Decimal(0), before.short + before.long)
        assert on.client.is_unified and on.posts == 1
        await check_nothing_more_is_sent(on)


@in_virtual_time
async def test_while_an_account_is_moved_a_reversal_stays_open_and_the_reason_is_said() -> None:
    async with scene() as on:
        on.hold(long="2")
        on.sandbox.faults.plan("account-upgrading", endpoint="futures.order_detail")
        came = await progress_until(on, SearchStage.LEFT_OPEN)
        assert all(progress.outcome is None for progress in came)
        assert "its mode is 'upgrading'" in came[-1].sentence
        assert not on.client.is_classic and on.execution.sends_nothing == (SendsNothing.UNIFIED,)
        with pytest.raises(ReadOnly, match="only read"):
            await on.client.futures.reverse(symbol=SYMBOL, margin_coin="USDT", product_type=USDT, size=Decimal(1))
        move(on)
        await asyncio.sleep(90)
        (intent,) = on.journal.newest()
        assert (intent.state, intent.details["outcome"]) == (State.SETTLED, Outcome.REVERSED)
        assert on.posts == 1


@in_virtual_time
async def test_an_account_that_is_moved_back_is_followed_as_before() -> None:
    async with scene() as on:
        on.hold(long="2")
        on.sandbox.faults.plan("account-switching", endpoint="futures.order_detail")
        await progress_until(on, SearchStage.LEFT_OPEN)
        assert not on.client.is_classic
        move(on, AccountMode.CLASSIC)
        await asyncio.sleep(90)
        assert on.journal.newest()[0].details["outcome"] == Outcome.REVERSED
        assert on.client.is_classic and on.execution.sends_nothing == ()


@in_virtual_time
@pytest.mark.parametrize(("fault", "other_ids"), [(None, True), ("dropped-before", True), ("dropped-before", False)])
async def test_without_fills_of_its_own_order_the_outcome_is_unknown_for_that_reason(
    fault: str | None, other_ids: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if other_ids:
        renumber(monkeypatch, "execId", "orderId")
    async with scene() as on:
        on.hold(long="2")
        if fault is not None:
            on.sandbox.faults.plan(fault, endpoint="futures.reverse")
        on.sandbox.faults.plan("account-unified", endpoint="futures.order_detail")
        came = await progress_until(on, SearchStage.LEFT_OPEN)
        assert all(progress.outcome is None for progress in came)
        assert "moved to unified mode after this was sent" in came[-1].sentence
        await asyncio.sleep(300)
        (intent,) = on.journal.newest()
        assert intent.state is State.UNKNOWN, "never settled by fills that may be of before"
        assert on.execution.intents.open_scopes.holder(intent.scope) is not None
        await on.execution.release(intent.id, "looked on the exchange's page")
        assert on.journal.newest()[0].state is State.RELEASED


@in_virtual_time
async def test_a_settled_reversal_is_not_corrected_by_ids_that_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    renumber(monkeypatch, "execId")
    async with scene() as on:
        on.hold(long="2")
        on.sandbox.faults.plan("closed-only", endpoint="futures.reverse")
        (*_, end) = await on.reverse(LONG)
        assert end.outcome is Outcome.CLOSED_ONLY and not on.journal.newest()[0].details["final"]
        move(on)
        await asyncio.sleep(120)
        assert on.client.is_unified
        assert on.journal.newest()[0].state is State.SETTLED


@in_virtual_time
async def test_a_request_that_finds_the_account_moved_is_refused_and_nothing_was_done() -> None:
    async with scene() as on:
        on.hold(long="2")
        on.sandbox.faults.plan("account-unified", endpoint="futures.reverse")
        preview = await on.execution.preview(LONG)
        with pytest.raises(UnifiedAccount):
            await on.execution.confirm(preview, preview.subject)
        assert on.held() == Legs(Decimal(2)) and on.journal.newest()[0].state is State.REJECTED
        await check_nothing_more_is_sent(on)


@in_virtual_time
async def test_a_move_between_preview_and_confirming_sends_nothing() -> None:
    async with scene() as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        move(on)
        with pytest.raises(NotConfirmed):
            await on.execution.confirm(preview, preview.subject)
        assert on.posts == 0 and on.journal.newest() == []
        await check_nothing_more_is_sent(on)


@in_virtual_time
async def test_the_next_session_of_a_moved_account_takes_the_reversal_up(tmp_path: Path) -> None:
    async with scene() as on:
        on.hold(long="2")
        async with session(on, tmp_path / "journal.sqlite") as execution:
            on.sandbox.faults.plan("dropped-after", endpoint="futures.reverse")
            preview = await execution.preview(LONG)
            sent = await execution.confirm(preview, preview.subject)
        move(on)
        async with session(on, tmp_path / "journal.sqlite") as execution:
            await asyncio.sleep(90)
            intent = await execution.intents.read(sent.intent)
            assert (intent.state, intent.details["outcome"]) == (State.SETTLED, Outcome.REVERSED)


CONFIG = """
[profiles.main]
base_url = "{base_url}"
mode = "trade"
start_locked = false
product_types = ["USDT-FUTURES"]
account_kind = "ordinary"
"""


@pytest.mark.parametrize("fault", ["account-upgrading", "account-switching"])
async def test_over_loopback_a_moving_account_is_followed_once_it_has_moved(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capabilities, "ACCOUNT_PROBE_S", 0.5)
    with ExchangeThread() as exchange:
        exchange.hold("hedge", "2", "0")
        environment = exchange.environment("hedge", tmp_path, CONFIG.format(base_url=exchange.base_url))
        desk = OpenProfile(load(environment, Flags())).desk()
        assert desk.execution is not None
        try:
            await open_files_of(desk)
            async with asyncio.timeout(120):
                preview = await desk.execution.preview(Target(CRASH_SYMBOL, USDT, Side.BUY))
                exchange.sandbox.faults.plan(fault, endpoint="futures.order_detail")
                sent = await desk.execution.confirm(preview, preview.subject)
                async for progress in desk.execution.follow(sent):
                    if "in unified mode yet" in progress.sentence:
                        break
                assert desk.execution.sends_nothing == (SendsNothing.UNIFIED,)
                assert desk.account is not None
                exchange.sandbox.exchange_state.account_modes[desk.account.uid] = AccountMode.UNIFIED
                async for progress in desk.execution.follow(sent):
                    end = progress
                assert end.outcome is Outcome.REVERSED
        finally:
            await desk.stop()
