"""Errors of a configuration, worded so that its author can correct them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pydantic import ValidationError


class ConfigurationError(Exception):
    """A setting cannot be used.

    `location` is its file (with the line), variable or flag; `key` the setting; `rule` the rule it breaks; `remedy` the
    next step.
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
    """There is no configuration, neither in a file nor in the environment."""


class BrokenSetting(NamedTuple):
    """A setting by its path within its table, pydantic's error type, and the rule in words."""

    path: tuple[str, ...]
    kind: str
    rule: str


class BrokenEntry(ValueError):
    """An entry of a list breaks a rule of its own; the path of `setting` begins with the entry's index."""

    def __init__(self, setting: BrokenSetting) -> None:
        super().__init__(setting.rule)
        self.setting = setting


def first_broken(problem: ValidationError) -> BrokenSetting:
    """Return the error to report: the first, or an unknown key in its table, which may be a misspelling of it."""
    first, *others = problem.errors(include_url=False)
    table = first["loc"][:-1]
    unknown = (error for error in others if error["type"] == "extra_forbidden" and error["loc"][:-1] == table)
    first = next(unknown, first)
    path = tuple(map(str, first["loc"]))
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, BrokenEntry):
        return cause.setting._replace(path=path + cause.setting.path)
    return BrokenSetting(path, first["type"], first["msg"])


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Return the end of a sentence that suggests the known word nearest to `word`; empty if none is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""
