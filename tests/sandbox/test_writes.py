"""Writing, rule by rule: the reversal's five rules, and the creation of sub-accounts and keys."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.sandbox.invariants import check_books
from tests.sandbox.signed_requests import Caller
from tradetui.sandbox.api_errors import COPY_KEY_EXISTS, OLD_COPY_MODEL

REVERSAL = {"symbol": "BTCUSDT", "marginCoin": "USDT", "productType": "USDT-FUTURES"}
HEDGE = {**REVERSAL, "side": "buy", "tradeSide": "Open"}


def legs(caller: Caller, uid: str) -> tuple[Decimal, Decimal]:
    book = caller.sandbox.exchange_state.book(uid, "USDT-FUTURES")
    long, short = book.held("BTCUSDT", "long"), book.held("BTCUSDT", "short")
    return (long.size if long else Decimal(0), short.size if short else Decimal(0))


@pytest.mark.parametrize(
    ("before", "side", "size", "after"),
    [
        (("2", "0"), "buy", "0.3", ("1.7", "0.3")),
        (("1", "0"), "buy", "1", ("0", "1")),
        (("1", "0"), "buy", "1.1", ("0", "1")),
        (("2", "0.5"), "buy", "0.3", ("1.7", "0.8")),
        (("0", "2"), "sell", "0.3", ("0.3", "1.7")),
        (("0.5", "1"), "sell", "5", ("1.5", "0")),
    ],
)
def test_hedge_mode(fresh: Caller, before: tuple[str, str], side: str, size: str, after: tuple[str, str]) -> None:
    uid = fresh.hold("hedge", *before)
    answer = fresh.post("futures.reverse", {**HEDGE, "side": side, "size": size, "clientOid": "mine-1"})
    assert answer.code == "00000"
    assert set(answer.data) == {"orderId", "clientOid"}
    assert answer.data["clientOid"] == "mine-1"
    assert legs(fresh, uid) == tuple(map(Decimal, after))
    check_books(fresh.sandbox.exchange_state)


@pytest.mark.parametrize(
    ("honour", "size", "after"), [("honour", None, "-1"), ("honour", "0.3", "0.4"), ("ignore", "0.3", "-1")]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_one_way_mode(honour: str, size: str | None, after: str, sign: int) -> None:
    caller = Caller(one_way_size=honour)
    uid = caller.hold("one-way", *(("1", "0") if sign > 0 else ("0", "1")))
    body = REVERSAL if size is None else {**REVERSAL, "size": size}
    assert caller.post("futures.reverse", body, "one-way").code == "00000"
    long, short = legs(caller, uid)
    assert long - short == Decimal(after) * sign


@pytest.mark.parametrize(
    ("account", "body", "code"),
    [
        ("hedge", {**REVERSAL, "side": "buy", "size": "1"}, "40774"),
        ("one-way", {**REVERSAL, "tradeSide": "Open"}, "40774"),
        ("hedge", {**HEDGE, "side": None, "size": "1"}, "40019"),
        ("hedge", HEDGE, "40019"),
        ("hedge", {**HEDGE, "size": 1}, "40017"),
        ("hedge", {**HEDGE, "size": "-1"}, "40020"),
        ("hedge", {**HEDGE, "size": "many"}, "40020"),
        ("hedge", {**HEDGE, "size": "0.00001"}, "45111"),
        ("hedge", {**HEDGE, "size": "0.00015"}, "40808"),
        ("one-way", {**REVERSAL, "size": "0.00001"}, "45111"),
        ("hedge", {**HEDGE, "side": "hold", "size": "1"}, "40020"),
        ("hedge", {**HEDGE, "symbol": "NOSUCHUSDT", "size": "1"}, "40034"),
        ("hedge", {**HEDGE, "marginCoin": "BTC", "size": "1"}, "40020"),
        ("hedge", {**HEDGE, "productType": "EUR", "size": "1"}, "40020"),
        ("hedge", {**HEDGE, "size": "1", "clientOid": "x" * 65}, "40305"),
        ("hedge", [], "40017"),
    ],
)
def test_reversals_refused(fresh: Caller, account: str, body: Any, code: str) -> None:
    uid = fresh.hold(account, "1")
    assert fresh.post("futures.reverse", body, account).code == code
    assert legs(fresh, uid) == (Decimal(1), Decimal(0))


def test_nothing_to_reverse(fresh: Caller) -> None:
    fresh.hold("hedge", short="1")
    assert fresh.post("futures.reverse", {**HEDGE, "size": "1"}).code == "22002"


def test_the_fills_and_orders_of_a_reversal(fresh: Caller) -> None:
    uid = fresh.hold("hedge", "1")
    answer = fresh.post("futures.reverse", {**HEDGE, "size": "1", "clientOid": "mine-2"})
    opened, closed = fresh.sandbox.exchange_state.rows(uid, "fills", "USDT-FUTURES")[:2]
    assert (closed["side"], closed["tradeSide"]) == ("buy", "close")
    assert (opened["side"], opened["tradeSide"]) == ("sell", "open")
    assert closed["orderId"] == answer.data["orderId"]
    detail = fresh.get("futures.order_detail", productType="USDT-FUTURES", symbol="BTCUSDT", clientOid="mine-2")
    assert (detail.data["orderSource"], detail.data["state"]) == ("reverse", "filled")


def test_when_margin_is_short_less_is_opened(fresh: Caller) -> None:
    uid = fresh.hold("hedge", "1")
    book = fresh.sandbox.exchange_state.book(uid, "USDT-FUTURES")
    book.balances["USDT"] = Decimal(0)
    fresh.post("futures.reverse", {**HEDGE, "size": "1"})
    long, short = legs(fresh, uid)
    assert long == 0
    assert short < 1


def test_old_and_new_copy_traders(fresh: Caller) -> None:
    old = fresh.post("copytrading.create_api_key", {"passphrase": "Passphrase9"}, "copy-old")
    assert (old.code, old.body["msg"]) == OLD_COPY_MODEL
    assert old.body["msg"] == "This interface is only applicable to the new Copy model"
    first = fresh.post("copytrading.create_api_key", {"passphrase": "Passphrase9"}, "copy-new")
    assert first.code == "00000"
    (key,) = first.data
    assert set(key) == {"apikey", "secret", "permissions"}
    again = fresh.post("copytrading.create_api_key", {"passphrase": "Passphrase9"}, "copy-new")
    assert (again.code, again.body["msg"]) == COPY_KEY_EXISTS
    assert again.body["msg"] == "You have already created a Copy API Key."


@pytest.mark.parametrize("passphrase", ["short12", "x" * 33, "with space", "umläut123", ""])
def test_passphrases(fresh: Caller, passphrase: str) -> None:
    assert fresh.post("copytrading.create_api_key", {"passphrase": passphrase}, "copy-new").code in ("40070", "40019")


def virtual(name: str = "abcdefgh", **more: Any) -> dict[str, Any]:
    return {"subAccountName": name, "passphrase": "Passphrase9", "label": "note", **more}


def test_a_batch_is_created_with_usable_keys(fresh: Caller) -> None:
    answer = fresh.post(
        "subaccounts.create_batch", [virtual(permList=["read"], ipList=["127.0.0.1"]), virtual("hgfedcba")]
    )
    assert answer.code == "00000"
    assert len(answer.data) == 2
    made = answer.data[0]
    assert made["permList"] == ["read"] and made["ipList"] == ["127.0.0.1"]
    assert any(key.api_key == made["subAccountApiKey"] for key in fresh.sandbox.exchange_state.keys)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ([], "40017"),
        ({}, "40017"),
        ([virtual(chr(97 + n) * 8) for n in range(6)], "40017"),
        ([virtual("abcdefg")], "40055"),
        ([virtual("abcdefg1")], "40055"),
        ([virtual(passphrase="short")], "40070"),
        ([virtual(label="x" * 21)], "40056"),
        ([virtual(label="")], "40019"),
        ([virtual(ipList=["127.0.0.1"] * 31)], "40017"),
        ([virtual(ipList=["nowhere"])], "40020"),
        ([virtual(permList=["withdraw"])], "40020"),
        ([virtual(), virtual()], "40071"),
    ],
)
def test_batches_refused(fresh: Caller, body: Any, code: str) -> None:
    assert fresh.post("subaccounts.create_batch", body).code == code


def test_twenty_sub_accounts_and_no_more(fresh: Caller) -> None:
    assert fresh.post("subaccounts.create_batch", [virtual()], "at-limits").code == "40069"


def test_only_a_key_bound_to_addresses_creates_sub_accounts(fresh: Caller) -> None:
    refused = fresh.post("subaccounts.create_batch", [virtual()], "managed")
    assert (refused.status, refused.code) == (400, "22010")
    assert refused.body["msg"] == "Please bind ip whitelist address"
    assert not fresh.sandbox.exchange_state.account(fresh.key("managed").uid).virtual_subaccounts
    assert fresh.get("futures.accounts", "managed", productType="USDT-FUTURES").code == "00000", "it may do the rest"
    assert fresh.post("subaccounts.create_batch", [virtual()], "hedge").code == "00000"


def test_a_sub_account_with_ten_keys_gets_no_further_one(fresh: Caller) -> None:
    account = fresh.sandbox.exchange_state.account(fresh.key("at-limits").uid)
    full, other = (row["subAccountName"] for row in account.virtual_subaccounts[:2])
    assert account.virtual_subaccounts[0]["keys"] == 10
    keys = len(fresh.sandbox.exchange_state.keys)
    for name in (full, full.upper()):
        answer = fresh.post("subaccounts.create_batch", [virtual(name)], "at-limits")
        assert (answer.status, answer.code) == (400, "40063"), name
        assert "10 keys" in answer.body["msg"]
    assert fresh.post("subaccounts.create_batch", [virtual(other)], "at-limits").code == "40060", "it has only one"
    assert len(fresh.sandbox.exchange_state.keys) == keys


def test_broker_sub_accounts(fresh: Caller) -> None:
    made = fresh.post("broker.create_subaccount", {"subaccountName": "new@broker.example", "label": "x" * 19}, "broker")
    assert made.code == "00000"
    assert made.data["status"] == "normal"
    email = fresh.get("broker.subaccount_email", "broker", subUid=made.data["subUid"])
    assert email.data["subaccountEmail"] == "new@broker.example"
    for body, code in (
        ({"subaccountName": "new@broker.example"}, "40107"),
        ({"subaccountName": "no address"}, "40020"),
        ({"subaccountName": "two@broker.example", "label": "x" * 20}, "40056"),
        ({}, "40019"),
    ):
        assert fresh.post("broker.create_subaccount", body, "broker").code == code
    assert fresh.post("broker.create_subaccount", {"subaccountName": "a@b.example"}).code == "40029"
    assert fresh.get("broker.subaccount_email", "broker", subUid="1").code == "40066"
