"""Which panels a screen of a size shows, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

PANELS: Final = ("accounts", "positions", "orders", "fills", "triggers")
ROWS: Final = (("positions", "accounts"), ("orders", "fills"), ("triggers",))
WIDE, TALL = 150, 40
MEDIUM_WIDE, MEDIUM_TALL = 100, 30
_STACK: Final = ("positions", "orders", "fills")


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The panels shown; `stacked` puts those of one row on top of each other."""

    shown: tuple[str, ...]
    stacked: bool

    def rows(self) -> Sequence[tuple[str, ...]]:
        """The shown panels row by row."""
        return [tuple(name for name in row if name in self.shown) for row in ROWS]


def arrangement(width: int, height: int, focused: str, *, zoomed: bool) -> Arrangement:
    """All five on a large screen, three of them on a middling one, the focused one on a small one or when zoomed.

    A focused panel that would not fit takes the place of the last that would.
    """
    if zoomed or width < MEDIUM_WIDE or height < MEDIUM_TALL:
        return Arrangement((focused,), stacked=True)
    if width >= WIDE and height >= TALL:
        return Arrangement(PANELS, stacked=False)
    shown = _STACK if focused in _STACK else (*_STACK[:-1], focused)
    return Arrangement(shown, stacked=True)
