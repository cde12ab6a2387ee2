"""A new profile's file: mode, content, and that nothing is ever overwritten."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest

from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.write import write_profile


def test_mode_and_content(tmp_path: Path) -> None:
    file = tmp_path / "profiles.d" / "main.toml"
    write_profile(file, {"base_url": "https://x.example"}, "written for a test")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert tomllib.loads(file.read_text()) == {"base_url": "https://x.example"}
    assert [entry.name for entry in file.parent.iterdir()] == ["main.toml"], "nothing temporary is left behind"


def test_what_a_person_wrote_stays(tmp_path: Path) -> None:
    file = tmp_path / "main.toml"
    file.write_text("# mine\n")
    with pytest.raises(ConfigurationError, match="exists already"):
        write_profile(file, {}, "again")
    assert file.read_text() == "# mine\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["main.toml"]


def test_an_unwritable_directory_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        write_profile(blocked / "main.toml", {}, "x")
