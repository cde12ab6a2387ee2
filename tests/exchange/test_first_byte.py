"""The moment before a write's first byte: what is awaited there, and what is known to have been sent afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from tests.bench.virtual_loop import pass_seconds
from tests.exchange.certificates import certificate
from tests.exchange.scripted_exchange import (
    CREDENTIALS,
    PATIENT,
    NoBudget,
    Scripted,
    StillClock,
    envelope,
    http,
    out_of_time,
    raw_server,
)
from tradetui.exchange import ExchangeClient, NotSent, OutcomeUnknown
from tradetui.exchange.rate_limit.budget import Budget
from tradetui.exchange.transport.http import HttpTransport
from tradetui.exchange.transport.in_process import InProcessTransport
from tradetui.exchange.transport.proxy import parse_proxy
from tradetui.exchange.transport.transport import (
    HttpRequest,
    HttpResponse,
    Origin,
    Transport,
    TransportError,
    TransportErrorKind,
    parse_base_url,
)
from tradetui.wire.models.reversal import ReversalRequest

POST = HttpRequest("POST", "/api/v2/mix/order/click-backhand", {}, b'{"symbol":"BTCUSDT"}')
GOOD = http(envelope([]))
REVERSAL = ReversalRequest(
    symbol="BTCUSDT",
    margin_coin="USDT",
    product_type="USDT-FUTURES",
    size=Decimal("0.30"),
    side="buy",
    trade_side="Open",
)
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Listener:
    """A server that notes what happens to it: connections, and every byte that came in."""

    port: int = 0
    events: list[str] = field(default_factory=list)
    connected: asyncio.Event = field(default_factory=asyncio.Event)
    received: bytearray = field(default_factory=bytearray)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextlib.asynccontextmanager
async def listening(answer: bytes = GOOD, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Listener]:
    listener = Listener()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.events.append("connected")
        listener.connected.set()
        with contextlib.suppress(ConnectionError):
            while part := await reader.read(65536):
                if not listener.received:
                    listener.events.append("bytes")
                listener.received += part
                if listener.received.endswith(POST.body):
                    writer.write(answer)
                    listener.answered.set()
        listener.ended.set()
        writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, ssl=tls)
    listener.port = server.sockets[0].getsockname()[1]
    try:
        yield listener
    finally:
        server.close()


async def post(
    transport: Transport, before: Callable[[], Awaitable[None]], request: HttpRequest = POST
) -> HttpResponse | TransportError:
    try:
        return await transport.send(request, before)
    except TransportError as failure:
        return failure
    finally:
        await transport.aclose()


async def test_it_comes_after_connecting_and_before_every_byte() -> None:
    async with listening() as listener:

        async def before() -> None:
            await listener.connected.wait()
            listener.events.append("before")

        await post(HttpTransport(parse_base_url(listener.base_url), timeouts=PATIENT), before)
        assert listener.events == ["connected", "before", "bytes"]


async def test_it_comes_after_the_certificate_was_verified(tmp_path: Path) -> None:
    server_context, trusted = certificate(tmp_path)
    moments: list[str] = []

    async def before() -> None:
        moments.append("before")

    async with listening(tls=server_context) as listener:
        origin = Origin("https", "127.0.0.1", listener.port)
        failure = await post(HttpTransport(origin, timeouts=PATIENT), before)
        assert isinstance(failure, TransportError)
        assert (failure.kind, failure.sent, moments) == (TransportErrorKind.TLS, False, [])
        response = await post(
            HttpTransport(origin, timeouts=PATIENT, tls=ssl.create_default_context(cafile=trusted)), before
        )
        assert isinstance(response, HttpResponse)
        assert moments == ["before"]


@pytest.mark.parametrize("raised", [NotSent("locked"), OSError("disk"), TimeoutError("slow"), KeyError("x")])
async def test_what_it_raises_is_raised_and_the_connection_closes_without_a_byte(raised: Exception) -> None:
    async with listening() as listener:

        async def before() -> None:
            raise raised

        transport = HttpTransport(parse_base_url(listener.base_url), timeouts=PATIENT)
        with pytest.raises(type(raised)) as failure:
            await transport.send(POST, before)
        assert failure.value is raised
        await listener.ended.wait()
        assert listener.events == ["connected"]
        # The next write is not hindered by it.
        assert isinstance(await post(transport, lambda: asyncio.sleep(0)), HttpResponse)
        assert listener.received.count(b"POST") == 1


async def test_a_call_cut_off_in_it_sends_nothing() -> None:
    async with listening() as listener:
        reached = asyncio.Event()

        async def before() -> None:
            reached.set()
            await asyncio.Event().wait()

        transport = HttpTransport(parse_base_url(listener.base_url), timeouts=PATIENT)
        call = asyncio.create_task(transport.send(POST, before))
        await reached.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await listener.ended.wait()
        assert not listener.received
        await transport.aclose()


async def test_its_time_is_not_taken_from_the_call() -> None:
    """The disk may be slow: cut off in the middle, nobody would know whether the journal's step is written."""
    async with listening() as listener:
        transport = HttpTransport(parse_base_url(listener.base_url), timeouts=PATIENT)

        async def before() -> None:
            pass_seconds(PATIENT.total(writes=True) + 1)
            await asyncio.sleep(0)
            await asyncio.sleep(0)

        assert isinstance(await post(transport, before), HttpResponse)


@contextlib.asynccontextmanager
async def proxy(handler: Handler) -> AsyncIterator[str]:
    """A proxy that does with a connection what `handler` does; its CONNECT has been read already."""

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"CONNECT ")
            await handler(reader, writer)
        writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def fall_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
    await writer.drain()


async def end_in_the_handshake(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    await reader.read(1)


@pytest.mark.parametrize(
    ("handler", "kind"),
    [
        (fall_silent, TransportErrorKind.PROXY),
        (close, TransportErrorKind.PROXY),
        (refuse, TransportErrorKind.PROXY),
        (end_in_the_handshake, TransportErrorKind.TLS),
    ],
)
async def test_a_proxy_that_fails_before_the_tunnel_stands_has_sent_nothing(
    handler: Handler, kind: TransportErrorKind
) -> None:
    """The library raises for it what it raises for a lost reply."""
    moments: list[str] = []

    async def before() -> None:
        moments.append("before")

    silent = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if handler is fall_silent:
            silent.set()
        await handler(reader, writer)

    async with proxy(handle) as address:
        transport = HttpTransport(Origin("https", "api.example.com", 443), timeouts=PATIENT, proxy=parse_proxy(address))
        failure = await out_of_time(post(transport, before), silent)
    assert isinstance(failure, TransportError)
    assert (failure.kind, failure.sent, moments) == (kind, False, [])
    assert "certificate" not in str(failure)


async def test_a_tunnel_through_a_proxy_counts_from_the_exchanges_own_request(tmp_path: Path) -> None:
    server_context, trusted = certificate(tmp_path)
    async with listening(b"", tls=server_context) as listener:

        async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            onward, back = await asyncio.open_connection("127.0.0.1", listener.port)
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")

            async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
                while part := await source.read(65536):
                    target.write(part)

            copying = asyncio.create_task(copy(onward, writer))
            await copy(reader, back)
            back.close()
            await copying

        async def before() -> None:
            await listener.connected.wait()
            assert not listener.received
            listener.events.append("before")

        async with proxy(tunnel) as address:
            context = ssl.create_default_context(cafile=trusted)
            transport = HttpTransport(
                Origin("https", "127.0.0.1", listener.port),
                timeouts=PATIENT,
                httpx_transport_factory=lambda: httpx.AsyncHTTPTransport(proxy=address, verify=context),
            )
            failure = await out_of_time(post(transport, before), listener.answered)
    assert isinstance(failure, TransportError)
    assert (failure.kind, failure.sent) == (TransportErrorKind.TIME_OUT, True)
    assert listener.events == ["connected", "before", "bytes"]
    assert b"CONNECT" not in listener.received


async def test_a_forwarding_proxy_is_given_the_exchanges_own_request() -> None:
    async with listening() as listener:
        moments: list[bytes] = []

        async def before() -> None:
            moments.append(bytes(listener.received))

        transport = HttpTransport(
            Origin("http", "127.0.0.1", 1),
            timeouts=PATIENT,
            httpx_transport_factory=lambda: httpx.AsyncHTTPTransport(proxy=listener.base_url),
        )
        assert isinstance(await post(transport, before), HttpResponse)
        assert moments == [b""]


async def test_a_transport_that_traces_nothing_counts_as_sending_at_once() -> None:
    events: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        events.append(f"{request.method} {request.url.path} {request.content!r}")
        raise httpx.ConnectError("refused")

    async def before() -> None:
        events.append("before")

    transport = HttpTransport(
        parse_base_url("https://api.example.com"), httpx_transport_factory=lambda: httpx.MockTransport(handle)
    )
    failure = await post(transport, before)
    assert isinstance(failure, TransportError)
    assert failure.sent
    assert events == ["before", f"POST {POST.target} {POST.body!r}"]


async def test_in_process_it_comes_before_the_application_is_called() -> None:
    def answer(_: object) -> Exception:
        events.append("application")
        return RuntimeError()

    events: list[str] = []
    app = Scripted(answer)

    async def before() -> None:
        events.append("before")

    await post(InProcessTransport(app), before)
    assert events == ["before", "application"]

    async def refusal() -> None:
        raise NotSent("locked")

    with pytest.raises(NotSent):
        await post(InProcessTransport(app), refusal)
    assert len(app.requests) == 1


async def test_a_write_that_found_no_connection_was_not_sent_and_its_permit_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    clock = StillClock()
    client = ExchangeClient(
        CREDENTIALS, f"http://127.0.0.1:{port}", clock=clock, budget=Budget(clock=clock), timeouts=PATIENT
    )
    moments: list[int] = []

    async def before_send(stamp_ms: int) -> None:
        moments.append(stamp_ms)

    async with client:
        with pytest.raises(NotSent, match="no connection") as failure:
            await client.write(REVERSAL, before_send=before_send)
        assert failure.value.remedy
        assert client.budget.usage()["futures.reverse"].used == 0
    assert moments == []


async def test_a_write_whose_reply_was_lost_may_have_been_done() -> None:
    async def drop(request: bytes, writer: asyncio.StreamWriter) -> None:
        if request.startswith(b"POST"):
            writer.close()
        else:
            writer.write(GOOD)

    async with raw_server(drop) as server:
        clock = StillClock()
        async with ExchangeClient(
            CREDENTIALS, server.base_url, clock=clock, budget=NoBudget(), timeouts=PATIENT
        ) as client:
            with pytest.raises(OutcomeUnknown):
                await client.write(REVERSAL)


async def test_the_bytes_of_a_write_given_up_are_not_sent_later() -> None:
    """The server does not read before the time is over; what the kernel holds by then is dropped, not delivered."""
    body = b"x" * 400_000
    with socket.socket() as listening_socket:
        listening_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listening_socket.bind(("127.0.0.1", 0))
        listening_socket.listen()
        listening_socket.setblocking(False)
        port = listening_socket.getsockname()[1]
        transport = HttpTransport(Origin("http", "127.0.0.1", port), timeouts=PATIENT)
        connected = asyncio.Event()

        async def before() -> None:
            connected.set()

        request = HttpRequest("POST", POST.target, {}, body)
        call = asyncio.create_task(out_of_time(post(transport, before, request), connected))
        loop = asyncio.get_running_loop()
        connection, _ = await loop.sock_accept(listening_socket)
        with connection:
            failure = await call
            received = bytearray()
            with pytest.raises(ConnectionResetError):
                while part := await loop.sock_recv(connection, 65536):
                    received += part
    assert isinstance(failure, TransportError)
    assert (failure.kind, failure.sent) == (TransportErrorKind.TIME_OUT, True)
    assert len(received) < len(body)
