"""Says which setting of a profile breaks its rule, what the rule is and what the setting means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from pydantic import BaseModel, ValidationError

from tradetui.profiles.alert_rules import AlertRule, WrongAlert
from tradetui.profiles.errors import ConfigurationError, did_you_mean
from tradetui.profiles.model import CredentialSource, Intervals, Profile

_TABLES: Final[Mapping[str, type[BaseModel]]] = {
    "alerts": AlertRule,
    "credentials": CredentialSource,
    "intervals": Intervals,
}
"""The models of the tables within a profile."""


class BrokenSetting(NamedTuple):
    """A setting by its path within the profile, pydantic's name of what is wrong, and the rule in words."""

    path: Sequence[str]
    kind: str
    rule: str


def first_broken(problem: ValidationError) -> BrokenSetting:
    """The first setting that pydantic names; of alerts the one within the list."""
    first = problem.errors(include_url=False)[0]
    path = [str(part) for part in first["loc"]]
    cause = first.get("ctx", {}).get("error")
    if path == ["alerts"] and isinstance(cause, WrongAlert):
        return BrokenSetting([*path, *cause.path], cause.kind, cause.rule)
    return BrokenSetting(path, first["type"], first["msg"])


def explained(broken: BrokenSetting, location: str) -> ConfigurationError:
    """The error that names the setting, its rule and what to do; `location` is where it was given."""
    path = broken.path
    top, key = path[0] if path else "", ".".join(path)
    if broken.kind == "extra_forbidden":
        known = _known_keys(path)
        return ConfigurationError(
            "unknown key" + did_you_mean(path[-1], known),
            location=location,
            key=key,
            remedy=f"Known keys: {', '.join(known)}.",
        )
    if broken.kind == "missing":
        return ConfigurationError(
            "is required",
            location=location,
            key=key,
            remedy='For example base_url = "https://api.bitget.com".' if key == "base_url" else "Add it.",
        )
    rule = broken.rule.removeprefix("Value error, ")
    return ConfigurationError(rule[:1].lower() + rule[1:], location=location, key=key, remedy=_meaning(top, path))


def _meaning(top: str, path: Sequence[str]) -> str:
    setting = Profile.model_fields.get(top)
    table, fields = _TABLES.get(top), _fields_within(path)
    if table is not None and fields and fields[0] in table.model_fields:
        setting = table.model_fields[fields[0]]
    return f"It means: {setting.description}." if setting and setting.description else ""


def _fields_within(path: Sequence[str]) -> list[str]:
    """What a path names within its first key, without the numbers of a list's entries."""
    return [part for part in path[1:] if not part.isdecimal()]


def _known_keys(path: Sequence[str]) -> list[str]:
    model = (_TABLES.get(path[0]) if _fields_within(path) else None) or Profile
    return list(model.model_fields)
