"""Counts calls by UID and endpoint in any second, by address in any minute, and refuses those beyond the limits.

The limits stand in `wire.endpoints`.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Final

from tradetui.wire.endpoints.endpoint import ADDRESS_CALLS_PER_MINUTE, ADDRESS_LOCKOUT_S, Endpoint

SECOND_MS: Final = 1_000
MINUTE_MS: Final = 60_000
CALLS_OF_AN_ADDRESS: Final = ADDRESS_CALLS_PER_MINUTE
"""The most calls of one address in any minute, of all callers and endpoints."""
RECOVERY_MS: Final = ADDRESS_LOCKOUT_S * SECOND_MS
"""How long an address that exceeded this is refused, whether it goes on calling or not."""


class ArrivalCounts:
    """Counts the calls that are admitted. `who` is a UID or, for public endpoints, an address."""

    def __init__(self) -> None:
        self._arrivals: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)

    def admit(self, endpoint: Endpoint, who: str, copy_trader: bool, now_ms: int) -> int | None:
        """The calls left in this second, or None where this one is too many."""
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
    """Counts the calls of every address; refused calls are not counted."""

    def __init__(self) -> None:
        self._arrivals: defaultdict[str, deque[int]] = defaultdict(deque)
        self._refused_until: dict[str, int] = {}

    def admits(self, address: str, now_ms: int) -> bool:
        """Whether an address may call; the first call beyond the limit shuts the address out for five minutes."""
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
