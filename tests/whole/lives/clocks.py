"""Clocks of a life: wall clocks that step, and a monotonic one that starts anew with each boot and never steps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random

START_MS = 1_793_491_200_000


class WallClock:
    """Unix milliseconds that run with the loop and can be stepped."""

    def __init__(self) -> None:
        self._offset_ms = 0

    def now_ms(self) -> int:
        """What it shows."""
        return START_MS + round(asyncio.get_running_loop().time() * 1000) + self._offset_ms

    def step(self, by_ms: int) -> None:
        """Set it ahead, or back where negative."""
        self._offset_ms += by_ms

    @property
    def offset_ms(self) -> int:
        """How far it is ahead of the time that passed."""
        return self._offset_ms


class BootClock:
    """What a process of one boot reads: the machine's wall clock, and monotonic seconds since some time of the boot."""

    def __init__(self, wall: WallClock, boot: str, origin_s: float) -> None:
        self.boot = boot
        self._wall = wall
        self._loop = asyncio.get_running_loop()
        self._origin_s = origin_s

    def monotonic(self) -> float:
        """Seconds that never step."""
        return self._loop.time() + self._origin_s

    def wall_ms(self) -> int:
        """Unix milliseconds as the machine shows them."""
        return self._wall.now_ms()


class Machine:
    """A computer: its directory, its wall clock, and the clock of its present boot."""

    clock: BootClock

    def __init__(self, folder: Path, seed: str) -> None:
        self.folder = folder
        self.wall = WallClock()
        self.is_down = asyncio.Lock()
        self._seed = seed
        self._boots = 0

    def boot(self) -> None:
        """Start it anew; its monotonic clock begins at some other time."""
        self._boots += 1
        origin_s = Random(f"{self._seed}/boot {self._boots}").uniform(0, 100_000)
        boot = f"boot-{self._boots} of {self._seed}"
        self.clock = BootClock(self.wall, boot, origin_s - asyncio.get_running_loop().time())


class ExchangeClock:
    """The exchange's clock: it may step at any time, but not back over a judgement.

    Once a request's stamp can have been judged as out of date for good, the clock goes back by five seconds at most:
    `settled_since_s` gives when that was for the oldest request that has not arrived, None where there is none.
    """

    LEAST_AGE_S = 35.0
    SLACK_MS = 5_000

    def __init__(self, settled_since_s: Callable[[], float | None]) -> None:
        self.wall = WallClock()
        self.shown: list[tuple[float, int]] = []
        """What it showed at which time, whenever it was looked at."""
        self._settled_since_s = settled_since_s
        self._highest_ms: int | None = None

    def now_ms(self) -> int:
        """What it shows."""
        self._keep_to_judgements()
        now_ms = self.wall.now_ms()
        self.shown.append((asyncio.get_running_loop().time(), now_ms))
        return now_ms

    def highest_shown_ms(self, since_s: float) -> int:
        """The latest time it has shown since then."""
        highest_ms = 0
        for time_s, shown_ms in reversed(self.shown):
            if time_s < since_s:
                break
            highest_ms = max(highest_ms, shown_ms)
        return highest_ms

    def _keep_to_judgements(self) -> None:
        since_s, now_s = self._settled_since_s(), asyncio.get_running_loop().time()
        offset = self.wall.offset_ms
        if since_s is None or now_s < since_s:
            self._highest_ms = None
            return
        if self._highest_ms is None or offset > self._highest_ms:
            self._highest_ms = offset
        lowest = self._highest_ms - self.SLACK_MS
        if offset < lowest:
            self.wall.step(lowest - offset)
