"""Opens and changes SQLite files by common rules; refuses files that cannot be trusted.

Every file has one schema, whose version is its `PRAGMA user_version`. A file that is damaged, or of an earlier version,
is never deleted. It is renamed to `NAME.damaged-1` or `NAME.version-14-1`, with its log, so that it can be examined and
is not read by mistake.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from tradetui.storage.private_directory import make_private_directory

Schema = str | Callable[[sqlite3.Connection], None]
"""Makes the tables of a new file: SQL, or a function called within the transaction."""
BUSY_S: Final = 5.0
"""Seconds to wait for another process that holds a file."""
NETWORK_FILE_SYSTEMS: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ceph"})
LOSS_REMEDY: Final = (
    "Check positions, orders and fills on the exchange's site, then accept the loss: press L in tradetui, or run "
    "`tradetui journal --accept-loss`"
)
RESTART_REMEDY: Final = "Restart tradetui: until then this session sends nothing"
_HELD_BY_OTHERS: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_NOT_THE_FILES_FAULT: Final = _HELD_BY_OTHERS | {
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}


class FileUnusable(Exception):
    """The file cannot be used; `reason` says why and `remedy` what to do."""

    def __init__(self, file: str, reason: str, remedy: str) -> None:
        super().__init__(f"{file}: {reason}. {remedy}")
        self.file = file
        self.reason = reason
        self.remedy = remedy


class FileLost(FileUnusable):
    """A file that must not be lost is damaged, absent or older than before.

    `locked` names its open intents, as far as they are known. Nothing is sent until the trader accepts the loss.
    """

    def __init__(self, file: str, reason: str, locked: Sequence[str] = ()) -> None:
        super().__init__(file, reason, LOSS_REMEDY)
        self.locked = tuple(locked)


def open_file(
    file: Path | None,
    schema: Schema,
    version: int = 1,
    *,
    mounts: Path = Path("/proc/mounts"),
    checked_table: str = "",
    remedy: str = "",
) -> sqlite3.Connection:
    """Open a file, or make one by the schema of this version; None opens a temporary file that nobody else can open.

    The whole file is checked for damage. If `checked_table` is given, only that table of an existing file is checked,
    so that a large file opens fast; `check_file` checks the rest later. `remedy` says what to do about an unusable
    directory.

    Raises FileUnusable if the file is of a newer version, of an earlier one or damaged (both are set aside), held by
    another program, not writable, or on a network file system.
    """
    if file is None:
        connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        make_tables(connection, schema, version, "temporary file")
        return connection
    _refuse_network_file_system(file, mounts, remedy)
    if (kept := _set_aside_older(file, version)) is not None:
        reason = f"it is of an earlier version and is kept as {kept.name}"
        raise FileUnusable(str(file), reason, "Start again: a new file is made")
    try:
        connection = connect(file)
    except OSError as problem:
        reason = f"it cannot be written ({problem.strerror})"
        raise FileUnusable(str(file), reason, remedy or "Check the directory") from None
    except sqlite3.Error as problem:
        raise unusable(file, problem) from None
    try:
        use_log(connection, synchronous="full")
        has_tables = connection.execute("PRAGMA user_version").fetchone()[0] == version
        if not _passes_quick_check(connection, checked_table if has_tables else ""):
            raise sqlite3.DatabaseError("damaged")
        make_tables(connection, schema, version, str(file))
    except FileUnusable:
        connection.close()
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError) as problem:
        connection.close()
        raise (damaged(file) if is_damage(problem) else unusable(file, problem)) from None
    return connection


def connect(file: Path, *, timeout_s: float = BUSY_S, any_thread: bool = False) -> sqlite3.Connection:
    """Connect to a file with explicit transactions; a missing file is made with mode 0600 in a private directory.

    `timeout_s` is how many seconds to wait for other processes that hold the file. If `any_thread` is True, several
    threads may use the connection, one at a time. Raises OSError if the file or its directory cannot be made,
    sqlite3.Error if it cannot be opened.
    """
    make_private_directory(file.parent)
    # An existing file is not opened here: closing any descriptor of a file drops all locks that this process holds on
    # it (POSIX), and another process could then remove the log under a connection that is open here.
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    if not os.access(file, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    return sqlite3.connect(file, isolation_level=None, timeout=timeout_s, check_same_thread=not any_thread)


def connect_existing(file: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Connect to an existing file and never make one; raises sqlite3.Error if it does not exist."""
    uri = f"{file.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_S)


def use_log(connection: sqlite3.Connection, *, synchronous: str) -> None:
    """Use a write-ahead log, so that readers and a writer do not wait for each other."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={synchronous}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Take the write lock at once, so that no two processes decide by the same state; commit, or roll back on error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it; left open, it would block every process
            connection.execute("ROLLBACK")
        raise


def check_file(connection: sqlite3.Connection, file: Path) -> None:
    """Check the whole of an open file. If it is damaged, close it, set it aside and raise FileUnusable."""
    try:
        # Unlike the quick check, this compares indexes with their tables; the newest event is found by an index.
        if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok":
            return
    except (sqlite3.DatabaseError, UnicodeDecodeError) as problem:
        if not is_damage(problem):
            raise unusable(file, problem) from None
    connection.close()
    raise damaged(file)


def _passes_quick_check(connection: sqlite3.Connection, table: str) -> bool:
    """Whether one table is free of damage, or the whole file if `table` is empty."""
    at_most_one_finding = 1
    row = connection.execute(f"PRAGMA quick_check({table or at_most_one_finding})").fetchone()
    return bool(row[0] == "ok")


def refuse_other_version(connection: sqlite3.Connection, version: int, name: str) -> None:
    """Refuse a file that a newer program has migrated while this one has it open.

    Call it within a write transaction, so that no migration can happen before its end. Raises FileUnusable.
    """
    version_now: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version_now != version:
        reason = f"a newer tradetui has brought {Path(name).name} from version {version} to {version_now}"
        raise FileUnusable(name, reason, RESTART_REMEDY)


def file_id(file: Path) -> tuple[int, int] | None:
    """Identify a file on this machine by device and inode; None if it does not exist."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def rewrite_version(connection: sqlite3.Connection) -> None:
    """Write the file's version unchanged; this shows whether the disk accepts writes."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.execute(f"PRAGMA user_version={version}")


def is_damage(problem: Exception) -> bool:
    """Whether an error shows damage to the file itself, and not a failure of the disk or another program."""
    return _primary_code(problem) not in _NOT_THE_FILES_FAULT


def is_held_by_others(problem: Exception) -> bool:
    """Whether it is only that others are at the file: they write, or one was killed and another one clears up."""
    return _primary_code(problem) in _HELD_BY_OTHERS


def unusable(file: Path, problem: Exception) -> FileUnusable:
    """Make the error for a file that is not known to be damaged but cannot be read or written now."""
    if is_held_by_others(problem):
        remedy = "Close the other program that uses it, then try again"
        return FileUnusable(str(file), f"another program holds it ({problem})", remedy)
    return FileUnusable(str(file), f"it cannot be used ({problem})", "Check the disk and its free space")


def _primary_code(problem: Exception) -> int:
    """Return SQLite's result code without the details in its higher bits."""
    # An error of Python's own, such as for bytes that are not text, has no code; it shows that the content is wrong.
    code: int = getattr(problem, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return code & 0xFF


def damaged(file: Path, detail: str = "") -> FileLost:
    """Set a damaged file aside and make the error to raise."""
    aside = set_aside(file)
    return FileLost(str(file), f"it was damaged{detail and f' ({detail})'} and is kept as {aside.name}")


def make_tables(connection: sqlite3.Connection, schema: Schema, version: int, name: str) -> None:
    """Make the tables of a file without any, in one transaction; raises FileUnusable if it is of a newer version."""
    if _has_tables(connection, version, name):
        return
    with transaction(connection):
        # Another process may have made them while this one waited.
        if _has_tables(connection, version, name):
            return
        if isinstance(schema, str):
            for statement in _statements(schema):
                connection.execute(statement)
        else:
            schema(connection)
        connection.execute(f"PRAGMA user_version={version}")


def _has_tables(connection: sqlite3.Connection, version: int, name: str) -> bool:
    present: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if present < 0:
        raise sqlite3.DatabaseError("no version is negative")
    if present > version:
        raise FileUnusable(name, f"it is of a newer version ({present})", "Use the newer tradetui that wrote it")
    return present == version


def _statements(script: str) -> Iterator[str]:
    """Split a script into statements; a semicolon within one (a trigger's) does not end it."""
    statement = ""
    for part in script.split(";"):
        statement += part + ";"
        if sqlite3.complete_statement(statement):
            if statement.strip("; \n"):
                yield statement
            statement = ""
    if statement.strip("; \n"):
        yield statement


def set_aside_before(file: Path) -> Path | None:
    """Return a damaged file that was set aside from this name, if any."""
    return min(
        (aside for aside in file.parent.glob(f"{file.name}.damaged-*") if not aside.name.endswith(("-wal", "-shm"))),
        default=None,
    )


def accept_damage(file: Path) -> list[Path]:
    """Rename every damaged file of this name, so that it blocks nothing any more; return the new paths."""
    accepted = []
    while (aside := set_aside_before(file)) is not None:
        kept = _free_name(file, "accepted")
        _rename(aside, kept)
        accepted.append(kept)
    return accepted


def set_aside(file: Path) -> Path:
    """Rename a file that cannot be trusted, with its log; return the new path."""
    aside = _free_name(file, "damaged")
    _rename(file, aside)
    return aside


def _set_aside_older(file: Path, newest: int) -> Path | None:
    """Rename a file of an earlier version, with its log; return the new path, or None if it is not older."""
    if _version_of(file) not in range(1, newest):
        return None
    directory = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        version = _version_of(file)  # read again: another process may have moved it while this one waited
        if version not in range(1, newest):
            return None
        kept = _free_name(file, f"version-{version}")
        _rename(file, kept)
        return kept
    finally:
        os.close(directory)


def _version_of(file: Path) -> int:
    """Return the version of a file; 0 if it does not exist or cannot be read (opening it then raises the error)."""
    with suppress(sqlite3.Error), closing(connect_existing(file)) as connection:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        return version
    return 0


def _free_name(file: Path, state: str) -> Path:
    names = (file.with_name(f"{file.name}.{state}-{number}") for number in count(1))
    return next(name for name in names if not name.exists())


def _rename(file: Path, kept: Path) -> None:
    file.rename(kept)
    for suffix in ("-wal", "-shm"):
        side = file.with_name(file.name + suffix)
        if side.exists():
            side.rename(kept.with_name(kept.name + suffix))


def _refuse_network_file_system(file: Path, mounts: Path, remedy: str) -> None:
    kind = file_system_of(file.parent, mounts)
    if kind in NETWORK_FILE_SYSTEMS:
        reason = f"it is on a network file system ({kind}), where locks cannot be relied on"
        raise FileUnusable(str(file), reason, remedy or "Set data_dir to a directory on this machine")


def file_system_of(directory: Path, mounts: Path) -> str:
    """Return the type of a directory's file system from a table such as /proc/mounts; empty if it is not known.

    A line holds a device, the directory it is mounted on and the type: `/dev/sda1 /home ext4 rw 0 0`. The deepest mount
    above the directory counts; of several lines for one mount, the last.
    """
    try:
        lines = mounts.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    path = directory.absolute()
    above = {str(path), *map(str, path.parents)}
    deepest, kind = "", ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mount = fields[1].replace("\\040", " ")  # a space in a name is written as its octal code
        if mount in above and len(mount) >= len(deepest):
            deepest, kind = mount, fields[2]
    return kind
