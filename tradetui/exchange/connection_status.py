"""How the connection to the exchange is doing: what the header bar shows."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from statistics import median
from typing import TYPE_CHECKING

from tradetui.exchange.clock import Clock, ServerClock

if TYPE_CHECKING:
    from tradetui.exchange.rate_limit.address_quota import AddressUsage
    from tradetui.exchange.rate_limit.budget import Budget, Usage


class ConnectionStatus:
    """Latency, clock offset and budget of a client; reading it costs nothing."""

    def __init__(self, clock: Clock, server_clock: ServerClock, budget: Budget) -> None:
        self._clock = clock
        self._server_clock = server_clock
        self._budget = budget
        self._round_trips: deque[float] = deque(maxlen=9)
        self.last_error_at: float | None = None
        self.last_reply_at: float | None = None
        self.calls = 0

    @property
    def latency_ms(self) -> float | None:
        """The median of the last round trips, or `None` before the first."""
        return median(self._round_trips) * 1000 if self._round_trips else None

    @property
    def clock_offset_ms(self) -> int | None:
        """How far the exchange's clock is ahead of this machine's, or `None` while unknown."""
        return self._server_clock.offset_ms

    @property
    def clock_warns(self) -> bool:
        """Whether the offset is above one second."""
        return self._server_clock.warns

    @property
    def clock_blocks(self) -> bool:
        """Whether the offset is too large to send an order."""
        return self._server_clock.blocks_writes

    @property
    def down(self) -> bool:
        """Whether the last thing that happened was that no answer came."""
        return self.last_error_at is not None and (self.last_reply_at or 0.0) < self.last_error_at

    def usage(self) -> Mapping[str, Usage]:
        """The budget's use by endpoint."""
        return self._budget.usage()

    def address_usage(self) -> AddressUsage:
        """Calls a minute that count at the network address."""
        return self._budget.address_usage()

    def replied(self, round_trip_s: float) -> None:
        """Note an answer, whatever it says."""
        self.calls += 1
        self._round_trips.append(round_trip_s)
        self.last_reply_at = self._clock.monotonic()

    def failed(self, *, answered: bool) -> None:
        """Note an error; one without an answer means that the link is down."""
        if not answered:
            self.last_error_at = self._clock.monotonic()
