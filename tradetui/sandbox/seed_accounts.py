"""Who exists on the embedded exchange, with the ninety days each has behind it."""

from __future__ import annotations

import random
from decimal import Decimal
from functools import partial
from typing import Any

from tradetui.sandbox.books.accounts.account import HELD_PRODUCT_TYPES, Account
from tradetui.sandbox.books.contracts import CONTRACTS
from tradetui.sandbox.books.market import STEP_MS
from tradetui.sandbox.books.order import HEDGE, ONE_WAY
from tradetui.sandbox.exchange_state import ExchangeState
from tradetui.sandbox.gateway.api_keys import ALL, ANYWHERE, READ, made_key
from tradetui.sandbox.history.backfill import fill_past, past_triggers, rest_orders, waiting_trigger
from tradetui.sandbox.history.past_movements import past_movements
from tradetui.sandbox.history.wallet_history import convert_book, spot_books, transfer_book
from tradetui.wire.time_windows import DAY_MS

MAX_SUBACCOUNTS = 20
MAX_KEYS = 10
BOUND_DAYS = 30

# name, uid, kind, mode, fills of USDT-, COIN- and USDC-FUTURES in the past, resting orders, triggers, lively
_PEOPLE: tuple[tuple[str, str, str, str, tuple[int, int, int], int, int, bool], ...] = (
    ("hedge", "4100000001", "ordinary", HEDGE, (2000, 120, 160), 22, 320, True),
    ("one-way", "4100000002", "ordinary", ONE_WAY, (2000, 120, 160), 22, 320, True),
    ("coin", "4100000003", "ordinary", HEDGE, (0, 260, 0), 6, 40, True),
    ("copy-old", "4100000004", "copy-old", HEDGE, (60, 0, 0), 3, 12, False),
    ("copy-new", "4100000005", "copy-new", HEDGE, (60, 0, 0), 3, 12, False),
    ("broker", "4100000006", "broker", ONE_WAY, (60, 0, 0), 3, 12, False),
    ("managed", "4100000007", "managed", HEDGE, (240, 0, 0), 5, 60, False),
    ("at-limits", "4100000008", "copy-new", HEDGE, (20, 0, 0), 2, 8, False),
    ("unified", "4100000010", "unified", ONE_WAY, (0, 0, 0), 0, 0, False),
    ("demo", "4100000011", "demo", HEDGE, (60, 0, 0), 3, 12, False),
    ("multi-assets", "4100000012", "ordinary", ONE_WAY, (120, 0, 0), 4, 16, False),
    ("isolated", "4100000013", "ordinary", HEDGE, (120, 0, 0), 4, 16, False),
)


def build_exchange_state(seed: int, now_ms: int, *, speed: Decimal = Decimal(1)) -> ExchangeState:
    """The exchange at a moment; the same seed and moment give the same state."""
    exchange_state = ExchangeState(seed, now_ms, step_ms=max(1, round(STEP_MS / speed)))
    for person in _PEOPLE:
        name, uid, kind, mode = person[:4]
        exchange_state.unborn[uid] = partial(_born, seed, now_ms, *person)
        # A sub-account's key is bound to no address.
        ips = () if kind == "managed" else ANYWHERE
        exchange_state.keys.append(made_key(seed, name, uid, ALL, mode, kind, ips=ips))
    owner = exchange_state.keys[0]
    exchange_state.keys.append(made_key(seed, "read-only", owner.uid, READ, owner.mode, owner.kind))
    return exchange_state


def _born(
    seed: int,
    now_ms: int,
    name: str,
    uid: str,
    kind: str,
    mode: str,
    fills: tuple[int, int, int],
    orders: int,
    triggers: int,
    lively: bool,
) -> Account:
    """One account with what lies behind it."""
    account = Account(uid, name, kind, mode, random.Random(f"{seed}/{uid}"), lively=lively)
    account.bound_ms = now_ms - BOUND_DAYS * DAY_MS if kind == "managed" else None
    if name == "multi-assets":
        account.futures["USDT-FUTURES"].use_assets("USDT", Decimal(-6200), {"BTC": Decimal("1.1"), "ETH": Decimal(6)})
    if name == "isolated":
        account.futures["USDT-FUTURES"].isolated = frozenset({"ETHUSDT", "SOLUSDT"})
    _give_past(account, seed, now_ms, fills, orders, triggers)
    if name == "at-limits":
        _fill_limits(account)
    return account


def _give_past(
    account: Account, seed: int, now_ms: int, fills: tuple[int, int, int], orders: int, triggers: int
) -> None:
    chance = account.chance
    for product_type, count in zip(HELD_PRODUCT_TYPES, fills, strict=True):
        if not count:
            continue
        book = account.futures[product_type]
        share = orders if product_type == "USDT-FUTURES" or not fills[0] else 3
        fill_past(book, chance, now_ms, count)
        book.past_movements = partial(past_movements, book, now_ms)
        rest_orders(book, chance, now_ms, share)
        past_triggers(book, chance, now_ms, triggers if share == orders else 14)
        for spec in [spec for spec in CONTRACTS.values() if spec.product_type == product_type][:5]:
            waiting_trigger(book, spec, spec.start_price, chance, now_ms - chance.randrange(1, DAY_MS))
    if account.kind != "unified":
        uid, ids, busy = account.uid, account.ids, fills[0] >= 1000
        # Looked at on few screens, so made when somebody does, each by a chance of its own.
        spot, convert = random.Random(f"{seed}/{uid}/spot"), random.Random(f"{seed}/{uid}/convert")
        account.spot_past = partial(spot_books, uid, spot, ids, now_ms, 320 if busy else 30)
        account.convert_past = partial(convert_book, convert, ids, now_ms, 140 if busy else 8)
    if account.kind == "broker":
        account.subaccounts = [_broker_subaccount(number, now_ms) for number in range(1, 4)]
        uids = [row["subUid"] for row in account.subaccounts]
        account.transfers = transfer_book(uids, chance, account.ids, now_ms)


def _broker_subaccount(number: int, now_ms: int) -> dict[str, Any]:
    name = f"desk{number}@broker.example"
    return {
        "subUid": f"42000000{number:02d}",
        "subaccountName": name,
        "subaccountEmail": name,
        "status": "normal",
        "permList": ["read", "spot_trade", "contract_trade", "transfer", "withdraw", "deposit"],
        "label": f"desk {number}",
        "cTime": str(now_ms - (60 - number) * DAY_MS),
        "uTime": str(now_ms - number * DAY_MS),
    }


def _fill_limits(account: Account) -> None:
    """Reach every limit: twenty sub-accounts, ten keys on one, the copy key made."""
    letters = "abcdefghijklmnopqrst"
    account.virtual_subaccounts = [
        {"subAccountUid": f"43000000{number:02d}", "subAccountName": f"limited{letters[number]}", "keys": 1}
        for number in range(MAX_SUBACCOUNTS)
    ]
    account.virtual_subaccounts[0]["keys"] = MAX_KEYS
    account.copy_key = {"apikey": "bg_made_before", "permissions": ["contract_trade", "copytrading_trade"]}
