"""The reversal dialog says which leg it reverses, why nothing was sent, how it is unlocked, and that it can be left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from textual.widgets import Button, Input, Static

from tests.sandbox.exchange_events import cancel_order, place_order
from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, newest_message
from tests.ui.fixtures.reversal_dialog import (
    asks_for_the_word,
    hold_more,
    opened,
    posts,
    press_confirm,
    read_at_once,
    rows,
    sent_and_settled,
    still,
    text_in_one_line,
)
from tradetui.desk.intents.states import State
from tradetui.desk.reversal.execution import NotConfirmed
from tradetui.desk.reversal.preview import Preview, Target
from tradetui.desk.reversal.sending import Departure
from tradetui.ui.dialogs.deliberate_dialog import ConfirmDialog
from tradetui.ui.intents.reversal.dialog import ReversalDialog
from tradetui.ui.intents.reversal.fields import CHANGED_BACK
from tradetui.ui.safe_text import notify_about

pytestmark = pytest.mark.looptime
SIZE = (140, 60)


# Which leg


async def test_the_leg_is_in_title_headline_button_and_word() -> None:
    stage = AppOnFewRows()
    async with stage.running((80, 24)) as pilot:
        asks_for_the_word(stage)
        await still(stage, pilot)
        for size in ((80, 24), (120, 36), (200, 60)):
            await pilot.resize_terminal(*size)
            for keys, leg, wrong, side in (
                (["2", "g"], "LONG", "SHORT", "buy"),
                (["2", "down"], "SHORT", "LONG", "sell"),
            ):
                await pilot.press(*keys, "R")
                await asyncio.sleep(1.5)
                await pilot.pause()
                dialog = stage.app.screen
                assert isinstance(dialog, ReversalDialog)
                symbol = dialog._target.symbol
                shown = text_in_one_line(stage)
                assert f"REVERSE THE {leg} OF {symbol}" in shown, size
                assert f"Type {symbol} {leg} to go on." in shown, size
                assert f"Type {symbol} {leg} because " in shown, size
                confirm_button, field = dialog.query_one("#confirm", Button), dialog.query_one("#typed", Input)
                assert str(confirm_button.label).startswith(f"Reverse {leg}"), size
                await pilot.press("f2", *["pagedown"] * 5)
                await pilot.pause()
                request = " ".join(str(dialog.query_one("#request", Static).render()).split())
                assert f"side {side} = the {leg.lower()} leg" in request, size
                for typed in (symbol, f"{symbol} {wrong}"):
                    field.value = typed
                    await pilot.pause()
                    assert confirm_button.disabled, typed
                field.value = f"  {symbol.lower()}   {leg.lower()} "
                await pilot.pause()
                assert not confirm_button.disabled, size
                await pilot.press("escape")


async def test_one_way_names_the_side_that_is_held() -> None:
    stage = AppOnFewRows("one-way")
    async with stage.running(SIZE) as pilot:
        dialog = await opened(stage, pilot)
        held = stage.app.main.positions_panel.table.cursor.record
        assert held is not None
        leg = "LONG" if held.is_long else "SHORT"
        assert dialog._subject == f"{held.symbol} {leg}"
        assert f"REVERSE THE {leg} OF {held.symbol}" in text_in_one_line(stage)


async def test_a_row_that_has_gone_is_not_replaced_by_its_neighbour() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await still(stage, pilot)
        await pilot.press("2")
        for burst in ("R", "RR", "RRR"):
            await pilot.press("g", "down")
            table = stage.app.main.positions_panel.table
            gone, uid = table.cursor.record, stage.desk.settings.uid or ""
            assert gone is not None
            book = stage.sandbox.exchange_state.book(uid, str(gone.product_type))
            leg = "long" if gone.is_long else "short"
            position = book.held(gone.symbol, leg)
            assert position is not None
            position.size = Decimal(0)
            stage.desk.scheduler.poll_now("positions")
            await asyncio.sleep(2)
            await pilot.pause()
            assert table.cursor.record is not None and table.cursor.record is not gone
            await read_at_once(stage, pilot, burst)
            assert not isinstance(stage.app.screen, ReversalDialog), burst
            assert f"{gone.symbol} {leg.upper()} has just closed" in text_in_one_line(stage), burst
            await pilot.press("R")
            await asyncio.sleep(1)
            assert isinstance(stage.app.screen, ReversalDialog), "pressed again it takes what is under the cursor"
            assert "has just closed" not in text_in_one_line(stage), "the sentence is of the key before"
            await pilot.press("escape")
            stage.app.clear_notifications()


# Why nothing was sent


async def test_what_changed_stands_there_until_a_key_is_pressed_at_the_armed_preview() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        asks_for_the_word(stage)
        dialog = await opened(stage, pilot)
        await read_at_once(stage, pilot, dialog._subject)
        assert dialog._preview is not None and dialog._preview.plan is not None
        leg, was = dialog._preview.plan.leg, dialog._preview.plan.held_size
        hold_more(stage, dialog, leg.lower(), "0.109")
        scroll = dialog._area.scroll_y
        await press_confirm(pilot)
        await asyncio.sleep(0.5)
        await pilot.pause()
        sentence = f"NOT SENT. Changed since you looked: size {was} → {was + Decimal('0.109')}"
        assert posts(stage) == 0
        assert sentence in text_in_one_line(stage)
        shown = rows(stage)
        assert any(f"{leg} 0" in row and f"◂ size was {was}" in row for row in shown), "under what is held now"
        assert any("net " in row and "◂ net was " in row for row in shown), "and under the net"
        assert dialog.query_one("#typed", Input).value == dialog._subject, "typing is kept"
        assert dialog._area.scroll_y == scroll
        await asyncio.sleep(25)
        await pilot.pause()
        assert sentence in text_in_one_line(stage), "two expiries and re-reads later"
        assert stage.app.focused is dialog.query_one("#confirm"), "the focus is kept"
        await pilot.press("pagedown")
        await pilot.pause()
        assert "NOT SENT" not in text_in_one_line(stage)
        await press_confirm(pilot)
        await asyncio.sleep(5)
        assert posts(stage) == 1


async def test_what_its_own_readings_find_changed_stands_there_until_a_key_is_pressed_also_where_it_goes_back() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        dialog = await opened(stage, pilot)
        symbol, market, uid = dialog._target.symbol, stage.sandbox.exchange_state, stage.desk.settings.uid or ""
        order = place_order(market, uid, symbol, "buy", "open", Decimal("0.01"), Decimal(1000))
        for _ in range(2):  # readings of its own
            await asyncio.sleep(11)
            await pilot.pause()
            assert "Changed since you looked: new order" in text_in_one_line(stage)
        cancel_order(market, uid, symbol, order)
        for _ in range(2):
            await asyncio.sleep(11)
            await pilot.pause()
            assert CHANGED_BACK in text_in_one_line(stage)
        await pilot.press("pagedown")
        await pilot.pause()
        assert "Changed since you looked" not in text_in_one_line(stage)


async def test_three_rounds_in_a_row_each_say_what_changed_since_the_last_look() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        dialog = await opened(stage, pilot)
        for keys in (["tab", "enter"], ["enter"], ["enter"]):
            assert dialog._preview is not None and dialog._preview.plan is not None
            plan = dialog._preview.plan
            hold_more(stage, dialog, plan.leg.lower(), "0.01")
            await pilot.press(*keys)
            await asyncio.sleep(2)
            await pilot.pause()
            assert f"NOT SENT. Changed since you looked: size {plan.held_size} → " in text_in_one_line(stage)
            assert posts(stage) == 0
        await pilot.press("enter")
        await asyncio.sleep(5)
        assert posts(stage) == 1


async def test_enter_after_not_sent_sends_or_says_that_it_did_not() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        asks_for_the_word(stage)
        assert stage.desk.execution is not None
        for sent, after_s in enumerate((0.4, 0.6, 10.0, 10.6)):
            dialog = await opened(stage, pilot)
            await read_at_once(stage, pilot, dialog._subject)
            assert dialog._preview is not None and dialog._preview.plan is not None
            hold_more(stage, dialog, dialog._preview.plan.leg.lower(), "0.001")
            await press_confirm(pilot)
            await pilot.pause()
            assert "NOT SENT" in text_in_one_line(stage)
            assert posts(stage) == sent
            await asyncio.sleep(after_s)
            await pilot.press("enter")
            await asyncio.sleep(0.3)
            await pilot.pause()
            if posts(stage) == sent:
                assert stage.app.screen is dialog
                assert "NOT SENT" in text_in_one_line(stage), "what was not acted on is not read"
                assert "Enter pressed nothing" in text_in_one_line(stage)
                await asyncio.sleep(2)
                assert stage.app.focused is dialog.query_one("#confirm")
                await pilot.press("enter")
            await sent_and_settled(stage, sent + 1)
            await asyncio.sleep(2)
            await pilot.press("escape", "down", "up")  # to another row than the one that has closed


# Left by Cancel, and from the word to the button


async def test_left_without_sending_it_says_so_also_after_tab_too_early() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        for keys in (["enter"], ["escape"], ["tab", "shift+tab", "enter"]):
            dialog = await opened(stage, pilot)
            await pilot.press(*keys)
            await pilot.pause()
            assert not isinstance(stage.app.screen, ReversalDialog)
            assert newest_message(stage) == f"Reverse {dialog._subject}: nothing was sent."
            stage.app.clear_notifications()
        await pilot.press("R")
        await asyncio.sleep(0.2)
        await pilot.press("tab")
        await asyncio.sleep(0.3)
        await pilot.press("enter")
        await pilot.pause()
        assert not isinstance(stage.app.screen, ReversalDialog)
        assert newest_message(stage).endswith(": nothing was sent.")
        assert posts(stage) == 0


async def test_what_was_said_of_a_symbol_is_gone_once_a_newer_dialog_or_outcome_says_more() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        dialog = await opened(stage, pilot)
        symbol = dialog._subject.partition(" ")[0]
        await pilot.press("escape")
        await pilot.pause()
        assert newest_message(stage).endswith(": nothing was sent.")
        notify_about(stage.app, symbol, "an outcome of before", was_sent=True, severity="error", seconds=600)
        await opened(stage, pilot)
        assert newest_message(stage) == "an outcome of before", "the preview is newer than what was not sent alone"
        await press_confirm(pilot)
        await sent_and_settled(stage, 1)
        await asyncio.sleep(2)
        await pilot.pause()
        assert "Settled: reversed" in text_in_one_line(stage)
        assert not list(stage.app._notifications)
        await pilot.press("escape")


async def test_tab_goes_from_the_whole_word_to_the_confirm_button_and_from_a_part_of_it_to_cancel() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        asks_for_the_word(stage)
        dialog = await opened(stage, pilot)
        confirm_button = dialog.query_one("#confirm", Button)
        await read_at_once(stage, pilot, dialog._subject[:-1])
        await pilot.press("tab")
        assert stage.app.focused is dialog.query_one("#cancel")
        await read_at_once(stage, pilot, dialog._subject[-1])
        await pilot.press("tab")
        assert stage.app.focused is confirm_button
        dialog.query_one("#typed", Input).focus()
        expired = asyncio.Event()
        dialog.watch(confirm_button, "disabled", expired.set, init=False)
        await expired.wait()
        await pilot.press("tab", "enter")
        assert stage.app.screen is dialog, "while it is read again Enter does not press Cancel"
        assert "Enter pressed nothing" in text_in_one_line(stage)
        await asyncio.sleep(2)
        assert stage.app.focused is confirm_button
        await pilot.press("enter")
        await asyncio.sleep(3)
        assert posts(stage) == 1


# The lock


async def test_locked_it_has_no_field_l_unlocks_it_and_nothing_that_was_typed_is_lost() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        asks_for_the_word(stage)
        assert stage.desk.execution is not None
        intents = stage.desk.execution.intents
        dialog = await opened(stage, pilot)
        await read_at_once(stage, pilot, dialog._subject[:4])
        await pilot.press("f9")
        await asyncio.sleep(1.5)
        await pilot.pause()
        typed = dialog.query_one("#typed", Input)
        assert not typed.display
        assert "Trading is locked; L unlocks it." in text_in_one_line(stage)
        await pilot.press("L", "tab", "enter")
        await asyncio.sleep(0.5)
        await pilot.pause()
        assert stage.app.screen is dialog
        assert stage.app.focused is typed and typed.value == dialog._subject[:4]
        await read_at_once(stage, pilot, dialog._subject[4:])
        assert typed.value == dialog._subject
        await pilot.press("escape")

        await pilot.press("L", "R", "L")
        await pilot.pause()
        unread = stage.app.screen_stack[-2]
        assert isinstance(unread, ReversalDialog) and not unread._was_armed
        assert isinstance(stage.app.screen, ConfirmDialog), "L unlocks before anything is read"
        await pilot.press("escape", "escape")

        dialog = await opened(stage, pilot)
        assert intents.locked
        assert not dialog.query_one("#size").display and not dialog.query_one("#typed").display
        assert "Trading is locked; L unlocks it." in text_in_one_line(stage)
        assert f"Type {dialog._subject} to go on." not in text_in_one_line(stage), "nobody is asked to type"
        assert "L Unlock" in text_in_one_line(stage) and "F9 Lock" not in text_in_one_line(stage)
        await pilot.press("L")
        assert isinstance(stage.app.screen, ConfirmDialog)
        await pilot.press("enter")
        assert stage.app.screen_stack[-1] is dialog and intents.locked, "Enter presses Cancel"
        await pilot.press("L", "tab", "enter")
        await pilot.pause()
        assert stage.app.screen_stack[-1] is dialog and not intents.locked
        assert dialog.query_one("#typed").display
        await read_at_once(stage, pilot, dialog._subject)
        await press_confirm(pilot)
        await asyncio.sleep(5)
        assert posts(stage) == 1


# It can always be left


async def hangs(*_: Any) -> AsyncIterator[Any]:
    await asyncio.Event().wait()
    yield


async def breaks(*_: Any) -> AsyncIterator[Any]:
    raise RuntimeError("another symbol's fill came out of turn")
    yield


async def never(*_: Any) -> Any:
    await asyncio.Event().wait()


async def test_escape_leaves_it_while_sending_hangs_and_whatever_the_follower_does() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        dialog = await opened(stage, pilot)
        with pytest.MonkeyPatch.context() as hanging:
            hanging.setattr(stage.desk.execution, "confirm", never)
            await press_confirm(pilot)
            await asyncio.sleep(5)
            await pilot.press("escape")
            await pilot.pause()
        assert not isinstance(stage.app.screen, ReversalDialog)

        await pilot.press("down")
        dialog = await opened(stage, pilot)
        with pytest.MonkeyPatch.context() as hanging:
            hanging.setattr(stage.desk.execution, "follow", hangs)
            await press_confirm(pilot)
            await asyncio.sleep(5)
            assert posts(stage) == 1
            await pilot.press("escape")
            await pilot.pause()
        assert not isinstance(stage.app.screen, ReversalDialog)
        assert dialog._preview is not None and dialog._preview.plan is not None
        assert newest_message(stage) == (
            f"{dialog._preview.plan.title}: it is sent and cannot be withdrawn. {dialog._target.symbol} stays locked "
            "until the outcome is known; a message here names it, and J shows it."
        )


async def test_whatever_fails_is_said_and_it_can_be_closed() -> None:
    async def fails(*_: Any) -> Any:
        raise ZeroDivisionError("int too large to convert")

    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        for method, failure in {"confirm": fails, "follow": breaks}.items():
            await opened(stage, pilot)
            with pytest.MonkeyPatch.context() as broken:
                broken.setattr(stage.desk.execution, method, failure)
                await press_confirm(pilot)
                await asyncio.sleep(5)
                await pilot.pause()
            shown = text_in_one_line(stage)
            assert "The outcome is not known" in shown, method
            assert "Not done" not in shown, method
            await pilot.press("enter")
            assert not isinstance(stage.app.screen, ReversalDialog), method
            await pilot.press("down")


# It can be taken back until it leaves


async def test_escape_before_the_first_byte_takes_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        execution = stage.desk.execution
        assert execution is not None
        read_again = execution._read_again

        async def reads_slowly(shown: Preview) -> Preview:
            await asyncio.sleep(1.6)
            return await read_again(shown)

        monkeypatch.setattr(execution, "_read_again", reads_slowly)
        for withdrawn, after_s in enumerate((0.0, 0.5, 1.5), start=1):
            dialog = await opened(stage, pilot)
            assert dialog._preview is not None and dialog._preview.plan is not None
            await press_confirm(pilot)
            await asyncio.sleep(after_s)
            sending = str(dialog.query_one("#reason", Static).content)
            assert "Until it is sent, Esc withdraws it." in sending, after_s
            symbol = dialog._preview.target.symbol
            after = (
                f"After that, Esc closes this dialog: the reversal continues, {symbol} stays locked, and J shows it."
            )
            assert after in sending, after_s
            await pilot.press("escape")
            await pilot.pause()
            assert not isinstance(stage.app.screen, ReversalDialog), after_s
            assert newest_message(stage) == f"{dialog._preview.plan.title}: NOT SENT. You withdrew it."
            await asyncio.sleep(6)
            await pilot.pause()
            assert posts(stage) == 0, after_s
            assert [note.message for note in stage.app._notifications if "NOT SENT" in note.message] == [
                newest_message(stage)
            ]
            intents = await execution.intents.newest()
            assert len(intents) == withdrawn
            assert [event.state for event in intents[0].events] == [State.INTENDED, State.WITHDRAWN]
            assert "it was withdrawn" in str(intents[0].events[-1].details)
            assert not execution.intents.unsettled()
            stage.app.clear_notifications()


async def test_what_was_left_and_then_could_not_be_sent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        dialog = await opened(stage, pilot)
        leaves, breaks_off = asyncio.Event(), asyncio.Event()

        async def leaves_and_breaks_off(_: Preview, __: str, departure: Departure) -> Any:
            departure.depart()
            leaves.set()
            await breaks_off.wait()
            raise NotConfirmed(("The connection was refused.",))

        monkeypatch.setattr(stage.desk.execution, "confirm", leaves_and_breaks_off)
        await press_confirm(pilot)
        await leaves.wait()
        await pilot.press("escape")
        assert "it is sent and cannot be withdrawn" in newest_message(stage)
        breaks_off.set()
        await asyncio.sleep(1)
        assert newest_message(stage) == f"Reverse {dialog._subject}: NOT SENT. The connection was refused."


async def test_what_cannot_be_planned_offers_neither_field_nor_button(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        execution = stage.desk.execution
        assert execution is not None
        preview = execution.preview
        why = "The position is not certain: holdSide 'net' is not known."

        async def unknown_word(target: Target) -> Preview:
            return replace(await preview(target), plan=None, doubts=(why,))

        monkeypatch.setattr(execution, "preview", unknown_word)
        dialog = await opened(stage, pilot)
        for _ in range(2):
            assert not dialog.query_one("#confirm").display and not dialog.query_one("#size").display
            assert why in text_in_one_line(stage)
            assert "Changed since you looked" not in text_in_one_line(stage)
            await asyncio.sleep(11)
            await pilot.pause()
