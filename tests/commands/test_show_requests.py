"""The requests of `show`, without reading anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tradetui.commands.show.options import show_parser
from tradetui.commands.show.requests import requests_of
from tradetui.desk.tables.table import TABLES
from tradetui.profiles.load import Flags, load
from tradetui.wire.errors import InvalidRequest

NOW_MS = 1_793_574_000_000
"""2026-11-01 23:00 UTC."""
ENVIRONMENT = {
    "TRADETUI_API_KEY": "key",
    "TRADETUI_API_SECRET": "secret",
    "TRADETUI_PASSPHRASE": "passphrase",
    "TRADETUI_BASE_URL": "https://api.example.com",
}


@pytest.mark.parametrize(
    ("until", "end_ms"),
    [("2026-11-01", NOW_MS), ("2026-10-31", 1_793_491_200_000 - 1), ("2026-11-01T22:00", NOW_MS - 3_600_000)],
)
def test_a_day_as_the_end_is_included_as_far_as_it_has_come(tmp_path: Path, until: str, end_ms: int) -> None:
    assert end_of_request(until, tmp_path) == end_ms


def test_an_end_after_today_is_refused_as_in_a_lookup(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"--until: must not be after today; given: 2027-01-01\. Without it"):
        end_of_request("2027-01-01", tmp_path)


def end_of_request(until: str, tmp_path: Path) -> int:
    options = show_parser().parse_args(["spot-fills", "--until", until])
    config = tmp_path / "config.toml"
    config.write_text('[profiles.main]\ntimezone = "UTC"\n')
    config.chmod(0o600)
    loaded = load(ENVIRONMENT, Flags(config=config))
    ((request,),), _ = requests_of(options, TABLES[options.what].endpoint, loaded, NOW_MS)
    end_ms: int = request.end_time
    return end_ms
