"""A feed: reads one kind of record again and again and publishes what it knows as a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

from tradetui.desk.snapshot import FeedError, Freshness, Snapshot, indexed
from tradetui.exchange.clock import Clock


class Pace(StrEnum):
    """Whether anybody looks at what a feed brings."""

    SHOWN = "shown"
    HIDDEN = "hidden"


HIDDEN_FACTOR = 4.0


@dataclass(frozen=True, slots=True)
class Reading:
    """What one poll brought: every row that is to be shown, in order, and how many could not be read."""

    rows: Sequence[Any]
    lost: int = 0
    note: str = ""


class Reader(Protocol):
    """Knows how to read one kind of record; keeps what it needs between polls."""

    async def read(self) -> Reading:
        """Read once; raises `ExchangeError`. What was known stays known when it raises."""
        ...

    def key(self, row: Any) -> str:
        """What identifies a row."""
        ...


class Feed:
    """Polls a reader and publishes snapshots. It never retries: the next tick is the retry."""

    def __init__(self, name: str, reader: Reader, interval: float, clock: Clock) -> None:
        self.name = name
        self.reader = reader
        self.interval = interval
        self.pace = Pace.SHOWN
        self.snapshot = Snapshot()
        self.failures = 0
        self.polling = False
        self._clock = clock
        self._listeners: list[Callable[[Feed], None]] = []

    @property
    def wait(self) -> float:
        """Seconds to the next poll by pace; failures do not stretch it, so that recovery is seen within two."""
        return self.interval * (HIDDEN_FACTOR if self.pace is Pace.HIDDEN else 1.0)

    @property
    def freshness(self) -> Freshness:
        """How far the snapshot can be relied on now."""
        return self.snapshot.freshness(self._clock.monotonic(), self.wait)

    def subscribe(self, listener: Callable[[Feed], None]) -> Callable[[], None]:
        """Call the listener whenever the snapshot changed; returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def poll(self) -> None:
        """Read once and publish; an error is published as a state beside the last good rows."""
        if self.polling:
            return
        self.polling = True
        try:
            reading = await self.reader.read()
        except Exception as problem:
            self.failures += 1
            self.publish(replace(self.snapshot, error=FeedError.of(problem)))
        else:
            self.failures = 0
            self.publish(self._taken(reading))
        finally:
            self.polling = False

    def publish(self, snapshot: Snapshot) -> None:
        """Make a snapshot the current one and tell the listeners."""
        self.snapshot = snapshot
        for listener in tuple(self._listeners):
            listener(self)

    def _taken(self, reading: Reading) -> Snapshot:
        now = self._clock.monotonic()
        rows = tuple(reading.rows)
        before = self.snapshot
        if rows == before.rows:
            return replace(before, read_at=now, error=None, lost=reading.lost, note=reading.note)
        keys = tuple(map(self.reader.key, rows))
        return Snapshot(
            rows=rows,
            keys=keys,
            generation=before.generation + 1,
            read_at=now,
            lost=reading.lost,
            note=reading.note,
            index=indexed(keys),
        )
