"""Replies are read tolerantly: a field at a time, for every endpoint of the interface."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import SecretStr

from tests.wire.model_rows import FILL, ORDER, ROWS, SPOT_FILL, body, one, read
from tests.wire.whole_reply import RefusedReply, read_reply
from tradetui.wire.decimal_text import trimmed_digits
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.endpoint import RowLaw
from tradetui.wire.endpoints.reply import LONGEST_BODY, UnreadableBody, read_envelope
from tradetui.wire.enums import PositionSide
from tradetui.wire.json_text import dump_json
from tradetui.wire.models.futures import FuturesFill, PendingOrder
from tradetui.wire.replies.record import Record, UndecodableRowError, read_rows

NAMES = sorted(ROWS)
ODD: tuple[object, ...] = ({"a": [1]}, [[1, None]], "½", True, -1e400, "0x1F", "1e5", 3.5, 10**30)


def _required(name: str, field: str) -> bool:
    model = CATALOGUE[name].row
    return next(field_info for field_info in model.model_fields.values() if field_info.alias == field).is_required()


def _attribute(name: str, field: str) -> str:
    return next(key for key, field_info in CATALOGUE[name].row.model_fields.items() if field_info.alias == field)


@pytest.mark.parametrize("name", NAMES)
def test_every_documented_field_is_read(name: str) -> None:
    record = one(name, ROWS[name])
    for field, value in ROWS[name].items():
        read_value = getattr(record, _attribute(name, field))
        if value == "":
            assert read_value is None
        elif isinstance(read_value, Decimal):
            assert trimmed_digits(read_value) == value
        elif isinstance(read_value, str):
            assert read_value == value
        elif isinstance(read_value, datetime):
            assert int(read_value.timestamp() * 1000 + 0.5) == int(value)
            assert read_value.utcoffset() == datetime.now(UTC).utcoffset()
        else:
            assert read_value not in (None, ())
    assert record.unreadable == {}
    assert record.unknown == {}


@pytest.mark.parametrize("name", NAMES)
def test_a_blank_field_is_not_given_and_only_a_key_one_costs_the_row(name: str) -> None:
    for field in ROWS[name]:
        without = {key: value for key, value in ROWS[name].items() if key != field}
        for row in (without, {**without, field: ""}, {**without, field: None}):
            reply = read(name, row)
            if _required(name, field):
                assert reply.rows == ()
                assert reply.undecodable_rows[0].reason.endswith(f"without a readable {field}")
                assert reply.count == 1
            else:
                assert getattr(reply.rows[0], _attribute(name, field)) in (None, ())
                assert reply.undecodable_rows == ()
                assert reply.unreadable == 0


@pytest.mark.parametrize("name", NAMES)
def test_an_odd_field_never_breaks_and_is_never_forgotten(name: str) -> None:
    for field in ROWS[name]:
        for odd in ODD:
            row = {**ROWS[name], field: odd}
            raw = json.loads(json.dumps(row), parse_float=Decimal, parse_constant=str)
            reply = read(name, row)
            if not reply.rows:
                assert _required(name, field)
                assert reply.count == 1
                continue
            record = reply.rows[0]
            value = getattr(record, _attribute(name, field))
            marked = any(problem.startswith(field) for problem in record.unreadable)
            assert marked or value not in (None, ()), (field, odd, value)
            assert dict(record.received) == raw or type(record).secrets


def test_a_field_that_cannot_be_read_keeps_its_text() -> None:
    order = one("futures.pending_orders", {**ORDER, "fee": "n/a", "cTime": "soon", "leverage": {"long": 5}})
    assert (order.fee, order.c_time, order.leverage) == (None, None, None)
    assert order.unreadable == {"fee": "n/a", "cTime": "soon", "leverage": '{"long":5}'}
    assert order.price == Decimal("181.05")
    reply = read("futures.pending_orders", {**ORDER, "fee": "n/a"}, ORDER)
    assert reply.unreadable == 1


@pytest.mark.parametrize(
    "figure", ["1e999999999", "-1e999999999", "NaN", "Infinity", "-inf", "1,5", "--1", "1 2", True, [], "٣x"]
)
def test_no_figure_is_guessed(figure: object) -> None:
    reply = read("futures.pending_orders", {**ORDER, "size": figure}, ORDER)
    assert [order.size for order in reply.rows] == [Decimal("12.5")]
    assert reply.undecodable_rows[0].index == 0


def test_numbers_may_be_json_numbers_and_lose_no_digit() -> None:
    text = json.dumps({"code": "00000", "requestTime": 1, "data": [{**ROWS["convert.history"]}]})
    text = text.replace('"fromCoinSize": "100"', '"fromCoinSize": 100.00000000000000000001')
    text = text.replace('"id": "55"', '"id": 1501234567890123456789')
    text = text.replace('"ts": "1780000000000"', '"ts": 1780000000000')
    record = read_reply(CATALOGUE["convert.history"], text.encode()).rows[0]
    assert record.id == "1501234567890123456789"
    assert str(record.from_coin_size) == "100.00000000000000000001"
    assert record.ts == datetime(2026, 5, 28, 20, 26, 40, tzinfo=UTC)
    assert '"fromCoinSize":100.00000000000000000001' in dump_json(record.received)
    assert '"id":1501234567890123456789' in dump_json(record.received)


def test_a_flag_may_be_a_json_boolean() -> None:
    order = one("futures.pending_orders", {**ORDER, "reduceOnly": True})
    assert order.unreadable == {}
    assert order.received["reduceOnly"] is True


def test_unknown_fields_are_kept() -> None:
    order = one("futures.pending_orders", {**ORDER, "stpMode": "none", "deep": {"a": [1, 0.5]}})
    assert order.unknown == {"stpMode": "none", "deep": {"a": [1, Decimal("0.5")]}}
    assert order.model_extra == order.unknown


def test_unknown_words_are_kept_and_compared_without_case() -> None:
    order = one(
        "futures.pending_orders",
        {**ORDER, "side": "BUY", "marginMode": "cross", "posMode": "Hedge_Mode", "orderSource": "off_close"},
    )
    assert order.side == "BUY"
    assert order.is_buy
    assert order.margin == "crossed"
    assert order.position_mode == "hedge_mode"
    assert order.order_source == "off_close"
    odd = one("futures.pending_orders", {**ORDER, "posMode": "split_mode", "marginMode": "portfolio"})
    assert (odd.position_mode, odd.margin, odd.pos_mode) == (None, None, "split_mode")


@pytest.mark.parametrize("not_set", ["0", "-1", 0, -1])
def test_a_time_of_nought_is_no_time(not_set: object) -> None:
    order = one("futures.pending_orders", {**ORDER, "uTime": not_set})
    assert order.u_time is None
    assert order.unreadable == {}


def test_a_time_too_small_to_be_milliseconds_is_seconds() -> None:
    seconds = one("spot.fills", {**SPOT_FILL, "cTime": "1780000001"})
    milliseconds = one("spot.fills", {**SPOT_FILL, "cTime": "1780000001000"})
    assert seconds.c_time == milliseconds.c_time == datetime(2026, 5, 28, 20, 26, 41, tzinfo=UTC)


@pytest.mark.parametrize(
    "fees",
    [
        {"feeCoin": "BGB", "totalFee": "-0.5"},
        [{"feeCoin": "BGB", "totalFee": "-0.5"}],
        '{"feeCoin":"BGB","totalFee":"-0.5"}',
        '[{"feeCoin":"BGB","totalFee":-0.5}]',
        [None, {"feeCoin": "BGB", "totalFee": "-0.5"}],
    ],
)
@pytest.mark.parametrize("name", ["spot.fills", "futures.fills"])
def test_fee_detail_as_object_list_or_text(name: str, fees: object) -> None:
    fill = one(name, {**ROWS[name], "feeDetail": fees})
    assert [(fee.fee_coin, fee.total_fee) for fee in fill.fee_detail] == [("BGB", Decimal("-0.5"))]
    assert fill.unreadable == {}


def test_fee_detail_that_cannot_be_read_is_marked_where_it_is() -> None:
    fill = one("futures.fills", {**FILL, "feeDetail": [{"totalFee": "?"}, {"totalFee": "-1"}, 7]})
    assert [fee.total_fee for fee in fill.fee_detail] == [None, Decimal(-1)]
    assert fill.unreadable == {"feeDetail[0].totalFee": "?", "feeDetail[2]": "7"}
    assert one("spot.fills", {**SPOT_FILL, "feeDetail": "free"}).unreadable == {"feeDetail": "free"}


@pytest.mark.parametrize(
    "permissions",
    [
        ["contract_trade", "copytrading_trade"],
        "contract_trade,copytrading_trade",
        '["contract_trade","copytrading_trade"]',
        {"contract_trade": True, "copytrading_trade": "yes", "withdraw": False, "transfer": "no"},
    ],
)
def test_permissions_as_object_list_or_text(permissions: object) -> None:
    key = one("copytrading.create_api_key", {**ROWS["copytrading.create_api_key"], "permissions": permissions})
    assert key.permissions == ("contract_trade", "copytrading_trade")


@pytest.mark.parametrize("data", ["null", '""'])
@pytest.mark.parametrize("name", NAMES)
def test_a_null_payload_is_an_empty_history_and_no_answer_to_what_is_held_now(name: str, data: str) -> None:
    body = f'{{"code":"00000","msg":"","requestTime":1,"data":{data}}}'.encode()
    held_now = ("futures.accounts", "futures.subaccount_assets", "futures.pending_orders")
    if name in (*held_now, "unified.assets", "unified.positions", "unified.orders"):
        with pytest.raises(UnreadableBody, match="is empty"):
            read_reply(CATALOGUE[name], body)
    elif CATALOGUE[name].law is not RowLaw.SINGLE:
        assert read_reply(CATALOGUE[name], body).rows == ()


def test_a_null_payload_for_the_keys_owner_names_none() -> None:
    body = b'{"code":"00000","msg":"","requestTime":1,"data":null}'
    assert read_reply(CATALOGUE["spot.account_info"], body).rows == ()


@pytest.mark.parametrize("name", [name for name in NAMES if CATALOGUE[name].rows_key is not None])
def test_a_null_list_is_empty(name: str) -> None:
    for data in (f'{{"{CATALOGUE[name].rows_key}":null,"endId":null}}', "{}", '{"endId":null}'):
        body = f'{{"code":"00000","msg":"","requestTime":1,"data":{data}}}'.encode()
        assert read_reply(CATALOGUE[name], body).rows == ()


def test_null_lists_in_rows_are_empty() -> None:
    assert one("broker.create_subaccount", {**ROWS["broker.create_subaccount"], "permList": None}).perm_list == ()
    for name in ("futures.accounts", "futures.subaccount_assets"):
        assert one(name, {**ROWS[name], "assetList": None}).asset_list == ()


def test_the_equity_of_a_sub_account_is_read_under_both_documented_names() -> None:
    row = ROWS["futures.subaccount_assets"]
    (asset,) = row["assetList"]
    renamed = {name: value for name, value in asset.items() if name != "accountEquity"} | {"equity": "905.5"}
    whole, other = (
        one("futures.subaccount_assets", row),
        one("futures.subaccount_assets", {**row, "assetList": [renamed]}),
    )
    assert whole.asset_list[0].account_equity == other.asset_list[0].account_equity == Decimal("905.5")


def test_a_sub_account_without_a_readable_equity_is_told_and_counts_as_no_zero() -> None:
    row = ROWS["futures.subaccount_assets"]
    (asset,) = row["assetList"]
    record = one("futures.subaccount_assets", {**row, "assetList": [{**asset, "accountEquity": "n/a"}]})
    assert record.asset_list == () and "assetList[0]" in record.unreadable


def test_rows_under_an_unexpected_name_are_not_taken_for_none() -> None:
    for data in ({"orderList": [ORDER]}, {"entrustedList": "x"}, {"entrustedList": {"a": 1}}, "text", 7):
        text = json.dumps({"code": "00000", "requestTime": 1, "data": data}).encode()
        with pytest.raises(UnreadableBody):
            read_reply(CATALOGUE["futures.pending_orders"], text)


def test_a_bare_list_where_an_object_is_usual_is_read() -> None:
    text = json.dumps({"code": "00000", "requestTime": 1, "data": [ORDER]}).encode()
    reply = read_reply(CATALOGUE["futures.pending_orders"], text)
    assert (len(reply.rows), reply.cursor) == (1, ORDER["orderId"])


def test_lost_rows_are_counted_with_what_they_were() -> None:
    reply = read("futures.fills", FILL, {**FILL, "price": None}, 7, None, {**FILL, "tradeId": ""})
    assert len(reply.rows) == 1
    assert [row.index for row in reply.undecodable_rows] == [1, 2, 3, 4]
    assert reply.count == 5
    assert reply.undecodable_rows[0].received == {**FILL, "price": None}
    assert "received" not in repr(reply.undecodable_rows[0])


@pytest.mark.parametrize(
    "text",
    [
        b'{"code":"00000","code":"40808"}',
        b'{"code":"00000","data":[],"data":[{"symbol":"BTCUSDT"}]}',
        b'{"code":"00000","data":[{"holdSide":"long","holdSide":"short"}]}',
    ],
)
def test_a_name_that_is_there_twice_makes_a_reply_unreadable_that_steers_a_decision(text: bytes) -> None:
    with pytest.raises(UnreadableBody, match="a name twice"):
        read_envelope(text, unique_names=True)
    assert read_envelope(text).code  # histories, which nothing is sent by, are read at full speed


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "empty"),
        (b"<html>Bad gateway</html>", "web page"),
        (b'{"code":"00000","da', "cut off"),
        (b"\xff\xfe{}", "UTF-8"),
        (b"[1,2]", "not an object"),
        (b'{"message":"failure to get a peer from the ring-balancer"}', "no code"),
        (b'{"code":null}', "no code"),
        (b'{"code":true}', "no code"),
        (b"[" * 100_000, "nested"),
        (b" " * (LONGEST_BODY + 1), "bytes long"),
    ],
)
def test_what_is_no_reply_says_what_it_is(text: bytes, says: str) -> None:
    with pytest.raises(UnreadableBody, match=says) as refused:
        read_envelope(text)
    assert refused.value.__cause__ is None


def test_the_envelope_in_its_variants() -> None:
    assert read_envelope(b'{"code":"00000","message":"success","requestTime":"17"}').msg == "success"
    assert read_envelope(b'{"code":"00000","message":"success","requestTime":"17"}').request_time == 17
    assert read_envelope(b'\xef\xbb\xbf{"code":0}').code == "0"
    assert not read_envelope(b'{"code":0}').ok
    assert not read_envelope(b'{"code":"00001"}').ok
    assert read_envelope(b'{"code":"1","msg":"","message":"System error"}').msg == "System error"
    assert read_envelope(b'{"code":"1","requestTime":"later"}').request_time is None
    with pytest.raises(RefusedReply) as refused:
        read_reply(CATALOGUE["futures.fills"], b'{"code":"40014","msg":"no"}')
    assert refused.value.envelope.code == "40014"


@pytest.mark.parametrize("name", ["copytrading.create_api_key", "subaccounts.create_batch"])
def test_secrets_of_replies_are_never_shown(name: str) -> None:
    reply = read(name, ROWS[name])
    record = reply.rows[0]
    secret = record.secret if name.startswith("copy") else record.secret_key
    assert isinstance(secret, SecretStr)
    assert secret.get_secret_value() == "canary"
    shown = [repr(reply), str(record), repr(record.received), repr(record.model_dump()), dump_json(record.received)]
    shown.append(repr(read_envelope(body(name, ROWS[name]))))
    assert not any("canary" in text for text in shown)


@pytest.mark.parametrize("name", ["copytrading.create_api_key", "subaccounts.create_batch"])
def test_secrets_of_rows_that_cannot_be_read_are_kept_and_not_shown(name: str) -> None:
    model = CATALOGUE[name].row
    field = next(iter(model.secrets))
    key = next(field_info.alias for field_info in model.model_fields.values() if field_info.is_required())
    assert key is not None
    reply = read(name, {**ROWS[name], key: None, field: "canary"})
    kept = reply.undecodable_rows[0].received
    assert isinstance(kept, dict)
    assert kept[field].get_secret_value() == "canary"
    assert "canary" not in repr(kept) + repr(reply)
    odd = read(name, {**ROWS[name], field: ["canary"]})
    assert "canary" not in repr(odd) + "".join(repr(r.received) + repr(r.unreadable) for r in odd.rows)
    assert "canary" not in "".join(repr(row.received) for row in odd.undecodable_rows)


def test_the_fast_and_the_careful_reading_agree() -> None:
    for name, row in ROWS.items():
        model = CATALOGUE[name].row
        read_fast = read_rows(model, [row])
        assert read_fast is not None
        careful = model.from_row(row)
        assert type(read_fast[0]) is type(careful)
        assert read_fast[0].model_dump() == careful.model_dump()
        assert repr(read_fast[0]) == repr(careful)
        if not model.secrets:
            assert read_fast[0] == careful
            assert hash(read_fast[0]) == hash(careful)


def test_one_odd_row_does_not_change_its_neighbours() -> None:
    alone = one("futures.pending_orders", ORDER)
    reply = read("futures.pending_orders", ORDER, {**ORDER, "fee": "?"}, ORDER)
    assert reply.rows[0] == alone == reply.rows[2]


def test_records_are_frozen_and_compare_by_value() -> None:
    first, second = one("futures.fills", FILL), one("futures.fills", FILL)
    assert first == second
    assert len({first, second}) == 1
    assert first.row_id == f"{FILL['tradeId']}|SOLUSDT"
    assert first != one("futures.fills", {**FILL, "profit": "1"})
    with pytest.raises(ValueError, match="frozen"):
        first.price = Decimal(1)
    assert first.model_copy(update={"price": Decimal(1)}).price == Decimal(1)


def test_a_record_can_be_made_from_values() -> None:
    order = PendingOrder(order_id="1", symbol="X", size=Decimal(1), side="sell")
    assert order.row_id == "1"
    assert order.received == {}
    with pytest.raises(UndecodableRowError, match="tradeId"):
        FuturesFill.from_row({})


def test_every_model_has_an_identity_and_every_endpoint_its_fields() -> None:
    for listed in CATALOGUE.values():
        model: type[Record] = listed.row
        assert model.identity, listed.name
        assert set(model.identity) <= set(model.model_fields)
        assert listed.time_field is None or listed.time_field in model.model_fields


def test_positions_of_both_legs_have_their_own_keys() -> None:
    row: dict[str, Any] = {"symbol": "SOLUSDT", "holdSide": "long", "marginCoin": "USDT", "total": "1"}
    reply = read("futures.positions", row, {**row, "holdSide": "short"})
    assert len({position.row_id for position in reply.rows}) == 2
    assert [position.leg for position in reply.rows] == [PositionSide.LONG, PositionSide.SHORT]


def test_a_payload_without_its_rows_is_not_an_empty_one() -> None:
    orders = CATALOGUE["futures.pending_orders"]

    def read(data: object) -> int:
        body = json.dumps({"code": "00000", "msg": "success", "requestTime": 1, "data": data}).encode()
        return len(read_reply(orders, body).rows)

    nothing: object
    other: object
    for nothing in ({}, {"endId": ""}, {"entrustedList": None, "endId": None}, {"entrustedList": []}):
        assert read(nothing) == 0
    for other in ({"x": 1}, {"orderList": []}, {"entrustedlist": None}):
        with pytest.raises(UnreadableBody, match="entrustedList"):
            read(other)
