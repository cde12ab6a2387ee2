"""The log of events by itself: two sessions on one archive, looks that come late, and what was there before."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.desk.events.test_alert_log import alert
from tests.desk.fixtures.exchange_rows import fill, order, trigger
from tests.desk.fixtures.scripted_exchange import NOW_MS, USDT
from tradetui.desk.archive.database import Archive
from tradetui.desk.events.delivery import AlertLog
from tradetui.desk.events.detector import UNCONFIRMED_S, OrdersLook
from tradetui.desk.events.event_log import ORDERS_KEPT_MS, EventKind, EventLog, JournalSteps, event_sentence
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.registered_journal import JournalLocation
from tradetui.desk.intents.states import State
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange.clock import Moment
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder

AFTER_MS = NOW_MS + 1_000


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "archive.sqlite")


def log_of(archive: Archive, now_ms: int = NOW_MS, journal: Path = Path("there is none")) -> EventLog:
    return EventLog(archive, now_ms, JournalSteps(JournalLocation(journal)), lambda: "5f0c2a9b")


def short(subject_id: str) -> str:
    """The number of which `tests.desk.fixtures.exchange_rows` makes an id."""
    number = subject_id.partition("|")[0]
    return number[-1] if number.isdecimal() else subject_id


def look(log: EventLog, *orders: PendingOrder, after_s: float, fills_after_s: float | None = None) -> None:
    """Look so long after the start; the fills were read at the same time, or so long after."""
    began_s = NOW_MS / 1_000
    fills_read_s = began_s + (after_s if fills_after_s is None else fills_after_s)
    pending = {order.order_id: order for order in orders}
    log.look_at_orders(USDT, OrdersLook(pending, began_s + after_s, fills_read_s))


def states(log: EventLog) -> list[tuple[str, str, bool]]:
    events = [event for event in log.after(0) if event.kind is EventKind.ORDER]
    return [(short(event.subject_id), event.details["state"], event.details["missed"]) for event in events]


def ids(log: EventLog, kind: EventKind) -> list[str]:
    return [short(event.subject_id) for event in log.after(0) if event.kind is kind]


def add_fills(archive: Archive, *fills: FuturesFill) -> None:
    archive.add(FuturesFill, [ProductRow(USDT, one_fill) for one_fill in fills])


def test_what_was_there_before_is_in_it_only_when_it_reaches_back(archive: Archive) -> None:
    add_fills(archive, fill(1, NOW_MS - 5_000))
    log = log_of(archive)
    add_fills(archive, fill(2, AFTER_MS), fill(2, AFTER_MS, symbol="ETHUSDT"), fill(3, NOW_MS - 9_000))
    log.enter()
    assert ids(log, EventKind.FILL) == ["2", "2"], "an old fill that is read late is older than the log"
    assert {event.details["symbol"] for event in log.after(0)} == {"BTCUSDT", "ETHUSDT"}
    log.reach_back(NOW_MS - 6_000)
    log.enter()
    assert ids(log, EventKind.FILL) == ["2", "2", "1"]
    log.reach_back(NOW_MS)
    assert log_of(archive, AFTER_MS).began_ms == NOW_MS - 6_000, "it never begins later than it did"


def test_two_sessions_enter_each_record_once(archive: Archive, tmp_path: Path) -> None:
    other_archive = Archive(tmp_path / "archive.sqlite")
    log, other = log_of(archive), log_of(other_archive, AFTER_MS)
    assert (log.name, log.began_ms) == (other.name, other.began_ms)
    add_fills(archive, fill(1, AFTER_MS))
    archive.add(TriggerOrder, [ProductRow(USDT, trigger(7, "executing", AFTER_MS))])
    for session in (log, other, log, other):
        session.triggers_changed()
        session.enter()
    assert ids(log, EventKind.FILL) == ["1"] and ids(log, EventKind.TRIGGER) == []
    archive.add(TriggerOrder, [ProductRow(USDT, trigger(7, "executed", AFTER_MS + 5))])
    for session in (other, log):
        session.triggers_changed()
        session.enter()
    assert ids(log, EventKind.TRIGGER) == ["7"]
    other_archive.close()


def test_a_look_from_before_the_last_one_says_nothing(archive: Archive) -> None:
    log = log_of(archive)
    look(log, order(1), after_s=0)
    look(log, order(1), order(2), after_s=2)
    look(log, order(1, price="91"), after_s=1)  # it was sent before order 2 came
    for after_s in (4, 6, 8):
        look(log, order(2), after_s=after_s)
    assert states(log) == [("2", "new", False), ("1", "gone", False)]


def test_an_order_has_ended_once_two_looks_miss_it_and_the_fills_were_read_in_between(archive: Archive) -> None:
    log = log_of(archive)
    look(log, order(1), order(2), after_s=0)
    look(log, order(2), after_s=2)
    look(log, order(2), after_s=4, fills_after_s=2.5)
    assert states(log) == [], "fills of before may not have been read yet"
    look(log, order(1), after_s=6)  # a page that was cut short is no end of an order
    look(log, order(1), after_s=8)
    assert states(log) == [("2", "gone", False)]
    later = log_of(archive)  # as another session goes on
    look(later, after_s=10, fills_after_s=9)
    look(later, after_s=10 + UNCONFIRMED_S - 1, fills_after_s=9)
    assert states(log) == [("2", "gone", False)]
    look(later, after_s=10 + UNCONFIRMED_S, fills_after_s=9)
    assert states(log)[1:] == [("1", "gone", False)], "they have not been read for too long"


def test_between_looks_that_are_far_apart_states_may_be_missed(archive: Archive) -> None:
    log = log_of(archive)
    look(log, order(1), order(2), after_s=0)
    filled = [order(number, baseVolume="0.5", status="partially_filled") for number in (1, 3)]
    look(log, *filled, after_s=60)
    add_fills(archive, fill(9, AFTER_MS, orderId=order(2).order_id, baseVolume="2"))
    look(log, *filled, after_s=62)
    assert states(log) == [("1", "changed", True), ("3", "new", True), ("2", "filled", True)]


def test_changes_of_orders_are_forgotten_after_a_while_and_no_other_session_is_confused(archive: Archive) -> None:
    log = log_of(archive)
    look(log, after_s=0)
    look(log, order(1), after_s=2)
    add_fills(archive, fill(1, AFTER_MS))
    log.enter()
    later = log_of(archive, NOW_MS + ORDERS_KEPT_MS + 60_000)
    assert [event.kind for event in later.after(0)] == [EventKind.FILL]
    assert later.newest_number() == 2


def test_an_alert_is_an_event_from_the_moment_it_is_logged(archive: Archive) -> None:
    alerts = AlertLog(archive, "a session")
    for key in ("first", "first", "second"):
        alerts.note(alert(key), Moment(NOW_MS, "boot", 1.0))
    events = log_of(archive).after(0)
    assert [(event.kind, event_sentence(event)) for event in events] == [
        (EventKind.ALERT, "about first"),
        (EventKind.ALERT, "about second"),
    ]
    assert (events[0].details["rules"], events[0].details["channels"]) == (["fill"], ["desktop"])


def test_outcomes_of_a_journal_begin_after_what_it_held_and_come_once(archive: Archive, tmp_path: Path) -> None:
    at = Moment(NOW_MS, "boot", 1.0)
    with closing(Journal(tmp_path / "journal.sqlite")) as journal:
        for intent in ("before", "after"):
            journal.begin(intent, "account", f"{intent} BTCUSDT", "reversal", {"title": f"reverse {intent}"}, at)
        journal.step("before", State.WITHDRAWN, {}, at)
        logs = [log_of(archive, journal=tmp_path / "journal.sqlite") for _ in range(2)]
        journal.step("after", State.WITHDRAWN, {}, at)
        for log in logs * 2:
            log.enter()
    assert [event_sentence(event) for event in logs[0].after(0)] == ["reverse after: withdrawn"]


def test_outcomes_that_could_not_be_entered_are_read_again(archive: Archive, tmp_path: Path) -> None:
    at = Moment(NOW_MS, "boot", 1.0)
    with closing(Journal(tmp_path / "journal.sqlite")) as journal:
        log = log_of(archive, journal=tmp_path / "journal.sqlite")
        journal.begin("a1", "account", "BTCUSDT", "reversal", {"title": "reverse"}, at)
        journal.step("a1", State.WITHDRAWN, {}, at)
        archive.connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError):
            log.enter()
        archive.connection.execute("ROLLBACK")
        log.enter()
    assert [event.kind for event in log.after(0)] == [EventKind.OUTCOME]


def test_a_row_that_this_version_cannot_read_holds_up_no_other_event(archive: Archive) -> None:
    log = log_of(archive)
    add_fills(archive, fill(1, AFTER_MS))
    archive.add(TriggerOrder, [ProductRow(USDT, trigger(number, ended_ms=AFTER_MS)) for number in (2, 3)])
    with archive.transaction() as connection:
        connection.execute("UPDATE record SET body = '{}' WHERE id LIKE '%1|%' OR id LIKE '%2'")
    log.enter()
    assert [ids(log, EventKind.FILL), ids(log, EventKind.TRIGGER)] == [["1"], ["3"]]
    (fill_event,) = [event for event in log.after(0) if event.kind is EventKind.FILL]
    assert event_sentence(fill_event) == f"Fill {fill_event.subject_id}: this version of tradetui cannot read it"


def test_an_order_that_this_version_cannot_read_holds_up_no_other_order(archive: Archive) -> None:
    log, order_id = log_of(archive), order(3).order_id
    look(log, order(1), order(2), order(3), after_s=0)
    add_fills(archive, *(fill(number, AFTER_MS, orderId=order_id, baseVolume="2") for number in (8, 9)))
    with archive.transaction() as connection:
        connection.execute("UPDATE watched_order SET body = '{}' WHERE id LIKE '%1' OR id LIKE '%2'")
        connection.execute(
            "UPDATE record SET body = json_object('orderId', ?) WHERE id LIKE '%9|%'", (order(3).order_id,)
        )
    for after_s in (2, 4, 6):
        look(log, order(1), after_s=after_s)
    assert states(log) == [("1", "changed", True), ("3", "filled", False)], "of 2 nobody knows how it ended"
    assert archive.connection.execute("SELECT count(*) FROM watched_order").fetchone() == (1,)


@pytest.mark.parametrize(("seen_filled", "ends"), [("0", []), ("0.5", []), ("2", [("3", "filled", False)])])
def test_an_order_whose_fills_this_version_cannot_read_is_not_said_to_be_unfilled(
    archive: Archive, seen_filled: str, ends: list[tuple[str, str, bool]]
) -> None:
    log, order_id = log_of(archive), order(3).order_id
    look(log, order(3, baseVolume=seen_filled), after_s=0)
    add_fills(archive, fill(9, AFTER_MS, orderId=order_id, baseVolume="2"))
    with archive.transaction() as connection:
        connection.execute("UPDATE record SET body = json_object('orderId', ?)", (order_id,))
    for after_s in (2, 4):
        look(log, after_s=after_s)
    assert states(log) == ends
    assert archive.connection.execute("SELECT count(*) FROM watched_order").fetchone() == (0,)
