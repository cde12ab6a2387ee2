"""Time zones are called on the screen as a sentence goes on with them: "times in local time"."""

from __future__ import annotations

import pytest

from tradetui.desk.tables.time_zones import zone_label, zone_named


@pytest.mark.parametrize(
    ("name", "label"), [("utc", "UTC"), ("local", "local time"), ("no zone of this machine", "UTC")]
)
def test_a_zone_has_a_name_for_the_screen(name: str, label: str) -> None:
    assert zone_label(zone_named(name)) == label
