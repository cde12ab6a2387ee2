"""One scheduler for all feeds: a feed's next poll is armed after its last has ended, and never two at once."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from contextlib import suppress
from random import Random
from typing import Final

from tradetui.desk.feeds.polling.feed import Feed
from tradetui.desk.tables.rows.row_source import FeedRow

HEAD_START_S: Final = 1.0
SHOWING_S: Final = 0.05


class Scheduler:
    """Runs feeds until it is stopped. `random` spreads the polls, so that feeds do not march in step.

    The feed named `first` is read before the others begin, which wait a second for it at most, and then as
    long as it takes to show it: what a person looks at first is there first.

    It waits on the loop's clock only, which neither a step of the wall clock nor a suspended machine moves: after
    either each feed has at most the one poll that was due.
    """

    def __init__(self, feeds: Iterable[Feed[FeedRow]], random: Random, first: str | None = None) -> None:
        self._feeds = tuple(feeds)
        self._random = random
        self._wake = {feed.name: asyncio.Event() for feed in self._feeds}
        self._tasks: list[asyncio.Task[None]] = []
        self._first = first
        self._first_is_shown = asyncio.Event()
        if first not in self._wake:
            self._first_is_shown.set()

    def start(self, names: Collection[str] | None = None) -> None:
        """Begin polling these feeds, or all; each is polled at once, or right after the first one."""
        started = [feed for feed in self._feeds if names is None or feed.name in names]
        if all(feed.name != self._first for feed in started):
            self._first_is_shown.set()
        self._tasks = [asyncio.create_task(self._run(feed), name=f"feed {feed.name}") for feed in started]

    async def stop(self) -> None:
        """End polling; a call that is under way is left to its own end."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    def poll_now(self, name: str | None = None) -> None:
        """Poll one feed, or all, without waiting for its turn; one that is reading reads once more after that."""
        for feed in self._feeds:
            if name in (None, feed.name):
                self._wake[feed.name].set()

    def set_hidden(self, name: str, *, is_hidden: bool) -> None:
        """Slow a feed down or up; one that comes into view is polled at once."""
        for feed in self._feeds:
            if feed.name == name and feed.is_hidden is not is_hidden:
                feed.is_hidden = is_hidden
                if not is_hidden:
                    self._wake[name].set()

    async def first_shown(self) -> None:
        """Wait until the first feed was read and there was time to show it, or a second has passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HEAD_START_S):
                await self._first_is_shown.wait()

    async def _run(self, feed: Feed[FeedRow]) -> None:
        loop, wake = asyncio.get_running_loop(), self._wake[feed.name]
        if feed.name != self._first:
            await self.first_shown()
        while True:
            began = loop.time()
            await feed.poll()
            if feed.name == self._first and not self._first_is_shown.is_set():
                loop.call_later(SHOWING_S, self._first_is_shown.set)
            pause = feed.pause(loop.time() - began, self._random)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await wake.wait()
            wake.clear()
