"""What is pasted into a box is in it whole, or it is said that it is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.events import Paste
from textual.widgets import Input

import tradetui.ui
from tests.ui.fixtures.app_on_sandbox import AppOnFewRows, newest_message
from tradetui.ui.key_bindings.key_queue import LONGEST_TEXT, one_line

pytestmark = pytest.mark.looptime


def test_lines_become_one() -> None:
    assert one_line("10.0.0.1\n10.0.0.2\r\n\t\n10.0.0.3\n") == "10.0.0.1 10.0.0.2 10.0.0.3"
    assert one_line(" a  path \t\n") == "a  path"


async def test_a_paste_keeps_all_its_lines_and_one_that_is_too_long_is_named() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        await pilot.press("slash")
        box = stage.app.screen.query_one("#filter", Input)
        box.post_message(Paste("BTC\nLONG\n"))
        await pilot.pause()
        assert box.value == "BTC LONG"
        box.post_message(Paste("x" * LONGEST_TEXT))
        await pilot.pause()
        assert box.value == "BTC LONG"
        assert newest_message(stage) == "A box takes 1,400 characters at most: this was not put in."
        box.select_all()
        box.post_message(Paste("\n"))
        await pilot.pause()
        assert box.value == "BTC LONG", "an empty line replaces nothing"


def test_no_box_is_made_in_another_way() -> None:
    files = Path(tradetui.ui.__file__).parent.rglob("*.py")
    assert [file.name for file in files if re.search(r"\bInput\(", file.read_text())] == []
