"""Finds the line a key stands on, since the standard TOML reader does not tell it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_TABLE = re.compile(r"^\s*(?P<brackets>\[\[?)\s*(?P<name>[^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*(?P<name>[A-Za-z0-9_.\"'-]+)\s*=")


def line_of(text: str, path: Sequence[str]) -> int | None:
    """Return the 1-based line of the key at `path` in a TOML text, or of its nearest parent there is.

    An entry of a list of tables is named by its number, from 0.
    """
    best: tuple[int, int] | None = None
    table: list[str] = []
    entries: Counter[str] = Counter()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = _split(header["name"])
            if header["brackets"] == "[[":
                table.append(str(entries[header["name"]]))
                entries[header["name"]] += 1
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
