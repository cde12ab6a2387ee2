"""Orders that were to go with a position and still wait: the outcome has them first, the main screen until the end."""

from __future__ import annotations

import asyncio
import random
from decimal import Decimal

import pytest
from textual.pilot import Pilot

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, newest_message
from tests.ui.fixtures.reversal_dialog import opened, press_confirm, rows, text_in_one_line
from tradetui.sandbox.books.futures_account import FuturesBook
from tradetui.sandbox.books.orders import trigger_row
from tradetui.ui.intents.reversal.dialog import ReversalDialog

pytestmark = pytest.mark.looptime
SIZE = (140, 60)
AGAINST = "ADDS TO THE NEW"
HIDES = "! Esc hides it"


async def previewed(stage: AppOnFewRows, pilot: Pilot[None], *, fault: str | None = None) -> FuturesBook:
    """The dialog on the first position of a one-way account, which one stop protects."""
    execution, position = stage.desk.execution, stage.desk.positions.snapshot.rows[0]
    assert execution is not None and position.leg is not None
    exchange_state = stage.sandbox.exchange_state
    uid = next(key.uid for key in exchange_state.keys if key.name == "one-way")
    book = exchange_state.book(uid, str(position.product_type))
    held = book.holdings[position.symbol, str(position.leg)]
    book.live_triggers.clear()
    book.orders.clear()
    stop = trigger_row(
        spec=held.spec,
        plan_type="pos_loss",
        order_id="77",
        mode=book.mode,
        leg=held.leg,
        size=held.size,
        trigger_price=held.spec.price(held.entry * (Decimal("0.7") if held.leg == "long" else Decimal("1.3"))),
        created_ms=exchange_state.now_ms,
        rng=random.Random(1),
    )
    book.live_triggers["77"] = stop
    if fault is not None:
        stage.sandbox.faults.plan(fault)
    await opened(stage, pilot)
    assert "(assumed), else ADDS" in text_in_one_line(stage)
    return book


async def test_what_still_waits_comes_first_and_stays_on_the_main_screen_until_it_is_gone() -> None:
    stage = AppOnFewRows("one-way")
    async with stage.running(SIZE) as pilot:
        book = await previewed(stage, pilot, fault="orders-stay")
        await press_confirm(pilot)
        await asyncio.sleep(5)
        await pilot.pause()
        shown = rows(stage)
        first, second = (next(at for at, row in enumerate(shown) if text in row) for text in ("DIFFERENT", "before"))
        assert f"DIFFERENT: still waiting, {AGAINST}" in shown[first]
        assert first < second, "before the positions"
        await pilot.press("enter")
        await pilot.pause()
        assert not isinstance(stage.app.screen, ReversalDialog)
        assert AGAINST in text_in_one_line(stage) and HIDES in text_in_one_line(stage)
        await asyncio.sleep(30)
        await pilot.pause()
        assert HIDES in text_in_one_line(stage), "it still waits"
        book.live_triggers.clear()
        await asyncio.sleep(12)
        await pilot.pause()
        assert HIDES not in text_in_one_line(stage)


async def test_who_left_the_dialog_is_told_what_still_waits_and_hides_it_after_the_messages() -> None:
    stage = AppOnFewRows("one-way")
    async with stage.running(SIZE) as pilot:
        await previewed(stage, pilot, fault="orders-stay")
        stage.sandbox.faults.plan("delay", endpoint="futures.reverse")
        await press_confirm(pilot)
        await asyncio.sleep(1)
        await pilot.press("escape")
        await asyncio.sleep(8)
        await pilot.pause()
        assert "DIFFERENT: stop-loss" in newest_message(stage) and "is still waiting: ADDS TO" in newest_message(stage)
        await pilot.press("escape")
        await pilot.pause()
        assert not len(stage.app._notifications) and HIDES in text_in_one_line(stage)
        await asyncio.sleep(1)
        await pilot.press("escape")
        await pilot.pause()
        assert HIDES not in text_in_one_line(stage)


async def test_what_went_with_the_position_as_assumed_leaves_nothing() -> None:
    stage = AppOnFewRows("one-way")
    async with stage.running(SIZE) as pilot:
        await previewed(stage, pilot)
        await press_confirm(pilot)
        await asyncio.sleep(5)
        await pilot.pause()
        text = text_in_one_line(stage)
        assert "Settled: reversed" in text and "DIFFERENT" not in text and "differ from the preview" not in text
        await pilot.press("enter")
        await asyncio.sleep(2)
        await pilot.pause()
        assert HIDES not in text_in_one_line(stage)
