"""A profile's own keys: which are in force, and why the others are not."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from tradetui.ui.key_bindings.binding_registry import (
    BINDING_OF_ID,
    BINDINGS,
    EVERYWHERE,
    KeyBinding,
    bound_keys,
    shown_keys,
)
from tradetui.ui.key_bindings.textual_bindings import is_key_name, long_name

RENAMED: Final[Mapping[str, str]] = {"ask": "query", "live_stops": "view"}
"""Former ids of bindings that profiles may still contain, with their present ids."""
_SPELLING: Final = "Write one character, or a name such as f5, space, pageup, ctrl+k; several with commas."


class KeyTrouble(NamedTuple):
    """A line of the profile's `keys` that is not taken: its id, the reason, and the remedy."""

    id: str
    rule: str
    remedy: str

    def __str__(self) -> str:
        return f"keys.{self.id} {self.rule}. {self.remedy}"


class ProfileBindings(NamedTuple):
    """`taken` are the changed keys in force, by id; `troubles` the reasons against the others."""

    taken: Mapping[str, str]
    troubles: tuple[KeyTrouble, ...]


def profile_bindings(changed: Mapping[str, str]) -> ProfileBindings:
    """A profile's own keys, if they name a binding, exist, and belong to no other binding of the screen.

    A key that is not taken leaves the built-in keys in force, for both where two bindings want one key.
    """
    taken: dict[str, str] = {}
    troubles: list[KeyTrouble] = []
    for id_, keys in changed.items():
        if trouble := _misspelt(id_, keys):
            troubles.append(trouble)
        else:
            taken[id_] = ",".join(key.strip() for key in keys.split(","))
    # A built-in key that comes back may be the one another binding was given, so it is looked at again.
    while clashes := list(_clashes(taken)):
        troubles += clashes
        for clash in clashes:
            del taken[clash.id]
    return ProfileBindings(taken, tuple(troubles))


def _misspelt(id_: str, keys: str) -> KeyTrouble | None:
    if id_ in RENAMED:
        return KeyTrouble(id_, f"is called keys.{RENAMED[id_]} now", f"Write {RENAMED[id_]} for {id_} in the profile.")
    if id_ not in BINDING_OF_ID:
        near = difflib.get_close_matches(id_, BINDING_OF_ID, n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        return KeyTrouble(id_, "is not the id of a key", f"{meant}`tradetui keys` lists them.")
    unknown = next((key for key in map(str.strip, keys.split(",")) if not is_key_name(key)), None)
    if unknown is None:
        return None
    built_in = shown_keys(BINDING_OF_ID[id_].keys)
    return KeyTrouble(id_, f"is not taken: there is no key {unknown!r}, it stays {built_in}", _SPELLING)


def _clashes(taken: Mapping[str, str]) -> Iterator[KeyTrouble]:
    for id_ in taken:
        binding, keys = BINDING_OF_ID[id_], set(map(long_name, bound_keys(id_, taken)))
        for other in BINDINGS:
            shared = keys.intersection(map(long_name, bound_keys(other.id, taken)))
            if other is not binding and shared and _meet(binding, other):
                key, built_in = shown_keys(min(shared)), shown_keys(binding.keys)
                rule = f"is not taken: {key} is the key of {other.id} too, it stays {built_in}"
                yield KeyTrouble(id_, rule, f"Choose another key, or change that of {other.id}.")
                break


def _meet(one: KeyBinding, other: KeyBinding) -> bool:
    return EVERYWHERE in (one.where, other.where) or bool(set(one.where) & set(other.where))
