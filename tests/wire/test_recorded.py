"""Every recorded reply is read without error and without losing a field."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.wire.whole_reply import RefusedReply, read_reply
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.reply import UnreadableBody, read_data, read_envelope
from tradetui.wire.error_codes import MEANINGS, CodeGroup, meaning, write_refused
from tradetui.wire.json_text import dump_json
from tradetui.wire.replies.record import Record

ENDPOINTS = {
    "all-position": "futures.positions",
    "all-sub-deposit-withdrawal": "broker.transfers",
    "batch-create-subaccount-and-apikey": "subaccounts.create_batch",
    "broker-create-subaccount": "broker.create_subaccount",
    "click-backhand": "futures.reverse",
    "convert-record": "convert.history",
    "create-copy-api": "copytrading.create_api_key",
    "mix-accounts": "futures.accounts",
    "mix-fills": "futures.fills",
    "order-detail": "futures.order_detail",
    "orders-pending": "futures.pending_orders",
    "orders-plan-history": "futures.triggers",
    "server-time": "public.time",
    "spot-bills": "spot.bills",
    "spot-fills": "spot.fills",
    "subaccount-email": "broker.subaccount_email",
}


def test_every_recorded_reply_is_read_and_keeps_every_field(recorded: Path) -> None:
    files = [path for path in sorted(recorded.glob("*__*.json")) if path.stem.split("__")[0] in ENDPOINTS]
    assert len(files) >= 19
    for path in files:
        _held(path)


def test_no_recorded_file_is_left_out(recorded: Path) -> None:
    known = {*ENDPOINTS, "empty-pages", "errors", "signing_vectors"}
    assert {path.stem.split("__")[0] for path in recorded.glob("*.json")} == known


def _held(path: Path) -> None:
    body = path.read_bytes()
    reply = read_reply(CATALOGUE[ENDPOINTS[path.stem.split("__")[0]]], body)
    assert reply.undecodable_rows == (), path
    data = json.loads(body, parse_float=Decimal)["data"]
    rows: Any = data
    if isinstance(data, dict):
        rows = next((value for value in data.values() if isinstance(value, list) and "endId" in data), [data])
    assert len(rows) == len(reply.rows)
    for raw, record in zip(rows, reply.rows, strict=True):
        _nothing_lost(raw, record, path)


def _nothing_lost(raw: dict[str, Any], record: Record, path: Path) -> None:
    assert list(record.received) == list(raw)
    attributes = {field.alias: name for name, field in type(record).model_fields.items()}
    for key, value in raw.items():
        if key not in type(record).secrets:
            assert record.received[key] == value
        name = type(record).spellings.get(key, key)
        if name not in attributes:
            assert record.unknown[key] == value, (path, key)
        elif value is None or value == "":
            assert getattr(record, attributes[name]) in (None, ()), (path, key)
        elif name in record.unreadable:
            assert record.unreadable[name] == value, (path, key)
        else:
            assert getattr(record, attributes[name]) not in (None, ()), (path, key)


def test_values_of_the_recorded_fills(recorded: Path) -> None:
    reply = read_reply(CATALOGUE["futures.fills"], (recorded / "mix-fills__captured-mixed-modes.json").read_bytes())
    raw = json.loads((recorded / "mix-fills__captured-mixed-modes.json").read_bytes())["data"]["fillList"]
    assert [str(fill.price) for fill in reply.rows] == [row["price"] for row in raw]
    assert [str(fill.fee_detail[0].total_fee) for fill in reply.rows] == [
        row["feeDetail"][0]["totalFee"] for row in raw
    ]
    assert all(fill.fee_detail[0].total_deduction_fee is None for fill in reply.rows)
    assert {fill.pos_mode for fill in reply.rows} == {"one_way_mode", "hedge_mode"}
    assert reply.cursor == raw[-1]["tradeId"]


def test_recorded_empty_pages_are_empty_and_end_the_paging(recorded: Path) -> None:
    observed = json.loads((recorded / "empty-pages__observed.json").read_text())["observed"]
    names = {"entrustedList": "futures.pending_orders", "fillList": "futures.fills"}
    pages = [reply["data"] for reply in observed if isinstance(reply.get("data"), dict)]
    assert len(pages) == 2
    for data in pages:
        name = next(name for key, name in names.items() if key in data)
        body = json.dumps({"code": "00000", "msg": "success", "requestTime": 1, "data": data}).encode()
        reply = read_reply(CATALOGUE[name], body)
        assert (reply.rows, reply.undecodable_rows, reply.cursor) == ((), (), None)
    flat = b'{"code":"00000","msg":"success","requestTime":1,"data":[]}'
    assert read_reply(CATALOGUE["futures.positions"], flat).rows == ()


def test_recorded_errors_are_errors_with_code_and_message(recorded: Path) -> None:
    bodies = json.loads((recorded / "errors__observed-bodies.json").read_text())["bodies"]
    assert len(bodies) > 25
    for reply in bodies:
        body = json.dumps(reply["body"]).encode()
        if "code" not in reply["body"]:
            with pytest.raises(UnreadableBody):
                read_envelope(body)
            continue
        envelope = read_envelope(body)
        assert not envelope.ok
        assert envelope.code == str(reply["body"]["code"])
        assert envelope.msg == (reply["body"].get("msg") or reply["body"].get("message") or "")
        if "requestTime" in reply["body"]:
            assert envelope.request_time == int(reply["body"]["requestTime"])
        with pytest.raises(RefusedReply):
            read_reply(CATALOGUE["futures.fills"], body)
        if envelope.code != "1":
            assert envelope.code in MEANINGS, envelope.code
            refused = write_refused(envelope.code, 400, envelope.msg)
            leaves_open = meaning(envelope.code).group in (CodeGroup.SYSTEM, CodeGroup.NO_SUCH_ORDER)
            assert refused is not leaves_open, envelope.code


def test_received_values_print_as_they_came(recorded: Path) -> None:
    body = (recorded / "convert-record__documented.json").read_bytes()
    reply = read_data(CATALOGUE["convert.history"], read_envelope(body))
    raw = json.loads(body)["data"]["dataList"][0]
    assert json.loads(dump_json(reply.rows[0].received)) == raw
    assert isinstance(json.loads(dump_json(reply.rows[0].received))["fromCoinSize"], int)
    assert reply.rows[0].from_coin_size == Decimal(raw["fromCoinSize"])
