"""Every scene looks as it is kept, and `screenshots/` holds the published ones; see `tests/ui/scenes`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_textual_snapshot import SVGImageExtension
from syrupy.assertion import SnapshotAssertion

from tests.ui.scenes import SCENES, gallery
from tests.ui.scenes.__main__ import FOLDER

SNAPSHOTS = Path(__file__).parent / "__snapshots__" / Path(__file__).stem
PUBLISHED = [name for name, scene in SCENES.items() if scene.published]


@pytest.mark.parametrize("name", SCENES)
def test_picture(name: str, snap_compare: Callable[..., bool]) -> None:
    scene = SCENES[name]
    with scene.staged() as (app, play):
        assert snap_compare(app, terminal_size=scene.size, run_before=play)


def test_the_main_screen_in_every_theme_at_every_size(snapshot: SnapshotAssertion) -> None:
    kept = snapshot.use_extension(SVGImageExtension)
    different = [name for name, picture in gallery.drawn().items() if kept(name=name) != picture]
    assert different == [], "look at them, and draw them anew"


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_screenshot_is_the_snapshot_of_its_scene(name: str) -> None:
    snapshot = (SNAPSHOTS / f"test_picture[{name}].svg").read_bytes()
    assert (FOLDER / f"{name}.svg").read_bytes() == snapshot, "write them anew: python -m tests.ui.scenes"


def test_screenshots_holds_published_scenes_alone() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {f"{name}.svg" for name in PUBLISHED}
