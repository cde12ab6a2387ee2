"""The kinds of creations, each with the rules of its request and form.

A problem never repeats typed text: it may be a passphrase.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from pydantic import SecretStr

from tradetui.desk.intents.states import State
from tradetui.desk.parameter_form import FormField, form_fields, read_fields
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.models.subaccounts import (
    MOST_PER_REQUEST,
    CreateBatchRequest,
    CreateCopyKeyRequest,
    CreateSubaccountRequest,
    VirtualSubaccountRequest,
)
from tradetui.wire.requests.parameter import Listed, Parameter
from tradetui.wire.requests.request import Request

CreationRequest: TypeAlias = CreateBatchRequest | CreateSubaccountRequest | CreateCopyKeyRequest
COPY_TITLE: Final = "copy-trading"
_SEPARATORS: Final = re.compile(r"[\s,;]+")
FIELD_TITLES: Final[Mapping[str, str]] = {
    "subAccountName": "Name",
    "subaccountName": "E-mail address",
    "passphrase": "Passphrase",
    "label": "Note",
    "permList": "Permissions",
    "ipList": "IP addresses",
}
"""Labels of the fields, in the order of the form."""


class CreationKind(StrEnum):
    """The kinds of creations; the values are the journal's kinds."""

    SUBACCOUNTS = "create-subaccounts"
    BROKER_SUBACCOUNT = "create-broker-subaccount"
    COPY_KEY = "create-copy-key"

    @property
    def gives_keys(self) -> bool:
        """Whether the exchange answers with a key, whose passphrase is in the request."""
        return any(parameter.secret for parameter in CREATION_RULES[self].row.parameters.values())


@dataclass(frozen=True, slots=True)
class CreationRules:
    """The rules of one kind: its request, the request of one form row, and who may use it.

    `authority` is the exchange's name of the permission, as reported by GET /api/v2/spot/account/info; `account_kind`
    the required kind of account, None if any will do; `most` how many one request creates.
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
    """Return the keys that a request asks for; a broker's sub-account has none."""
    if isinstance(request, CreateCopyKeyRequest):
        return (RequestedKey(COPY_TITLE, request.passphrase),)
    if isinstance(request, CreateSubaccountRequest):
        return ()
    return tuple(
        RequestedKey(account.sub_account_name, account.passphrase, account.label) for account in request.accounts
    )


@dataclass(frozen=True, slots=True)
class CheckedForm:
    """A checked form: the request if every field is valid, and the problems and missing fields, row by row."""

    request: CreationRequest | None
    problems: tuple[Mapping[str, str], ...]
    missing: tuple[tuple[str, ...], ...]


def rows_of(kind: CreationKind) -> int:
    """Return how many rows the form has: as many as one request may create."""
    return CREATION_RULES[kind].most


def creation_fields(kind: CreationKind) -> tuple[FormField, ...]:
    return tuple(sorted(form_fields(CREATION_RULES[kind].row), key=lambda field: list(FIELD_TITLES).index(field.name)))


def check_form(kind: CreationKind, rows: Sequence[Mapping[str, str]]) -> CheckedForm:
    """Check typed text by the rules of the request; an empty row is ignored."""
    problems: list[dict[str, str]] = []
    missing: list[tuple[str, ...]] = []
    values: list[dict[str, Any]] = []
    filled_rows: list[int] = []
    for row_index, row in enumerate(rows):
        problems.append({})
        typed = {name: text for name, text in row.items() if text.strip()}
        lacking = tuple(field.name for field in creation_fields(kind) if field.required and field.name not in typed)
        missing.append(lacking if typed or rows_of(kind) == 1 else ())
        if typed:
            row_values, refused = read_fields(CREATION_RULES[kind].row, typed, _read_parameter)
            problems[row_index] = {name: _problem_sentence(problem) for name, problem in refused.items()}
            values.append(row_values)
            filled_rows.append(row_index)
    request = None
    if values and not any(problems) and not any(missing):
        try:
            request = _request_of(kind, values)
        except InvalidRequest as problem:
            texts = [str(row.get(problem.parameter)) for row in values]
            refused_rows = [row for row, text in zip(filled_rows, texts, strict=True) if text == problem.value]
            problems[max(refused_rows, default=filled_rows[-1])][problem.parameter] = _problem_sentence(problem)
    return CheckedForm(request, tuple(problems), tuple(missing))


def _read_parameter(parameter: Parameter, text: str) -> Any:
    return parameter.read(_SEPARATORS.split(text.strip(" ,;\t")) if isinstance(parameter, Listed) else text)


def _problem_sentence(problem: InvalidRequest) -> str:
    return f"{problem.rule}. {problem.remedy}"


def _request_of(kind: CreationKind, rows: Sequence[Mapping[str, Any]]) -> CreationRequest:
    if CREATION_RULES[kind].request is CreateBatchRequest:
        return CreateBatchRequest(accounts=[VirtualSubaccountRequest(**row) for row in rows])
    return CREATION_RULES[kind].request(**rows[0])


@dataclass(frozen=True, slots=True)
class CreatedItem:
    """The result for a requested sub-account or key; `entry` is its name in the key store; `good` is None in doubt."""

    title: str
    sentence: str
    good: bool | None
    entry: str | None = None


@dataclass(frozen=True, slots=True)
class CreationStatus:
    """The status of a creation: its state and meaning, the next step, and a row for each sub-account or key.

    `kept` means that every issued key is on disk; an unsaved key is in memory and can be saved again.
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
    """Return the names of the sub-accounts in a journalled request; none for another kind."""
    rows = journalled if isinstance(journalled, list) else []
    return tuple(str(row.get("subAccountName", "")) for row in rows)


def what_to_do(kind: CreationKind, names: Sequence[str]) -> str:
    """Return the remedy after a lost reply: what may exist, where to look for it, and the next steps there."""
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
