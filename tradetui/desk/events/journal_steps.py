"""Reads the outcomes of intents from the journal of an account, on connections that cannot write."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tradetui.desk.intents.journal.journal import written_mark
from tradetui.desk.intents.journal.registered_journal import JournalLocation, located
from tradetui.desk.intents.states import ENDED, State
from tradetui.storage.sqlite_file import connect_existing, is_damage

OUTCOMES: Final = frozenset({*ENDED, State.UNKNOWN, State.CORRECTED})
"""The steps of an intent that name its end, an unknown outcome, or a correction of its end."""


@dataclass(frozen=True, slots=True)
class JournalStep:
    """A step of an intent in the journal called `journal`: its number there, and when (Unix ms)."""

    journal: str
    number: int
    intent: str
    state: str
    at_ms: int
    details: Mapping[str, Any]


class JournalSteps:
    """The journals of one account, each read again only once its file has changed. Every call blocks briefly."""

    def __init__(self, location: JournalLocation) -> None:
        self._location = location
        self._written_marks: dict[Path, object] = {}

    def newest_numbers(self) -> dict[str, int]:
        """The number of the newest step of each journal, by the journal's name.

        Raises sqlite3.Error where a journal cannot be read now: left out, all of its outcomes would be new later.
        """
        numbers = {}
        for file in self._files():
            try:
                with closing(connect_existing(file, read_only=True)) as connection:
                    (journal,) = connection.execute("SELECT id FROM identity").fetchone()
                    (numbers[journal],) = connection.execute("SELECT coalesce(max(number), 0) FROM event").fetchone()
            except (sqlite3.Error, TypeError) as problem:
                if not is_damage(problem):
                    raise sqlite3.OperationalError(f"{file} cannot be read: {problem}") from problem
                continue  # a session that opens it says what is wrong with it
        return numbers

    def after(self, marks: Mapping[str, int]) -> list[JournalStep]:
        """The outcomes written after the numbers given by the journals' names; a file that is as it was gives none."""
        steps: list[JournalStep] = []
        for file in self._files():
            mark = written_mark(file)
            if mark == self._written_marks.get(file):
                continue
            try:
                with closing(connect_existing(file, read_only=True)) as connection:
                    steps += self._steps(connection, marks)
            except (sqlite3.Error, TypeError, ValueError):
                continue
            self._written_marks[file] = mark
        return steps

    def forget(self) -> None:
        """Read every file again, as if it had changed: what was given could not be kept."""
        self._written_marks.clear()

    def _steps(self, connection: sqlite3.Connection, marks: Mapping[str, int]) -> list[JournalStep]:
        (journal,) = connection.execute("SELECT id FROM identity").fetchone()
        rows = connection.execute(
            "SELECT number, intent, state, at_ms, told FROM event WHERE number > ? ORDER BY number",
            (marks.get(journal, 0),),
        ).fetchall()
        return [
            JournalStep(
                journal, number, intent, state, at_ms, {"title": _title(connection, intent), **json.loads(text)}
            )
            for number, intent, state, at_ms, text in rows
            if state in OUTCOMES
        ]

    def _files(self) -> list[Path]:
        location = located(self._location)
        files = () if location.file is None else (location.file, *location.former_files)
        return [file for file in files if file.exists()]


def _title(connection: sqlite3.Connection, intent: str) -> str:
    row = connection.execute("SELECT told FROM event WHERE intent = ? ORDER BY number LIMIT 1", (intent,)).fetchone()
    return str(json.loads(row[0]).get("title", intent))
