"""The interface's oddities, one test each, as far as they are in the data; the others are proven on the sandbox."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.wire.model_rows import ORDER, ROWS, SPOT_FILL, body, one, read
from tests.wire.whole_reply import read_reply
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import RowLaw
from tradetui.wire.endpoints.reply import read_envelope
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.models.futures import FuturesFill, PendingOrdersRequest, TriggerHistoryRequest
from tradetui.wire.models.spot import ConvertHistoryRequest, SpotBillsRequest
from tradetui.wire.models.subaccounts import CreateSubaccountRequest, TransfersRequest, VirtualSubaccountRequest
from tradetui.wire.product_types import ProductType


def test_id_less_than_one_is_the_first_page_of_transfers() -> None:
    page = CATALOGUE["broker.transfers"].page
    assert page is not None
    assert page.first == "1"
    assert TransfersRequest(id_less_than="1").query() == [("idLessThan", "1")]
    assert [endpoint.name for endpoint in CATALOGUE.values() if endpoint.page and endpoint.page.first] == [
        "broker.transfers"
    ]


def test_a_limit_over_a_hundred_is_only_allowed_where_it_gives_a_hundred() -> None:
    page = CATALOGUE["broker.transfers"].page
    assert page is not None
    assert (page.capped, page.maximum) == (True, 100)
    assert TransfersRequest(limit=101).query() == [("limit", "101")]
    with pytest.raises(InvalidRequest, match="limit"):
        PendingOrdersRequest(product_type="USDT-FUTURES", limit=101)


def test_both_ids_may_be_sent_and_neither_is_needed() -> None:
    for kind, more in ((PendingOrdersRequest, {}), (TriggerHistoryRequest, {"plan_type": "track_plan"})):
        base: dict[str, Any] = {"product_type": "USDT-FUTURES", **more}
        names = {name for name, _ in kind(**base, order_id="1", client_oid="2").query()}
        assert {"orderId", "clientOid"} <= names
        assert not {"orderId", "clientOid"} & {name for name, _ in kind(**base).query()}


def test_fait_is_fiat_as_the_interface_spells_it() -> None:
    assert SpotBillsRequest(group_type="fait").query() == [("groupType", "fait")]
    with pytest.raises(InvalidRequest):
        SpotBillsRequest(group_type="fiat")


def test_the_binding_of_a_managed_sub_account_concerns_three_endpoints() -> None:
    bound = [
        endpoint.number
        for endpoint in CATALOGUE.values()
        if endpoint.core and endpoint.time and endpoint.time.from_binding
    ]
    assert bound == [3, 6, 13]


def test_labels_have_three_lengths() -> None:
    desk: dict[str, Any] = {"sub_account_name": "deskAbcd", "passphrase": "Passphrase1"}
    assert VirtualSubaccountRequest(**desk, label="é" * 20).label == "é" * 20
    with pytest.raises(InvalidRequest):
        VirtualSubaccountRequest(**desk, label="é" * 21)
    assert CreateSubaccountRequest(subaccount_name="a@b.cd", label="é" * 19).label == "é" * 19
    with pytest.raises(InvalidRequest):
        CreateSubaccountRequest(subaccount_name="a@b.cd", label="é" * 20)
    assert one("broker.create_subaccount", {**ROWS["broker.create_subaccount"], "label": "x" * 60}).label == "x" * 60


def test_copy_permissions_as_text_or_list() -> None:
    row = ROWS["copytrading.create_api_key"]
    assert one("copytrading.create_api_key", {**row, "permissions": "contract_trade"}).permissions == (
        "contract_trade",
    )
    assert one("copytrading.create_api_key", {**row, "permissions": ["contract_trade"]}).permissions == (
        "contract_trade",
    )


def test_convert_history_needs_both_times() -> None:
    for span in ({}, {"start_time": 1}, {"end_time": 1}):
        with pytest.raises(InvalidRequest, match="required"):
            ConvertHistoryRequest.model_validate(span)


def test_pending_orders_without_times_ask_for_orders_of_any_age() -> None:
    request = PendingOrdersRequest(product_type="USDT-FUTURES", status="live")
    assert not {"startTime", "endTime"} & {name for name, _ in request.query()}
    old = one("futures.pending_orders", {**ORDER, "cTime": "1500000000000"})
    assert old.c_time == datetime(2017, 7, 14, 2, 40, tzinfo=UTC)
    assert CATALOGUE["futures.pending_orders"].law is RowLaw.WHOLE


def test_ids_need_not_be_numbers() -> None:
    for odd in ("XXXX", "a-1_b", "0012", "1501234567890123456", "９"):
        assert one("futures.pending_orders", {**ORDER, "orderId": odd}).order_id == odd
    assert read("futures.fills", {**ROWS["futures.fills"], "tradeId": "t-é"}).cursor == "t-é"


def test_words_in_any_case() -> None:
    for side in ("Buy", "buy", "BUY"):
        assert one("futures.pending_orders", {**ORDER, "side": side}).is_buy
        assert one("futures.triggers", {**ROWS["futures.triggers"], "side": side}).is_buy
    for scope in ("taker", "TAKER"):
        assert one("spot.fills", {**SPOT_FILL, "tradeScope": scope}).is_taker


def test_product_types_in_lower_case() -> None:
    for kind in ProductType:
        for text in (kind.value, kind.value.lower(), kind.value.title()):
            assert PendingOrdersRequest.model_validate({"productType": text}).query() == [("productType", kind.value)]


def test_both_spellings_of_the_union_margin() -> None:
    row = {key: value for key, value in ROWS["futures.accounts"].items() if key != "unionTotalMargin"}
    account = one("futures.accounts", {**row, "unionTotalMagin": "111.1"})
    assert account.union_total_margin == Decimal("111.1")
    assert account.received["unionTotalMagin"] == "111.1"
    assert account.unknown == {}
    both = one("futures.accounts", {**row, "unionTotalMagin": "1", "unionTotalMargin": "2"})
    assert both.union_total_margin == Decimal(2)
    blank = one("futures.accounts", {**row, "unionTotalMagin": "1", "unionTotalMargin": ""})
    assert blank.union_total_margin == Decimal(1)


def test_both_spellings_of_a_withdrawal() -> None:
    for word in ("withdrawl", "withdrawal", "WITHDRAWAL"):
        assert one("broker.transfers", {**ROWS["broker.transfers"], "type": word}).is_withdrawal
    assert not one("broker.transfers", {**ROWS["broker.transfers"], "type": "deposit"}).is_withdrawal


def test_both_spellings_of_a_time() -> None:
    for name in ("broker.create_subaccount", "broker.subaccount_email", "futures.pending_orders", "futures.fills"):
        row = dict(ROWS[name])
        row["ctime"] = row.pop("cTime")
        if "uTime" in row:
            row["utime"] = row.pop("uTime")
        record = one(name, row)
        assert record.c_time is not None
        assert record.unknown == {}
        assert getattr(record, "u_time", True) is not None


def test_both_names_of_the_message() -> None:
    text = body("spot.bills", ROWS["spot.bills"]).replace(b'"msg"', b'"message"')
    assert read_envelope(text).msg == "success"
    assert len(read_reply(CATALOGUE["spot.bills"], text).rows) == 1


def test_both_words_for_crossed() -> None:
    for word in ("crossed", "cross", "Crossed"):
        assert one("futures.pending_orders", {**ORDER, "marginMode": word}).margin == "crossed"
    assert one("futures.pending_orders", {**ORDER, "marginMode": "fixed"}).margin == "isolated"


def test_spot_times_in_seconds_or_milliseconds() -> None:
    second = one("spot.fills", {**SPOT_FILL, "cTime": "1780000001", "uTime": 1780000001})
    assert second.c_time == second.u_time == one("spot.fills", {**SPOT_FILL, "cTime": "1780000001000"}).c_time


def test_a_convert_size_as_number_or_text() -> None:
    row = ROWS["convert.history"]
    assert one("convert.history", {**row, "fromCoinSize": 100}).from_coin_size == Decimal(100)
    assert one("convert.history", {**row, "fromCoinSize": "100"}).from_coin_size == Decimal(100)


def test_pages_go_by_what_each_endpoint_names() -> None:
    assert read("spot.fills", SPOT_FILL).cursor == SPOT_FILL["tradeId"]
    assert read("spot.bills", ROWS["spot.bills"]).cursor == ROWS["spot.bills"]["billId"]
    assert read("futures.fills", ROWS["futures.fills"]).cursor == ROWS["futures.fills"]["tradeId"]
    for name in ("broker.transfers", "futures.triggers", "convert.history", "futures.pending_orders"):
        assert read(name, ROWS[name]).cursor == "7"
    assert read("futures.accounts", ROWS["futures.accounts"]).cursor is None


def test_a_page_in_no_order_goes_on_below_its_oldest_row() -> None:
    row = ROWS["futures.fills"]
    fills = [{**row, "tradeId": str(trade), "cTime": str(1_780_000_000_000 + ms)} for trade, ms in ((104, 9), (9, 2))]
    newest, oldest = fills
    middle = {**oldest, "tradeId": "103", "cTime": newest["cTime"]}
    same_time = {**oldest, "tradeId": "10"}
    assert read("futures.fills", newest, middle, oldest).cursor == "9"
    assert read("futures.fills", oldest, newest).cursor == "9"
    assert read("futures.fills", middle, same_time, oldest, newest).cursor == "9"
    assert read("futures.fills", newest, oldest, same_time).cursor == "10", "one that is in order goes on at its end"
    assert read("futures.fills", oldest, newest, {**middle, "cTime": ""}).cursor == "103"
    assert read("futures.fills", {**oldest, "tradeId": ""}, same_time, newest).cursor == "10", "a row without an id"


def test_a_page_without_end_id_goes_on_after_its_last_row() -> None:
    data = {"entrustedList": [ORDER, {**ORDER, "orderId": "15", "size": None}]}
    text = json.dumps({"code": "00000", "requestTime": 1, "data": data}).encode()
    for name in ("futures.pending_orders", "futures.live_triggers"):
        assert read_reply(CATALOGUE[name], text).cursor == "15"


def test_a_trailing_stop_has_no_price_and_a_whole_position_stop_no_size() -> None:
    stop = one("futures.triggers", {**ROWS["futures.triggers"], "size": "0", "marginMode": ""})
    assert (stop.price, stop.size, stop.margin) == (None, Decimal(0), None)
    nulls = {key: None for key in ROWS["futures.triggers"] if key.startswith("stop")}
    assert one("futures.triggers", {**ROWS["futures.triggers"], **nulls}).stop_loss_trigger_price is None


def test_a_reply_s_leverage_may_be_a_number() -> None:
    assert one("futures.pending_orders", {**ORDER, "leverage": 3}).leverage == Decimal(3)


def test_order_detail_tells_its_status_under_state() -> None:
    for name in ("state", "status"):
        text = json.dumps({"code": "00000", "data": {"orderId": "1", name: "filled"}}).encode()
        assert read_reply(CATALOGUE["futures.order_detail"], text).rows[0].state == "filled"


def test_two_fills_of_one_trade_id_are_told_apart_however_they_stand_in_the_reply() -> None:
    closing, opening = (
        {**FILL_ROW, "side": "buy", "tradeSide": "close"},
        {**FILL_ROW, "side": "sell", "tradeSide": "open"},
    )
    for rows in ([closing, opening], [opening, closing], [opening, {**closing, "side": "BUY"}, opening]):
        ids = {fill["tradeSide"]: fill["tradeId"] for fill in FuturesFill.with_distinct_ids(rows)}
        assert ids == {"close": "1", "open": "1 sell open"}
    without_id = [{**row, "tradeId": trade_id} for row in (closing, opening) for trade_id in (None, "")]
    assert FuturesFill.with_distinct_ids(without_id) == without_id, "none of them can be told from another"
    two_symbols = [opening, {**closing, "symbol": "ETHUSDT"}]
    assert FuturesFill.with_distinct_ids(two_symbols) == two_symbols, "an id is unique within a symbol at best"
    repeated = [opening, {**opening, "baseVolume": "2"}, None, "fill"]
    assert FuturesFill.with_distinct_ids(repeated) == repeated, "one fill whose figures were corrected"


@pytest.mark.parametrize("written", ["1.4e18", "1399999999999999999.0", '"1.4E18"', '"1.4e+18"', "14e17"])
def test_an_id_that_came_through_a_float_has_lost_its_digits_and_makes_its_row_unreadable(written: str) -> None:
    text = json.dumps(
        {"code": "00000", "data": {"fillList": [{**FILL_ROW, "side": "buy", "tradeId": "id", "orderId": "id"}]}}
    )
    lost = read_reply(CATALOGUE["futures.fills"], text.replace('"id"', written).encode())
    assert [row.reason for row in lost.undecodable_rows] == ["FuturesFill without a readable tradeId"]
    whole = read_reply(CATALOGUE["futures.fills"], text.replace('"id"', "1399999999999999999").encode())
    assert [fill.order_id for fill in whole.rows] == ["1399999999999999999"]
    nameless = text.replace('"tradeId": "id"', '"tradeId": "1"').replace('"id"', written)
    assert [fill.order_id for fill in read_reply(CATALOGUE["futures.fills"], nameless.encode()).rows] == [None]


@pytest.mark.parametrize("kind", ["planType", "planStatus"])
def test_orders_and_trigger_orders_that_a_gateway_swaps_are_unreadable(kind: str) -> None:
    pending, triggers = CATALOGUE["futures.pending_orders"], CATALOGUE["futures.live_triggers"]
    order = {**FILL_ROW, "orderId": "7", "size": "1", "status": "live", "side": "buy"}
    trigger = {**order, kind: "live", "triggerPrice": "2"}
    for rows_of, right, swapped in ((pending, order, trigger), (triggers, trigger, order)):
        text = json.dumps({"code": "00000", "data": {"entrustedList": [right, swapped]}}).encode()
        reply = read_reply(rows_of, text)
        assert [row.order_id for row in reply.rows] == ["7"]
        assert [row.index for row in reply.undecodable_rows] == [1]


FILL_ROW = {"tradeId": "1", "symbol": "BTCUSDT", "price": "1", "baseVolume": "1", "cTime": "1790000000000"}
