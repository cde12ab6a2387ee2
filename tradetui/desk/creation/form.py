"""The form to create sub-accounts and keys, checked by the requests' own rules as it is typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tradetui.desk.creation.kinds import CREATION_RULES, CreationKind, CreationRequest
from tradetui.desk.parameter_form import FormField, form_fields, read_fields
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.models.writes import CreateBatchRequest, VirtualSubaccountRequest
from tradetui.wire.requests.parameter import Listed, Parameter

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


@dataclass(frozen=True, slots=True)
class CheckedForm:
    """A checked form: the request once nothing is wrong or missing, and the problems, row by row and by field."""

    request: CreationRequest | None
    problems: tuple[Mapping[str, str], ...]
    missing: tuple[tuple[str, ...], ...]


def rows_of(kind: CreationKind) -> int:
    """How many rows the form has: as many as one request may create."""
    return CREATION_RULES[kind].most


def creation_fields(kind: CreationKind) -> tuple[FormField, ...]:
    return tuple(sorted(form_fields(CREATION_RULES[kind].row), key=lambda field: list(FIELD_TITLES).index(field.name)))


def check_form(kind: CreationKind, rows: Sequence[Mapping[str, str]]) -> CheckedForm:
    """Hold what was typed to the rules of the request; a row with nothing in it is none."""
    problems: list[dict[str, str]] = []
    missing: list[tuple[str, ...]] = []
    values: list[dict[str, Any]] = []
    places: list[int] = []
    for row_index, row in enumerate(rows):
        problems.append({})
        typed = {name: text for name, text in row.items() if text.strip()}
        lacking = tuple(field.name for field in creation_fields(kind) if field.required and field.name not in typed)
        missing.append(lacking if typed or rows_of(kind) == 1 else ())
        if typed:
            row_values, refused = read_fields(CREATION_RULES[kind].row, typed, _read)
            problems[row_index] = {name: _sentence(problem) for name, problem in refused.items()}
            values.append(row_values)
            places.append(row_index)
    request = None
    if values and not any(problems) and not any(missing):
        request = _together(kind, values, places, problems)
    return CheckedForm(request, tuple(problems), tuple(missing))


def _read(parameter: Parameter, text: str) -> Any:
    return parameter.read(_SEPARATORS.split(text.strip(" ,;\t")) if isinstance(parameter, Listed) else text)


def _sentence(problem: InvalidRequest) -> str:
    """The problem without the typed text, which may be a passphrase."""
    return f"{problem.rule}. {problem.remedy}"


def _together(
    kind: CreationKind, values: Sequence[Mapping[str, Any]], places: Sequence[int], problems: Sequence[dict[str, str]]
) -> CreationRequest | None:
    rules = CREATION_RULES[kind]
    try:
        if rules.request is CreateBatchRequest:
            return CreateBatchRequest(accounts=[VirtualSubaccountRequest(**row) for row in values])
        return rules.request(**values[0])
    except InvalidRequest as problem:
        typed = [str(row.get(problem.parameter)) for row in values]
        at = max(
            (row_index for row_index, text in zip(places, typed, strict=True) if text == problem.value),
            default=places[-1],
        )
        problems[at][problem.parameter] = _sentence(problem)
        return None
