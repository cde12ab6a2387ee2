"""Every scene looks as it is kept, and `screenshots/` holds the published ones; see `tests/ui/scenes`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ui.scenes import SCENES
from tests.ui.scenes.__main__ import FOLDER
from tests.ui.scenes.scene import Performance

TESTS = Path(__file__).parents[1]
PUBLISHED = [name for name, scene in SCENES.items() if scene.published]


def snapshot_of(name: str) -> Path:
    """Where syrupy keeps the picture of a scene: it names the file by the test and its parameter."""
    return Path(__file__).parent / "__snapshots__" / Path(__file__).stem / f"{test_picture.__name__}[{name}].svg"


@pytest.fixture(scope="module")
def performance() -> Iterator[Performance]:
    """What the scenes are played by: one that follows another goes on in its program."""
    performance = Performance()
    yield performance
    performance.end()


@pytest.mark.parametrize("name", SCENES)
def test_picture(name: str, performance: Performance, snap_compare: Callable[..., bool]) -> None:
    scene = SCENES[name]
    app, play = performance.begin(scene)
    assert snap_compare(app, terminal_size=scene.size, run_before=play)


def test_a_scene_that_follows_another_stands_right_after_it() -> None:
    """Else all of its predecessors would be played again."""
    before = dict(zip(list(SCENES)[1:], SCENES.values(), strict=False))
    assert [name for name, scene in SCENES.items() if scene.follows not in (None, before.get(name))] == []


def test_each_snapshot_is_of_a_scene() -> None:
    kept = {path for path in TESTS.glob("**/__snapshots__/**/*") if path.is_file()}
    assert kept == {snapshot_of(name) for name in SCENES}, "pytest tests/ui/test_pictures.py --snapshot-update mends it"


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_screenshot_is_the_snapshot_of_its_scene(name: str) -> None:
    assert (FOLDER / f"{name}.svg").read_bytes() == snapshot_of(name).read_bytes(), (
        "write them anew: python -m tests.ui.scenes"
    )


def test_screenshots_holds_published_scenes_alone() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {f"{name}.svg" for name in PUBLISHED}
