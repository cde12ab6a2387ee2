"""Matches the rows of a reply to the sub-accounts that were requested, and reads the key issued for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import SecretStr

from tradetui.desk.creation.key_store import IssuedKey
from tradetui.wire.endpoints.reply import UndecodableRow
from tradetui.wire.models.writes import (
    CopyApiKey,
    CreateBatchRequest,
    CreateCopyKeyRequest,
    CreateSubaccountRequest,
    VirtualSubaccount,
)

COPY_TITLE = "copy-trading"
_KEY_FIELDS = ("apikey", "subAccountApiKey")
_ENDS = 4


@dataclass(frozen=True, slots=True)
class RequestedKey:
    """A key to be requested: its title, and the passphrase chosen for it."""

    title: str
    passphrase: SecretStr
    label: str = ""


def requested_keys_of(
    request: CreateBatchRequest | CreateSubaccountRequest | CreateCopyKeyRequest,
) -> tuple[RequestedKey, ...]:
    """The keys that a request asks for; a broker's sub-account has none."""
    if isinstance(request, CreateCopyKeyRequest):
        return (RequestedKey(COPY_TITLE, request.passphrase),)
    if isinstance(request, CreateSubaccountRequest):
        return ()
    return tuple(
        RequestedKey(account.sub_account_name, account.passphrase, account.label) for account in request.accounts
    )


def match_issued_keys(
    requested_keys: Sequence[RequestedKey], rows: Sequence[object], undecodable_rows: Sequence[UndecodableRow]
) -> tuple[list[IssuedKey | None], list[IssuedKey]]:
    """The key issued for each requested one, in that order, and the keys that belong to none of them for certain.

    The exchange gives names back changed (masked, as an e-mail address): a row belongs to the name it begins with,
    else to the note it carries, else, where nothing is missing, to its place. A row that comes twice is one.
    """
    rows = [row for at, row in enumerate(rows) if row not in rows[:at]]
    issued_keys = [_issued_key(row) for row in rows] + [_saved(row.received) for row in undecodable_rows]
    names = [_name(row) for row in rows] + [_undecodable_name(row.received) for row in undecodable_rows]
    labels = [requested_key.label for requested_key in requested_keys]
    free_rows = set(range(len(issued_keys)))
    row_of: dict[int, int] = {}
    """The index of a row by that of the key requested."""

    def take_only(key_index: int, row_indexes: list[int]) -> None:
        if len(row_indexes) == 1:
            row_of[key_index] = row_indexes[0]
            free_rows.discard(row_indexes[0])

    for key_index, requested_key in enumerate(requested_keys):
        title = requested_key.title.casefold()
        take_only(key_index, [row_index for row_index in free_rows if names[row_index].startswith(title)])
    for key_index, label in enumerate(labels):
        if key_index not in row_of and label and labels.count(label) == 1:
            take_only(key_index, [row_index for row_index in free_rows if issued_keys[row_index].label == label])
    without_row = [key_index for key_index in range(len(requested_keys)) if key_index not in row_of]
    if len(issued_keys) == len(requested_keys) and len(without_row) == len(free_rows):
        row_of.update(zip(without_row, sorted(free_rows), strict=True))
        free_rows.clear()
    ours = [
        replace(issued_keys[row_of[key_index]], passphrase=requested_key.passphrase) if key_index in row_of else None
        for key_index, requested_key in enumerate(requested_keys)
    ]
    return ours, [issued_keys[row_index] for row_index in sorted(free_rows)]


def _issued_key(row: object) -> IssuedKey:
    if isinstance(row, CopyApiKey):
        return IssuedKey(row.apikey, row.secret, None, permissions=row.permissions)
    assert isinstance(row, VirtualSubaccount)
    return IssuedKey(
        row.sub_account_api_key or "",
        row.secret_key or _secret_in(row.received),
        None,
        row.sub_account_uid or "",
        row.label or "",
        row.perm_list,
        row.ip_list,
    )


def _saved(received: object) -> IssuedKey:
    """The saved part of a row that could not be read: the exchange sends the secret in it only once."""
    row: Mapping[str, object] = received if isinstance(received, Mapping) else {}
    return IssuedKey(
        str(row.get("subAccountApiKey") or row.get("apikey") or ""),
        _secret_in(row),
        None,
        str(row.get("subAccountUid") or ""),
        str(row.get("label") or ""),
    )


def masked_secrets(received: object) -> dict[str, Any]:
    """A row as the journal may hold it: enough to find the key at the exchange and delete it, too little to use it."""
    row: Mapping[str, Any] = received if isinstance(received, Mapping) else {}
    return {name: _masked(name, value) for name, value in row.items()}


def _masked(name: str, value: Any) -> Any:
    if isinstance(value, SecretStr):
        return "***"
    return _ends_of(str(value)) if name in _KEY_FIELDS and value else value


def _ends_of(key: str) -> str:
    """The first and last characters of a key, or nothing of one so short that they would be most of it."""
    return f"{key[:_ENDS]}…{key[-_ENDS:]}" if len(key) >= 4 * _ENDS else "***"


def _secret_in(row: Mapping[str, object]) -> SecretStr | None:
    """The secret as it came, whatever its type."""
    secret = row.get("secretKey") or row.get("secret")
    return secret if isinstance(secret, SecretStr) and secret.get_secret_value() not in ("", "null") else None


def _name(row: object) -> str:
    return (row.sub_account_name or "").casefold() if isinstance(row, VirtualSubaccount) else COPY_TITLE


def _undecodable_name(received: object) -> str:
    row: Mapping[str, object] = received if isinstance(received, Mapping) else {}
    return str(row.get("subAccountName") or "").casefold()
