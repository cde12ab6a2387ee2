"""The registry's bindings in Textual's form: the names of keys, and the bindings of each screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from textual.binding import Binding, BindingType
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, _character_to_key, key_to_character

from tradetui.ui.key_bindings.binding_registry import BINDINGS, KeyBinding, bound_keys

_MODIFIERS: Final = frozenset({"ctrl", "alt", "shift", "super", "hyper", "meta"})


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


def bindings_of_key(key: str, changed_keys: Mapping[str, str]) -> list[KeyBinding]:
    """The bindings of a key, by Textual's name, on all screens; `changed_keys` are the profile's."""
    return [binding for binding in BINDINGS if key in map(long_name, bound_keys(binding.id, changed_keys))]


def bindings(where: str) -> list[BindingType]:
    """The bindings of one screen, with the ids by which a profile may change their keys."""
    return [
        Binding(
            binding.keys,
            binding.action,
            binding.description,
            tooltip=binding.tooltip,
            id=binding.id,
            show=binding.hint,
            priority=binding.in_dialogs,
        )
        for binding in BINDINGS
        if where in binding.where
    ]
