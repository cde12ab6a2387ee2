"""Runs disk work on a thread of its own, or at once when time is virtual."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Disk(Protocol):
    """Runs blocking work without blocking the event loop."""

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of the work; calls run one at a time, in order."""

    def now(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Wait for the work and return its result; for threads other than the loop's."""

    def close(self) -> None:
        """Accept no more work; work already begun runs to its end."""


class InlineDisk:
    """Runs work at once, for virtual time."""

    def now(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)

    def close(self) -> None: ...


class ThreadDisk:
    """Runs work on one thread, because a SQLite connection must be used by the thread that made it."""

    def __init__(self, name: str = "disk") -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.submit(work, *args, **kwargs)

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
        """Queue work on the thread at once; return its result as a future of the running loop."""
        return asyncio.get_running_loop().run_in_executor(self._thread, lambda: work(*args, **kwargs))

    def now(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self._thread.submit(lambda: work(*args, **kwargs)).result()

    def close(self) -> None:
        self._thread.shutdown(wait=False)
