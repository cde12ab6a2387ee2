"""Ids as the live exchange makes them: nineteen digits that grow with time."""

from __future__ import annotations

_EPOCH_MS = 1_436_000_000_000


class Identifiers:
    """Hands out ids for moments that never go back."""

    def __init__(self) -> None:
        self._last = 0

    def at(self, now_ms: int) -> str:
        candidate = (now_ms - _EPOCH_MS) << 22
        self._last = max(candidate, self._last + 1)
        return str(self._last)
