"""Each screen of records looks as it is kept: loading, full, failed, empty, narrow, and its form."""

from __future__ import annotations

import pytest

from tests.ui.listing_pictures import FOLDER, STATES, in_virtual_time, pictures
from tradetui.desk.listing_kinds import LISTINGS


@pytest.mark.parametrize("table", LISTINGS)
def test_pictures_are_current(table: str) -> None:
    drawn = in_virtual_time(lambda: pictures(table))
    kept = {state: (FOLDER / f"{table}-{state}.svg").read_text(encoding="utf-8") for state in STATES}
    assert drawn == kept, "draw them anew: python -m tests.ui.listing_pictures"


def test_there_is_a_picture_of_every_state_and_no_other() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == {f"{table}-{state}" for table in LISTINGS for state in STATES}
