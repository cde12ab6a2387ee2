"""The state of the connection to the exchange, as the header bar shows it."""

from __future__ import annotations

from collections import deque
from statistics import median
from typing import TYPE_CHECKING

from tradetui.exchange.clock import Clock, ServerClock

if TYPE_CHECKING:
    from tradetui.exchange.rate_limit.budget import Budget


class ConnectionStatus:
    """The latency of a client's calls, its exchange's clock and its budget; reading them costs nothing."""

    def __init__(self, clock: Clock, server_clock: ServerClock, budget: Budget) -> None:
        self._clock = clock
        self.server_clock = server_clock
        self.budget = budget
        self._round_trips: deque[float] = deque(maxlen=9)
        self.last_error_at: float | None = None
        self.last_reply_at: float | None = None
        self.good_replies = 0
        """The number of signed reads that succeeded; public reads say nothing about the account."""
        self.failed_calls = 0

    @property
    def latency_ms(self) -> float | None:
        """The median of the last round trips (ms), or None before the first."""
        return median(self._round_trips) * 1000 if self._round_trips else None

    @property
    def down(self) -> bool:
        """Whether the last call got no answer."""
        return self.last_error_at is not None and (self.last_reply_at or 0.0) < self.last_error_at

    def replied(self, round_trip_s: float) -> None:
        """Note a reply of any kind."""
        self._round_trips.append(round_trip_s)
        self.last_reply_at = self._clock.monotonic()

    def failed(self, *, answered: bool) -> None:
        """Note an error; if there was no answer, the link counts as down."""
        self.failed_calls += 1
        if not answered:
            self.last_error_at = self._clock.monotonic()
