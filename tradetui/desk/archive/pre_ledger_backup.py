"""A backup of an archive that is older than the ledger, kept until all fills of the archive are booked."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from tradetui.storage.sqlite_file import connect, connect_existing, is_damage

BEFORE_LEDGER: Final = 1
"""The version of a file that knows no ledger."""


def backup_path(file: Path) -> Path:
    return file.with_name(f"{file.name}.before-ledger")


def back_up_before_ledger(file: Path) -> None:
    """Back up an archive that is older than the ledger and holds rows; of any other archive there is no backup.

    The backup gets its name once it is complete. Blocks. Raises sqlite3.Error or OSError where the file cannot be
    read, or the copy cannot be written.
    """
    if not file.exists():
        return
    with closing(connect_existing(file)) as archive:
        if not _is_before_ledger(archive):
            return
        unfinished = file.with_name(f"{backup_path(file).name}.{os.getpid()}")
        try:
            with closing(connect(unfinished)) as copy:
                archive.backup(copy)
            unfinished.replace(backup_path(file))
        finally:
            unfinished.unlink(missing_ok=True)


def delete_backup(file: Path) -> None:
    """Delete the backup, and unfinished ones that killed processes left."""
    copy = backup_path(file)
    for path in (copy, *copy.parent.glob(f"{copy.name}.*")):
        path.unlink(missing_ok=True)


def _is_before_ledger(archive: sqlite3.Connection) -> bool:
    try:
        version: int = archive.execute("PRAGMA user_version").fetchone()[0]
        return version == BEFORE_LEDGER and archive.execute("SELECT 1 FROM record LIMIT 1").fetchone() is not None
    except sqlite3.DatabaseError as problem:
        if is_damage(problem):
            return False  # opening the archive deals with damage
        raise
