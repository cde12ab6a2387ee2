"""The accounts that the embedded exchange has at the start, one for each kind that the interface treats differently.

Each has a past of ninety days, made from seed and time alone at the first read of the account.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple

from tradetui.sandbox.books.account import HELD_PRODUCT_TYPES, Account, AccountMode
from tradetui.sandbox.books.futures_account import FuturesBook
from tradetui.sandbox.books.market import CONTRACTS, STEP_MS
from tradetui.sandbox.books.orders import HEDGE, ONE_WAY, order_sides
from tradetui.sandbox.exchange_state import ExchangeState
from tradetui.sandbox.gateway.api_keys import ALL, ANYWHERE, READ, made_key
from tradetui.sandbox.simulated_trader import fill_past, past_triggers, rest_orders, waiting_trigger
from tradetui.sandbox.wallet_history import convert_history, past_movements, spot_history, transfer_history
from tradetui.wire.exchange_time import DAY_MS

MAX_SUBACCOUNTS = 20
MAX_KEYS = 10
BOUND_DAYS = 30


class SeededAccount(NamedTuple):
    """An account at the start: fills by product type (USDT-, COIN-, USDC-FUTURES), resting orders and triggers.

    A `lively` account keeps trading by itself. `subaccounts` have no keys of their own.
    """

    name: str
    uid: str
    kind: str
    mode: str
    fills: tuple[int, int, int]
    orders: int
    triggers: int
    lively: bool = False
    subaccounts: tuple[SeededAccount, ...] = ()


EVERY_KIND: Final = (
    SeededAccount(
        "hedge", "4100000001", "ordinary", HEDGE, fills=(2000, 120, 160), orders=22, triggers=320, lively=True
    ),
    SeededAccount(
        "one-way", "4100000002", "ordinary", ONE_WAY, fills=(2000, 120, 160), orders=22, triggers=320, lively=True
    ),
    SeededAccount("coin", "4100000003", "ordinary", HEDGE, fills=(0, 260, 0), orders=6, triggers=40, lively=True),
    SeededAccount("copy-old", "4100000004", "copy-old", HEDGE, fills=(60, 0, 0), orders=3, triggers=12),
    SeededAccount("copy-new", "4100000005", "copy-new", HEDGE, fills=(60, 0, 0), orders=3, triggers=12),
    SeededAccount("broker", "4100000006", "broker", ONE_WAY, fills=(60, 0, 0), orders=3, triggers=12),
    SeededAccount("managed", "4100000007", "managed", HEDGE, fills=(240, 0, 0), orders=5, triggers=60),
    SeededAccount("at-limits", "4100000008", "copy-new", HEDGE, fills=(20, 0, 0), orders=2, triggers=8),
    SeededAccount("unified", "4100000010", "unified", HEDGE, fills=(600, 60, 80), orders=14, triggers=120, lively=True),
    SeededAccount("demo", "4100000011", "demo", HEDGE, fills=(60, 0, 0), orders=3, triggers=12),
    SeededAccount("multi-assets", "4100000012", "ordinary", ONE_WAY, fills=(120, 0, 0), orders=4, triggers=16),
    SeededAccount("isolated", "4100000013", "ordinary", HEDGE, fills=(120, 0, 0), orders=4, triggers=16),
)


_BY_NAME: Final = {seeded.name: seeded for seeded in EVERY_KIND}
_OF_A_DESK: Final = (
    _BY_NAME["hedge"]._replace(
        subaccounts=(
            SeededAccount("carry", "4400010051", "virtual", ONE_WAY, fills=(120, 0, 0), orders=3, triggers=8),
            SeededAccount("reserve", "4400010052", "virtual", HEDGE, fills=(0, 0, 0), orders=0, triggers=0),
        )
    ),
    _BY_NAME["one-way"],
    _BY_NAME["coin"],
    SeededAccount("near-limit", "4100000021", "ordinary", HEDGE, fills=(0, 0, 0), orders=0, triggers=0),
    SeededAccount("comes-and-goes", "4100000022", "ordinary", ONE_WAY, fills=(240, 0, 40), orders=5, triggers=20),
    _BY_NAME["isolated"],
    _BY_NAME["multi-assets"],
    _BY_NAME["copy-new"],
)
MOST_OF_A_DESK: Final = 50


def desk_accounts(count: int) -> tuple[SeededAccount, ...]:
    """Return the accounts of a trading desk: first one of each kind, then plain ones, `count` in all, at most 50."""
    plain = (
        SeededAccount(
            f"desk-{number:02d}",
            f"41000001{number:02d}",
            "ordinary",
            HEDGE if number % 2 else ONE_WAY,
            fills=(90, 0, 0),
            orders=4,
            triggers=8,
        )
        for number in range(len(_OF_A_DESK) + 1, MOST_OF_A_DESK + 1)
    )
    return (*_OF_A_DESK, *plain)[:count]


def build_exchange_state(
    seed: int, now_ms: int, *, speed: Decimal = Decimal(1), accounts: Sequence[SeededAccount] = EVERY_KIND
) -> ExchangeState:
    """Build the exchange at a time; the same seed, time and accounts give the same state."""
    exchange_state = ExchangeState(seed, now_ms, step_ms=max(1, round(STEP_MS / speed)))
    for seeded in accounts:
        for owned in (seeded, *seeded.subaccounts):
            exchange_state.account_factories[owned.uid] = partial(_seeded_account, seed, now_ms, owned)
        # A managed sub-account's key is bound to no address.
        ips = () if seeded.kind == "managed" else ANYWHERE
        exchange_state.keys.append(made_key(seed, seeded.name, seeded.uid, ALL, seeded.mode, seeded.kind, ips=ips))
        if seeded.kind == "unified":
            exchange_state.account_modes[seeded.uid] = AccountMode.UNIFIED
    owner = exchange_state.keys[0]
    exchange_state.keys.append(made_key(seed, "read-only", owner.uid, READ, owner.mode, owner.kind))
    return exchange_state


def _seeded_account(seed: int, now_ms: int, seeded: SeededAccount) -> Account:
    rng = random.Random(f"{seed}/{seeded.uid}")
    account = Account(
        seeded.uid,
        seeded.name,
        seeded.kind,
        seeded.mode,
        rng,
        lively=seeded.lively,
        built_ms=now_ms,
        funded=seeded.name != "near-limit",
    )
    account.bound_ms = now_ms - BOUND_DAYS * DAY_MS if seeded.kind == "managed" else None
    if seeded.name == "multi-assets":
        account.futures["USDT-FUTURES"].use_assets("USDT", Decimal(-6200), {"BTC": Decimal("1.1"), "ETH": Decimal(6)})
    if seeded.name == "isolated":
        account.futures["USDT-FUTURES"].isolated = frozenset({"ETHUSDT", "SOLUSDT"})
    _give_past(account, seed, now_ms, seeded)
    account.virtual_subaccounts = [
        {"subAccountUid": owned.uid, "subAccountName": owned.name, "keys": 0} for owned in seeded.subaccounts
    ]
    if seeded.name == "near-limit":
        _hold_near_liquidation(account.futures["USDT-FUTURES"], now_ms)
    if seeded.name == "at-limits":
        _fill_limits(account)
    return account


def _hold_near_liquidation(book: FuturesBook, now_ms: int) -> None:
    """Hold both legs of a contract, the long a little larger and at a loss: a margin ratio of 90 %, and hours to go."""
    spec = CONTRACTS["BTCUSDT"]
    book.leverage = spec.max_leverage
    book.balances["USDT"] = book.started_with["USDT"] = Decimal(2310)
    for leg, size, price, age_ms in (
        ("long", Decimal("1.32"), spec.price(spec.start_price * Decimal("1.009")), 3 * DAY_MS),
        ("short", Decimal("1.2"), spec.start_price, DAY_MS // 2),
    ):
        side, trade_side = order_sides(book.mode, leg, closes=False)
        order = book.new_order(spec, side, trade_side, size, now_ms - age_ms)
        book.execute(order, size, price, now_ms - age_ms)


def _give_past(account: Account, seed: int, now_ms: int, seeded: SeededAccount) -> None:
    rng = account.rng
    for product_type, fill_count in zip(HELD_PRODUCT_TYPES, seeded.fills, strict=True):
        if not fill_count:
            continue
        # Most resting orders and waiting triggers are where the account trades most.
        is_main = product_type == "USDT-FUTURES" or not seeded.fills[0]
        order_count, trigger_count = (seeded.orders, seeded.triggers) if is_main else (3, 14)
        book = account.futures[product_type]
        fill_past(book, rng, now_ms, fill_count)
        book.make_past_movements = partial(past_movements, book, now_ms)
        rest_orders(book, rng, now_ms, order_count)
        past_triggers(book, rng, now_ms, trigger_count)
        for spec in CONTRACTS.values():
            if spec.product_type == product_type:
                waiting_trigger(book, spec, spec.start_price, rng, now_ms - rng.randrange(1, DAY_MS))
    uid, ids, is_busy = account.uid, account.ids, seeded.fills[0] >= 1000
    # Each has its own random numbers, since it is made at its first read.
    spot_rng, convert_rng = random.Random(f"{seed}/{uid}/spot"), random.Random(f"{seed}/{uid}/convert")
    account.make_spot_history = partial(spot_history, uid, spot_rng, ids, now_ms, count=320 if is_busy else 30)
    account.make_converts = partial(convert_history, convert_rng, ids, now_ms, count=140 if is_busy else 8)
    if account.kind == "broker":
        account.subaccounts = [_broker_subaccount(number, now_ms) for number in range(1, 4)]
        uids = [row["subUid"] for row in account.subaccounts]
        account.transfers = transfer_history(uids, rng, account.ids, now_ms)


def _broker_subaccount(number: int, now_ms: int) -> dict[str, Any]:
    row = broker_subaccount_row(
        f"42000000{number:02d}", f"desk{number}@broker.example", f"desk {number}", now_ms - (60 - number) * DAY_MS
    )
    return row | {"uTime": str(now_ms - number * DAY_MS)}


def broker_subaccount_row(uid: str, name: str, label: str, created_ms: int) -> dict[str, Any]:
    """Make a broker's sub-account as its account stores it; creation and e-mail read return parts of this row."""
    return {
        "subUid": uid,
        "subaccountName": name,
        "subaccountEmail": name,
        "status": "normal",
        "permList": ["read", "spot_trade", "contract_trade", "transfer", "withdraw", "deposit"],
        "label": label,
        "cTime": str(created_ms),
        "uTime": str(created_ms),
    }


def _fill_limits(account: Account) -> None:
    """Reach every limit: twenty sub-accounts, ten keys on one, the copy key made."""
    letters = "abcdefghijklmnopqrst"
    account.virtual_subaccounts = [
        {"subAccountUid": f"43000000{number:02d}", "subAccountName": f"limited{letters[number]}", "keys": 1}
        for number in range(MAX_SUBACCOUNTS)
    ]
    account.virtual_subaccounts[0]["keys"] = MAX_KEYS
    account.has_copy_key = True
