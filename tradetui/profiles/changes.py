"""The differences between a profile now and at the start of the session, and when each takes effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Final

from pydantic import BaseModel

from tradetui.profiles.model import Profile

SCREEN_SETTINGS: Final = frozenset({"theme", "timezone", "figures", "mouse", "reduced_motion", "keys"})
ALERTS: Final = "alerts"
"""The alert rules, which take effect as soon as they are read. A change of the command or its rate needs a restart."""
_MAXIMA: Final = ("max_reversal_size", "max_reversal_value", "typed_above")
_UNSPOKEN: Final = frozenset({"proxy", "store", "credentials", "alert_command", "alerts"})
"""Settings that may hold a secret or lead to one, or hold a long list: only their names are reported."""
_NOT_SET: Final = "not set"


class Effect(StrEnum):
    """When a changed setting takes effect in a running session."""

    NOW = "now"
    STRICTER_NOW = "stricter"
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One changed setting; `before` and `after` are written as in a configuration, without secrets."""

    key: str
    before: str
    after: str
    effect: Effect

    def __str__(self) -> str:
        return f"{self.key}: {self.after}, was {self.before}" if self.before or self.after else f"{self.key} changed"


@dataclass(frozen=True, slots=True)
class Reconfigured:
    """The settings a session continues with: `profile` is never looser than at its start."""

    profile: Profile
    changes: tuple[SettingChange, ...]
    no_symbol_left: bool = False
    """True if no symbol is allowed both before and after; the session then only reads until a restart."""


def reconfigured(opened: Profile, configured: Profile) -> Reconfigured:
    """Return the settings a running session continues with after its configuration was read again.

    The screen's settings, the alert rules and every stricter limit take effect at once. A looser mode or limit, and
    every other setting, are reported as changes that need a restart.
    """
    changes = tuple(_changes(opened, configured))
    taken = {name: getattr(configured, name) for name in SCREEN_SETTINGS | {ALERTS}}
    for change in changes:
        if change.effect is Effect.STRICTER_NOW:
            taken[change.key] = getattr(configured, change.key)
    if opened.max_reversal_value is None and "max_reversal_value" in taken:
        # Without a maximum every LIVE reversal is confirmed by typing. A new maximum would end that.
        taken["typed_above"] = Decimal(0)
        changes = tuple(
            replace(change, effect=Effect.RESTART) if change.key == "typed_above" else change for change in changes
        )
    kept = tuple(symbol for symbol in opened.symbols if symbol in configured.symbols)
    none_left = bool(opened.symbols and configured.symbols) and not kept
    if none_left:
        # An empty list would allow every symbol.
        taken |= {"symbols": opened.symbols, "mode": "monitor"}
    elif opened.symbols and configured.symbols:
        taken["symbols"] = kept
    return Reconfigured(opened.model_copy(update=taken), changes, none_left)


def _changes(opened: Profile, configured: Profile) -> Iterator[SettingChange]:
    for name in Profile.model_fields:
        before, after = getattr(opened, name), getattr(configured, name)
        if before == after:
            continue
        if name == "symbols":
            yield from _symbol_changes(opened.symbols, configured.symbols)
        elif name in _UNSPOKEN:
            yield SettingChange(name, "", "", Effect.NOW if name == ALERTS else Effect.RESTART)
        elif isinstance(before, BaseModel):
            for field, setting in before:
                if setting != (changed := getattr(after, field)):
                    yield SettingChange(f"{name}.{field}", _text(setting), _text(changed), Effect.RESTART)
        else:
            yield SettingChange(name, _text(before), _text(after), _effect(name, before, after))


def _effect(name: str, before: object, after: object) -> Effect:
    if name in SCREEN_SETTINGS:
        return Effect.NOW
    if name == "mode":
        return Effect.STRICTER_NOW if after == "monitor" else Effect.RESTART
    if name == "account_admin":
        return Effect.RESTART if after else Effect.STRICTER_NOW
    if name in _MAXIMA and isinstance(after, Decimal) and (not isinstance(before, Decimal) or after < before):
        return Effect.STRICTER_NOW
    return Effect.RESTART


def _symbol_changes(before: tuple[str, ...], after: tuple[str, ...]) -> Iterator[SettingChange]:
    """Removed symbols take effect at once, added symbols after a restart; an empty list allows every symbol."""
    removed = bool(after) and (not before or not set(before) <= set(after))
    added = bool(before) and (not after or not set(after) <= set(before))
    for applies, effect in ((removed, Effect.STRICTER_NOW), (added, Effect.RESTART)):
        if applies:
            yield SettingChange("symbols", _text(before), _text(after), effect)


def _text(value: object) -> str:
    if value is None:
        return _NOT_SET
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return " and ".join(f"{name} {setting}" for name, setting in value.items()) or _NOT_SET
    if isinstance(value, tuple | list | frozenset):
        return ", ".join(map(_text, value)) or "all"
    return str(value)
