"""The user's registry of journals: the newest event of each and its open scopes, in whatever directory it is.

A journal can be emptied, deleted or replaced by an older copy, and two sessions can keep journals of one account in two
directories. The registry is separate from all of them, so that none of this unlocks anything unnoticed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from tradetui.desk.intents.journal.journal import ChainPoint
from tradetui.desk.intents.states import Overtaken
from tradetui.exchange.clock import Moment
from tradetui.storage.sqlite_file import (
    RESTART_REMEDY,
    FileLost,
    FileUnusable,
    check_file,
    file_id,
    open_file,
    refuse_other_version,
    rewrite_version,
    set_aside_before,
    transaction,
)

REGISTRY_FILE: Final = "registry.sqlite"
_REMEDY: Final = "Set TRADETUI_STATE_DIR to a directory on this machine that you may write to"
_VERSION: Final = 1
_SCHEMA: Final = """
    CREATE TABLE journal (id TEXT PRIMARY KEY, path TEXT NOT NULL, number INTEGER NOT NULL, chain TEXT NOT NULL);
    CREATE TABLE alias (alias TEXT NOT NULL, journal TEXT NOT NULL, PRIMARY KEY (alias, journal));
    CREATE TABLE scope (
        alias TEXT NOT NULL, scope TEXT NOT NULL, journal TEXT NOT NULL, intent TEXT NOT NULL,
        owner TEXT NOT NULL, boot TEXT NOT NULL, monotonic_s REAL NOT NULL,
        PRIMARY KEY (alias, scope)
    );
    CREATE TABLE turn (alias TEXT NOT NULL, scope TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (alias, scope));
    CREATE INDEX scope_of_journal ON scope (journal)
    """


class RegisteredHead(NamedTuple):
    """A journal as last registered: its id, its path, and its newest event with the hash of its chain."""

    journal: str
    path: Path
    head: ChainPoint


class Reservation(NamedTuple):
    """An open scope: the journal and intent that hold it, and who reserved it when."""

    scope: str
    journal: str
    intent: str
    owner: str
    boot: str
    monotonic_s: float


class ScopeTaken(Exception):
    """Another intent holds this scope of the account."""

    def __init__(self, holder: Reservation) -> None:
        super().__init__(f"{holder.scope} is held by intent {holder.intent}")
        self.holder = holder


class Registry:
    """One connection to the registry. All calls block briefly; each write is synced when it returns."""

    def __init__(self, file: Path) -> None:
        """Open or make the file.

        Raises FileLost if it is damaged (it is then set aside) or if the loss of an earlier one has not been accepted
        yet; FileUnusable if it is newer, not writable, or on a network file system.
        """
        self.file = file
        if (aside := set_aside_before(file)) is not None:
            raise FileLost(str(file), f"the registry of journals was damaged and is kept as {aside.name}")
        self._scopes: tuple[tuple[int, int], list[tuple[str, Reservation]]] | None = None
        self._connection = open_file(file, _SCHEMA, _VERSION, remedy=_REMEDY)
        check_file(self._connection, file)
        self._file_id = file_id(file)

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open one transaction on the file that others open too, in the version that this program knows.

        A reservation in a file that nobody finds again locks nothing. Raises FileUnusable, sqlite3.Error.
        """
        if file_id(self.file) != self._file_id:
            reason = f"{self.file.name} was moved, deleted or replaced while the program was running"
            raise FileUnusable(str(self.file), reason, RESTART_REMEDY)
        with transaction(self._connection) as connection:
            self._refuse_other_version()
            yield connection

    def _rows(self, query: str, parameters: Sequence[str] = ()) -> list[Any]:
        """Return the rows of a query; raises FileUnusable if a newer program has changed the file, sqlite3.Error."""
        try:
            return self._connection.execute(query, parameters).fetchall()
        except sqlite3.Error:
            self._refuse_other_version()
            raise

    def _refuse_other_version(self) -> None:
        refuse_other_version(self._connection, _VERSION, str(self.file))

    def prove_writable(self) -> None:
        """Rewrite the file's version, synced; raises FileUnusable, or sqlite3.Error if the disk is full."""
        with self._writing() as connection:
            rewrite_version(connection)

    # Journals

    def known_as(self, aliases: Sequence[str]) -> frozenset[str]:
        """Return these aliases of an account and all others under which one of its journals is registered."""
        known = frozenset(aliases)
        while True:
            wider = known | {
                row[0]
                for alias in known
                for row in self._rows(
                    "SELECT other.alias FROM alias JOIN alias AS other USING (journal) WHERE alias.alias = ?", (alias,)
                )
            }
            if wider == known:
                return known
            known = wider

    def journals(self, aliases: Iterable[str]) -> list[RegisteredHead]:
        rows = {
            row
            for alias in aliases
            for row in self._rows(
                "SELECT id, path, number, chain FROM journal JOIN alias ON alias.journal = journal.id WHERE alias = ?",
                (alias,),
            )
        }
        return [RegisteredHead(journal, Path(path), ChainPoint(number, chain)) for journal, path, number, chain in rows]

    def head(self, journal: str) -> RegisteredHead | None:
        rows = self._rows("SELECT path, number, chain FROM journal WHERE id = ?", (journal,))
        return RegisteredHead(journal, Path(rows[0][0]), ChainPoint(*rows[0][1:])) if rows else None

    def enroll(self, journal: str, path: Path, aliases: Iterable[str], head: ChainPoint) -> None:
        """Register a journal with its path, its aliases and its newest event."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO journal VALUES (?, ?, ?, ?)", (journal, str(path), *head))
            self._add_aliases(journal, aliases)

    def add_aliases(self, journal: str, aliases: Iterable[str]) -> None:
        with self._writing():
            self._add_aliases(journal, aliases)

    def note(self, journal: str, head: ChainPoint, freed: str | None = None) -> None:
        """Store a journal's newest event, then free the scope of the intent `freed`."""
        with self._writing() as connection:
            connection.execute(
                "UPDATE journal SET number = ?, chain = ? WHERE id = ? AND number < ?", (*head, journal, head.number)
            )
            if freed is not None:
                self._free(journal, freed)

    def forget(self, journal: str) -> None:
        """Drop a journal and all its scopes: its loss was accepted, or it never held anything."""
        with self._writing() as connection:
            for statement in (
                "DELETE FROM scope WHERE journal = ?",
                "DELETE FROM alias WHERE journal = ?",
                "DELETE FROM journal WHERE id = ?",
            ):
                connection.execute(statement, (journal,))

    # Open scopes

    def reserve(
        self,
        aliases: Iterable[str],
        scope: str,
        journal: str,
        intent: str,
        owner: str,
        moment: Moment,
        *,
        after: int | None = None,
    ) -> None:
        """Take a scope under every alias of the account.

        Raises ScopeTaken if another intent holds it, Overtaken if another intent took or freed it after the turn
        `after`.
        """
        aliases = tuple(aliases)
        with self._writing() as connection:
            for alias in aliases:
                row = connection.execute(
                    f"{_SCOPES} FROM scope WHERE alias = ? AND scope = ?", (alias, scope)
                ).fetchone()
                if row is not None and Reservation(*row).intent != intent:
                    raise ScopeTaken(Reservation(*row))
            if after is not None:
                for alias in aliases:
                    turn = connection.execute("SELECT number FROM turn WHERE alias = ? AND scope = ?", (alias, scope))
                    if (turn.fetchone() or (0,))[0] > after:
                        raise Overtaken(scope)
            connection.executemany(
                "INSERT OR REPLACE INTO scope VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(alias, scope, journal, intent, owner, moment.boot, moment.monotonic_s) for alias in aliases],
            )
            self._next_turn(aliases, scope)

    def free(self, journal: str, intent: str) -> None:
        with self._writing():
            self._free(journal, intent)

    def last_turn(self) -> int:
        """Return a number that grows whenever a scope is taken or freed; call it before reading an intent's rows."""
        number: int = self._rows("SELECT coalesce(max(number), 0) FROM turn")[0][0]
        return number

    def reservations(self, aliases: Iterable[str]) -> list[Reservation]:
        """Return every open scope of an account, each once."""
        names = frozenset(aliases)
        return sorted({reservation for alias, reservation in self._open_scopes() if alias in names})

    def held_by(self, journal: str) -> list[Reservation]:
        return sorted({reservation for _, reservation in self._open_scopes() if reservation.journal == journal})

    def _open_scopes(self) -> list[tuple[str, Reservation]]:
        """Return every open scope by its aliases, from memory if nobody has written to the file since."""
        (others,) = self._connection.execute("PRAGMA data_version").fetchone()
        written = others, self._connection.total_changes
        if self._scopes is None or self._scopes[0] != written:
            rows = self._rows(f"{_SCOPES}, alias FROM scope")
            self._scopes = written, [(alias, Reservation(*row)) for *row, alias in rows]
        return self._scopes[1]

    def _add_aliases(self, journal: str, aliases: Iterable[str]) -> None:
        rows = [(alias, journal) for alias in aliases]
        self._connection.executemany("INSERT OR IGNORE INTO alias VALUES (?, ?)", rows)

    def _free(self, journal: str, intent: str) -> None:
        held = (intent, journal)
        rows = self._connection.execute("SELECT alias, scope FROM scope WHERE intent = ? AND journal = ?", held)
        for alias, scope in rows.fetchall():
            self._next_turn((alias,), scope)
        self._connection.execute("DELETE FROM scope WHERE intent = ? AND journal = ?", held)

    def _next_turn(self, aliases: Iterable[str], scope: str) -> None:
        number = self.last_turn() + 1
        turns = [(alias, scope, number) for alias in aliases]
        self._connection.executemany("INSERT OR REPLACE INTO turn VALUES (?, ?, ?)", turns)


_SCOPES: Final = "SELECT scope, journal, intent, owner, boot, monotonic_s"
