"""An account in unified mode: said once, whole, above the panels, and asked once a minute."""

from __future__ import annotations

import asyncio

import pytest

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tradetui.ui.application.run_app import screen_text

pytestmark = pytest.mark.looptime
SENTENCES = (
    "The account is in unified mode, which this program does not support: You are in Unified Account mode, and the "
    "Classic Account API is not supported at this time (40085). On the exchange's site create a sub-account in "
    "classic mode, make an API key in it, and use that key here. The exchange is asked again once a minute."
)


def sentences_of(text: str) -> str:
    return " ".join(text.split())


async def test_it_stands_whole_on_the_screen_and_once() -> None:
    stage = AppOnFewRows("unified")
    async with stage.running((80, 24), after=12) as pilot:
        for size in ((80, 24), (120, 36), (200, 60)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            text = sentences_of(screen_text(stage.app))
            assert SENTENCES in text, size
            assert text.count("unified mode") == text.count("40085") == 1, size
            assert "refused" in text
            assert "not read" in text
            assert not stage.app._notifications, "no message in a corner repeats it"


async def test_one_call_a_minute_asks_whether_it_still_is() -> None:
    stage = AppOnFewRows("unified")
    async with stage.running((80, 24), after=12):
        begun = stage.sandbox.counts.total()
        assert begun <= 12
        await asyncio.sleep(300)
        assert 4 <= stage.sandbox.counts.total() - begun <= 6


async def test_it_goes_when_the_account_is_another() -> None:
    stage = AppOnFewRows("unified")
    async with stage.running((120, 36), after=5) as pilot:
        assert "unified mode" in screen_text(stage.app)
        await pilot.press("P")
        await pilot.pause()
        await pilot.press("home", "enter")
        await asyncio.sleep(4)
        await pilot.pause()
        text = screen_text(stage.app)
        assert "unified mode" not in text and "not read" not in text
        assert "hedge" in text and "BTCUSDT" in text
