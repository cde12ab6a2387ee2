"""How far the reversal dialog is."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final


class Phase(Enum):
    """Nothing can be confirmed but in ARMED; in SENDING it can be taken back until it leaves."""

    READING = auto()
    ARMED = auto()
    SENDING = auto()
    OVER = auto()


ASKING: Final = (Phase.READING, Phase.ARMED)
"""Phases in which nothing was confirmed yet."""
