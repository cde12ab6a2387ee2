"""Every dialog, every theme and every state of the main screen looks as it is kept."""

from __future__ import annotations

import pytest

from tests.ui.dialog_pictures import FOLDER, SCENES
from tests.ui.screenshots import drawn


@pytest.mark.parametrize("name", SCENES)
def test_picture_is_current(name: str) -> None:
    kept = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn(SCENES[name]) == kept, "draw them anew: python -m tests.ui.dialog_pictures"


def test_no_picture_is_left_over() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == set(SCENES)
