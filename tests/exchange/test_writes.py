"""Writing: sent at most once, and never called a failure without the exchange's own word for it."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from pydantic import SecretStr

from tests.exchange.scripted_exchange import CREDENTIALS, SECRET, START_MS, ArrivedRequest, Say, Scripted
from tradetui.exchange import (
    AuthenticationFailed,
    ExchangeClient,
    ExchangeError,
    ExchangeReader,
    LoopClock,
    NotSent,
    OutcomeUnknown,
    PermissionRefused,
    RateLimited,
    Rejected,
    TradingClient,
)
from tradetui.exchange.client import CREATING
from tradetui.exchange.errors import ClockTooFarOff, ReadOnly
from tradetui.exchange.transport.in_process import InProcessTransport
from tradetui.exchange.transport.transport import HttpRequest
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.models.reversal import ReversalRequest
from tradetui.wire.models.subaccounts import (
    CreateBatchRequest,
    CreateCopyKeyRequest,
    CreateSubaccountRequest,
    VirtualSubaccountRequest,
)
from tradetui.wire.requests.request import Request
from tradetui.wire.signing import prehash, sign_hmac

pytestmark = pytest.mark.looptime

REVERSAL = ReversalRequest(
    symbol="BTCUSDT",
    margin_coin="USDT",
    product_type="usdt-futures",
    size=Decimal("0.30"),
    side="buy",
    trade_side="Open",
    client_oid="mine-1",
)
CREATIONS: dict[str, Request[Any]] = {
    "copytrading.create_api_key": CreateCopyKeyRequest(passphrase=SecretStr("Passphrase1")),
    "broker.create_subaccount": CreateSubaccountRequest(subaccount_name="a@example.com"),
    "subaccounts.create_batch": CreateBatchRequest(
        accounts=[
            VirtualSubaccountRequest(sub_account_name="deskabcd", passphrase=SecretStr("Passphrase1"), label="desk")
        ]
    ),
}
DONE = {"orderId": "123", "clientOid": "mine-1"}


def client(script: Callable[[ArrivedRequest], Say | Exception], **options: Any) -> tuple[ExchangeClient, Scripted]:
    clock = LoopClock(START_MS)

    def answer(request: ArrivedRequest) -> Say | Exception:
        if request.method == "GET":
            return Say(data={"serverTime": str(clock.wall_ms())})
        return script(request)

    app = Scripted(answer, clock.wall_ms)
    return ExchangeClient(CREDENTIALS, app=app, clock=clock, random=random.Random(1), **options), app


def posts(app: Scripted) -> list[ArrivedRequest]:
    return [request for request in app.requests if request.method == "POST"]


async def test_what_is_signed_is_what_is_sent() -> None:
    trader, app = client(lambda request: Say(data=DONE))
    reply = await trader.write(REVERSAL)
    (request,) = posts(app)
    assert (reply.rows[0].order_id, reply.rows[0].client_oid) == ("123", "mine-1")
    assert request.body == REVERSAL.body()
    assert json.loads(request.body)["size"] == "0.30"
    assert request.query == ""
    message = prehash(request.headers["access-timestamp"], "POST", request.path, "", request.body)
    assert request.headers["access-sign"] == sign_hmac(SECRET, message)


async def test_a_reversal_by_its_fields() -> None:
    trader, app = client(lambda request: Say(data=DONE))
    await trader.futures.reverse(symbol="BTCUSDT", margin_coin="USDT", product_type="USDT-FUTURES")
    assert json.loads(posts(app)[0].body) == {
        "symbol": "BTCUSDT",
        "marginCoin": "USDT",
        "productType": "USDT-FUTURES",
    }
    with pytest.raises(InvalidRequest):
        await trader.futures.reverse(symbol="BTCUSDT")  # type: ignore[call-arg]
    assert len(posts(app)) == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Say(code="22002", msg="No position to close", status=400), Rejected),
        (Say(code="40774", status=400), Rejected),
        (Say(code="40808", msg="size checkBDScale error", status=400), Rejected),
        (Say(code="22002", status=429), Rejected),
        (Say(code="1001", status=429), RateLimited),
        (Say(code="30007", status=429), RateLimited),
        (Say(code="40014", status=400), PermissionRefused),
        (Say(code="40012", status=400), AuthenticationFailed),
        (Say(code="40008", status=400), AuthenticationFailed),
        (Say(code="429", status=429), RateLimited),
        (Say(code="22002", status=200), Rejected),
    ],
)
async def test_a_readable_refusal_is_a_refusal(answer: Say, kind: type[ExchangeError]) -> None:
    trader, app = client(lambda request: answer)
    with pytest.raises(ExchangeError) as failure:
        await trader.write(REVERSAL)
    assert type(failure.value) is kind
    assert len(posts(app)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        ConnectionResetError(),
        Say(data=DONE, after=60.0),
        Say(code="40010", status=400),
        Say(code="40015", status=400),
        Say(code="40725", status=400),
        Say(code="45001", status=400),
        Say(code="40808", msg="", status=400),
        Say(code="99998", status=200),
        Say(code="99998", msg="new and unlisted", status=400),
        Say(code="99998", msg="new and unlisted", status=429),
        Say(code="40725", status=429),
        Say(code="22002", status=408),
        Say(code="40109", msg="The data of the order cannot be found", status=400),
        Say(data=DONE, status=429),
        Say(code="22002", status=500),
        Say(code="22002", status=503),
        Say(body=b"Too Many Requests", headers={"content-type": "text/plain"}, status=429),
        Say(body=b"<html>502</html>", headers={"content-type": "text/html"}, status=502),
        Say(body=b'{"code":"00000","da'),
        Say(body=b""),
        Say(body=b"", status=302, headers={"location": "https://elsewhere.example"}),
        Say(body=b"gone", headers={"content-type": "text/plain"}, status=404),
        Say(body=b'{"message":"failure to get a peer from the ring-balancer"}', status=400),
        Say(data=None),
        Say(data=[]),
        Say(data="text"),
        Say(data=DONE, status=500),
    ],
)
async def test_everything_else_is_unknown_and_sent_once(answer: Say | Exception) -> None:
    trader, app = client(lambda request: answer)
    with pytest.raises(OutcomeUnknown) as failure:
        await trader.write(REVERSAL)
    await asyncio.sleep(120)
    assert len(posts(app)) == 1
    assert failure.value.stamp_ms == int(posts(app)[0].headers["access-timestamp"])
    assert "Look at positions" in str(failure.value)
    await trader.aclose()


async def test_the_answer_to_a_write_is_waited_for_longer() -> None:
    trader, _ = client(lambda request: Say(data=DONE, after=9.0))
    await trader.write(REVERSAL)


@pytest.mark.parametrize("offset", [5_100, -5_100])
async def test_a_clock_too_far_off_stops_a_write_before_sending(offset: int) -> None:
    trader, app = client(lambda request: Say(data=DONE))
    app.now = lambda: START_MS + offset
    with pytest.raises(ClockTooFarOff, match=r"5\.1 s") as failure:
        await trader.write(REVERSAL)
    assert isinstance(failure.value, NotSent)
    assert posts(app) == []


async def test_the_hook_runs_with_the_stamp_before_anything_is_sent() -> None:
    trader, app = client(lambda request: Say(data=DONE))
    stamps: list[int] = []

    async def note(stamp_ms: int) -> None:
        assert posts(app) == []
        stamps.append(stamp_ms)

    await trader.write(REVERSAL, before_send=note)
    assert stamps == [int(posts(app)[0].headers["access-timestamp"])]


async def test_a_hook_that_fails_stops_the_write_and_gives_the_permit_back() -> None:
    trader, app = client(lambda request: Say(data=DONE))

    async def full(stamp_ms: int) -> None:
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        await trader.write(REVERSAL, before_send=full)
    assert posts(app) == []
    assert trader.budget.usage()["futures.reverse"].used == 0


async def test_who_stops_waiting_for_the_permit_sends_nothing() -> None:
    trader, app = client(lambda request: Say(data=DONE))
    await trader.write(REVERSAL)
    waiting = asyncio.create_task(trader.write(REVERSAL))
    await asyncio.sleep(0.3)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await asyncio.sleep(5)
    assert len(posts(app)) == 1


async def test_who_stops_waiting_for_the_answer_does_not_stop_the_call() -> None:
    trader, app = client(lambda request: Say(data=DONE, after=2.0))
    waiting = asyncio.create_task(trader.write(REVERSAL))
    await asyncio.sleep(1.0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert trader.budget.usage()["futures.reverse"].used == 1
    await asyncio.sleep(1.5)
    assert len(posts(app)) == 1
    assert trader.connection_status.last_reply_at == pytest.approx(trader.clock.monotonic() - 0.5), "its reply counts"


async def test_closing_gives_a_write_a_moment_to_be_answered() -> None:
    trader, app = client(lambda request: Say(data=DONE, after=1.0))
    waiting = asyncio.create_task(trader.write(REVERSAL))
    await asyncio.sleep(0.1)
    await trader.aclose()
    assert (await waiting).rows[0].order_id == "123"
    with pytest.raises(NotSent):
        await trader.write(REVERSAL)
    assert len(posts(app)) == 1


async def test_a_carrier_built_to_read_refuses_to_write() -> None:
    app = Scripted(lambda request: Say(data=DONE))
    transport = InProcessTransport(app, read_only=True)
    with pytest.raises(ReadOnly):
        await transport.send(HttpRequest("POST", "/api/v2/mix/order/click-backhand", {}, b"{}"))
    # Even a client that could write cannot through it.
    trader = ExchangeClient(CREDENTIALS, transport=transport, clock=LoopClock(START_MS))
    with pytest.raises(ExchangeError):
        await trader.write(REVERSAL)
    # And a reader's calls refuse before the transport does.
    reader = ExchangeReader(CREDENTIALS, app=app, clock=LoopClock(START_MS))
    with pytest.raises(ReadOnly):
        await reader._calls.call(CATALOGUE["futures.reverse"], reader.priority, body=b"{}")
    assert posts(app) == []


async def test_creations_are_sent_and_their_secrets_are_kept_out_of_sight() -> None:
    made = {"apikey": "bg_made", "secret": "made-secret-000", "permissions": ["contract_trade"]}
    trader, app = client(lambda request: Say(data=[made]))
    reply = await trader.copytrading.create_api_key(passphrase=SecretStr("Passphrase01"))
    assert json.loads(posts(app)[0].body) == {"passphrase": "Passphrase01"}
    assert "made-secret-000" not in repr(reply) + str(reply)
    assert reply.rows[0].secret.get_secret_value() == "made-secret-000"
    trader, app = client(lambda request: Say(data={"subUid": "1", "subaccountName": "a@b.co", "status": "normal"}))
    created = await trader.broker.create_subaccount(subaccount_name="a@b.co", label="one")
    assert created.rows[0].sub_uid == "1"


@pytest.mark.parametrize("name", sorted(CREATING))
async def test_without_leave_to_create_nothing_is_created(name: str) -> None:
    _, app = client(lambda request: Say(data=DONE))
    trader = TradingClient(CREDENTIALS, app=app, clock=LoopClock(START_MS))
    assert not hasattr(trader, "subaccounts") and not hasattr(trader, "copytrading")
    assert not hasattr(trader.broker, "create_subaccount")
    creation: Request[Any] = CREATIONS[name]
    with pytest.raises(ReadOnly, match="account_admin"):
        await trader.write(creation)
    assert posts(app) == []
    await trader.write(REVERSAL)
    assert len(posts(app)) == 1


def test_every_write_that_is_no_trade_creates() -> None:
    writes = {endpoint.name for endpoint in CATALOGUE.values() if endpoint.writes}
    assert writes - {"futures.reverse"} == CREATING


async def test_a_reply_that_names_another_order_is_no_reply_to_this_one() -> None:
    trader, app = client(lambda request: Say(data={"orderId": "123", "clientOid": "somebody-else"}))
    with pytest.raises(OutcomeUnknown, match="another order"):
        await trader.write(REVERSAL)
    assert len(posts(app)) == 1


@pytest.mark.parametrize("named", [{}, {"clientOid": ""}, {"clientOid": None}])
async def test_a_reply_that_names_no_order_of_ours_is_one(named: dict[str, Any]) -> None:
    trader, _ = client(lambda request: Say(data={"orderId": "123", **named}))
    assert (await trader.write(REVERSAL)).rows[0].order_id == "123"


@pytest.mark.parametrize(
    "failure", [OverflowError("int too large"), InvalidRequest("size", "above zero", 0, "Give a number.")]
)
async def test_whatever_fails_after_the_first_byte_leaves_the_outcome_unknown(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    trader, app = client(lambda request: Say(data=DONE))

    def broken(*_: object) -> None:
        if posts(app):
            raise failure

    monkeypatch.setattr(trader.connection_status, "replied", broken)
    with pytest.raises(OutcomeUnknown, match=f"{type(failure).__name__}: {failure}"):
        await trader.write(REVERSAL)
    assert len(posts(app)) == 1


async def test_a_time_of_any_size_says_nothing_about_the_clock() -> None:
    clock = LoopClock(START_MS)
    app = Scripted(lambda request: Say(data=DONE), lambda: 10**400)
    trader = ExchangeClient(CREDENTIALS, app=app, clock=clock, random=random.Random(1))
    assert (await trader.write(REVERSAL)).rows[0].order_id == "123"
    assert trader.server_clock.offset_ms is None
