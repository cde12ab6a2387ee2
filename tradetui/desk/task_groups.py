"""Groups of tasks that end together: reads for one observation, and the background tasks of a session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final, Self, TypeVar

_log = logging.getLogger(__name__)

T = TypeVar("T")
STOPPING_S: Final = 10.0


class ReadGroup:
    """Cancels reads that still run when the block is left, for any reason, and waits for their end."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[Any]] = []

    def begin(self, read: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin a read; await it within the block, because its exception is lost afterwards."""
        task = asyncio.create_task(read)
        self._tasks.append(task)
        return task

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class BackgroundTasks:
    """Tasks that run until the session stops; an exception goes to the awaiting caller, if any."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stopped = False

    def begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin a task; after a stop it is cancelled before its first step."""
        task = asyncio.create_task(work)
        if self._stopped:
            task.cancel()
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            # Its text may hold what no log may; the awaiting caller gets it in full.
            _log.debug("a background task ended with %s", type(problem).__name__)

    async def finish(self, seconds: float) -> None:
        """Give running tasks this many seconds to end by themselves; new tasks are cancelled at once."""
        self._stopped = True
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=seconds)

    async def stop(self) -> None:
        """Cancel running and new tasks, and wait for their end up to `STOPPING_S`."""
        self._stopped = True
        try:
            async with asyncio.timeout(STOPPING_S):
                while tasks := tuple(self._tasks):
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)
                    self._tasks.difference_update(tasks)
        except (Exception, asyncio.CancelledError) as problem:  # whatever fails here, the session still ends
            _log.warning("%d background tasks did not end: %s", len(self._tasks), type(problem).__name__)
            if is_cancelled(problem):
                raise


def is_cancelled(problem: BaseException) -> bool:
    """Whether an exception cancels this task itself, and not only something it waited for."""
    task = asyncio.current_task()
    return isinstance(problem, asyncio.CancelledError) and task is not None and task.cancelling() > 0
