"""The stage of the search for a reversal's outcome; alerts read nothing else of it."""

from __future__ import annotations

from enum import StrEnum


class SearchStage(StrEnum):
    """How far the search for the outcome is; decisions are made by this, never by the sentence beside it."""

    LOOKING = "looking"
    """Nothing is known of the order yet, or what was read cannot be used."""
    SO_FAR = "so far"
    """Something of it is seen: a part that has filled, or an effect that may not be all of it."""
    LEFT_OPEN = "left open"
    """A while has passed without an end. The search goes on behind, and the symbol stays locked."""
    CORRECTED = "corrected"
    """It was settled, and the order went on filling: it is locked again and followed to its end."""
    ENDED = "ended"
    """The intent has ended: `state` says how, `outcome` as what where it was settled."""
