"""Explains a setting that breaks its rule: its name, the rule and its meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tradetui.profiles.alert_entry import AlertRule
from tradetui.profiles.errors import BrokenSetting, ConfigurationError, did_you_mean
from tradetui.profiles.model import CredentialSource, Intervals, Profile

_TABLES: Final[Mapping[str, type[BaseModel]]] = {
    "alerts": AlertRule,
    "credentials": CredentialSource,
    "intervals": Intervals,
}
_RULES: Final[Mapping[str, str]] = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "path_type": "must be a path in quotes",
    "string_type": "must be text in quotes",
    "too_short": "must not be empty",
    "tuple_type": "must be a list in brackets",
    **dict.fromkeys(("float_parsing", "float_type", "int_from_float", "int_parsing", "int_type"), "must be a number"),
    **dict.fromkeys(("decimal_parsing", "decimal_type"), "must be a number"),
}
"""Rules in the terms of TOML, by pydantic's error type; pydantic's own messages are for programmers."""


def explained(broken: BrokenSetting, location: str) -> ConfigurationError:
    """Make the error that names the setting, its rule and the next step; `location` is where it was given."""
    path = broken.path
    top = path[0] if path else ""
    refused = partial(ConfigurationError, location=location, key=".".join(path))
    if broken.kind == "extra_forbidden":
        model = (_TABLES.get(path[0]) if _fields_within(path) else None) or Profile
        known = list(model.model_fields)
        return refused("unknown key" + did_you_mean(path[-1], known), remedy=f"Known keys: {', '.join(known)}.")
    if broken.kind == "missing":
        remedy = 'For example base_url = "https://api.bitget.com".' if top == "base_url" else "Add it."
        return refused("is required", remedy=remedy)
    rule = broken.rule.removeprefix("Value error, ").replace("Input should be", "must be", 1)
    rule, setting = _RULES.get(broken.kind, rule), _setting(top, path)
    if broken.kind == "string_pattern_mismatch" and setting is not None and setting.title:
        rule = f"must be {setting.title}"
    meaning = f"It means: {setting.description}." if setting is not None and setting.description else ""
    return refused(rule[:1].lower() + rule[1:], remedy=meaning)


def _setting(top: str, path: Sequence[str]) -> FieldInfo | None:
    table, fields = _TABLES.get(top), _fields_within(path)
    if table is not None and fields and fields[0] in table.model_fields:
        return table.model_fields[fields[0]]
    return Profile.model_fields.get(top)


def _fields_within(path: Sequence[str]) -> list[str]:
    """Return the keys of a path below its first key, without the index of a list entry."""
    return [part for part in path[1:] if not part.isdecimal()]
