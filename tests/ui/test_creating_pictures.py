"""The pictures of creating are what the program draws."""

from __future__ import annotations

import pytest

from tests.ui.creating_pictures import FOLDER, SCENES
from tests.ui.screenshots import drawn


@pytest.mark.parametrize("name", SCENES)
def test_picture_is_current(name: str) -> None:
    kept = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn(SCENES[name]) == kept, (
        "look at what changed, then draw them anew: python -m tests.ui.creating_pictures"
    )


def test_no_picture_is_left_over() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == set(SCENES)
