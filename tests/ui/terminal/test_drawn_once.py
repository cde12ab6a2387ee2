"""A screen is styled as it is mounted, with the classes of the terminal's size, and no more as it opens or closes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from textual.dom import DOMNode
from textual.screen import Screen

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tradetui.ui.application.app import TradeApp
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.main.main_screen import MainScreen

pytestmark = pytest.mark.looptime


@contextmanager
def styled_again() -> Iterator[list[DOMNode]]:
    """The nodes that are styled, with all in them, after they were mounted."""
    nodes: list[DOMNode] = []
    update_styles = TradeApp.update_styles

    def note(app: TradeApp, node: DOMNode, animate: bool = True) -> None:
        nodes.append(node)
        update_styles(app, node, animate=animate)

    with patch.object(TradeApp, "update_styles", note):
        yield nodes


async def test_opening_screens_and_dialogs_styles_no_screen_a_second_time() -> None:
    stage = AppOnFewRows()
    with styled_again() as nodes:
        async with stage.running() as pilot:
            for binding in ("R", "escape", "question_mark", "escape"):
                await pilot.press(binding)
                await pilot.pause(0.5)
            assert isinstance(stage.app.screen, MainScreen)
    assert nodes  # single widgets, as the one that has the focus
    assert not [node for node in nodes if isinstance(node, Screen)]


async def test_a_dialog_that_closes_is_not_styled_without_its_focus() -> None:
    async with AppOnFewRows().running() as pilot:
        await pilot.press("R")
        await pilot.pause(0.5)
        dialog, table = pilot.app.screen, pilot.app.screen_stack[-2].focused
        in_dialog = set(dialog.walk_children(with_self=True))
        with styled_again() as nodes:
            await pilot.press("escape")
            await pilot.pause(0.5)
        assert not dialog.is_running
        assert pilot.app.focused is table
        assert in_dialog.isdisjoint(nodes)


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


async def test_what_is_behind_a_dialog_fits_its_columns_to_a_new_size_at_once() -> None:
    stage = AppOnFewRows()
    async with stage.running(size=(120, 36)) as pilot:
        await pilot.press("question_mark")
        await pilot.pause(0.5)
        await pilot.resize_terminal(80, 24)
        await pilot.press("escape")
        await pilot.pause(0.5)
        assert isinstance(stage.app.screen, MainScreen)
        titles = column_titles(stage)
        await pilot.pause(6)  # all panels are painted with new rows
        assert column_titles(stage) == titles


def column_titles(stage: AppOnFewRows) -> list[str]:
    return [line for line in screen_text(stage.app).splitlines() if "Symbol" in line]
