"""One attempt to send a reversal: it leaves this machine once or never, and the journal knows which."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final, NoReturn

from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.states import AlreadyOpen, Overtaken, State, Withheld, WrongStep
from tradetui.desk.reversal.outcome import SearchStage
from tradetui.desk.reversal.preview import SENDING_S, Preview
from tradetui.desk.reversal.progress import Progress, Sent
from tradetui.desk.reversal.tracking.order_reads import OrderReads
from tradetui.desk.task_groups import is_cancelled
from tradetui.exchange.client import TradingClient
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError, NotSent, OutcomeUnknown
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.enums import PositionMode

_log = logging.getLogger(__name__)

KIND: Final = "reversal"
CALL_S: Final = 40.0
"""Longer than the call's own time-outs together; a call is not awaited beyond this."""
DISK_S: Final = 10.0
"""A step that takes longer is written in the background, while the screen shows what is known."""
_LONGEST_PAUSE_S: Final = 30.0
_NAMES_THE_SIDE: Final = re.compile(r"\bside\b", re.IGNORECASE)


class NotConfirmed(Withheld):
    """The reversal was not sent; `reasons` are why, `preview` is the newest one."""

    def __init__(self, reasons: tuple[str, ...], preview: Preview | None = None) -> None:
        super().__init__(reasons)
        self.preview = preview


class Departure:
    """One attempt either leaves or is withdrawn, never both.

    Nothing is awaited between the check and the departure. So a successful withdrawal is final: the request never
    leaves.
    """

    def __init__(self) -> None:
        self.departed = False
        """Whether the first byte may have left."""
        self._withdrawn_because = ""

    @property
    def withdrawn(self) -> bool:
        return bool(self._withdrawn_because)

    def withdraw(self, reason: str) -> bool:
        """Keep the request from leaving, for a reason in words; False if it was too late."""
        if not self.departed:
            self._withdrawn_because = self._withdrawn_because or reason
        return not self.departed

    def check(self) -> None:
        """Raise NotSent if it was withdrawn."""
        if self._withdrawn_because:
            raise NotSent(self._withdrawn_because)

    def depart(self) -> None:
        """Let the first byte leave; raises NotSent if it was withdrawn."""
        self.check()
        self.departed = True


class Sending:
    """One attempt; its `departure` can withdraw it until the first byte leaves."""

    def __init__(
        self,
        client: TradingClient,
        reads: OrderReads,
        intents: Intents,
        clock: Clock,
        intent: str,
        scope: str,
        run_in_background: Callable[[Coroutine[Any, Any, None]], object],
        departure: Departure,
    ) -> None:
        """`run_in_background` runs work that nobody awaits."""
        self.intent = intent
        self.scope = scope
        self.departure = departure
        self._client = client
        self._reads = reads
        self._intents = intents
        self._clock = clock
        self._asleep_before_ms = self._asleep_ms()
        self._run_in_background = run_in_background
        self._stamp_ms = 0
        self._preview: Preview | None = None
        """The preview that is being sent, set after the second read; before that nothing can have left."""

    def _asleep_ms(self) -> float:
        """Return wall time minus monotonic time in ms; it grows while the machine sleeps."""
        return self._clock.wall_ms() - self._clock.monotonic() * 1000

    def abandon(self) -> None:
        self.departure.withdraw("it was withdrawn before it was sent")

    async def send(self, preview: Preview, before_reading: int, store_version: int | None) -> Sent:
        """Write the intent and send it once.

        The numbers are the newest events of the journal, before the last reading, and of the store, before the trader
        saw anything.

        Raises NotConfirmed if nothing was sent, ExchangeError for a readable refusal; nothing was done then.
        """
        assert preview.plan is not None
        self._preview, plan = preview, preview.plan.with_client_oid(self.intent)
        self._stamp_ms = self._client.server_clock.now_ms
        await self._begin(plan, preview, before_reading, store_version)

        async def before_send(stamp_ms: int) -> None:
            self._stamp_ms = stamp_ms
            self._still_true(preview)
            await self._intents.about_to_send(self.intent, {"stamp_ms": stamp_ms})
            self._still_true(preview)  # the disk may have delayed it
            self.departure.depart()

        try:
            self._still_true(preview)
            async with asyncio.timeout(CALL_S):
                reply = await self._client.write(plan.request, before_send=before_send)
        except BaseException as problem:
            if not self.departure.departed or isinstance(problem, NotSent):
                await self._not_sent(problem, preview)
            return await self._failed(problem, preview, plan)
        await self._write(State.ACKNOWLEDGED, {"reply": dict(reply.rows[0].received)})
        return self._sent(preview, State.ACKNOWLEDGED, "the exchange accepted it", reply=reply)

    async def _not_sent(self, problem: BaseException, preview: Preview) -> NoReturn:
        self.abandon()
        why = _problem_text(problem) if not isinstance(problem, TimeoutError) else f"not sent within {CALL_S:.0f} s"
        await self._write(State.WITHDRAWN, {"why": why})
        if _ends_task(problem):
            raise problem
        raise NotConfirmed((why,), preview) from None

    async def _failed(self, problem: BaseException, preview: Preview, plan: ReversalPlan) -> Sent:
        """Handle a failed call whose request has left: raise an uncontradicted refusal; anything else is unknown."""
        refused = False
        if isinstance(problem, ExchangeError) and not isinstance(problem, OutcomeUnknown):
            contradiction, refused = await self._contradiction(preview)
            if not contradiction:
                await self._write(State.REJECTED, {"code": problem.code, "message": problem.message})
                _name_the_setting(problem, plan)
                raise problem
            why = f"refused ({problem.message}, code {problem.code}), yet {contradiction}"
        elif isinstance(problem, TimeoutError):
            why = f"the call did not end within {CALL_S:.0f} s"
        else:
            why = _problem_text(problem)
        await self._write(State.UNKNOWN, {"why": why} | ({"refused": True} if refused else {}))
        if _ends_task(problem):
            raise problem
        return self._sent(preview, State.UNKNOWN, why, refused=refused)

    def after_failure(self, problem: BaseException) -> Sent:
        """Handle an attempt that failed unexpectedly: a request that may have left is followed.

        Raises NotConfirmed if nothing has left and nothing will.
        """
        self.abandon()
        why = _problem_text(problem)
        sent_preview = self._preview if self.departure.departed else None
        state = State.WITHDRAWN if sent_preview is None else State.UNKNOWN
        self._run_in_background(self._write_behind(state, {"why": why}))
        if sent_preview is None:
            raise NotConfirmed((f"{why[:1].upper()}{why[1:]}.",), self._preview) from problem
        return self._sent(sent_preview, state, why)

    async def _contradiction(self, preview: Preview) -> tuple[str, bool]:
        """Return evidence that the exchange carried out the request it refused, and whether the refusal may be true.

        The evidence is empty if there is none. An order that has already filled is not pending any more, and with the
        core interface alone it cannot be requested by its id. Then only the traded size is evidence, which another
        order may have traded.
        """
        sent = self._sent(preview, State.SENT, "")
        reads = (self._reads.is_shown, self._reads.is_pending, self._reads.has_effect)
        shown, pending, traded = await asyncio.gather(*(_proven(read, sent) for read in reads))
        if shown or pending:
            return "the exchange has an order with this id", False
        return "the requested size was traded, perhaps by somebody else's order" if traded else "", True

    def _still_true(self, preview: Preview) -> None:
        """Raise NotSent if it was withdrawn, or if its facts may have changed."""
        self.departure.check()
        slept_s = max(0.0, self._asleep_ms() - self._asleep_before_ms) / 1000
        age = self._clock.monotonic() - preview.requested_at + slept_s
        if age > SENDING_S:
            raise NotSent(
                f"the account was read {age:.1f} s before sending, and {SENDING_S:.0f} s is the limit",
                remedy="Check the new figures and confirm again.",
            )

    async def _begin(
        self, plan: ReversalPlan, preview: Preview, before_reading: int, store_version: int | None
    ) -> None:
        details: dict[str, Any] = {
            "request": dict(plan.request_fields()),
            "title": plan.title,
            "before": plan.before.as_json(),
            "after": [result.after.as_json() for result in plan.results],
            "mode": str(plan.params.mode),
            "newest_fill": preview.newest_fill,
            "recent_fills": sorted(preview.recent_fills),
        }
        try:
            async with asyncio.timeout(DISK_S):
                await self._intents.begin(
                    self.intent, self.scope, KIND, details, after=before_reading, after_in_store=store_version
                )
        except Overtaken as overtaken:
            by = f" ({overtaken.by})" if overtaken.by else ""
            why = f"Changed since you looked: another session has reversed this symbol{by}."
            raise NotConfirmed((why,), preview) from None
        except AlreadyOpen as problem:
            raise NotConfirmed((f"An earlier reversal of this symbol is not settled ({problem}).",)) from None
        except Withheld as refused:
            raise NotConfirmed(refused.reasons) from None
        except BaseException as problem:
            self.abandon()
            self._run_in_background(self._write_behind(State.WITHDRAWN, {"why": _problem_text(problem)}))
            if is_cancelled(problem):
                raise
            raise NotConfirmed((f"The journal cannot be written: {_problem_text(problem)}.",), preview) from None

    async def _write(self, state: State, details: Mapping[str, Any]) -> None:
        """Write a step that has already happened; a disk that does not answer delays nobody."""
        try:
            async with asyncio.timeout(DISK_S):
                await self._intents.note(self.intent, state, details)
        except BaseException as problem:
            _log.warning("intent %s: %s is not written yet: %s", self.intent, state, _problem_text(problem))
            self._run_in_background(self._write_behind(state, details))
            if is_cancelled(problem):
                raise

    async def _write_behind(self, state: State, details: Mapping[str, Any]) -> None:
        """Retry until the step is written, or until another process has written one."""
        pause_s = 0.5
        while True:
            try:
                async with asyncio.timeout(DISK_S):
                    await self._intents.step(self.intent, state, details)
                    await self._intents.refresh()
                return
            except WrongStep:
                return
            except (Exception, asyncio.CancelledError) as problem:
                if is_cancelled(problem):
                    raise
                _log.warning("intent %s: %s is not written yet: %s", self.intent, state, _problem_text(problem))
            await asyncio.sleep(pause_s)
            pause_s = min(_LONGEST_PAUSE_S, pause_s * 2)

    def _sent(
        self, preview: Preview, state: State, sentence: str, *, reply: Reply[Any] | None = None, refused: bool = False
    ) -> Sent:
        assert preview.plan is not None
        return Sent(
            self.intent,
            preview.plan.with_client_oid(self.intent),
            self._stamp_ms,
            preview.newest_fill,
            Progress(state, SearchStage.SEARCHING, sentence),
            preview.recent_fills,
            call_ended_s=self._clock.monotonic(),
            acknowledged=reply is not None,
            order_id=reply.rows[0].order_id if reply is not None else None,
            refused=refused,
        )


def _ends_task(problem: BaseException) -> bool:
    """Whether an exception ends this task, or the whole program."""
    return is_cancelled(problem) or not isinstance(problem, Exception | asyncio.CancelledError)


async def _proven(read: Callable[[Sent], Awaitable[bool]], sent: Sent) -> bool:
    """Return the result of a read after a refusal; a read that fails or takes too long proves nothing."""
    try:
        async with asyncio.timeout(CALL_S / 4):
            return await read(sent)
    except (Exception, asyncio.CancelledError) as problem:
        if is_cancelled(problem):
            raise
        return False


def _problem_text(problem: BaseException) -> str:
    if isinstance(problem, ExchangeError | Withheld):
        return str(problem)
    if isinstance(problem, asyncio.CancelledError):
        return "it was interrupted"
    if isinstance(problem, TimeoutError):
        return "it took too long"
    return f"{type(problem).__name__}: {problem}".removesuffix(": ")


def _name_the_setting(refusal: ExchangeError, plan: ReversalPlan) -> None:
    """Add a remedy to a refusal that names `side` in one-way mode: it concerns the profile's `one_way_side`."""
    if plan.params.mode is not PositionMode.ONE_WAY or not _NAMES_THE_SIDE.search(refusal.message):
        return
    if plan.params.one_way_side == "omit":
        remedy = 'This exchange wants a side in one-way mode: set one_way_side = "held" or "order" in the profile.'
    else:
        remedy = f'Set one_way_side in the profile to another value than "{plan.params.one_way_side}", or to "omit".'
    refusal.remedy = f"{refusal.remedy} {remedy}" if refusal.remedy else remedy
