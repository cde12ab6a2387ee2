"""JSON text in and out without loss: numbers keep all their digits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from pydantic import SecretStr

_LONGEST_NUMBER: Final = 100
"""A number with more characters, or with more leading or trailing zeros, is not a figure of an exchange."""


class RepeatedName(ValueError):
    """An object has a repeated name: it is not known which value counts."""


def _decimal(text: str) -> Decimal | str:
    """Parse a number with a point or an exponent exactly; one of absurd size stays text.

    pydantic expands such a Decimal digit by digit into a whole number, which never ends for 1E+999999999.
    """
    if len(text) > _LONGEST_NUMBER:
        return text
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    return number if number.is_finite() and abs(number.adjusted()) <= _LONGEST_NUMBER else text


def _integer(text: str) -> int | str:
    return int(text) if len(text) <= _LONGEST_NUMBER else text


def _object_of(members: list[tuple[str, Any]]) -> dict[str, Any]:
    by_name = dict(members)
    if len(by_name) < len(members):
        raise RepeatedName
    return by_name


# NaN and Infinity, which are not JSON, stay text.
_DECODER: Final = json.JSONDecoder(parse_float=_decimal, parse_constant=str)
# Python refuses whole numbers of more than 4,300 digits; our own function for every number would slow all parsing.
_LONG_INTEGERS: Final = json.JSONDecoder(parse_float=_decimal, parse_int=_integer, parse_constant=str)
_UNIQUE_NAMES: Final = json.JSONDecoder(
    parse_float=_decimal, parse_int=_integer, parse_constant=str, object_pairs_hook=_object_of
)
# Writes rows of plain text, which nearly all are, at full speed; it refuses any other type.
_PLAIN: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


def load_json(text: str, *, unique_names: bool = False) -> Any:
    """Parse a JSON text; if an object has a name twice, the last value counts.

    With `unique_names`, which takes twice as long, such an object raises RepeatedName, a ValueError.

    Raises:
        ValueError, RecursionError: the text is not JSON, or nested too deeply.
    """
    if unique_names:
        return _UNIQUE_NAMES.decode(text)
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return _LONG_INTEGERS.decode(text)


def dump_json(value: object) -> str:
    """Write a received value as compact JSON: Decimal as the number it was, secrets as `***`, text unescaped."""
    try:
        text = _PLAIN.encode(value)
        text.encode()
        return text
    except (TypeError, UnicodeEncodeError, RecursionError):
        pass
    try:
        return _written(value)
    except RecursionError:
        return '"nested too deeply"'


def _written(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, Decimal)):
        return str(value)
    if isinstance(value, SecretStr):
        return '"***"'
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_text(str(key))}:{_written(member)}" for key, member in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_written, value)) + "]"
    return json.dumps(value, ensure_ascii=False, default=str)


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        return json.dumps(text)
    return json.dumps(text, ensure_ascii=False)
