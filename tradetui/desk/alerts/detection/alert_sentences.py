"""The one sentence of each event, the same on the screen, on the desktop and for a command.

Groups the fills of one order that did the same within two seconds, so that they make one event.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, NamedTuple

from tradetui.desk.alerts.rules import Condition
from tradetui.desk.tables.cells.cell_format import (
    FEE_PLACES,
    MONEY_PLACES,
    MOST_COIN_PLACES,
    UNKNOWN_PRECISION,
    Precision,
    decimals,
    number,
)
from tradetui.desk.tables.rows.filled_order import average_price, fees_by_coin, row_id_of_order
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.trading.contract_math import ZERO, is_dollar, known_sum
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
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder
from tradetui.wire.product_types import ProductType, margin_coin

TOGETHER_S: Final = 2.0
"""Seconds from an order's first fill, by the exchange's time, and from when it was seen, within which more are one."""
MOST_PLACES: Final = 12
"""Places of an average price, whatever an exchange sends."""


class OrderFills(NamedTuple):
    """Fills of one order that did the same, oldest first, at least one."""

    product_type: ProductType
    fills: tuple[FuturesFill, ...]

    @property
    def first(self) -> FuturesFill:
        """The oldest fill; what it says of side and leg counts for all."""
        return self.fills[0]

    @property
    def key(self) -> str:
        """Identifies the group in every session that sees it: its first fill."""
        return f"fill|{self.product_type}|{self.first.row_id}"

    @property
    def size(self) -> Decimal:
        """The filled size, in the base coin."""
        return sum((fill.base_volume for fill in self.fills), ZERO)

    @property
    def price(self) -> Decimal:
        """The average by size, unrounded."""
        return average_price(self.fills)

    @property
    def price_places(self) -> int:
        """Places of the most exact of the prices."""
        return min(MOST_PLACES, max(decimals(fill.price) for fill in self.fills))

    @property
    def profit(self) -> Decimal | None:
        """In the margin coin; None where a fill has none."""
        return known_sum(fill.profit for fill in self.fills)

    @property
    def fees(self) -> dict[str, Decimal]:
        """By coin, those of which the coin is known; minus is paid."""
        totals = fees_by_coin(fee for fill in self.fills for fee in fill.fee_detail)
        return {coin: total for coin, total in totals.items() if coin}


def order_fills(rows: Iterable[ProductRow[FuturesFill]], product_type: ProductType, order_id: str) -> OrderFills | None:
    """All fills of an order among these rows; None where there is none."""
    fills = [row.record for row in rows if row.product_type is product_type and row.record.order_id == order_id]
    return _joined(product_type, fills) if fills else None


def _joined(product_type: ProductType, fills: Iterable[FuturesFill]) -> OrderFills:
    oldest_first = sorted(fills, key=lambda fill: (fill.c_time, len(fill.trade_id), fill.trade_id))
    return OrderFills(product_type, tuple(oldest_first))


@dataclass(slots=True)
class _Group:
    order_row_id: str
    began: datetime
    fills: list[FuturesFill]
    due_s: float


class FillGroups:
    """Gathers fills until no more can belong to them. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._groups: dict[tuple[ProductType, str], list[_Group]] = {}

    def add(self, row: ProductRow[FuturesFill], now_s: float) -> None:
        fill = row.record
        groups = self._groups.setdefault((row.product_type, fill.order_id or fill.row_id), [])
        row_id, together = row_id_of_order(row), timedelta(seconds=TOGETHER_S)
        for group in groups:
            if group.order_row_id == row_id and abs(fill.c_time - group.began) <= together:
                group.fills.append(fill)
                return
        groups.append(_Group(row_id, fill.c_time, [fill], now_s + TOGETHER_S))

    def take(self, product_type: ProductType, order_id: str) -> OrderFills | None:
        """The fills of an order that are being gathered, which are forgotten with that; None where there are none."""
        groups = self._groups.pop((product_type, order_id), None)
        if groups is None:
            return None
        return _joined(product_type, (fill for group in groups for fill in group.fills))

    @property
    def next_due_s(self) -> float | None:
        """When the first group is complete; None where there is none."""
        return min((group.due_s for groups in self._groups.values() for group in groups), default=None)

    def take_due(self, now_s: float) -> list[OrderFills]:
        """The groups that are complete, which are forgotten with that."""
        due: list[OrderFills] = []
        for (product_type, order_id), groups in self._groups.items():
            due += [_joined(product_type, group.fills) for group in groups if group.due_s <= now_s]
            self._groups[product_type, order_id] = [group for group in groups if group.due_s > now_s]
        self._groups = {order: groups for order, groups in self._groups.items() if groups}
        return due


def fills_sentence(fills: OrderFills, precision: Precision = UNKNOWN_PRECISION) -> str:
    """An order's trade, such as "SOLUSDT SHORT closed: bought 123.0 at 138.600, profit +665.43, fee -10.2287 USDT"."""
    symbol, terms = fills.first.symbol, terms_of(fills.first)
    effect = terms.effect
    if effect is None:
        trade = f"{_size_and_price(fills, precision)}{_result(fills)}"
        return f"Fill of {symbol}, whose {terms.unknown_word} is not known: {trade}"
    if effect.leg is None:
        return f"{symbol}: {_done(fills, effect, precision)}"
    verb = effect.past.partition(" ")[0]
    return f"{symbol} {effect.leg.upper()} {verb}: {_done(fills, effect, precision)}"


def trigger_sentence(
    order: TriggerOrder, fills: OrderFills | None = None, precision: Precision = UNKNOWN_PRECISION
) -> str:
    """How a trigger order ended; with its fills, their trade."""
    subject = _subject(order)
    at = f" at {_with_places(order.trigger_price, precision.price)}" if order.trigger_price else ""
    match trigger_state(order):
        case TriggerState.EXECUTED:
            verb = "hit" if is_stop(order) else "executed"
            if fills is not None and (effect := terms_of(fills.first).effect) is not None:
                return f"{subject} {verb}: {_done(fills, effect, precision)}"
            price = order.price_avg or order.execute_price or order.trigger_price
            return f"{subject} {verb}{f' at {_with_places(price, precision.price)}' if price else ''}"
        case TriggerState.FAILED:
            return f"{subject}{at} FAILED: {failure_reason(order)}"
        case TriggerState.CANCELLED:
            return f"{subject}{at} was cancelled"
    return f"{subject}{at} ended: {order.plan_status or NO_REASON}"


def _subject(order: TriggerOrder) -> str:
    """A trigger order by kind and leg, such as "Take-profit on your SOLUSDT SHORT"."""
    kind = (trigger_kind(order) or "trigger order").partition(" (")[0].capitalize()
    if is_stop(order):
        leg = stop_leg(order)
        return f"{kind} on your {order.symbol}{f' {leg.upper()}' if leg else ''}"
    effect = effect_of_trigger(order)
    return f"{kind} on {order.symbol}{f' that {effect.present}' if effect else ''}"


def is_stop(order: TriggerOrder) -> bool:
    """Whether a trigger order closes what is held, as stop-losses and take-profits do."""
    if known(PlanType, order.plan_type) in CLOSING_PLANS:
        return True
    effect = effect_of_trigger(order)
    return effect is not None and effect.action is TradeAction.CLOSE


def stop_leg(order: TriggerOrder) -> PositionSide | None:
    """The leg that a stop closes; None where the order closes none, or does not say which."""
    effect = effect_of_trigger(order)
    return effect.closed_leg if effect is not None and is_stop(order) else None


def order_gone_sentence(order: PendingOrder, filled: Decimal, precision: Precision) -> str:
    return f"Order gone: {order_text(order, precision)}, {filled_text(order, filled, precision)}"


def order_text(order: PendingOrder, precision: Precision) -> str:
    """The trade of an order, such as "sell 0.50 BTCUSDT at 84,000.0"; hedge mode's side names a leg instead."""
    effect = effect_of_order(order)
    verb = order.side if effect is None else "buy" if effect.buys else "sell"
    price = f" at {_with_places(order.price, precision.price)}" if order.price else ""
    return f"{verb} {_with_places(order.size, precision.size)} {order.symbol}{price}"


def filled_text(order: PendingOrder, filled: Decimal, precision: Precision) -> str:
    """How much of an order is filled, such as "0.20 of 0.50 filled"."""
    if not filled:
        return "nothing filled"
    return f"{_with_places(filled, precision.size)} of {_with_places(order.size, precision.size)} filled"


def margin_sentence(ratio: Decimal, condition: Condition) -> str:
    """The margin ratio, a fraction, above its level."""
    return f"Margin ratio {number(ratio * 100, places=2)} %, above {condition.shown_level} %"


def liquidation_sentence(position: Position, distance: Decimal, condition: Condition) -> str:
    """A position near its liquidation; `distance` is in per cent of the mark."""
    prices = f"mark {number(position.mark)}, liquidation at {number(position.liquidation)}"
    percent = number(distance, places=2)
    return f"{_held(position)} is {percent} % from liquidation, nearer than {condition.shown_level} %: {prices}"


def result_sentence(position: Position, usdt: Decimal, condition: Condition) -> str:
    """A position whose unrealised result, in USDT, is below its level."""
    converted = "~" if position.product_type.is_coin_margined else ""
    result = f"{converted}{number(usdt, signed=True, places=MONEY_PLACES)} USDT"
    return f"{_held(position)}: unrealised {result}, below {condition.shown_level}"


def today_sentence(usdt: Decimal, part: Decimal | None, condition: Condition) -> str:
    """Today's result, in USDT and as a fraction where that is known, below its level."""
    percent = "" if part is None else f" ({number(part * 100, signed=True, places=2)} %)"
    level = f"{condition.shown_level}{' %' if condition.is_percent else ''}"
    return f"Today's result {number(usdt, signed=True, places=MONEY_PLACES)} USDT{percent}, below {level}"


def price_sentence(symbol: str, price: Decimal, condition: Condition, *, upwards: bool) -> str:
    way = "above" if upwards else "below"
    return f"{symbol} is at {number(price)}, crossed {way} {condition.shown_level}"


def _held(position: Position) -> str:
    return f"{position.symbol} {position.shown_leg.upper()}"


def _done(fills: OrderFills, effect: TradeEffect, precision: Precision) -> str:
    return f"{'bought' if effect.buys else 'sold'} {_size_and_price(fills, precision)}{_result(fills)}"


def _size_and_price(fills: OrderFills, precision: Precision) -> str:
    price = number(fills.price, places=max(fills.price_places, precision.price or 0))
    return f"{_with_places(fills.size, precision.size)} at {price}"


def _with_places(value: Decimal, places: int | None) -> str:
    """A figure with the places of its contract, and with all of its own."""
    return number(value, places=min(MOST_PLACES, max(decimals(value), places or 0)))


def _result(fills: OrderFills) -> str:
    coin = margin_coin(fills.product_type, fills.first.symbol) or ""
    parts = []
    if fills.profit:
        places = MONEY_PLACES if is_dollar(coin) else MOST_COIN_PLACES
        parts.append(f", profit {number(fills.profit, signed=True, places=places)}")
    fees = fills.fees
    for fee_coin, fee in fees.items():
        places = FEE_PLACES if is_dollar(fee_coin) else MOST_COIN_PLACES
        parts.append(f", fee {number(fee, places=places)} {fee_coin}")
    if fills.profit and (not fees or coin not in fees):
        parts[0] += f" {coin}"
    return "".join(parts)
