"""The registry: a journal is never silently new, and a scope is locked for the account under each of its names."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pytest

from tests.desk.intents.test_journal import raised
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.journal_registry import Registry
from tradetui.desk.intents.journal.registered_journal import (
    ENTERED_AGAIN,
    NEW,
    JournalLocation,
    RegisteredJournal,
    accept_loss,
    open_journal,
)
from tradetui.desk.intents.states import AlreadyOpen, Overtaken, State
from tradetui.exchange.clock import Moment
from tradetui.storage.process_life import ProcessLives
from tradetui.storage.sqlite_file import FileLost, FileUnusable, accept_damage, set_aside

SCOPE = "USDT-FUTURES|BTCUSDT"
BOOT = "boot"


def at(seconds: float) -> Moment:
    return Moment(0, BOOT, seconds)


@pytest.fixture
def here(tmp_path: Path) -> JournalLocation:
    return JournalLocation(
        tmp_path / "data" / "accounts" / "name" / "journal.sqlite",
        tmp_path / "state" / "registry.sqlite",
        ("by-uid", "by-key"),
        alive_dir=tmp_path / "alive",
    )


def elsewhere(here: JournalLocation, *aliases: str) -> JournalLocation:
    """The same user's second data directory."""
    assert here.file is not None
    other = here.file.parents[3] / "other" / "accounts" / "name" / "journal.sqlite"
    return here._replace(file=other, aliases=aliases or here.aliases)


def opened(location: JournalLocation, lives: ProcessLives | None = None) -> RegisteredJournal:
    journal = open_journal(location, lives)
    assert isinstance(journal, RegisteredJournal)
    journal.check()
    journal.reconcile(at(0))
    return journal


def begin(journal: Journal, intent: str, scope: str = SCOPE, *, after: int | None = None) -> None:
    journal.begin(intent, "account", scope, "reversal", {}, at(1), after=after)


def go(journal: Journal, intent: str, *states: State) -> None:
    for state in states:
        journal.step(intent, state, {}, at(2))


def settle(journal: Journal, intent: str) -> None:
    go(journal, intent, State.SENT, State.ACKNOWLEDGED, State.SETTLED)


# One account under several names


@pytest.mark.parametrize("first", [("by-uid", "by-key"), ("by-key",), ("by-uid", "by-other-key")])
@pytest.mark.parametrize("second", [("by-uid", "by-key"), ("by-uid",)])
def test_two_data_directories_of_one_account_exclude_each_other(
    here: JournalLocation, first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    one, two = opened(here._replace(aliases=first)), opened(elsewhere(here, *second))
    begin(one, "i1")
    if not set(first) & set(second):
        begin(two, "i2")  # nothing tells that these are one account
        return
    with pytest.raises(AlreadyOpen, match=r"i1 is open in .*/data/accounts/name/journal.sqlite"):
        begin(two, "i2")
    begin(two, "i3", "USDT-FUTURES|ETHUSDT")
    assert SCOPE in two.reconcile(at(3))
    settle(one, "i1")
    assert not two.reconcile(at(3))
    begin(two, "i4")
    assert [intent.id for intent in one.open_intents()] == []


def test_what_is_written_to_journal_and_registry_is_on_the_disk(here: JournalLocation) -> None:
    journal = opened(here)
    for connection in (journal._connection, journal._registry._connection):
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,), "FULL: each commit is synced"


def test_a_key_that_was_seen_with_a_uid_is_the_uids_in_every_directory(here: JournalLocation) -> None:
    one = opened(here._replace(aliases=("by-uid", "by-key")))
    opened(here._replace(aliases=("by-uid", "by-other-key"))).close()
    two = opened(elsewhere(here, "by-other-key"))
    begin(one, "i1")
    with pytest.raises(AlreadyOpen):
        begin(two, "i2")


def test_accounts_that_share_no_name_do_not_lock_each_other(here: JournalLocation) -> None:
    one, two = opened(here), opened(elsewhere(here, "by-another-uid"))
    begin(one, "i1")
    begin(two, "i2")


def test_what_another_directory_did_since_the_positions_were_read_is_too_new(here: JournalLocation) -> None:
    one, two = opened(here), opened(elsewhere(here))
    before = two.last_event()
    begin(one, "i1")
    settle(one, "i1")
    with pytest.raises(Overtaken):
        begin(two, "i2", after=before)
    begin(two, "i2", after=two.last_event())


def test_what_a_killed_process_left_open_elsewhere_stays_locked_until_its_journal_says_it_is_over(
    here: JournalLocation,
) -> None:
    one, two = opened(here), opened(elsewhere(here))
    begin(one, "i1")
    go(one, "i1", State.SENT, State.UNKNOWN)
    one.close()
    for moment in (at(10), at(10_000)):
        assert two.reconcile(moment)[SCOPE].intent == "i1"
    raw = Journal(here.file)  # the end is written, and the process killed before it is freed
    raw.step("i1", State.RELEASED, {}, at(3))
    assert not two.reconcile(at(11))
    begin(two, "i2")


def emptied(file: Path) -> None:
    file.unlink()
    Journal(file).close()


def deleted(file: Path) -> None:
    file.unlink()


def cut_short(file: Path) -> None:
    changed(file, "DROP TRIGGER no_loss_of_event", "DELETE FROM event WHERE number > 1")


def marked_as_over(file: Path) -> None:
    changed(file, "UPDATE intent SET state = 'settled', open = 0")


def without_the_intent(file: Path) -> None:
    changed(file, "DROP TRIGGER no_loss_of_event", "DELETE FROM event", "DELETE FROM intent")


def changed(file: Path, *statements: str) -> None:
    connection = sqlite3.connect(file)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("damage", [emptied, deleted, cut_short, marked_as_over, without_the_intent])
def test_a_damaged_journal_elsewhere_says_nothing_about_what_it_held(
    here: JournalLocation, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    gone = ProcessLives(tmp_path / "alive", "gone")
    one, two = opened(here, gone), opened(elsewhere(here), ProcessLives(tmp_path / "alive", "living"))
    begin(one, "i1")
    go(one, "i1", State.SENT, State.UNKNOWN)
    one.close()
    gone.close()
    assert here.file is not None
    for side in ("-wal", "-shm"):
        Path(f"{here.file}{side}").unlink(missing_ok=True)
    damage(here.file)
    for moment in (at(10), at(10_000)):
        assert two.reconcile(moment)[SCOPE].intent == "i1"
        with pytest.raises(AlreadyOpen):
            begin(two, "i2")


# Killed between any two steps


class Killed(BaseException):
    """The process is gone: nothing after this runs."""


def killed_at(monkeypatch: pytest.MonkeyPatch, target: type, name: str, when: str) -> None:
    right: Callable[..., object] = getattr(target, name)

    def wrong(*arguments: object, **named: object) -> None:
        if when == "after":
            right(*arguments, **named)
        raise Killed

    monkeypatch.setattr(target, name, wrong)
    monkeypatch.setattr(Registry, "free", lambda *_: None)  # a dead process cleans up nothing


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("directory", ["the same", "another"])
@pytest.mark.parametrize(("target", "name"), [(Registry, "reserve"), (Journal, "step"), (Registry, "note")])
def test_killed_between_any_two_steps_nothing_is_unlocked_that_may_have_been_sent(
    here: JournalLocation, target: type, name: str, when: str, directory: str
) -> None:
    journal = opened(here)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        killed_at(patch, target, name, when)
        begin(journal, "i1")
        journal.step("i1", State.SENT, {}, at(2))
    journal.close()
    again = opened(here if directory == "the same" else elsewhere(here))
    own = Journal(here.file)
    state = next((intent.state for intent in own.newest()), None)
    own.close()
    # Nobody can tell whether its process lives: until 35 s have passed it may be at it.
    if (target, name, when) == (Registry, "reserve", "before"):
        begin(again, "i2")
        return
    with pytest.raises(AlreadyOpen):
        begin(again, "i2")
    again.reconcile(at(100))
    if state is None:
        begin(again, "i2")
        return
    with pytest.raises(AlreadyOpen):
        begin(again, "i2")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("target", "name"), [(Journal, "step"), (Registry, "note")])
def test_killed_at_its_end_it_is_locked_or_over_and_never_for_ever(
    here: JournalLocation, target: type, name: str, when: str
) -> None:
    journal, other = opened(here), opened(elsewhere(here))
    begin(journal, "i1")
    go(journal, "i1", State.SENT, State.ACKNOWLEDGED)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        killed_at(patch, target, name, when)
        journal.step("i1", State.SETTLED, {}, at(3))
    journal.close()
    written = (target, when) != (Journal, "before")
    if not written:
        with pytest.raises(AlreadyOpen):
            begin(other, "i2")
    again = opened(here)
    again.reconcile(at(4))
    if not written:
        again.step("i1", State.SETTLED, {}, at(5))
    other.reconcile(at(6))
    begin(other, "i2")


def test_a_reservation_of_a_dead_process_is_free_at_once(here: JournalLocation) -> None:
    assert here.alive_dir is not None
    dead, living = ProcessLives(here.alive_dir, "dead"), ProcessLives(here.alive_dir, "living")
    journal = opened(here, dead)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        killed_at(patch, Registry, "reserve", "after")
        begin(journal, "i1")
    again = opened(elsewhere(here), living)
    with pytest.raises(AlreadyOpen):
        begin(again, "i2")
    assert dead._descriptor is not None
    os.close(dead._descriptor)  # as the system does when a process ends
    again.reconcile(at(2))
    begin(again, "i2")


def test_the_journal_ahead_of_its_head_is_adopted(here: JournalLocation) -> None:
    journal = opened(here)
    begin(journal, "i1")  # the head is written with `sent` only
    journal.close()
    again = opened(here)
    assert [intent.id for intent in again.open_intents()] == ["i1"]
    assert again.verify().number == 1


# Lost


def lose(how: str, file: Path) -> None:
    """Do to a journal what must not go unseen."""
    wal = file.with_name(file.name + "-wal")
    if how == "deleted":
        file.unlink()
        wal.unlink(missing_ok=True)
    elif how == "directory deleted":
        shutil.rmtree(file.parent)
    elif how == "emptied":
        file.write_bytes(b"")
        wal.unlink(missing_ok=True)
    elif how == "made new":
        lose("deleted", file)
        Journal(file).close()
    elif how == "put back":
        shutil.copy(file.with_name("backup"), file)
        wal.unlink(missing_ok=True)
    elif how == "another history":
        lose("put back", file)
        journal = Journal(file)
        for number in range(10):
            begin(journal, f"x{number}")
            settle(journal, f"x{number}")
        journal.close()
    elif how == "last events deleted":
        raw = sqlite3.connect(file, isolation_level=None)
        raw.execute("DROP TRIGGER no_loss_of_event")
        raw.execute("DELETE FROM event WHERE intent = 'i2' AND state != 'intended'")
        raw.execute("UPDATE intent SET state = 'intended' WHERE id = 'i2'")
        raw.close()
    elif how == "newest lock deleted":
        raw = sqlite3.connect(file, isolation_level=None)
        raw.execute("DROP TRIGGER no_loss_of_event")
        raw.execute("DELETE FROM event WHERE number = (SELECT max(number) FROM event)")
        raw.close()
    elif how == "garbage":
        file.write_bytes(b"no database" * 500)
        wal.unlink(missing_ok=True)


LOSSES = (
    "deleted",
    "directory deleted",
    "emptied",
    "made new",
    "put back",
    "another history",
    "last events deleted",
    "newest lock deleted",
    "garbage",
)


def with_an_open_intent(here: JournalLocation) -> Path:
    journal = opened(here)
    begin(journal, "i1")
    settle(journal, "i1")
    journal._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert here.file is not None
    shutil.copy(here.file, here.file.with_name("backup"))
    begin(journal, "i2")
    go(journal, "i2", State.SENT, State.UNKNOWN)
    journal.set_trading_lock(True, at(3))
    journal.close()
    return here.file


@pytest.mark.parametrize("how", LOSSES)
def test_what_is_lost_locks_until_the_trader_accepts_it(here: JournalLocation, how: str) -> None:
    file = with_an_open_intent(here)
    lose(how, file)
    for _ in range(2):
        with pytest.raises(FileLost) as caught:
            opened(here)
        assert str(file) in caught.value.file
        assert "--accept-loss" in caught.value.remedy and "press L in tradetui" in caught.value.remedy
    assert caught.value.locked == (SCOPE,)
    with pytest.raises((AlreadyOpen, FileLost)):
        begin(opened(elsewhere(here)), "i3")
    kept = {entry.name for entry in file.parent.iterdir()} if file.parent.exists() else set()
    accepted = accept_loss(here, at(9))
    assert accepted and str(file) in accepted[0]
    after = {entry.name for entry in file.parent.iterdir()}
    assert len(after) >= len(kept - {"journal.sqlite-wal", "journal.sqlite-shm"}), "nothing is deleted"
    journal = opened(here)
    assert journal.trading_locked() is True
    begin(journal, "i4")
    assert accept_loss(here, at(10)) == ()


@pytest.mark.parametrize("how", LOSSES)
def test_what_is_lost_while_it_is_open_is_seen_before_the_next_intent(here: JournalLocation, how: str) -> None:
    file = with_an_open_intent(here)
    journal = opened(here)
    lose(how, file)
    with pytest.raises(FileLost) as caught:
        begin(journal, "i3", "USDT-FUTURES|ETHUSDT")
    assert caught.value.locked == (SCOPE,)


def test_a_journal_of_another_directory_that_is_gone_is_missed(here: JournalLocation) -> None:
    with_an_open_intent(here)
    assert here.file is not None
    shutil.rmtree(here.file.parent)
    with pytest.raises(FileLost, match="not there any more"):
        opened(elsewhere(here))
    assert accept_loss(elsewhere(here), at(9))
    begin(opened(elsewhere(here)), "i4")


def test_a_journal_that_never_held_anything_is_not_missed(here: JournalLocation) -> None:
    opened(here).close()
    assert here.file is not None
    shutil.rmtree(here.file.parent)
    assert opened(here).notice == NEW


def test_the_trading_lock_cannot_be_put_back(here: JournalLocation) -> None:
    file = with_an_open_intent(here)
    journal = opened(here)
    journal._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(file, file.with_name("backup"))
    journal.set_trading_lock(True, at(5))
    journal.close()
    lose("put back", file)
    with pytest.raises(FileLost, match="1 event"):
        opened(here)


# New, rebuilt, moved, copied


def test_a_new_journal_is_said_once(here: JournalLocation) -> None:
    assert [opened(here).notice for _ in range(2)] == [NEW, ""]


def test_without_its_registry_a_journal_is_entered_again_and_that_is_said(here: JournalLocation) -> None:
    with_an_open_intent(here)
    assert here.registry_file is not None
    shutil.rmtree(here.registry_file.parent)
    journal = opened(here)
    assert journal.notice == ENTERED_AGAIN
    with pytest.raises(AlreadyOpen):
        begin(opened(elsewhere(here)), "i3")
    assert opened(here).notice == ""


def test_a_damaged_registry_locks_until_it_is_accepted(here: JournalLocation) -> None:
    with_an_open_intent(here)
    assert here.registry_file is not None
    here.registry_file.write_bytes(b"no database" * 500)
    assert not here.registry_file.with_name("registry.sqlite-wal").exists()
    for _ in range(2):
        with pytest.raises(FileLost, match=r"registry\.sqlite\.damaged-1"):
            opened(here)
    assert accept_loss(here, at(9))
    assert here.registry_file.with_name("registry.sqlite.accepted-1").exists()
    with pytest.raises(AlreadyOpen, match="i2 is unknown"):
        begin(opened(here), "i3")


def test_a_registry_that_cannot_be_written_names_its_setting(here: JournalLocation, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    with pytest.raises(FileUnusable, match="TRADETUI_STATE_DIR"):
        opened(here._replace(registry_file=blocked / "registry.sqlite"))


def test_a_journal_that_moved_is_known_again_and_a_copy_is_refused(here: JournalLocation) -> None:
    file = with_an_open_intent(here)
    moved = elsewhere(here)
    assert moved.file is not None
    shutil.copytree(file.parent, moved.file.parent)
    with pytest.raises(FileUnusable, match="it is a copy of"):
        opened(moved)
    shutil.rmtree(file.parent)
    with pytest.raises(AlreadyOpen, match="i2"):
        begin(opened(moved), "i3")


# Former names


def former_of(here: JournalLocation, name: str) -> Path:
    assert here.file is not None
    return here.file.parents[1] / name / "journal.sqlite"


@pytest.mark.parametrize("order", list(permutations(("older", "oldest"))))
def test_journals_under_former_names_lock_and_are_led_to_their_end(
    here: JournalLocation, order: tuple[str, str]
) -> None:
    for name in order:
        former = Journal(former_of(here, name))
        begin(former, name)
        go(former, name, State.SENT, State.UNKNOWN)
        former.close()
    location = here._replace(former_files=tuple(former_of(here, name) for name in order))
    journal = opened(location)
    assert [intent.id for intent in journal.open_intents()] == list(order)
    other = opened(elsewhere(here))
    for done, name in enumerate(order):
        with pytest.raises(AlreadyOpen):
            begin(journal, "i1")
        with pytest.raises(AlreadyOpen):
            begin(other, "i1")
        journal.step(name, State.RELEASED, {}, at(5))
        journal.reconcile(at(6))
        assert len(journal.open_intents()) == len(order) - done - 1
    begin(journal, "i1")
    journal.check()


def test_a_registry_that_a_newer_program_has_changed_lets_nothing_begin(here: JournalLocation) -> None:
    journal = opened(here)
    assert here.registry_file is not None
    raised(here.registry_file)
    with pytest.raises(FileUnusable, match="Restart tradetui"):
        begin(journal, "i1")
    assert journal.open_intents() == []


def test_a_registry_with_tables_of_a_newer_program_says_to_restart(here: JournalLocation) -> None:
    journal = opened(here)
    assert here.registry_file is not None
    with closing(sqlite3.connect(here.registry_file)) as raw:
        raw.executescript("BEGIN; ALTER TABLE journal RENAME TO journals; PRAGMA user_version=99; COMMIT")
    with pytest.raises(FileUnusable, match=r"has brought registry\.sqlite from version 1 to 99\. Restart tradetui"):
        journal.verify()


def test_a_registry_that_a_newer_program_has_begun_anew_lets_nothing_begin(here: JournalLocation) -> None:
    journal = opened(here)
    assert here.registry_file is not None
    set_aside(here.registry_file)
    accept_damage(here.registry_file)
    opened(elsewhere(here)).close()
    with pytest.raises(FileUnusable, match=r"registry\.sqlite was moved, deleted or replaced"):
        begin(journal, "i1")
    assert journal.open_intents() == []
