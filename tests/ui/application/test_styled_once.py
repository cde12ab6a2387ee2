"""A screen is styled as it is mounted, with the classes of the terminal's size, and not as a whole once more."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from textual.dom import DOMNode
from textual.screen import Screen

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tradetui.ui.application.app import TradeApp
from tradetui.ui.main.main_screen import MainScreen

pytestmark = pytest.mark.looptime


async def test_opening_screens_and_dialogs_styles_no_screen_a_second_time() -> None:
    styled_again: list[DOMNode] = []
    update_styles = TradeApp.update_styles

    def note(app: TradeApp, node: DOMNode, animate: bool = True) -> None:
        styled_again.append(node)
        update_styles(app, node, animate=animate)

    stage = AppOnFewRows()
    with patch.object(TradeApp, "update_styles", note):
        async with stage.running() as pilot:
            for binding in ("R", "escape", "question_mark", "escape"):
                await pilot.press(binding)
                await pilot.pause(0.5)
            assert isinstance(stage.app.screen, MainScreen)
    assert styled_again  # of single widgets, as of the one that has the focus
    assert not [node for node in styled_again if isinstance(node, Screen)]


async def test_a_terminal_that_is_resized_styles_the_screen_for_its_new_size() -> None:
    stage = AppOnFewRows()
    async with stage.running(size=(120, 36)) as pilot:
        await pilot.press("R")
        await pilot.pause(0.5)
        assert {"-wide", "-airy"} <= stage.app.screen.classes
        await pilot.resize_terminal(90, 25)
        await pilot.pause(0.5)
        assert {"-narrow", "-short"} <= stage.app.screen.classes
        assert not {"-wide", "-airy"} & stage.app.screen.classes
