"""Rate limits as the exchange counts them: arrivals in any sliding second, by UID and endpoint."""

from __future__ import annotations

from collections import defaultdict, deque

from tradetui.wire.catalogue import Endpoint

SECOND_MS = 1_000


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
