"""The one sentence of each event, in the words of the screen and of the alerts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from tradetui.desk.alerts.alert_event import one_sentence
from tradetui.desk.alerts.detection.alert_sentences import filled_text, fills_sentence, order_text, trigger_sentence
from tradetui.desk.alerts.detection.order_fills import OrderFills
from tradetui.desk.events.account_event import AccountEvent, EventKind, OrderState
from tradetui.desk.intents.states import end_in
from tradetui.desk.tables.cells.cell_format import UNKNOWN_PRECISION, Precision
from tradetui.trading.trade_effect import effect_of_order
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder

_MISSED: Final = "; what it went through before was not seen"


def event_sentence(event: AccountEvent, precision_of: Callable[[str], Precision] = lambda _: UNKNOWN_PRECISION) -> str:
    """What happened; `precision_of` gives the places of a symbol's prices and sizes, as far as they are known."""
    return one_sentence(_sentence(event, precision_of))


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
    return f"{text}{_MISSED if details['missed'] else ''}"
