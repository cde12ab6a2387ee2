"""The journal's file as a life sees it: each step as it is written, and what damages the file between two runs."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from random import Random
from typing import Any

from tests.whole.lives.plan import Damage


class JournalWatch:
    """Reads the steps that are new in a journal's file, on a connection of its own."""

    def __init__(self, file: Path, newest: int = 0) -> None:
        self.inode = inode_of(file)
        self.data_dir = str(file.parents[2])
        self._written_in = (str(file), f"{file}-wal")
        self._versions: tuple[tuple[int, int, int], ...] = ()
        self._connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        self.newest = newest

    def was_written(self) -> bool:
        """Whether the file is another one than when this was asked last."""
        now = tuple(map(_content_of, self._written_in))
        changed, self._versions = now != self._versions, now
        return changed

    @property
    def has_events(self) -> bool:
        """Whether any step was seen in it."""
        return self.newest > 0

    def new_steps(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Intent, state and details of each new step."""
        try:
            rows = self._connection.execute(
                "SELECT number, intent, state, told FROM event WHERE number > ? AND intent != '' ORDER BY number",
                (self.newest,),
            ).fetchall()
        except sqlite3.DatabaseError:
            return []  # the file is being made, or was damaged: the program writes no step there
        if rows:
            self.newest = rows[-1][0]
        return [(intent, state, json.loads(details)) for _, intent, state, details in rows]

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def inode_of(file: Path) -> int:
    """What tells a file from one that took its place."""
    try:
        return file.stat().st_ino
    except FileNotFoundError:
        return 0


def _content_of(file: str) -> tuple[int, int, int]:
    try:
        status = os.stat(file)
    except FileNotFoundError:
        return (0, 0, 0)
    return status.st_ino, status.st_size, status.st_mtime_ns


def damage_journal(file: Path, damage: Damage, random: Random) -> None:
    """Do to a journal what happens to files."""
    sides = [file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")]
    match damage:
        case Damage.DELETED:
            for side in sides:
                side.unlink(missing_ok=True)
        case Damage.EMPTIED:
            for side in sides:
                if side.exists():
                    side.write_bytes(b"")
        case Damage.FLIPPED:
            connection = sqlite3.connect(file)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()
            content = bytearray(file.read_bytes())
            offset = content.find(b'"request"')
            content[offset + 2 if offset > 0 else random.randrange(len(content))] ^= 4
            file.write_bytes(content)
