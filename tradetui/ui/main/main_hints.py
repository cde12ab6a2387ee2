"""Which keys the bottom line of the main screen names, and in which order."""

from __future__ import annotations

from typing import Final

from tradetui.ui.key_bindings.binding_registry import BINDINGS, KeyBinding

_HINT_ORDER: Final = (
    "help",
    "reverse",
    "detail",
    "filter",
    "dates",
    "sort",
    "view",
    "zoom",
    "money",
    "alerts",
    "screens",
    "lock",
    "product",
    "pause",
)
"""What does not fit is left out from the end, so what is used most stands first."""
_RANKS: Final = {id_: rank for rank, id_ in enumerate(_HINT_ORDER)}


def hinted_bindings(*, on_positions: bool, may_trade: bool) -> list[KeyBinding]:
    """The bindings with a hint that mean something here, what is used most first."""
    return [
        binding
        for binding in sorted(BINDINGS, key=lambda binding: _RANKS.get(binding.id, len(_RANKS)))
        if binding.hint and (binding.id != "reverse" or on_positions) and (binding.group != "Trading" or may_trade)
    ]
