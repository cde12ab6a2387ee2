"""The kinds of creations, with the rules of each, and the status of one that was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from pydantic import SecretStr

from tradetui.desk.intents.states import State
from tradetui.wire.models.writes import (
    MOST_PER_REQUEST,
    CreateBatchRequest,
    CreateCopyKeyRequest,
    CreateSubaccountRequest,
    VirtualSubaccountRequest,
)
from tradetui.wire.requests.request import Request

CreationRequest: TypeAlias = CreateBatchRequest | CreateSubaccountRequest | CreateCopyKeyRequest
COPY_TITLE: Final = "copy-trading"


class CreationKind(StrEnum):
    """The kinds of creations; the values are the journal's kinds."""

    SUBACCOUNTS = "create-subaccounts"
    BROKER_SUBACCOUNT = "create-broker-subaccount"
    COPY_KEY = "create-copy-key"

    @property
    def gives_keys(self) -> bool:
        """Whether the exchange answers with a key, whose passphrase the request carries."""
        return any(parameter.secret for parameter in CREATION_RULES[self].row.parameters())


@dataclass(frozen=True, slots=True)
class CreationRules:
    """The rules of one kind: its request, the request of one row of its form, and who may have it.

    `authority` is the exchange's name of the permission, where it reports a key's (GET /api/v2/spot/account/info);
    `account_kind` the kind of account it is for, None where any may have it; `most` how many one request creates.
    """

    request: type[CreationRequest]
    row: type[Request[Any]]
    authority: str
    account_kind: str | None = None
    most: int = 1


CREATION_RULES: Final[Mapping[CreationKind, CreationRules]] = {
    CreationKind.SUBACCOUNTS: CreationRules(
        CreateBatchRequest, VirtualSubaccountRequest, "chow", most=MOST_PER_REQUEST
    ),
    CreationKind.BROKER_SUBACCOUNT: CreationRules(CreateSubaccountRequest, CreateSubaccountRequest, "chow", "broker"),
    CreationKind.COPY_KEY: CreationRules(CreateCopyKeyRequest, CreateCopyKeyRequest, "ttow", "copy_trader"),
}


def kind_of(request: CreationRequest) -> CreationKind:
    return next(kind for kind, rules in CREATION_RULES.items() if isinstance(request, rules.request))


@dataclass(frozen=True, slots=True)
class RequestedKey:
    """A key to be requested: its title, and the passphrase chosen for it."""

    title: str
    passphrase: SecretStr
    label: str = ""


def requested_keys_of(request: CreationRequest) -> tuple[RequestedKey, ...]:
    """The keys that a request asks for; a broker's sub-account has none."""
    if isinstance(request, CreateCopyKeyRequest):
        return (RequestedKey(COPY_TITLE, request.passphrase),)
    if isinstance(request, CreateSubaccountRequest):
        return ()
    return tuple(
        RequestedKey(account.sub_account_name, account.passphrase, account.label) for account in request.accounts
    )


@dataclass(frozen=True, slots=True)
class CreatedItem:
    """The result for a requested sub-account or key; `entry` names it in the key store, `good` is None in doubt."""

    title: str
    sentence: str
    good: bool | None
    entry: str | None = None


@dataclass(frozen=True, slots=True)
class CreationStatus:
    """The status of a creation: its state and its meaning, the next step, and a row per sub-account or key.

    `kept` is whether every issued key is on disk; one that is not is in memory, and can be saved again.
    """

    intent: str
    kind: CreationKind
    state: State
    sentence: str
    next: str = ""
    rows: tuple[CreatedItem, ...] = ()
    kept: bool = True


def title_of(request: CreationRequest) -> str:
    if isinstance(request, CreateBatchRequest):
        return f"create sub-accounts with keys: {', '.join(titles_of(request))}"
    if isinstance(request, CreateSubaccountRequest):
        return f"create broker sub-account: {request.subaccount_name}"
    return "create the copy-trading key"


def titles_of(request: CreationRequest) -> tuple[str, ...]:
    if isinstance(request, CreateSubaccountRequest):
        return (request.subaccount_name,)
    return tuple(requested_key.title for requested_key in requested_keys_of(request))


def requested_names(journalled: object) -> tuple[str, ...]:
    """The names of the sub-accounts in a request as the journal has it; none of a request for another kind."""
    rows = journalled if isinstance(journalled, list) else []
    return tuple(str(row.get("subAccountName", "")) for row in rows)


def what_to_do(kind: CreationKind, names: Sequence[str]) -> str:
    """The doubt after a lost reply, where to look for these sub-accounts, and the next steps there."""
    if kind is CreationKind.BROKER_SUBACCOUNT:
        return (
            "The sub-account may exist. Check the broker's sub-accounts on the exchange's site, then release this. "
            "tradetui never sends it again by itself."
        )
    if kind is CreationKind.COPY_KEY:
        return (
            "A copy-trading key may exist that tradetui never received, and its secret cannot be read again. Look "
            "under API management on the exchange's site, delete the key if it is there, then release this."
        )
    return (
        "Keys may exist that tradetui never received, and their secrets cannot be read again. Look for "
        f"{', '.join(names)} under sub-accounts on the exchange's site, delete the API keys there (the sub-accounts "
        "stay), then release this."
    )
