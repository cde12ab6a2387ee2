"""Who is let in, and under which code everybody else is refused."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.signed_requests import Caller
from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.gateway.api_keys import PERMISSIONS, check_permission
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.signing import prehash, sign_hmac

PATH = CATALOGUE["futures.accounts"].path
QUERY = "productType=USDT-FUTURES"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"access_key": None}, "40001"),
        ({"access_sign": None}, "40002"),
        ({"access_passphrase": None}, "40011"),
        ({"access_timestamp": "yesterday"}, "40005"),
        ({"access_key": "bg_nobody"}, "40037"),
        ({"access_sign": "c2lnbmF0dXJl"}, "40009"),
        ({"access_passphrase": "another1"}, "40012"),
        ({"paptrading": "1"}, "40099"),
    ],
)
def test_refused(reading: Caller, changed: dict[str, Any], code: str) -> None:
    answer = reading.send("GET", PATH, "hedge", query=QUERY, **changed)
    assert (answer.status, answer.code, answer.data) == (400, code, None)


@pytest.mark.parametrize(
    ("away_ms", "code"), [(30_000, "00000"), (-30_000, "00000"), (30_001, "40008"), (-30_001, "40008")]
)
def test_the_time_stamp_is_within_thirty_seconds(reading: Caller, away_ms: int, code: str) -> None:
    assert reading.send("GET", PATH, "hedge", query=QUERY, stamp=str(reading.now_ms + away_ms)).code == code


def test_a_signature_over_decoded_values_is_taken_too(reading: Caller) -> None:
    path, stamp, key = CATALOGUE["spot.bills"].path, str(reading.now_ms), reading.key("hedge")
    for signed in ("businessType=rebate%20rewards", "businessType=rebate rewards"):
        sign = sign_hmac(key.secret, prehash(stamp, "GET", path, signed))
        answer = reading.send("GET", path, "hedge", query="businessType=rebate%20rewards", access_sign=sign)
        assert answer.code == "00000"


def test_a_key_that_may_only_read_cannot_write(fresh: Caller) -> None:
    assert fresh.get("futures.accounts", "read-only", productType="USDT-FUTURES").code == "00000"
    answer = fresh.post("futures.reverse", {}, "read-only")
    assert answer.code == "40014"
    assert "future order write" in answer.body["msg"]


@pytest.mark.parametrize(
    ("locale", "message"),
    [
        ("en-US", "Incorrect permissions, need future order write permissions"),
        ("zh-CN", "权限不正确, 需要 future order write 权限"),
        ("ZH-TW", "权限不正确, 需要 future order write 权限"),
        (None, "Incorrect permissions, need future order write permissions"),
    ],
)
def test_a_missing_permission_is_named_in_the_callers_language(
    reading: Caller, locale: str | None, message: str
) -> None:
    path = CATALOGUE["futures.reverse"].path
    answer = reading.send("POST", path, "read-only", body=b"{}", locale=locale)
    assert (answer.status, answer.code, answer.body["msg"], answer.data) == (400, "40014", message, None)


def test_the_permission_texts_are_the_recorded_ones(reading: Caller) -> None:
    folder = os.environ.get("TRADETUI_RECORDED")
    if folder is None:
        pytest.skip("TRADETUI_RECORDED does not say where the recorded replies are")
    recorded = json.loads((Path(folder) / "errors__observed-bodies.json").read_text(encoding="utf-8"))["bodies"]
    texts = {reply["body"]["msg"] for reply in recorded if reply["body"].get("code") == "40014"}
    unpermitted = replace(reading.key("read-only"), permissions=frozenset())
    messages = set()
    for endpoint, locale in (("spot.fills", "en-US"), ("futures.reverse", "zh-CN")):
        with pytest.raises(Refusal) as refused:
            check_permission(unpermitted, endpoint, locale)
        messages.add(refused.value.message)
    assert messages == texts


HERE, ELSEWHERE = "192.0.2.7", "198.51.100.7"


@pytest.mark.parametrize(
    ("bound_to", "address", "code"),
    [
        ([HERE], HERE, "00000"),
        ([HERE], ELSEWHERE, "40018"),
        (["203.0.113.1", "192.0.2.0/24"], HERE, "00000"),
        (["192.0.2.0/24"], "192.0.3.7", "40018"),
        (["2001:db8::/32"], "2001:db8::5", "00000"),
        (["2001:db8::/32"], "2001:db9::5", "40018"),
        (["2001:db8::/32"], HERE, "40018"),
        ([], ELSEWHERE, "00000"),
    ],
)
def test_a_key_is_used_from_its_addresses_only(fresh: Caller, bound_to: list[str], address: str, code: str) -> None:
    body = {"subAccountName": "abcdefgh", "passphrase": "Passphrase9", "label": "note", "ipList": bound_to}
    assert fresh.post("subaccounts.create_batch", [{**body, "permList": ["contract_trade"]}]).code == "00000"
    made = fresh.sandbox.exchange_state.keys[-1].name
    answer = fresh.send("GET", PATH, made, query=QUERY, address=address)
    assert answer.code == code
    if code != "00000":
        assert (answer.status, answer.body["msg"], answer.data) == (400, "Invalid IP", None)


def test_a_wrong_signature_from_a_wrong_address_learns_nothing_of_addresses(fresh: Caller) -> None:
    body = {"subAccountName": "abcdefgh", "passphrase": "Passphrase9", "label": "note", "ipList": [HERE]}
    fresh.post("subaccounts.create_batch", [body])
    made = fresh.sandbox.exchange_state.keys[-1].name
    answer = fresh.send("GET", PATH, made, query=QUERY, address=ELSEWHERE, access_sign="c2lnbmF0dXJl")
    assert answer.code == "40009"


def test_every_signed_endpoint_but_account_info_names_a_permission() -> None:
    signed = {name for name, endpoint in CATALOGUE.items() if endpoint.signed}
    assert signed - set(PERMISSIONS) == {"spot.account_info", "unified.key"}


def test_unknown_paths(reading: Caller) -> None:
    for account, path in (("hedge", "/api/v2/mix/order/fill-history"), ("unified", "/api/v3/trade/history-orders")):
        unknown = reading.send("GET", path, account)
        assert (unknown.status, unknown.code) == (404, "40404")
    assert reading.send("POST", PATH, "hedge", body=b"{}").code == "40404"


def test_core_only_has_the_thirteen() -> None:
    caller = Caller(core_only=True)
    for name, endpoint in CATALOGUE.items():
        answer = caller.send(endpoint.method, endpoint.path, "hedge", body=b"{}" if endpoint.writes else b"")
        assert (answer.code == "40404") is not endpoint.core, name


def test_limits_hold_in_any_second_by_uid_and_endpoint() -> None:
    caller = Caller(limits=True)
    for name, allowed in (("futures.accounts", 10), ("futures.positions", 5), ("futures.fills", 10)):
        left = [caller.get(name, productType="USDT-FUTURES").left for _ in range(allowed)]
        assert left == list(range(allowed))[::-1], name
        refused = caller.get(name, productType="USDT-FUTURES")
        assert (refused.status, refused.code, refused.body["msg"]) == (429, "429", "Too Many Requests")
    assert caller.get("futures.accounts", "read-only", productType="USDT-FUTURES").code == "429", "the same UID"
    assert caller.get("futures.accounts", "one-way", productType="USDT-FUTURES").code == "00000"
    caller.now_ms += 999
    assert caller.get("futures.accounts", productType="USDT-FUTURES").code == "429"
    caller.now_ms += 1
    assert caller.get("futures.accounts", productType="USDT-FUTURES").code == "00000"


def test_a_copy_trader_reverses_once_a_second() -> None:
    caller = Caller(limits=True)
    assert caller.post("futures.reverse", {}, "copy-new").code != "429"
    assert caller.post("futures.reverse", {}, "copy-new").code == "429"
    for _ in range(10):
        assert caller.post("futures.reverse", {}, "hedge").code != "429"
    assert caller.post("futures.reverse", {}, "hedge").code == "429"
