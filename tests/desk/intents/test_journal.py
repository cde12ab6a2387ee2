"""The journal: its state machine, its lock, and what it does with files it cannot trust."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tradetui.desk.intents.journal import journal as module
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.registered_journal import JournalLocation, JournalReader
from tradetui.desk.intents.states import (
    ENDED,
    TRANSITIONS,
    AlreadyOpen,
    Event,
    Intent,
    Overtaken,
    State,
    WrongStep,
    elapsed_s,
)
from tradetui.exchange.clock import Moment
from tradetui.storage.sqlite_file import FileUnusable, file_system_of, open_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "account" / "journal.sqlite"


def begun(journal: Journal, intent: str = "i1", key: str = "USDT-FUTURES|BTCUSDT") -> None:
    journal.begin(intent, "account", key, "reversal", {"request": {"symbol": "BTCUSDT"}}, Moment(1))


def test_only_the_steps_of_the_state_machine_are_taken(file: Path) -> None:
    journal = Journal(file)
    for state in State:
        for other in State:
            intent = f"{state} to {other}"
            begun(journal, intent, f"scope of {intent}")
            path = {
                State.INTENDED: [],
                State.WITHDRAWN: [State.WITHDRAWN],
                State.SENT: [State.SENT],
                State.ACKNOWLEDGED: [State.SENT, State.ACKNOWLEDGED],
                State.REJECTED: [State.SENT, State.REJECTED],
                State.UNKNOWN: [State.SENT, State.UNKNOWN],
                State.SETTLED: [State.SENT, State.ACKNOWLEDGED, State.SETTLED],
                State.CORRECTED: [State.SENT, State.ACKNOWLEDGED, State.SETTLED, State.CORRECTED],
                State.RELEASED: [State.SENT, State.UNKNOWN, State.RELEASED],
            }[state]
            for step in path:
                journal.step(intent, step, {}, Moment(2))
            if other in TRANSITIONS.get(state, frozenset()):
                journal.step(intent, other, {}, Moment(3))
                assert journal.intent(intent).state is other
            else:
                with pytest.raises(WrongStep):
                    journal.step(intent, other, {}, Moment(3))


def test_one_open_intent_a_symbol_across_connections(file: Path) -> None:
    one, two = Journal(file), Journal(file)
    begun(one)
    with pytest.raises(AlreadyOpen, match="i1"):
        begun(two, "i2")
    begun(two, "i3", "USDT-FUTURES|ETHUSDT")
    one.step("i1", State.SENT, {}, Moment(2))
    one.step("i1", State.UNKNOWN, {}, Moment(3))
    with pytest.raises(AlreadyOpen):
        begun(two, "i4")
    two.step("i1", State.RELEASED, {"why": "looked"}, Moment(4))
    begun(two, "i5")


def test_open_intents_are_those_of_the_file_whoever_wrote_last(file: Path) -> None:
    random = Random(1)
    journals = Journal(file), Journal(file)
    for number in range(60):
        journal = random.choice(journals)
        intents = journal.open_intents()
        if intents and random.random() < 0.6:
            intent = random.choice(intents)
            journal.step(intent.id, random.choice(sorted(TRANSITIONS[intent.state])), {}, Moment(number))
        else:
            begun(journal, f"i{number}", f"USDT-FUTURES|{number}")
        with closing(Journal(file)) as opened_now:
            expected = opened_now.open_intents()
        assert [journal.open_intents() for journal in journals] == [expected, expected]


def test_what_was_rolled_back_was_never_open(file: Path) -> None:
    journal = Journal(file)
    begun(journal)
    with pytest.raises(LookupError), journal._writing():
        journal._connection.execute("UPDATE intent SET open = 0")
        assert journal.open_intents() == []
        raise LookupError
    assert [intent.id for intent in journal.open_intents()] == ["i1"]


def test_it_survives_being_opened_again(file: Path) -> None:
    journal = Journal(file)
    begun(journal)
    journal.step("i1", State.SENT, {"stamp_ms": 5}, Moment(2))
    journal.close()
    (intent,) = Journal(file).open_intents()
    assert intent.state is State.SENT
    assert intent.details["stamp_ms"] == 5
    assert [event.state for event in intent.events] == [State.INTENDED, State.SENT]


def test_events_are_never_changed_or_lost(file: Path) -> None:
    journal = Journal(file)
    begun(journal)
    raw = sqlite3.connect(file)
    for statement in ("UPDATE event SET told = '{}'", "DELETE FROM event"):
        with pytest.raises(sqlite3.Error, match="never"):
            raw.execute(statement)


def test_the_trading_lock_is_everybodys(file: Path) -> None:
    one, two = Journal(file), Journal(file)
    assert two.trading_locked() is None
    one.set_trading_lock(True, Moment(1))
    assert two.trading_locked() is True


def test_a_newer_file_is_refused_and_left_alone(file: Path) -> None:
    Journal(file).close()
    raw = sqlite3.connect(file)
    raw.execute("PRAGMA user_version=99")
    raw.close()
    with pytest.raises(FileUnusable, match="newer version"):
        Journal(file)
    assert file.exists()


def test_a_damaged_file_is_set_aside_not_deleted(file: Path) -> None:
    Journal(file).close()
    file.write_bytes(b"this is not a database at all" * 100)
    with pytest.raises(FileUnusable, match="damaged"):
        Journal(file)
    assert not file.exists()
    assert [entry.name for entry in file.parent.iterdir() if "damaged" in entry.name] == ["journal.sqlite.damaged-1"]


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(FileUnusable, match="cannot be written"):
        Journal(blocked / "journal.sqlite")


def test_a_network_file_system_is_refused(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/x {tmp_path} nfs4 rw 0 0\ntmpfs / tmpfs rw 0 0\n")
    assert file_system_of(tmp_path / "deep", mounts) == "nfs4"
    with pytest.raises(FileUnusable, match="network file system"):
        open_file(tmp_path / "deep" / "x.sqlite", "", mounts=mounts)


def test_of_the_ended_states_one_can_be_corrected_and_one_released_again() -> None:
    assert set(TRANSITIONS) & ENDED == {State.SETTLED, State.RELEASED}
    assert TRANSITIONS[State.SETTLED] == {State.CORRECTED}
    assert TRANSITIONS[State.RELEASED] == {State.RELEASED}


def test_what_was_read_before_another_intent_is_too_old_to_begin_on(file: Path) -> None:
    one, two = Journal(file), Journal(file)
    before = two.last_event()
    begun(one)
    one.step("i1", State.WITHDRAWN, {}, Moment(2))
    with pytest.raises(Overtaken):
        two.begin("i2", "account", "USDT-FUTURES|BTCUSDT", "reversal", {}, Moment(3), after=before)
    two.begin("i3", "account", "USDT-FUTURES|ETHUSDT", "reversal", {}, Moment(3), after=before)
    two.begin("i4", "account", "USDT-FUTURES|BTCUSDT", "reversal", {}, Moment(3), after=two.last_event())


def test_half_a_character_does_not_keep_a_step_from_being_written(file: Path) -> None:
    journal = Journal(file)
    begun(journal)
    journal.step("i1", State.SENT, {"reply": "half \ud800"}, Moment(2))
    assert Journal(file).intent("i1").details["reply"] == "half ?"


def settled(journal: Journal, intent: str, key: str = "USDT-FUTURES|BTCUSDT") -> None:
    begun(journal, intent, key)
    for state in (State.SENT, State.ACKNOWLEDGED, State.SETTLED):
        journal.step(intent, state, {}, Moment(2))


def test_a_corrected_intent_locks_its_scope_again(file: Path) -> None:
    journal = Journal(file)
    settled(journal, "i1")
    journal.step("i1", State.CORRECTED, {}, Moment(3))
    with pytest.raises(AlreadyOpen, match="i1 is corrected"):
        begun(journal, "i2")
    journal.verify()
    journal.step("i1", State.SETTLED, {}, Moment(4))
    begun(journal, "i2")


def test_an_intent_corrected_while_another_holds_the_scope_locks_it_after_that_one(file: Path) -> None:
    journal = Journal(file)
    settled(journal, "i1")
    begun(journal, "i2")
    journal.step("i1", State.CORRECTED, {}, Moment(3))
    assert [(intent.id, intent.state) for intent in journal.open_intents()] == [
        ("i1", State.CORRECTED),
        ("i2", State.INTENDED),
    ]
    journal.verify()
    journal.step("i2", State.WITHDRAWN, {}, Moment(4))
    with pytest.raises(AlreadyOpen, match="i1"):
        begun(journal, "i3")
    journal.verify()
    journal.step("i1", State.CORRECTED, {}, Moment(5))
    journal.step("i1", State.RELEASED, {}, Moment(6))
    journal.verify()
    begun(journal, "i3")


def test_each_event_says_when_and_by_which_process(file: Path) -> None:
    journal = Journal(file, "77-abc")
    journal.begin("i1", "account", "scope", "reversal", {}, Moment(5, "boot", 12.5))
    journal.close()
    (event,) = Journal(file).intent("i1").events
    assert (event.at_ms, event.boot, event.monotonic_s, event.owner) == (5, "boot", 12.5, "77-abc")


def test_only_monotonic_time_counts() -> None:
    event = Event(State.SENT, 1_000, {}, 1, "boot", 100.0)
    assert elapsed_s(event, Moment(0, "boot", 130.0), first_seen_s=129.0) == 30.0
    assert elapsed_s(event, Moment(9_999_999, "another", 130.0), first_seen_s=129.0) == 1.0
    assert elapsed_s(event, Moment(0, "boot", 90.0), first_seen_s=90.0) == 0.0
    unknown = Event(State.SENT, 1_000, {}, 1, "", 100.0)
    assert elapsed_s(unknown, Moment(0, "", 130.0), first_seen_s=130.0) == 0.0


def test_an_older_file_is_set_aside_with_the_sentence_and_nothing_is_deleted(file: Path) -> None:
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as raw:
        raw.executescript("CREATE TABLE event (number INTEGER); INSERT INTO event VALUES (7); PRAGMA user_version = 1")
    with pytest.raises(FileUnusable, match=r"of an earlier version and is kept as journal.sqlite.version-1-1"):
        Journal(file)
    with closing(sqlite3.connect(file.with_name("journal.sqlite.version-1-1"))) as kept:
        assert kept.execute("SELECT number FROM event").fetchall() == [(7,)]
    Journal(file).close()


def raised(file: Path) -> None:
    """Bring a file to a later version, as a newer program does under one that has it open."""
    with closing(sqlite3.connect(file)) as raw:
        raw.execute("PRAGMA user_version=99")


def test_no_step_is_written_into_a_file_that_a_newer_program_has_changed(file: Path) -> None:
    journal = Journal(file)
    begun(journal)
    raised(file)
    with pytest.raises(FileUnusable, match="Restart tradetui"):
        begun(journal, "i2", "another")
    with pytest.raises(FileUnusable, match="Restart tradetui"):
        journal.step("i1", State.SENT, {}, Moment(2))
    with pytest.raises(FileUnusable, match="Restart tradetui"):
        journal.set_trading_lock(False, Moment(3))
    assert [event.state for event in journal.intent("i1").events] == [State.INTENDED]


def test_an_event_changed_between_our_commit_and_the_look_at_the_file_is_noticed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(file)
    begun(journal)
    journal.verify()
    look_at_files = module.written_mark

    def changed_first(path: Path) -> object:
        if journal._connection.in_transaction:
            return look_at_files(path)
        with closing(sqlite3.connect(path)) as raw:
            raw.executescript("DROP TRIGGER no_change_of_event; UPDATE event SET told = '{}' WHERE number = 1")
        monkeypatch.setattr(module, "written_mark", look_at_files)
        return look_at_files(path)

    monkeypatch.setattr(module, "written_mark", changed_first)
    journal.step("i1", State.SENT, {}, Moment(2))
    assert journal.touched
    with pytest.raises(FileUnusable, match="not as it was written"):
        journal.verify()


@pytest.mark.parametrize("read", [Journal.open_intents, Journal.newest, lambda journal: journal.intent("i1")])
def test_what_cannot_be_read_is_said_with_file_and_remedy(file: Path, read: Callable[[Journal], object]) -> None:
    journal = Journal(file)
    begun(journal)
    with closing(sqlite3.connect(file)) as raw:
        raw.executescript("DROP TRIGGER no_change_of_event; UPDATE event SET told = 'x'")
    with pytest.raises(FileUnusable) as problem:
        read(journal)
    assert str(file) in str(problem.value) and problem.value.remedy


@pytest.mark.parametrize("taken_back", [("older",), ("newer",), ("newer", "older")])
def test_a_contradiction_stands_for_as_long_as_one_intent_shows_it(file: Path, taken_back: tuple[str, ...]) -> None:
    journal = Journal(file)
    intents = ("older", "newer")
    for intent in intents:
        begun(journal, intent, f"scope of {intent}")
        journal.step(intent, State.SENT, {}, Moment(2))
    for intent in sorted(intents, key=lambda intent: intent not in taken_back):  # what stands may be said last
        journal.step(intent, State.UNKNOWN, {"contradiction": f"by {intent}"}, Moment(3))
        journal.step(intent, State.RELEASED, {}, Moment(4))
        if intent in taken_back:
            journal.step(intent, State.RELEASED, {"contradiction": ""}, Moment(5))
    contradicted = journal.newest_contradicted()
    assert (contradicted and contradicted.id) == next((id_ for id_ in intents if id_ not in taken_back), None)


def test_what_is_written_while_a_monitor_reads_is_read_the_next_time(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = 0
    newest_contradicted = Journal.newest_contradicted
    with closing(Journal(file)) as journal:
        begun(journal)

        def written_meanwhile(read: Journal) -> Intent | None:
            nonlocal readings
            readings += 1
            intent = newest_contradicted(read)
            if readings == 1:
                journal.step("i1", State.WITHDRAWN, {"contradiction": "a fill reverses no LONG"}, Moment(2))
            return intent

        monkeypatch.setattr(Journal, "newest_contradicted", written_meanwhile)
        monitor = JournalReader(JournalLocation(file))
        assert [monitor.contradiction() for _ in range(4)] == ["", *["a fill reverses no LONG"] * 3]
        assert readings == 2
    for _ in range(4):
        monitor.contradiction()
    assert readings <= 3, "its own reading is nothing that was written"


RENAMED_COLUMN = "ALTER TABLE event RENAME COLUMN told TO details"
OTHER_CHAIN = "DROP TRIGGER no_change_of_event; UPDATE event SET chain = 'x'"


@pytest.mark.parametrize(
    ("change", "use"),
    [
        *((change, use) for change in (RENAMED_COLUMN, OTHER_CHAIN) for use in (Journal.verify, Journal.check)),
        (RENAMED_COLUMN, Journal.open_intents),
        (RENAMED_COLUMN, Journal.newest),
        ("ALTER TABLE event RENAME COLUMN state TO step", Journal.trading_locked),
        ("SELECT 1", Journal.check_not_replaced),
    ],
)
def test_what_a_newer_program_has_changed_is_not_taken_for_damage(
    file: Path, change: str, use: Callable[[Journal], object]
) -> None:
    journal = Journal(file)
    begun(journal)
    with closing(sqlite3.connect(file)) as raw:
        raw.executescript(f"BEGIN; {change}; PRAGMA user_version=99; COMMIT")
    with pytest.raises(FileUnusable, match=r"has brought journal\.sqlite from version 2 to 99\. Restart tradetui"):
        use(journal)
    assert not list(file.parent.glob("*.damaged-*"))


def test_a_journal_whose_id_cannot_be_read_now_is_closed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Journal(file).close()
    opened: list[sqlite3.Connection] = []

    def interrupted(*arguments: Any, **named: Any) -> sqlite3.Connection:
        opened.append(open_file(*arguments, **named))
        opened[0].set_progress_handler(lambda: 1, 1)
        return opened[0]

    monkeypatch.setattr(module, "open_file", interrupted)
    with pytest.raises(FileUnusable, match="cannot be read"):
        Journal(file)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")
    assert file.exists()
