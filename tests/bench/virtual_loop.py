"""Event loops whose time a test rules: virtual time, a coroutine run in it, and a clock that can be set ahead."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
PER_SECOND = 1_000_000
"""Time passes in whole microseconds, so that the same sleeps end at the same times whatever was added up before."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only while everything sleeps, and then at once.

    It stands still while a thread works for it, so that no limit runs out because a busy machine lets the thread wait.
    """

    def __init__(self) -> None:
        super().__init__()
        self._microseconds = 0
        self._threads_at_work = 0
        self._poll: Callable[[float | None], list[Any]] = self._selector.select  # type: ignore[attr-defined]
        self._selector.select = self._wait  # type: ignore[attr-defined]

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._microseconds / PER_SECOND

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Arguments], T], *args: *Arguments
    ) -> asyncio.Future[T]:
        """The result of work on a thread, which takes none of the loop's time."""
        future = super().run_in_executor(executor, func, *args)
        self._threads_at_work += 1
        future.add_done_callback(self._thread_ended)
        return future

    async def shutdown_default_executor(self, *args: Any, **kwargs: Any) -> None:
        """Wait for the threads, however long they take."""
        self._threads_at_work += 1
        await super().shutdown_default_executor(*args, **kwargs)
        self._threads_at_work -= 1

    def _thread_ended(self, _: asyncio.Future[Any]) -> None:
        self._threads_at_work -= 1

    def _wait(self, timeout: float | None) -> list[Any]:
        """What is ready; otherwise go on to the next timer, which is `timeout` seconds away."""
        if timeout == 0:  # callbacks are ready: what arrived meanwhile is looked for once they have run
            return []
        ready = self._poll(0)
        if ready:
            return ready
        if timeout is None or self._threads_at_work:
            return self._poll(None)
        self._microseconds += max(1, round(timeout * PER_SECOND))
        return ready


class SetAheadLoop(asyncio.SelectorEventLoop):
    """An event loop in the machine's time that `pass_seconds` sets ahead."""

    ahead_s = 0.0

    def time(self) -> float:
        """Seconds of the machine's monotonic clock and those that were passed."""
        return super().time() + self.ahead_s


def pass_seconds(seconds: float) -> None:
    """Set the running `SetAheadLoop` ahead: whatever waits until then goes on at once, however slow the machine is."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SetAheadLoop)
    loop.ahead_s += seconds


def run(work: Coroutine[Any, Any, T]) -> T:
    """The coroutine's result; no second passes while it sleeps."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()
