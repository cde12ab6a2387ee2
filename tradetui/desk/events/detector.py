"""Makes events from the feeds, the link and reversals; it never waits, and time is an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta, tzinfo
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Final, Generic, NamedTuple

from tradetui.desk.events.rules import AlertEvent, Condition, RuleKind, one_sentence
from tradetui.desk.events.sentences import (
    fills_sentence,
    is_stop,
    known_fees,
    order_gone_sentence,
    stop_leg,
    trigger_sentence,
)
from tradetui.desk.feeds.polling.feed import Snapshot
from tradetui.desk.feeds.polling.session_health import LINK_BACK, LOST_LINKS, LinkState
from tradetui.desk.reversal.outcome import SearchStage
from tradetui.desk.tables.cells.cell_format import UNKNOWN_PRECISION, Precision
from tradetui.desk.tables.rows.filled_order import FilledOrder, row_id_of_order
from tradetui.desk.tables.rows.product_row import BEGINNING, ProductRow, RecordT, newest_first, time_of
from tradetui.trading.contract_math import ZERO, exact_digits
from tradetui.trading.positions import Position
from tradetui.trading.trigger_orders import TriggerState, trigger_state
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.reversal.progress import Progress, Sent

CONFIRMED_S: Final = 1.0
"""A read that ended this long after something was seen began after it."""
UNCONFIRMED_S: Final = 30.0
"""Longest wait for such a read, before the alert or event comes without it."""
LATE: Final = timedelta(minutes=5)
"""A new row may be this much older than the newest row, because product types are read at different times."""
TOGETHER_S: Final = 2.0
"""Fills of an order within this time of its first fill are one event, in the exchange's time and since it was seen."""
_JUST_BEFORE: Final = timedelta(seconds=10)
"""A row this much older than the first read may appear only after it."""
FEE_COINS: Final = 4
"""Maximum number of fee coins passed to a command, whatever an exchange sends."""


def _is_confirmed(at_s: float, read_at_s: float | None, now_s: float) -> bool:
    """Whether another feed was read after something was seen, or not for too long; in seconds of one clock."""
    return (read_at_s is not None and read_at_s >= at_s + CONFIRMED_S) or now_s >= at_s + UNCONFIRMED_S


class OrdersLook(NamedTuple):
    """The pending orders by id from a read that ended at `at_s`, and when the newest fills were read.

    Both times are seconds of one clock. In a read that `is_whole` every row could be read. `missed` is set if the last
    look is so long ago that an order may have had unseen states.
    """

    orders: Mapping[str, PendingOrder]
    at_s: float
    fills_read_s: float | None
    is_whole: bool = True
    missed: bool = False


class WatchedOrder(NamedTuple):
    """An order as last seen waiting; `gone_s` is since when it does not wait, None while it does.

    `order` is None if this version cannot read the order of an earlier look.
    """

    order: PendingOrder | None
    gone_s: float | None = None
    missed: bool = False


def watch_on(
    before: Mapping[str, WatchedOrder], look: OrdersLook
) -> tuple[dict[str, WatchedOrder], dict[str, WatchedOrder]]:
    """Return the orders to watch after a look, and those that have ended, both by id.

    An order has ended once a second look, at least a second later, misses it too, because a page may have been cut
    short. The fills must also have been read in between, or not for too long.
    """
    watched, ended = {order_id: WatchedOrder(order) for order_id, order in look.orders.items()}, {}
    for order_id, known in before.items():
        if order_id in watched:
            continue
        watched[order_id] = known
        if not look.is_whole:
            continue  # an unreadable row may be this order
        if known.gone_s is None:
            watched[order_id] = known._replace(gone_s=look.at_s, missed=look.missed)
        elif look.at_s >= known.gone_s + CONFIRMED_S and _is_confirmed(known.gone_s, look.fills_read_s, look.at_s):
            ended[order_id] = watched.pop(order_id)
    return watched, ended


def order_fills(
    rows: Iterable[ProductRow[FuturesFill]], product_type: ProductType, order_id: str
) -> FilledOrder | None:
    """Return all fills of an order among these rows; None if there are none."""
    fills = [row for row in rows if row.product_type is product_type and row.record.order_id == order_id]
    return FilledOrder(newest_first(fills)) if fills else None


class _Group(NamedTuple):
    order_row_id: str
    fills: list[ProductRow[FuturesFill]]
    due_s: float


class FillGroups:
    """Groups fills of one order with the same effect until no more can belong to them. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []

    def add(self, row: ProductRow[FuturesFill], now_s: float) -> None:
        order_row_id, together = row_id_of_order(row), timedelta(seconds=TOGETHER_S)
        for group in self._groups:
            if group.order_row_id == order_row_id and abs(row.record.c_time - group.fills[0].record.c_time) <= together:
                group.fills.append(row)
                return
        self._groups.append(_Group(order_row_id, [row], now_s + TOGETHER_S))

    def take(self, product_type: ProductType, order_id: str) -> FilledOrder | None:
        """Remove and return the grouped fills of an order; None if there are none."""
        fills = order_fills((row for group in self._groups for row in group.fills), product_type, order_id)
        if fills is not None:
            self._groups = [group for group in self._groups if group.fills[0] not in fills.fills]
        return fills

    @property
    def next_due_s(self) -> float | None:
        """When the first group is complete; None if there is none."""
        return min((group.due_s for group in self._groups), default=None)

    def take_due(self, now_s: float) -> list[FilledOrder]:
        """Remove and return the complete groups."""
        due = [FilledOrder(newest_first(group.fills)) for group in self._groups if group.due_s <= now_s]
        self._groups = [group for group in self._groups if group.due_s > now_s]
        return due


class AlertDetector:
    """Takes each snapshot as it is published, and returns the events that are due.

    Every `now_s` is monotonic seconds; `now_ms` is the exchange's time in Unix ms as well as known.
    """

    def __init__(self, precision_of: Callable[[str], Precision] = lambda _: UNKNOWN_PRECISION) -> None:
        """Create the detector; `precision_of` gives the decimals of a symbol's prices and sizes, if known."""
        self._precision_of = precision_of
        self._fills: Snapshot[ProductRow[FuturesFill]] = Snapshot()
        self._orders: Snapshot[ProductRow[PendingOrder]] = Snapshot()
        self._triggers: Snapshot[ProductRow[TriggerOrder]] = Snapshot()
        self._positions: Snapshot[Position] = Snapshot()
        self._new_fills = NewRows[FuturesFill](a_change_is_new=False)
        self._new_triggers = NewRows[TriggerOrder](a_change_is_new=True)
        self._groups = FillGroups()
        self._watched: dict[str, WatchedOrder] = {}
        self._cancelled: dict[str, tuple[ProductRow[TriggerOrder], float]] = {}
        self._link = LinkState.STARTING
        self._left_open: set[str] = set()

    def fills_changed(
        self, snapshot: Snapshot[ProductRow[FuturesFill]], now_s: float, now_ms: int
    ) -> list[ProductRow[FuturesFill]]:
        """Process the fills; return the new ones, which will become an event."""
        self._fills = snapshot
        new_fills = self._new_fills.of(snapshot, now_ms)
        for fill in new_fills:
            self._groups.add(fill, now_s)
        return new_fills

    def triggers_changed(
        self, snapshot: Snapshot[ProductRow[TriggerOrder]], now_s: float, now_ms: int
    ) -> list[AlertEvent]:
        """Process the ended trigger orders; all except cancelled ones alert at once."""
        before, self._triggers = self._triggers, snapshot
        events = []
        for row in self._new_triggers.of(snapshot, now_ms):
            if _differs_by_interface_only(before, row):
                continue
            match trigger_state(row.record):
                case TriggerState.EXECUTED:
                    events.append(self._executed_event(row))
                case TriggerState.CANCELLED if is_stop(row.record):
                    self._cancelled[row.row_id] = row, now_s
                case TriggerState.FAILED | None:
                    events.append(self._trigger_event(row, RuleKind.TRIGGER))
        return events

    def orders_changed(self, snapshot: Snapshot[ProductRow[PendingOrder]], now_s: float) -> list[AlertEvent]:
        """Process the pending orders; an order that ended without being filled completely is an event."""
        if snapshot.read_at is None and not snapshot.rows:
            return []
        self._orders = snapshot
        orders = {row.row_id: row.record for row in snapshot.rows}
        look = OrdersLook(orders, now_s, self._fills.read_at, is_whole=not snapshot.undecodable_rows)
        self._watched, ended = watch_on(self._watched, look)
        events = []
        for key, (order, *_) in ended.items():
            if order is None or (filled := self._filled(key, order)) >= order.size:
                continue
            symbol = order.symbol.upper()
            sentence = order_gone_sentence(order, filled, self._precision_of(symbol))
            events.append(_event(RuleKind.ORDER_GONE, key=f"order gone|{key}", sentence=sentence, symbol=symbol))
        return events

    def positions_changed(self, snapshot: Snapshot[Position]) -> None:
        """Process the positions: the end of a stop together with its position is no event."""
        self._positions = snapshot

    def is_pending(self, row: ProductRow[FuturesFill]) -> bool:
        return self._orders.index_of(f"{row.product_type}|{row.record.order_id}") is not None

    def link_is(self, state: LinkState, sentence: str) -> list[AlertEvent]:
        """Process the link's state: one event if it is lost, one if it is back."""
        was_lost, self._link = self._link in LOST_LINKS, state
        if state in LOST_LINKS and not was_lost:
            return [
                _event(RuleKind.LINK_LOST, key="link|lost", sentence=f"{LOST_LINKS[state]}: {sentence}", recurs=True)
            ]
        if was_lost and state not in LOST_LINKS:
            return [_event(RuleKind.LINK_LOST, key="link|back", sentence=LINK_BACK, recurs=True, alarm=False)]
        return []

    def reversal_went_on(self, sent: Sent, progress: Progress, zone: tzinfo) -> list[AlertEvent]:
        """Process a reversal's progress: left open, corrected after it was settled, and settled after either.

        A reversal sent by another process has no dialog here, so only this reports its outcome.
        """
        symbol, was_left_open = sent.plan.params.symbol, sent.intent in self._left_open
        match progress.stage:
            case SearchStage.LEFT_OPEN if not was_left_open:
                consequence = f"{symbol} stays locked until it is settled or released; the journal shows it"
                text = f"Outcome unknown: {sent.described(f'{progress.sentence}; {consequence}', zone)}"
                self._left_open.add(sent.intent)
            case SearchStage.CORRECTED:
                consequence = f"{symbol} is locked until it is settled again; the journal shows it"
                text = sent.described(f"{progress.sentence}; {consequence}", zone)
                self._left_open.add(sent.intent)
            case SearchStage.ENDED if was_left_open or (sent.call_ended_s is None and progress.outcome is not None):
                text = sent.described(progress.sentence, zone)
                self._left_open.discard(sent.intent)
            case _:
                return []
        event = _event(
            RuleKind.OUTCOME_UNKNOWN,
            key=f"reversal|{sent.intent}|{progress.stage}{f'|{progress.ends}' if progress.ends > 1 else ''}",
            sentence=text,
            symbol=symbol,
            recurs=progress.stage is SearchStage.CORRECTED,
            # The dialog, or its line on the main screen, already shows that an outcome is left open.
            stays=progress.stage is not SearchStage.LEFT_OPEN,
        )
        return [event]

    def example(self, condition: Condition) -> str:
        """Return the sentence of the newest event for a condition without a level; empty if none was read."""
        kind, symbol = condition.kind, condition.symbol
        for fill in self._fills.rows if kind is RuleKind.FILL else ():
            if symbol in ("", name := fill.record.symbol.upper()):
                return fills_sentence(FilledOrder((fill,)), self._precision_of(name))
        for trigger in self._triggers.rows if kind in (RuleKind.TRIGGER, RuleKind.STOP_CANCELLED) else ():
            is_cancelled = trigger_state(trigger.record) is TriggerState.CANCELLED
            if symbol in ("", name := trigger.record.symbol.upper()) and is_cancelled is (kind is not RuleKind.TRIGGER):
                return trigger_sentence(trigger.record, None, self._precision_of(name))
        for order in self._orders.rows if kind is RuleKind.ORDER_GONE else ():
            if symbol in ("", name := order.record.symbol.upper()):
                return order_gone_sentence(order.record, order.record.base_volume or ZERO, self._precision_of(name))
        return ""

    @property
    def next_due_s(self) -> float | None:
        """When the next event may be due, None if nothing is pending."""
        dues = [noticed_s + UNCONFIRMED_S for _, noticed_s in self._cancelled.values()]
        if self._groups.next_due_s is not None:
            dues.append(self._groups.next_due_s)
        return min(dues, default=None)

    def take_due(self, now_s: float) -> list[AlertEvent]:
        """Return the events that are complete now, each once."""
        events = []
        for fills in self._groups.take_due(now_s):
            sentence = fills_sentence(fills, self._precision_of(fills.record.symbol.upper()))
            events.append(_event(RuleKind.FILL, key=_key_of(fills), sentence=sentence, fills=fills))
        for row_id, (row, noticed_s) in tuple(self._cancelled.items()):
            if _is_confirmed(noticed_s, self._positions.read_at, now_s):
                del self._cancelled[row_id]
                if self._still_held(row):
                    events.append(self._trigger_event(row, RuleKind.STOP_CANCELLED))
        return events

    def _executed_event(self, row: ProductRow[TriggerOrder]) -> AlertEvent:
        """Return one event of an executed trigger and the fills of its order that wait for an alert."""
        order_id = row.record.execute_order_id
        if not order_id:
            return self._trigger_event(row, RuleKind.TRIGGER)
        fills = self._groups.take(row.product_type, order_id)
        if fills is None:
            return self._trigger_event(row, RuleKind.TRIGGER, order_fills(self._fills.rows, row.product_type, order_id))
        event = self._trigger_event(row, RuleKind.TRIGGER, fills)
        return event._replace(kinds=frozenset({RuleKind.FILL, RuleKind.TRIGGER}), key=_key_of(fills))

    def _filled(self, row_id: str, order: PendingOrder) -> Decimal:
        """Return the filled size of an order, by its last report and by its fills, in the base coin."""
        fills = order_fills(self._fills.rows, ProductType(row_id.partition("|")[0]), order.order_id)
        return max(fills.record.base_volume if fills else ZERO, order.base_volume or ZERO)

    def _still_held(self, row: ProductRow[TriggerOrder]) -> bool:
        if self._positions.read_at is None:
            return True
        leg = stop_leg(row.record)
        return any(
            position.product_type is row.product_type
            and position.symbol == row.record.symbol.upper()
            and (leg is None or position.leg in (leg, None))
            for position in self._positions.rows
        )

    def _trigger_event(
        self, row: ProductRow[TriggerOrder], kind: RuleKind, fills: FilledOrder | None = None
    ) -> AlertEvent:
        order, symbol = row.record, row.record.symbol.upper()
        sentence = trigger_sentence(order, fills, self._precision_of(symbol))
        key = f"trigger|{row.row_id}|{order.plan_status}"
        return _event(kind, key=key, sentence=sentence, symbol=symbol, fills=fills)


def _differs_by_interface_only(before: Snapshot[ProductRow[TriggerOrder]], row: ProductRow[TriggerOrder]) -> bool:
    """Whether a row differs from the one before only since the account was moved between classic and unified mode."""
    index = before.index.get(row.row_id)
    if index is None:
        return False
    known = before.rows[index].record
    return known.is_converted is not row.record.is_converted and known.plan_status == row.record.plan_status


def _event(
    kind: RuleKind,
    *,
    key: str,
    sentence: str,
    symbol: str = "",
    fills: FilledOrder | None = None,
    recurs: bool = False,
    alarm: bool = True,
    stays: bool = False,
) -> AlertEvent:
    """Make an event with a printable sentence; an event of fills has their symbol and figures."""
    return AlertEvent(
        kinds=frozenset({kind}),
        key=key,
        sentence=one_sentence(sentence),
        symbol=fills.record.symbol.upper() if fills else symbol,
        recurs=recurs,
        alarm=alarm,
        stays=stays,
        figures=_figures_of(fills) if fills else {},
    )


def _key_of(fills: FilledOrder) -> str:
    """Return the key of fills, the same in every session that sees them: their first one."""
    return f"fill|{fills.fills[-1].row_id}"


def _figures_of(fills: FilledOrder) -> dict[str, str]:
    """Return size, price, profit and fees as exact text, for a command."""
    sums = fills.record
    figures: dict[str, Decimal | None] = {"size": sums.base_volume, "price": sums.price, "profit": sums.profit}
    figures |= {f"fee_{coin}": fee for coin, fee in islice(known_fees(fills).items(), FEE_COINS)}
    known = {name: exact_digits(value) for name, value in figures.items() if value is not None}
    return {one_sentence(name): one_sentence(text) for name, text in known.items()}


class NewRows(Generic[RecordT]):
    """Compares each snapshot with the one before; its rows are newest first."""

    def __init__(self, *, a_change_is_new: bool) -> None:
        """`a_change_is_new`: whether a row that comes again with other figures is a new event."""
        self._a_change_is_new = a_change_is_new
        self._before: Snapshot[ProductRow[RecordT]] | None = None
        self._since = BEGINNING

    def of(self, snapshot: Snapshot[ProductRow[RecordT]], now_ms: int) -> list[ProductRow[RecordT]]:
        """Return new and changed rows, oldest first; none at the first read with rows.

        Rows of older history pages, which are read later, are not new. `now_ms` is the exchange's time as well as
        known.
        """
        if snapshot.read_at is None and not snapshot.rows:
            return []
        before, self._before = self._before, snapshot
        if before is None:
            self._since = utc_moment(snapshot.server_ms or now_ms) - _JUST_BEFORE
            return []
        if snapshot.generation == before.generation or not snapshot.rows:
            return []
        oldest = max(self._since, time_of(snapshot.rows[0].record) - LATE)
        return [
            row
            for row in snapshot.changed_since(before)[::-1]
            if time_of(row.record) >= oldest and (self._a_change_is_new or row.row_id not in before.index)
        ]
