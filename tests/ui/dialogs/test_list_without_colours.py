"""Without colours a list still says which of its lines Enter takes."""

from __future__ import annotations

import asyncio

import pytest
from textual.widgets import OptionList

from tests.ui.fixtures.app_on_sandbox import EVERY_ACCOUNT, AppOnFewRows

pytestmark = pytest.mark.looptime


@pytest.mark.parametrize("key", ["P", "o", "c", "s", "ctrl+p"])
async def test_the_highlighted_line_is_underlined(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    stage = AppOnFewRows(profiles=EVERY_ACCOUNT)
    async with stage.running() as pilot:
        await pilot.press(key)
        await asyncio.sleep(1)
        await pilot.press("down")
        await pilot.pause()
        options = stage.app.screen.query_one(OptionList)
        underlined = [
            line
            for line in range(options.size.height)
            if any(segment.style is not None and segment.style.underline for segment in options.render_line(line))
        ]
        assert len(underlined) >= 1
        assert len(underlined) < options.size.height / 2
