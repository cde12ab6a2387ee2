"""Looks at a sent reversal until its outcome is settled, and for a while longer if the outcome was inferred.

Also keeps the newest progress of each followed reversal, and publishes it to subscribers.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from tradetui.desk.feeds.polling.feed import StillReading
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.states import ENDED, Event, Intent, State
from tradetui.desk.publisher import Publisher
from tradetui.desk.reversal.market_state import MarketState
from tradetui.desk.reversal.outcome import Outcome, SearchStage, matched_result, name_outcome
from tradetui.desk.reversal.progress import Aftermath, Progress, Sent, holdings_of_json
from tradetui.desk.reversal.tracking.evidence import ABSENCE_S, Classification, Evidence, Standing, classify
from tradetui.desk.reversal.tracking.order_reads import OrderReads
from tradetui.desk.reversal.tracking.own_legs import Observation
from tradetui.desk.task_groups import BackgroundTasks, is_cancelled
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError
from tradetui.trading.contract_math import grouped_digits
from tradetui.trading.estimates.reversal_actuals import reversal_actuals

_log = logging.getLogger(__name__)

MAY_BE_OTHERS: Final = "the fills may be of somebody else's order"
REPLY_LOST: Final = "the program ended before the reply was written down"
LOOK_EVERY_S: Final = (0.4, 1.5)
OFTEN_S: Final = 4.0
SLOWER_FROM_S: Final = 10.0
SLOWEST_PAUSE_S: Final = 5.0
"""The pause grows with the time since sending, up to this: a tracker's reads go ahead of every session's feeds."""
FOLLOW_S: Final = 75.0
"""After this long without an end the trader is told that the symbol stays locked; the search continues."""
SELDOM_S: Final = 10.0
_LONGEST_PAUSE_S: Final = 30.0
LOOK_TIMEOUT_S: Final = 30.0
_ROUNDING_S: Final = 0.1
"""The exchange's times are whole milliseconds, and the window must have passed by them too."""
WATCH_FOR_LATER_FILLS_S: Final = 900.0
"""A reversal settled as inferred is watched for this long: a later fill of the order would correct it."""

Publish = Callable[[Progress], None]


@dataclass(slots=True)
class _Search:
    """The state of one search for an outcome between looks; times are monotonic seconds."""

    sent: Sent
    publish: Publish
    began_s: float
    unchanged_since_s: float
    state: State
    evidence: Evidence | None = None
    """The evidence of the last look."""
    failures: int = 0
    """Number of looks that have failed in a row."""
    left_open: bool = False
    """Whether it was reported that there is no end yet."""
    settled_s: float | None = None
    """When it was settled as inferred; from then on it is only watched, because a later fill would correct it."""
    own_only: bool = False
    """Whether the symbol was reversed again, so that only an order or fill of our id can correct the outcome."""
    ends: int = 0
    """How often the intent has ended."""
    absence_s: float = 0.0
    """From when on absence of the order is evidence."""
    unreadable: str = ""
    """Why the last look failed, or could not determine the holdings; empty if it could."""

    @property
    def is_watching(self) -> bool:
        return self.settled_s is not None


class OutcomeTracker:
    """Follows one account's reversals, and writes their outcomes into the journal."""

    def __init__(self, reads: OrderReads, market_state: MarketState, intents: Intents, clock: Clock) -> None:
        self._reads = reads
        self._market_state = market_state
        self._intents = intents
        self._clock = clock
        self._pending: dict[str, tuple[str, float]] = {}

    def pending(self, intent: str) -> str:
        """Describe the progress of an order that was seen live within the last 35 s; empty if none was."""
        how_much, seen_s = self._pending.get(intent, ("", 0.0))
        return how_much if self._clock.monotonic() - seen_s < ABSENCE_S else ""

    async def track(self, sent: Sent, publish: Publish) -> None:
        """Look until the intent has ended and nothing can correct it any more; a failed look is repeated.

        Only cancelling the task ends this earlier. A reversal settled as inferred is watched for a while longer.
        """
        now = self._clock.monotonic()
        search = _Search(sent, publish, now, now, sent.progress.state)
        if search.state is State.SETTLED:
            search.settled_s = now
        for step in itertools.cycle((self._look, self._leave_open, self._sleep)):
            try:
                async with asyncio.timeout(LOOK_TIMEOUT_S + _LONGEST_PAUSE_S):
                    over = await step(search)
            except asyncio.CancelledError as problem:
                if is_cancelled(problem):
                    raise
                self._failed(search, "the look was cut short")
            except (ExchangeError, StillReading) as problem:
                self._failed(search, str(problem), logged=False)
            except TimeoutError:
                self._failed(search, f"it did not end within {LOOK_TIMEOUT_S:.0f} s")
            except Exception as problem:
                self._failed(search, f"{type(problem).__name__}: {problem}")
            else:
                if over:
                    self._pending.pop(sent.intent, None)
                    return

    def _failed(self, search: _Search, why: str, *, logged: bool = True) -> None:
        search.failures += 1
        if logged:
            _log.warning("intent %s: a look failed: %s", search.sent.intent, why, exc_info=True)
        if not search.is_watching:
            search.unreadable = why
            search.publish(Progress(search.state, SearchStage.SEARCHING, f"searching: {why}"))

    def _pause(self, search: _Search) -> float:
        """Return the seconds until the next look; a long search must not take the budget from everything else."""
        if search.failures > 2:
            return min(_LONGEST_PAUSE_S, 2.0 ** (search.failures - 2))
        followed_s = self._clock.monotonic() - search.began_s
        often, seldom = LOOK_EVERY_S
        if search.is_watching or followed_s > FOLLOW_S:
            return SELDOM_S
        if followed_s < SLOWER_FROM_S:
            return often if followed_s < OFTEN_S else seldom
        pause = min(SLOWEST_PAUSE_S, seldom * followed_s / SLOWER_FROM_S)
        until_absence_s = search.absence_s - self._clock.monotonic()
        # A request that was never taken can be settled from that moment on, so this look is not delayed.
        return max(often, until_absence_s) if until_absence_s > 0 and pause > until_absence_s else pause

    async def _sleep(self, search: _Search) -> bool:
        await asyncio.sleep(self._pause(search))
        return False

    async def _look(self, search: _Search) -> bool:
        """Look once; True if there is nothing more to look for."""
        intent = await self._intents.read(search.sent.intent)
        sent = replace(search.sent, refused=bool(intent.details.get("refused", search.sent.refused)))
        if intent.state in ENDED and (not search.is_watching or intent.state is State.RELEASED):
            await self._intents.refresh()
            search.publish(ended_elsewhere(intent))
            return True
        if intent.state is State.CORRECTED:
            search.settled_s = None  # another process saw it first
        search.state, search.ends = intent.state, intent.ends
        if search.is_watching and (sent.reversed_since or self._intents.open_scopes.holder(intent.scope) is not None):
            search.own_only = True  # what the next reversal of this symbol does is not the effect of this one
        order_id, acknowledged = _reply_of(intent)
        acknowledged = acknowledged or sent.acknowledged
        waited_s = self.waited_s(intent, sent.call_ended_s)
        search.absence_s = self._clock.monotonic() + ABSENCE_S + _ROUNDING_S - waited_s
        look = await self._reads.observe(sent, replied_order_id=order_id or sent.order_id, waited_s=waited_s)
        search.failures = 0
        classification = classify(sent.plan, look, acknowledged=acknowledged, refused=sent.refused)
        contradicts = bool(look.contradiction) and "contradiction" not in intent.details
        more = classification.evidence != search.evidence and _more_of_ours(search, intent, look, classification)
        if search.is_watching and (more or contradicts):
            went_on = f"its order went on filling: {_how_much(classification)}"
            sentence = f"it was settled, and {went_on if more else look.contradiction}"
            if not await self._correct(search, sentence, classification):
                return False  # the evidence stays what the end rests on, so that the next look corrects it
        if classification.evidence != search.evidence:
            search.evidence, search.unchanged_since_s = classification.evidence, self._clock.monotonic()
        if search.settled_s is not None:
            return self._clock.monotonic() - search.settled_s > WATCH_FOR_LATER_FILLS_S
        self._remember_pending(sent, classification)
        search.unreadable = look.unreadable
        if contradicts:
            details = {"why": look.contradiction, "contradiction": look.contradiction}
            if await self._note(search, details):  # it outlives the release of this intent
                self._market_state.contradiction = look.contradiction
        if sent.refused and classification.evidence.seen_as_ours:  # seen once, it is known to the next session too
            await self._note(search, {"why": "refused, yet an order with its id is shown", "refused": False})
        if look.unreadable:
            search.publish(Progress(search.state, SearchStage.SEARCHING, f"searching: {look.unreadable}"))
        elif classification.settles(self._clock.monotonic() - search.unchanged_since_s):
            return await self._settle(search, look, classification)
        else:
            search.publish(_so_far(search.state, look, classification))
        return False

    def waited_s(self, intent: Intent, call_ended_s: float | None = None) -> float:
        """Return the seconds certainly passed since the call ended, by clocks that never step; 0 while it may go on.

        `call_ended_s` is the monotonic time at which this process knew it; None if another process made the call.
        """
        if call_ended_s is not None:
            return self._clock.monotonic() - call_ended_s
        ended = _call_ended(intent)
        return self._intents.writers.elapsed_s(ended) if ended is not None else 0.0

    def _remember_pending(self, sent: Sent, classification: Classification) -> None:
        if classification.standing is Standing.PENDING:
            self._pending[sent.intent] = _how_much(classification), self._clock.monotonic()
        else:
            self._pending.pop(sent.intent, None)

    async def _note(self, search: _Search, details: Mapping[str, Any]) -> bool:
        """Write the findings of a look about an intent that has not ended; True if written."""
        state = State.CORRECTED if search.state is State.CORRECTED else State.UNKNOWN
        if search.state is State.SENT or not await self._intents.note(
            search.sent.intent, state, details, prior=search.state
        ):
            return False
        search.state = state
        return True

    async def _leave_open(self, search: _Search) -> bool:
        """Report once that there is no end yet; once that is written, the trader may release the symbol."""
        if search.is_watching or self._clock.monotonic() - search.began_s < FOLLOW_S:
            return False
        why = ": ".join(filter(None, (f"no outcome could be named within {FOLLOW_S:.0f} s", search.unreadable)))
        if search.state is State.ACKNOWLEDGED and await self._intents.note(
            search.sent.intent, State.UNKNOWN, {"why": why}, prior=State.ACKNOWLEDGED
        ):
            search.state = State.UNKNOWN
        if not search.left_open:
            search.left_open = True
            search.publish(Progress(search.state, SearchStage.LEFT_OPEN, why))
        return False

    async def _settle(self, search: _Search, look: Observation, classification: Classification) -> bool:
        """Write the end; True if there is nothing more to look for."""
        sent, outcome, held, effect = search.sent, classification.outcome, look.held, classification.effect
        final = classification.standing in (Standing.COMPLETE, Standing.ABSENT)
        inferred = classification.inferred or not final
        came_true = matched_result(classification.plan, held) if outcome is not Outcome.NOT_DONE else None
        details = {
            "outcome": str(outcome),
            "attribution": _attribution(look, classification),
            "held": held.as_json(),
            "effect": effect.as_json() if effect is not None else None,
            "came_true": came_true,
            "inferred": inferred,
            "final": final,
            "filled": _digits(classification.filled),
            "closed": _digits(classification.closed),
            "opened": _digits(classification.opened),
            "proven": look.proven,
        }
        if search.state is State.SENT and await self._intents.note(
            sent.intent, State.UNKNOWN, {"why": REPLY_LOST}, prior=State.SENT
        ):
            search.state = State.UNKNOWN
        if not await self._intents.note(sent.intent, State.SETTLED, details, prior=search.state):
            sentence = f"{outcome}: {held}; not settled: {self._intents.trouble or 'it could not be written down'}"
            search.publish(Progress(search.state, SearchStage.SEARCHING, sentence, held, effect))
            return False  # another process may have written an end, which the next look finds
        search.state, search.settled_s = State.SETTLED, None if final else self._clock.monotonic()
        sentence = _settled_sentence(look, classification, inferred=inferred)
        ends = search.ends + 1
        progress = Progress(State.SETTLED, SearchStage.ENDED, sentence, held, effect, outcome, came_true, ends=ends)
        try:
            async with asyncio.timeout(ABSENCE_S / 3):
                aftermath = await self._market_state.read_aftermath(
                    sent.plan, held, look.positions, classification.fills
                )
        except asyncio.CancelledError:
            search.publish(progress)  # the journal already has the end, and nobody would report it later
            raise
        except Exception as problem:
            aftermath = Aftermath(
                actuals=reversal_actuals(sent.plan, classification.fills, look.positions, None, None),
                unread=str(problem) or type(problem).__name__,
            )
        progress = replace(progress, aftermath=aftermath)
        search.publish(progress)
        return final

    async def _correct(self, search: _Search, sentence: str, classification: Classification) -> bool:
        """Lock the symbol again, because the settled outcome is incomplete, and continue to search; True if written."""
        if not await self._intents.note(search.sent.intent, State.CORRECTED, {"why": sentence}):
            return False
        await self._intents.refresh()
        search.state, search.settled_s, search.left_open = State.CORRECTED, None, False
        search.began_s = self._clock.monotonic()
        search.publish(Progress(State.CORRECTED, SearchStage.CORRECTED, sentence, None, classification.effect))
        return True


def _call_ended(intent: Intent) -> Event | None:
    """Return the step after which the call had ended: the reply, or the last step that calls its outcome unknown.

    A process that took a living sender for dead has written one too early; the sender's own step follows it.
    """
    for state in (State.ACKNOWLEDGED, State.UNKNOWN):
        ended = [event for event in intent.events if event.state is state]
        if ended:
            return ended[-1]
    return None


def _reply_of(intent: Intent) -> tuple[str | None, bool]:
    """Return the order's id in the exchange's reply, and whether there was a reply."""
    for event in intent.events:
        if event.state is State.ACKNOWLEDGED:
            order_id = event.details.get("reply", {}).get("orderId")
            return (str(order_id) if order_id else None), True
    return None, False


def _more_of_ours(search: _Search, intent: Intent, look: Observation, classification: Classification) -> bool:
    """Whether something of ours came after it was settled: a fill, or a pending order."""
    if search.evidence is None or look.renumbered:
        return _more_than_written(search, intent, classification)
    before, now = search.evidence, classification.evidence
    traced_more = bool(now.traced_fills - before.traced_fills) and not search.own_only
    return bool(now.own_fills - before.own_fills) or bool(now.pending - before.pending) or traced_more


def _more_than_written(search: _Search, intent: Intent, classification: Classification) -> bool:
    """Whether more came than the journal has, for a reversal settled before this process began."""
    if classification.standing is Standing.PENDING:
        return True
    amounts = {"filled": classification.filled}
    if not search.own_only:
        amounts |= {"closed": classification.closed, "opened": classification.opened}
    for name, amount in amounts.items():
        written = intent.details.get(name)
        if amount is not None and written is not None and amount > Decimal(written):
            return True
    return False


def _digits(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


def _how_much(classification: Classification) -> str:
    """Describe the closed and opened size so far beside the planned: `closed 3 of 3, opened 0 of 3`.

    If closed and opened size are not distinguished, as in one-way mode with a size, both are one amount.
    """
    plan, closed, opened = classification.plan, classification.closed, classification.opened
    if plan.uncertain:
        traded = closed + opened if closed is not None and opened is not None else None
        return f"traded {_amount_of(traded, (result.traded for result in plan.results))}"
    (result,) = plan.results
    return f"closed {_amount_of(closed, (result.closed,))}, opened {_amount_of(opened, (result.opened,))}"


def _amount_of(amount: Decimal | None, planned: Iterable[Decimal]) -> str:
    so_far = grouped_digits(amount) if amount is not None else "?"
    return f"{so_far} of {' or '.join(map(grouped_digits, planned))}"


def _so_far(state: State, look: Observation, classification: Classification) -> Progress:
    stage, plan, held = SearchStage.SO_FAR, classification.plan, look.held
    by_fills = bool(classification.evidence.traced_fills) and not classification.evidence.seen_as_ours
    match classification.standing:
        case Standing.PENDING:
            sentence = f"so far, {_how_much(classification)}; the order is still live"
        case Standing.LAGGING:
            sentence = f"so far, {_how_much(classification)}; the order has filled, the position does not show it yet"
        case _ if classification.outcome is Outcome.NOT_DONE:
            whose = _attribution(look, classification, settled=False)
            sentence = f"not done so far: refused, and no order with its id is seen; {whose}"
        case _ if by_fills and held == plan.before:
            sentence = f"so far, the size was traded, and the position does not show it yet; {MAY_BE_OTHERS}"
        case _ if by_fills:
            sentence = f"{name_outcome(plan, held)} so far, by the fills: {held}; {MAY_BE_OTHERS}"
        case Standing.UNSEEN | Standing.ABSENT:
            stage, sentence = SearchStage.SEARCHING, "searching: the order is not visible yet"
            if held != plan.before:
                sentence += f"; held now: {held}, by orders not known to be ours"
        case _:
            sentence = f"so far, {classification.outcome}: {held}"
    return Progress(state, stage, sentence, held, classification.effect)


def _attribution(look: Observation, classification: Classification, *, settled: bool = True) -> str:
    """Describe whose orders made the holdings if ours is not known to have; empty if it is."""
    plan, held = classification.plan, look.held
    if classification.outcome is not Outcome.NOT_DONE:
        return MAY_BE_OTHERS if classification.inferred else ""
    if held == plan.before:
        return f"held now: {held}"
    already = "already " if matched_result(plan, held) is not None else ""
    return f"the position is {already}{held}, by orders {'that were not' if settled else 'not known to be'} ours"


def _settled_sentence(look: Observation, classification: Classification, *, inferred: bool) -> str:
    attribution, effect = _attribution(look, classification), classification.effect
    if classification.outcome is Outcome.NOT_DONE:
        sentence = f"{classification.outcome}; {attribution}" + (" (inferred)" if inferred else "")
    else:
        basis = f" (inferred{f': {attribution}' if attribution else ''})" if inferred else ""
        sentence = f"{classification.outcome}; held now: {look.held}{basis}"
    if classification.outcome is Outcome.OTHER and effect is not None and effect != look.held:
        sentence += f"; our order alone came to {effect}, others traded as well"
    if not look.proven:
        sentence += " (summed from fills, not proven: more may be held)"
    return sentence


def ended_elsewhere(intent: Intent) -> Progress:
    """Return the end that the journal has: another process of the account wrote it, or the trader released it."""
    details = intent.details
    outcome = Outcome(details["outcome"]) if intent.state is State.SETTLED and "outcome" in details else None
    return Progress(
        intent.state,
        SearchStage.ENDED,
        f"{intent.end if outcome is not None else intent.state}, as the journal says",
        held=holdings_of_json(details["held"]) if outcome is not None and "held" in details else None,
        outcome=outcome,
        came_true=details.get("came_true") if outcome is not None else None,
        ends=intent.ends,
    )


Listener = Callable[[Sent, Progress], object]


class Tracking:
    """Passes each progress to all subscribers; one that stops listening, or fails, does not end the search."""

    def __init__(self, sent: Sent, listener: Listener, clock: Clock) -> None:
        self.sent = sent
        self.task: asyncio.Task[Any] | None = None
        self.heard_s = math.inf if sent.progress.state is State.SETTLED else clock.monotonic()
        """When the search last gave a sign (monotonic seconds); infinite once the intent has ended."""
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
        """Yield every progress until the intent ends or is left open; the caller may stop at any time."""
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


class FollowedReversals(Publisher[Sent, Progress]):
    """Runs one search for the outcome of each sent reversal, and publishes every progress of all."""

    def __init__(self, tracker: OutcomeTracker, clock: Clock, tasks: BackgroundTasks) -> None:
        super().__init__()
        self._tracker = tracker
        self._clock = clock
        self._tasks = tasks
        self._trackings: dict[str, Tracking] = {}

    def has(self, intent: str) -> bool:
        return intent in self._trackings

    def track(self, sent: Sent) -> Tracking:
        """Follow a sent reversal, if it is not followed yet."""
        if (tracking := self._trackings.get(sent.intent)) is not None:
            return tracking
        tracking = self._trackings[sent.intent] = Tracking(sent, self._tell, self._clock)
        tracking.task = self._tasks.begin(self._tracker.track(sent, tracking.publish))
        tracking.task.add_done_callback(lambda _: self._ended(tracking))  # also for a task that never took a step
        return tracking

    def end_stalled(self, seconds: float) -> None:
        """Cancel a search that gave no sign for this long; its intent is then resumed."""
        for tracking in tuple(self._trackings.values()):
            if self._clock.monotonic() - tracking.heard_s > seconds and tracking.task is not None:
                tracking.task.cancel()

    def _ended(self, tracking: Tracking) -> None:
        self._trackings.pop(tracking.sent.intent, None)
        tracking.end()
