"""Ids as the live exchange makes them: nineteen digits that grow with time."""

from __future__ import annotations

_EPOCH_MS = 1_436_000_000_000
_ROOM = 22
"""Bits of an id below its moment: how many (as a power of two) one millisecond can hand out."""


class Identifiers:
    """The one source of an account's ids, for moments in any order: none is ever handed out twice."""

    def __init__(self) -> None:
        self._given: dict[int, int] = {}

    def at(self, now_ms: int) -> str:
        """An id of a moment, above every id of an earlier moment and every one this moment has had before."""
        given = self._given.get(now_ms, 0)
        self._given[now_ms] = given + 1
        return str(((now_ms - _EPOCH_MS) << _ROOM) + given)
