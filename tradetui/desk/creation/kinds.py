"""What can be created, and what became of it, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from tradetui.desk.creation.issued_keys import requested_keys_of
from tradetui.desk.creation.key_store import IssuedKey
from tradetui.desk.intents.journal import State
from tradetui.wire.models.broker import CreateSubaccountRequest
from tradetui.wire.models.copytrading import CreateCopyKeyRequest
from tradetui.wire.models.subaccounts import CreateBatchRequest

CreationRequest: TypeAlias = CreateBatchRequest | CreateSubaccountRequest | CreateCopyKeyRequest


class CreationKind(StrEnum):
    """What can be created; the values are the journal's kinds."""

    SUBACCOUNTS = "create-subaccounts"
    BROKER_SUBACCOUNT = "create-broker-subaccount"
    COPY_KEY = "create-copy-key"


KINDS: Final[Mapping[type, CreationKind]] = {
    CreateBatchRequest: CreationKind.SUBACCOUNTS,
    CreateSubaccountRequest: CreationKind.BROKER_SUBACCOUNT,
    CreateCopyKeyRequest: CreationKind.COPY_KEY,
}
ENDPOINTS: Final[Mapping[CreationKind, str]] = {
    CreationKind.SUBACCOUNTS: "subaccounts.create_batch",
    CreationKind.BROKER_SUBACCOUNT: "broker.create_subaccount",
    CreationKind.COPY_KEY: "copytrading.create_api_key",
}
"""By the catalogue's names."""


class NotWritten(Exception):
    """A profile that could not be made of a key; one sentence and what to do."""


@dataclass(frozen=True, slots=True)
class CreatedItem:
    """What became of one of the things asked for; `entry` is its name in the key store, `good` None while in doubt."""

    title: str
    sentence: str
    good: bool | None
    entry: str | None = None


@dataclass(frozen=True, slots=True)
class CreationStatus:
    """Where a creation stands: its state, what that means, what to do next, and a row for each thing asked for.

    `kept` is whether everything that was told is on disk; while it is not, it is in memory and can be kept again.
    """

    intent: str
    kind: CreationKind
    state: State
    sentence: str
    next: str = ""
    rows: tuple[CreatedItem, ...] = ()
    kept: bool = True


def lock_key(kind: CreationKind) -> str:
    """What one open intent locks: one creation of a kind at a time."""
    return str(kind)


def title_of(request: CreationRequest) -> str:
    """A request in a few words."""
    if isinstance(request, CreateBatchRequest):
        return f"create sub-accounts with keys: {', '.join(titles_of(request))}"
    if isinstance(request, CreateSubaccountRequest):
        return f"create broker sub-account: {request.subaccount_name}"
    return "create the copy-trading key"


def titles_of(request: CreationRequest) -> tuple[str, ...]:
    """The names of what a request asks for."""
    if isinstance(request, CreateSubaccountRequest):
        return (request.subaccount_name,)
    return tuple(requested_key.title for requested_key in requested_keys_of(request))


def what_to_do(kind: CreationKind, title: str) -> str:
    """What is in doubt after a lost reply, where to look, and what to do there."""
    if kind is CreationKind.BROKER_SUBACCOUNT:
        return (
            "The sub-account may exist. Look among the broker's sub-accounts on the exchange's site; whatever is "
            "there, release this afterwards. It is never sent again by itself."
        )
    if kind is CreationKind.COPY_KEY:
        return (
            "A copy-trading key may exist that was never seen, and its secret cannot be read again. Look under API "
            "management on the exchange's site, delete the key if it is there, then release this."
        )
    names = title.removeprefix("create sub-accounts with keys: ")
    return (
        f"Keys may exist that were never seen, and their secrets cannot be read again. Look for {names} under "
        "sub-accounts on the exchange's site, delete the API keys there (the sub-accounts stay), then release this."
    )


def made_row(title: str, issued_key: IssuedKey | None, name: str) -> CreatedItem:
    """What became of a key asked for, of which this was told and kept under this name."""
    if issued_key is None:
        return CreatedItem(title, "not in the reply: it may have been created", None)
    uid = f": uid {issued_key.uid}" if issued_key.uid else ""
    if not issued_key.api_key or issued_key.secret is None:
        missing = "API key" if not issued_key.api_key else "secret"
        return CreatedItem(
            title, f"created{uid}, but its {missing} was not told; delete its key and make another", False, name
        )
    return CreatedItem(title, f"created{uid}, key kept as {name}", True, name)
