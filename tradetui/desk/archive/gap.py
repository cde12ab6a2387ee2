"""A stretch of fills that was not read yet."""

from __future__ import annotations

from typing import NamedTuple


class Gap(NamedTuple):
    """Fills not read yet: older than the fill `cursor`, down to `until` (Unix ms; None: all there are).

    Those from before `kept_from` (Unix ms) are lost, since the exchange keeps them no longer; None where none are.
    """

    cursor: str
    until: int | None = None
    kept_from: int | None = None
