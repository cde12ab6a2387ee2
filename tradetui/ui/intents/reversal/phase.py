"""How far the reversal dialog is, which decides what may be typed, pressed and sent."""

from __future__ import annotations

from enum import Enum, auto


class Phase(Enum):
    """Nothing can be confirmed but in ARMED; in SENDING it can be taken back until it leaves."""

    READING = auto()
    ARMED = auto()
    SENDING = auto()
    OVER = auto()

    @property
    def is_before_confirming(self) -> bool:
        return self in (Phase.READING, Phase.ARMED)
