"""Whatever comes: digits survive, ids survive, and no JSON value breaks the reading."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.wire.model_rows import FILL, ORDER, ROWS, one
from tests.wire.whole_reply import read_reply
from tradetui.wire.decimal_text import trimmed_digits
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.reply import Reply, UnreadableBody
from tradetui.wire.json_text import dump_json, load_json

DIGITS = st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,24})?", fullmatch=True)
IDS = st.one_of(
    st.integers(min_value=10**18, max_value=10**19 - 1).map(str),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text != ""),
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | DIGITS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@given(DIGITS)
def test_every_digit_of_a_figure_survives(text: str) -> None:
    fill = one("futures.fills", {**FILL, "price": text, "feeDetail": [{"feeCoin": "X", "totalFee": text}]})
    assert trimmed_digits(fill.price) == text
    assert trimmed_digits(fill.fee_detail[0].total_fee) == text
    if "E" not in str(Decimal(text)):
        assert str(fill.price) == text


@given(DIGITS)
def test_every_digit_of_a_json_number_survives(text: str) -> None:
    body = json.dumps({"code": "00000", "data": [{**ROWS["convert.history"], "toCoinSize": "@"}]})
    record = read_reply(CATALOGUE["convert.history"], body.replace('"@"', text).encode()).rows[0]
    assert record.to_coin_size == Decimal(text)
    assert load_json(dump_json(record.received))["toCoinSize"] == record.received["toCoinSize"]


@given(IDS)
def test_ids_survive(text: str) -> None:
    assume(not re.fullmatch(r"[0-9]+(\.[0-9]*([eE][+-]?[0-9]+)?|[eE][+-][0-9]+)", text))
    order = one("futures.pending_orders", {**ORDER, "orderId": text, "clientOid": text})
    assert order.order_id == order.client_oid == order.row_id == text


@given(st.integers(min_value=10**18, max_value=10**30))
def test_ids_given_as_numbers_survive(number: int) -> None:
    assert one("futures.pending_orders", {**ORDER, "orderId": number}).order_id == str(number)


@given(JSON, st.sampled_from(sorted(CATALOGUE)))
def test_any_payload_is_rows_lost_rows_or_unreadable(data: Any, name: str) -> None:
    body = json.dumps({"code": "00000", "requestTime": 1, "data": data}).encode()
    _read(name, body)


@given(st.dictionaries(st.sampled_from(sorted({k for row in ROWS.values() for k in row})), JSON), st.data())
def test_any_values_of_known_fields_are_read_or_counted(row: dict[str, Any], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(ROWS)))
    rows = [{**ROWS[name], **row}, ROWS[name], row]
    where = CATALOGUE[name]
    payload = {where.rows_key: rows} if where.rows_key else rows
    reply = _read(name, json.dumps({"code": "00000", "data": payload}).encode())
    assert reply is not None
    assert reply.count == 3
    assert any(read.row_id for read in reply.rows)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_reply_or_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableBody):
        read_reply(CATALOGUE["futures.fills"], b"\x00" + body)


@given(st.integers(min_value=0, max_value=400))
def test_half_a_reply_is_unreadable(cut: int) -> None:
    body = json.dumps({"code": "00000", "data": {"fillList": [FILL]}}).encode()
    with pytest.raises(UnreadableBody):
        read_reply(CATALOGUE["futures.fills"], body[: min(cut, len(body) - 1)])


@given(JSON)
def test_received_values_are_written_and_read_back(value: Any) -> None:
    exact = load_json(json.dumps(value))
    assert load_json(dump_json(exact)) == exact


def test_a_deeply_nested_unknown_field_is_kept() -> None:
    for depth in (50, 400, 900):
        text = json.dumps({"code": "00000", "data": {"fillList": ["@"]}})
        row = json.dumps({**FILL, "profit": "#", "more": "#"}).replace('"#"', "[" * depth + "]" * depth)
        reply = read_reply(CATALOGUE["futures.fills"], text.replace('"@"', row).encode())
        assert reply.rows[0].profit is None
        assert "profit" in reply.rows[0].unreadable
        assert dump_json(reply.rows[0].received)


def test_an_absurd_exponent_is_written_short() -> None:
    assert trimmed_digits(Decimal("1e999999999")) == "1E+999999999"
    assert trimmed_digits(Decimal("1e-999999999")) == "1E-999999999"
    assert trimmed_digits(Decimal("1e3")) == "1000"
    assert trimmed_digits(Decimal("0E-8")) == "0.00000000"


def _read(name: str, body: bytes) -> Reply[Any] | None:
    try:
        reply = read_reply(CATALOGUE[name], body)
    except UnreadableBody:
        return None
    for row in reply.rows:
        assert row.row_id
        assert isinstance(repr(row), str)
        assert isinstance(dump_json(row.received), str)
        assert all(isinstance(text, str) for text in row.unreadable.values())
    return reply
