"""Runs disk work on one thread of its own, or in place where time is virtual."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Disk(Protocol):
    """Runs blocking work without holding up the loop."""

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of the work; one piece at a time, in order."""

    def now(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of work, waited for; for threads other than the loop's."""

    def close(self) -> None:
        """Take no more work; what was begun runs to its end."""


class InlineDisk:
    """Runs work at once, for virtual time."""

    def now(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)

    def close(self) -> None: ...


class ThreadDisk:
    """Runs work on one thread, so that SQLite connections stay where they were made."""

    def __init__(self, name: str = "disk") -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.submit(work, *args, **kwargs)

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
        """Begin work now, in its turn on the thread; its result is a future of the running loop."""
        return asyncio.get_running_loop().run_in_executor(self._thread, lambda: work(*args, **kwargs))

    def now(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self._thread.submit(lambda: work(*args, **kwargs)).result()

    def close(self) -> None:
        self._thread.shutdown(wait=False)
