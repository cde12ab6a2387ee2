"""The log of events in an account's archive: each fill, trigger, alert and outcome once, and orders as they change.

Every session that watches an account writes it, each step in one transaction. So concurrent or killed sessions neither
lose an event nor enter one twice. The numbers rise in the order of the commits: a reader up to one number has missed
none before it. Journals are only read.
"""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

from tradetui.desk.archive.database import Archive
from tradetui.desk.events.detector import OrdersLook, WatchedOrder, watch_on
from tradetui.desk.events.rules import one_sentence
from tradetui.desk.events.sentences import (
    filled_text,
    fills_sentence,
    order_text,
    trigger_sentence,
)
from tradetui.desk.intents.journal.journal import written_mark
from tradetui.desk.intents.journal.registered_journal import JournalLocation, located
from tradetui.desk.intents.states import ENDED, State, end_in
from tradetui.desk.tables.cells.cell_format import UNKNOWN_PRECISION, Precision
from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.desk.tables.rows.product_row import ProductRow, RecordT
from tradetui.storage.sqlite_file import connect_existing, is_damage
from tradetui.trading.contract_math import ZERO, exact_digits
from tradetui.trading.fill_terms import effect_of_order
from tradetui.trading.trigger_orders import TriggerState, trigger_state
from tradetui.wire.endpoints.reply import id_sort_key
from tradetui.wire.exchange_time import DAY_MS, unix_ms
from tradetui.wire.json_text import dump_json, load_json
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import UndecodableRowError

_EVENT_ID: Final = re.compile(r"(?P<number>\d{1,18})-(?P<log>[0-9a-f]{8})-(?P<time>\d{1,15})")


class EventKind(StrEnum):
    FILL = "fill"
    ORDER = "order"
    TRIGGER = "trigger"
    ALERT = "alert"
    OUTCOME = "outcome"


class OrderState(StrEnum):
    """Changes of a pending order.

    `gone` no longer waits and is not completely filled: cancelled, expired or refused.
    """

    NEW = "new"
    CHANGED = "changed"
    FILLED = "filled"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class EventId:
    """The number of an event in its log, the log's name, and the event's time (Unix ms).

    If the log no longer exists, reading resumes at this time.
    """

    number: int
    log: str
    time_ms: int

    def __str__(self) -> str:
        return f"{self.number}-{self.log}-{self.time_ms}"

    @classmethod
    def parse(cls, text: str) -> EventId | None:
        """Parse an id; None if the text is none."""
        match = _EVENT_ID.fullmatch(text.strip())
        return None if match is None else cls(int(match["number"]), match["log"], int(match["time"]))


@dataclass(frozen=True, slots=True)
class AccountEvent:
    """One event: its time (Unix ms) and its details.

    `details` of a fill or trigger are the record as received. An order has its `state`, the size `filled`, the `order`
    as received, and `missed` if states may be unseen. An alert has its sentence, rules and channels, an outcome its
    intent and step of the journal. `subject_id` is the id of the fill, order or trigger, or the key of the alert.
    `product_type` is None for events of the whole account.
    """

    id: EventId
    kind: EventKind
    subject_id: str
    product_type: ProductType | None
    time_ms: int
    details: Mapping[str, Any]


def event_sentence(event: AccountEvent, precision_of: Callable[[str], Precision] = lambda _: UNKNOWN_PRECISION) -> str:
    """Describe the event; `precision_of` gives the decimals of a symbol's prices and sizes, if known."""
    try:
        return one_sentence(_sentence(event, precision_of))
    except UndecodableRowError:
        return one_sentence(f"{event.kind.capitalize()} {event.subject_id}: this version of tradetui cannot read it")


def _sentence(event: AccountEvent, precision_of: Callable[[str], Precision]) -> str:
    details = event.details
    match event.kind:
        case EventKind.FILL if event.product_type is not None:
            fill = FuturesFill.from_row(details)
            row = ProductRow(event.product_type, fill)
            return fills_sentence(FilledOrder((row,)), precision_of(fill.symbol.upper()))
        case EventKind.TRIGGER:
            trigger = TriggerOrder.from_row(details)
            return trigger_sentence(trigger, precision=precision_of(trigger.symbol.upper()))
        case EventKind.ORDER:
            order = PendingOrder.from_row(details["order"])
            return _order_sentence(order, details, precision_of(order.symbol.upper()))
        case EventKind.OUTCOME:
            end = end_in(details)
            return f"{details['title']}: {details['state']}{f', {end}' if end else ''}"
    return str(details.get("sentence", ""))


def _order_sentence(order: PendingOrder, details: Mapping[str, Any], precision: Precision) -> str:
    state, filled = OrderState(details["state"]), Decimal(details["filled"])
    text = f"Order {state}: {order_text(order, precision)}"
    if state is not OrderState.NEW or filled:
        text += f", {filled_text(order, filled, precision)}"
    elif (effect := effect_of_order(order)) is not None and effect.leg is not None:
        text += f", {effect.present}"
    return f"{text}; its earlier states were not seen" if details["missed"] else text


OUTCOMES: Final = frozenset({*ENDED, State.UNKNOWN, State.CORRECTED})
"""The steps of an intent that name its end, an unknown outcome, or a correction of its end."""


class JournalStep(NamedTuple):
    """A step of an intent: its number in the journal named `journal`, its time (Unix ms), and its details."""

    journal: str
    number: int
    at_ms: int
    details: Mapping[str, Any]


class JournalSteps:
    """The journals of one account, each read again only after its file has changed. Every call blocks briefly."""

    def __init__(self, location: JournalLocation) -> None:
        self._location = location
        self._written_marks: dict[Path, object] = {}

    def outcomes_after(self, number_of: Callable[[str], int], *, all_files: bool = False) -> list[JournalStep]:
        """Return the outcomes after a number for each journal's name; an unchanged file gives none.

        A journal that cannot be read now is left for the next time, or raises sqlite3.Error if `all_files` are needed.
        A damaged one is left to the session that opens it, which reports it.
        """
        steps: list[JournalStep] = []
        for file in self._files():
            mark = written_mark(file)
            if mark == self._written_marks.get(file):
                continue
            try:
                with closing(connect_existing(file, read_only=True)) as connection:
                    (journal,) = connection.execute("SELECT id FROM identity").fetchone()
                    rows = connection.execute(_STEPS, (number_of(journal),)).fetchall()
                for number, intent, state, at_ms, text, first_text in rows:
                    if state in OUTCOMES:
                        title = str(json.loads(first_text).get("title", intent))
                        details = {"intent": intent, "state": state, "title": title, **json.loads(text)}
                        steps.append(JournalStep(journal, number, at_ms, details))
            except (sqlite3.Error, TypeError, ValueError) as problem:
                if all_files and not is_damage(problem):
                    raise sqlite3.OperationalError(f"{file} cannot be read: {problem}") from problem
                continue
            self._written_marks[file] = mark
        return steps

    def forget(self) -> None:
        """Read every file again as if it had changed, because its outcomes could not be stored."""
        self._written_marks.clear()

    def _files(self) -> list[Path]:
        location = located(self._location)
        return [file for file in (location.file, *location.former_files) if file.exists()]


ORDERS_KEPT_MS: Final = 90 * DAY_MS
"""Older changes of orders are deleted; fills and triggers stay as long as the archive."""
SEEN_EVERY_MS: Final = 10_000
"""Between looks further apart than this, an order may have had unseen states."""
AT_A_TIME: Final = 500
_FILLS: Final = (
    "INSERT OR IGNORE INTO account_event (kind, product_type, id, time) SELECT kind, product_type, id, time FROM record"
    " WHERE {condition} ORDER BY time, ordinal"
)
_INSERT: Final = "INSERT OR IGNORE INTO account_event (kind, product_type, id, time, body) VALUES (?, ?, ?, ?, ?)"
_STEPS: Final = (
    "SELECT number, intent, state, at_ms, told,"
    " (SELECT told FROM event AS first WHERE first.intent = event.intent ORDER BY number LIMIT 1)"
    " FROM event WHERE number > ? ORDER BY number"
)
_UNENDED: Final = frozenset({TriggerState.WAITING, TriggerState.EXECUTING})
_RECORDS: Final = "record"


class OrderChange(NamedTuple):
    """An order in a new state since the last look, from `time_ms` (Unix ms) on.

    `filled` is in the base coin; `missed` is set if it may have had unseen states in between.
    """

    order: PendingOrder
    state: OrderState
    filled: Decimal
    missed: bool
    time_ms: int


class EventLog:
    """The log of one archive. Every call blocks briefly and belongs on the disk thread."""

    def __init__(
        self,
        archive: Archive,
        now_ms: int,
        journals: JournalSteps,
        new_name: Callable[[], str] = lambda: secrets.token_hex(4),
    ) -> None:
        """Open the log; a new one begins now, and earlier events are in it only after `reach_back`.

        `now_ms` is the exchange's time (Unix ms); `new_name` names a new log, so that its ids differ from those of
        others.
        """
        self._archive = archive
        self._journals = journals
        with archive.transaction() as connection:
            row = connection.execute("SELECT name, began_ms FROM event_log").fetchone()
            if row is None:
                row = (new_name(), now_ms)
                connection.execute("INSERT INTO event_log VALUES (?, ?)", row)
                # Otherwise all earlier outcomes of a journal would be new later.
                outcomes = journals.outcomes_after(lambda _: 0, all_files=True)
                _set_marks(connection, {_journal_mark(outcome.journal): outcome.number for outcome in outcomes})
                _set_marks(connection, {_RECORDS: _newest(connection, "record.rowid")})
            connection.execute(
                "DELETE FROM account_event WHERE kind = ? AND time < ?", (EventKind.ORDER, now_ms - ORDERS_KEPT_MS)
            )
        self.name: str = row[0]
        self.began_ms: int = row[1]
        self._triggers_changed = True

    def reach_back(self, since_ms: int) -> None:
        """Let the log begin at an earlier time (Unix ms): fills are entered now, triggers by `enter`."""
        if since_ms >= self.began_ms:
            return
        with self._archive.transaction() as connection:
            connection.execute("UPDATE event_log SET began_ms = ? WHERE began_ms > ?", (since_ms, since_ms))
            connection.execute(_FILLS.format(condition="kind = 'fill' AND time >= ?"), (since_ms,))
        self.began_ms = since_ms
        self._triggers_changed = True

    def newest_number(self) -> int:
        return _newest(self._archive.connection, "account_event.number")

    def triggers_changed(self) -> None:
        self._triggers_changed = True

    def enter(self) -> None:
        """Enter new fills and triggers of the archive, and new outcomes of journals, from any session."""
        connection, marks = self._archive.connection, self._marks()
        triggers_changed, self._triggers_changed = self._triggers_changed, False
        try:
            outcomes = self._journals.outcomes_after(lambda journal: marks.get(_journal_mark(journal), 0))
            if not (outcomes or triggers_changed or _newest(connection, "record.rowid") > marks.get(_RECORDS, 0)):
                return
            with self._archive.transaction():
                self._take_fills(connection)
                self._take_triggers(connection)
                for journal, number, at_ms, details in outcomes:
                    values = (EventKind.OUTCOME, "", f"{journal}|{number}", at_ms, dump_json(details))
                    connection.execute(_INSERT, values)
                    _set_marks(connection, {_journal_mark(journal): number})
        except BaseException:
            self._triggers_changed = True
            self._journals.forget()
            raise

    def _take_fills(self, connection: sqlite3.Connection) -> None:
        mark, newest = self._marks().get(_RECORDS, 0), _newest(connection, "record.rowid")
        # By row id and no index: rows that came late are far from the newest times.
        condition = "rowid > ? AND rowid <= ? AND +kind = 'fill' AND +time >= ?"
        connection.execute(_FILLS.format(condition=condition), (mark, newest, self.began_ms))
        _set_marks(connection, {_RECORDS: newest})

    def _take_triggers(self, connection: sqlite3.Connection) -> None:
        rows = connection.execute(
            "SELECT product_type, id, time, body FROM record WHERE kind = 'trigger' AND time >= ? AND NOT EXISTS"
            " (SELECT 1 FROM account_event AS event WHERE event.kind = 'trigger'"
            " AND event.kind NOT IN ('order', 'alert')"  # the condition of the index, which SQLite does not infer
            " AND event.product_type = record.product_type AND event.id = record.id)"
            " ORDER BY time, ordinal",
            (self.began_ms,),
        ).fetchall()
        for product_type, order_id, time_ms, body in rows:
            trigger = _record(TriggerOrder, body)
            if trigger is None:
                continue  # the version that can read it enters it
            if trigger_state(trigger) not in _UNENDED:
                connection.execute(_INSERT, (EventKind.TRIGGER, product_type, order_id, time_ms, body))

    def look_at_orders(self, product_type: ProductType, look: OrdersLook) -> None:
        """Enter orders that are new, changed or ended since any session's last look, by the exchange's clock.

        Changes begin with the first look of all. A look from before the last one is ignored.
        """
        mark, at_ms = f"orders|{product_type}", round(look.at_s * 1_000)
        with self._archive.transaction() as connection:
            last_ms = self._marks().get(mark)
            if last_ms is not None and at_ms <= last_ms:
                return
            look = look._replace(missed=last_ms is not None and at_ms - last_ms > SEEN_EVERY_MS)
            rows = connection.execute(
                "SELECT id, body, gone_s, missed FROM watched_order WHERE product_type = ?", (product_type,)
            )
            before = {order_id: WatchedOrder(_record(PendingOrder, body), *gone) for order_id, body, *gone in rows}
            watched, ended = watch_on(before, look)
            changes = list(changes_of(before, look))
            connection.executemany(
                "INSERT OR REPLACE INTO watched_order (product_type, id, body) VALUES (?, ?, ?)",
                [(product_type, order.order_id, dump_json(order.received)) for order, *_ in changes],
            )
            connection.executemany(
                "UPDATE watched_order SET gone_s = ?, missed = ? WHERE product_type = ? AND id = ?",
                [
                    (known.gone_s, known.missed, product_type, order_id)
                    for order_id, known in watched.items()
                    if before.get(order_id, known)[1:] != known[1:]
                ],
            )
            for order_id, known in ended.items():
                connection.execute(
                    "DELETE FROM watched_order WHERE product_type = ? AND id = ?", (product_type, order_id)
                )
                changes += _end_of(connection, product_type, known)
            for order, state, filled, missed, time_ms in changes if last_ms is not None else ():
                details = {"state": state, "filled": exact_digits(filled), "missed": missed, "order": order.received}
                values = (EventKind.ORDER, product_type, order.order_id, time_ms, dump_json(details))
                connection.execute(_INSERT, values)
            _set_marks(connection, {mark: at_ms})

    def after(self, number: int) -> list[AccountEvent]:
        """Return the events after a number, at most `AT_A_TIME`."""
        rows = self._archive.connection.execute(
            "SELECT number, event.kind, event.product_type, event.id, event.time, coalesce(event.body, record.body)"
            " FROM account_event AS event LEFT JOIN record ON event.body IS NULL AND record.kind = event.kind"
            " AND record.product_type = event.product_type AND record.id = event.id"
            " WHERE number > ? ORDER BY number LIMIT ?",
            (number, AT_A_TIME),
        )
        return [
            AccountEvent(
                EventId(event_number, self.name, time_ms),
                EventKind(kind),
                subject_id,
                ProductType(product_type) if product_type else None,
                time_ms,
                load_json(body) if body else {},
            )
            for event_number, kind, product_type, subject_id, time_ms, body in rows
        ]

    def _marks(self) -> dict[str, int]:
        return dict(self._archive.connection.execute("SELECT subject, value FROM event_mark").fetchall())


def _set_marks(connection: sqlite3.Connection, marks: Mapping[str, int]) -> None:
    connection.executemany("INSERT OR REPLACE INTO event_mark VALUES (?, ?)", list(marks.items()))


def _journal_mark(journal: str) -> str:
    return f"journal|{journal}"


def _newest(connection: sqlite3.Connection, column: str) -> int:
    """Return the greatest number in a column (`record.rowid`); 0 if there is none."""
    table, _, name = column.partition(".")
    newest: int = connection.execute(f"SELECT coalesce(max({name}), 0) FROM {table}").fetchone()[0]
    return newest


def _end_of(connection: sqlite3.Connection, product_type: ProductType, known: WatchedOrder) -> Iterator[OrderChange]:
    """Yield how an order ended; nothing if it is not known whether it was filled."""
    order, gone_s, missed = known
    if order is None or gone_s is None or (filled := _filled_size(connection, product_type, order)) is None:
        return
    state = OrderState.FILLED if filled >= order.size else OrderState.GONE
    yield OrderChange(order, state, filled, missed, round(gone_s * 1_000))


def _filled_size(connection: sqlite3.Connection, product_type: ProductType, order: PendingOrder) -> Decimal | None:
    """Return the filled size of an order in the base coin; None if unreadable fills may be the rest."""
    created_ms = 0 if order.c_time is None else unix_ms(order.c_time)
    bodies = connection.execute(
        "SELECT body FROM record WHERE kind = 'fill' AND symbol = ? AND time >= ? AND product_type = ?"
        " AND json_extract(body, '$.orderId') = ?",
        (order.symbol.upper(), created_ms, str(product_type), order.order_id),
    )
    fills = [_record(FuturesFill, body) for (body,) in bodies]
    filled = max(order.base_volume or ZERO, sum((fill.base_volume for fill in fills if fill is not None), ZERO))
    return None if None in fills and filled < order.size else filled


def _record(kind: type[RecordT], body: str) -> RecordT | None:
    """Return a stored record; None if this version cannot read it."""
    try:
        return kind.from_row(load_json(body))
    except UndecodableRowError:
        return None


def changes_of(before: Mapping[str, WatchedOrder], look: OrdersLook) -> Iterator[OrderChange]:
    """Yield new and changed orders since an earlier look, the oldest ids first.

    The time is the exchange's time of the state, or if it gives none, the time of the look.
    """
    for order_id in sorted(look.orders, key=id_sort_key):
        order, moment = look.orders[order_id], look.orders[order_id].u_time
        filled = order.base_volume or ZERO
        if order_id not in before:
            state, missed, moment = OrderState.NEW, filled > 0, moment if filled else order.c_time
        elif (earlier := before[order_id].order) is None or _state_of(order) != _state_of(earlier):
            state, missed = OrderState.CHANGED, look.missed or earlier is None
        else:
            continue
        time_ms = round(look.at_s * 1_000) if moment is None else unix_ms(moment)
        yield OrderChange(order, state, filled, missed, time_ms)


def _state_of(order: PendingOrder) -> tuple[object, ...]:
    return order.status, order.size, order.price, order.base_volume or 0
