"""Where the exchange does not answer from the start, each panel says why it is empty and when it is read again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tradetui.sandbox.app import Sandbox

pytestmark = pytest.mark.looptime


def _answer_nothing(sandbox: Sandbox) -> None:
    sandbox.options = replace(sandbox.options, delay_ms=100_000)
    sandbox.faults.plan("delay", times=1_000_000)


def _drop_everything(sandbox: Sandbox) -> None:
    sandbox.faults.plan("dropped-before", times=1_000_000)


@pytest.mark.parametrize("seconds", [6, 30])
async def test_a_panel_whose_first_call_still_hangs_says_what_is_wrong(seconds: int) -> None:
    stage = AppOnFewRows(before=_answer_nothing)
    async with stage.running((200, 60), after=seconds):
        sentences = {name: panel._shown_sentence for name, panel in stage.app.main.panels.items()}
        assert all("cannot be reached: no answer within 5 s" in sentence for sentence in sentences.values()), sentences


async def test_a_panel_says_when_it_is_read_again() -> None:
    stage = AppOnFewRows(before=_drop_everything)
    async with stage.running((200, 60), after=15):
        panels = stage.app.main.panels
        again = {name: panel._shown_sentence.rpartition("\n")[2] for name, panel in panels.items()}
        assert again == {
            "accounts": "Reading is tried again within 5 s.",
            "positions": "Reading is tried again within 2 s.",
            "orders": "Reading is tried again within 2 s.",
            "fills": "Reading is tried again within 2 s.",
            "triggers": "Reading is tried again within 10 s.",
        }
