"""Key, secret, passphrase and signature appear in no log line, no repr, no exception and no traceback."""

from __future__ import annotations

import asyncio
import logging
import re
import traceback
from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from tests.exchange.scripted_exchange import (
    CREDENTIALS,
    KEY,
    PASSPHRASE,
    PATIENT,
    SECRET,
    NoBudget,
    StillClock,
    envelope,
    http,
    out_of_time,
    raw_server,
)
from tradetui.exchange import Credentials, ExchangeClient, ExchangeError, Unreachable
from tradetui.exchange.transport.transport import HttpRequest


@pytest.fixture
def everything_logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpcore", "asyncio", "tradetui"):
        caplog.set_level(logging.DEBUG, logger=name)
    yield caplog


async def test_canaries_stay_inside(everything_logged: pytest.LogCaptureFixture) -> None:
    texts: list[str] = []
    signatures: list[str] = []
    bodies = [
        http(envelope([])),
        http(envelope(code="40037", msg=f"Apikey {KEY} does not exist, {SECRET}, {PASSPHRASE}"), status="400 Bad"),
        http(b"<html>", kind="text/html"),
        http(b'{"code":'),
        b"garbage",
        http(b"", length=50),
    ]

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        match = re.search(rb"access-sign: (\S+)", request, re.IGNORECASE)
        assert match
        signatures.append(match[1].decode())
        writer.write(bodies[0])
        if bodies[0] == b"garbage":
            writer.close()
        elif bodies[0] == http(b"", length=50):
            silent.set()

    while bodies:
        silent = asyncio.Event()
        async with raw_server(answer) as server:
            clock = StillClock()
            client = ExchangeClient(CREDENTIALS, server.base_url, clock=clock, budget=NoBudget(), timeouts=PATIENT)
            async with client:
                for call in (
                    client.futures.accounts(product_type="USDT-FUTURES"),
                    client.copytrading.create_api_key(passphrase=SecretStr("CanaryPass0004")),
                ):
                    try:
                        texts.append(repr(await out_of_time(call, silent)))
                    except ExchangeError as failure:
                        context: BaseException | None = failure
                        while context is not None:
                            texts += [repr(context), str(context), repr(vars(context))]
                            context = context.__context__ or context.__cause__
                        texts += traceback.format_exception(failure)
                texts += [repr(client), repr(vars(client))]
        del bodies[0]
    text = "\n".join(texts) + everything_logged.text
    assert len(signatures) >= 10
    for canary in (KEY, SECRET, PASSPHRASE, "CanaryPass0004", *signatures):
        assert canary not in text


async def test_an_error_holds_nothing_of_the_request() -> None:
    """A crash report may print what an exception is bound to: the library's own errors hold headers."""
    async with raw_server(_drop) as server:
        client = ExchangeClient(CREDENTIALS, server.base_url, budget=NoBudget(), timeouts=PATIENT)
        with pytest.raises(Unreachable) as failure:
            await client.futures.accounts(product_type="USDT-FUTURES")
        await client.aclose()
    chain: list[BaseException] = []
    context: BaseException | None = failure.value
    while context is not None:
        chain.append(context)
        context = context.__context__ or context.__cause__
    assert {type(error).__module__.partition(".")[0] for error in chain} == {"tradetui"}


async def _drop(request: bytes, writer: asyncio.StreamWriter) -> None:
    writer.close()


def test_credentials_show_nothing() -> None:
    assert (
        repr(CREDENTIALS)
        == "Credentials(secret=SecretStr('**********'), passphrase=SecretStr('**********'), rsa=False)"
    )
    assert SECRET not in str(vars(HttpRequest).values()) + repr(HttpRequest("GET", "/", {"ACCESS-PASSPHRASE": SECRET}))
    assert CREDENTIALS.masked(f"{KEY}/{SECRET}/{PASSPHRASE}") == "***/***/***"
    assert Credentials("k", "s", "p").masked("ask") == "ask"
