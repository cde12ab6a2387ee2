"""Two ways of writing the same answer: the document's and the live exchange's, where they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tradetui.sandbox.rules import LIVE_BUSINESS_TYPES

MESSAGE_IN_DOCUMENT: Final = frozenset({"spot.bills"})
"""Endpoints whose documented envelope says `message` where all others say `msg`."""


def spoken(name: str, payload: Any, live: bool) -> Any:
    """The payload in the chosen dialect; the world's own rows stay as they are."""
    change = (_LIVE if live else _DOCUMENTED).get(name)
    if change is None:
        return payload
    if isinstance(payload, list):
        return [change(row) for row in payload]
    return {key: [change(row) for row in value] if isinstance(value, list) else value for key, value in payload.items()}


def _seconds(row: Mapping[str, Any], *names: str) -> dict[str, str]:
    return {name: str(int(row[name]) // 1000) for name in names}


def _documented_bill(row: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in row.items() if name != "balanceAfter"}
    return plain | _seconds(row, "cTime")


def _live_bill(row: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in row.items() if name != "balanceAfter"}
    return plain | {"balance": row["balanceAfter"], "businessType": LIVE_BUSINESS_TYPES[row["businessType"]]}


def _documented_account(row: Mapping[str, Any]) -> dict[str, Any]:
    return {("unionTotalMagin" if name == "unionTotalMargin" else name): value for name, value in row.items()}


def _live_account(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "grant": ""}


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


_DOCUMENTED: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "spot.fills": lambda row: {**row, **_seconds(row, "cTime", "uTime")},
    "spot.bills": _documented_bill,
    "futures.accounts": _documented_account,
    "futures.pending_orders": lambda row: {**row, "marginMode": "cross"},
    "convert.history": lambda row: {**row, "fromCoinSize": _Number(row["fromCoinSize"])},
}
_LIVE: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "spot.bills": _live_bill,
    "broker.transfers": lambda row: {**row, "type": "withdrawal" if row["type"] == "withdrawl" else row["type"]},
    "futures.accounts": _live_account,
    "futures.fills": _live_fill,
    "futures.pending_orders": _live_order,
}


class _Number(float):
    """A JSON number that prints with the digits it was made from."""

    def __new__(cls, text: str) -> _Number:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str

    def __repr__(self) -> str:
        return self.text
