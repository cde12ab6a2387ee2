"""The ledger is booked behind the fills by a mark: broken off at any SQL statement, each fill still counts once.

A statement is broken off in two ways. The program dies before it: what its files hold at that moment is opened by the
next one. Or it fails, as on a full disk, and the same program goes on.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from tests.desk.archive.test_ledger import CHECKED, NOW_MS, fills_of, pages_of, settle
from tests.desk.fixtures.ledger_histories import made_history
from tradetui.desk.archive import database
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.archive.trip_queries import TripRow, ended_trips
from tradetui.desk.results.sums import ResultLine, result_lines
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.storage.sqlite_file import Schema, make_tables
from tradetui.trading.results.periods import Grouping
from tradetui.wire.models.futures import FuturesFill

Page = list[ProductRow[FuturesFill]]
Figures = tuple[list[ResultLine], list[TripRow]]


@cache
def pages() -> list[Page]:
    """Fills as they are read: forwards, late, twice, and one with other figures than before."""
    chance = random.Random(33)
    changed = [
        fills_of(
            (9_001, "buy", "open", "2", "0"), (9_003, "buy", "close", "1", "5"), (9_005, "buy", "close", "1", "-2")
        ),
        fills_of((9_002, "buy", "open", "1", "0"), (9_006, "buy", "close", "1", "4")),
        fills_of((9_003, "buy", "close", "1", "7")),
    ]
    rows = [row for page in pages_of(made_history(chance), chance) for row in page]
    return [*changed, *(rows[first : first + 4] for first in range(0, 40, 4))]


def steps(archive: Archive) -> Iterator[Callable[[], object]]:
    """What a session does with the archive, one after the other."""
    for number, page in enumerate(pages()):
        yield partial(archive.add, FuturesFill, page)
        if number % 2:
            yield archive.advance_ledger


def figures_of(archive: Archive) -> Figures:
    settle(archive)
    by_group = [row for grouping in CHECKED for row in result_lines(archive.connection, ResultQuery(grouping, NOW_MS))]
    return by_group, list(ended_trips(archive.connection, ResultQuery(Grouping.TOTAL, NOW_MS)))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    with closing(Archive(tmp_path_factory.mktemp("undisturbed") / "archive.sqlite")) as archive:
        for step in steps(archive):
            step()
        figures = figures_of(archive)
    assert figures[0] and figures[1]
    return figures


def test_killed_before_any_statement_the_next_program_counts_each_fill_once(
    tmp_path: Path, undisturbed: Figures
) -> None:
    file = tmp_path / "archive.sqlite"
    names = (file.name, f"{file.name}-wal")
    statements: list[str] = []
    deaths: dict[tuple[bytes, ...], str] = {}

    def keep_what_a_death_would_leave(statement: str) -> None:
        statements.append(statement)
        deaths.setdefault(tuple((tmp_path / name).read_bytes() for name in names), statement)

    with closing(Archive(file)) as archive:
        archive.connection.set_trace_callback(keep_what_a_death_would_leave)
        for step in steps(archive):
            step()
        archive.connection.set_trace_callback(None)
    assert len(statements) > 200
    assert len(deaths) > 15, "between two commits every death leaves the same"
    for number, (contents, statement) in enumerate(deaths.items()):
        left = tmp_path / str(number)
        left.mkdir()
        for name, content in zip(names, contents, strict=True):
            (left / name).write_bytes(content)
        with closing(Archive(left / file.name)) as again:
            for page in pages():
                again.add(FuturesFill, page)
            assert figures_of(again) == undisturbed, f"killed before {statement}"


class FailingConnection(sqlite3.Connection):
    """Fails at one statement: that before which none is left of `until_failure`."""

    until_failure = -1

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        return super().execute(*arguments)

    def executemany(self, statement: str, parameters: Iterable[Any]) -> sqlite3.Cursor:
        self._count()
        return super().executemany(statement, parameters)

    def _count(self) -> None:
        self.until_failure -= 1
        if self.until_failure == 0:
            raise sqlite3.OperationalError("database or disk is full")


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.campaign), 11])
def test_after_any_statement_that_fails_the_same_program_counts_each_fill_once(
    monkeypatch: pytest.MonkeyPatch, undisturbed: Figures, every: int
) -> None:
    def connect(_: None, schema: Schema, version: int, **__: object) -> FailingConnection:
        connection = sqlite3.connect(":memory:", isolation_level=None, factory=FailingConnection)
        make_tables(connection, schema, version, "memory")
        return connection

    monkeypatch.setattr(database, "open_file", connect)
    number, failed = 1 - every, True
    while failed:
        number, failed = number + every, False
        with closing(Archive(None)) as archive:
            assert isinstance(archive.connection, FailingConnection)
            archive.connection.until_failure = number
            for step in steps(archive):
                try:
                    step()
                except sqlite3.OperationalError:
                    failed = True
                    step()  # as is done with the rows that come next
            archive.connection.until_failure = -1
            assert figures_of(archive) == undisturbed, f"failed at statement {number}"
    assert number > 200
