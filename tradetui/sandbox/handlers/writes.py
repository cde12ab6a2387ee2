"""Answers to writes: the reversal, and which code answers the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tradetui.sandbox.api_errors import Refusal
from tradetui.sandbox.books.reversal import RequestedReversal
from tradetui.sandbox.exchange_state import ExchangeState
from tradetui.sandbox.gateway.api_keys import SandboxKey
from tradetui.sandbox.gateway.faults import Faults
from tradetui.sandbox.gateway.request_values import parameters, parsed, positive_amount, required, word
from tradetui.sandbox.handlers.creations import create_broker_subaccount, create_copy_key, create_virtual_subaccounts
from tradetui.sandbox.handlers.rules import PRODUCT_TYPES

_CLIENT_OID: Final = re.compile(r"[!-~]{1,64}", re.ASCII)


def write(exchange_state: ExchangeState, key: SandboxKey, name: str, body: bytes, faults: Faults) -> Any:
    """The payload of a write; raises Refusal."""
    given = parsed(body)
    if name == "futures.reverse":
        return _reverse(exchange_state, key, given, faults)
    return _CREATIONS[name](exchange_state, key, given)


def _reverse(exchange_state: ExchangeState, key: SandboxKey, given: Any, faults: Faults) -> Any:
    values = parameters(given)
    required(values, "symbol", "marginCoin", "productType")
    product_type = values["productType"].upper()
    if product_type not in PRODUCT_TYPES:
        raise Refusal("40020", "Parameter productType error")
    exchange_state.book(key.uid, product_type)
    spec = exchange_state.spec(values["symbol"], product_type)
    if values["marginCoin"].upper() != spec.margin_coin:
        raise Refusal("40020", "Parameter marginCoin error")
    side = word(values, "side", "buy", "sell")
    trade_side = word(values, "tradeSide", "open", "close")
    client_oid = values.get("clientOid", "")
    if client_oid and not _CLIENT_OID.fullmatch(client_oid):
        raise Refusal("40305", "client_oid length is greater than 64, or has characters that are not allowed")
    size = positive_amount(values["size"]) if "size" in values else None
    if "size" in values and size is None:
        raise Refusal("40020", "Parameter size error")
    wanted = RequestedReversal(spec, side, trade_side, size, client_oid)
    return exchange_state.reverse(key.uid, product_type, wanted, faults.of_reversal())


_CREATIONS: Final[Mapping[str, Callable[[ExchangeState, SandboxKey, Any], Any]]] = {
    "copytrading.create_api_key": create_copy_key,
    "subaccounts.create_batch": create_virtual_subaccounts,
    "broker.create_subaccount": create_broker_subaccount,
}
