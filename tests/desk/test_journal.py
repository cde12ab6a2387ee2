"""The journal: its state machine, its lock, and what it does with files it cannot trust."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tradetui.desk.journal import ENDED, TRANSITIONS, AlreadyOpen, Journal, Overtaken, State, WrongStep
from tradetui.desk.sqlite_file import FileUnusable, file_system_of, open_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "account" / "journal.sqlite"


def begun(journal: Journal, intent: str = "i1", key: str = "USDT-FUTURES|BTCUSDT") -> None:
    journal.begin(intent, "account", key, "reversal", {"request": {"symbol": "BTCUSDT"}}, 1)


def test_only_the_steps_of_the_state_machine_are_taken() -> None:
    for state in State:
        for other in State:
            journal = Journal(None)
            begun(journal)
            path = {
                State.INTENDED: [],
                State.WITHDRAWN: [State.WITHDRAWN],
                State.SENT: [State.SENT],
                State.ACKNOWLEDGED: [State.SENT, State.ACKNOWLEDGED],
                State.REJECTED: [State.SENT, State.REJECTED],
                State.UNKNOWN: [State.SENT, State.UNKNOWN],
                State.SETTLED: [State.SENT, State.ACKNOWLEDGED, State.SETTLED],
                State.RELEASED: [State.SENT, State.UNKNOWN, State.RELEASED],
            }[state]
            for step in path:
                journal.step("i1", step, {}, 2)
            if other in TRANSITIONS.get(state, frozenset()):
                journal.step("i1", other, {}, 3)
                assert journal.intent("i1").state is other
            else:
                with pytest.raises(WrongStep):
                    journal.step("i1", other, {}, 3)


def test_one_open_intent_a_symbol_across_connections(file: Path) -> None:
    one, two = Journal(file), Journal(file)
    begun(one)
    with pytest.raises(AlreadyOpen, match="i1"):
        begun(two, "i2")
    begun(two, "i3", "USDT-FUTURES|ETHUSDT")
    one.step("i1", State.SENT, {}, 2)
    one.step("i1", State.UNKNOWN, {}, 3)
    with pytest.raises(AlreadyOpen):
        begun(two, "i4")
    two.step("i1", State.RELEASED, {"why": "looked"}, 4)
    begun(two, "i5")


def test_it_survives_being_opened_again(file: Path) -> None:
    journal = Journal(file)
    begun(journal)
    journal.step("i1", State.SENT, {"stamp_ms": 5}, 2)
    journal.close()
    (intent,) = Journal(file).open_intents("account")
    assert intent.state is State.SENT
    assert intent.told["stamp_ms"] == 5
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
    assert two.trading_locked("account") is None
    one.set_trading_lock("account", True, 1)
    assert two.trading_locked("account") is True
    assert two.trading_locked("another") is None


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
        open_file(tmp_path / "deep" / "x.sqlite", (), mounts=mounts)


def test_ended_states_lead_nowhere() -> None:
    assert not set(TRANSITIONS) & ENDED


def test_what_was_read_before_another_intent_is_too_old_to_begin_on(file: Path) -> None:
    one, two = Journal(file), Journal(file)
    before = two.last_event()
    begun(one)
    one.step("i1", State.WITHDRAWN, {}, 2)
    with pytest.raises(Overtaken):
        two.begin("i2", "account", "USDT-FUTURES|BTCUSDT", "reversal", {}, 3, after=before)
    two.begin("i3", "account", "USDT-FUTURES|ETHUSDT", "reversal", {}, 3, after=before)
    two.begin("i4", "account", "USDT-FUTURES|BTCUSDT", "reversal", {}, 3, after=two.last_event())


def test_half_a_character_does_not_keep_a_step_from_being_written(file: Path) -> None:
    journal = Journal(file)
    begun(journal)
    journal.step("i1", State.SENT, {"reply": "half \ud800"}, 2)
    assert Journal(file).intent("i1").told["reply"] == "half ?"
