"""Whatever is damaged in a journal, in any byte, column or row, is seen: it is set aside, never believed or deleted."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tradetui.desk.intents.journal.journal import LOCK_EVENT, UNLOCK_EVENT, Journal
from tradetui.desk.intents.journal.registered_journal import JournalLocation, accept_loss, open_journal
from tradetui.desk.intents.states import AlreadyOpen, Intent, State
from tradetui.exchange.clock import Moment
from tradetui.storage.sqlite_file import FileLost, FileUnusable

SCOPE = "USDT-FUTURES|BTCUSDT"


def written(file: Path) -> tuple[list[Intent], bool | None]:
    """A journal with ended intents, one that is open, and a trading lock; all of it in the file itself."""
    journal = Journal(file, "77-owner", new_id=lambda: "id-of-the-journal")
    ends = (
        ("i1", State.SENT, State.ACKNOWLEDGED, State.SETTLED),
        ("i2", State.SENT, State.REJECTED),
        ("i3", State.WITHDRAWN),
        ("i4", State.SENT, State.UNKNOWN, State.RELEASED),
        ("i5", State.SENT, State.ACKNOWLEDGED, State.SETTLED, State.CORRECTED, State.SETTLED),
        ("i6", State.SENT, State.UNKNOWN),
    )
    journal.set_trading_lock(True, Moment(1, "boot", 0.5))
    for intent, *states in ends:
        journal.begin(intent, "account", SCOPE, "reversal", {"request": {"size": "2"}}, Moment(2, "boot", 1.25))
        for state in states:
            journal.step(intent, state, {"why": "x" * 50}, Moment(3, "boot", 2.5))
    journal.set_trading_lock(False, Moment(4, "boot", 3.5))
    journal.set_trading_lock(True, Moment(4, "boot", 4.5))
    content = journal.newest(), journal.trading_locked()
    journal.close()
    return content


@pytest.fixture
def original(tmp_path: Path) -> tuple[Path, tuple[list[Intent], bool | None]]:
    file = tmp_path / "original" / "journal.sqlite"
    return file, written(file)


def opened_whole(file: Path) -> tuple[list[Intent], bool | None]:
    """What a session reads; raises FileUnusable."""
    journal = Journal(file)
    try:
        journal.check()
        return journal.newest(), journal.trading_locked()
    finally:
        journal.close()


def test_a_flipped_byte_anywhere_is_seen_or_changes_nothing(
    original: tuple[Path, tuple[list[Intent], bool | None]], tmp_path: Path
) -> None:
    source, content = original
    whole, random = source.read_bytes(), Random(11)
    text = [at for at in range(len(whole)) if whole[at]]
    # Every byte of the file's head, and of what is not empty every ninth.
    places = sorted({*range(100), *text[::9], *random.sample(range(len(whole)), 100)})
    refused = 0
    for number, offset in enumerate(places):
        damaged = bytearray(whole)
        damaged[offset] ^= 1 << random.randrange(8)
        file = tmp_path / str(number) / "journal.sqlite"
        file.parent.mkdir()
        file.write_bytes(damaged)
        try:
            assert opened_whole(file) == content, f"byte {offset} was changed, and something else was read"
        except FileUnusable as problem:
            refused += 1
            kept = [entry for entry in file.parent.iterdir() if entry.name.startswith("journal.sqlite")]
            assert any(entry.read_bytes() for entry in kept), "nothing is deleted"
            assert problem.reason and problem.remedy
            # The head says which version wrote it, and which may write to it.
            others = ("newer version", "readonly")
            assert isinstance(problem, FileLost) or (
                offset < 100 and any(reason in problem.reason for reason in others)
            )
        shutil.rmtree(file.parent)
    assert refused > len(places) / 3


def statements() -> Iterator[str]:
    """Changes that another program can make to any row, column by column."""
    table: str
    columns: tuple[str, ...]
    for table, columns in (
        ("event", ("number", "at_ms", "monotonic_s")),
        ("intent", ("open",)),
    ):
        for column in columns:
            yield f"UPDATE {table} SET {column} = {column} + 1000 WHERE rowid = %d"
    for table, columns in (
        ("event", ("intent", "state", "boot", "owner", "told", "chain")),
        ("intent", ("id", "account", "lock_key", "kind", "state")),
    ):
        for column in columns:
            yield f"UPDATE {table} SET {column} = {column} || 'x' WHERE rowid = %d"
            yield f"UPDATE {table} SET {column} = '' WHERE rowid = %d AND {column} != ''"
            yield f"UPDATE {table} SET {column} = CAST({column} AS BLOB) WHERE rowid = %d"
            yield f"UPDATE {table} SET {column} = CAST(x'ff' AS TEXT) WHERE rowid = %d"
    yield "UPDATE event SET told = '[]' WHERE rowid = %d"
    yield "UPDATE event SET told = '{' WHERE rowid = %d"
    yield "UPDATE intent SET open = 1 - open WHERE rowid = %d"
    yield "DELETE FROM event WHERE rowid = %d"
    yield "DELETE FROM intent WHERE rowid = %d"
    yield "INSERT INTO event SELECT 900 + %d, intent, state, at_ms, boot, monotonic_s, owner, told, chain FROM event"


def changed(source: Path, folder: Path, statement: str) -> Path | None:
    """A copy of the journal after a statement that some other program ran on it; None where it changes nothing."""
    file = folder / "journal.sqlite"
    folder.mkdir()
    shutil.copy(source, file)
    raw = sqlite3.connect(file, isolation_level=None)
    for trigger in ("no_change_of_event", "no_loss_of_event"):
        raw.execute(f"DROP TRIGGER {trigger}")
    try:
        count = raw.execute(statement).rowcount
    except sqlite3.IntegrityError:
        count = 0
    raw.close()
    return file if count else None


def believed(source: Path, tmp_path: Path, all_statements: list[str]) -> tuple[int, list[str]]:
    """How many statements changed something, and which of those nobody noticed."""
    made, unnoticed = 0, []
    for number, statement in enumerate(all_statements):
        file = changed(source, tmp_path / str(number), statement)
        if file is None:
            continue
        made += 1
        try:
            opened_whole(file)
        except FileLost:
            assert any("damaged-1" in entry.name for entry in file.parent.iterdir())
        else:
            unnoticed.append(statement)
    return made, unnoticed


def rows(source: Path, table: str) -> list[int]:
    raw = sqlite3.connect(source)
    numbers = [row[0] for row in raw.execute(f"SELECT rowid FROM {table}")]
    raw.close()
    return numbers


def test_a_change_of_any_column_of_any_row_is_seen(
    original: tuple[Path, tuple[list[Intent], bool | None]], tmp_path: Path
) -> None:
    source, _ = original
    all_statements = [
        statement % row
        for statement in statements()
        for row in rows(source, "intent" if " intent " in statement.partition("WHERE")[0] else "event")[::3]
    ]
    made, unnoticed = believed(source, tmp_path, all_statements)
    # Without a registry nothing tells that the newest event of all was there, where it was one of the trading lock.
    assert set(unnoticed) <= {f"DELETE FROM event WHERE rowid = {rows(source, 'event')[-1]}"}
    assert made > 200


def test_any_other_word_for_a_state_is_seen(
    original: tuple[Path, tuple[list[Intent], bool | None]], tmp_path: Path
) -> None:
    source, _ = original
    states = [*map(str, State), LOCK_EVENT, UNLOCK_EVENT, "SENT", "sent ", "lost"]
    all_statements = [
        f"UPDATE {table} SET state = '{word}' WHERE rowid = {row} AND state != '{word}'"
        for table in ("event", "intent")
        for row in rows(source, table)[::2]
        for word in states
    ]
    made, unnoticed = believed(source, tmp_path, all_statements)
    assert not unnoticed
    assert made > 150


@pytest.mark.parametrize("table", ["event", "intent", "identity"])
@pytest.mark.parametrize("statement", ["DROP TABLE {}", "DELETE FROM {}", "ALTER TABLE {} RENAME TO other"])
def test_a_table_that_is_gone_is_seen(tmp_path: Path, table: str, statement: str) -> None:
    location = JournalLocation(tmp_path / "journal.sqlite", tmp_path / "state" / "registry.sqlite", ("uid",))
    journal = open_journal(location)
    journal.check()
    journal.begin("i1", "account", SCOPE, "reversal", {}, Moment(1))
    journal.step("i1", State.SENT, {}, Moment(2))
    journal.close()
    assert location.file is not None
    raw = sqlite3.connect(location.file, isolation_level=None)
    for trigger in ("no_change_of_event", "no_loss_of_event"):
        raw.execute(f"DROP TRIGGER {trigger}")
    raw.execute(statement.format(table))
    raw.close()
    for _ in range(2):
        with pytest.raises(FileLost) as caught:
            open_journal(location).check()
        assert caught.value.locked == (SCOPE,)
    assert accept_loss(location, Moment(3))
    again = open_journal(location)
    again.check()
    again.begin("i2", "account", SCOPE, "reversal", {}, Moment(4))


def test_damage_behind_what_was_verified_is_seen_before_the_next_intent(tmp_path: Path) -> None:
    file = tmp_path / "journal.sqlite"
    written(file)
    journal = Journal(file)
    journal.check()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("DROP TRIGGER no_change_of_event")
    other.execute("UPDATE event SET told = '{}' WHERE number = 3")
    with pytest.raises(FileLost):
        journal.begin("i9", "account", "USDT-FUTURES|ETHUSDT", "reversal", {}, Moment(5))


def test_what_nobody_else_touched_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "journal.sqlite"
    written(file)
    journal = Journal(file)
    journal.check()
    last = journal.verify()
    monkeypatch.setattr(
        "tradetui.desk.intents.journal.journal.verify", lambda _, start: pytest.fail() if start != last else start
    )
    with pytest.raises(AlreadyOpen):
        journal.begin("i9", "account", SCOPE, "reversal", {}, Moment(5))
    monkeypatch.undo()
    journal.step("i6", State.RELEASED, {}, Moment(5))
    monkeypatch.setattr(
        "tradetui.desk.intents.journal.journal.verify", lambda _, start: pytest.fail() if start != last else start
    )
    journal.begin("i9", "account", SCOPE, "reversal", {}, Moment(6))
