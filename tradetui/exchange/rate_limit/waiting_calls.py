"""Calls that wait for one endpoint's permits: persons before feeds, first come first served."""

from __future__ import annotations

import asyncio
from collections import deque

from tradetui.exchange.rate_limit.budget import Permit, Priority


class WaitingCall:
    """One call; whoever has a permit for it sets the future, which its cancellation ends."""

    __slots__ = ("future", "hold_s")

    def __init__(self, hold_s: float) -> None:
        """`hold_s` is the longest the call may take."""
        self.future: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
        self.hold_s = hold_s

    async def permit(self) -> Permit:
        """Wait; a permit that comes together with a cancellation is given back."""
        try:
            return await self.future
        except asyncio.CancelledError:
            done = self.future
            if done.done() and not done.cancelled() and done.exception() is None:
                done.result().unused()
            raise


class WaitingCalls:
    """The calls of one endpoint that wait; those that were cancelled are passed over."""

    def __init__(self) -> None:
        self._queues: dict[Priority, deque[WaitingCall]] = {Priority.INTERACTIVE: deque(), Priority.FEED: deque()}

    def add(self, priority: Priority, hold_s: float) -> WaitingCall:
        """Wait behind those of the same priority."""
        call = WaitingCall(hold_s)
        self._queues[priority].append(call)
        return call

    def first_of(self, priority: Priority) -> WaitingCall | None:
        queue = self._queues[priority]
        while queue and queue[0].future.done():
            queue.popleft()
        return queue[0] if queue else None

    def first(self) -> tuple[Priority, WaitingCall] | None:
        for priority in self._queues:
            if (call := self.first_of(priority)) is not None:
                return priority, call
        return None

    def take(self, priority: Priority) -> WaitingCall | None:
        call = self.first_of(priority)
        if call is not None:
            self._queues[priority].popleft()
        return call

    def fail(self, error: Exception) -> None:
        """End the waiting of all with an error."""
        for priority in self._queues:
            while (call := self.take(priority)) is not None:
                call.future.set_exception(error)
