"""Writes to the exchange: each is sent at most once and gives a result, a readable refusal or an unknown outcome."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tradetui.exchange.calls.result import write_result
from tradetui.exchange.errors import ClockTooFarOff, ExchangeError, InvalidRequest, OutcomeUnknown
from tradetui.exchange.rate_limit.budget import Priority
from tradetui.wire.endpoints.catalogue import endpoint_of
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.models.public import ServerTimeRequest

if TYPE_CHECKING:
    from tradetui.exchange.calls.reads import Reads
    from tradetui.exchange.calls.signed_call import BeforeSend, SignedCalls
    from tradetui.exchange.clock import ServerClock
    from tradetui.wire.endpoints.endpoint import Endpoint
    from tradetui.wire.requests.request import Request


class Writes:
    """Every write of one account. A client that only reads has no such object."""

    def __init__(self, calls: SignedCalls, reads: Reads, server_clock: ServerClock) -> None:
        self._calls = calls
        self._reads = reads
        self._server_clock = server_clock

    async def write(
        self, endpoint: Endpoint, request: Request[Any], before_send: BeforeSend | None = None
    ) -> Reply[Any]:
        """Send a write once, ever.

        `before_send` is awaited with the time stamp (Unix ms) just before the first byte; if it raises, nothing is
        sent. Raises `NotSent` if nothing left this machine, `Rejected` and similar errors if the exchange's own
        envelope refuses the write, and `OutcomeUnknown` in every other case. It is never sent again.
        """
        body = request.body()
        await self._check_clock(endpoint)
        sent_at: int | None = None

        async def about_to_send(stamp_ms: int) -> None:
            nonlocal sent_at
            if before_send is not None:
                await before_send(stamp_ms)
            sent_at = stamp_ms

        try:
            answer = await self._calls.call(endpoint, Priority.INTERACTIVE, body=body, before_send=about_to_send)
            result = write_result(endpoint, answer)
        except Exception as problem:
            # A rule that is broken only after the first byte is a fault of this program, not a refusal.
            refused = isinstance(problem, ExchangeError) and not isinstance(problem, InvalidRequest)
            if refused or sent_at is None:
                raise
            raise OutcomeUnknown(
                f"the reply could not be processed ({type(problem).__name__}: {problem})",
                stamp_ms=sent_at,
                endpoint=endpoint.name,
                remedy="Look at the exchange before doing anything again.",
            ) from problem
        if isinstance(result, Reply):
            if not all(request.is_answered_by(row) for row in result.rows):
                raise OutcomeUnknown(
                    "the reply is about another order",
                    stamp_ms=sent_at,
                    endpoint=endpoint.name,
                    remedy="Look at positions, pending orders and fills before doing anything again.",
                )
            return result
        self._calls.record_failure(result, answer)
        raise result

    async def _check_clock(self, endpoint: Endpoint) -> None:
        if self._server_clock.offset_ms is None:
            with suppress(ExchangeError):  # any reply tells the time, even a refusal
                await self._reads.read(endpoint_of(ServerTimeRequest), ServerTimeRequest(), Priority.INTERACTIVE)
        if self._server_clock.blocks_writes:
            seconds = abs(self._server_clock.offset_ms or 0) / 1000
            raise ClockTooFarOff(
                f"this machine's clock is {seconds:.1f} s from the exchange's",
                endpoint=endpoint.name,
                remedy="Set the clock (within 5 s), then try again.",
            )
