"""Keeps an archive from before the ledger as it was, until all its fills are booked."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from tradetui.storage.sqlite_file import connect, connect_existing, is_damage

BEFORE_LEDGER: Final = 1
"""The version of a file that knows no ledger."""


def copy_of(file: Path) -> Path:
    """Where the archive as it was is kept."""
    return file.with_name(f"{file.name}.before-ledger")


def keep_earlier(file: Path) -> None:
    """Copy an archive from before the ledger beside itself; one that holds nothing, or knows the ledger, is not.

    A copy is whole or not there: it gets its name when it is done. Blocks.

    Raises:
        sqlite3.Error: the file cannot be read, or the copy cannot be written.
        OSError: likewise.
    """
    if not file.exists():
        return
    with closing(connect_existing(file)) as archive:
        if not _is_earlier(archive):
            return
        unfinished = file.with_name(f"{copy_of(file).name}.{os.getpid()}")
        try:
            with closing(connect(unfinished)) as copy:
                archive.backup(copy)
            unfinished.replace(copy_of(file))
        finally:
            unfinished.unlink(missing_ok=True)


def forget_earlier(file: Path) -> None:
    """Delete the copy, and what a process left of one that was killed over it."""
    copy = copy_of(file)
    for path in (copy, *copy.parent.glob(f"{copy.name}.*")):
        path.unlink(missing_ok=True)


def _is_earlier(archive: sqlite3.Connection) -> bool:
    try:
        version: int = archive.execute("PRAGMA user_version").fetchone()[0]
        return version == BEFORE_LEDGER and archive.execute("SELECT 1 FROM record LIMIT 1").fetchone() is not None
    except sqlite3.DatabaseError as problem:
        if is_damage(problem):
            return False  # that is dealt with when it is opened
        raise
