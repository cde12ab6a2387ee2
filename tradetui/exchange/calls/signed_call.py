"""One signed call: wait for a permit, stamp, sign, send once, learn from the response.

Waiting for the permit can be cancelled. A call with a permit runs to its end in a task of its own. Callers can stop
waiting for it but never cancel it, because the connections of httpcore 1.0 do not survive a cancelled request.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tradetui.exchange.calls.result import CallResult, parse_response, retry_after
from tradetui.exchange.errors import ExchangeError, NotSent, ReadOnly, Unreachable
from tradetui.exchange.transport.transport import (
    MAX_CONCURRENT_READS,
    MAX_CONCURRENT_WRITES,
    HttpRequest,
    Timeouts,
    Transport,
    TransportError,
    TransportErrorKind,
)
from tradetui.wire.signing import SigningUnavailable, decoded_query, encoded_query, signed_headers
from tradetui.wire.text import scrub

if TYPE_CHECKING:
    from tradetui.exchange.clock import Clock, ServerClock
    from tradetui.exchange.connection_status import ConnectionStatus
    from tradetui.exchange.credentials import Credentials
    from tradetui.exchange.rate_limit.budget import Budget, Permit, Priority
    from tradetui.wire.endpoints.endpoint import Endpoint
    from tradetui.wire.signing import Signer

_log = logging.getLogger(__name__)

BeforeSend: TypeAlias = Callable[[int], Awaitable[None]]
"""Awaited with the request's time stamp (ms) just before its first byte; if it raises, nothing is sent."""
Connect: TypeAlias = Callable[[], Awaitable[Transport]]

_LONGEST_MESSAGE = 400
_WRITE_GRACE_S = 2.0
"""Seconds that closing waits for the reply to a write under way."""
_PATIENCE_S = 5.0
"""Seconds that a call with a permit waits for a connection while calls that do not end hold them all."""


class _Call(NamedTuple):
    """One call; `sign_decoded` is for a server that signs a query before it is percent-encoded."""

    endpoint: Endpoint
    query: list[tuple[str, str]]
    body: bytes
    sign_decoded: bool
    before_send: BeforeSend | None


class SignedCalls:
    """Sends every call of one account."""

    def __init__(
        self,
        connect: Connect,
        credentials: Credentials | None,
        *,
        budget: Budget,
        clock: Clock,
        server_clock: ServerClock,
        connection_status: ConnectionStatus,
        timeouts: Timeouts,
        environment: str = "live",
        locale: str = "en-US",
        read_only: bool = False,
        concurrent_reads: int = MAX_CONCURRENT_READS,
    ) -> None:
        self._connect = connect
        self._credentials = credentials
        self._budget = budget
        self._clock = clock
        self._server_clock = server_clock
        self._connection_status = connection_status
        self._timeouts = timeouts
        self._environment = environment
        self._locale = locale
        self._read_only = read_only
        self._read_slots = asyncio.Semaphore(concurrent_reads)
        self._write_slots = asyncio.Semaphore(MAX_CONCURRENT_WRITES)
        self._connecting: asyncio.Task[Transport] | None = None
        self._signer: Signer | None = None
        self._reads: set[asyncio.Task[CallResult]] = set()
        self._writes: set[asyncio.Task[CallResult]] = set()
        self._closed = False

    async def prepare(self) -> None:
        """Load the HTTP library and TLS context off the loop; otherwise the first call does it.

        If this fails, the first call reports why.
        """
        with suppress(NotSent):
            await self._transport()

    async def call(
        self,
        endpoint: Endpoint,
        priority: Priority,
        *,
        query: list[tuple[str, str]] | None = None,
        body: bytes = b"",
        sign_decoded: bool = False,
        before_send: BeforeSend | None = None,
    ) -> CallResult:
        """Make the call once and return its result; raises only if nothing was sent."""
        if endpoint.writes and self._read_only:
            raise ReadOnly(
                "this program was started to read only",
                endpoint=endpoint.name,
                remedy="Use ExchangeClient, or start without monitor mode, to write.",
            )
        if self._closed:
            raise NotSent("the connection is closed", endpoint=endpoint.name, remedy="Make a new client.")
        transport = await self._transport()
        hold_s = _PATIENCE_S + self._timeouts.total(writes=endpoint.writes) + 1.0
        permit = await self._budget.acquire(endpoint, priority, hold_s=hold_s)
        slots = self._write_slots if endpoint.writes else self._read_slots
        try:
            async with asyncio.timeout(_PATIENCE_S if slots.locked() else None):
                await slots.acquire()
        except BaseException as problem:
            permit.unused()
            if not isinstance(problem, TimeoutError):
                raise
            raise Unreachable(
                f"no answer within {_PATIENCE_S:g} s, and every connection waits for one",
                endpoint=endpoint.name,
                remedy="Check the network, and ask for less at a time.",
            ) from None
        call = _Call(endpoint, query or [], body, sign_decoded, before_send)
        task = asyncio.create_task(self._send(call, transport, permit, slots), name=f"call {endpoint.name}")
        (self._writes if endpoint.writes else self._reads).add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def record_rows(self, endpoint: Endpoint) -> None:
        """Note a read that succeeded, even with no rows."""
        self._connection_status.good_replies += endpoint.signed

    def record_failure(self, error: ExchangeError, answer: CallResult) -> None:
        """Note a call that failed; mask our secrets in its error message and shorten it."""
        message = error.message
        if self._credentials is not None:
            message = self._credentials.masked(message)
        if len(message) > _LONGEST_MESSAGE:
            message = message[: _LONGEST_MESSAGE - 1] + "…"
        error.message = message
        error.args = (message,)
        self._connection_status.failed(answered=answer.http_response is not None)

    async def aclose(self) -> None:
        """Cancel the reads, give a write under way a moment to be answered, and close."""
        self._closed = True
        reads, writes = list(self._reads), list(self._writes)
        if writes:
            await asyncio.wait(writes, timeout=_WRITE_GRACE_S)
        for task in (*reads, *writes):
            task.cancel()
        await asyncio.gather(*reads, *writes, return_exceptions=True)
        if self._connecting is not None:
            try:
                transport = await self._connecting
            except Exception:  # the caller got the error; nothing is open
                return
            await transport.aclose()

    async def _transport(self) -> Transport:
        connecting = self._connecting
        if connecting is None or (connecting.done() and (connecting.cancelled() or connecting.exception() is not None)):
            connecting = self._connecting = asyncio.ensure_future(self._open_transport())
        if connecting.done():
            return connecting.result()
        return await asyncio.shield(connecting)

    async def _open_transport(self) -> Transport:
        credentials = self._credentials
        if credentials is not None:
            try:  # an RSA key needs a large library
                self._signer = await asyncio.to_thread(credentials.signer) if credentials.rsa else credentials.signer()
            except SigningUnavailable as problem:
                raise NotSent(str(problem), remedy="Start again once that is done, or use an HMAC key.") from None
        return await self._connect()

    async def _send(self, call: _Call, transport: Transport, permit: Permit, slots: asyncio.Semaphore) -> CallResult:
        """Stamp, sign and send; then return the permit according to whether the request may have arrived."""
        stamp_ms = self._server_clock.now_ms
        begun = self._clock.monotonic()
        departed = False

        async def before_first_byte() -> None:
            nonlocal begun, departed
            if call.before_send is not None:
                await call.before_send(stamp_ms)
            begun = self._clock.monotonic()
            departed = True

        try:
            http_response = await transport.send(self._build_request(call, stamp_ms), before_first_byte)
        except TransportError as failure:
            if not failure.sent:
                permit.unused()
            elif failure.kind in (TransportErrorKind.UNREADABLE, TransportErrorKind.BROKEN):
                permit.replied()  # a request cannot arrive any more once its connection has ended
            else:
                permit.unanswered()
            _log.info("%s: %s", call.endpoint.name, failure)
            return CallResult(stamp_ms, failure=failure)
        except BaseException:
            if departed:
                permit.unanswered()
            else:
                permit.unused()
            raise
        finally:
            slots.release()
        round_trip_s = self._clock.monotonic() - begun
        answer = parse_response(stamp_ms, http_response, unique_names=call.endpoint.decides_what_is_sent)
        if answer.limited:
            permit.refused(retry_after(http_response.headers.get("retry-after"), stamp_ms))
        else:
            permit.replied(_remaining(http_response.headers))
        self._connection_status.replied(round_trip_s)
        if answer.envelope is not None:
            self._server_clock.observe(answer.envelope.request_time, round_trip_s)
        _log_answer(call.endpoint, answer, http_response.status, round_trip_s)
        return answer

    def _build_request(self, call: _Call, stamp_ms: int) -> HttpRequest:
        endpoint = call.endpoint
        on_the_wire = encoded_query(call.query)
        headers = {"Content-Type": "application/json", "locale": self._locale}
        if endpoint.signed:
            if self._credentials is None or self._signer is None:
                raise NotSent("an API key is needed", endpoint=endpoint.name, remedy="Give credentials to the client.")
            headers = signed_headers(
                self._signer,
                api_key=self._credentials.api_key,
                passphrase=self._credentials.passphrase,
                timestamp=str(stamp_ms),
                method=endpoint.method,
                path=endpoint.path,
                query=decoded_query(call.query) if call.sign_decoded else on_the_wire,
                body=call.body,
                locale=self._locale,
            )
        if self._environment == "demo":
            headers["paptrading"] = "1"
        target = f"{endpoint.path}?{on_the_wire}" if on_the_wire else endpoint.path
        return HttpRequest(endpoint.method, target, headers, call.body)

    def _ended(self, task: asyncio.Task[CallResult]) -> None:
        self._reads.discard(task)
        self._writes.discard(task)
        if not task.cancelled() and (failure := task.exception()) is not None:
            _log.debug("a call ended with %s", type(failure).__name__)


def already_open(transport: Transport) -> Connect:
    """Make a way to connect for a transport that is already open."""

    async def connect() -> Transport:
        return transport

    return connect


def _log_answer(endpoint: Endpoint, answer: CallResult, http_status: int, round_trip_s: float) -> None:
    if answer.envelope is None:
        _log.info("%s: %s, HTTP status %d", endpoint.name, answer.unreadable, http_status)
    elif answer.envelope.ok:
        _log.info("%s: answered within %.0f ms", endpoint.name, round_trip_s * 1000)
    else:
        _log.info("%s: code %s, HTTP status %d", endpoint.name, scrub(answer.envelope.code), http_status)


def _remaining(headers: Mapping[str, str]) -> int | None:
    text = headers.get("x-mbx-used-remain-limit", "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None
