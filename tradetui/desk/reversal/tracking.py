"""One reversal that is followed: its newest progress, and whoever wants to hear of it."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable
from typing import Any

from tradetui.desk.intents.journal import State
from tradetui.desk.reversal.progress import Progress, Sent, Stage
from tradetui.exchange.clock import Clock

_log = logging.getLogger(__name__)


class Tracking:
    """Hands each progress to all who listen; nobody who stops listening, or fails, ends the search behind it."""

    def __init__(self, sent: Sent, listener: Callable[[Sent, Progress], None], clock: Clock) -> None:
        self.sent = sent
        self.task: asyncio.Task[Any] | None = None
        self.heard_s = math.inf if sent.progress.state is State.SETTLED else clock.monotonic()
        """When the search last gave a sign, in monotonic seconds; it need not once the intent has ended."""
        self._clock = clock
        self.latest = sent.progress
        self.over = False
        self._listener = listener
        self._queues: list[asyncio.Queue[Progress | None]] = []

    def publish(self, progress: Progress) -> None:
        """Hand over what has changed."""
        self.heard_s = math.inf if progress.stage is Stage.ENDED else self._clock.monotonic()
        if progress == self.latest:
            return
        self.latest = progress
        for queue in self._queues:
            queue.put_nowait(progress)
        try:
            self._listener(self.sent, progress)
        except Exception:
            _log.exception("a listener failed at the progress of intent %s", self.sent.intent)

    def end(self) -> None:
        """Nothing more will come."""
        self.over = True
        for queue in self._queues:
            queue.put_nowait(None)

    async def updates(self) -> AsyncIterator[Progress]:
        """Every progress from the first one, until the intent ends or is left open; it may be left at any time."""
        queue: asyncio.Queue[Progress | None] = asyncio.Queue()
        self._queues.append(queue)
        try:
            yield self.sent.progress
            progress: Progress | None = self.latest
            if progress == self.sent.progress:
                progress = None if self.over else await queue.get()
            while progress is not None:
                yield progress
                if progress.stage in (Stage.ENDED, Stage.LEFT_OPEN) or self.over:
                    return
                progress = await queue.get()
        finally:
            self._queues.remove(queue)
