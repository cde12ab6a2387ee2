"""Which panels a screen of a size shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from tradetui.desk.tables.table import PANELS, TableName

WIDE, TALL = 150, 40
STACK_TALL = 30
ACCOUNTS_WIDE: Final = 71
_TOP: Final = (TableName.ACCOUNTS, TableName.POSITIONS)
_LEFT: Final = (TableName.ORDERS, TableName.TRIGGERS)
_RIGHT: Final = (TableName.FILLS,)
_STACK: Final[tuple[str, ...]] = (TableName.POSITIONS, TableName.ORDERS, TableName.FILLS)
_PLACE: Final[Mapping[str, int]] = {TableName.ACCOUNTS: 0, TableName.TRIGGERS: 1}


class Shape(Enum):
    """How panels are shown: all at once, three above each other, or one."""

    FIVE = auto()
    STACK = auto()
    SINGLE = auto()


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The panels shown, and how."""

    shape: Shape
    shown: tuple[str, ...]


def arrangement(width: int, height: int, focused: str, before: tuple[str, ...], *, zoomed: bool) -> Arrangement:
    """All five on a large screen, three of them on a middling one, the focused one on a small one or when zoomed.

    In a stack the accounts share a place with the positions and the triggers with the orders; `before` is what was
    shown, so that going to a panel that is there moves nothing.
    """
    if zoomed or height < STACK_TALL:
        return Arrangement(Shape.SINGLE, (focused,))
    if width >= WIDE and height >= TALL:
        return Arrangement(Shape.FIVE, tuple(PANELS))
    shown = list(before if len(before) == len(_STACK) else _STACK)
    if focused not in shown:
        shown[_PLACE.get(focused, _STACK.index(focused) if focused in _STACK else 0)] = focused
    return Arrangement(Shape.STACK, tuple(shown))


def places(shown: tuple[str, ...], width: int, height: int) -> dict[str, tuple[int, int, int, int]]:
    """Where each panel lies in so much room: left, top, width and height in cells, nothing over and nothing twice."""
    if len(shown) == len(PANELS):
        return _five(width, height)
    edges = [height * number // len(shown) for number in range(len(shown) + 1)]
    in_order = [name for name in (*_TOP, *_LEFT, *_RIGHT) if name in shown]
    return {name: (0, top, width, end - top) for name, top, end in zip(in_order, edges[:-1], edges[1:], strict=True)}


def _five(width: int, height: int) -> dict[str, tuple[int, int, int, int]]:
    top, half, accounts = height * 3 // 10, width // 2, min(ACCOUNTS_WIDE, width // 2)
    orders = (height - top) * 3 // 5
    return {
        TableName.ACCOUNTS: (0, 0, accounts, top),
        TableName.POSITIONS: (accounts, 0, width - accounts, top),
        TableName.ORDERS: (0, top, half, orders),
        TableName.TRIGGERS: (0, top + orders, half, height - top - orders),
        TableName.FILLS: (half, top, width - half, height - top),
    }
