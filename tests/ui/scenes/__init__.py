"""Every picture of the program, by name. Add one as an entry of `SCENES` in the file of its subject here.

An entry says the picture's size, the words that make it that scene, what happens in it (`plays` has what several
do), and the account where it is not the first. One that needs no program of its own goes on `then`, where another
ended, and stands right after it.
`tests/ui/test_pictures.py` holds each to its snapshot:

    pytest tests/ui/test_pictures.py                       compares, and reports differences in snapshot_report.html
    pytest tests/ui/test_pictures.py --snapshot-update     draws all anew, and deletes those of scenes that are gone
    python -m tests.ui.scenes                              writes `screenshots/` from the scenes that are published

Look at what changed before committing it.
"""

from __future__ import annotations

from tests.ui.scenes import creation, gallery, lookup, main_screen, money, overview, reversal
from tests.ui.scenes.scene import Scene

SCENES: dict[str, Scene] = (
    main_screen.SCENES
    | gallery.SCENES
    | reversal.SCENES
    | creation.SCENES
    | lookup.SCENES
    | money.SCENES
    | overview.SCENES
)
