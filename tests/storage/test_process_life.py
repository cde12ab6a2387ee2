"""A process is known to live by the lock it holds, and known to be dead the moment it has ended."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tradetui.storage.process_life import ProcessLives, is_alive

HOLDS_UNTIL_KILLED = """
import sys
from pathlib import Path
from tradetui.storage.process_life import ProcessLives
life = ProcessLives(Path(sys.argv[1]), "child")
print(life.owner, flush=True)
sys.stdin.read()
"""


def test_this_process_lives_until_it_lets_go(tmp_path: Path) -> None:
    life = ProcessLives(tmp_path, "one")
    assert is_alive(tmp_path, life.owner)
    assert is_alive(tmp_path, life.owner)
    life.close()
    assert list(tmp_path.iterdir()) == []
    assert not is_alive(tmp_path, life.owner), "also where this process has the number of one that ended before it"


def test_a_killed_process_is_seen_at_once(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDS_UNTIL_KILLED, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    owner = child.stdout.readline().strip()
    assert is_alive(tmp_path, owner)
    child.kill()
    child.wait()
    assert not is_alive(tmp_path, owner)
    assert not is_alive(tmp_path, owner), "asking twice says the same"


def test_an_emptied_directory_asks_by_the_process_number(tmp_path: Path) -> None:
    life = ProcessLives(tmp_path, "one")
    next(tmp_path.iterdir()).unlink()
    assert is_alive(tmp_path, life.owner)
    life.close()


def test_an_owner_that_never_was_is_not_alive(tmp_path: Path) -> None:
    assert not is_alive(tmp_path, "no-number")
    assert is_alive(tmp_path, f"{os.getppid()}-unknown"), "the number is in use, so nothing is certain"


def test_a_file_system_without_locks_keeps_neither_file_nor_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, f"no locks for {descriptor} and {operation}")

    monkeypatch.setattr(fcntl, "flock", refused)
    descriptors = len(os.listdir("/dev/fd"))
    assert ProcessLives(tmp_path, "one").owner == ""
    assert (list(tmp_path.iterdir()), len(os.listdir("/dev/fd"))) == ([], descriptors)


def test_a_process_that_took_over_the_number_is_not_taken_for_the_one_that_ended(tmp_path: Path) -> None:
    ended = tmp_path / f"{os.getpid()}-ended.alive"
    ended.touch()
    assert not is_alive(tmp_path, ended.stem)
    assert not is_alive(tmp_path, ended.stem)


def test_files_of_long_ago_do_not_pile_up(tmp_path: Path) -> None:
    (tmp_path / "1-recent.alive").touch()
    old = tmp_path / "1-old.alive"
    old.touch()
    os.utime(old, (0, 0))
    life = ProcessLives(tmp_path, "new")
    assert {file.name for file in tmp_path.iterdir()} == {"1-recent.alive", f"{life.owner}.alive"}
    life.close()
