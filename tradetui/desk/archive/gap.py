"""A stretch of fills that was not read yet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gap:
    """Fills not read yet: older than the fill `cursor`, down to `until` (Unix ms; None: all there are)."""

    cursor: str
    until: int | None = None
