"""One scheduler for all feeds: a feed's next poll is armed after its last has ended, and never two at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from random import Random

from tradetui.desk.feed import Feed, Pace

JITTER = 0.1


class Scheduler:
    """Runs feeds until it is stopped. `random` spreads the polls, so that feeds do not march in step."""

    def __init__(self, feeds: Iterable[Feed], random: Random) -> None:
        self._feeds = tuple(feeds)
        self._random = random
        self._wake = {feed.name: asyncio.Event() for feed in self._feeds}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin polling; the first poll of each feed is at once."""
        self._tasks = [asyncio.create_task(self._run(feed), name=f"feed {feed.name}") for feed in self._feeds]

    async def stop(self) -> None:
        """End polling; a call that is under way is left to its own end."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    def poll_now(self, name: str | None = None) -> None:
        """Poll one feed, or all, without waiting for its turn."""
        for feed in self._feeds:
            if name in (None, feed.name):
                self._wake[feed.name].set()

    def set_pace(self, name: str, pace: Pace) -> None:
        """Slow a feed down or up; one that comes into view is polled at once."""
        for feed in self._feeds:
            if feed.name == name and feed.pace is not pace:
                feed.pace = pace
                if pace is Pace.SHOWN:
                    self._wake[name].set()

    async def _run(self, feed: Feed) -> None:
        wake = self._wake[feed.name]
        while True:
            await feed.poll()
            pause = feed.wait * (1 - JITTER * self._random.random())
            with suppress(TimeoutError):
                await asyncio.wait_for(wake.wait(), pause)
            wake.clear()
