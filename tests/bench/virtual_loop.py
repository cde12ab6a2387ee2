"""Event loops whose time a test rules: virtual time, a coroutine run in it, and a clock that can be set ahead."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from contextvars import Context, copy_context
from heapq import heapify, heappop, heappush
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
PER_SECOND = 1_000_000
"""Time passes in whole microseconds, so that the same sleeps end at the same times whatever was added up before."""
DROPPED_FROM = 100
"""Where there are more timers than this, the cancelled ones are dropped once they are more than half."""


class _Callback(asyncio.Handle):
    """A callback, made without a look at the loop's debug mode."""

    __slots__ = ()

    def __init__(
        self, callback: Callable[..., object], args: tuple[Any, ...], loop: VirtualLoop, context: Context | None
    ) -> None:
        self._context = copy_context() if context is None else context
        self._loop = loop
        self._callback = callback
        self._args = args
        self._cancelled = False
        self._repr = self._source_traceback = None


class _Timer(_Callback, asyncio.TimerHandle):
    """A callback at a time."""

    __slots__ = ()
    _when: float
    _scheduled: bool

    def cancel(self) -> None:
        if not self._cancelled:
            self._cancelled = True
            self._callback = self._args = None  # type: ignore[assignment]
            if self._scheduled:
                self._loop._timer_cancelled_count += 1


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only while everything sleeps, and then at once.

    It stands still while a thread works for it, so that no limit runs out because a busy machine lets the thread wait.
    Callbacks and timers run in asyncio's order. Left out is what it does for its debug mode with each of them, and the
    poll for files between two rounds.
    """

    _closed: bool
    _stopping: bool
    _clock_resolution: float
    _ready: deque[Any]
    _scheduled: list[tuple[float, _Timer]]
    _timer_cancelled_count: int
    _process_events: Callable[[list[Any]], None]
    _selector: Any
    _signal_handlers: dict[int, Any]

    def __init__(self) -> None:
        super().__init__()
        self._microseconds = 0
        self._threads_at_work = 0
        self._poll: Callable[[float | None], list[Any]] = self._selector.select

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._microseconds / PER_SECOND

    def call_soon(
        self, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.Handle:
        """Call it in the next round; raises RuntimeError once the loop is closed."""
        if self._closed:
            raise RuntimeError("Event loop is closed")
        handle = _Callback(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_later(
        self, delay: float, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call it after so many seconds."""
        return self.call_at(self._microseconds / PER_SECOND + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call it at a time of the loop; raises RuntimeError once that is closed."""
        if self._closed:
            raise RuntimeError("Event loop is closed")
        timer = _Timer(callback, args, self, context)
        timer._when = when
        timer._scheduled = True
        heappush(self._scheduled, (when, timer))
        return timer

    def _run_once(self) -> None:
        """Call what is ready and the timers that are due; what these add is for the next round."""
        self._drop_cancelled()
        ready, timers = self._ready, self._scheduled
        if not ready and not self._stopping:
            self._process_events(self._wait(timers[0][0] - self.time() if timers else None))
        end_s = self._microseconds / PER_SECOND + self._clock_resolution
        while timers and timers[0][0] < end_s:
            timer = heappop(timers)[1]
            timer._scheduled = False
            ready.append(timer)
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:
                try:
                    handle._context.run(handle._callback, *handle._args)
                except (SystemExit, KeyboardInterrupt):
                    raise
                except BaseException as problem:
                    message = f"Exception in callback {handle!r}"
                    self.call_exception_handler({"message": message, "exception": problem, "handle": handle})

    def _drop_cancelled(self) -> None:
        timers = self._scheduled
        if len(timers) > DROPPED_FROM and self._timer_cancelled_count * 2 > len(timers):
            self._scheduled = []
            for entry in timers:
                if entry[1]._cancelled:
                    entry[1]._scheduled = False
                else:
                    self._scheduled.append(entry)
            heapify(self._scheduled)
            self._timer_cancelled_count = 0
            return
        while timers and timers[0][1]._cancelled:
            self._timer_cancelled_count -= 1
            heappop(timers)[1]._scheduled = False

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
        if timeout is not None and timeout <= 0:
            return []
        # Where nothing but the loop's own waking can come, that has been seen by what it left to be called.
        ready = self._poll(0) if len(self._selector.get_map()) > 1 or self._signal_handlers else []
        if ready:
            return ready
        if timeout is None or self._threads_at_work:
            return self._poll(None)
        self._microseconds += max(1, round(min(timeout, 86_400.0) * PER_SECOND))
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
