"""The one sentence of each event, the same on the screen, on the desktop and for a command."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from tradetui.desk.events.rules import Condition
from tradetui.desk.tables.cells.cell_format import (
    FEE_PLACES,
    MONEY_PLACES,
    MOST_COIN_PLACES,
    UNKNOWN_PRECISION,
    Precision,
    decimals,
    number,
)
from tradetui.desk.tables.rows.filled_order import FilledOrder, fees_by_coin
from tradetui.trading.contract_math import is_dollar
from tradetui.trading.fill_terms import (
    CLOSING_PLANS,
    TradeAction,
    TradeEffect,
    effect_of_order,
    effect_of_trigger,
    terms_of,
)
from tradetui.trading.positions import Position
from tradetui.trading.trigger_orders import NO_REASON, TriggerState, failure_reason, trigger_kind, trigger_state
from tradetui.wire.enums import PlanType, PositionSide, known
from tradetui.wire.models.futures import PendingOrder, TriggerOrder
from tradetui.wire.product_types import margin_coin

MOST_PLACES: Final = 12
"""Maximum decimals of an average price, whatever an exchange sends."""


def known_fees(fills: FilledOrder) -> dict[str, Decimal]:
    """Return fees by coin, without those of unknown coin; negative is paid."""
    return {coin: fee for coin, fee in fees_by_coin(fills.record.fee_detail).items() if coin}


def fills_sentence(fills: FilledOrder, precision: Precision = UNKNOWN_PRECISION) -> str:
    """Describe an order's fills: "SOLUSDT SHORT closed: bought 123.0 at 138.600, profit +665.43, fee -10.2287 USDT"."""
    symbol, terms = fills.record.symbol, terms_of(fills.fills[-1].record)
    effect = terms.effect
    if effect is None:
        trade = f"{_size_and_price(fills, precision)}{_result(fills)}"
        return f"Fill of {symbol}, whose {terms.unknown_word} is not known: {trade}"
    if effect.leg is None:
        return f"{symbol}: {_done(fills, effect, precision)}"
    verb = effect.past.partition(" ")[0]
    return f"{symbol} {effect.leg.upper()} {verb}: {_done(fills, effect, precision)}"


def trigger_sentence(
    order: TriggerOrder, fills: FilledOrder | None = None, precision: Precision = UNKNOWN_PRECISION
) -> str:
    """Describe how a trigger order ended; with its fills, their trade."""
    subject = _subject(order)
    at = f" at {_with_places(order.trigger_price, precision.price)}" if order.trigger_price else ""
    match trigger_state(order):
        case TriggerState.EXECUTED:
            verb = "hit" if is_stop(order) else "executed"
            if fills is not None and (effect := terms_of(fills.fills[-1].record).effect) is not None:
                return f"{subject} {verb}: {_done(fills, effect, precision)}"
            price = order.price_avg or order.execute_price or order.trigger_price
            return f"{subject} {verb}{f' at {_with_places(price, precision.price)}' if price else ''}"
        case TriggerState.FAILED:
            return f"{subject}{at} FAILED: {failure_reason(order)}"
        case TriggerState.CANCELLED:
            return f"{subject}{at} was cancelled"
    return f"{subject}{at} ended: {order.plan_status or NO_REASON}"


def _subject(order: TriggerOrder) -> str:
    """Name a trigger order by kind and leg, such as "Take-profit on your SOLUSDT SHORT"."""
    kind = (trigger_kind(order) or "trigger order").partition(" (")[0].capitalize()
    if is_stop(order):
        leg = stop_leg(order)
        return f"{kind} on your {order.symbol}{f' {leg.upper()}' if leg else ''}"
    effect = effect_of_trigger(order)
    return f"{kind} on {order.symbol}{f' that {effect.present}' if effect else ''}"


def is_stop(order: TriggerOrder) -> bool:
    """Whether a trigger order closes a position, as stop-losses and take-profits do."""
    if known(PlanType, order.plan_type) in CLOSING_PLANS:
        return True
    effect = effect_of_trigger(order)
    return effect is not None and effect.action is TradeAction.CLOSE


def stop_leg(order: TriggerOrder) -> PositionSide | None:
    """Return the leg that a stop closes; None if the order closes none, or does not name it."""
    effect = effect_of_trigger(order)
    return effect.closed_leg if effect is not None and is_stop(order) else None


def order_gone_sentence(order: PendingOrder, filled: Decimal, precision: Precision) -> str:
    return f"Order gone: {order_text(order, precision)}, {filled_text(order, filled, precision)}"


def order_text(order: PendingOrder, precision: Precision) -> str:
    """Describe an order's trade, such as "sell 0.50 BTCUSDT at 84,000.0"; hedge mode's side names a leg instead."""
    effect = effect_of_order(order)
    verb = order.side if effect is None else "buy" if effect.buys else "sell"
    price = f" at {_with_places(order.price, precision.price)}" if order.price else ""
    return f"{verb} {_with_places(order.size, precision.size)} {order.symbol}{price}"


def filled_text(order: PendingOrder, filled: Decimal, precision: Precision) -> str:
    """Describe the filled size of an order, such as "0.20 of 0.50 filled"."""
    if not filled:
        return "nothing filled"
    return f"{_with_places(filled, precision.size)} of {_with_places(order.size, precision.size)} filled"


def margin_sentence(ratio: Decimal, condition: Condition) -> str:
    """Describe a margin ratio, a fraction, above its level."""
    return f"Margin ratio {number(ratio * 100, places=2)} %, above {condition.shown_level} %"


def liquidation_sentence(position: Position, distance: Decimal, condition: Condition) -> str:
    """Describe a position near its liquidation; `distance` is in per cent of the mark."""
    prices = f"mark {number(position.mark)}, liquidation at {number(position.liquidation)}"
    percent = number(distance, places=2)
    return f"{_held(position)} is {percent} % from liquidation, nearer than {condition.shown_level} %: {prices}"


def result_sentence(position: Position, usdt: Decimal, condition: Condition) -> str:
    """Describe a position whose unrealised result, in USDT, is below its level."""
    converted = "~" if position.product_type.is_coin_margined else ""
    result = f"{converted}{number(usdt, signed=True, places=MONEY_PLACES)} USDT"
    return f"{_held(position)}: unrealised {result}, below {condition.shown_level}"


def today_sentence(usdt: Decimal, part: Decimal | None, condition: Condition) -> str:
    """Describe today's result below its level, in USDT and as a fraction if known."""
    percent = "" if part is None else f" ({number(part * 100, signed=True, places=2)} %)"
    level = f"{condition.shown_level}{' %' if condition.is_percent else ''}"
    return f"Today's result {number(usdt, signed=True, places=MONEY_PLACES)} USDT{percent}, below {level}"


def price_sentence(symbol: str, price: Decimal, condition: Condition, *, upwards: bool) -> str:
    way = "above" if upwards else "below"
    return f"{symbol} is at {number(price)}, crossed {way} {condition.shown_level}"


def _held(position: Position) -> str:
    return f"{position.symbol} {position.shown_leg.upper()}"


def _done(fills: FilledOrder, effect: TradeEffect, precision: Precision) -> str:
    return f"{'bought' if effect.buys else 'sold'} {_size_and_price(fills, precision)}{_result(fills)}"


def _size_and_price(fills: FilledOrder, precision: Precision) -> str:
    places = min(MOST_PLACES, max(decimals(row.record.price) for row in fills.fills))
    price = number(fills.record.price, places=max(places, precision.price or 0))
    return f"{_with_places(fills.record.base_volume, precision.size)} at {price}"


def _with_places(value: Decimal, places: int | None) -> str:
    """Format a figure with its contract's decimals, or with all of its own if there are more."""
    return number(value, places=min(MOST_PLACES, max(decimals(value), places or 0)))


def _result(fills: FilledOrder) -> str:
    coin, profit = margin_coin(fills.product_type, fills.record.symbol) or "", fills.record.profit
    parts = []
    if profit:
        places = MONEY_PLACES if is_dollar(coin) else MOST_COIN_PLACES
        parts.append(f", profit {number(profit, signed=True, places=places)}")
    fees = known_fees(fills)
    for fee_coin, fee in fees.items():
        places = FEE_PLACES if is_dollar(fee_coin) else MOST_COIN_PLACES
        parts.append(f", fee {number(fee, places=places)} {fee_coin}")
    if profit and coin not in fees:
        parts[0] += f" {coin}"
    return "".join(parts)
