"""Counts calls by UID and endpoint in any second, by address in any minute, and refuses those beyond the limits.

The limits stand in `wire.endpoints`, where the client reads them too. What is refused is not counted.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Final

from tradetui.wire.endpoints.endpoint import ADDRESS_CALLS_PER_MINUTE, ADDRESS_LOCKOUT_S, Endpoint

SECOND_MS: Final = 1_000
MINUTE_MS: Final = 60_000
RECOVERY_MS: Final = ADDRESS_LOCKOUT_S * SECOND_MS
"""How long an address with too many calls is refused (five minutes), whether it goes on calling or not."""


class ArrivalCounts:
    """Calls by caller and endpoint. `who` is a UID or, for public endpoints, an address."""

    def __init__(self) -> None:
        self._arrivals: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)

    def admit(self, endpoint: Endpoint, who: str, now_ms: int, *, is_copy_trader: bool) -> int | None:
        """Count a call; gives how many are left in this second, or None where this one is too many."""
        allowed = endpoint.limit.per_second
        if is_copy_trader and endpoint.limit.copy_trader is not None:
            allowed = endpoint.limit.copy_trader
        arrivals = self._arrivals[who, endpoint.name]
        while arrivals and arrivals[0] <= now_ms - SECOND_MS:
            arrivals.popleft()
        if len(arrivals) >= allowed:
            return None
        arrivals.append(now_ms)
        return allowed - len(arrivals)


class AddressCounts:
    def __init__(self) -> None:
        self._arrivals: defaultdict[str, deque[int]] = defaultdict(deque)
        self._refused_until: dict[str, int] = {}

    def admit(self, address: str, now_ms: int) -> bool:
        """Count a call; gives whether it is let in. The first beyond the limit shuts the address out for a while."""
        if now_ms < self._refused_until.get(address, now_ms):
            return False
        arrivals = self._arrivals[address]
        while arrivals and arrivals[0] <= now_ms - MINUTE_MS:
            arrivals.popleft()
        if len(arrivals) >= ADDRESS_CALLS_PER_MINUTE:
            self._refused_until[address] = now_ms + RECOVERY_MS
            arrivals.clear()
            return False
        arrivals.append(now_ms)
        return True
