"""Clocks as arguments: the machine's, a loop's virtual one, and the exchange's as estimated from its replies."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from statistics import median
from typing import NamedTuple, Protocol

from tradetui.storage.boot_id import boot_id

WARN_OFFSET_MS = 1_000
"""If this machine's clock is further from the exchange's than this, the screen warns."""
BLOCK_OFFSET_MS = 5_000
"""If this machine's clock is further from the exchange's than this, nothing is written."""
_EARLIEST_MS = 1_500_000_000_000
"""A server time before July 2017 is ignored: the exchange did not exist then."""
_JUMP_MS = 500


class Clock(Protocol):
    """Tells the time: seconds that never step for waiting, wall-clock milliseconds for time stamps."""

    @property
    def boot(self) -> str:
        """The id of the boot within which `monotonic` can be compared; empty if it is not known."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment of this boot."""

    def wall_ms(self) -> int:
        """Unix milliseconds by this machine's clock."""


class Moment(NamedTuple):
    """When a record was written: Unix ms for people; CLOCK_MONOTONIC seconds and the boot for decisions."""

    at_ms: int
    boot: str = ""
    monotonic_s: float = 0.0

    @classmethod
    def now(cls, clock: Clock) -> Moment:
        return cls(clock.wall_ms(), clock.boot, clock.monotonic())


class SystemClock:
    """The machine's clocks; `monotonic` is shared by all processes of one boot."""

    @property
    def boot(self) -> str:
        return boot_id()

    def monotonic(self) -> float:
        return time.monotonic()

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000


class LoopClock:
    """The event loop's time, so that virtual time drives everything; the wall clock starts at `start_ms` at first use.

    Two of these clocks compare like two processes of one boot.
    """

    boot = "virtual"

    def __init__(self, start_ms: int) -> None:
        self._start_ms = start_ms
        self._origin: float | None = None

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    def wall_ms(self) -> int:
        now = self.monotonic()
        if self._origin is None:
            self._origin = now
        return self._start_ms + round((now - self._origin) * 1000)


class ServerClock:
    """The exchange's clock: the median of recent `requestTime`s against the midpoint of their round trips.

    The offset is in milliseconds, positive if the exchange is ahead of this machine, and None until the first reply.
    When the machine's wall clock steps or the machine slept, wall and monotonic time diverge; the offsets learned
    before are then dropped.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offsets: deque[int] = deque(maxlen=9)
        self._median_ms: int | None = None
        self._gap_ms: float | None = None

    def observe(self, server_ms: int | None, round_trip_s: float) -> None:
        """Learn from a reply that has just arrived; an implausible time is ignored."""
        if server_ms is None or server_ms < _EARLIEST_MS:
            return
        self._forget_after_jump()
        midpoint = self._clock.wall_ms() - round_trip_s * 500
        self._offsets.append(round(server_ms - midpoint))
        self._median_ms = round(median(self._offsets))

    @property
    def offset_ms(self) -> int | None:
        """How far the exchange is ahead of this machine (ms), or None while unknown."""
        self._forget_after_jump()
        return self._median_ms

    @property
    def now_ms(self) -> int:
        """The best estimate of the exchange's time (Unix ms), with which requests are stamped."""
        return self._clock.wall_ms() + (self.offset_ms or 0)

    @property
    def warns(self) -> bool:
        """Whether the offset is above one second, so that the screen warns."""
        return abs(self.offset_ms or 0) > WARN_OFFSET_MS

    @property
    def blocks_writes(self) -> bool:
        return abs(self.offset_ms or 0) > BLOCK_OFFSET_MS

    def _forget_after_jump(self) -> None:
        gap = self._clock.wall_ms() - self._clock.monotonic() * 1000
        if self._gap_ms is not None and abs(gap - self._gap_ms) > _JUMP_MS:
            self._offsets.clear()
            self._median_ms = self._gap_ms = None
        if self._gap_ms is None:
            self._gap_ms = gap
        else:  # slow drift between the two clocks is not a jump
            self._gap_ms += (gap - self._gap_ms) / 8
