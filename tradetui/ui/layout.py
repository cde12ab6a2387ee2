"""Which panels a screen of a size shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PANELS: Final = ("accounts", "positions", "orders", "fills", "triggers")
WIDE, TALL = 150, 40
STACK_TALL = 30
HEADER_ONE_LINE = 150
_STACK: Final = ("positions", "orders", "fills")
_PLACE: Final = {"accounts": 0, "triggers": 1}


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The panels shown, and how: `five` at once, three in a `stack`, or a `single` one."""

    shape: str
    shown: tuple[str, ...]


def arrangement(width: int, height: int, focused: str, before: tuple[str, ...], *, zoomed: bool) -> Arrangement:
    """All five on a large screen, three of them on a middling one, the focused one on a small one or when zoomed.

    In a stack the accounts share a place with the positions and the triggers with the orders; `before` is what was
    shown, so that going to a panel that is there moves nothing.
    """
    if zoomed or height < STACK_TALL:
        return Arrangement("single", (focused,))
    if width >= WIDE and height >= TALL:
        return Arrangement("five", PANELS)
    shown = list(before if len(before) == len(_STACK) else _STACK)
    if focused not in shown:
        shown[_PLACE.get(focused, _STACK.index(focused) if focused in _STACK else 0)] = focused
    return Arrangement("stack", tuple(shown))
