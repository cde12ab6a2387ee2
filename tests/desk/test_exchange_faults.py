"""Bad input and bad weather: each is a sentence with its remedy beside the last good data, and passes by itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.desk.fixtures.desk_simulation import Simulation
from tests.exchange.scripted_exchange import NoBudget
from tradetui.desk.desk import Desk
from tradetui.desk.feeds.polling.session_health import LinkState
from tradetui.desk.tables.table import PANELS
from tradetui.exchange.capabilities import ACCOUNT_PROBE_S
from tradetui.exchange.transport.transport import (
    BeforeFirstByte,
    HttpRequest,
    HttpResponse,
    Transport,
    TransportError,
    TransportErrorKind,
)
from tradetui.wire.product_types import ProductType

pytestmark = pytest.mark.looptime

Weather = Callable[[HttpRequest], HttpResponse]
JSON = {"content-type": "application/json"}


def says(code: str, msg: str, status: int = 400) -> Weather:
    def weather(request: HttpRequest) -> HttpResponse:
        stamp = request.headers.get("ACCESS-TIMESTAMP")
        body = {"code": code, "msg": msg, "requestTime": stamp and int(stamp), "data": None}
        return HttpResponse(status, JSON, json.dumps(body).encode())

    return weather


def fails(kind: TransportErrorKind, sentence: str) -> Weather:
    def weather(request: HttpRequest) -> HttpResponse:
        raise TransportError(kind, sentence, sent=False)

    return weather


WEATHERS: dict[str, tuple[Weather, str]] = {
    "wrong key": (says("40006", "Invalid ACCESS_KEY"), "does not accept the key"),
    "wrong secret": (says("40009", "sign signature error"), "does not accept the key"),
    "wrong passphrase": (says("40012", "apikey/password is incorrect"), "does not accept the key"),
    "wrong clock": (says("40008", "Request timestamp expired"), "does not accept the key"),
    "missing permission": (says("40014", "Incorrect permissions, need future order read"), "may not do this"),
    "unified account": (says("40085", "You are in Unified Account mode"), "is in unified mode"),
    "demo key on live": (says("40099", "exchange environment is incorrect"), "key"),
    "unknown symbol": (says("40034", "Parameter ABCUSDT does not exist"), "refused the request"),
    "unreachable host": (fails(TransportErrorKind.CONNECT, "no route to host"), "cannot be reached"),
    "TLS failure": (fails(TransportErrorKind.TLS, "the certificate is not trusted"), "cannot be reached"),
    "HTML": (
        lambda request: HttpResponse(200, {"content-type": "text/html"}, b"<html><body>Please log in</body></html>"),
        "cannot be read",
    ),
    "half a reply": (
        lambda request: HttpResponse(200, JSON, b'{"code":"00000","data":{"fillLi'),
        "cannot be read",
    ),
    "maintenance": (says("40725", "service return an error", 503), "busy"),
    "429 storm": (says("429", "Too Many Requests", 429), "Too many calls"),
}


class Sky:
    """A transport over another one, with weather where the test says so."""

    def __init__(self, inner: Transport) -> None:
        self.read_only = inner.read_only
        self.weather: Weather | None = None
        self.only = ""
        self.inner = inner
        self.requests = 0

    async def send(self, request: HttpRequest, before_first_byte: BeforeFirstByte | None = None) -> HttpResponse:
        self.requests += 1
        if self.weather is not None and self.only in request.target:
            await asyncio.sleep(0.05)
            return self.weather(request)
        return await self.inner.send(request, before_first_byte)

    async def aclose(self) -> None:
        await self.inner.aclose()


def simulated(**options: Any) -> tuple[Simulation, Sky]:
    """A desk and the weather over its exchange.

    What a call meets is the same with one product type as with three, and with few fills as with many.
    """
    product_types = (ProductType.USDT_FUTURES,)
    simulation = Simulation(
        seed=11, jitter=False, wrap_transport=Sky, fills=60, product_types=product_types, checked=False, **options
    )
    sky = simulation.transport
    assert isinstance(sky, Sky)
    return simulation, sky


async def in_state(desk: Desk, state: LinkState) -> None:
    """Wait until the session's connection is in a state, half a minute at most."""
    for _ in range(60):
        if desk.health.state is state:
            return
        await asyncio.sleep(0.5)
    assert desk.health.state is state, desk.health


@pytest.mark.parametrize("kind", WEATHERS)
async def test_each_is_a_sentence_with_its_remedy_and_passes_by_itself(kind: str) -> None:
    weather, sentence = WEATHERS[kind]
    simulation, sky = simulated()
    desk = simulation.desk
    desk.start()
    await in_state(desk, LinkState.CONNECTED)
    before = {name: feed.snapshot for name, feed in desk.feeds.items()}
    sky.weather = weather
    await asyncio.sleep(25)
    for name, feed in desk.feeds.items():
        snapshot = feed.snapshot
        assert snapshot.error is not None, name
        assert sentence in snapshot.error.sentence, snapshot.error
        assert snapshot.error.remedy, name
        assert snapshot.rows, "the last good data stay"
        assert snapshot.read_at is not None
        assert snapshot.read_at < (before[name].read_at or 0) + 12
        assert feed.freshness.value in ("stale", "dead")
    answered = all(feed.snapshot.error and feed.snapshot.error.code for feed in desk.feeds.values())
    assert desk.health.state is (LinkState.REFUSED if answered else LinkState.DOWN)
    assert desk.health.sentence
    sky.weather = None
    desk.scheduler.poll_now("fills")
    healed = asyncio.get_running_loop().time()
    waiting = dict(desk.feeds)
    while waiting:
        await asyncio.sleep(0.05)
        since = asyncio.get_running_loop().time() - healed
        for name, feed in list(waiting.items()):
            if feed.snapshot.error is None:
                del waiting[name]
            else:
                # After a 429 the budget gives its permits back one by one, and no feed overrules that.
                # An account that is refused as a whole is asked once a minute.
                grace = {"429 storm": 4.0, "unified account": ACCOUNT_PROBE_S}.get(kind, 0.0)
                assert since <= 2 * feed.interval + grace, f"{name} after {since:.1f} s of {kind}"
    assert desk.health.state in (LinkState.CONNECTED, LinkState.DEGRADED)
    await in_state(desk, LinkState.CONNECTED)
    assert desk.positions_reader.source == "reported"
    await desk.stop()


async def test_where_every_call_is_refused_as_one_too_many_the_feeds_themselves_call_less_than_in_peace() -> None:
    # The budget slows down after a refusal as well: without one only the feeds' own rests are left.
    simulation, sky = simulated(budget=NoBudget(), options={"limits": False})
    simulation.desk.start()
    await asyncio.sleep(15)
    before = simulation.sandbox.counts.total()
    await asyncio.sleep(30)
    in_peace = simulation.sandbox.counts.total() - before
    refusal, _ = WEATHERS["429 storm"]
    refused = 0

    def counted(request: HttpRequest) -> HttpResponse:
        nonlocal refused
        refused += 1
        return refusal(request)

    sky.weather = counted
    await asyncio.sleep(30)
    assert 0 < refused < 0.75 * in_peace, f"{refused} calls, and {in_peace} in peace"
    await simulation.desk.stop()


@pytest.mark.parametrize(
    ("path", "feed_name"),
    [
        ("mix/account/accounts", "accounts"),
        ("position/all-position", "positions"),
        ("orders-pending", "orders"),
        ("order/fills", "fills"),
        ("orders-plan-history", "triggers"),
    ],
)
async def test_one_endpoint_down_takes_nothing_from_the_others(path: str, feed_name: str) -> None:
    simulation, sky = simulated()
    desk = simulation.desk
    desk.start()
    await in_state(desk, LinkState.CONNECTED)
    sky.only, sky.weather = path, fails(TransportErrorKind.BROKEN, "the connection was closed")
    await asyncio.sleep(30)
    now = desk.clock.monotonic()
    for name, feed in desk.feeds.items():
        age = feed.snapshot.age(now)
        assert age is not None
        if name == feed_name:
            assert feed.snapshot.error is not None
            assert age > 20
        else:
            assert feed.snapshot.error is None
            assert age <= max(2 * feed.interval, 5.0)
    assert desk.health.state is LinkState.DEGRADED
    assert desk.health.sentence.startswith(f"{PANELS[feed_name].label}: ")
    sky.weather = None
    await asyncio.sleep(2 * desk.feeds[feed_name].interval)
    assert desk.feeds[feed_name].snapshot.error is None
    await desk.stop()


async def test_a_machine_that_starts_without_a_network_comes_up_when_it_returns() -> None:
    simulation, sky = simulated()
    desk = simulation.desk
    sky.weather = fails(TransportErrorKind.CONNECT, "no such host")
    desk.start()
    await asyncio.sleep(120)
    assert all(feed.freshness.value == "loading" for feed in desk.feeds.values())
    assert desk.health.state is LinkState.DOWN
    assert desk.account is None
    sky.weather = None
    await asyncio.sleep(20)
    assert all(feed.snapshot.error is None and feed.snapshot.rows for feed in desk.feeds.values())
    assert desk.account is not None
    assert desk.account.origin == "exchange"
    await desk.stop()


@pytest.mark.parametrize(
    "weather",
    [
        lambda _: HttpResponse(403, {"content-type": "text/html"}, b"<html>Attention Required</html>"),
        lambda _: HttpResponse(520, {"content-type": "text/html"}, b"<html>"),
        lambda _: HttpResponse(503, {}, b"busy"),
        says("45001", "Unknown error", 200),
        says("40725", "service return an error", 200),
    ],
    ids=["403", "520", "503", "45001", "40725"],
)
async def test_a_session_that_is_refused_asks_less_than_one_that_is_answered(weather: Weather) -> None:
    """With every feed that it has: those beyond the interface may answer without a call."""
    simulation, sky = simulated()
    simulation.desk.start()
    await asyncio.sleep(10)
    in_peace = -sky.requests
    await asyncio.sleep(10)
    in_peace += sky.requests
    sky.weather = weather
    await asyncio.sleep(20)
    refused = -sky.requests
    await asyncio.sleep(60)
    refused += sky.requests
    assert refused < in_peace
    await simulation.desk.stop()
