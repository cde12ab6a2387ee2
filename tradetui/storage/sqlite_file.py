"""Opens, migrates and changes SQLite files by the rules all of them share; refuses what cannot be trusted."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from tradetui.storage.private_directory import make_private_directory

_NOT_THE_FILES_FAULT = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)
Migration = str | Callable[[sqlite3.Connection], None]
"""SQL, or a function that is called within the transaction, which leads from one version to the next."""
BUSY_S: Final = 5.0
"""How long to wait for a process that holds a file."""
NETWORK_FILE_SYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ceph"})


class FileUnusable(Exception):
    """A file that cannot be used; `reason` says why, `remedy` what to do."""

    def __init__(self, file: str, reason: str, remedy: str) -> None:
        super().__init__(f"{file}: {reason}. {remedy}")
        self.file = file
        self.reason = reason
        self.remedy = remedy


LOSS_REMEDY = (
    "Look at positions, orders and fills at the exchange, then accept the loss: L on the main screen, "
    "or `tradetui journal --accept-loss`"
)


class FileLost(FileUnusable):
    """A file that must not be lost is damaged, absent or older than before.

    `locked` names the open intents in it, as far as they are known. Nothing is sent until the trader accepts the loss.
    """

    def __init__(self, file: str, reason: str, locked: Sequence[str] = ()) -> None:
        super().__init__(file, reason, LOSS_REMEDY)
        self.locked = tuple(locked)


def open_file(
    file: Path | None,
    migrations: Sequence[Migration],
    *,
    mounts: Path = Path("/proc/mounts"),
    checks: str = "",
    remedy: str = "",
) -> sqlite3.Connection:
    """Open (or make) a file brought to the newest version; None is memory only.

    Each migration leads from one version to the next. A newer version than is known is refused; a
    damaged file is set aside under another name, never deleted, and refused too. `checks` names the one table that is
    looked at for damage now, where a large file of the newest version shall open fast; `check_file` looks at all of it.

    Raises FileUnusable where it is newer, damaged, not writable, or on a network file system.
    """
    if file is None:
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrate(connection, migrations, "memory")
        return connection
    kind = file_system_of(file.parent, mounts)
    if kind in NETWORK_FILE_SYSTEMS:
        raise FileUnusable(
            str(file),
            f"it is on a network file system ({kind}), where locks cannot be relied on",
            remedy or "Set data_dir to a directory on this machine",
        )
    try:
        connection = connect(file)
    except OSError as problem:
        raise FileUnusable(
            str(file), f"it cannot be written ({problem.strerror})", remedy or "Check the directory"
        ) from None
    try:
        use_log(connection, synchronous="full")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        table = checks if version == len(migrations) else ""
        if connection.execute(f"PRAGMA quick_check({table or 1})").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("damaged")
        migrate(connection, migrations, str(file))
    except FileUnusable:
        connection.close()
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError) as problem:
        connection.close()
        if is_damage(problem):
            raise damaged(file) from None
        raise FileUnusable(str(file), f"it cannot be used ({problem})", "Check the disk and its free space") from None
    return connection


def connect(file: Path, *, timeout_s: float = BUSY_S, any_thread: bool = False) -> sqlite3.Connection:
    """Connect to a file, made of mode 0600 in a private directory where it is missing; transactions are explicit.

    `timeout_s` are seconds to wait for other processes that hold it. With `any_thread` several threads may use the
    connection, one at a time. Raises OSError where the file or its directory cannot be made, sqlite3.Error where it
    cannot be opened.
    """
    make_private_directory(file.parent)
    # Not opened but to make it: closing any descriptor of a file drops all locks this process holds on it (POSIX), and
    # another process would then take the log away under a connection that is open here.
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    if not os.access(file, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    return sqlite3.connect(file, isolation_level=None, timeout=timeout_s, check_same_thread=not any_thread)


def connect_existing(file: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Connect to a file that is there, which is never made anew; raises sqlite3.Error where it is not."""
    uri = f"{file.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_S)


def use_log(connection: sqlite3.Connection, *, synchronous: str) -> None:
    """Write through a log beside the file, so that readers and a writer do not wait for each other."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={synchronous}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Take the write lock at once, so that no two processes decide by the same state; commit, or undo on an error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it already; held on, it would block everybody
            connection.execute("ROLLBACK")
        raise


def check_file(connection: sqlite3.Connection, file: Path) -> None:
    """Look at all of an open file; a damaged one is closed, set aside, and raises FileUnusable."""
    try:
        # Unlike the quick check it holds the indexes to their tables, and the newest event is found by an index.
        if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok":
            return
    except (sqlite3.DatabaseError, UnicodeDecodeError) as problem:
        if not is_damage(problem):
            raise FileUnusable(str(file), f"it cannot be read ({problem})", "Check the disk") from None
    connection.close()
    raise damaged(file)


def rewrite_version(connection: sqlite3.Connection) -> None:
    """Write the file's own version: a transaction without a change, which shows whether the disk accepts writes."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.execute(f"PRAGMA user_version={version}")


def is_damage(problem: Exception) -> bool:
    """Whether an error shows that the file itself is damaged, and not that the disk or another program fails."""
    # What this module finds by itself, such as bytes that are no text, has no code of SQLite's.
    return getattr(problem, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF not in _NOT_THE_FILES_FAULT


def damaged(file: Path, detail: str = "") -> FileLost:
    """Set a damaged file aside; returns the error to raise."""
    aside = set_aside(file)
    return FileLost(str(file), f"it was damaged{detail and f' ({detail})'} and is kept as {aside.name}")


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration], name: str) -> None:
    """Lead a file forward to the newest version, in one transaction; raises FileUnusable where it is newer still."""
    if _known_version(connection, migrations, name) == len(migrations):
        return
    with transaction(connection):
        # Read again: another process may have led it forward while this one waited.
        for number in range(_known_version(connection, migrations, name), len(migrations)):
            migration = migrations[number]
            if isinstance(migration, str):
                for statement in _statements(migration):
                    connection.execute(statement)
            else:
                migration(connection)
            connection.execute(f"PRAGMA user_version={number + 1}")


def _known_version(connection: sqlite3.Connection, migrations: Sequence[Migration], name: str) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version < 0:
        raise sqlite3.DatabaseError("no version is negative")
    if version > len(migrations):
        raise FileUnusable(name, f"it is of a newer version ({version})", "Use the newer tradetui that wrote it")
    return version


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; a semicolon within one (a trigger's) does not end it."""
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
    """A damaged file of this name that still lies beside it."""
    return min(
        (aside for aside in file.parent.glob(f"{file.name}.damaged-*") if not aside.name.endswith(("-wal", "-shm"))),
        default=None,
    )


def accept_damage(file: Path) -> list[Path]:
    """Rename every damaged file that lies beside this one, so that it blocks nothing any more; the new paths."""
    accepted = []
    while (aside := set_aside_before(file)) is not None:
        kept = _free_name(file, "accepted")
        _rename(aside, kept)
        accepted.append(kept)
    return accepted


def set_aside(file: Path) -> Path:
    """Move a file that cannot be trusted, with its log, to a name that says so; the new path."""
    aside = _free_name(file, "damaged")
    _rename(file, aside)
    return aside


def _free_name(file: Path, state: str) -> Path:
    names = (file.with_name(f"{file.name}.{state}-{number}") for number in count(1))
    return next(name for name in names if not name.exists())


def _rename(file: Path, kept: Path) -> None:
    file.rename(kept)
    for suffix in ("-wal", "-shm"):
        side = file.with_name(file.name + suffix)
        if side.exists():
            side.rename(kept.with_name(kept.name + suffix))


def file_system_of(directory: Path, mounts: Path) -> str:
    """The kind of file system of a directory; empty where this machine does not name it."""
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
        mount = fields[1].replace("\\040", " ")
        if mount in above and len(mount) >= len(deepest):
            deepest, kind = mount, fields[2]
    return kind
