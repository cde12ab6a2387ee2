"""The lock that a trader's hand sets: when it holds, and which of several choices counts."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.locks import AccountLock, OpenScopes
from tradetui.desk.intents.states import OpenIntent, State, scope_of
from tradetui.exchange.clock import SystemClock
from tradetui.storage.disk_thread import InlineDisk


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.sqlite")


def account_lock(*, starts_locked: bool = False) -> AccountLock:
    return AccountLock(InlineDisk(), SystemClock(), locked=starts_locked)


async def test_a_session_that_starts_locked_is_so_until_somebody_chooses_whatever_the_journal_says(
    journal: Journal,
) -> None:
    lock = account_lock(starts_locked=True)
    lock.take_over(False, lock.newest)
    assert lock.locked and lock.unwritten is None
    choice = lock.choose(False, has_journal=True)
    assert not lock.locked
    assert await lock.write(journal, choice) and not lock.locked


async def test_a_choice_is_written_to_the_journal_and_one_that_was_read_before_it_is_not_taken_over(
    journal: Journal,
) -> None:
    lock = account_lock()
    newest_when_reading_began = lock.newest
    choice = lock.choose(True, has_journal=True)
    lock.take_over(False, newest_when_reading_began)
    assert lock.locked
    assert await lock.write(journal, choice) and journal.trading_locked()
    lock.take_over(False, lock.newest)
    assert not lock.locked, "another session unlocked it"


async def test_a_lock_without_a_journal_holds_here_until_it_is_written(journal: Journal) -> None:
    lock = account_lock()
    choice = lock.choose(True, has_journal=False)
    assert not await lock.write(None, choice)
    lock.take_over(False, lock.newest)
    assert lock.locked and lock.unwritten is choice
    assert await lock.write(journal, choice)
    assert lock.locked and lock.unwritten is None


async def test_a_journal_that_was_read_while_a_choice_is_being_written_does_not_undo_it(journal: Journal) -> None:
    lock = account_lock()
    choice = lock.choose(True, has_journal=True)
    lock.take_over(False, choice)
    assert lock.locked
    assert await lock.write(journal, choice)
    lock.take_over(False, choice)
    assert not lock.locked, "another session unlocked it"


async def test_of_two_choices_the_newest_counts_though_writing_the_older_one_fails_after_it(
    monkeypatch: pytest.MonkeyPatch, journal: Journal
) -> None:
    lock = account_lock()
    older, newest = lock.choose(True, has_journal=True), lock.choose(False, has_journal=True)
    assert await lock.write(journal, newest)

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Journal, "set_trading_lock", full)
    assert not await lock.write(journal, older)
    assert not lock.locked and lock.unwritten is None
    with pytest.raises(sqlite3.OperationalError):
        await lock.write(journal, lock.choose(True, has_journal=True))
    assert lock.locked and lock.unwritten is lock.newest


def test_open_scopes_are_named_by_what_a_trader_calls_them_with_unknown_outcomes_first() -> None:
    scopes, btc, eth = OpenScopes(), scope_of("USDT-FUTURES", "btcusdt"), scope_of("USDT-FUTURES", "ETHUSDT")
    scopes.see({btc: OpenIntent("a", State.SENT), eth: OpenIntent("b", State.UNKNOWN)}, {"create-copy-key": "c, open"})
    assert scopes.names() == (
        ("ETHUSDT", State.UNKNOWN, ""),
        ("BTCUSDT", State.SENT, ""),
        ("create-copy-key", None, ""),
    )
    assert scopes.holder(btc) == "a, sent" and scopes.holder("create-copy-key") == "c, open"
    scopes.stepped("b", State.SETTLED)
    assert scopes.holder(eth) is None and scopes.ids() == {"a"}
    assert scopes.sentences() == ("USDT-FUTURES|BTCUSDT: a, sent", "create-copy-key: c, open")
