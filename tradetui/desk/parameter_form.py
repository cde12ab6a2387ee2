"""Forms over the parameters of a request: their fields, and the check of typed texts by the request's rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tradetui.wire.errors import InvalidRequest
from tradetui.wire.requests.parameter import Listed, Milliseconds, Parameter, Word
from tradetui.wire.requests.request import Request


@dataclass(frozen=True, slots=True)
class FormField:
    """One field, by the interface's name; `choices` are the documented values, of which it takes one or several."""

    name: str
    rule: str
    required: bool
    is_time: bool = False
    is_secret: bool = False
    choices: tuple[str, ...] = ()


def form_fields(request: type[Request[Any]], *, without: Collection[str] = ()) -> tuple[FormField, ...]:
    """Return the fields of a request in the interface's order, without some parameters."""
    return tuple(
        FormField(
            parameter.name,
            parameter.rule,
            parameter.required,
            isinstance(parameter, Milliseconds),
            parameter.secret,
            parameter.choices if isinstance(parameter, Listed | Word) else (),
        )
        for parameter in request.parameters.values()
        if parameter.name not in without
    )


def read_fields(
    request: type[Request[Any]], texts: Mapping[str, str], read: Callable[[Parameter, str], Any]
) -> tuple[dict[str, Any], dict[str, InvalidRequest]]:
    """Parse texts by field; return the values, and the errors of invalid texts. `read` parses one text."""
    values: dict[str, Any] = {}
    problems: dict[str, InvalidRequest] = {}
    for name, text in texts.items():
        try:
            values[name] = read(request.parameters[name], text)
        except InvalidRequest as problem:
            problems[name] = problem
    return values, problems
