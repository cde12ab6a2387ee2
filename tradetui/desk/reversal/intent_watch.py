"""Watches an account's open intents: resumes abandoned ones, and notices the steps of other processes."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Final

from tradetui.desk.intents.intents import WATCH_S, Intents
from tradetui.desk.intents.states import Intent, State, Withheld
from tradetui.desk.reversal.progress import sent_of
from tradetui.desk.reversal.sending import KIND
from tradetui.desk.reversal.tracking.outcome_tracker import REPLY_LOST, WATCH_FOR_LATER_FILLS_S, FollowedReversals
from tradetui.desk.task_groups import BackgroundTasks, is_cancelled
from tradetui.exchange.clock import Clock

_log = logging.getLogger(__name__)

OTHERS_FOLLOW_S: Final = 5.0
"""After an intent stood still for this long, every process follows it, because its sender may be gone."""
STANDS_STILL_S: Final = 120.0
STEP_S: Final = 20.0
"""A step that takes longer is cancelled, and repeated at its next turn."""
_LONGEST_PAUSE_S: Final = 30.0
"""A failing step is repeated after growing pauses, up to this."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a step last failed, when, and how long it is paused; times in monotonic seconds."""

    reason: str
    since_s: float
    pause_s: float


class IntentWatch:
    """Runs while a session has a journal."""

    def __init__(
        self,
        intents: Intents,
        followed: FollowedReversals,
        tasks: BackgroundTasks,
        clock: Clock,
        *,
        sendings: Collection[str],
        looked: Callable[[], Awaitable[None]],
    ) -> None:
        """`sendings` is the live collection of intents that this session is sending; `looked` runs after each look."""
        self._intents = intents
        self._followed = followed
        self._tasks = tasks
        self._clock = clock
        self._sendings = sendings
        self._looked = looked
        self._taken_up: set[str] = set()
        self._failures: dict[Callable[[bool], Awaitable[None]], _Failure] = {}

    async def run(self) -> None:
        """Resume abandoned intents; notice within a second when other processes lock, begin, settle or abandon one."""
        at_start = (self._take_up, self._watch_what_was_inferred, self._watch_what_it_settled_for_others)
        not_done = set(at_start)
        for step in itertools.cycle((*at_start, self._look_around)):
            if self._is_paused(step):
                continue
            try:
                async with asyncio.timeout(STEP_S):
                    await step(step in not_done)
            except Withheld:
                pass  # there is no usable journal yet, or the store has not been read yet
            except asyncio.CancelledError as problem:
                if is_cancelled(problem):
                    raise
            except Exception as problem:  # the next look reports what is wrong with the journal or the store
                self._failed(step, f"{type(problem).__name__}: {problem}")
            else:
                not_done.discard(step)
                self._failures.pop(step, None)

    def _is_paused(self, step: Callable[[bool], Awaitable[None]]) -> bool:
        """Whether a failed step is paused; `_look_around` paces the others, so it never is."""
        failure = self._failures.get(step)
        if failure is None or step == self._look_around:
            return False
        return self._clock.monotonic() - failure.since_s < failure.pause_s

    def _failed(self, step: Callable[[bool], Awaitable[None]], reason: str) -> None:
        earlier = self._failures.get(step)
        if earlier is None or earlier.reason != reason:
            _log.warning("looking after the journal: %s", reason)
        pause_s = WATCH_S if earlier is None else min(_LONGEST_PAUSE_S, earlier.pause_s * 2)
        self._failures[step] = _Failure(reason, self._clock.monotonic(), pause_s)

    async def _look_around(self, first: bool) -> None:
        await asyncio.sleep(WATCH_S)
        self._followed.end_stalled(STANDS_STILL_S)
        await self._intents.refresh()
        await self._looked()

    async def _take_up(self, first: bool) -> None:
        """Follow every intent that no task here follows and that has stood still long enough; at first, every one."""
        at_least_s = 0.0 if first else OTHERS_FOLLOW_S
        # An intent that was being sent when the read began may have ended since; the row that was read is older.
        known = {*self._taken_up, *self._sendings}
        if not first and self._intents.open_scopes.ids() <= known:
            return
        for intent in await self._intents.not_settled():
            if intent.kind != KIND or intent.id in known or intent.id in self._sendings:
                continue
            if self._followed.has(intent.id) and intent.state not in (State.INTENDED, State.SENT):
                continue
            still_s = self._intents.writers.elapsed_s(intent.events[-1])
            if still_s < at_least_s and not await self._intents.is_left_behind(intent):
                continue
            self._taken_up.add(intent.id)
            self._tasks.begin(self._take_up_one(intent))

    async def _take_up_one(self, intent: Intent) -> None:
        try:
            if intent.state is not State.INTENDED:
                # Follow it at once: evidence about its order settles it, whoever sent it.
                self._followed.track(sent_of(intent))
            async with asyncio.timeout(STANDS_STILL_S):
                await self._write_what_was_left_behind(intent)
        finally:
            self._taken_up.discard(intent.id)

    async def _write_what_was_left_behind(self, intent: Intent) -> None:
        intent = await self._intents.once_left_behind(intent)
        if intent.state is State.INTENDED:
            why = {"why": "the program ended before it was sent"}
            await self._intents.note(intent.id, State.WITHDRAWN, why, prior=State.INTENDED)
        elif intent.state is State.SENT:
            await self._intents.note(intent.id, State.UNKNOWN, {"why": REPLY_LOST}, prior=State.SENT)
        await self._intents.refresh()

    async def _watch_what_was_inferred(self, first: bool) -> None:
        """Continue to watch reversals settled as inferred before this session: a later fill would correct them."""
        if first:
            self._watch_inferred(await self._intents.newest())

    async def _watch_what_it_settled_for_others(self, first: bool) -> None:
        """Do so for reversals of other machines that this one has settled: only the store has them."""
        if not first or (shared := self._intents.shared) is None:
            return
        newest = await shared.newest_with_ages()
        for intent, age_s in newest:
            self._intents.writers.saw_aged(intent, age_s)
        self._watch_inferred([intent for intent, _ in newest], settled_by=str(shared.store.writer))

    def _watch_inferred(self, newest: Iterable[Intent], settled_by: str = "") -> None:
        """Watch what was inferred of these intents, newest first; with a writer of the store, what it has settled."""
        later_scopes: set[str] = set()
        for intent in newest:
            reversed_since = intent.scope in later_scopes
            if intent.state not in (State.WITHDRAWN, State.REJECTED):
                later_scopes.add(intent.scope)
            if intent.kind != KIND or intent.state is not State.SETTLED or intent.details.get("final", True):
                continue
            if settled_by and intent.events[-1].writer != settled_by:
                continue
            if self._intents.writers.elapsed_s(intent.events[-1]) < WATCH_FOR_LATER_FILLS_S:
                self._followed.track(replace(sent_of(intent), reversed_since=reversed_since))
