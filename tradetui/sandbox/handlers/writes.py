"""Answers writes: the reversal, and the creation of sub-accounts and keys. A refused write changes nothing."""

from __future__ import annotations

import ipaddress
import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tradetui.sandbox.api_errors import COPY_KEY_EXISTS, OLD_COPY_MODEL, Refusal
from tradetui.sandbox.books.account import Account
from tradetui.sandbox.books.reversal import RequestedReversal
from tradetui.sandbox.exchange_state import ExchangeState
from tradetui.sandbox.gateway.api_keys import SandboxKey, made_key
from tradetui.sandbox.gateway.faults import Faults
from tradetui.sandbox.gateway.request_values import parameters, parsed, positive_amount, required, word
from tradetui.sandbox.handlers.rules import PRODUCT_TYPES
from tradetui.sandbox.seed_accounts import MAX_KEYS, MAX_SUBACCOUNTS, broker_subaccount_row

MAX_BATCH: Final = 5
MAX_ADDRESSES: Final = 30
LONGEST_NOTE: Final = 20
_CLIENT_OID: Final = re.compile(r"[!-~]{1,64}", re.ASCII)
_PASSPHRASE: Final = re.compile(r"[A-Za-z0-9]{8,32}", re.ASCII)
_EIGHT_LETTERS: Final = re.compile(r"[A-Za-z]{8}", re.ASCII)
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_COPY_PERMISSIONS: Final = ["copytrading_trade", "contract_trade"]
_ALLOWS: Final[Mapping[str, frozenset[str]]] = {
    "read": frozenset({"futures-read", "holdings-read", "spot-read"}),
    "contract_trade": frozenset({"futures-read", "futures-write", "holdings-read"}),
    "spot_trade": frozenset({"spot-read"}),
    "margin_trade": frozenset(),
    "copytrading_trade": frozenset(),
}
"""The permissions behind a word of permList; nothing here needs those of margin trading and copy trading."""
_VIRTUAL_PERMISSIONS: Final = frozenset({"spot_trade", "margin_trade", "contract_trade", "read"})


def write(exchange_state: ExchangeState, key: SandboxKey, name: str, body: bytes, faults: Faults) -> Any:
    """Return the payload of a write; raises Refusal."""
    values = parsed(body)
    if name == "futures.reverse":
        return _reverse(exchange_state, key, values, faults)
    return _CREATIONS[name](exchange_state, exchange_state.account(key.uid), values)


def _reverse(exchange_state: ExchangeState, key: SandboxKey, body: Any, faults: Faults) -> Any:
    values = parameters(body)
    required(values, "symbol", "marginCoin", "productType")
    product_type = word("productType", values["productType"], PRODUCT_TYPES)
    exchange_state.book(key.uid, product_type)
    spec = exchange_state.spec(values["symbol"], product_type)
    if values["marginCoin"].upper() != spec.margin_coin:
        raise Refusal("40020", "Parameter marginCoin error")
    side = word("side", values["side"], ("buy", "sell")) if "side" in values else None
    trade_side = word("tradeSide", values["tradeSide"], ("open", "close")) if "tradeSide" in values else None
    client_oid = values.get("clientOid", "")
    if client_oid and not _CLIENT_OID.fullmatch(client_oid):
        raise Refusal("40305", "client_oid length is greater than 64, or has characters that are not allowed")
    size = positive_amount(values["size"]) if "size" in values else None
    if "size" in values and size is None:
        raise Refusal("40020", "Parameter size error")
    requested = RequestedReversal(spec, side, trade_side, size, client_oid)
    return exchange_state.reverse(key.uid, product_type, requested, faults.take_for_reversal())


def create_copy_key(exchange_state: ExchangeState, account: Account, body: Any) -> Any:
    """Create the one API key that a copy trader of the new model may have; raises Refusal."""
    values = parameters(body)
    required(values, "passphrase")
    _check_passphrase(values["passphrase"])
    if not account.is_copy_trader:
        raise Refusal("40732", "Current user is not a trader")
    if account.kind != "copy-new":
        raise Refusal(*OLD_COPY_MODEL)
    if account.has_copy_key:
        raise Refusal(*COPY_KEY_EXISTS)
    new_key = _new_key(exchange_state, "copy", account, values["passphrase"], _COPY_PERMISSIONS)
    account.has_copy_key = True
    return [{"apikey": new_key.api_key, "secret": new_key.secret, "permissions": list(_COPY_PERMISSIONS)}]


@dataclass(frozen=True, slots=True)
class _RequestedSubaccount:
    name: str
    passphrase: str
    label: str
    ips: tuple[str, ...]
    permissions: tuple[str, ...]


def create_virtual_subaccounts(exchange_state: ExchangeState, account: Account, body: Any) -> Any:
    """Create up to five virtual sub-accounts with a key each. If it raises Refusal, it creates none."""
    if not isinstance(body, list) or not body:
        raise Refusal("40017", "Parameter verification failed body")
    if len(body) > MAX_BATCH:
        raise Refusal("40017", f"Parameter verification failed: at most {MAX_BATCH} sub-accounts per request")
    requested = [_requested_subaccount(entry) for entry in body]
    names = [subaccount.name.lower() for subaccount in requested]
    if len(set(names)) < len(names):
        raise Refusal("40071", "Duplicate subName")
    existing = {row["subAccountName"].lower(): row for row in account.virtual_subaccounts}
    for name in names:
        if name in existing:
            if existing[name]["keys"] >= MAX_KEYS:
                raise Refusal("40063", f"API exceeds the maximum limit of {MAX_KEYS} keys for a sub-account")
            raise Refusal("40060", "subNames exist")
    if len(existing) + len(requested) > MAX_SUBACCOUNTS:
        raise Refusal("40069", "The number of sub-accounts has reached the maximum")
    return [_create_virtual(exchange_state, account, subaccount) for subaccount in requested]


def _requested_subaccount(body: Any) -> _RequestedSubaccount:
    values = parameters(body, lists=("ipList", "permList"))
    required(values, "subAccountName", "passphrase", "label")
    if not _EIGHT_LETTERS.fullmatch(values["subAccountName"]):
        raise Refusal("40055", "subName must be 8 English letters")
    _check_passphrase(values["passphrase"])
    if len(values["label"]) > LONGEST_NOTE:
        raise Refusal("40056", f"remark length range 1-{LONGEST_NOTE}")
    ips, permissions = _texts(body, "ipList"), _texts(body, "permList")
    if len(ips) > MAX_ADDRESSES:
        raise Refusal("40017", "Parameter verification failed ipList")
    for address in ips:
        try:
            ipaddress.ip_network(address, strict=False)
        except ValueError:
            raise Refusal("40020", "Parameter ipList error") from None
    if not set(permissions) <= _VIRTUAL_PERMISSIONS:
        raise Refusal("40020", "Parameter permList error")
    return _RequestedSubaccount(
        values["subAccountName"], values["passphrase"], values["label"], ips, permissions or ("read",)
    )


def _texts(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    listed = body.get(name) or []
    if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
        raise Refusal("40017", f"Parameter verification failed {name}")
    return tuple(listed)


def _create_virtual(exchange_state: ExchangeState, owner: Account, requested: _RequestedSubaccount) -> dict[str, Any]:
    uid = f"44{int(owner.uid) % 10**4:04d}{len(owner.virtual_subaccounts):04d}"
    rng = random.Random(f"{exchange_state.seed}/{uid}")
    account = Account(uid, requested.name, "virtual", owner.mode, rng, funded=False)
    exchange_state.accounts[uid] = account
    owner.virtual_subaccounts.append({"subAccountUid": uid, "subAccountName": requested.name, "keys": 1})
    new_key = _new_key(
        exchange_state, requested.name, account, requested.passphrase, requested.permissions, requested.ips
    )
    return {
        "subAccountUid": uid,
        "subAccountName": f"{requested.name}@virtual.example",
        "label": requested.label,
        "subAccountApiKey": new_key.api_key,
        "secretKey": new_key.secret,
        "permList": list(requested.permissions),
        "ipList": list(requested.ips),
    }


def create_broker_subaccount(exchange_state: ExchangeState, account: Account, body: Any) -> Any:
    """Create one sub-account of a broker, without a key; raises Refusal."""
    values = parameters(body)
    required(values, "subaccountName")
    if not _EMAIL.fullmatch(values["subaccountName"]):
        raise Refusal("40020", "Parameter subaccountName error")
    if len(values.get("label", "")) >= LONGEST_NOTE:
        raise Refusal("40056", f"remark length range 1-{LONGEST_NOTE}")
    if any(row["subaccountName"].lower() == values["subaccountName"].lower() for row in account.subaccounts):
        raise Refusal("40107", "subaccountName is already used")
    uid, label = f"42{len(account.subaccounts) + 1:08d}", values.get("label", "")
    row = broker_subaccount_row(uid, values["subaccountName"], label, exchange_state.now_ms)
    account.subaccounts.append(row)
    return {name: row[name] for name in ("subUid", "subaccountName", "status", "permList", "label", "cTime")}


def _check_passphrase(passphrase: str) -> None:
    if not _PASSPHRASE.fullmatch(passphrase):
        raise Refusal("40070", "passphrase must be 8-32 letters and numbers")


def _new_key(
    exchange_state: ExchangeState,
    name: str,
    account: Account,
    passphrase: str,
    permission_names: Iterable[str],
    ips: tuple[str, ...] = (),
) -> SandboxKey:
    permissions = frozenset().union(*(_ALLOWS[permission] for permission in permission_names))
    # A key's texts follow from its name; the count makes each name unique.
    numbered = f"{name}-{len(exchange_state.keys)}"
    new_key = made_key(
        exchange_state.seed,
        numbered,
        account.uid,
        permissions,
        account.mode,
        account.kind,
        passphrase=passphrase,
        ips=ips,
    )
    exchange_state.keys.append(new_key)
    return new_key


_CREATIONS: Final[Mapping[str, Callable[[ExchangeState, Account, Any], Any]]] = {
    "copytrading.create_api_key": create_copy_key,
    "subaccounts.create_batch": create_virtual_subaccounts,
    "broker.create_subaccount": create_broker_subaccount,
}
