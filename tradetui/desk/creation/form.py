"""What a person fills in to create sub-accounts and keys, held to the requests' own rules as it is typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tradetui.desk.creation.kinds import RULES, CreationKind, CreationRequest
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.models.broker import CreateSubaccountRequest
from tradetui.wire.models.copytrading import CreateCopyKeyRequest
from tradetui.wire.models.subaccounts import CreateBatchRequest, VirtualSubaccountRequest
from tradetui.wire.requests.parameter import Listed, Parameter
from tradetui.wire.requests.request import Request

_SEPARATORS: Final = re.compile(r"[\s,;]+")
_TITLES: Final[Mapping[str, str]] = {
    "subAccountName": "Name",
    "subaccountName": "E-mail address",
    "passphrase": "Passphrase",
    "label": "Note",
    "permList": "Permissions",
    "ipList": "IP addresses",
}
_ORDER: Final = ("subAccountName", "subaccountName", "passphrase", "label", "permList", "ipList")


@dataclass(frozen=True, slots=True)
class FormField:
    """One field: the interface's name, a title, its rule, and the words there are to choose from."""

    name: str
    title: str
    rule: str
    required: bool
    secret: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedForm:
    """What was typed: the request once nothing is wrong or missing, and what is, row by row and by field."""

    request: CreationRequest | None
    problems: tuple[Mapping[str, str], ...]
    missing: tuple[tuple[str, ...], ...]


def rows_of(kind: CreationKind) -> int:
    """How many rows the form has: as many as one request may create."""
    return RULES[kind].most


def fields_of(kind: CreationKind) -> tuple[FormField, ...]:
    """The fields of a row, as the request has them."""
    parameters = sorted(RULES[kind].row.parameters(), key=lambda parameter: _ORDER.index(parameter.name))
    return tuple(_field(parameter) for parameter in parameters)


def _field(parameter: Parameter) -> FormField:
    choices = parameter.choices if isinstance(parameter, Listed) else ()
    return FormField(
        parameter.name, _TITLES[parameter.name], parameter.rule, parameter.required, parameter.secret, choices
    )


def checked(kind: CreationKind, rows: Sequence[Mapping[str, str]]) -> CheckedForm:
    """Hold what was typed to the rules of the request; a row with nothing in it is none."""
    problems: list[dict[str, str]] = []
    missing: list[tuple[str, ...]] = []
    values: list[dict[str, Any]] = []
    places: list[int] = []
    for row_index, row in enumerate(rows):
        problems.append({})
        given = {name: text for name, text in row.items() if text.strip()}
        lacking = tuple(field.name for field in fields_of(kind) if field.required and field.name not in given)
        missing.append(lacking if given or kind is not CreationKind.SUBACCOUNTS else ())
        if given:
            values.append(_read(RULES[kind].row, given, problems[row_index]))
            places.append(row_index)
    request = None
    if values and not any(problems) and not any(missing):
        request = _together(kind, values, places, problems)
    return CheckedForm(request, tuple(problems), tuple(missing))


def _read(row: type[Request[Any]], given: Mapping[str, str], problems: dict[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, text in given.items():
        parameter = row.parameter(name)
        try:
            value = _SEPARATORS.split(text.strip(" ,;\t")) if isinstance(parameter, Listed) else text
            values[name] = parameter.read(value)
        except InvalidRequest as problem:
            problems[name] = f"{problem.rule}. {problem.remedy}"
    return values


def _together(
    kind: CreationKind, values: Sequence[Mapping[str, Any]], places: Sequence[int], problems: Sequence[dict[str, str]]
) -> CreationRequest | None:
    try:
        if kind is CreationKind.SUBACCOUNTS:
            return CreateBatchRequest(accounts=[VirtualSubaccountRequest(**row) for row in values])
        if kind is CreationKind.BROKER_SUBACCOUNT:
            return CreateSubaccountRequest(**values[0])
        return CreateCopyKeyRequest(**values[0])
    except InvalidRequest as problem:
        typed = [str(row.get(problem.parameter)) for row in values]
        at = max(
            (row_index for row_index, text in zip(places, typed, strict=True) if text == problem.value),
            default=places[-1],
        )
        problems[at][problem.parameter] = f"{problem.rule}. {problem.remedy}"
        return None
