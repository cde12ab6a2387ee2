"""Writes `screenshots/`, the pictures a reader of the README sees: `python -m tests.ui.scenes [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_textual_snapshot import normalize_svg
from textual._doc import take_svg_screenshot

from tests.ui.scenes import SCENES

FOLDER = Path(__file__).parents[3] / "screenshots"


def write(folder: Path) -> None:
    """Write every published scene, and remove what is none."""
    published = {folder / f"{name}.svg": scene for name, scene in SCENES.items() if scene.published}
    for stale in set(folder.glob("*.svg")) - set(published):
        stale.unlink()
    for file, scene in published.items():
        with scene.staged() as (app, play):
            drawn = take_svg_screenshot(app=app, terminal_size=scene.size, run_before=play)
        file.write_text(normalize_svg(drawn), encoding="utf-8")
        sys.stdout.write(f"{file}\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
