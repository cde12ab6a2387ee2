"""What is wrong with a configuration, said so that the person who wrote it can mend it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


class ConfigurationError(Exception):
    """A setting that cannot be used.

    `location` is the file (with its line), the variable or the flag; `key` the setting; `rule` what it must be;
    `remedy` what to do.
    """

    def __init__(self, rule: str, *, location: str = "", key: str = "", remedy: str = "") -> None:
        self.rule = rule
        self.location = location
        self.key = key
        self.remedy = remedy
        where = ": ".join(part for part in (location, key) if part)
        text = f"{where}: {rule}" if where else rule
        ending = "" if text.endswith("?") else "."
        super().__init__(f"{text}{ending} {remedy}" if remedy else text)


class NoProfile(ConfigurationError):
    """No configuration at all: nothing was written and nothing is in the environment."""


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """The end of a sentence that names the known word nearest to one that is not known; empty where none is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""
