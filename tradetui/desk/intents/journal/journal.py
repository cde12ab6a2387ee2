"""The journal of intents: each step is on disk before it is taken, and an open intent locks its scope.

The lock is the file's own: two processes never both find a scope free. Events are never changed or deleted. The hash of
an event covers all its columns, its intent and the hash before it, so that a loss or change shows.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from tradetui.desk.intents.states import ENDED, TRANSITIONS, AlreadyOpen, Event, Intent, Overtaken, State, WrongStep
from tradetui.exchange.clock import Moment
from tradetui.storage.sqlite_file import (
    FileLost,
    FileUnusable,
    Schema,
    check_file,
    connect_existing,
    damaged,
    file_id,
    is_damage,
    open_file,
    refuse_other_version,
    rewrite_version,
    set_aside_before,
    transaction,
)

LOCK_EVENT: Final = "locked"
UNLOCK_EVENT: Final = "unlocked"
"""The trading lock is an event without an intent, in one of these two states."""
_ENCODED: Final = json.JSONEncoder().encode
"""Like `json.dumps`, but its options are set once and not a hundred thousand times."""


class BrokenChain(Exception):
    """The file holds an event that this program did not write; `number` is the first one affected."""

    def __init__(self, number: int) -> None:
        super().__init__(f"event {number} is not as it was written")
        self.number = number


class ChainPoint(NamedTuple):
    """An event's number and the hash of everything up to it."""

    number: int
    chain: str


class EventRow(NamedTuple):
    """The columns that an event's hash covers. For the trading lock `intent` is empty, `account` to `kind` are None."""

    number: int
    intent: str
    account: str | None
    lock_key: str | None
    kind: str | None
    state: str
    at_ms: int
    boot: str
    monotonic_s: float
    owner: str
    details: str


def genesis(journal_id: str) -> ChainPoint:
    """Return the point before the first event; it differs for every journal."""
    return ChainPoint(0, hashlib.blake2b(f"journal {journal_id}".encode(), digest_size=16).hexdigest())


def chained(previous: str, row: Sequence[object]) -> str:
    """Return the hash of an event, given as the columns of an `EventRow`, after an event of hash `previous`."""
    return hashlib.blake2b(_ENCODED((previous, *row)).encode(), digest_size=16).hexdigest()


def insert_event(connection: sqlite3.Connection, row: EventRow, previous: str) -> str:
    """Append an event with its chain hash, and return the hash."""
    chain = chained(previous, row)
    connection.execute(
        "INSERT INTO event (number, intent, state, at_ms, boot, monotonic_s, owner, told, chain)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (row.number, row.intent, row.state, row.at_ms, row.boot, row.monotonic_s, row.owner, row.details, chain),
    )
    return chain


def read_details(text: object) -> Mapping[str, Any]:
    """Parse the details of an event from their JSON text; raises sqlite3.DatabaseError if they are not valid."""
    try:
        details = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        details = None
    if not isinstance(details, dict):
        raise sqlite3.DatabaseError("the details of an event cannot be read")
    return details


_STATES: Final = frozenset(map(str, State))
_LOCK_STATES: Final = frozenset({LOCK_EVENT, UNLOCK_EVENT})
_ENDED: Final = frozenset(map(str, ENDED))
_EVENTS: Final = (
    "SELECT number, intent, account, lock_key, kind, event.state, at_ms, boot, monotonic_s, owner, told, chain"
    " FROM event LEFT JOIN intent ON intent.id = event.intent WHERE number > ? ORDER BY number"
)
_MISMATCH: Final = (
    "SELECT last.number, intent.state, last.state, open FROM intent LEFT JOIN event AS last ON last.number ="
    " (SELECT max(number) FROM event WHERE event.intent = intent.id)"
)


def verify(connection: sqlite3.Connection, start: ChainPoint) -> ChainPoint:
    """Verify the chain up to its newest event, and the table of intents; return the new point. Raises BrokenChain."""
    point = start
    touched: set[str] = set()
    try:
        for row in connection.execute(_EVENTS, (start.number,)):
            number, intent, state, chain = row[0], row[1], row[5], row[11]
            fits = state in (_STATES if intent else _LOCK_STATES)
            if not fits or chained(point.chain, row[:11]) != chain:
                raise BrokenChain(number)
            if intent:
                touched.add(intent)
            point = ChainPoint(number, chain)
    except TypeError:  # bytes in place of text or a number
        raise BrokenChain(point.number + 1) from None
    if start.number == 0:
        for mismatch in connection.execute(_MISMATCH):
            _check_intent(mismatch)
    else:
        for intent in touched:
            for mismatch in connection.execute(f"{_MISMATCH} WHERE intent.id = ?", (intent,)):
                _check_intent(mismatch)
    return point


def _check_intent(row: tuple[int | None, object, object, object]) -> None:
    number, state, last_state, is_open = row
    # If another intent holds the scope, a corrected intent is not marked open.
    fits = is_open == (state not in _ENDED) or (state == State.CORRECTED and is_open == 0)
    if number is None or state != last_state or not fits:
        raise BrokenChain(number or 0)


JOURNAL_VERSION: Final = 2
_TABLES: Final = """
    CREATE TABLE identity (id TEXT NOT NULL);
    CREATE TABLE intent (
        id TEXT PRIMARY KEY, account TEXT NOT NULL, lock_key TEXT NOT NULL, kind TEXT NOT NULL,
        state TEXT NOT NULL, open INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX one_open_intent ON intent (account, lock_key) WHERE open = 1;
    CREATE TABLE event (
        number INTEGER PRIMARY KEY AUTOINCREMENT, intent TEXT NOT NULL, state TEXT NOT NULL, at_ms INTEGER NOT NULL,
        boot TEXT NOT NULL, monotonic_s REAL NOT NULL, owner TEXT NOT NULL, told TEXT NOT NULL, chain TEXT NOT NULL
    );
    CREATE INDEX event_of_intent ON event (intent);
    CREATE INDEX open_scope ON intent (lock_key) WHERE open = 1;
    CREATE INDEX corrected_scope ON intent (lock_key) WHERE state = 'corrected'
    """
_TRIGGERS: Final = (
    "CREATE TRIGGER no_change_of_event BEFORE UPDATE ON event"
    " BEGIN SELECT RAISE(ABORT, 'events are never changed'); END",
    "CREATE TRIGGER no_loss_of_event BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END",
)


def _schema(new_id: Callable[[], str]) -> Schema:
    """Make the schema of a new journal; `new_id` gives its permanent id."""

    def make(connection: sqlite3.Connection) -> None:
        for statement in (*_TABLES.split(";"), *_TRIGGERS):
            connection.execute(statement)
        connection.execute("INSERT INTO identity VALUES (?)", (new_id(),))

    return make


_OPEN: Final = ("open = 1", "state = 'corrected'")
"""An intent is open if it holds its scope, or if it was corrected while another intent held it."""


class Journal:
    """One account's intents in a SQLite file. All calls block briefly."""

    def __init__(
        self, file: Path, owner: str = "", *, new_id: Callable[[], str] = lambda: secrets.token_hex(16)
    ) -> None:
        """Open the file; raises FileUnusable.

        A damaged journal may hold intents that nobody knows any more. While the file set aside is there, no other
        journal is opened and nothing is sent, in this session and the next. `owner` is the name by which others check
        whether this process lives, empty if they cannot; `new_id` gives a new journal its permanent id.
        """
        self.file: Final = file
        self._owner = owner
        if (aside := set_aside_before(file)) is not None:
            raise FileLost(str(file), f"it was damaged and is kept as {aside.name}")
        self._connection = open_file(file, _schema(new_id), JOURNAL_VERSION, checked_table="intent")
        self._files = {side: file_id(side) for side in (file, Path(f"{file}-wal"))}
        try:
            self.id = self._read_id()
            self._mark = self._mark_now()
        except BaseException:
            self._connection.close()
            raise
        self._verified = genesis(self.id)
        self._open_intents: tuple[tuple[int, int], tuple[Intent, ...]] | None = None
        self._contradicted: tuple[int, Intent | None] | None = None

    # The file

    def check_not_replaced(self) -> None:
        """Check that the open file is the one others will open, and of the version that this program knows.

        Events in a file that nobody finds again would lock nothing and inform nobody. Raises OSError if it was moved or
        deleted, FileUnusable if a newer program has changed it.
        """
        for file, before in self._files.items():
            now = file_id(file)
            if before is None:
                self._files[file] = now
            elif now != before:
                raise OSError("the journal's file was moved, deleted or replaced while the program was running")
        self._refuse_other_version(self._connection)

    def _refuse_other_version(self, connection: sqlite3.Connection) -> None:
        refuse_other_version(connection, JOURNAL_VERSION, str(self.file))

    def check(self) -> None:
        """Check the whole file for damage; a damaged file is set aside. Raises FileUnusable."""
        check_file(self._connection, self.file)
        self._verified = genesis(self.id)
        self.verify()

    def verify(self) -> ChainPoint:
        """Verify the file by its hash chain, on a connection of its own; return the newest event and its hash.

        The part already verified is not read again unless another connection has written to the file since.

        Raises:
            FileLost: an event is not as it was written. The file is set aside, and this journal is closed.
            FileUnusable: it cannot be read, or a newer program has changed it, which is not damage.
        """
        self._forget_what_others_touched()
        try:
            with closing(connect_existing(self.file)) as connection:
                connection.execute("BEGIN")
                self._refuse_other_version(connection)
                self._verified = verify(connection, self._verified)
        except BrokenChain as broken:
            raise self._damaged(str(broken)) from None
        except (sqlite3.DatabaseError, UnicodeDecodeError) as problem:
            raise self._unreadable(problem) from None
        return self._verified

    def _read_id(self) -> str:
        try:
            row = self._connection.execute("SELECT id FROM identity").fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as problem:
            raise self._unreadable(problem) from None
        if row is None or not isinstance(row[0], str):
            raise self._damaged("it has no id")
        return row[0]

    def _unreadable(self, problem: Exception) -> FileUnusable:
        with suppress(sqlite3.Error):  # a change by a newer program is not damage: its file stays where it is
            self._refuse_other_version(self._connection)
        if is_damage(problem):
            return self._damaged("it cannot be read")
        return FileUnusable(str(self.file), f"it cannot be read ({problem})", "Check the disk")

    def _damaged(self, detail: str) -> FileUnusable:
        self._connection.close()
        return damaged(self.file, detail)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise FileUnusable in place of a database error; a damaged file is set aside."""
        try:
            yield
        except (sqlite3.DatabaseError, UnicodeDecodeError) as problem:
            raise self._unreadable(problem) from None

    def _mark_now(self) -> object:
        """Return a mark that changes when another connection writes: SQLite's count of commits, and the files."""
        return self._data_version(), written_mark(self.file)

    def _data_version(self) -> int:
        """Return SQLite's count of commits by other connections."""
        (others,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(others)

    @property
    def touched(self) -> bool:
        """Whether another connection has written to the file since it was verified."""
        return self._mark_now() != self._mark

    def _forget_what_others_touched(self) -> None:
        if (now := self._mark_now()) != self._mark:
            self._verified = genesis(self.id)
            self._mark = now

    # Steps

    def begin(
        self,
        intent: str,
        account: str,
        scope: str,
        kind: str,
        details: Mapping[str, Any],
        at: Moment,
        *,
        after: int | None = None,
    ) -> None:
        """Write a new intent as intended, synced on return.

        `after` is `last_event` before reading the rows on which the intent is based. Raises AlreadyOpen if an intent of
        the same scope is open, in any process; Overtaken if one of the same scope moved on or ended after that event;
        FileUnusable if the file is damaged; sqlite3.Error if it could not be written, so that nothing may be sent.
        """
        self.check_not_replaced()
        self.verify()
        with self._reserved(intent, scope, at, after), self._writing():
            if (open_intent := self._holder_of(scope)) is not None:
                raise AlreadyOpen(*open_intent)
            if after is not None and self._written_after(after, scope):
                raise Overtaken(scope)
            self._connection.execute(
                "INSERT INTO intent VALUES (?, ?, ?, ?, ?, 1)", (intent, account, scope, kind, State.INTENDED)
            )
            self._append(intent, State.INTENDED, details, at)

    def step(
        self, intent: str, state: State, details: Mapping[str, Any], at: Moment, *, prior: State | None = None
    ) -> None:
        """Write the next step of an intent; raises WrongStep if there is no such step.

        `prior` is the state on which the step is based; if the intent has left it, there is no such step. An intent
        corrected while another one holds its scope is open, and takes the scope when the other ends.
        """
        with self._writing():
            row = self._connection.execute("SELECT state, lock_key FROM intent WHERE id = ?", (intent,)).fetchone()
            if row is None or state not in TRANSITIONS.get(_state(row[0]), frozenset()) or row[0] != (prior or row[0]):
                raise WrongStep(f"{intent}: {row[0] if row else 'unknown intent'} to {state}")
            scope = row[1]
            holder = self._holder_of(scope)
            holds = state not in ENDED and (holder is None or holder[0] == intent)
            self._connection.execute("UPDATE intent SET state = ?, open = ? WHERE id = ?", (state, holds, intent))
            if holder is not None and holder[0] == intent and not holds:
                self._connection.execute(
                    "UPDATE intent SET open = 1 WHERE rowid ="
                    " (SELECT min(rowid) FROM intent WHERE lock_key = ? AND state = 'corrected')",
                    (scope,),
                )
            self._append(intent, state, details, at)

    def prove_writable(self) -> None:
        """Rewrite the file's version, synced; raises OSError or sqlite3.Error if the disk accepts no writes."""
        with self._writing():
            rewrite_version(self._connection)

    @contextmanager
    def _reserved(self, intent: str, scope: str, at: Moment, after: int | None) -> Iterator[None]:
        """Hold the scope outside this file while a new intent is written; this class has nothing to hold."""
        yield

    # Reading

    def last_event(self) -> int:
        """Return the number of the newest event, 0 if there is none."""
        number: int = self._connection.execute("SELECT coalesce(max(number), 0) FROM event").fetchone()[0]
        return number

    def chain_at(self, number: int) -> str | None:
        """Return the hash of everything up to an event; None if there is no event of that number."""
        row = self._connection.execute("SELECT chain FROM event WHERE number = ?", (number,)).fetchone()
        return None if row is None else str(row[0])

    def intent(self, intent: str) -> Intent:
        """Return an intent; raises KeyError if there is none of this id, FileUnusable if it cannot be read."""
        with self._reading():
            row = self._connection.execute(f"{_INTENTS} WHERE id = ?", (intent,)).fetchone()
            if row is None:
                raise KeyError(intent)
            return self._read(row)

    def open_intents(self) -> list[Intent]:
        """Return the unsettled intents, oldest first, from memory if nobody has written to the file since.

        Raises FileUnusable if they cannot be read.
        """
        with self._reading():
            return self._read_open_intents()

    def _read_open_intents(self) -> list[Intent]:
        (others,) = self._connection.execute("PRAGMA data_version").fetchone()
        written = others, self._connection.total_changes
        if self._open_intents is not None and self._open_intents[0] == written:
            return list(self._open_intents[1])
        rows = {row for holds in _OPEN for row in self._connection.execute(f"{_INTENTS} WHERE {holds} ORDER BY rowid")}
        intents = sorted((self._read(row) for row in rows), key=lambda intent: intent.events[0].number)
        # A read inside a transaction may be rolled back, but the count of changes is not.
        self._open_intents = None if self._connection.in_transaction else (written, tuple(intents))
        return intents

    def newest(self, limit: int = 200) -> list[Intent]:
        """Return the last intents, open or ended, newest first; raises FileUnusable if they cannot be read."""
        with self._reading():
            rows = self._connection.execute(f"{_INTENTS} ORDER BY rowid DESC LIMIT ?", (limit,)).fetchall()
            return [self._read(row) for row in rows]

    def newest_contradicted(self) -> Intent | None:
        """Return the newest intent whose order's fills contradict the size held by fills; None if all are released."""
        newest = Journal.last_event(self)
        if self._contradicted is not None and self._contradicted[0] == newest:
            return self._contradicted[1]
        ids = "SELECT intent FROM event WHERE told LIKE '%\"contradiction\"%'"
        rows = self._connection.execute(f"{_INTENTS} WHERE id IN ({ids}) ORDER BY rowid DESC")
        intent = next((intent for intent in map(self._read, rows.fetchall()) if intent.contradiction), None)
        self._contradicted = newest, intent
        return intent

    # The trading lock

    def trading_locked(self) -> bool | None:
        """Return whether trading was locked or unlocked by hand; None if neither ever happened."""
        with self._reading():
            row = self._connection.execute(
                "SELECT state FROM event WHERE intent = '' ORDER BY number DESC LIMIT 1"
            ).fetchone()
        return None if row is None else row[0] != UNLOCK_EVENT

    def set_trading_lock(self, locked: bool, at: Moment) -> None:
        """Lock or unlock trading for every process of the account, across restarts."""
        with self._writing():
            self._append("", LOCK_EVENT if locked else UNLOCK_EVENT, {}, at)

    def accepted_loss(self, reasons: Sequence[str], at: Moment) -> None:
        """Write that a loss was accepted; trading is then locked, as it may have been in the lost part."""
        with self._writing():
            self._append("", LOCK_EVENT, {"accepted_loss": list(reasons)}, at)

    def has_accepted_loss(self, since: Moment) -> bool:
        """Whether a loss was certainly accepted after a moment, by the monotonic time of its boot."""
        accepted = (
            "SELECT 1 FROM event WHERE intent = '' AND told LIKE '%\"accepted_loss\"%' AND boot = ? AND monotonic_s > ?"
        )
        row = self._connection.execute(accepted, (since.boot, since.monotonic_s)).fetchone()
        return bool(since.boot) and row is not None

    def close(self) -> None:
        self._connection.close()

    def _holder_of(self, scope: str) -> tuple[str, str] | None:
        """Return id and state of the intent that holds a scope; None if it is free."""
        for holds in _OPEN:
            row: tuple[str, str] | None = self._connection.execute(
                f"SELECT id, state FROM intent WHERE lock_key = ? AND {holds} LIMIT 1", (scope,)
            ).fetchone()
            if row is not None:
                return row
        return None

    def _written_after(self, event: int, scope: str) -> bool:
        row = self._connection.execute(
            "SELECT 1 FROM event JOIN intent ON intent.id = event.intent WHERE number > ? AND lock_key = ? LIMIT 1",
            (event, scope),
        ).fetchone()
        return row is not None

    def _append(self, intent: str, state: str, details: Mapping[str, Any], at: Moment) -> None:
        text = json.dumps(dict(details), ensure_ascii=False, default=str)
        # Half a surrogate pair from the exchange must not prevent the write.
        text = text.encode("utf-8", "replace").decode()
        number, previous = self._last()
        about = self._connection.execute("SELECT account, lock_key, kind FROM intent WHERE id = ?", (intent,))
        account, scope, kind = about.fetchone() or (None, None, None)
        row = EventRow(
            number + 1,
            intent,
            account,
            scope,
            kind,
            str(state),
            int(at.at_ms),
            at.boot,
            float(at.monotonic_s),
            self._owner,
            text,
        )
        insert_event(self._connection, row, previous)

    def _last(self) -> ChainPoint:
        row = self._connection.execute("SELECT number, chain FROM event ORDER BY number DESC LIMIT 1").fetchone()
        return ChainPoint(*row) if row is not None else genesis(self.id)

    def _read(self, row: tuple[str, str, str, str, str]) -> Intent:
        events = self._connection.execute(
            "SELECT state, at_ms, told, number, boot, monotonic_s, owner, chain FROM event WHERE intent = ?"
            " ORDER BY number",
            (row[0],),
        ).fetchall()
        steps = tuple(
            Event(_state(state), at_ms, read_details(details), *rest) for state, at_ms, details, *rest in events
        )
        if not steps:
            raise sqlite3.DatabaseError(f"intent {row[0]} has no event")
        return Intent(row[0], row[1], row[2], row[3], _state(row[4]), steps)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Use one transaction, so that two processes never both find a scope free."""
        self.check_not_replaced()
        with transaction(self._connection):
            self._refuse_other_version(self._connection)
            self._forget_what_others_touched()
            others_before = self._data_version()
            yield
        # Another writer between our commit and this mark shows in the count, which our own commits do not change.
        self._mark = others_before, written_mark(self.file)


_INTENTS: Final = "SELECT id, account, lock_key, kind, state FROM intent"


def _state(text: object) -> State:
    try:
        return State(str(text))
    except ValueError:
        raise sqlite3.DatabaseError(f"{text!r:.40} is not a state") from None


def written_mark(file: Path) -> tuple[tuple[int, int, int] | None, ...]:
    """Return a mark of a journal's file and log that changes with every write; None for a missing one.

    The status change time is no use: SQLite sets the owner of a log whenever root opens it.
    """
    statuses = (_status(file), _status(f"{file}-wal"))
    return tuple(status and (status.st_ino, status.st_size, status.st_mtime_ns) for status in statuses)


def _status(file: Path | str) -> os.stat_result | None:
    try:
        return os.stat(file)
    except OSError:
        return None
