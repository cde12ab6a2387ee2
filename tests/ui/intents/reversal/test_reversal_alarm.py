"""A reversal that goes on after it was settled rings and is named, with the dialog open or without it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from textual.widgets import Static

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, newest_message
from tests.ui.fixtures.reversal_dialog import opened, posts, press_confirm, text_in_one_line
from tradetui.desk.events.rules import Alert, AlertEvent, Channel, RuleKind
from tradetui.desk.intents.states import State
from tradetui.desk.reversal.outcome import SearchStage
from tradetui.desk.reversal.progress import Progress, Sent
from tradetui.ui.intents.reversal.dialog import ReversalDialog

pytestmark = pytest.mark.looptime
SIZE = (140, 60)
CORRECTED = "a later fill of it came in: 0.1894 of 0.3788 filled"


async def test_a_correction_rings_and_is_shown_while_the_dialog_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows()
    rings = []
    async with stage.running(SIZE) as pilot:
        await opened(stage, pilot)
        execution = stage.desk.execution
        assert execution is not None
        real = execution.follow

        async def corrected(sent: Sent) -> AsyncIterator[Progress]:
            updates = real(sent)
            yield await anext(updates)
            yield replace(sent.progress, state=State.CORRECTED, stage=SearchStage.CORRECTED, sentence=CORRECTED)
            await asyncio.sleep(5)
            async for progress in updates:
                yield progress

        monkeypatch.setattr(execution, "follow", corrected)
        monkeypatch.setattr(stage.app, "bell", lambda: rings.append(1))
        await press_confirm(pilot)
        await asyncio.sleep(2)
        await pilot.pause()
        assert posts(stage) == 1
        assert rings
        assert f"corrected {CORRECTED}" in text_in_one_line(stage)
        await asyncio.sleep(8)
        await pilot.pause()
        assert "Settled: reversed" in text_in_one_line(stage)


async def test_an_alert_of_a_reversal_rings_and_is_named_on_every_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows()
    rings = []
    async with stage.running(SIZE) as pilot:
        monkeypatch.setattr(stage.app, "bell", lambda: rings.append(1))
        await pilot.press("J")
        sentence = f"Reverse BTCUSDT LONG 2 into SHORT 2: {CORRECTED}"
        event = AlertEvent(kinds=frozenset({RuleKind.OUTCOME_UNKNOWN}), key="reversal", sentence=sentence, stays=True)
        stage.app.alerted(Alert(event, 0, frozenset({Channel.LINE, Channel.BELL})))
        await pilot.pause()
        assert rings
        assert newest_message(stage) == sentence


async def test_a_reversal_left_open_is_said_in_the_dialog_that_can_be_closed_and_in_whole_sentences_after_it() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        dialog = await opened(stage, pilot)
        left = asyncio.Event()

        async def left_open(sent: Sent) -> AsyncIterator[Progress]:
            await left.wait()
            yield replace(sent.progress, state=State.UNKNOWN, stage=SearchStage.LEFT_OPEN, sentence="no outcome so far")

        with pytest.MonkeyPatch.context() as following:
            following.setattr(stage.desk.execution, "follow", left_open)
            await press_confirm(pilot)
            await asyncio.sleep(2)
            await pilot.press("escape")
            left.set()
            await asyncio.sleep(1)
            await pilot.pause()
            sentences, _, sending = newest_message(stage).rpartition(" (")
            assert sentences.endswith(
                "The outcome is not known: no outcome so far. The search for the outcome continues. "
                f"{dialog._target.symbol} stays locked until it is settled or released; J shows it."
            )
            assert sending.endswith(" UTC)"), "which reversal it was, and when, stands behind what came of it"

            stage.app.clear_notifications()
            await pilot.press("down")
            dialog = await opened(stage, pilot)
            await press_confirm(pilot)
            await asyncio.sleep(4)
            await pilot.pause()
            assert posts(stage) == 2
            assert "The outcome is not known: no outcome so far." in text_in_one_line(stage)
            body = str(dialog.query_one("#body", Static).content)
            assert "stays locked until it is settled or released; J shows it." in body and "\ufffd" not in body
            await pilot.press("enter")
            assert not isinstance(stage.app.screen, ReversalDialog)
