"""Every documented rule of a request is checked before sending, and the message says what to do."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pydantic import SecretStr

from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.enums import LIVE_BUSINESS_TYPES, GroupType, PositionMode
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.models.futures import (
    FuturesFillsRequest,
    OrderDetailRequest,
    PendingOrdersRequest,
    TriggerHistoryRequest,
)
from tradetui.wire.models.futures_accounts import AccountListRequest
from tradetui.wire.models.public import TickerRequest
from tradetui.wire.models.reversal import ReversalRequest
from tradetui.wire.models.spot import ConvertHistoryRequest, SpotBillsRequest, SpotFillsRequest
from tradetui.wire.models.subaccounts import (
    CreateBatchRequest,
    CreateCopyKeyRequest,
    CreateSubaccountRequest,
    SubaccountEmailRequest,
    TransfersRequest,
    VirtualSubaccountRequest,
)
from tradetui.wire.requests.request import Request

DAY = 86_400_000
NOW = 1_790_000_000_000
P = {"product_type": "USDT-FUTURES"}
PLAN = {**P, "plan_type": "normal_plan"}
DESK: dict[str, Any] = {"sub_account_name": "deskAbcd", "passphrase": "Passphrase1", "label": "desk one"}
OTHER: dict[str, Any] = {**DESK, "sub_account_name": "deskEfgh"}
R = {**P, "symbol": "ETHUSDT", "margin_coin": "USDT"}

# request, what is given, the parameter that is refused
BROKEN: list[tuple[type[Request[Any]], dict[str, Any], str]] = [
    (CreateCopyKeyRequest, {}, "passphrase"),
    (CreateCopyKeyRequest, {"passphrase": "short12"}, "passphrase"),
    (CreateCopyKeyRequest, {"passphrase": "x" * 33}, "passphrase"),
    (CreateCopyKeyRequest, {"passphrase": "with space1"}, "passphrase"),
    (CreateCopyKeyRequest, {"passphrase": "Pässphrase1"}, "passphrase"),
    (CreateCopyKeyRequest, {"passphrase": "line1234\n"}, "passphrase"),
    (CreateBatchRequest, {"accounts": []}, "accounts"),
    (CreateBatchRequest, {"accounts": [DESK] * 6}, "accounts"),
    (CreateBatchRequest, {"accounts": "desk"}, "accounts"),
    (CreateBatchRequest, {"accounts": [{**DESK, "label": None}]}, "label"),
    (VirtualSubaccountRequest, {**DESK, "sub_account_name": "seven77"}, "subAccountName"),
    (VirtualSubaccountRequest, {**DESK, "sub_account_name": "abcdefg1"}, "subAccountName"),
    (VirtualSubaccountRequest, {**DESK, "sub_account_name": "abcdefghi"}, "subAccountName"),
    (VirtualSubaccountRequest, {**DESK, "label": "x" * 21}, "label"),
    (VirtualSubaccountRequest, {**DESK, "label": " "}, "label"),
    (VirtualSubaccountRequest, {**DESK, "passphrase": "1234567"}, "passphrase"),
    (VirtualSubaccountRequest, {**DESK, "ip_list": ["10.0.0.1"] * 31}, "ipList"),
    (VirtualSubaccountRequest, {**DESK, "ip_list": "10.0.0.1"}, "ipList"),
    (VirtualSubaccountRequest, {**DESK, "ip_list": [""]}, "ipList"),
    (VirtualSubaccountRequest, {**DESK, "ip_list": ["10.0.0.1", "10.0.0.256"]}, "ipList"),
    (VirtualSubaccountRequest, {**DESK, "ip_list": ["example.com"]}, "ipList"),
    (VirtualSubaccountRequest, {**DESK, "ip_list": ["10.0.0.0/24"]}, "ipList"),
    (VirtualSubaccountRequest, {**DESK, "ip_list": ["2001:db8::1", "2001:DB8:0::1"]}, "ipList"),
    (CreateBatchRequest, {"accounts": [DESK, {**DESK, "sub_account_name": "DESKabcd"}]}, "subAccountName"),
    (VirtualSubaccountRequest, {**DESK, "perm_list": ["withdraw"]}, "permList"),
    (SpotFillsRequest, {"start_time": NOW - 91 * DAY, "end_time": NOW}, "endTime"),
    (SpotFillsRequest, {"start_time": NOW, "end_time": NOW - 1}, "startTime"),
    (SpotFillsRequest, {"limit": 101}, "limit"),
    (SpotFillsRequest, {"limit": 0}, "limit"),
    (SpotFillsRequest, {"limit": "ten"}, "limit"),
    (SpotFillsRequest, {"limit": 1.5}, "limit"),
    (SpotFillsRequest, {"limit": True}, "limit"),
    (SpotFillsRequest, {"symbol": ""}, "symbol"),
    (SpotFillsRequest, {"symbl": "BTCUSDT"}, "symbl"),
    (SpotFillsRequest, {"start_time": "yesterday"}, "startTime"),
    (SpotFillsRequest, {"start_time": -1}, "startTime"),
    (SpotFillsRequest, {"start_time": datetime(2026, 1, 1)}, "startTime"),  # noqa: DTZ001
    (TransfersRequest, {"start_time": NOW}, "endTime"),
    (TransfersRequest, {"end_time": NOW}, "startTime"),
    (TransfersRequest, {"start_time": NOW - 7 * DAY - 1, "end_time": NOW}, "endTime"),
    (TransfersRequest, {"type": "both"}, "type"),
    (ReversalRequest, {**P, "margin_coin": "USDT"}, "symbol"),
    (ReversalRequest, {**P, "symbol": "ETHUSDT"}, "marginCoin"),
    (ReversalRequest, {"symbol": "ETHUSDT", "margin_coin": "USDT"}, "productType"),
    (ReversalRequest, {**R, "product_type": "EURO-FUTURES"}, "productType"),
    (ReversalRequest, {**R, "size": 0}, "size"),
    (ReversalRequest, {**R, "size": "-1"}, "size"),
    (ReversalRequest, {**R, "size": 0.1}, "size"),
    (ReversalRequest, {**R, "size": "NaN"}, "size"),
    (ReversalRequest, {**R, "size": "1e999999"}, "size"),
    (ReversalRequest, {**R, "size": "three"}, "size"),
    (ReversalRequest, {**R, "side": "long"}, "side"),
    (ReversalRequest, {**R, "trade_side": "both"}, "tradeSide"),
    (ReversalRequest, {**R, "client_oid": "a b"}, "clientOid"),
    (ReversalRequest, {**R, "client_oid": "x" * 51}, "clientOid"),
    (TriggerHistoryRequest, P, "planType"),
    (TriggerHistoryRequest, {"plan_type": "normal_plan"}, "productType"),
    (TriggerHistoryRequest, {**P, "plan_type": "pos_loss"}, "planType"),
    (TriggerHistoryRequest, {**PLAN, "plan_status": "live"}, "planStatus"),
    (TriggerHistoryRequest, {**PLAN, "start_time": 0, "end_time": 90 * DAY + 1}, "endTime"),
    (TriggerHistoryRequest, {**PLAN, "limit": 101}, "limit"),
    (AccountListRequest, {}, "productType"),
    (CreateSubaccountRequest, {}, "subaccountName"),
    (CreateSubaccountRequest, {"subaccount_name": "desk1"}, "subaccountName"),
    (CreateSubaccountRequest, {"subaccount_name": "a@b.cd", "label": "x" * 20}, "label"),
    (ConvertHistoryRequest, {"start_time": NOW}, "endTime"),
    (ConvertHistoryRequest, {"end_time": NOW}, "startTime"),
    (ConvertHistoryRequest, {"start_time": NOW - 90 * DAY - 1, "end_time": NOW}, "endTime"),
    (ConvertHistoryRequest, {"start_time": NOW, "end_time": NOW, "limit": 101}, "limit"),
    (SubaccountEmailRequest, {}, "subUid"),
    (SubaccountEmailRequest, {"sub_uid": "desk1@example.com"}, "subUid"),
    (SpotBillsRequest, {"group_type": "fiat"}, "groupType"),
    (SpotBillsRequest, {"business_type": "gift"}, "businessType"),
    (SpotBillsRequest, {"limit": 501}, "limit"),
    (SpotBillsRequest, {"start_time": NOW - 90 * DAY - 1, "end_time": NOW}, "endTime"),
    (PendingOrdersRequest, {}, "productType"),
    (PendingOrdersRequest, {**P, "status": "filled"}, "status"),
    (PendingOrdersRequest, {**P, "limit": 101}, "limit"),
    (PendingOrdersRequest, {**P, "start_time": 0, "end_time": 91 * DAY}, "endTime"),
    (FuturesFillsRequest, {}, "productType"),
    (FuturesFillsRequest, {**P, "start_time": 0, "end_time": 91 * DAY}, "endTime"),
    (FuturesFillsRequest, {**P, "limit": 101}, "limit"),
    (FuturesFillsRequest, {**P, "order_id": ["1"]}, "orderId"),
    (OrderDetailRequest, {**P, "symbol": "ETHUSDT"}, "orderId"),
    (TickerRequest, P, "symbol"),
]


@pytest.mark.parametrize(("kind", "parameters", "parameter"), BROKEN)
def test_a_broken_rule_names_parameter_rule_value_and_remedy(
    kind: type[Request[Any]], parameters: dict[str, Any], parameter: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        kind(**parameters)
    error = refused.value
    assert error.parameter == parameter
    assert error.rule
    assert error.remedy
    for part in (error.parameter, error.rule, error.value, error.remedy):
        assert part in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


KEPT: list[tuple[type[Request[Any]], dict[str, Any], list[tuple[str, str]]]] = [
    (SpotFillsRequest, {}, []),
    (SpotFillsRequest, {"start_time": NOW - 90 * DAY, "end_time": NOW, "limit": 100}, []),
    (TransfersRequest, {"limit": 500}, [("limit", "500")]),
    (TransfersRequest, {"start_time": NOW - 7 * DAY, "end_time": NOW}, []),
    (TransfersRequest, {"type": "Withdrawal"}, [("type", "withdrawl")]),
    (TransfersRequest, {"id_less_than": 1}, [("idLessThan", "1")]),
    (TriggerHistoryRequest, PLAN, [("planType", "normal_plan"), ("productType", "USDT-FUTURES")]),
    (TriggerHistoryRequest, {**PLAN, "start_time": 0}, [("startTime", "0")]),
    (PendingOrdersRequest, {**P, "order_id": "1", "client_oid": "a"}, [("clientOid", "a"), ("orderId", "1")]),
    (PendingOrdersRequest, {"productType": "usdt-futures"}, [("productType", "USDT-FUTURES")]),
    (SpotBillsRequest, {"group_type": "FAIT"}, [("groupType", "fait")]),
    (SpotBillsRequest, {"limit": 500}, [("limit", "500")]),
    (SpotBillsRequest, {"business_type": "TRANSFER_OUT"}, [("businessType", "transfer-out")]),
    (SpotBillsRequest, {"business_type": "usdt contract rewards"}, [("businessType", "USDT contract rewards")]),
    (SpotBillsRequest, {"business_type": "ORDER_EXCHANGE_IN"}, [("businessType", "ORDER_EXCHANGE_IN")]),
    (ConvertHistoryRequest, {"start_time": NOW, "end_time": NOW}, []),
    (SubaccountEmailRequest, {"sub_uid": 12345}, [("subUid", "12345")]),
    (CreateSubaccountRequest, {"subaccount_name": "a@b.cd", "label": "x" * 19}, [("label", "x" * 19)]),
    (VirtualSubaccountRequest, {**DESK, "label": "x" * 20, "ip_list": [f"::{n}" for n in range(30)]}, []),
    (CreateCopyKeyRequest, {"passphrase": "A" * 32}, []),
    (CreateCopyKeyRequest, {"passphrase": "abcd1234"}, []),
]


@pytest.mark.parametrize(("kind", "parameters", "sent"), KEPT)
def test_what_the_rules_allow_is_kept(
    kind: type[Request[Any]],
    parameters: dict[str, Any],
    sent: list[tuple[str, str]],
) -> None:
    values = kind(**parameters).values()
    for name, value in sent:
        assert values[name] == value


def test_a_query_is_sorted_text_without_what_is_not_given() -> None:
    request = FuturesFillsRequest(product_type="coin-futures", symbol="BTCUSD", limit=5, order_id=None)
    assert request.query() == [("limit", "5"), ("productType", "COIN-FUTURES"), ("symbol", "BTCUSD")]


def test_times_may_be_datetimes_and_are_milliseconds() -> None:
    when = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
    request = SpotFillsRequest(start_time=when, end_time=when + timedelta(milliseconds=1))
    assert (request.start_time, request.end_time) == (1772366400123, 1772366400124)


def test_every_number_of_a_post_is_text() -> None:
    request = ReversalRequest(**R, size=Decimal("0.0000000070"), side="Buy", trade_side="Open", client_oid="tt-1")
    assert request.body() == (
        b'{"symbol":"ETHUSDT","marginCoin":"USDT","productType":"USDT-FUTURES","size":"0.0000000070",'
        b'"side":"buy","tradeSide":"Open","clientOid":"tt-1"}'
    )
    for endpoint in CATALOGUE.values():
        if endpoint.writes:
            assert not any(isinstance(p, (int, float)) for p in _leaves(json.loads(_example(endpoint.name).body())))


def batch(*accounts: dict[str, Any]) -> CreateBatchRequest:
    return CreateBatchRequest(accounts=[VirtualSubaccountRequest(**account) for account in accounts])


def _example(name: str) -> Request[Any]:
    examples: dict[str, Request[Any]] = {
        "copytrading.create_api_key": CreateCopyKeyRequest(passphrase=SecretStr("12345678")),
        "subaccounts.create_batch": batch({**DESK, "label": 7, "ip_list": ["10.0.0.1"]}),
        "futures.reverse": ReversalRequest(**R, size=Decimal(3)),
        "broker.create_subaccount": CreateSubaccountRequest(subaccount_name="a@b.cd", label="7"),
    }
    return examples[name]


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for value_below in value.values() for leaf in _leaves(value_below)]
    if isinstance(value, list):
        return [leaf for value_below in value for leaf in _leaves(value_below)]
    return [value]


def test_the_batch_is_an_array_in_the_interface_s_names() -> None:
    account = {**DESK, "ip_list": ["10.0.0.1"], "perm_list": ["READ", "spot_trade"]}
    assert json.loads(
        CreateBatchRequest.model_validate({"accounts": [account, VirtualSubaccountRequest(**OTHER)]}).body()
    ) == [
        {
            "subAccountName": "deskAbcd",
            "passphrase": "Passphrase1",
            "label": "desk one",
            "ipList": ["10.0.0.1"],
            "permList": ["read", "spot_trade"],
        },
        {"subAccountName": "deskEfgh", "passphrase": "Passphrase1", "label": "desk one"},
    ]


@pytest.mark.parametrize(
    ("parameters", "mode", "parameter"),
    [
        ({"side": "buy", "size": 1}, PositionMode.HEDGE, "tradeSide"),
        ({"trade_side": "Open", "size": 1}, PositionMode.HEDGE, "side"),
        ({"trade_side": "Open", "side": "buy"}, PositionMode.HEDGE, "size"),
        ({"trade_side": "Open"}, PositionMode.ONE_WAY, "tradeSide"),
        ({"trade_side": "Open", "side": "buy", "size": 1}, PositionMode.HEDGE, None),
        ({}, PositionMode.ONE_WAY, None),
        ({"size": 3, "side": "sell"}, PositionMode.ONE_WAY, None),
    ],
)
def test_a_reversal_is_held_to_the_mode(parameters: dict[str, Any], mode: PositionMode, parameter: str | None) -> None:
    request = ReversalRequest.model_validate({**R, **parameters})
    if parameter is None:
        request.check_mode(mode)
        return
    with pytest.raises(InvalidRequest) as refused:
        request.check_mode(mode)
    assert refused.value.parameter == parameter


def test_the_trade_side_goes_out_as_it_was_written() -> None:
    for word in ("Open", "open"):
        assert json.loads(ReversalRequest.model_validate({**R, "trade_side": word}).body())["tradeSide"] == word


def test_documented_words_go_first_and_have_another() -> None:
    request = TransfersRequest(type="withdrawl", limit=10)
    reworded = request.reworded()
    assert reworded is not None
    name, other = reworded
    assert (name, other.query()) == ("type", [("limit", "10"), ("type", "withdrawal")])
    assert other.reworded() is None
    assert other.changed(id_less_than="7").query() == [("idLessThan", "7"), ("limit", "10"), ("type", "withdrawal")]
    assert TransfersRequest(type="deposit").reworded() is None
    for documented, live in LIVE_BUSINESS_TYPES.items():
        reworded_bill = SpotBillsRequest(business_type=documented).reworded()
        assert reworded_bill is not None
        assert dict(reworded_bill[1].query()) == {"businessType": live}
        assert SpotBillsRequest(business_type=live).query() == [("businessType", documented)]


def test_every_billing_type_is_taken() -> None:
    for word in GroupType:
        assert SpotBillsRequest(group_type=word).query() == [("groupType", word.value)]


def test_changing_a_request_keeps_the_rest_and_the_rules() -> None:
    request = FuturesFillsRequest(product_type="USDT-FUTURES", symbol="BTCUSDT", limit=50)
    assert request.changed(id_less_than="9", symbol=None).query() == [
        ("idLessThan", "9"),
        ("limit", "50"),
        ("productType", "USDT-FUTURES"),
    ]
    with pytest.raises(InvalidRequest):
        request.changed(limit=101)


def test_passphrases_are_never_shown() -> None:
    request = batch({**DESK, "passphrase": "Canary12345"})
    assert "Canary" not in repr(request) + str(request)
    copy = CreateCopyKeyRequest(passphrase=SecretStr("Canary12345"))
    assert "Canary" not in repr(copy) + str(copy.model_dump())
    for bad in ("Canary 12345", SecretStr("Canary 12345")):
        with pytest.raises(InvalidRequest) as refused:
            CreateCopyKeyRequest.model_validate({"passphrase": bad})
        assert "Canary" not in str(refused.value) + repr(refused.value) + str(refused.value.value)


def test_what_is_told_of_a_request_is_what_is_sent_with_secrets_covered() -> None:
    for request in (
        batch({**DESK, "ip_list": ["10.0.0.8", "::1"]}, OTHER),
        CreateCopyKeyRequest(passphrase=SecretStr("Passphrase1")),
        ReversalRequest(**R, size=Decimal(3)),
    ):
        sent = json.dumps(json.loads(request.body())).replace("Passphrase1", "***")
        assert json.dumps(request.redacted()) == sent


def test_a_coin_is_one_name() -> None:
    for coin in ("USDT", "usdt", "1000SATS", "币安人生", "$ALT"):
        assert SpotBillsRequest(coin=coin).coin == coin
    for text in ("BTC,ETH", "BTC USDT", "BTC/USDT", "?"):
        with pytest.raises(InvalidRequest, match=r"coin: a coin, such as USDT; given: .*Give one coin\."):
            SpotBillsRequest(coin=text)


def test_a_symbol_is_sent_in_capitals_and_is_one() -> None:
    assert FuturesFillsRequest(product_type="USDT-FUTURES", symbol=" btcUSDT ").symbol == "BTCUSDT"
    reversal = ReversalRequest(product_type="USDT-FUTURES", symbol="ethusdt", margin_coin="USDT")
    assert reversal.symbol == "ETHUSDT"
    for several in ("BTCUSDT,ETHUSDT", "BTC USDT"):
        with pytest.raises(InvalidRequest, match=r"symbol: a symbol, such as BTCUSDT; given: .*Give one symbol\."):
            FuturesFillsRequest(product_type="USDT-FUTURES", symbol=several)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({**P, "symbol": " "}, "symbol: a symbol, such as BTCUSDT; given: nothing. Leave it out, or give it a value."),
        ({"product_type": ""}, "productType: one of the product types; given: nothing. Give it."),
        ({**P, "limit": ""}, "given: nothing. Give a whole number in digits."),
    ],
)
def test_an_empty_value_is_called_nothing(parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        FuturesFillsRequest(**parameters)
    assert sentence in str(refused.value)


def test_a_misspelt_parameter_is_told_the_right_one() -> None:
    misspelt: dict[str, Any] = {"producttype": "USDT-FUTURES"}
    with pytest.raises(InvalidRequest, match="Did you mean product_type"):
        FuturesFillsRequest(**misspelt)


def test_every_request_has_a_parameter_for_every_field() -> None:
    for endpoint in CATALOGUE.values():
        fields = endpoint.request.model_fields
        assert len(endpoint.request.parameters.values()) == len(fields), endpoint.name
        for parameter in endpoint.request.parameters.values():
            assert parameter.name
            assert fields[parameter.attribute].is_required() == parameter.required, (endpoint.name, parameter.name)


def test_times_the_wrong_way_round_are_told_as_a_person_reads_them() -> None:
    with pytest.raises(InvalidRequest, match="given: 2026-11-02 00:00:00 UTC to 2026-11-01 00:00:00 UTC"):
        FuturesFillsRequest(product_type="USDT-FUTURES", start_time=1_793_577_600_000, end_time=1_793_491_200_000)


@pytest.mark.parametrize("endpoint", CATALOGUE.values(), ids=CATALOGUE)
def test_no_text_is_longer_than_the_interface_can_mean(endpoint: Endpoint) -> None:
    for parameter in endpoint.request.parameters.values():
        if parameter.element is not None:
            continue  # a list of requests, each held to its own parameters
        listed = parameter.value_type == "list"
        for text in ("X" * 5_000, "9" * 5_000):
            with pytest.raises(InvalidRequest) as refusal:
                parameter.read([text] if listed else text)
            assert refusal.value.parameter == parameter.name
            assert len(str(refusal.value)) < 400
