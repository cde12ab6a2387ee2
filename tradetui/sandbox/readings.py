"""Answers to reads: the rows a caller asked for, filtered, cut into pages, by the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tradetui.sandbox.keys import SandboxKey
from tradetui.sandbox.refusals import Refusal
from tradetui.sandbox.rules import BUSINESS_TYPES, LIVE_BUSINESS_TYPES, RULES, checked, page_size, span_of
from tradetui.sandbox.triggers import PROFIT_LOSS
from tradetui.sandbox.world import Row, World


@dataclass(frozen=True, slots=True)
class Book:
    """How one paged endpoint reads: the world's book, its id and time fields, and the payload's list key."""

    name: str
    id_field: str
    time_field: str
    list_key: str | None
    filters: Mapping[str, str]
    first: str | None = None


BOOKS: Final[Mapping[str, Book]] = {
    "spot.fills": Book("spot-fills", "tradeId", "cTime", None, {"symbol": "symbol", "orderId": "orderId"}),
    "broker.transfers": Book("transfers", "txId", "ts", "list", {}, first="1"),
    "futures.triggers": Book(
        "triggers", "orderId", "cTime", "entrustedList", {"symbol": "symbol", "planStatus": "planStatus"}
    ),
    "convert.history": Book("converts", "id", "ts", "dataList", {}),
    "spot.bills": Book("bills", "billId", "cTime", None, {"coin": "coin", "groupType": "groupType"}),
    "futures.pending_orders": Book("orders", "orderId", "cTime", "entrustedList", {"symbol": "symbol"}),
    "futures.fills": Book("fills", "tradeId", "cTime", "fillList", {"symbol": "symbol", "orderId": "orderId"}),
    "futures.live_triggers": Book("live-triggers", "orderId", "cTime", "entrustedList", {"symbol": "symbol"}),
}
_BY_ORDER: Final = frozenset({"futures.triggers", "futures.pending_orders", "futures.live_triggers"})


def read(world: World, key: SandboxKey | None, name: str, given: Mapping[str, str], now_ms: int, live: bool) -> Any:
    """The payload of a read; raises Refusal."""
    values = checked(name, given)
    if name in BOOKS and key is not None:
        return _page(world, key, name, values, now_ms, live)
    return _SINGLE[name](world, key, values)


def _page(world: World, key: SandboxKey, name: str, values: Mapping[str, str], now_ms: int, live: bool) -> Any:
    rules, book = RULES[name], BOOKS[name]
    account = world.account(key.uid)
    if name == "broker.transfers" and account.kind != "broker":
        raise Refusal("40029", "You are not a Broker")
    size = page_size(rules.paging, values) if rules.paging else 100
    start, end = span_of(rules.span, values, now_ms, account.bound_ms) if rules.span else (None, None)
    rows = [
        row
        for row in world.rows(key.uid, book.name, values.get("productType"))
        if (start is None or int(row[book.time_field]) >= start)
        and (end is None or int(row[book.time_field]) <= end)
        and all(
            str(row[field]).upper() == values[given].upper() for given, field in book.filters.items() if given in values
        )
        and _kept(name, values, row, live)
    ]
    page = list(_older_than(rows, book, values.get("idLessThan"))[:size])
    if book.list_key is None:
        return page
    empty: list[Row] | None = None if live else []
    return {book.list_key: page or empty, "endId": page[-1][book.id_field] if page else (None if live else "")}


def _kept(name: str, values: Mapping[str, str], row: Row, live: bool) -> bool:
    """The filters that are more than one field equal to one value."""
    if name in _BY_ORDER:
        if "orderId" in values:
            if row["orderId"] != values["orderId"]:
                return False
        elif "clientOid" in values and row["clientOid"] != values["clientOid"]:
            return False
    if "planType" in values:
        family = PROFIT_LOSS if values["planType"] == "profit_loss" else {values["planType"]}
        if row["planType"] not in family:
            return False
    if name == "futures.pending_orders":
        return bool(row["status"] == values.get("status", "live"))
    if name == "broker.transfers":
        return _type_word(values.get("type", "all"), live) in ("all", row["type"])
    if name == "spot.bills" and "businessType" in values:
        return bool(row["businessType"] == _business_word(values["businessType"], live))
    return True


def _type_word(word: str, live: bool) -> str:
    """The document's word for a transfer type as asked; raises Refusal for the other dialect's."""
    words = {"all": "all", "deposit": "deposit", ("withdrawal" if live else "withdrawl"): "withdrawl"}
    if word.lower() not in words:
        raise Refusal("40020", "Parameter type error")
    return words[word.lower()]


def _business_word(word: str, live: bool) -> str:
    words = {LIVE_BUSINESS_TYPES[each] if live else each: each for each in BUSINESS_TYPES}
    found = next((each for spelled, each in words.items() if spelled.lower() == word.lower()), None)
    if found is None:
        raise Refusal("40020", "Parameter businessType error")
    return found


def _older_than(rows: Sequence[Row], book: Book, cursor: str | None) -> Sequence[Row]:
    """What comes after a row in the book, that row excluded; for a row that is gone, what is older by id."""
    if cursor is None or cursor == book.first:
        return rows
    for place, row in enumerate(rows):
        if row[book.id_field] == cursor:
            return rows[place + 1 :]
    if not cursor.isdecimal():
        raise Refusal("40020", "Parameter idLessThan error")
    return [row for row in rows if int(row[book.id_field]) < int(cursor)]


def _email(world: World, key: SandboxKey | None, values: Mapping[str, str]) -> Row:
    account = world.account(key.uid) if key else None
    if account is None or account.kind != "broker":
        raise Refusal("40029", "You are not a Broker")
    for row in account.subaccounts:
        if row["subUid"] == values["subUid"]:
            return {name: row[name] for name in ("subUid", "subaccountName", "subaccountEmail", "cTime", "uTime")}
    raise Refusal("40066", "subUid does not belong to this broker")


def _uid(key: SandboxKey | None) -> str:
    assert key is not None
    return key.uid


def _detail(world: World, key: SandboxKey | None, values: Mapping[str, str]) -> Row:
    if "orderId" not in values and "clientOid" not in values:
        raise Refusal("40924", "Either orderId or clientOid is needed")
    return world.order_detail(
        _uid(key), values["productType"], values["symbol"], values.get("orderId"), values.get("clientOid")
    )


def _contracts(world: World, key: SandboxKey | None, values: Mapping[str, str]) -> list[Row]:
    rows = world.contracts(values["productType"])
    wanted = values.get("symbol")
    return [row for row in rows if wanted in (None, row["symbol"])]


def _info(world: World, key: SandboxKey | None, values: Mapping[str, str]) -> Row:
    assert key is not None
    return world.account_info(key.uid, key.permissions)


_SINGLE: Final[Mapping[str, Callable[[World, SandboxKey | None, Mapping[str, str]], Any]]] = {
    "futures.accounts": lambda world, key, values: world.futures_accounts(_uid(key), values["productType"]),
    "futures.positions": lambda world, key, values: world.positions(_uid(key), values["productType"]),
    "futures.order_detail": _detail,
    "futures.account": lambda world, key, values: world.account_settings(
        _uid(key), values["productType"], values["symbol"], values["marginCoin"]
    ),
    "futures.contracts": _contracts,
    "futures.ticker": lambda world, key, values: world.ticker(values["symbol"], values["productType"]),
    "broker.subaccount_email": _email,
    "spot.account_info": _info,
    "public.time": lambda world, key, values: {"serverTime": str(world.now_ms)},
}
