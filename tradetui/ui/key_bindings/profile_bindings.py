"""The bindings of a session in Textual's form: the profile's valid keys, and the keys of each screen.

An invalid key of the profile is left out, and its reason is kept to be shown.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from textual.binding import Binding, BindingType
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, _character_to_key, key_to_character

from tradetui.ui.key_bindings.actions import EVERYWHERE, Action, bound_keys, shown_keys

_SPELLING: Final = "Write one character, or a name such as f5, space, pageup, ctrl+k; several with commas."
_MODIFIERS: Final = frozenset({"ctrl", "alt", "shift", "super", "hyper", "meta"})


class KeyTrouble(NamedTuple):
    """An invalid line of the profile's `keys`: its id, the reason, and the remedy."""

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
    """Return a profile's own keys that name a binding, exist, and belong to no other binding of the screen.

    An invalid key leaves the built-in keys in force, for both bindings if two want the same key.
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


def bindings(where: str) -> list[BindingType]:
    """The bindings of one screen, with the ids by which a profile may change their keys."""
    return [
        Binding(
            action.keys,
            action.textual_action,
            action.description,
            tooltip=action.tooltip,
            id=action,
            show=action.hint,
            priority=action.in_dialogs,
        )
        for action in Action
        if where in action.where
    ]


def actions_of_key(key: str, changed_keys: Mapping[str, str]) -> list[Action]:
    """The actions of a key, by Textual's name, on all screens; `changed_keys` are the profile's."""
    return [action for action in Action if key in map(long_name, bound_keys(action, changed_keys))]


def is_key_name(name: str) -> bool:
    """Whether a key can be pressed by this name: one character, or Textual's name of it, after modifiers with a +."""
    modifiers, plus, key = name.rpartition("+")
    if len(name) == 1 or not plus:
        modifiers, key = "", name
    if not set(filter(None, modifiers.split("+"))) <= _MODIFIERS:
        return False
    named = {*Keys, *KEY_NAME_REPLACEMENTS.values()}
    return len(key) == 1 or key in named or key_to_character(key) is not None


def long_name(name: str) -> str:
    """Textual's name of a key: `slash` for `/`."""
    return _character_to_key(name) if len(name) == 1 else name


def _misspelt(id_: str, keys: str) -> KeyTrouble | None:
    if id_ not in list(Action):
        near = difflib.get_close_matches(id_, list(Action), n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        return KeyTrouble(id_, "is not the id of a key", f"{meant}`tradetui keys` lists them.")
    unknown = next((key for key in map(str.strip, keys.split(",")) if not is_key_name(key)), None)
    if unknown is None:
        return None
    built_in = shown_keys(Action(id_).keys)
    return KeyTrouble(id_, f"is not taken: there is no key {unknown!r}, it stays {built_in}", _SPELLING)


def _clashes(taken: Mapping[str, str]) -> Iterator[KeyTrouble]:
    for id_ in taken:
        action, keys = Action(id_), set(map(long_name, bound_keys(Action(id_), taken)))
        for other in Action:
            shared = keys.intersection(map(long_name, bound_keys(other, taken)))
            if other is not action and shared and _meet(action, other):
                key, built_in = shown_keys(min(shared)), shown_keys(action.keys)
                rule = f"is not taken: {key} is the key of {other} too, it stays {built_in}"
                yield KeyTrouble(id_, rule, f"Choose another key, or change that of {other}.")
                break


def _meet(one: Action, other: Action) -> bool:
    return EVERYWHERE in (one.where, other.where) or bool(set(one.where) & set(other.where))
