"""Counts the calls that arrive, by UID and endpoint in any second, by address in any minute, and refuses those beyond.

How many are allowed stands in `wire.endpoints`.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Final

from tradetui.wire.endpoints.endpoint import ADDRESS_CALLS_PER_MINUTE, ADDRESS_LOCKOUT_S, Endpoint

SECOND_MS: Final = 1_000
MINUTE_MS: Final = 60_000
CALLS_OF_AN_ADDRESS: Final = ADDRESS_CALLS_PER_MINUTE
"""Calls of one address in any minute, whoever makes them and whatever they ask."""
RECOVERY_MS: Final = ADDRESS_LOCKOUT_S * SECOND_MS
"""How long an address that made more is refused, whether it goes on asking or not."""


class ArrivalCounts:
    """Counts what arrives; a refused arrival is not counted. `who` is a UID or, for public endpoints, an address."""

    def __init__(self) -> None:
        self._arrivals: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)

    def admit(self, endpoint: Endpoint, who: str, copy_trader: bool, now_ms: int) -> int | None:
        """How many calls are left in this second, or None when this one is too many."""
        allowed = endpoint.limit.per_second
        if copy_trader and endpoint.limit.copy_trader is not None:
            allowed = endpoint.limit.copy_trader
        arrivals = self._arrivals[who, endpoint.name]
        while arrivals and arrivals[0] <= now_ms - SECOND_MS:
            arrivals.popleft()
        if len(arrivals) >= allowed:
            return None
        arrivals.append(now_ms)
        return allowed - len(arrivals)


class AddressCounts:
    """Counts what arrives from each address; what is refused is not counted."""

    def __init__(self) -> None:
        self._arrivals: defaultdict[str, deque[int]] = defaultdict(deque)
        self._refused_until: dict[str, int] = {}

    def admits(self, address: str, now_ms: int) -> bool:
        """Whether a call of an address is let in; the one too many shuts the address out for five minutes."""
        if now_ms < self._refused_until.get(address, now_ms):
            return False
        arrivals = self._arrivals[address]
        while arrivals and arrivals[0] <= now_ms - MINUTE_MS:
            arrivals.popleft()
        if len(arrivals) >= CALLS_OF_AN_ADDRESS:
            self._refused_until[address] = now_ms + RECOVERY_MS
            arrivals.clear()
            return False
        arrivals.append(now_ms)
        return True
