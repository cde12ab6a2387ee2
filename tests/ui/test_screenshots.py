"""The committed pictures are what the program draws."""

from __future__ import annotations

import pytest

from tests.ui.screenshots import FOLDER, SCENES, drawn


@pytest.mark.parametrize("name", SCENES)
def test_picture_is_current(name: str) -> None:
    committed = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn(SCENES[name]) == committed, "draw them anew: python -m tests.ui.screenshots"
