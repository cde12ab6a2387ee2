"""The rules every SQLite file is opened by."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tradetui.storage import sqlite_file
from tradetui.storage.sqlite_file import (
    FileUnusable,
    connect,
    connect_existing,
    file_system_of,
    open_file,
    transaction,
)

FIRST = "CREATE TABLE thing (id INTEGER)"
SECOND = "CREATE TABLE thing (id INTEGER, name TEXT)"


def test_an_earlier_file_is_set_aside_whole_and_a_newer_one_refused(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "thing.sqlite"
    old = open_file(file, FIRST, 2)
    old.execute("INSERT INTO thing VALUES (7)")
    for name in ("thing.sqlite.version-2-1", "thing.sqlite.version-2-2"):
        with pytest.raises(FileUnusable, match=f"of an earlier version and is kept as {name}"):
            open_file(file, SECOND, 3)
        assert not file.exists()
        open_file(file, FIRST, 2).close()
    old.close()
    with closing(connect_existing(file.with_name("thing.sqlite.version-2-1"))) as kept:
        assert kept.execute("SELECT id FROM thing").fetchall() == [(7,)]
    file.unlink()
    with closing(open_file(file, SECOND, 3)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    open_file(file, SECOND, 3).close()
    with pytest.raises(FileUnusable, match="newer version"):
        open_file(file, FIRST, 2)


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    file = tmp_path / "account" / "thing.sqlite"
    open_file(file, FIRST).close()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "9p"])
def test_a_network_file_system_is_refused(tmp_path: Path, kind: str) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda1 / ext4 rw 0 0\nserver:/home {tmp_path / 'home'} {kind} rw 0 0\n")
    with pytest.raises(FileUnusable, match="network file system"):
        open_file(tmp_path / "home" / "me" / "thing.sqlite", FIRST, mounts=mounts)
    open_file(tmp_path / "here" / "thing.sqlite", FIRST, mounts=mounts).close()
    assert file_system_of(tmp_path / "elsewhere", mounts) == "ext4"
    assert file_system_of(tmp_path, tmp_path / "no such file") == ""


def test_a_damaged_file_is_set_aside_whole(tmp_path: Path) -> None:
    file = tmp_path / "thing.sqlite"
    connection = open_file(file, FIRST)
    connection.executemany("INSERT INTO thing VALUES (?)", [(n,) for n in range(5_000)])
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = bytearray(file.read_bytes())
    content[4_096:8_192] = b"\xff" * 4_096
    file.write_bytes(content)
    with pytest.raises(FileUnusable, match="damaged"):
        open_file(file, FIRST)
    assert not file.exists()
    (aside,) = [file for file in tmp_path.iterdir() if file.name.startswith("thing.sqlite.damaged")]
    assert aside.read_bytes() == bytes(content)


def test_a_directory_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x")
    with pytest.raises(FileUnusable, match="cannot be written"):
        open_file(blocked / "thing.sqlite", FIRST)


def test_a_path_too_long_for_sqlite_says_so(tmp_path: Path) -> None:
    directory = tmp_path.joinpath(*["d" * 100] * 6)
    with pytest.raises(FileUnusable, match="cannot be used"):
        open_file(directory / "thing.sqlite", FIRST)


def test_a_file_that_another_program_holds_is_no_fault_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "thing.sqlite"
    open_file(file, FIRST).close()
    monkeypatch.setattr(sqlite_file, "connect", partial(connect, timeout_s=0.01))
    with closing(connect(file)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(FileUnusable, match="another program holds it") as error_info:
            open_file(file, FIRST)
    assert "disk" not in str(error_info.value)
    assert file.exists()


def in_another_process(file: Path) -> str:
    """What a process of its own reads of the file, which it closes again."""
    script = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); print(c.execute('SELECT id FROM thing').fetchall())"
    )
    return subprocess.check_output([sys.executable, "-c", f"{script}; c.close()", str(file)], text=True).strip()


def test_opened_twice_it_keeps_its_log_when_another_process_closes_it(tmp_path: Path) -> None:
    file = tmp_path / "thing.sqlite"
    with closing(open_file(file, FIRST)) as connection:
        connection.execute("INSERT INTO thing VALUES (7)")
        open_file(file, FIRST).close()
        assert in_another_process(file) == "[(7,)]"
        connection.execute("INSERT INTO thing VALUES (8)")
        assert in_another_process(file) == "[(7,), (8,)]"
        with closing(open_file(file, FIRST)) as again:
            assert again.execute("SELECT count(*) FROM thing").fetchone() == (2,)


def test_a_directory_in_its_place_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileUnusable, match="cannot be written"):
        open_file(tmp_path, FIRST)


def test_two_connections_see_one_file(tmp_path: Path) -> None:
    file = tmp_path / "thing.sqlite"
    one, two = open_file(file, FIRST), open_file(file, FIRST)
    one.execute("INSERT INTO thing VALUES (1)")
    assert two.execute("SELECT count(*) FROM thing").fetchone() == (1,)
    assert one.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    one.close()
    two.close()


def test_a_transaction_is_undone_on_an_error_and_the_file_is_free_again(tmp_path: Path) -> None:
    file = tmp_path / "thing.sqlite"
    one, two = open_file(file, FIRST), open_file(file, FIRST)
    with pytest.raises(ValueError, match="half way"), transaction(one) as connection:
        connection.execute("INSERT INTO thing VALUES (1)")
        raise ValueError("half way")
    with transaction(two):
        two.execute("INSERT INTO thing VALUES (2)")
    assert one.execute("SELECT id FROM thing").fetchall() == [(2,)]
    with pytest.raises(sqlite3.IntegrityError), transaction(one):
        one.execute("ROLLBACK")  # as a full disk does by itself
        raise sqlite3.IntegrityError
    one.close()
    two.close()


def test_what_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    for read_only in (True, False):
        with pytest.raises(sqlite3.OperationalError):
            connect_existing(tmp_path / "gone.sqlite", read_only=read_only)
    assert list(tmp_path.iterdir()) == []
    open_file(tmp_path / "here.sqlite", FIRST).close()
    with (
        closing(connect_existing(tmp_path / "here.sqlite", read_only=True)) as connection,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        connection.execute("INSERT INTO thing VALUES (1)")
