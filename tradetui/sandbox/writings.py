"""Answers to writes: the reversal, and the creation of sub-accounts and keys, each held to its rules."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from tradetui.sandbox.account import Account
from tradetui.sandbox.faults import Faults
from tradetui.sandbox.keys import ALL, SandboxKey, made_key
from tradetui.sandbox.population import MAX_SUBACCOUNTS
from tradetui.sandbox.refusals import Refusal
from tradetui.sandbox.reversal_execution import Wanted
from tradetui.sandbox.rules import PRODUCT_TYPES
from tradetui.sandbox.world import World

#: Codes of the embedded exchange's own, since the live ones are not published.
OLD_COPY_MODEL: Final = ("31901", "This interface is only applicable to the new Copy model")
COPY_KEY_EXISTS: Final = ("31902", "You have already created a Copy API Key.")

_PASSPHRASE: Final = re.compile(r"^[A-Za-z0-9]{8,32}$")
_EIGHT_LETTERS: Final = re.compile(r"^[A-Za-z]{8}$")
_EMAIL: Final = re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$")
_PERMISSIONS: Final = frozenset({"spot_trade", "margin_trade", "contract_trade", "read"})
_BROKER_PERMISSIONS: Final = ["read", "spot_trade", "contract_trade", "transfer", "withdraw", "deposit"]


def write(world: World, key: SandboxKey, name: str, body: bytes, faults: Faults) -> Any:
    """The payload of a write; raises Refusal."""
    try:
        given = json.loads(body)
    except ValueError:
        raise Refusal("40017", "Parameter verification failed body") from None
    return _WRITES[name](world, key, given, faults)


def _object(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise Refusal("40017", "Parameter verification failed body")
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise Refusal("40017", f"Parameter verification failed {name}")
    return {name: value for name, value in given.items() if value not in (None, "")}


def _required(values: Mapping[str, Any], *names: str) -> None:
    for name in names:
        if name not in values:
            raise Refusal("40019", f"Parameter {name} cannot be empty")


def _reverse(world: World, key: SandboxKey, given: Any, faults: Faults) -> Any:
    values = _object(given)
    _required(values, "symbol", "marginCoin", "productType")
    product_type = values["productType"].upper()
    if product_type not in PRODUCT_TYPES:
        raise Refusal("40020", "Parameter productType error")
    spec = world.spec(values["symbol"], product_type)
    if values["marginCoin"].upper() != spec.margin_coin:
        raise Refusal("40020", "Parameter marginCoin error")
    for name, words in (("side", ("buy", "sell")), ("tradeSide", ("open", "close"))):
        if name in values and values[name].lower() not in words:
            raise Refusal("40020", f"Parameter {name} error")
    if len(values.get("clientOid", "")) > 64:
        raise Refusal("40305", "clientOid length is greater than 64")
    size = values.get("size")
    try:
        amount = Decimal(size) if size is not None else None
    except InvalidOperation:
        amount = Decimal(0)
    if amount is not None and (not amount.is_finite() or amount <= 0):
        raise Refusal("40020", "Parameter size error")
    side = values["side"].lower() if "side" in values else None
    wanted = Wanted(spec, side, values.get("tradeSide"), amount, values.get("clientOid", ""))
    return world.reverse(key.uid, product_type, wanted, faults.of_reversal())


def _create_copy_key(world: World, key: SandboxKey, given: Any, faults: Faults) -> Any:
    values = _object(given)
    account = world.account(key.uid)
    _required(values, "passphrase")
    if not _PASSPHRASE.match(values["passphrase"]):
        raise Refusal("40070", "passphrase must be 8-32 letters and numbers")
    if account.kind != "copy-new":
        raise Refusal(*OLD_COPY_MODEL)
    if account.copy_key is not None:
        raise Refusal(*COPY_KEY_EXISTS)
    made = _new_key(world, account, "copy", values["passphrase"], {"contract_trade", "copytrading_trade"})
    account.copy_key = {"apikey": made.api_key, "permissions": ["contract_trade", "copytrading_trade"]}
    return [{"apikey": made.api_key, "secret": made.secret, "permissions": ["copytrading_trade", "contract_trade"]}]


def _new_key(world: World, account: Account, purpose: str, passphrase: str, words: set[str]) -> SandboxKey:
    number = len(world.keys)
    made = made_key(world.seed, f"{purpose}-{number}", account.uid, _permissions(words), account.mode, account.kind)
    key = SandboxKey(made.name, made.uid, made.api_key, made.secret, passphrase, made.permissions, made.mode, made.kind)
    world.keys.append(key)
    return key


def _permissions(words: set[str]) -> frozenset[str]:
    names = {"holdings-read"} if words else set(ALL)
    if words & {"read", "contract_trade"}:
        names |= {"futures-read"}
    if "contract_trade" in words:
        names |= {"futures-write"}
    if words & {"read", "spot_trade", "margin_trade"}:
        names |= {"spot-read"}
    return frozenset(names)


def _create_batch(world: World, key: SandboxKey, given: Any, faults: Faults) -> Any:
    if not isinstance(given, list) or not given:
        raise Refusal("40017", "Parameter verification failed body")
    if len(given) > 5:
        raise Refusal("40017", "Parameter verification failed: at most 5 sub-accounts per request")
    account = world.account(key.uid)
    names = {row["subAccountName"].lower() for row in account.virtual_subaccounts}
    for wanted in given:
        _check_virtual(wanted, names)
        names.add(wanted["subAccountName"].lower())
    if len(account.virtual_subaccounts) + len(given) > MAX_SUBACCOUNTS:
        raise Refusal("40069", "The number of sub-accounts has reached the maximum")
    return [_made_virtual(world, account, wanted) for wanted in given]


def _check_virtual(wanted: Any, taken: set[str]) -> None:
    if not isinstance(wanted, dict):
        raise Refusal("40017", "Parameter verification failed body")
    for name in ("subAccountName", "passphrase", "label"):
        if not wanted.get(name):
            raise Refusal("40019", f"Parameter {name} cannot be empty")
        if not isinstance(wanted[name], str):
            raise Refusal("40017", f"Parameter verification failed {name}")
    if not _EIGHT_LETTERS.match(wanted["subAccountName"]):
        raise Refusal("40055", "subName must be 8 English letters")
    if not _PASSPHRASE.match(wanted["passphrase"]):
        raise Refusal("40070", "passphrase must be 8-32 letters and numbers")
    if len(wanted["label"]) > 20:
        raise Refusal("40056", "remark length range 1-20")
    ips, words = wanted.get("ipList") or [], wanted.get("permList") or []
    if not isinstance(ips, list) or len(ips) > 30:
        raise Refusal("40017", "Parameter verification failed ipList")
    for address in ips:
        try:
            ipaddress.ip_network(address, strict=False)
        except ValueError:
            raise Refusal("40020", "Parameter ipList error") from None
    if not isinstance(words, list) or not set(words) <= _PERMISSIONS:
        raise Refusal("40020", "Parameter permList error")
    if wanted["subAccountName"].lower() in taken:
        raise Refusal("40060", "subNames exist")


def _made_virtual(world: World, account: Account, wanted: Mapping[str, Any]) -> dict[str, Any]:
    words = list(wanted.get("permList") or ["read"])
    made = _new_key(world, account, wanted["subAccountName"], wanted["passphrase"], set(words))
    uid = f"44{int(account.uid) % 10**4:04d}{len(account.virtual_subaccounts):04d}"
    account.virtual_subaccounts.append({"subAccountUid": uid, "subAccountName": wanted["subAccountName"], "keys": 1})
    return {
        "subAccountUid": uid,
        "subAccountName": f"{wanted['subAccountName']}@virtual.example",
        "label": wanted["label"],
        "subAccountApiKey": made.api_key,
        "secretKey": made.secret,
        "permList": words,
        "ipList": list(wanted.get("ipList") or []),
    }


def _create_broker_subaccount(world: World, key: SandboxKey, given: Any, faults: Faults) -> Any:
    values = _object(given)
    account = world.account(key.uid)
    if account.kind != "broker":
        raise Refusal("40029", "You are not a Broker")
    _required(values, "subaccountName")
    if not _EMAIL.match(values["subaccountName"]):
        raise Refusal("40020", "Parameter subaccountName error")
    if len(values.get("label", "")) >= 20:
        raise Refusal("40056", "remark length range 1-20")
    if any(row["subaccountName"].lower() == values["subaccountName"].lower() for row in account.subaccounts):
        raise Refusal("40107", "subaccountName is already used")
    now = str(world.now_ms)
    row = {
        "subUid": f"42{len(account.subaccounts) + 1:08d}",
        "subaccountName": values["subaccountName"],
        "subaccountEmail": values["subaccountName"],
        "status": "normal",
        "permList": list(_BROKER_PERMISSIONS),
        "label": values.get("label", ""),
        "cTime": now,
        "uTime": now,
    }
    account.subaccounts.append(row)
    return {name: row[name] for name in ("subUid", "subaccountName", "status", "permList", "label", "cTime")}


_WRITES: Final[Mapping[str, Callable[[World, SandboxKey, Any, Faults], Any]]] = {
    "futures.reverse": _reverse,
    "copytrading.create_api_key": _create_copy_key,
    "subaccounts.create_batch": _create_batch,
    "broker.create_subaccount": _create_broker_subaccount,
}
