"""Forms over the parameters of a request: their fields, and what is typed held to the request's own rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tradetui.wire.errors import InvalidRequest
from tradetui.wire.requests.parameter import Listed, Milliseconds, Parameter, Word
from tradetui.wire.requests.request import Request


@dataclass(frozen=True, slots=True)
class FormField:
    """One field, by the interface's name; `choices` are the documented words where it takes one or some of them."""

    name: str
    rule: str
    required: bool
    is_time: bool = False
    is_secret: bool = False
    choices: tuple[str, ...] = ()


def form_fields(request: type[Request[Any]], *, without: Collection[str] = ()) -> tuple[FormField, ...]:
    """The fields of a request, in the interface's order, but for the parameters left out by name."""
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
    """The values of what is typed, by field, and the rules that are broken; `read` makes a value of one text."""
    values: dict[str, Any] = {}
    problems: dict[str, InvalidRequest] = {}
    for name, text in texts.items():
        try:
            values[name] = read(request.parameters[name], text)
        except InvalidRequest as problem:
            problems[name] = problem
    return values, problems
