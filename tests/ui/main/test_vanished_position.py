"""A position that has closed under the cursor is named as the panel named it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from tradetui.ui.main.main_screen import VanishedPosition


def test_a_position_of_a_side_that_nobody_knows_is_called_neither_long_nor_short() -> None:
    position = SimpleNamespace(symbol="BTCUSDT", is_long=None, shown_leg="sideways")
    records: list[object] = [position, None, None]
    table = SimpleNamespace(cursor=SimpleNamespace(take_vanished=lambda: records.pop(0)))
    vanished = VanishedPosition(cast(Any, table))
    vanished.note_key(in_burst=False)
    vanished.note_key(in_burst=True)
    assert vanished.sentence.startswith("BTCUSDT SIDEWAYS has just closed")
    vanished.note_key(in_burst=False)
    assert vanished.sentence == ""
