"""Values of requests, parsed without trust: plain digits of limited length, and JSON bodies of strings."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from tradetui.sandbox.api_errors import Refusal

_WHOLE: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_AMOUNT: Final = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?", re.ASCII)


def whole_number(text: str) -> int | None:
    """Parse a whole number of at most nineteen digits, such as an id or a time; None for anything else."""
    return int(text) if _WHOLE.fullmatch(text) else None


def positive_amount(text: str) -> Decimal | None:
    """Parse a positive size or price without sign or exponent; None for anything else."""
    value = Decimal(text) if _AMOUNT.fullmatch(text) else None
    return value if value else None


def parsed(body: bytes) -> Any:
    """Parse the JSON of a body; raises Refusal."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal("40017", "Parameter verification failed body") from None


def parameters(body: Any, *, lists: Container[str] = ()) -> dict[str, str]:
    """Return an object's parameters without its `lists` and empty ones; raises Refusal for one that is not text."""
    if not isinstance(body, dict):
        raise Refusal("40017", "Parameter verification failed body")
    values = {name: value for name, value in body.items() if name not in lists and value is not None}
    for name, value in values.items():
        if not isinstance(value, str):
            raise Refusal("40017", f"Parameter verification failed {name}")
    return {name: value for name, value in values.items() if value}


def required(values: Mapping[str, str], *names: str) -> None:
    """Raise Refusal if a name is missing."""
    for name in names:
        if name not in values:
            raise Refusal("40019", f"Parameter {name} cannot be empty")


def word(name: str, text: str, choices: Iterable[str]) -> str:
    """Return the choice that equals the text without case; raises Refusal."""
    choice = next((choice for choice in choices if choice.lower() == text.lower()), None)
    if choice is None:
        raise Refusal("40020", f"Parameter {name} error")
    return choice
