"""Every value that the embedded exchange answers against the interface's field tables: type, words, unit, presence."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.signed_requests import DAY_MS, NOW_MS, Caller
from tests.wire.interface_document import Document, listed_values, parse
from tradetui.wire.endpoints.catalogue import CATALOGUE

Row = dict[str, Any]
BY_NUMBER = {endpoint.number: endpoint for endpoint in CATALOGUE.values() if endpoint.number is not None}
SPAN = {"startTime": str(NOW_MS - 89 * DAY_MS), "endTime": str(NOW_MS)}
PRODUCT_TYPES = ("USDT-FUTURES", "COIN-FUTURES", "USDC-FUTURES")
PLAN_TYPES = ("normal_plan", "track_plan", "profit_loss")

OBJECTS = {(1, "permissions"), (2, "permList"), (2, "ipList"), (3, "feeDetail"), (7, "assetList"), (8, "permList")}
"""Fields whose type is not String."""
SHOWN_OTHERWISE: dict[tuple[int, str], type | tuple[type, ...]] = {
    (13, "feeDetail"): list,
    (9, "fromCoinSize"): (int, float),
}
"""Fields that the table types as String and the example shows as something else."""
LISTED_FIELDS = {
    1: {"permissions"},
    2: {"permList"},
    3: {"tradeScope"},
    4: {"type", "subType", "status"},
    6: {"planStatus", "triggerType", "posSide", "marginMode", "enterPointSource", "tradeSide", "posMode", "orderType"},
    7: {"assetMode"},
    8: {"status", "permList"},
    12: {"status", "side", "force", "posSide", "enterPointSource", "tradeSide", "posMode", "orderType", "orderSource"},
    13: {"side", "enterPointSource", "tradeSide", "posMode", "tradeScope"},
}
"""Fields whose description lists every word they can hold, by endpoint."""
LISTED_REQUEST_FIELDS = {11: {"groupType", "businessType"}}
"""Fields whose words stand with the parameter of the same name."""
EXAMPLE_VALUES = {(12, "marginMode"): {"isolated", "crossed", "cross"}}
"""Fields where the example shows another word than the table."""
SECONDS = {(3, "cTime"), (3, "uTime")}
"""Times that the document describes as Unix seconds; all others are milliseconds."""
TIMES = re.compile(r"[cu]Time|ts")
TRAILING = ("track_plan", "moving_plan")
PRESENCE: dict[tuple[int, str], tuple[str, Callable[[Row], bool]]] = {
    (6, "price"): (
        "Absent for a trailing stop order",
        lambda row: row["planType"] not in TRAILING,
    ),
    (6, "callbackRatio"): (
        "Only exists for trailing stop orders",
        lambda row: row["planType"] in TRAILING,
    ),
    (6, "baseVolume"): (
        "Only available when the status is triggered",
        lambda row: row["planStatus"] == "executed",
    ),
}
"""Fields that are there in some rows only: what the document says, and the rows that have it."""
EMPTY = {(12, "priceAvg"), (12, "totalProfits")}
"""Fields that are empty when the status is live."""


@pytest.fixture(scope="module")
def document() -> Document:
    path = os.environ.get("TRADETUI_INTERFACE")
    if path is None:
        pytest.skip("TRADETUI_INTERFACE does not say where the interface document is")
    return parse(Path(path).read_text(encoding="utf-8"))


def parameters(number: int) -> Iterator[dict[str, str]]:
    """The reads that show every kind of row an endpoint has."""
    if number in (6, 7, 12, 13):
        for product_type in PRODUCT_TYPES:
            of_type = {"productType": product_type}
            if number == 6:
                yield from ({**of_type, "planType": plan_type} for plan_type in PLAN_TYPES)
            elif number == 12:
                yield from ({**of_type, "status": status} for status in ("live", "partially_filled"))
            else:
                yield of_type
    elif number == 10:
        yield {"subUid": "4200000001"}
    elif number == 4:
        for week in range(8):
            end = NOW_MS - week * 7 * DAY_MS
            yield {"startTime": str(end - 7 * DAY_MS), "endTime": str(end)}
    else:
        yield SPAN


@pytest.fixture(scope="module")
def rows() -> dict[int, list[Row]]:
    """Rows of each endpoint in the documented dialect."""
    caller = Caller()
    ordinary = [key.name for key in caller.sandbox.exchange_state.keys if key.kind == "ordinary"]
    assert {"hedge", "one-way"} <= set(ordinary)
    rows_of_endpoint: dict[int, list[Row]] = {}
    for number, endpoint in BY_NUMBER.items():
        if endpoint.writes:
            continue
        for account in ("broker",) if endpoint.area == "broker" else ordinary:
            for values in parameters(number):
                answer = caller.get(endpoint.name, account, **values)
                assert answer.code == "00000", (endpoint.name, answer.body)
                rows_of_endpoint.setdefault(number, []).extend([answer.data] if number == 10 else answer.rows)
    caller.hold("hedge", long="1")
    virtual = {"subAccountName": "abcdefgh", "passphrase": "Passphrase9", "label": "note", "ipList": ["10.0.0.1"]}
    permissions_of_2 = {"permList": ["spot_trade", "margin_trade", "contract_trade", "read"]}
    reversal = {"symbol": "BTCUSDT", "marginCoin": "USDT", "productType": "USDT-FUTURES", "size": "0.1"}
    rows_of_endpoint[1] = caller.post("copytrading.create_api_key", {"passphrase": "Passphrase9"}, "copy-new").rows
    rows_of_endpoint[2] = caller.post("subaccounts.create_batch", [{**virtual, **permissions_of_2}]).rows
    rows_of_endpoint[5] = [caller.post("futures.reverse", {**reversal, "side": "buy", "tradeSide": "open"}).data]
    rows_of_endpoint[8] = [
        caller.post("broker.create_subaccount", {"subaccountName": "n@broker.example"}, "broker").data
    ]
    assert rows_of_endpoint[2][0]["subAccountName"] == "abcdefgh", "the alias, as it was requested"
    return rows_of_endpoint


@pytest.fixture(params=sorted(BY_NUMBER))
def number(request: pytest.FixtureRequest) -> int:
    value: int = request.param
    return value


def fields(document: Document, number: int) -> dict[str, str]:
    """The description of each documented field."""
    return {row["Field"]: row["Description"] for row in document.resources[number].tables[0]}


def test_there_is_every_field_and_no_other(document: Document, rows: dict[int, list[Row]], number: int) -> None:
    listed = set(fields(document, number))
    if number == 7:  # the example spells it otherwise than the table, which says so
        listed = listed - {"unionTotalMargin"} | {"unionTotalMagin"}
    assert rows[number]
    for row in rows[number]:
        assert set(row) <= listed
        missing = {
            name for name in listed - set(row) if (number, name) not in PRESENCE or PRESENCE[number, name][1](row)
        }
        assert not missing, (missing, row)
    assert {name for row in rows[number] for name in row} == listed


def test_what_is_there_in_some_rows_only(document: Document, rows: dict[int, list[Row]]) -> None:
    for (number, name), (sentence, has_it) in PRESENCE.items():
        assert sentence in fields(document, number)[name]
        assert {has_it(row) for row in rows[number]} == {True, False}
        assert all((name in row) == has_it(row) for row in rows[number]), name
    for number, name in EMPTY:
        assert "Empty when status is live" in fields(document, number)[name]
        assert all((row[name] == "") == (row["status"] == "live") for row in rows[number])


def test_values_are_text(rows: dict[int, list[Row]], number: int) -> None:
    for row in rows[number]:
        for name, value in row.items():
            if (number, name) in OBJECTS:
                assert isinstance(value, list | dict), name
            elif (number, name) in SHOWN_OTHERWISE:
                assert isinstance(value, SHOWN_OTHERWISE[number, name]), name
            else:
                assert isinstance(value, str), (name, value)
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, dict):
                    assert all(isinstance(inner, str) for inner in part.values()), part


def test_words_are_the_documents(document: Document, rows: dict[int, list[Row]], number: int) -> None:
    described = fields(document, number)
    requested = {row["Parameter"]: row["Rule"] for row in document.endpoints[number].parameters}
    allowed = {name: set(listed_values(described[name])) for name in LISTED_FIELDS.get(number, ())}
    allowed |= {name: set(listed_values(requested[name])) for name in LISTED_REQUEST_FIELDS.get(number, ())}
    allowed |= {name: known for (endpoint, name), known in EXAMPLE_VALUES.items() if endpoint == number}
    for name, known in allowed.items():
        values = {word for row in rows[number] for word in (row[name] if isinstance(row[name], list) else [row[name]])}
        assert values and values <= known, (name, values - known)
    if number == 12:
        assert {row["reduceOnly"] for row in rows[12]} <= {"YES", "NO"}
    if number == 3:
        assert {row["feeDetail"]["deduction"] for row in rows[3]} <= {"yes", "no"}


def test_times_are_in_the_documents_unit(document: Document, rows: dict[int, list[Row]], number: int) -> None:
    names = {name for name in fields(document, number) if TIMES.fullmatch(name)}
    for name in names:
        in_seconds = "second" in fields(document, number)[name]
        assert in_seconds == ((number, name) in SECONDS)
        for row in rows[number]:
            moment = int(row[name]) * (1000 if in_seconds else 1)
            assert NOW_MS - 400 * DAY_MS < moment <= NOW_MS, (name, row[name])


def test_the_envelope(document: Document) -> None:
    assert document.envelope == ["code", "msg", "requestTime", "data"]
    caller = Caller()
    for number in (11, 3, 7):
        answer = caller.get(BY_NUMBER[number].name, **({} if number != 7 else {"productType": "USDT-FUTURES"}))
        message = "message" if number == 11 else "msg"
        assert list(answer.body) == ["code", message, "requestTime", "data"]
        assert answer.body["code"] == "00000" and answer.body[message] == "success"
        assert answer.body["requestTime"] == NOW_MS
