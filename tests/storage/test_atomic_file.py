"""A file is written whole or not at all, whatever goes wrong, and nobody else's is overwritten."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tradetui.storage.atomic_file import atomic_writer, write_synced, write_text


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_file_is_replaced_whole_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "state.toml"
    file.write_text("old")
    write_text(file, "new\r\nlines\n")
    assert file.read_bytes() == b"new\r\nlines\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    write_text(file, "", mode=0o644)
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert names_in(tmp_path) == ["state.toml"]


def test_an_error_while_writing_leaves_the_old_text_and_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "fills.csv"
    file.write_text("old")
    with pytest.raises(ValueError, match="half way"), atomic_writer(file) as stream:
        stream.write("ne")
        assert file.read_text() == "old"
        raise ValueError("half way")
    assert file.read_text() == "old"
    assert names_in(tmp_path) == ["fills.csv"]


def test_what_a_killed_program_left_is_removed_a_day_later(tmp_path: Path) -> None:
    killed = (
        "import os, sys; from pathlib import Path; from tradetui.storage.atomic_file import atomic_writer\n"
        "with atomic_writer(Path(sys.argv[1])) as stream: stream.write('half'); stream.flush(); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", killed, str(tmp_path / "fills.csv")], check=False).returncode == 9
    (left,) = tmp_path.iterdir()
    theirs = tmp_path / ".notes.tradetui"
    theirs.write_text("a file of somebody else")
    os.utime(theirs, (0, 0))
    write_text(tmp_path / "a.csv", "")
    assert left.exists(), "it may still be written"
    day_ago = os.stat(tmp_path / "a.csv").st_mtime - 90_000
    os.utime(left, (day_ago, day_ago))
    write_text(tmp_path / "b.csv", "")
    assert names_in(tmp_path) == [".notes.tradetui", "a.csv", "b.csv"]


@pytest.mark.parametrize("links", [True, False])
def test_a_name_that_is_taken_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(Path, "hardlink_to", lambda *_: os.link(tmp_path / "nowhere", tmp_path / "link"))
    file = tmp_path / "profile.toml"
    write_text(file, "first", overwrite=False)
    with pytest.raises(FileExistsError):
        write_text(file, "second", overwrite=False)
    assert (file.read_text(), names_in(tmp_path)) == ("first", ["profile.toml"])


def test_a_name_that_is_taken_meanwhile_is_kept_too(tmp_path: Path) -> None:
    file = tmp_path / "profile.toml"
    with pytest.raises(FileExistsError), atomic_writer(file, overwrite=False) as stream:
        stream.write("ours")
        file.write_text("theirs")
    assert (file.read_text(), names_in(tmp_path)) == ("theirs", ["profile.toml"])


def test_the_text_is_synced_before_it_takes_its_place_and_the_directory_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    sync, replace = os.fsync, os.replace

    def noted_sync(descriptor: int) -> None:
        steps.append("directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "text")
        sync(descriptor)

    def noted_replace(source: Path, target: Path) -> None:
        steps.append("replace")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "replace", noted_replace)
    write_text(tmp_path / "known.json", "{}")
    assert steps == ["text", "replace", "directory"]
    steps.clear()
    write_text(tmp_path / "fills.csv", "a", durable=False)
    assert steps == ["text", "replace"]


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for new in (True, False):
        with pytest.raises(OSError):
            write_synced(tmp_path / "link", "secret", new=new)
    assert not (tmp_path / "elsewhere").exists()
