"""An event of the account: the id that reading can resume from, and one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from tradetui.desk.alerts.alert_event import one_sentence
from tradetui.desk.alerts.detection.alert_sentences import filled_text, fills_sentence, order_text, trigger_sentence
from tradetui.desk.alerts.detection.order_fills import OrderFills
from tradetui.desk.intents.states import end_in
from tradetui.desk.tables.cells.cell_format import UNKNOWN_PRECISION, Precision
from tradetui.trading.trade_effect import effect_of_order
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
    """Changes of a pending order. `gone` waits no more and is not filled whole: cancelled, expired or refused."""

    NEW = "new"
    CHANGED = "changed"
    FILLED = "filled"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class EventId:
    """The number of an event in its log, the log's name, and the event's time (Unix ms).

    The time is where reading goes on if the log is not there any more.
    """

    number: int
    log: str
    time_ms: int

    def __str__(self) -> str:
        return f"{self.number}-{self.log}-{self.time_ms}"

    @classmethod
    def parse(cls, text: str) -> EventId | None:
        """The id that a text is; None where it is none."""
        match = _EVENT_ID.fullmatch(text.strip())
        return None if match is None else cls(int(match["number"]), match["log"], int(match["time"]))


@dataclass(frozen=True, slots=True)
class AccountEvent:
    """One event: when it took place (Unix ms), and what is known of it.

    `details` of a fill and of a trigger are the record as received; of an order its `state` and what `missed` says,
    the size `filled` and the `order` as received; of an alert its sentence, rules and channels; of an outcome the
    intent and the step of the journal. `subject_id` is the id of the fill, order or trigger. `product_type` is None for
    what belongs to the account as a whole.
    """

    id: EventId
    kind: EventKind
    subject_id: str
    product_type: ProductType | None
    time_ms: int
    details: Mapping[str, Any]


def event_sentence(event: AccountEvent, precision_of: Callable[[str], Precision] = lambda _: UNKNOWN_PRECISION) -> str:
    """The event in a sentence; `precision_of` gives the places of a symbol's prices and sizes, where known."""
    try:
        return one_sentence(_sentence(event, precision_of))
    except UndecodableRowError:
        return one_sentence(f"{event.kind.capitalize()} {event.subject_id}: this version of tradetui cannot read it")


def _sentence(event: AccountEvent, precision_of: Callable[[str], Precision]) -> str:
    details = event.details
    match event.kind:
        case EventKind.FILL if event.product_type is not None:
            fill = FuturesFill.from_row(details)
            return fills_sentence(OrderFills(event.product_type, (fill,)), precision_of(fill.symbol.upper()))
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
    return f"{text}; what it went through before was not seen" if details["missed"] else text
