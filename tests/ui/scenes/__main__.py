"""Writes `screenshots/`, the pictures a reader of the README sees: `python -m tests.ui.scenes [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_textual_snapshot import normalize_svg

from tests.ui.scenes import SCENES
from tests.ui.scenes.scene import Performance

FOLDER = Path(__file__).parents[3] / "screenshots"


def write(folder: Path) -> None:
    """Write every published scene, and remove what is none."""
    published = {folder / f"{name}.svg": scene for name, scene in SCENES.items() if scene.published}
    for stale in set(folder.glob("*.svg")) - set(published):
        stale.unlink()
    performance = Performance()
    for file, scene in published.items():
        file.write_text(normalize_svg(performance.picture(scene)), encoding="utf-8")
        sys.stdout.write(f"{file}\n")
    performance.end()


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
