"""Ids as the live exchange makes them: nineteen digits that grow with time."""

from __future__ import annotations

from typing import Final

_EPOCH_MS: Final = 1_436_000_000_000
_TAG_BITS: Final = 10
_COUNT_BITS: Final = 12


class Identifiers:
    """Hands out ids for moments that never go back; two with different tags never give the same one."""

    def __init__(self, tag: int = 0) -> None:
        self._tag = (tag % (1 << _TAG_BITS)) << _COUNT_BITS
        self._moment = 0
        self._count = 0

    def at(self, now_ms: int) -> str:
        """The next id at a moment; the 4,097th of a millisecond belongs to the next one."""
        if now_ms > self._moment:
            self._moment, self._count = now_ms, 0
        else:
            self._count += 1
            if self._count >> _COUNT_BITS:
                self._moment, self._count = self._moment + 1, 0
        return str(((self._moment - _EPOCH_MS) << (_TAG_BITS + _COUNT_BITS)) + self._tag + self._count)
