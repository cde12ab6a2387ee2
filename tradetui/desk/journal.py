"""The journal of intents: each step on disk before it is taken; its open intents are the lock between processes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from tradetui.desk.sqlite_file import FileUnusable, check_file, open_file, set_aside_before


class State(StrEnum):
    """Where an intent stands."""

    INTENDED = "intended"
    WITHDRAWN = "withdrawn"
    SENT = "sent"
    ACKNOWLEDGED = "acknowledged"
    REJECTED = "rejected"
    UNKNOWN = "unknown"
    SETTLED = "settled"
    RELEASED = "released"


TRANSITIONS: Final[Mapping[State, frozenset[State]]] = {
    State.INTENDED: frozenset({State.WITHDRAWN, State.SENT}),
    # Withdrawn by the process itself, which knows that its request never left.
    State.SENT: frozenset({State.WITHDRAWN, State.ACKNOWLEDGED, State.REJECTED, State.UNKNOWN}),
    State.ACKNOWLEDGED: frozenset({State.SETTLED, State.UNKNOWN}),
    State.UNKNOWN: frozenset({State.SETTLED, State.RELEASED}),
}
ENDED: Final = frozenset({State.WITHDRAWN, State.REJECTED, State.SETTLED, State.RELEASED})

_MIGRATIONS: Final = (
    """
    CREATE TABLE intent (
        id TEXT PRIMARY KEY, account TEXT NOT NULL, lock_key TEXT NOT NULL, kind TEXT NOT NULL,
        state TEXT NOT NULL, open INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX one_open_intent ON intent (account, lock_key) WHERE open = 1;
    CREATE TABLE event (
        number INTEGER PRIMARY KEY AUTOINCREMENT, intent TEXT NOT NULL REFERENCES intent (id),
        state TEXT NOT NULL, at_ms INTEGER NOT NULL, told TEXT NOT NULL
    );
    CREATE INDEX event_of_intent ON event (intent);
    CREATE TRIGGER no_change_of_event BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
    CREATE TRIGGER no_loss_of_event BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
    CREATE TABLE trading_lock (account TEXT PRIMARY KEY, locked INTEGER NOT NULL, at_ms INTEGER NOT NULL)
    """,
)


class AlreadyOpen(Exception):
    """An intent of the same account and lock key is not settled yet; `intent` is its id."""

    def __init__(self, intent: str, state: str) -> None:
        super().__init__(f"intent {intent} is {state}")
        self.intent = intent
        self.state = state


class Overtaken(Exception):
    """Another intent of the same account and lock key was written since what this one rests on was read."""


class WrongStep(Exception):
    """A step the state machine does not have; a fault of this program."""


@dataclass(frozen=True, slots=True)
class Event:
    """One step: the state reached, when (Unix ms), and what is told about it."""

    state: State
    at_ms: int
    told: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Intent:
    """An intent with every step so far. Secret fields are stored as `***`."""

    id: str
    account: str
    lock_key: str
    kind: str
    state: State
    events: tuple[Event, ...]

    @property
    def told(self) -> dict[str, Any]:
        """Everything told in any step, later ones over earlier ones."""
        merged: dict[str, Any] = {}
        for event in self.events:
            merged.update(event.told)
        return merged


class Journal:
    """One account's intents in a SQLite file (memory only where no file is given). All calls block briefly."""

    def __init__(self, file: Path | None) -> None:
        """Open the file; raises FileUnusable.

        A damaged journal may hold intents nobody knows of any more. While it lies where it was set aside there is no
        other, and nothing is sent, in this session and the next.
        """
        self._file = file
        if file is not None and (damaged := set_aside_before(file)) is not None:
            raise FileUnusable(
                str(file),
                f"a damaged journal lies beside it ({damaged.name})",
                "Look at positions, orders and fills at the exchange, then move that file away",
            )
        self._connection = open_file(file, _MIGRATIONS, checks="intent")
        self._files = {} if file is None else {each: _numbers(each) for each in (file, Path(f"{file}-wal"))}

    def check_place(self) -> None:
        """Make sure that the open file is the one others will open; raises OSError where it was moved or deleted.

        What is written into a file that nobody finds again locks nothing and tells nobody.
        """
        for file, before in self._files.items():
            now = _numbers(file)
            if before is None:
                self._files[file] = now
            elif now != before:
                raise OSError("the journal's file was moved, deleted or replaced while the program was running")

    def check(self) -> None:
        """Look for damage in all of the file, a second for every 400,000 intents; raises FileUnusable."""
        if self._file is not None:
            check_file(self._connection, self._file)

    def begin(
        self,
        intent: str,
        account: str,
        lock_key: str,
        kind: str,
        told: Mapping[str, Any],
        at_ms: int,
        *,
        after: int | None = None,
    ) -> None:
        """Write a new intent as intended; synced when this returns.

        `after` is `last_event` as it was before reading what the intent rests on.

        Raises:
            AlreadyOpen: one of the same account and lock key is open, in whatever process.
            Overtaken: one of the same account and lock key went on or ended after that event.
            sqlite3.Error: it could not be written, so nothing may be sent.
        """
        with self._writing():
            row = self._connection.execute(
                "SELECT id, state FROM intent WHERE account = ? AND lock_key = ? AND open = 1", (account, lock_key)
            ).fetchone()
            if row is not None:
                raise AlreadyOpen(*row)
            if after is not None and self._written_after(after, account, lock_key):
                raise Overtaken(lock_key)
            self._connection.execute(
                "INSERT INTO intent VALUES (?, ?, ?, ?, ?, 1)", (intent, account, lock_key, kind, State.INTENDED)
            )
            self._event(intent, State.INTENDED, told, at_ms)

    def step(self, intent: str, state: State, told: Mapping[str, Any], at_ms: int) -> None:
        """Write the next step of an intent; raises WrongStep where there is no such step."""
        with self._writing():
            row = self._connection.execute("SELECT state FROM intent WHERE id = ?", (intent,)).fetchone()
            if row is None or state not in TRANSITIONS.get(State(row[0]), frozenset()):
                raise WrongStep(f"{intent}: {row[0] if row else 'unknown intent'} to {state}")
            self._connection.execute(
                "UPDATE intent SET state = ?, open = ? WHERE id = ?", (state, state not in ENDED, intent)
            )
            self._event(intent, state, told, at_ms)

    def last_event(self) -> int:
        """The number of the newest event of all, 0 where there is none."""
        number: int = self._connection.execute("SELECT coalesce(max(number), 0) FROM event").fetchone()[0]
        return number

    def intent(self, intent: str) -> Intent:
        """One intent by id; raises KeyError."""
        row = self._connection.execute(
            "SELECT id, account, lock_key, kind, state FROM intent WHERE id = ?", (intent,)
        ).fetchone()
        if row is None:
            raise KeyError(intent)
        return self._read(row)

    def open_intents(self, account: str) -> list[Intent]:
        """Intents of an account that are not settled."""
        rows = self._connection.execute(
            "SELECT id, account, lock_key, kind, state FROM intent WHERE account = ? AND open = 1", (account,)
        ).fetchall()
        return [self._read(row) for row in rows]

    def newest(self, limit: int = 200) -> list[Intent]:
        """The newest intents of every account, newest first."""
        rows = self._connection.execute(
            "SELECT id, account, lock_key, kind, state FROM intent ORDER BY rowid DESC LIMIT ?", (limit,)
        ).fetchall()
        return [self._read(row) for row in rows]

    def trading_locked(self, account: str) -> bool | None:
        """Whether trading was locked or unlocked by hand; None where neither was done yet."""
        row = self._connection.execute("SELECT locked FROM trading_lock WHERE account = ?", (account,)).fetchone()
        return None if row is None else bool(row[0])

    def set_trading_lock(self, account: str, locked: bool, at_ms: int) -> None:
        """Lock or unlock trading for every process of the account, across restarts."""
        with self._writing():
            self._connection.execute("INSERT OR REPLACE INTO trading_lock VALUES (?, ?, ?)", (account, locked, at_ms))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _written_after(self, event: int, account: str, lock_key: str) -> bool:
        row = self._connection.execute(
            "SELECT 1 FROM event JOIN intent ON intent.id = event.intent"
            " WHERE number > ? AND account = ? AND lock_key = ? LIMIT 1",
            (event, account, lock_key),
        ).fetchone()
        return row is not None

    def _event(self, intent: str, state: State, told: Mapping[str, Any], at_ms: int) -> None:
        text = json.dumps(dict(told), ensure_ascii=False, default=str)
        # Half a character from the exchange must not keep a step from being written.
        text = text.encode("utf-8", "replace").decode()
        self._connection.execute(
            "INSERT INTO event (intent, state, at_ms, told) VALUES (?, ?, ?, ?)", (intent, state, at_ms, text)
        )

    def _read(self, row: tuple[str, str, str, str, str]) -> Intent:
        events = self._connection.execute(
            "SELECT state, at_ms, told FROM event WHERE intent = ? ORDER BY number", (row[0],)
        ).fetchall()
        steps = tuple(Event(State(state), at_ms, json.loads(told)) for state, at_ms, told in events)
        return Intent(row[0], row[1], row[2], row[3], State(row[4]), steps)

    def _writing(self) -> _Writing:
        self.check_place()
        return _Writing(self._connection)


def _numbers(file: Path) -> tuple[int, int] | None:
    """What tells a file from every other one on this machine; None where there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class _Writing:
    """One transaction that takes the write lock at once, so that two processes never both find nothing open."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._connection.execute("COMMIT" if kind is None else "ROLLBACK")
