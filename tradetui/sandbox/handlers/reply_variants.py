"""The two dialects of a reply: the interface document's, and the live exchange's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from tradetui.sandbox.books.numbers import text
from tradetui.sandbox.books.orders import PROFIT_LOSS, TRAILING
from tradetui.sandbox.handlers.rules import LIVE_BUSINESS_TYPES, LIVE_TRANSFER_TYPES

MESSAGE_IN_DOCUMENT: Final = frozenset({"spot.bills"})
"""Endpoints whose documented envelope has `message` instead of `msg`."""
_NUMBER: Final = "\ue000"
"""Marks both ends of a text that is written as a JSON number, digit by digit; no row of the exchange contains it."""
_MARKED: Final = re.compile(f'"{_NUMBER}(-?[0-9]+(?:\\.[0-9]+)?){_NUMBER}"')


def envelope_bytes(name: str, envelope: Mapping[str, Any]) -> bytes:
    """Write the envelope as JSON; numbers keep the digits of the exchange's own text."""
    text = json.dumps(envelope, ensure_ascii=False, separators=(",", ":"))
    # Lone surrogates, possible in JSON, cannot be encoded.
    return (_MARKED.sub(r"\1", text) if name == "convert.history" else text).encode("utf-8", "replace")


def in_dialect(name: str, payload: Any, live: bool) -> Any:
    """Return the payload in one of the dialects; its rows are not changed."""
    change = (_LIVE if live else _DOCUMENTED).get(name)
    if name == "futures.live_triggers" and live and payload["entrustedList"]:
        return {"entrustedList": payload["entrustedList"]}
    if change is None:
        return payload
    if isinstance(payload, list):
        return [change(row) for row in payload]
    return {key: [change(row) for row in value] if isinstance(value, list) else value for key, value in payload.items()}


def _seconds(row: Mapping[str, Any], *names: str) -> dict[str, str]:
    return {name: str(int(row[name]) // 1000) for name in names}


def _documented_order(row: Mapping[str, Any]) -> dict[str, Any]:
    margin_mode = "cross" if row["marginMode"] == "crossed" else row["marginMode"]
    return {**row, "marginMode": margin_mode, "tradeSide": _open_or_close(row, closes=row["reduceOnly"] == "YES")}


def _documented_trigger(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trigger order with the documented fields of its type and status, all as text."""
    absent = {"price"} if row["planType"] in TRAILING else {"callbackRatio"}
    if row["planStatus"] != "executed":
        absent.add("baseVolume")
    shown = {name: "" if value is None else value for name, value in row.items() if name not in absent}
    closes = row["planType"] in PROFIT_LOSS
    return shown | {"marginMode": row["marginMode"] or "crossed", "tradeSide": _open_or_close(row, closes=closes)}


def _open_or_close(row: Mapping[str, Any], *, closes: bool) -> str:
    """Return the document's trade side for orders; it documents those of one-way mode for fills only."""
    trade_side: str = row["tradeSide"]
    return ("close" if closes else "open") if trade_side.endswith("_single") else trade_side


def _live_trigger(row: Mapping[str, Any]) -> dict[str, Any]:
    if row["planStatus"] != "cancelled" or row["planType"] != "normal_plan":
        return dict(row)
    absent = ("executeOrderId", "executePrice", "priceAvg")
    return {**{name: value for name, value in row.items() if name not in absent}, "feeDetail": None}


def _live_bill(row: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in row.items() if name != "balanceAfter"}
    return plain | {"balance": row["balanceAfter"], "businessType": LIVE_BUSINESS_TYPES[row["businessType"]]}


def _documented_account(row: Mapping[str, Any]) -> dict[str, Any]:
    return {("unionTotalMagin" if name == "unionTotalMargin" else name): value for name, value in row.items()}


def _live_fill(row: Mapping[str, Any]) -> dict[str, Any]:
    fees = [{**fee, "totalDeductionFee": None} for fee in row["feeDetail"]]
    return {**row, "feeDetail": fees, "enterPointSource": row["enterPointSource"].lower()}


def _live_order(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "enterPointSource": row["enterPointSource"].lower(),
        "totalProfits": row["totalProfits"] or "0",
        "presetStopSurplusExecutePrice": "",
        "presetStopSurplusTriggerType": "",
        "presetStopLossExecutePrice": "",
        "presetStopLossTriggerType": "",
    }


def _documented_unified_order(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pending order of a unified account in the documents' words; a fee that is paid is positive there."""
    plain = {name: value for name, value in row.items() if name not in ("marginMode", "delegateType", "stpMode")}
    status = "live" if row["orderStatus"] == "new" else row["orderStatus"]
    fees = row["feeDetail"] or [{"feeCoin": "", "fee": ""}]
    return plain | {"orderStatus": status, "feeDetail": [_positive_if_paid(fee) for fee in fees]}


def _documented_unified_fill(row: Mapping[str, Any]) -> dict[str, Any]:
    absent = ("execLinkId", "posSide", "isRPI")
    plain = {name: value for name, value in row.items() if name not in absent}
    return plain | {"feeDetail": [_positive_if_paid(fee) for fee in row["feeDetail"]]}


def _positive_if_paid(fee: Mapping[str, Any]) -> dict[str, Any]:
    return {**fee, "fee": text(-Decimal(fee["fee"])) if fee["fee"] else ""}


_DOCUMENTED: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "spot.fills": lambda row: {**row, **_seconds(row, "cTime", "uTime")},
    "spot.bills": lambda row: {name: value for name, value in row.items() if name != "balanceAfter"},
    "futures.accounts": _documented_account,
    "futures.pending_orders": _documented_order,
    "futures.triggers": _documented_trigger,
    "futures.live_triggers": _documented_trigger,
    "subaccounts.create_batch": lambda row: {**row, "subAccountName": row["subAccountName"].partition("@")[0]},
    "convert.history": lambda row: {**row, "fromCoinSize": f"{_NUMBER}{row['fromCoinSize']}{_NUMBER}"},
    "unified.orders": _documented_unified_order,
    "unified.fills": _documented_unified_fill,
}
_LIVE: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "spot.bills": _live_bill,
    "broker.transfers": lambda row: {**row, "type": LIVE_TRANSFER_TYPES.get(row["type"], row["type"])},
    "futures.accounts": lambda row: {**row, "grant": ""},
    "futures.fills": _live_fill,
    "futures.pending_orders": _live_order,
    "futures.triggers": _live_trigger,
}
