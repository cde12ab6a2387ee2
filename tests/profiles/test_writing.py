"""A new profile's file: mode, content, and that nothing is ever overwritten."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest

from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.write import write_default, write_profile


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


def test_a_default_makes_the_file_where_there_is_none(tmp_path: Path) -> None:
    file = tmp_path / "tradetui" / "config.toml"
    write_default(file, "second")
    assert tomllib.loads(file.read_text()) == {"default_profile": "second"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "# mine\n[profiles.main]\nbase_url = 'https://x.example'  # kept\n",
            "default_profile = \"second\"\n\n# mine\n[profiles.main]\nbase_url = 'https://x.example'  # kept\n",
        ),
        (
            "# mine\r\ndefault_profile = 'main' # kept\r\n[profiles.main]\r\n",
            '# mine\r\ndefault_profile = "second" # kept\r\n[profiles.main]\r\n',
        ),
    ],
)
def test_a_default_changes_one_line_and_nothing_else(tmp_path: Path, before: str, after: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(before.encode())
    file.chmod(0o640)
    write_default(file, "second")
    assert file.read_bytes().decode() == after
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("text", ['"default_profile" = "main"\n', 'default_profile = """main"""\n', "not toml"])
def test_a_file_in_which_more_would_change_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=str(file)):
        write_default(file, "second")
    assert file.read_text() == text
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.toml"]


def test_a_linked_configuration_stays_a_link(tmp_path: Path) -> None:
    file = tmp_path / "dotfiles.toml"
    file.write_text("[profiles.main]\n")
    link = tmp_path / "config.toml"
    link.symlink_to(file)
    write_default(link, "main")
    assert link.is_symlink()
    assert tomllib.loads(file.read_text())["default_profile"] == "main"
