"""Through a real proxy, HTTP and SOCKS, to a TLS server whose name only the proxy can resolve."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

import pytest

from tests.exchange.certificates import certificate_of_authority
from tests.exchange.proxy_program import EXCHANGE, running_proxy
from tests.exchange.scripted_exchange import (
    CREDENTIALS,
    KEY,
    PASSPHRASE,
    PATIENT,
    NoBudget,
    Raw,
    StillClock,
    envelope,
    http,
    out_of_time,
    raw_server,
)
from tests.exchange.test_first_byte import REVERSAL
from tradetui.exchange import (
    ExchangeClient,
    ExchangeReader,
    InvalidProxy,
    NotSent,
    Priority,
    Proxy,
    Unreachable,
    parse_proxy,
)
from tradetui.exchange.errors import Hop
from tradetui.exchange.rate_limit.budget import Budget
from tradetui.exchange.transport.http import HttpTransport
from tradetui.exchange.transport.proxy import (
    is_excepted,
    proxy_of_environment,
)
from tradetui.exchange.transport.transport import (
    HttpRequest,
    HttpResponse,
    Origin,
    TransportError,
    TransportErrorKind,
    parse_base_url,
)

GOOD = http(envelope([]))
POST = HttpRequest("POST", "/api/v2/mix/order/click-backhand?a=%20b", {"ACCESS-KEY": KEY}, b'{"symbol":"BTCUSDT"}')
SCHEMES = pytest.mark.parametrize("scheme", ["http", "socks5"])


class Fault(Enum):
    """What a relay does to the first bytes that the proxy answers."""

    NONE = auto()
    HANG = auto()
    CLOSE = auto()
    ANSWER_502 = auto()
    HANG_AFTER_TUNNEL = auto()
    CLOSE_AFTER_TUNNEL = auto()


@dataclass
class Relay:
    """Lies between this program and the proxy, and keeps what this program sent."""

    port: int = 0
    received: bytearray = field(default_factory=bytearray)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    silent: asyncio.Event = field(default_factory=asyncio.Event)

    def cut(self) -> None:
        for writer in self.writers:
            writer.transport.abort()


@contextlib.asynccontextmanager
async def relay(proxy_port: int, fault: Fault = Fault.NONE) -> AsyncIterator[Relay]:
    lying_between = Relay()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        proxy_reader, proxy_writer = await asyncio.open_connection("127.0.0.1", proxy_port)
        lying_between.writers += [writer, proxy_writer]

        async def outwards() -> None:
            while part := await reader.read(65536):
                lying_between.received += part
                proxy_writer.write(part)
            proxy_writer.close()

        async def back() -> None:
            answered = bytearray()
            while part := await proxy_reader.read(65536):
                answered += part
                tunnel_stands = answered.startswith(b"HTTP/1.1 200") or len(answered) > 2
                if fault is Fault.HANG:
                    lying_between.silent.set()
                    continue
                if fault is Fault.CLOSE:
                    break
                if fault is Fault.ANSWER_502:
                    writer.write(b"HTTP/1.1 502 secret-words-of-the-proxy\r\ncontent-length: 0\r\n\r\n")
                    continue
                is_tls = not lying_between.received.endswith(b"\r\n")
                if fault is Fault.HANG_AFTER_TUNNEL and tunnel_stands and is_tls:
                    lying_between.silent.set()
                    continue
                writer.write(part)
                if fault is Fault.CLOSE_AFTER_TUNNEL and tunnel_stands:
                    break
            writer.close()

        with contextlib.suppress(ConnectionError):
            await asyncio.gather(outwards(), back())

    server = await asyncio.start_server(connection, "127.0.0.1", 0)
    lying_between.port = server.sockets[0].getsockname()[1]
    try:
        yield lying_between
    finally:
        server.close()
        lying_between.cut()


@dataclass
class Exchange:
    """A TLS server under a name of its own, and what verifies its certificate."""

    server: Raw
    origin: Origin
    tls: ssl.SSLContext


@contextlib.asynccontextmanager
async def exchange(directory: Path, name: str = EXCHANGE) -> AsyncIterator[Exchange]:
    server_context, ca_file = certificate_of_authority(directory, name)

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)

    async with raw_server(answer, tls=server_context) as server:
        port = int(server.base_url.rpartition(":")[2])
        yield Exchange(server, Origin("https", EXCHANGE, port), ssl.create_default_context(cafile=ca_file))


async def post(transport: HttpTransport, moments: list[str] | None = None) -> HttpResponse | TransportError:
    async def before_first_byte() -> None:
        if moments is not None:
            moments.append("before")

    try:
        return await transport.send(POST, before_first_byte)
    except TransportError as failure:
        return failure
    finally:
        await transport.aclose()


@SCHEMES
async def test_a_request_goes_through_a_tunnel_and_the_proxy_sees_the_name_alone(scheme: str, tmp_path: Path) -> None:
    async with exchange(tmp_path) as there, running_proxy(scheme) as port, relay(port) as between:
        proxy = Proxy(scheme, "127.0.0.1", between.port)
        transport = HttpTransport(there.origin, timeouts=PATIENT, tls=there.tls, proxy=proxy)
        moments: list[str] = []
        response = await post(transport, moments)
    assert isinstance(response, HttpResponse), response
    assert (response.status, moments) == (200, ["before"])
    head = there.server.requests[0][0].decode()
    assert head.startswith(f"POST {POST.target} HTTP/1.1\r\nHost: {EXCHANGE}:{there.origin.port}\r\n")
    assert EXCHANGE.encode() in between.received
    if scheme == "http":
        assert between.received.startswith(f"CONNECT {EXCHANGE}:{there.origin.port} HTTP/1.1\r\n".encode())
    for part in (b"api/v2", KEY.encode(), b"BTCUSDT"):
        assert part not in between.received


@SCHEMES
async def test_a_proxy_with_a_password(scheme: str, tmp_path: Path) -> None:
    async with exchange(tmp_path) as there, running_proxy(scheme, "trader", "p@ss:word") as port:
        right = parse_proxy(f"{scheme}://trader:p%40ss%3Aword@127.0.0.1:{port}")
        response = await post(HttpTransport(there.origin, timeouts=PATIENT, tls=there.tls, proxy=right))
        assert isinstance(response, HttpResponse), response
        for wrong in (Proxy(scheme, "127.0.0.1", port), Proxy(scheme, "127.0.0.1", port, "trader", "wr0ng")):
            failure = await post(HttpTransport(there.origin, timeouts=PATIENT, tls=there.tls, proxy=wrong))
            assert isinstance(failure, TransportError)
            assert (failure.kind, failure.sent) == (TransportErrorKind.PROXY, False)
            assert "user and password" in str(failure) and "wr0ng" not in str(failure)


@SCHEMES
async def test_tls_is_verified_through_a_proxy(scheme: str, tmp_path: Path) -> None:
    async with running_proxy(scheme) as port:
        proxy = Proxy(scheme, "127.0.0.1", port)
        async with exchange(tmp_path) as there:
            unknown_authority = await post(HttpTransport(there.origin, timeouts=PATIENT, proxy=proxy))
        async with exchange(tmp_path, name="other.test") as there:
            other_name = await post(HttpTransport(there.origin, timeouts=PATIENT, tls=there.tls, proxy=proxy))
    for failure in (unknown_authority, other_name):
        assert isinstance(failure, TransportError)
        assert (failure.kind, failure.sent) == (TransportErrorKind.TLS, False)
        assert "certificate was refused" in str(failure)
    assert there.server.count == 0


@SCHEMES
async def test_a_name_that_the_proxy_does_not_find_is_the_proxys_hop(scheme: str) -> None:
    async with running_proxy(scheme) as port:
        transport = HttpTransport(
            Origin("https", "nowhere.invalid", 443), timeouts=PATIENT, proxy=Proxy(scheme, "127.0.0.1", port)
        )
        failure = await post(transport)
    assert isinstance(failure, TransportError)
    assert (failure.kind, failure.sent) == (TransportErrorKind.PROXY, False)
    assert "nowhere.invalid:443" in str(failure) and f"{scheme}://127.0.0.1:{port}" in str(failure)


@pytest.mark.parametrize(
    ("scheme", "fault", "kind", "sentence"),
    [
        ("http", Fault.HANG, TransportErrorKind.PROXY, "in time"),
        ("http", Fault.CLOSE, TransportErrorKind.PROXY, "closed the connection"),
        ("http", Fault.ANSWER_502, TransportErrorKind.PROXY, "502"),
        ("http", Fault.CLOSE_AFTER_TUNNEL, TransportErrorKind.TLS, "the handshake failed"),
        ("http", Fault.HANG_AFTER_TUNNEL, TransportErrorKind.TLS, "did not end in time"),
        ("socks5", Fault.HANG, TransportErrorKind.PROXY, "in time"),
        ("socks5", Fault.CLOSE, TransportErrorKind.PROXY, "closed the connection"),
        ("socks5", Fault.CLOSE_AFTER_TUNNEL, TransportErrorKind.TLS, "the handshake failed"),
    ],
)
async def test_what_breaks_before_the_first_byte_has_sent_nothing(
    scheme: str, fault: Fault, kind: TransportErrorKind, sentence: str, tmp_path: Path
) -> None:
    moments: list[str] = []
    async with exchange(tmp_path) as there, running_proxy(scheme) as port, relay(port, fault) as between:
        proxy = Proxy(scheme, "127.0.0.1", between.port, "trader", "canary")
        if scheme == "socks5":
            proxy = Proxy(scheme, "127.0.0.1", between.port)
        transport = HttpTransport(there.origin, timeouts=PATIENT, tls=there.tls, proxy=proxy)
        failure = await out_of_time(post(transport, moments), between.silent)
        assert isinstance(failure, TransportError)
        assert (failure.kind, failure.sent, moments, there.server.count) == (kind, False, [], 0)
        assert sentence in str(failure)
        assert "canary" not in str(failure) and "secret-words" not in str(failure)


@SCHEMES
async def test_what_breaks_after_the_first_byte_may_have_arrived(scheme: str, tmp_path: Path) -> None:
    server_context, ca_file = certificate_of_authority(tmp_path, EXCHANGE)
    async with running_proxy(scheme) as port, relay(port) as between:

        async def cut(_: bytes, writer: asyncio.StreamWriter) -> None:
            between.cut()

        async with raw_server(cut, tls=server_context) as server:
            origin = Origin("https", EXCHANGE, int(server.base_url.rpartition(":")[2]))
            tls = ssl.create_default_context(cafile=ca_file)
            proxy = Proxy(scheme, "127.0.0.1", between.port)
            failure = await post(HttpTransport(origin, timeouts=PATIENT, tls=tls, proxy=proxy))
    assert isinstance(failure, TransportError)
    assert (failure.kind, failure.sent, server.count) == (TransportErrorKind.BROKEN, True, 1)


@pytest.mark.parametrize("fault", [Fault.HANG, Fault.CLOSE, Fault.ANSWER_502])
async def test_a_reversal_that_the_proxy_kept_back_was_not_sent_and_its_permit_is_free(fault: Fault) -> None:
    clock = StillClock()
    moments: list[int] = []

    async def before_send(stamp_ms: int) -> None:
        moments.append(stamp_ms)

    async with running_proxy("http") as port, relay(port, fault) as between:
        client = ExchangeClient(
            CREDENTIALS,
            f"https://{EXCHANGE}",
            clock=clock,
            budget=Budget(clock=clock),
            timeouts=PATIENT,
            proxy=parse_proxy(f"http://127.0.0.1:{between.port}"),
        )
        async with client:
            with pytest.raises(NotSent, match=f"the proxy http://127.0.0.1:{between.port}") as failure:
                await out_of_time(client.write(REVERSAL, before_send=before_send), between.silent)
            assert "proxy" in str(failure.value.remedy)
            assert client.budget.usage()["futures.reverse"].used == 0
    assert moments == []


async def test_each_hop_is_named_by_the_error_that_a_caller_gets(tmp_path: Path) -> None:
    async def hop_of(origin: Origin, proxy: Proxy | None = None) -> Unreachable:
        reader = ExchangeReader(
            CREDENTIALS, origin.url, priority=Priority.FEED, budget=NoBudget(), timeouts=PATIENT, proxy=proxy
        )
        async with reader:
            with pytest.raises(Unreachable) as failure:
                await reader.futures.accounts(product_type="USDT-FUTURES")
        assert PASSPHRASE not in str(failure.value)
        return failure.value

    async with exchange(tmp_path) as there, running_proxy("http") as port:
        unverified = await hop_of(there.origin, Proxy("http", "127.0.0.1", port))
    no_proxy = await hop_of(there.origin, Proxy("http", "127.0.0.1", port, "trader", "canary"))
    no_name = await hop_of(Origin("https", "nowhere.invalid", 443))
    nobody_there = await hop_of(Origin("https", "127.0.0.1", there.origin.port))
    hops = [failure.hop for failure in (no_proxy, no_name, unverified, nobody_there)]
    assert hops == [Hop.PROXY, Hop.NAME, Hop.TLS, Hop.EXCHANGE]
    assert f"http://127.0.0.1:{port}" in str(no_proxy) and "canary" not in str(no_proxy)
    assert "nowhere.invalid" in str(no_name)
    assert f"127.0.0.1:{there.origin.port}" in str(nobody_there)


async def test_an_exchange_on_loopback_is_reached_without_the_proxy() -> None:
    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)

    async with raw_server(answer) as server:
        transport = HttpTransport(
            parse_base_url(server.base_url), timeouts=PATIENT, proxy=Proxy("http", "127.0.0.1", 1)
        )
        assert isinstance(await post(transport), HttpResponse)


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("http://127.0.0.1:3128", Proxy("http", "127.0.0.1", 3128)),
        ("http://proxy.example/", Proxy("http", "proxy.example", 80)),
        ("socks5://[::1]", Proxy("socks5", "::1", 1080)),
        ("SOCKS5H://u:p%40@proxy:9", Proxy("socks5h", "proxy", 9, "u", "p@")),
    ],
)
def test_addresses_of_proxies_that_are_taken(text: str, proxy: Proxy) -> None:
    assert parse_proxy(text) == proxy
    assert "p@" not in repr(proxy) + proxy.address


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1:3128",
        "https://canary@proxy:1",
        "socks4://canary:canary@proxy:1",
        "http://",
        "http://canary:canary@",
        "http://proxy:port",
        "http://proxy:0",
        "http://canary@pro xy",
        "http://proxy/path",
        "http://canary:%ff@proxy",
        f"socks5://canary:{'x' * 256}@proxy",
        "",
    ],
)
def test_addresses_of_proxies_that_are_refused(text: str) -> None:
    with pytest.raises(InvalidProxy) as failure:
        parse_proxy(text)
    assert "canary" not in str(failure.value)


@pytest.mark.parametrize(
    ("environ", "address"),
    [
        ({}, None),
        ({"HTTP_PROXY": "http://a:1"}, None),
        ({"HTTPS_PROXY": "http://a:1", "ALL_PROXY": "socks5://b:2"}, "http://a:1"),
        ({"ALL_PROXY": "socks5://b:2"}, "socks5://b:2"),
        ({"HTTPS_PROXY": "a:1"}, "http://a:1"),
        ({"HTTPS_PROXY": "http://a:1", "https_proxy": "http://c:3"}, "http://c:3"),
        ({"HTTPS_PROXY": "http://a:1", "https_proxy": ""}, None),
        ({"all_proxy": "socks5h://b:2", "no_proxy": "other.com"}, "socks5h://b:2"),
        ({"HTTPS_PROXY": "http://a:1", "NO_PROXY": "example.com"}, None),
        ({"HTTPS_PROXY": "http://a:1", "NO_PROXY": "example.com", "no_proxy": ""}, "http://a:1"),
    ],
)
def test_the_environments_proxy(environ: dict[str, str], address: str | None) -> None:
    route = proxy_of_environment(Origin("https", "api.example.com", 443), environ)
    assert (route and route[0].address) == address
    assert proxy_of_environment(Origin("https", "127.0.0.1", 443), environ) is None


def test_an_environments_proxy_that_cannot_be_used_is_named_by_its_variable() -> None:
    with pytest.raises(InvalidProxy, match="all_proxy must begin with http://, socks5://") as failure:
        proxy_of_environment(Origin("https", "api.example.com", 443), {"all_proxy": "socks4://u:canary@h:1"})
    assert "canary" not in str(failure.value)


@pytest.mark.parametrize(
    ("host", "no_proxy", "excepted"),
    [
        ("api.example.com", "*", True),
        ("api.example.com", "other.com, example.com", True),
        ("api.example.com", ".EXAMPLE.com", True),
        ("api.example.com", "*.example.com other.com", True),
        ("api.example.com", "example.com:443", True),
        ("api.example.com", "example.com:8443", False),
        ("api.example.com", "ample.com", False),
        ("api.example.com", "pi.example.com", False),
        ("api.example.com", "", False),
        ("10.1.2.3", "10.0.0.0/8", True),
        ("10.1.2.3", "10.1.2.3", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("2001:db8::1", "[2001:db8::1]:443", True),
        ("2001:db8::1", "2001:db8::/32", True),
    ],
)
def test_what_no_proxy_excepts(host: str, no_proxy: str, excepted: bool) -> None:
    assert is_excepted(Origin("https", host, 443), no_proxy) is excepted
