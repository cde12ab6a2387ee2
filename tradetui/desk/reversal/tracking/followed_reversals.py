"""Reversals that are followed: the newest progress of each, and whoever wants to hear of it."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable
from typing import Any

from tradetui.desk.intents.states import State
from tradetui.desk.reversal.outcome import SearchStage
from tradetui.desk.reversal.progress import Progress, Sent
from tradetui.desk.reversal.tracking.outcome_tracker import OutcomeTracker
from tradetui.desk.task_groups import BackgroundTasks
from tradetui.exchange.clock import Clock

_log = logging.getLogger(__name__)

Listener = Callable[[Sent, Progress], None]


class Tracking:
    """Hands each progress to all who listen; nobody who stops listening, or fails, ends the search behind it."""

    def __init__(self, sent: Sent, listener: Listener, clock: Clock) -> None:
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
        self.heard_s = math.inf if progress.stage is SearchStage.ENDED else self._clock.monotonic()
        if progress == self.latest:
            return
        self.latest = progress
        for queue in self._queues:
            queue.put_nowait(progress)
        self._listener(self.sent, progress)

    def end(self) -> None:
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
                if progress.stage in (SearchStage.ENDED, SearchStage.LEFT_OPEN) or self.over:
                    return
                progress = await queue.get()
        finally:
            self._queues.remove(queue)


class FollowedReversals:
    """One search for the outcome of each reversal that was sent, whoever listens to it."""

    def __init__(self, tracker: OutcomeTracker, clock: Clock, tasks: BackgroundTasks) -> None:
        self._tracker = tracker
        self._clock = clock
        self._tasks = tasks
        self._trackings: dict[str, Tracking] = {}
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with every progress of every reversal that is followed; returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def has(self, intent: str) -> bool:
        return intent in self._trackings

    def track(self, sent: Sent) -> Tracking:
        """Follow a reversal that was sent, where it is not followed yet."""
        if (tracking := self._trackings.get(sent.intent)) is not None:
            return tracking
        tracking = self._trackings[sent.intent] = Tracking(sent, self._publish, self._clock)
        tracking.task = self._tasks.begin(self._tracker.track(sent, tracking.publish))
        tracking.task.add_done_callback(lambda _: self._ended(tracking))  # also of a task that never took a step
        return tracking

    def end_stalled(self, seconds: float) -> None:
        """End a search without progress for so long: its intent is taken up anew."""
        for tracking in tuple(self._trackings.values()):
            if self._clock.monotonic() - tracking.heard_s > seconds and tracking.task is not None:
                tracking.task.cancel()

    def _publish(self, sent: Sent, progress: Progress) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(sent, progress)
            except Exception:
                _log.exception("a listener failed at the progress of intent %s", sent.intent)

    def _ended(self, tracking: Tracking) -> None:
        self._trackings.pop(tracking.sent.intent, None)
        tracking.end()
