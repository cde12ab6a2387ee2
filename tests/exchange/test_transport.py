"""The network side over real loopback connections: bad answers, time-outs, redirects, proxies, TLS, read-only."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gzip
import hmac
import logging
import os
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from tests.bench.cancel import measure
from tests.exchange.certificates import certificate
from tests.exchange.scripted_exchange import (
    CREDENTIALS,
    PATIENT,
    SECRET,
    START_MS,
    NoBudget,
    StillClock,
    envelope,
    http,
    out_of_time,
    raw_server,
)
from tradetui.exchange import (
    Credentials,
    ExchangeClient,
    ExchangeError,
    ExchangeReader,
    OutcomeUnknown,
    Priority,
    Unreachable,
    UnreadableReply,
)
from tradetui.exchange.errors import ReadOnly
from tradetui.exchange.transport.http import HttpTransport, HttpxTransportFactory, shared_tls
from tradetui.exchange.transport.transport import (
    MAX_CONCURRENT_READS,
    HttpRequest,
    Origin,
    Timeouts,
    TransportError,
    TransportErrorKind,
    parse_base_url,
    verifying_tls,
)

USDT = "USDT-FUTURES"
Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


def says(*parts: bytes, close: bool = False) -> Answer:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
        if close:
            writer.close()

    return answer


def reader(base_url: str, **options: Any) -> ExchangeReader:
    return ExchangeReader(
        CREDENTIALS, base_url, priority=Priority.FEED, budget=NoBudget(), **{"timeouts": PATIENT, **options}
    )


def writer_to(base_url: str) -> ExchangeClient:
    return ExchangeClient(CREDENTIALS, base_url, clock=StillClock(), budget=NoBudget(), timeouts=PATIENT)


async def failure_of(call: Awaitable[Any]) -> ExchangeError:
    with pytest.raises(ExchangeError) as failure:
        await call
    return failure.value


GOOD = http(envelope([]))


async def test_a_reader_over_http_and_one_connection_for_many_reads() -> None:
    async with raw_server(says(GOOD)) as server, reader(server.base_url) as client:
        for _ in range(5):
            await client.futures.accounts(product_type=USDT)
        assert client.connection_status.latency_ms is not None
    assert [len(connection) for connection in server.requests] == [5]
    head = server.requests[0][0].decode()
    assert head.startswith("GET /api/v2/mix/account/accounts?productType=USDT-FUTURES HTTP/1.1\r\n")


async def test_values_are_on_the_wire_as_they_were_signed() -> None:
    async with raw_server(says(GOOD)) as server, reader(server.base_url) as client:
        await client.futures.pending_orders(product_type=USDT, client_oid="U+S&D/T =")
    line = server.requests[0][0].split(b"\r\n")[0]
    called = b"GET /api/v2/mix/order/orders-pending?clientOid=U%2BS%26D%2FT%20%3D&productType=USDT-FUTURES HTTP/1.1"
    assert line == called


@pytest.mark.parametrize(
    ("answer", "kind", "sentence"),
    [
        (says(close=True), Unreachable, "closed"),
        (says(b"garbage that is no HTTP\r\n\r\n", close=True), Unreachable, "closed"),
        (says(http(b'{"code":"00000"', length=500), close=True), Unreachable, "closed"),
        (says(GOOD[:30], close=True), Unreachable, "closed"),
        (says(http(b"<html>", kind="text/html")), UnreadableReply, "web page"),
        (says(http(b"")), UnreadableReply, "empty"),
        (says(http(b'{"code":"00000","data":[{"marg')), UnreadableReply, "cut off"),
        (says(http(b"x" * (9 * 1024 * 1024))), UnreadableReply, "8 MiB"),
        (says(http(b"x", status="302 Found")), UnreadableReply, "redirects"),
    ],
)
async def test_bad_answers_are_errors_and_the_next_call_is_good(
    answer: Answer, kind: type[ExchangeError], sentence: str
) -> None:
    bad = True

    async def first_bad(request: bytes, writer: asyncio.StreamWriter) -> None:
        await (answer if bad else says(GOOD))(request, writer)

    async with raw_server(first_bad) as server, reader(server.base_url) as client:
        failure = await failure_of(client.futures.accounts(product_type=USDT))
        assert type(failure) is kind
        assert sentence in str(failure)
        bad = False
        await client.futures.accounts(product_type=USDT)


@pytest.mark.parametrize("beginning", [b"", http(b"", length=100)])
async def test_a_server_that_falls_silent_is_given_up_and_the_next_call_is_good(beginning: bytes) -> None:
    silent = asyncio.Event()

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD if silent.is_set() else beginning)
        silent.set()

    async with raw_server(answer) as server, reader(server.base_url) as client:
        failure = await failure_of(out_of_time(client.futures.accounts(product_type=USDT), silent))
        assert type(failure) is Unreachable
        assert "no answer in time" in str(failure)
        await client.futures.accounts(product_type=USDT)


async def test_packed_answers_are_unpacked_within_the_limit() -> None:
    def packed(body: bytes) -> bytes:
        squeezed = gzip.compress(body)
        return http(squeezed).replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n", 1)

    async with raw_server(says(packed(envelope([])))) as server, reader(server.base_url) as client:
        await client.futures.accounts(product_type=USDT)
    async with raw_server(says(packed(b" " * (100 * 1024 * 1024)))) as server, reader(server.base_url) as client:
        assert "8 MiB" in str(await failure_of(client.futures.accounts(product_type=USDT)))
    lie = GOOD.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n")
    async with raw_server(says(lie)) as server, reader(server.base_url) as client:
        assert "unpacked" in str(await failure_of(client.futures.accounts(product_type=USDT)))


@pytest.mark.parametrize("encodings", ["zstd", "br", "deflate", "gzip, gzip", "gzip\r\ncontent-encoding: gzip"])
async def test_an_encoding_other_than_one_gzip_is_refused_before_the_body_is_read(encodings: str) -> None:
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {encodings}\r\ncontent-length: 100\r\n\r\n".encode()
    async with raw_server(says(head)) as server, reader(server.base_url) as client:
        failure = await failure_of(client.futures.accounts(product_type=USDT))
    assert isinstance(failure, UnreadableReply)
    assert "unpacked" in str(failure)


async def test_a_packed_answer_that_was_cut_off_is_not_read() -> None:
    rows = [{"marginCoin": f"C{number}", "available": f"{number}.5"} for number in range(100)]
    packed = gzip.compress(envelope(rows))
    answer = http(packed[: len(packed) // 2]).replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n", 1)
    async with raw_server(says(answer)) as server, reader(server.base_url) as client:
        failure = await failure_of(client.futures.accounts(product_type=USDT))
    assert isinstance(failure, UnreadableReply)


async def test_nothing_but_these_bytes_is_on_the_wire() -> None:
    """Every byte of a read and of a write, as they were given: httpx adds no header and rewrites no target."""
    received: list[bytes] = []

    async def note(request: bytes, writer: asyncio.StreamWriter) -> None:
        received.append(request)
        writer.write(GOOD)

    target = "/api/v2/x/./../y?a=%7E~%2f+*'(!)[]|^`{}\"<>\\&b=%zz&c="
    async with raw_server(note) as server:
        transport = HttpTransport(parse_base_url(server.base_url), timeouts=PATIENT)
        await transport.send(HttpRequest("GET", target, {"ACCESS-Sign": "a/b+c=", "locale": "en-US"}))
        await transport.send(HttpRequest("POST", target, {"ACCESS-Sign": "d"}, b'{"a":1}'))
        await transport.aclose()
    host = server.base_url.removeprefix("http://")
    head = f"{target} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\nAccept-Encoding: gzip\r\n"
    assert received == [
        f"GET {head}ACCESS-Sign: a/b+c=\r\nlocale: en-US\r\n\r\n".encode(),
        f'POST {head}ACCESS-Sign: d\r\nContent-Length: 7\r\n\r\n{{"a":1}}'.encode(),
    ]


async def test_what_is_on_the_wire_is_what_was_signed() -> None:
    received: list[bytes] = []

    async def note(request: bytes, writer: asyncio.StreamWriter) -> None:
        received.append(request)
        writer.write(http(envelope([{"apikey": "k", "secret": "s"}])) if request.startswith(b"POST") else GOOD)

    async with raw_server(note) as server, writer_to(server.base_url) as client:
        await client.futures.accounts(product_type=USDT)
        await client.copytrading.create_api_key(passphrase=SecretStr("Passphrase01"))
    for request in (request for request in received if b"ACCESS-SIGN" in request):
        head, _, body = request.decode().partition("\r\n\r\n")
        line, *lines = head.split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines)
        method, target, _ = line.split(" ")
        signed = f"{fields['ACCESS-TIMESTAMP']}{method}{target}{body}".encode()
        assert fields["ACCESS-SIGN"] == base64.b64encode(hmac.digest(SECRET.encode(), signed, "sha256")).decode()
    assert sum(request.startswith(b"POST") for request in received) == 1


async def test_cookies_are_neither_kept_nor_sent() -> None:
    cookie = GOOD.replace(b"\r\n", b"\r\nset-cookie: session=1; Path=/\r\n", 1)
    async with raw_server(says(cookie)) as server:
        transport = HttpTransport(parse_base_url(server.base_url), timeouts=PATIENT)
        for _ in range(2):
            await transport.send(HttpRequest("GET", "/", {}))
        assert not list(transport._clients[False].httpx.cookies.jar)
        await transport.aclose()
    assert server.count == 2
    assert not any(b"cookie" in head.lower() for connection in server.requests for head in connection)


async def test_a_header_that_http_cannot_carry_is_not_sent() -> None:
    async with raw_server(says(GOOD)) as server:
        transport = HttpTransport(parse_base_url(server.base_url), timeouts=PATIENT)
        with pytest.raises(TransportError, match="written as HTTP") as failure:
            await transport.send(HttpRequest("POST", "/", {"ACCESS-KEY": "k\N{LATIN SMALL LETTER E WITH ACUTE}y"}))
        with pytest.raises(TransportError, match="written as HTTP"):
            await transport.send(HttpRequest("POST", "/", {"ACCESS-KEY": "two\r\nlines: x"}))
        await transport.aclose()
    assert not failure.value.sent
    assert server.count == 0


async def test_an_answer_that_trickles_is_cut_off_and_the_connections_are_replaced() -> None:
    trickle = True

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        if not trickle:
            writer.write(GOOD)
            return
        with contextlib.suppress(ConnectionError):
            for byte in GOOD:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.1)

    class Hasty(Timeouts):
        def total(self, *, writes: bool) -> float:
            return 0.5 if trickle else PATIENT.total(writes=writes)

    async with raw_server(answer) as server, reader(server.base_url, timeouts=Hasty()) as client:
        failure = await failure_of(client.futures.accounts(product_type=USDT))
        assert isinstance(failure, Unreachable)
        trickle = False
        for _ in range(20):
            await client.futures.accounts(product_type=USDT)


async def test_connections_that_are_used_up_are_replaced() -> None:
    """It cannot come to this through the client, which never has more calls under way than there are connections."""
    go_on = asyncio.Event()

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        await go_on.wait()
        writer.write(GOOD)

    times = PATIENT._replace(pool=0.05)
    async with raw_server(answer) as server:
        transport = HttpTransport(parse_base_url(server.base_url), timeouts=times)
        crowd = [
            asyncio.create_task(transport.send(HttpRequest("GET", "/", {}))) for _ in range(MAX_CONCURRENT_READS + 5)
        ]
        while sum(call.done() for call in crowd) < 5:
            await asyncio.wait([call for call in crowd if not call.done()], return_when=asyncio.FIRST_COMPLETED)
        go_on.set()
        ends = await asyncio.gather(*crowd, return_exceptions=True)
        used_up = [end for end in ends if isinstance(end, TransportError)]
        assert [(end.kind, end.sent) for end in used_up] == [(TransportErrorKind.POOL, False)] * 5
        for _ in range(20):
            await transport.send(HttpRequest("GET", "/", {}))
        await transport.aclose()


async def test_an_idle_connection_that_the_server_closed_is_not_used_again() -> None:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD)
        await writer.drain()
        writer.close()

    async with raw_server(answer) as server, reader(server.base_url) as client:
        for count in range(1, 6):
            await client.futures.accounts(product_type=USDT)
            await server.wait_for_ends(count)
    assert len(server.requests) == 5


async def test_a_large_answer_in_many_parts() -> None:
    rows = [{"marginCoin": f"C{number}", "available": "1" * 30} for number in range(60_000)]
    body = http(envelope(rows))
    assert len(body) > 3 * 1024 * 1024
    async with raw_server(says(*(body[i : i + 100_000] for i in range(0, len(body), 100_000)))) as server:
        transport = HttpTransport(parse_base_url(server.base_url), timeouts=PATIENT)
        response = await transport.send(HttpRequest("GET", "/", {}))
        assert response.body == envelope(rows)
        await transport.aclose()


async def test_failures_leave_no_descriptor_and_no_task_behind() -> None:
    async with raw_server(says(http(b"", length=100), close=True)) as server, reader(server.base_url) as client:
        for _ in range(5):
            await failure_of(client.futures.accounts(product_type=USDT))
        await server.wait_for_ends(5)
        before = len(os.listdir("/proc/self/fd")), len(asyncio.all_tasks())
        for _ in range(200):
            await failure_of(client.futures.accounts(product_type=USDT))
        await server.wait_for_ends(205)
        after = len(os.listdir("/proc/self/fd")), len(asyncio.all_tasks())
    assert after[0] <= before[0] + 2
    assert after[1] <= before[1] + 2


async def test_nobody_there() -> None:
    async with raw_server(says(GOOD)) as server:
        base_url = server.base_url
    async with reader(base_url) as client:
        failure = await failure_of(client.futures.accounts(product_type=USDT))
    assert isinstance(failure, Unreachable)
    assert "no connection" in str(failure)
    assert client.connection_status.down


async def test_redirects_are_not_followed() -> None:
    async with raw_server(says(GOOD)) as other:
        moved = f"HTTP/1.1 307 Moved\r\nlocation: {other.base_url}/\r\ncontent-length: 0\r\n\r\n".encode()
        async with raw_server(says(moved)) as server, writer_to(server.base_url) as client:
            await failure_of(client.futures.accounts(product_type=USDT))
            with pytest.raises(OutcomeUnknown):
                await client.copytrading.create_api_key(passphrase=SecretStr("Passphrase01"))
    assert other.count == 0


async def test_the_environments_proxies_and_passwords_are_ignored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with raw_server(says(GOOD)) as proxy, raw_server(says(GOOD)) as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.base_url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing"))
        assert shared_tls.__wrapped__().get_ca_certs()
        (tmp_path / ".netrc").write_text("machine 127.0.0.1 login somebody password something\n")
        monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
        async with reader(server.base_url) as client:
            await client.futures.accounts(product_type=USDT)
    assert (proxy.count, server.count) == (0, 1)
    assert b"authorization" not in server.requests[0][0].lower()


@pytest.mark.parametrize(
    "answer",
    [
        says(close=True),
        says(http(b"", length=100), close=True),
        None,
        says(http(envelope(code="429"), status="429 Too Many Requests")),
        says(http(b"", status="503 Service Unavailable")),
        says(http(b"<html>", kind="text/html")),
        says(b"garbage", close=True),
    ],
)
async def test_a_post_is_sent_once_whatever_happens(answer: Answer | None) -> None:
    silent = asyncio.Event()

    async def script(request: bytes, writer: asyncio.StreamWriter) -> None:
        if not request.startswith(b"POST"):
            writer.write(GOOD)
        elif answer is not None:
            await answer(request, writer)
        else:
            silent.set()

    async with raw_server(script) as server, writer_to(server.base_url) as client:
        call = client.copytrading.create_api_key(passphrase=SecretStr("Passphrase01"))
        await failure_of(out_of_time(call, silent))
    heads = [head for connection in server.requests for head in connection]
    assert sum(head.startswith(b"POST") for head in heads) == 1


@pytest.mark.parametrize("factory", [None, httpx.AsyncHTTPTransport])
async def test_every_write_has_a_connection_of_its_own_that_ends_with_it(
    factory: HttpxTransportFactory | None,
) -> None:
    done = http(envelope([{"apikey": "k", "secret": "s", "permissions": []}]))
    async with raw_server(says(done)) as server:
        transport = HttpTransport(parse_base_url(server.base_url), timeouts=PATIENT, httpx_transport_factory=factory)
        for count in range(1, 4):
            await transport.send(HttpRequest("POST", "/", {}, b"{}"))
            await server.wait_for_ends(count)
        assert [len(connection) for connection in server.requests] == [1, 1, 1]
        await transport.aclose()


async def test_a_connection_that_fails_is_not_tried_twice() -> None:
    connections = 0

    async def drop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        writer.close()

    server = await asyncio.start_server(drop, "127.0.0.1", 0)
    transport = HttpTransport(Origin("https", "127.0.0.1", server.sockets[0].getsockname()[1]), timeouts=PATIENT)
    for method in ("GET", "POST"):
        with pytest.raises(TransportError) as failure:
            await transport.send(HttpRequest(method, "/", {}))
        assert not failure.value.sent
    await transport.aclose()
    server.close()
    assert connections == 2


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_call_that_is_cut_off_takes_its_client_with_it(method: str) -> None:
    """Two calls share a client; it is replaced when the first is cut off, and closed when the second has ended."""
    arrived = asyncio.Semaphore(0)
    go_on = asyncio.Event()

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        arrived.release()
        await go_on.wait()
        writer.write(GOOD)

    async with raw_server(answer) as server:
        transport = HttpTransport(parse_base_url(server.base_url), timeouts=PATIENT)
        shared = transport._clients[method != "GET"]
        cut_off, other = (asyncio.create_task(transport.send(HttpRequest(method, "/", {}))) for _ in range(2))
        await arrived.acquire()
        await arrived.acquire()
        cut_off.cancel()
        await asyncio.gather(cut_off, return_exceptions=True)
        assert cut_off.cancelled()
        assert transport._clients[method != "GET"] is not shared
        assert not shared.httpx.is_closed
        go_on.set()
        assert (await other).status == 200
        assert shared.httpx.is_closed
        for _ in range(20):
            assert (await transport.send(HttpRequest(method, "/", {}))).status == 200
        await transport.aclose()


async def test_a_library_users_transport_is_made_anew_for_every_client() -> None:
    made: list[httpx.MockTransport] = []

    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"code": "00000", "msg": "", "requestTime": START_MS, "data": []})

    def factory() -> httpx.AsyncBaseTransport:
        made.append(httpx.MockTransport(handle))
        return made[-1]

    address = "https://api.example.com"
    async with ExchangeReader(CREDENTIALS, address, httpx_transport_factory=factory) as client:
        await client.futures.accounts(product_type=USDT)
        await client.futures.accounts(product_type=USDT)
    assert len(made) == 1
    transport = HttpTransport(parse_base_url(address), httpx_transport_factory=factory)
    await transport.send(HttpRequest("POST", "/", {}))
    assert len(made) == 4  # one to read, one to write, and the next one to write
    await transport.aclose()
    with pytest.raises(ValueError, match="factory"):
        HttpTransport(parse_base_url(address), tls=ssl.create_default_context(), httpx_transport_factory=factory)


async def test_what_the_library_logs_reaches_no_handler(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpcore"):
        caplog.set_level(logging.DEBUG, logger=name)
    async with raw_server(says(GOOD)) as server, reader(server.base_url) as client:
        await client.futures.accounts(product_type=USDT)
    assert {record.name.partition(".")[0] for record in caplog.records} <= {"tradetui", "asyncio"}
    assert USDT not in caplog.text


async def test_a_transport_built_to_read_refuses_everything_but_get() -> None:
    async with raw_server(says(GOOD)) as server:
        transport = HttpTransport(parse_base_url(server.base_url), timeouts=PATIENT, read_only=True)
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            with pytest.raises(ReadOnly):
                await transport.send(HttpRequest(method, "/", {}, b""))
        await transport.send(HttpRequest("GET", "/", {}))
        await transport.aclose()
    assert server.count == 1


async def test_a_certificate_nobody_vouches_for_is_refused_and_one_that_is_trusted_taken(tmp_path: Path) -> None:
    context, path = certificate(tmp_path)
    async with raw_server(says(GOOD), tls=context) as server:
        async with reader(server.base_url) as client:
            failure = await failure_of(client.futures.accounts(product_type=USDT))
        assert isinstance(failure, Unreachable)
        assert "certificate" in str(failure)
        assert server.count == 0
        trusting = ssl.create_default_context(cafile=path)
        async with reader(server.base_url, tls=trusting) as client:
            await client.futures.accounts(product_type=USDT)


async def test_the_keys_of_a_session_are_not_written_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key_log = tmp_path / "keys"
    monkeypatch.setenv("SSLKEYLOGFILE", str(key_log))
    context, ca_file = certificate(tmp_path)
    async with (
        raw_server(says(GOOD), tls=context) as server,
        reader(server.base_url, tls=verifying_tls(str(ca_file))) as client,
    ):
        await client.futures.accounts(product_type=USDT)
    assert shared_tls.__wrapped__().keylog_filename is None
    assert not key_log.exists()


async def test_no_context_that_does_not_verify_is_taken() -> None:
    for careless in (ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)):
        careless.check_hostname = False
        careless.verify_mode = ssl.CERT_NONE
        with pytest.raises(ValueError, match="verified"):
            HttpTransport(Origin("https", "127.0.0.1", 1), tls=careless)


async def test_two_thousand_callers_stop_waiting_and_twenty_of_twenty_calls_succeed() -> None:
    """`tests.bench.cancel` does so with ten thousand."""
    stopped, successes, _ = await measure(2_000)
    assert stopped > 1_800
    assert successes == 20


async def test_six_lines_of_a_plain_script() -> None:
    async with raw_server(says(GOOD)) as server:
        credentials = Credentials("key", "secret", "passphrase")
        async with ExchangeClient(credentials, server.base_url) as client:
            page = await client.futures.accounts(product_type="USDT-FUTURES")
    assert page.rows == ()
