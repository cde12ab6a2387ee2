"""Reads TOML that a person or this program wrote; whatever the file holds, the only error is one that says what is
wrong.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

_LARGEST_BYTES: Final = 1 << 20
_DEEPEST: Final = 50


class NotToml(ValueError):
    """The text is not usable TOML; the message says why and, if known, in which line."""


def read_toml(file: Path) -> dict[str, Any]:
    """Return the values in a file of at most 1 MiB; raises NotToml, or OSError if the file cannot be read."""
    return parse_toml(read_utf8(file))


def read_utf8(file: Path) -> str:
    """Return the text of a file of at most 1 MiB with its line ends unchanged; raises NotToml or OSError."""
    with file.open("rb") as stream:
        content = stream.read(_LARGEST_BYTES + 1)
    if len(content) > _LARGEST_BYTES:
        raise NotToml("it is larger than 1 MiB")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise NotToml(f"not UTF-8 text (at line {line})") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Return the values in a text, nested at most 50 deep; raises NotToml."""
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise NotToml("its brackets are nested too deeply") from None
    except ValueError as problem:  # from tomllib, or from a number with thousands of digits
        raise NotToml(str(problem)) from None
    level: list[Any] = [values]
    for _ in range(_DEEPEST):
        inner_values = (inner for value in level for inner in (value.values() if isinstance(value, dict) else value))
        level = [inner for inner in inner_values if isinstance(inner, dict | list)]
        if not level:
            return values
    raise NotToml("its tables are nested too deeply")
