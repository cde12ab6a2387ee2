"""Finds the line a key stands on, since the standard TOML reader does not tell it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TABLE = re.compile(r"^\s*\[\[?\s*(?P<name>[^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*(?P<name>[A-Za-z0-9_.\"'-]+)\s*=")


def line_of(text: str, path: Sequence[str]) -> int | None:
    """Return the 1-based line of the key at `path` in a TOML text, or of its nearest parent there is."""
    best: tuple[int, int] | None = None
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = _split(header["name"])
            key_path = table
        elif key := _KEY.match(line):
            key_path = [*table, *_split(key["name"])]
        else:
            continue
        depth = len(key_path)
        if list(path[:depth]) == key_path and (best is None or depth > best[0]):
            best = (depth, number)
    return best[1] if best else None


def _split(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]
