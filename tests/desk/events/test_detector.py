"""What the feeds bring becomes events, each once, and what was there before the session is none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from tests.desk.fixtures.exchange_rows import fill, order, trigger
from tests.desk.fixtures.scripted_exchange import NOW_MS, USDT
from tradetui.desk.events.detector import UNCONFIRMED_S, AlertDetector, FillGroups
from tradetui.desk.events.rules import Condition, RuleKind
from tradetui.desk.feeds.polling.feed import Snapshot
from tradetui.desk.feeds.polling.session_health import LinkState
from tradetui.desk.intents.states import State
from tradetui.desk.reversal.outcome import Outcome, SearchStage
from tradetui.desk.reversal.progress import Progress, Sent
from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.desk.tables.rows.product_row import ProductRow, RecordT, newest_first
from tradetui.trading.holdings import Legs
from tradetui.trading.positions import LONG, Position, Reported
from tradetui.trading.reversal import ReversalParams, plan_reversal
from tradetui.wire.enums import PositionMode, PositionSide, Side
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder
from tradetui.wire.product_types import ProductType

BERLIN = ZoneInfo("Europe/Berlin")
REVERSAL = plan_reversal(
    ReversalParams(
        product_type=USDT,
        symbol="BTCUSDT",
        margin_coin="USDT",
        mode=PositionMode.HEDGE,
        held=Legs(Decimal(20)),
        side=Side.BUY,
    ),
    client_oid="tt-1",
)


class Feed:
    """Snapshots of one kind of row, one after the other."""

    def __init__(self) -> None:
        self.generation = 0

    def of(self, *records: RecordT, read_at: float | None = 0.0) -> Snapshot[ProductRow[RecordT]]:
        """A snapshot that was read at that time."""
        self.generation += 1
        rows = tuple(newest_first(ProductRow(USDT, record) for record in records))
        return replace(Snapshot.of(rows, self.generation), read_at=read_at, server_ms=NOW_MS)


def positions(*legs: PositionSide, read_at: float = 0.0) -> Snapshot[Position]:
    rows = tuple(
        Position(
            product_type=USDT, symbol="BTCUSDT", leg=leg, size=Decimal(1), mode=PositionMode.HEDGE, source=Reported()
        )
        for leg in legs
    )
    return Snapshot(rows, tuple(row.row_id for row in rows), 1, read_at)


def ended(number: int, status: str, **other: str) -> TriggerOrder:
    return trigger(number, status, NOW_MS + number, **other)


@pytest.mark.parametrize("call_ended_s", [None, 7.0])
def test_the_end_of_a_reversal_that_another_process_sent_is_news(call_ended_s: float | None) -> None:
    looking = Progress(State.UNKNOWN, SearchStage.SEARCHING, "taken up from the journal")
    sent = Sent("tt-1", REVERSAL, NOW_MS, None, looking, call_ended_s=call_ended_s)
    released = Progress(State.RELEASED, SearchStage.ENDED, "released")
    settled = Progress(State.SETTLED, SearchStage.ENDED, "closed only; held now: flat", outcome=Outcome.CLOSED_ONLY)
    watch = AlertDetector()
    assert watch.reversal_went_on(sent, looking, UTC) == []
    assert watch.reversal_went_on(sent, released, UTC) == [], "who releases it knows"
    sentences = [event.sentence for event in watch.reversal_went_on(sent, settled, BERLIN)]
    sent_at = f"{datetime.fromtimestamp(NOW_MS / 1000, BERLIN):%Y-%m-%d %H:%M:%S} CEST"
    here = [f"Reverse BTCUSDT LONG 20 into SHORT 20: closed only; held now: flat (tt-1, sent {sent_at})"]
    assert sentences == (here if call_ended_s is None else []), "its own dialog says it where it was sent"


def test_what_was_there_and_older_pages_are_no_news() -> None:
    watch, feed = AlertDetector(), Feed()
    old = [fill(number, NOW_MS - 60_000 - number) for number in range(3)]
    assert watch.fills_changed(feed.of(read_at=None), 0, NOW_MS) == []
    assert watch.fills_changed(feed.of(old[0]), 0, NOW_MS) == []
    assert watch.fills_changed(feed.of(*old), 1, NOW_MS) == []
    new = fill(9, NOW_MS + 500)
    assert [row.record for row in watch.fills_changed(feed.of(new, *old), 2, NOW_MS)] == [new]
    late = fill(8, NOW_MS + 400)
    rows = watch.fills_changed(feed.of(new, late, *old), 3, NOW_MS)
    assert [row.record for row in rows] == [late], "product types are read one after the other"
    assert [event.sentence for event in watch.take_due(10)] == [
        "BTCUSDT LONG opened: bought 1 at 100, fee -0.0600 USDT"
    ] * 2
    assert watch.take_due(20) == []
    corrected = fill(8, NOW_MS + 400, baseVolume="2")
    assert watch.fills_changed(feed.of(new, corrected, *old), 21, NOW_MS) == []


def test_the_fills_of_a_trigger_are_told_with_it() -> None:
    watch, fills, triggers = AlertDetector(), Feed(), Feed()
    watch.fills_changed(fills.of(), 0, NOW_MS)
    watch.triggers_changed(triggers.of(), 0, NOW_MS)
    done = fill(1, NOW_MS + 1, side="sell", tradeSide="close", orderId="77", profit="5")
    watch.fills_changed(fills.of(done), 10, NOW_MS)
    hit = ended(
        1, "executed", planType="pos_profit", side="sell", posSide="short", tradeSide="close", executeOrderId="77"
    )
    (event,) = watch.triggers_changed(triggers.of(hit), 10.2, NOW_MS)
    assert event.kinds == {RuleKind.FILL, RuleKind.TRIGGER}
    assert event.sentence.startswith("Take-profit on your BTCUSDT SHORT hit: bought 1 at 100, profit +5.00")
    assert event.figures == {"size": "1", "price": "100", "profit": "5", "fee_USDT": "-0.06"}
    assert watch.take_due(60) == [], "and not once more by itself"


def test_a_trigger_seen_after_its_fills_is_told_with_them_too() -> None:
    watch, fills, triggers = AlertDetector(), Feed(), Feed()
    watch.fills_changed(fills.of(), 0, NOW_MS)
    watch.triggers_changed(triggers.of(), 0, NOW_MS)
    watch.fills_changed(fills.of(fill(1, NOW_MS + 1, orderId="77")), 10, NOW_MS)
    assert [event.kinds for event in watch.take_due(12)] == [{RuleKind.FILL}]
    (event,) = watch.triggers_changed(triggers.of(ended(1, "executed", executeOrderId="77")), 20, NOW_MS)
    assert event.kinds == {RuleKind.TRIGGER}
    assert event.sentence.startswith("Trigger order on BTCUSDT that opens LONG executed: bought 1 at 100")


def test_a_trigger_whose_fills_are_not_known_is_told_at_once_and_they_when_they_come() -> None:
    watch, fills, triggers = AlertDetector(), Feed(), Feed()
    watch.fills_changed(fills.of(), 0, NOW_MS)
    watch.triggers_changed(triggers.of(), 0, NOW_MS)
    (event,) = watch.triggers_changed(triggers.of(ended(1, "executed", executeOrderId="77")), 10, NOW_MS)
    assert event.kinds == {RuleKind.TRIGGER}
    assert event.sentence.startswith("Trigger order on BTCUSDT that opens LONG executed")
    watch.fills_changed(fills.of(fill(1, NOW_MS + 1, orderId="77")), 11, NOW_MS)
    assert [event.kinds for event in watch.take_due(13)] == [{RuleKind.FILL}]
    assert watch.next_due_s is None


def test_a_failed_trigger_is_told_at_once() -> None:
    watch, triggers = AlertDetector(), Feed()
    watch.triggers_changed(triggers.of(), 0, NOW_MS)
    (event,) = watch.triggers_changed(triggers.of(ended(1, "fail_execute")), 5, NOW_MS)
    assert event.kinds == {RuleKind.TRIGGER} and "FAILED" in event.sentence


@pytest.mark.parametrize(("held", "is_news"), [((LONG,), True), ((), False)])
def test_a_cancelled_stop_is_news_while_its_position_is_held(held: tuple[PositionSide, ...], is_news: bool) -> None:
    watch, triggers = AlertDetector(), Feed()
    watch.triggers_changed(triggers.of(), 0, NOW_MS)
    watch.positions_changed(positions(LONG, read_at=4))
    cancelled = ended(1, "cancelled", planType="pos_loss", tradeSide="close")
    opening = ended(2, "cancelled")
    watch.triggers_changed(triggers.of(cancelled, opening), 5, NOW_MS)
    assert watch.take_due(5.5) == [], "what is held is read once more first"
    watch.positions_changed(positions(*held, read_at=7))
    assert [event.kinds for event in watch.take_due(7)] == ([{RuleKind.STOP_CANCELLED}] if is_news else [])
    assert watch.take_due(100) == []


def test_a_cancelled_stop_is_told_where_positions_cannot_be_read() -> None:
    watch, triggers = AlertDetector(), Feed()
    watch.triggers_changed(triggers.of(), 0, NOW_MS)
    watch.triggers_changed(triggers.of(ended(1, "cancelled", planType="pos_loss", tradeSide="close")), 5, NOW_MS)
    assert watch.next_due_s == 5 + UNCONFIRMED_S
    assert [event.kinds for event in watch.take_due(35)] == [{RuleKind.STOP_CANCELLED}]


@pytest.mark.parametrize(
    ("filled", "sentence"),
    [
        ("2", None),
        ("0.5", "Order gone: buy 2 BTCUSDT at 90, 0.5 of 2 filled"),
        ("0", "Order gone: buy 2 BTCUSDT at 90, nothing filled"),
    ],
)
def test_an_order_that_is_gone_is_news_unless_it_was_filled(filled: str, sentence: str | None) -> None:
    watch, fills, orders = AlertDetector(), Feed(), Feed()
    watch.fills_changed(fills.of(read_at=0), 0, NOW_MS)
    waiting: PendingOrder = order(1)
    watch.orders_changed(orders.of(waiting), 0)
    assert watch.orders_changed(orders.of(), 5) == [], "its fills may not have been read yet"
    new = [fill(1, NOW_MS + 1, orderId=waiting.order_id, baseVolume=filled)] if filled != "0" else []
    watch.fills_changed(fills.of(*new, read_at=6.5), 6.5, NOW_MS)
    unreadable: Snapshot[ProductRow[PendingOrder]] = replace(orders.of(), undecodable_rows=1)
    assert watch.orders_changed(unreadable, 7) == [], "the row that cannot be read may be this order"
    events = [*watch.orders_changed(orders.of(), 9), *watch.orders_changed(orders.of(), 11)]
    assert [event.sentence for event in events] == ([sentence] if sentence else [])
    assert {event.kinds for event in events} <= {frozenset({RuleKind.ORDER_GONE})}


def test_the_link_is_lost_once_and_back_without_a_bell() -> None:
    watch = AlertDetector()
    states = [LinkState.CONNECTED, LinkState.DOWN, LinkState.REFUSED, LinkState.DEGRADED, LinkState.CONNECTED]
    events = [event for state in states for event in watch.link_is(state, "no reply")]
    assert [(event.sentence, event.alarm) for event in events] == [
        ("Link lost: no reply", True),
        ("Link back: the exchange answers again", False),
    ]


def test_a_link_that_stands_and_is_refused_is_not_called_lost() -> None:
    (event,) = AlertDetector().link_is(LinkState.REFUSED, "The exchange does not accept the key")
    assert event.sentence == "Calls refused: The exchange does not accept the key"


def test_events_of_two_sessions_have_one_key() -> None:
    keys = []
    for polls in ([1, 2], [2]):
        watch, fills = AlertDetector(), Feed()
        watch.fills_changed(fills.of(), 0, NOW_MS)
        for count in polls:
            rows = [fill(number, NOW_MS + number, orderId="77") for number in range(count)]
            watch.fills_changed(fills.of(*rows), count, NOW_MS)
        keys.append([event.key for event in watch.take_due(10)])
    assert keys[0] == keys[1]
    assert ProductType.USDT_FUTURES in keys[0][0]


def test_an_example_is_the_sentence_of_the_newest_of_its_kind() -> None:
    watch = AlertDetector()
    assert watch.example(Condition(RuleKind.FILL)) == watch.example(Condition(RuleKind.ORDER_GONE)) == ""
    watch.fills_changed(Feed().of(fill(1), fill(2, symbol="ETHUSDT"), fill(3, price="102")), 0.0, NOW_MS)
    watch.orders_changed(Feed().of(order(1)), 0.0)
    ended_stops = (ended(1, "cancelled"), ended(2, "executed"), ended(3, "cancelled", symbol="ETHUSDT"))
    watch.triggers_changed(Feed().of(*ended_stops), 0.0, NOW_MS)
    assert watch.example(Condition(RuleKind.FILL)).startswith("BTCUSDT LONG opened: bought 1 at 102")
    assert watch.example(Condition(RuleKind.FILL, "ETHUSDT")).startswith("ETHUSDT LONG opened: ")
    assert watch.example(Condition(RuleKind.ORDER_GONE)).startswith("Order gone: buy ")
    assert watch.example(Condition(RuleKind.STOP_CANCELLED, "BTCUSDT")).endswith(" was cancelled")
    assert watch.example(Condition(RuleKind.TRIGGER)) == "Trigger order on BTCUSDT that opens LONG executed at 110"
    assert watch.example(Condition(RuleKind.TRIGGER, "ETHUSDT")) == ""
    assert watch.example(Condition(RuleKind.LINK_LOST)) == ""


def records(filled: Iterable[FilledOrder]) -> list[list[FuturesFill]]:
    """The fills of each order, oldest first."""
    return [[row.record for row in order.fills[::-1]] for order in filled]


def test_fills_of_one_order_within_two_seconds_are_one() -> None:
    groups = FillGroups()
    fills = [fill(number, NOW_MS + number * 900, orderId="7") for number in range(4)]
    for number, row in enumerate(fills):
        groups.add(ProductRow(USDT, row), number * 0.9)
    assert groups.next_due_s == 2.0
    assert groups.take_due(1.9) == []
    assert records(groups.take_due(2.0)) == [fills[:3]]
    assert records(groups.take_due(10.0)) == [fills[3:]]
    assert groups.next_due_s is None
    groups.add(ProductRow(USDT, fill(1)), 0)
    groups.add(ProductRow(USDT, fill(2)), 0)
    assert len(groups.take_due(3)) == 2, "two orders are two"
    for symbol in ("BTCUSDT", "ETHUSDT"):
        groups.add(ProductRow(USDT, fill(1, symbol=symbol, orderId="")), 0)
    assert len({group.fills[-1].row_id for group in groups.take_due(3)}) == 2, (
        "a trade id is unique within a symbol at best"
    )


def test_what_one_order_closes_and_what_it_opens_are_two() -> None:
    groups = FillGroups()
    closed = fill(1, NOW_MS, orderId="7", side="buy", tradeSide="close", baseVolume="20")
    opened = fill(2, NOW_MS, orderId="7", side="sell", tradeSide="open", baseVolume="20")
    for row in (closed, opened):
        groups.add(ProductRow(USDT, row), 0)
    assert records(groups.take_due(3)) == [[closed], [opened]]
