"""The simulated owner of an account: ninety days of trades before the start, then about one trade a second."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Final

from tradetui.sandbox.books.account import HELD_PRODUCT_TYPES, Account
from tradetui.sandbox.books.futures_account import FuturesBook
from tradetui.sandbox.books.market import CONTRACTS, ContractSpec
from tradetui.sandbox.books.numbers import text
from tradetui.sandbox.books.orders import (
    HEDGE,
    ROW_PLAN_TYPES,
    STATUSES,
    Order,
    ended,
    order_sides,
    trigger_row,
    waits_above,
)
from tradetui.sandbox.books.reversal import MarketMoment
from tradetui.wire.exchange_time import DAY_MS

SYMBOLS: Final = {  # the first two are traded twice as often
    "USDT-FUTURES": ("BTCUSDT", "BTCUSDT", "ETHUSDT", "ETHUSDT", "SOLUSDT", "XRPUSDT", "DOGEUSDT"),
    "COIN-FUTURES": ("BTCUSD", "ETHUSD"),
    "USDC-FUTURES": ("BTCPERP", "ETHPERP"),
}
TARGET_NOTIONAL: Final = 24_000  # in dollars, of one leg
_MOST_ORDERS: Final = 24
MOST_TRIGGERS: Final = 10


def trade_for_one_step(account: Account, at: MarketMoment) -> None:
    """Act for one step of a quarter of a second, drawn from the account's own random numbers."""
    rng = account.rng
    product_type = rng.choices(HELD_PRODUCT_TYPES, weights=(8, 1, 1))[0]
    book = account.futures[product_type]
    spec = rng.choice([spec for spec in CONTRACTS.values() if spec.product_type == product_type])
    if rng.random() < 0.22:  # about one trade a second
        trade_once(book, spec, at.last(spec), rng, at.now_ms)
    if rng.random() < 0.03:
        _rest_or_cancel_order(book, rng, at)
    if rng.random() < 0.01:
        _add_or_cancel_trigger(book, spec, rng, at)


def _rest_or_cancel_order(book: FuturesBook, rng: random.Random, at: MarketMoment) -> None:
    if len(book.orders) <= _MOST_ORDERS:
        rest_order(book, rng, at.now_ms)
        return
    order = rng.choice(list(book.orders.values()))
    if not order.filled:
        book.cancel(order, at.now_ms)


def _add_or_cancel_trigger(book: FuturesBook, spec: ContractSpec, rng: random.Random, at: MarketMoment) -> None:
    if len(book.live_triggers) <= MOST_TRIGGERS:
        waiting_trigger(book, spec, at.last(spec), rng, at.now_ms)
        return
    row = rng.choice(list(book.live_triggers.values()))
    del book.live_triggers[row["orderId"]]
    book.triggers.append(ended(row, "cancelled", at.now_ms))


def past_level(age_ms: int) -> Decimal:
    """Return all prices at this age before the start, as a fraction of the start prices: slow waves that end at one."""
    days = age_ms / DAY_MS
    wave = 0.06 * math.sin(days / 7.3) + 0.02 * math.sin(days * 1.9)
    return Decimal(1_000_000 + round(wave * 1_000_000)).scaleb(-6)


def past_price(spec: ContractSpec, age_ms: int) -> Decimal:
    return spec.price(spec.start_price * past_level(age_ms))


def unit_size(spec: ContractSpec, notional: int) -> Decimal:
    """Return a tradable size of about this notional, never zero."""
    return max(spec.step, spec.size(Decimal(notional) / spec.start_price))


def fill_past(book: FuturesBook, rng: random.Random, now_ms: int, fills: int) -> None:
    """Trade for ninety days and end with a position in most symbols, long or short."""
    for moment in sorted(now_ms - rng.randrange(30_000, 89 * DAY_MS) for _ in range(fills)):
        spec = CONTRACTS[rng.choice(SYMBOLS[book.product_type])]
        trade_once(book, spec, past_price(spec, now_ms - moment), rng, moment)


def trade_once(book: FuturesBook, spec: ContractSpec, price: Decimal, rng: random.Random, now_ms: int) -> None:
    """Make one small market trade that keeps the position between zero and about twice the target."""
    if book.mode == HEDGE:
        leg = rng.choice(("long", "short"))
        held = book.held(spec.symbol, leg)
    else:
        held = book.net(spec.symbol)
    size = unit_size(spec, rng.randint(500, 6_000))
    is_heavy = held is not None and held.size * spec.start_price > TARGET_NOTIONAL
    closes = held is not None and (is_heavy or rng.random() < 0.42)
    if book.mode == HEDGE:
        if closes and held is not None:
            size = min(size, held.size)
    elif held is not None:
        leg = held.leg
    else:
        leg = "short" if rng.random() < 0.5 else "long"
    side, trade_side = order_sides(book.mode, leg, closes=closes)
    enter_point = rng.choice(("WEB", "API", "ANDROID", "IOS"))
    order = book.new_order(spec, side, trade_side, size, now_ms, enter_point=enter_point)
    book.execute(order, size, price, now_ms, maker=rng.random() < 0.3)


def rest_orders(book: FuturesBook, rng: random.Random, now_ms: int, count: int) -> None:
    """Place limit orders around the price, some partly filled, one far older than any window."""
    for number in range(count):
        age = 130 * DAY_MS if number == 0 else rng.randrange(60_000, 20 * DAY_MS)
        order = rest_order(book, rng, now_ms - age, deep=number == 0)
        if number % 5 == 2:
            # Filled after everything else, so that replaying the fills in order gives the held positions.
            moment = now_ms - 20_000 + number
            part = max(order.spec.step, order.spec.size(order.size / 4))
            book.execute(order, part, order.price or order.spec.start_price, moment, maker=True)


def rest_order(book: FuturesBook, rng: random.Random, now_ms: int, *, deep: bool = False) -> Order:
    """Place one resting opening order, a little below (buying) or above (selling) the price."""
    spec = CONTRACTS[rng.choice(SYMBOLS[book.product_type])]
    buys = rng.random() < 0.5
    away = Decimal(rng.randint(20, 60) if deep else rng.randint(2, 60)) / 1000
    price = spec.price(spec.start_price * (1 - away if buys else 1 + away))
    size = unit_size(spec, rng.randint(1_000, 9_000)) * 2
    side, trade_side = order_sides(book.mode, "long" if buys else "short", closes=False)
    enter_point = rng.choice(("WEB", "API", "ANDROID"))
    order = book.new_order(spec, side, trade_side, size, now_ms, price=price, enter_point=enter_point)
    order.force = rng.choice(("gtc", "gtc", "post_only"))
    if rng.random() < 0.3:
        order.preset_take_profit = spec.price(price * (Decimal("1.08") if buys else Decimal("0.92")))
    if rng.random() < 0.3:
        order.preset_stop_loss = spec.price(price * (Decimal("0.95") if buys else Decimal("1.05")))
    book.orders[order.order_id] = order
    return order


def past_triggers(book: FuturesBook, rng: random.Random, now_ms: int, count: int) -> None:
    """Make ended trigger orders of every type and status over ninety days, oldest first."""
    moments = sorted(now_ms - rng.randrange(3_600_000, 89 * DAY_MS) for _ in range(count))
    for number, moment in enumerate(moments):
        spec = CONTRACTS[rng.choice(SYMBOLS[book.product_type])]
        price = past_price(spec, now_ms - moment)
        row = trigger_row(
            spec=spec,
            plan_type=ROW_PLAN_TYPES[number % len(ROW_PLAN_TYPES)],
            order_id=book.ids.at(moment),
            mode=book.mode,
            leg=rng.choice(("long", "short")),
            size=unit_size(spec, rng.randint(500, 5_000)),
            trigger_price=spec.price(price * Decimal(rng.randint(970, 1030)) / 1000),
            created_ms=moment,
            rng=rng,
            margin_mode=book.margin_mode(spec.symbol),
        )
        status = STATUSES[(number // len(ROW_PLAN_TYPES)) % len(STATUSES)]
        done_ms = min(now_ms - 1_000, moment + rng.randrange(1_000, 2 * DAY_MS))
        size = Decimal(row["size"]) or unit_size(spec, 2_000)
        book.triggers.append(ended(row, status, done_ms, execute_id=book.ids.at(moment), price=price, size=size))


def waiting_trigger(book: FuturesBook, spec: ContractSpec, price: Decimal, rng: random.Random, now_ms: int) -> None:
    """Add a trigger one to four per cent away, on the side on which it waits."""
    row = trigger_row(
        spec=spec,
        plan_type=rng.choice(ROW_PLAN_TYPES),
        order_id=book.ids.at(now_ms),
        mode=book.mode,
        leg=rng.choice(("long", "short")),
        size=unit_size(spec, rng.randint(500, 3_000)),
        trigger_price=price,
        created_ms=now_ms,
        rng=rng,
        margin_mode=book.margin_mode(spec.symbol),
    )
    away = Decimal(rng.randint(8, 40)) / 1000
    row["triggerPrice"] = text(spec.price(price * (1 + away if waits_above(row) else 1 - away)))
    if row["price"]:
        row["price"] = row["triggerPrice"]
    book.live_triggers[row["orderId"]] = row
