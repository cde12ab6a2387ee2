"""Bodies of writes: JSON read without trust, every parameter a string."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tradetui.sandbox.api_errors import Refusal


def parsed(body: bytes) -> Any:
    """The JSON value of a body; raises Refusal."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal("40017", "Parameter verification failed body") from None


def parameters(given: Any) -> dict[str, str]:
    """The parameters of an object, empty ones left out; raises Refusal for anything that is not a string."""
    if not isinstance(given, dict):
        raise Refusal("40017", "Parameter verification failed body")
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise Refusal("40017", f"Parameter verification failed {name}")
    return {name: value for name, value in given.items() if value}


def required(values: Mapping[str, str], *names: str) -> None:
    """Refuse where one of the names is not given."""
    for name in names:
        if name not in values:
            raise Refusal("40019", f"Parameter {name} cannot be empty")


def word(values: Mapping[str, str], name: str, *choices: str) -> str | None:
    """The one of the words that is given, in lower case; None where none is; raises Refusal for another."""
    given = values.get(name)
    if given is not None and given.lower() not in choices:
        raise Refusal("40020", f"Parameter {name} error")
    return given.lower() if given is not None else None
