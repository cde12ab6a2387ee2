"""Whatever arrives is answered in the envelope: nothing a caller sends brings the sandbox down."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sandbox.signed_requests import NOW_MS, Caller
from tradetui.sandbox.gateway.api_keys import HttpCall
from tradetui.sandbox.handlers.rules import RULES
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.signing import encoded_query

NAMES = sorted(
    {"startTime", "endTime", "limit", "idLessThan", "cursor"}
    | {name for rules in RULES.values() for name in (*rules.required, *rules.optional)}
)
ODD = st.sampled_from(
    [
        "",
        "0",
        "-1",
        "1e9",
        "NaN",
        "sNaN",
        "Infinity",
        "1e999999999",
        "9" * 30,
        "٣",
        "\x00",
        "\ud800",
        "a" * 5000,
        "%",
        "&=?#",
    ]
)
LIKELY = st.sampled_from(
    "USDT-FUTURES coin-futures SUSDT-FUTURES BTCUSDT BTCUSD btc live normal_plan profit_loss buy sell open 1 100 USDT "
    f"tpsl trigger long withdrawl fait 0.01 new@broker.example {NOW_MS}".split()
)
TEXT = st.one_of(LIKELY, ODD, st.text(max_size=8))
BODY_NAMES = [
    *("symbol", "marginCoin", "productType", "size", "side", "tradeSide", "clientOid", "passphrase", "label"),
    *("subAccountName", "ipList", "permList", "subaccountName"),
]
JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT),
    lambda inner: st.one_of(
        st.lists(inner, max_size=6), st.dictionaries(st.sampled_from(BODY_NAMES), inner, max_size=7)
    ),
    max_leaves=12,
)
READS = sorted(name for name, endpoint in CATALOGUE.items() if not endpoint.writes)
WRITES = sorted(name for name, endpoint in CATALOGUE.items() if endpoint.writes)
ACCOUNTS = st.sampled_from(
    ["hedge", "one-way", "coin", "copy-new", "broker", "managed", "at-limits", "read-only", "unified"]
)
QUIET = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.fixture(scope="module")
def anybody() -> Caller:
    return Caller()


@QUIET
@given(st.sampled_from(READS), ACCOUNTS, st.dictionaries(st.sampled_from(NAMES), TEXT, max_size=8))
def test_reads(anybody: Caller, name: str, account: str, parameters: dict[str, str]) -> None:
    query = encoded_query((key, value.encode("utf-8", "replace").decode()) for key, value in parameters.items())
    check(anybody.send("GET", CATALOGUE[name].path, account, query=query))


@QUIET
@given(st.sampled_from(WRITES), ACCOUNTS, JSON)
def test_writes(anybody: Caller, name: str, account: str, body: Any) -> None:
    check(anybody.send("POST", CATALOGUE[name].path, account, body=json.dumps(body).encode()))


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"size":1e999999}', b'"text"', b"null", b"NaN", b"[null]", b"[[]]"],
)
def test_bodies_that_are_none(anybody: Caller, name: str, body: bytes) -> None:
    answer = anybody.send(
        "POST", CATALOGUE[name].path, "broker" if name.startswith("broker") else "copy-new", body=body
    )
    check(answer)
    assert answer.code == "40017"


@QUIET
@given(
    st.dictionaries(st.sampled_from(["access-key", "access-sign", "access-timestamp", "access-passphrase"]), st.text())
)
def test_headers(anybody: Caller, headers: dict[str, str]) -> None:
    request = HttpCall("GET", CATALOGUE["spot.bills"].path, "%ff%zz=&&=%", headers)
    answer = json.loads(anybody.sandbox.answer(request).body)
    assert answer["code"] in {"40001", "40002", "40005", "40008", "40011", "40037"}


def check(answer: Any) -> None:
    assert set(answer.body) in ({"code", "msg", "requestTime", "data"}, {"code", "message", "requestTime", "data"})
    assert (answer.code == "00000") == (answer.status == 200)
    assert answer.code == "00000" or (answer.data is None and answer.body["msg"])
