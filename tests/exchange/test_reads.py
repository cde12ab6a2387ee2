"""Reading: what is sent, what an answer means, and what is said or tried another way."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.exchange.scripted_exchange import (
    CREDENTIALS,
    KEY,
    PASSPHRASE,
    SECRET,
    START_MS,
    ArrivedRequest,
    Say,
    Scripted,
    fill,
    in_turn,
)
from tradetui.exchange import (
    AuthenticationFailed,
    Busy,
    Credentials,
    EndpointMissing,
    ExchangeError,
    ExchangeReader,
    LoopClock,
    NotSent,
    PermissionRefused,
    Priority,
    RateLimited,
    Rejected,
    UnifiedAccount,
    Unreachable,
    UnreadableReply,
)
from tradetui.exchange.transport.in_process import InProcessTransport
from tradetui.wire.errors import InvalidRequest
from tradetui.wire.models.reversal import ReversalRequest
from tradetui.wire.signing import prehash, sign_hmac

pytestmark = pytest.mark.looptime

USDT = "USDT-FUTURES"


def reader(script: Callable[[ArrivedRequest], Say | Exception], **options: Any) -> tuple[ExchangeReader, Scripted]:
    clock = LoopClock(START_MS)
    app = Scripted(script, clock.wall_ms)
    return ExchangeReader(CREDENTIALS, app=app, clock=clock, random=random.Random(1), **options), app


def refused(code: str, msg: str = "no", status: int = 400, **more: Any) -> Say:
    return Say(code=code, msg=msg, status=status, **more)


async def test_a_request_is_signed_as_it_is_on_the_wire() -> None:
    client, app = reader(lambda request: Say(data=[]), locale="zh-CN")
    await client.spot.bills(business_type="deduction of handling fee", coin="USDT")
    (request,) = app.requests
    assert request.query == "businessType=deduction%20of%20handling%20fee&coin=USDT"
    stamp = request.headers["access-timestamp"]
    signed = prehash(stamp, "GET", "/api/v2/spot/account/bills", request.query)
    assert request.headers["access-sign"] == sign_hmac(SECRET, signed)
    assert request.headers["access-key"] == KEY
    assert request.headers["access-passphrase"] == PASSPHRASE
    assert request.headers["locale"] == "zh-CN"
    assert request.headers["content-type"] == "application/json"
    assert stamp == str(START_MS)
    assert "paptrading" not in request.headers


async def test_an_rsa_key_signs_and_a_wrong_one_says_what_to_do() -> None:
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    app = Scripted(lambda request: Say(data=[]))
    client = ExchangeReader(Credentials(KEY, pem, PASSPHRASE, rsa=True), app=app, clock=LoopClock(START_MS))
    await client.futures.accounts(product_type=USDT)
    (request,) = app.requests
    message = prehash(request.headers["access-timestamp"], "GET", request.path, request.query)
    signature = base64.b64decode(request.headers["access-sign"])
    key.public_key().verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
    wrong = ExchangeReader(Credentials(KEY, "no key", PASSPHRASE, rsa=True), app=app, clock=LoopClock(START_MS))
    await wrong.prepare()  # a screen that opens goes on, and shows what each call says
    with pytest.raises(NotSent, match="RSA private key cannot be read"):
        await wrong.futures.accounts(product_type=USDT)
    assert len(app.requests) == 1


async def test_demo_says_so_in_a_header_that_is_not_signed() -> None:
    client, app = reader(lambda request: Say(data=[]), environment="demo")
    await client.futures.accounts(product_type=USDT)
    assert app.requests[0].headers["paptrading"] == "1"


async def test_public_endpoints_carry_no_key() -> None:
    clock = LoopClock(START_MS)
    app = Scripted(lambda request: Say(data={"serverTime": str(START_MS)}), clock.wall_ms)
    client = ExchangeReader(None, app=app, clock=clock)
    await client.public.time()
    assert not [name for name in app.requests[0].headers if name.startswith("access")]
    with pytest.raises(ExchangeError, match="API key"):
        await client.futures.accounts(product_type=USDT)


async def test_requests_are_stamped_with_the_exchanges_time() -> None:
    client, app = reader(lambda request: Say(data=[], request_time=app.now() + 7_000))
    await client.futures.accounts(product_type=USDT)
    await client.futures.accounts(product_type=USDT)
    assert app.requests[1].headers["access-timestamp"] == str(START_MS + 7_000)
    assert client.server_clock.offset_ms == 7_000
    assert client.server_clock.warns
    assert client.server_clock.blocks_writes


async def test_a_broken_rule_is_refused_before_sending() -> None:
    client, app = reader(lambda request: Say(data=[]))
    with pytest.raises(InvalidRequest, match="limit"):
        await client.futures.fills(product_type=USDT, limit=101)
    with pytest.raises(InvalidRequest):
        await client.futures.fills(product_type=USDT, start_time=0, end_time=91 * 86_400_000)
    assert app.requests == []


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refused("40012", "apikey/password is incorrect"), AuthenticationFailed),
        (refused("40037"), AuthenticationFailed),
        (refused("40099"), AuthenticationFailed),
        (refused("40008"), AuthenticationFailed),
        (refused("40014", "权限不正确, 需要 future order write 权限"), PermissionRefused),
        (refused("40085"), UnifiedAccount),
        (refused("429", status=429), RateLimited),
        (refused("429", status=200), RateLimited),
        (refused("1001", status=429), RateLimited),
        (refused("1001", status=400), RateLimited),
        (refused("30007", status=429), RateLimited),
        (refused("40034", status=429), RateLimited),
        (refused("40014", status=429), RateLimited),
        (Say(data={"fillList": []}, status=429), RateLimited),
        (refused("40034"), Rejected),
        (refused("99999"), Rejected),
        (refused("00001"), Rejected),
        (refused("40404", status=404), EndpointMissing),
        (refused("40404"), EndpointMissing),
        (refused("40010"), Busy),
        (refused("40725", status=200), Busy),
        (refused("12345", status=503), Busy),
        (Say(body=b"<html>", headers={"content-type": "text/html"}), UnreadableReply),
        (Say(body=b"<html>"), UnreadableReply),
        (Say(body=b'{"code":"00000","data":[{"ma'), UnreadableReply),
        (Say(body=b""), UnreadableReply),
        (Say(body=b"[1,2]"), UnreadableReply),
        (Say(body=b"\xff\xfe{}"), UnreadableReply),
        (Say(body=b'{"a":' * 100_000 + b"1" + b"}" * 100_000), UnreadableReply),
        (Say(data="text"), UnreadableReply),
        (Say(body=b'{"message":"failure to get a peer from the ring-balancer"}', status=503), Busy),
        (Say(body=b'{"message":"failure to get a peer from the ring-balancer"}', status=403), UnreadableReply),
        (Say(body=b"slow down", headers={"content-type": "text/plain"}, status=429), RateLimited),
        (Say(body=b"nothing", headers={"content-type": "text/plain"}, status=404), EndpointMissing),
        (Say(body=b"", headers={"location": "https://elsewhere.example"}, status=302), UnreadableReply),
        (ConnectionResetError(), Unreachable),
    ],
)
async def test_the_body_decides_whatever_the_status(answer: Say | Exception, kind: type[ExchangeError]) -> None:
    client, _ = reader(lambda request: answer, priority=Priority.FEED)
    with pytest.raises(ExchangeError) as failure:
        await client.futures.accounts(product_type=USDT)
    assert type(failure.value) is kind
    assert failure.value.remedy, "every error says what to do"
    assert str(failure.value).startswith("Accounts: ")


@pytest.mark.parametrize("status", [403, 406, 451])
async def test_a_page_of_a_web_firewall_is_called_what_it_is(status: int) -> None:
    page = Say(body=b"<html>Attention Required</html>", headers={"content-type": "text/html"}, status=status)
    client, _ = reader(lambda request: page, priority=Priority.FEED)
    with pytest.raises(UnreadableReply) as failure:
        await client.futures.accounts(product_type=USDT)
    assert failure.value.message == f"a firewall in front of the exchange refuses this address (HTTP {status})"
    assert "base_url" not in (failure.value.remedy or "")


async def test_what_the_exchange_says_cannot_reach_the_terminal_as_it_is() -> None:
    client, _ = reader(lambda request: refused("40034", "\x1b]52;c;aGk=\x07 [/] \u202e"))
    with pytest.raises(Rejected) as failure:
        await client.futures.accounts(product_type=USDT)
    assert failure.value.message == "\x1b]52;c;aGk=\x07 [/] \u202e"
    assert str(failure.value).isprintable()


async def test_a_name_twice_in_what_is_held_is_no_answer_and_in_a_history_the_last_one_counts() -> None:
    twice = b'{"code":"00000","requestTime":1,"data":%s,"data":%s}'
    client, _ = reader(lambda request: Say(body=twice % ((b"[]",) * 2)))
    with pytest.raises(UnreadableReply, match="a name twice"):
        await client.futures.positions(product_type=USDT)
    client, _ = reader(lambda request: Say(body=twice % ((b'{"fillList":null,"endId":null}',) * 2)))
    assert (await client.futures.fills(product_type=USDT)).rows == ()


async def test_success_under_an_odd_status_is_success() -> None:
    client, _ = reader(lambda request: Say(data=[], status=500))
    assert (await client.futures.accounts(product_type=USDT)).rows == ()


async def test_content_without_a_declared_type_is_read() -> None:
    client, _ = reader(lambda request: Say(data=[], headers={}))
    assert (await client.futures.accounts(product_type=USDT)).rows == ()


@pytest.mark.parametrize(
    "failure",
    [ConnectionResetError(), refused("40725"), refused("429", status=429), Say(body=b"<html>"), Say(after=9.0)],
)
async def test_a_person_reads_once_more_and_a_feed_never(failure: Say | Exception) -> None:
    client, app = reader(in_turn(failure, Say(data=[])))
    await client.futures.accounts(product_type=USDT)
    assert len(app.requests) == 2
    client, app = reader(in_turn(failure, failure, Say(data=[])))
    with pytest.raises(ExchangeError):
        await client.futures.accounts(product_type=USDT)
    assert len(app.requests) == 2
    client, app = reader(in_turn(failure, Say(data=[])))
    with pytest.raises(ExchangeError):
        await client.with_priority(Priority.FEED).futures.accounts(product_type=USDT)
    assert len(app.requests) == 1


@pytest.mark.parametrize("failure", [refused("40012"), refused("40014"), refused("40034"), refused("40404")])
async def test_what_will_not_pass_is_not_tried_again(failure: Say) -> None:
    client, app = reader(lambda request: failure)
    with pytest.raises(ExchangeError):
        await client.futures.accounts(product_type=USDT)
    assert len(app.requests) == 1


async def test_a_clock_an_hour_off_is_corrected_by_the_first_refusal() -> None:
    hour = 3_600_000

    def script(request: ArrivedRequest) -> Say:
        known = abs(int(request.headers["access-timestamp"]) - (app.now() + hour)) < 30_000
        return Say(data=[], request_time=app.now() + hour) if known else refused("40008", request_time=app.now() + hour)

    client, app = reader(script)
    await client.futures.accounts(product_type=USDT)
    assert len(app.requests) == 2


async def test_a_time_out_is_kept_in_process_too() -> None:
    client, _ = reader(lambda request: Say(data=[], after=60), priority=Priority.FEED)
    with pytest.raises(Unreachable, match="within 5 s"):
        await client.futures.accounts(product_type=USDT)
    assert asyncio.get_running_loop().time() == pytest.approx(5.0)
    await client.aclose()


async def test_a_refused_word_is_said_the_other_way_once_and_remembered() -> None:
    live = ("SYSTEM_LOCK", "USER_LOCK", "withdrawal")

    def script(request: ArrivedRequest) -> Say:
        wrong = any(value not in live for name, value in request.values.items() if name in ("businessType", "type"))
        return (
            refused("40020", "Parameter error") if wrong else Say(data=[] if "bills" in request.path else {"list": []})
        )

    client, app = reader(script)
    await client.spot.bills(business_type="system lock")
    await client.broker.transfers(type="withdrawl")
    assert [list(request.values.values())[-1] for request in app.requests] == [
        "system lock",
        "SYSTEM_LOCK",
        "withdrawl",
        "withdrawal",
    ]
    app.requests.clear()
    await client.spot.bills(business_type="system lock")
    await client.spot.bills(business_type="user lock", limit=5)
    assert [request.values["businessType"] for request in app.requests[:2]] == ["SYSTEM_LOCK", "USER_LOCK"]


async def test_a_word_refused_both_ways_is_refused_with_the_first_reason() -> None:
    client, app = reader(in_turn(refused("40020", "first"), refused("40020", "second")))
    with pytest.raises(Rejected, match="first"):
        await client.spot.bills(business_type="system lock")
    assert len(app.requests) == 2


async def test_a_refusal_without_another_word_is_final() -> None:
    client, app = reader(lambda request: refused("40020"))
    with pytest.raises(Rejected):
        await client.spot.bills(coin="USDT")
    assert len(app.requests) == 1


async def test_a_unified_account_is_asked_once_a_minute_whatever_is_read() -> None:
    unified = {"now": True}
    client, app = reader(
        lambda request: refused("40085") if unified["now"] and request.headers.get("access-sign") else Say(data=[]),
        priority=Priority.FEED,
    )
    end = asyncio.get_running_loop().time() + 300
    while asyncio.get_running_loop().time() < end:
        for read in (client.futures.accounts, client.futures.fills, client.futures.positions):
            with pytest.raises(UnifiedAccount, match="create a sub-account in classic mode, make an API key in it"):
                await read(product_type=USDT)
        await asyncio.sleep(1)
    assert len(app.requests) in (10, 12), "the classic interface, and then the other one"
    await client.public.time()
    assert len(app.requests) in (11, 13), "what needs no key goes on"
    unified["now"] = False
    await asyncio.sleep(60)
    for _ in range(2):
        await client.futures.accounts(product_type=USDT)
        await client.futures.positions(product_type=USDT)


def signs(request: ArrivedRequest, query: str) -> bool:
    message = prehash(request.headers["access-timestamp"], request.method, request.path, query)
    return request.headers["access-sign"] == sign_hmac(SECRET, message)


async def test_decoded_values_are_signed_when_encoded_ones_are_refused_and_that_is_remembered() -> None:
    def script(request: ArrivedRequest) -> Say:
        decoded = "&".join(f"{name}={value}" for name, value in request.values.items())
        return Say(data=[]) if signs(request, decoded) else refused("40009", "sign signature error")

    client, app = reader(script)
    await client.spot.bills(business_type="system lock")
    assert [("%20" in request.query) for request in app.requests] == [True, True]
    await client.spot.bills(business_type="user lock")
    assert len(app.requests) == 3


async def test_a_wrong_secret_is_said_at_once_where_nothing_needed_encoding() -> None:
    client, app = reader(lambda request: refused("40009", "sign signature error"))
    with pytest.raises(AuthenticationFailed, match="secret"):
        await client.futures.accounts(product_type=USDT)
    assert len(app.requests) == 1
    with pytest.raises(AuthenticationFailed):
        await client.spot.bills(business_type="system lock")
    assert len(app.requests) == 3


@pytest.mark.parametrize(
    "answer",
    [
        refused("40404"),
        refused("40014"),
        refused("40034", status=404),
        Say(body=b"nothing", status=404, headers={"content-type": "text/plain"}),
    ],
)
async def test_an_endpoint_beyond_the_interface_is_left_alone_for_ten_minutes(answer: Say) -> None:
    answers = {"now": answer}
    client, app = reader(lambda request: answers["now"])
    for _ in range(3):
        with pytest.raises(ExchangeError) as failure:
            await client.futures.positions(product_type=USDT)
    assert len(app.requests) == 1
    assert client.capabilities.refusal("futures.positions") is not None
    assert type(failure.value) in (EndpointMissing, PermissionRefused)
    await asyncio.sleep(601)
    answers["now"] = Say(data=[])
    assert client.capabilities.refusal("futures.positions") is None
    await client.futures.positions(product_type=USDT)
    await client.futures.positions(product_type=USDT)
    assert len(app.requests) == 3


async def test_other_errors_switch_nothing_off_and_the_thirteen_are_never_off() -> None:
    client, app = reader(lambda request: refused("40010"), priority=Priority.FEED)
    for _ in range(2):
        with pytest.raises(Busy):
            await client.futures.positions(product_type=USDT)
    assert len(app.requests) == 2
    client, app = reader(lambda request: refused("40014"))
    for _ in range(2):
        with pytest.raises(PermissionRefused):
            await client.futures.accounts(product_type=USDT)
    assert len(app.requests) == 2


async def test_feeds_and_persons_share_connections_budget_and_knowledge() -> None:
    client, _ = reader(lambda request: Say(data=[]))
    feed = client.with_priority(Priority.FEED)
    await feed.futures.accounts(product_type=USDT)
    assert feed.connection_status is client.connection_status
    assert feed.priority is Priority.FEED
    assert client.priority is Priority.INTERACTIVE
    assert client.budget.usage()["futures.accounts"].used == 1


async def test_a_storm_of_429_slows_down_and_passes() -> None:
    storm = {"on": True}
    client, app = reader(
        lambda request: refused("429", status=429) if storm["on"] else Say(data={"fillList": [fill(1)]}),
        priority=Priority.FEED,
    )
    loop = asyncio.get_running_loop()

    async def poll(until: float) -> int:
        good = 0
        while loop.time() < until:
            with contextlib.suppress(RateLimited):
                good += len((await client.futures.fills(product_type=USDT)).rows)
            await asyncio.sleep(1.0)
        return good

    assert await poll(30) == 0
    assert len(app.requests) < 30
    assert client.budget.usage()["futures.fills"].allowed == 1
    storm["on"] = False
    assert await poll(loop.time() + 4) >= 2


async def test_no_reader_can_write() -> None:
    client, app = reader(lambda request: Say(data=[]))
    assert not [name for name in dir(client) if "write" in name and not name.startswith("_may")]
    assert not hasattr(client.futures, "reverse")
    assert not hasattr(client, "subaccounts")
    with pytest.raises(ExchangeError, match="Nothing was sent"):
        await client.read(ReversalRequest(symbol="BTCUSDT", margin_coin="USDT", product_type="USDT-FUTURES"))
    with pytest.raises(ValueError, match="read-only"):
        ExchangeReader(CREDENTIALS, transport=InProcessTransport(app))
    assert app.requests == []


async def test_replies_hold_what_was_received() -> None:
    row = fill(7)
    client, _ = reader(lambda request: Say(data={"fillList": [row], "endId": row["tradeId"]}))
    reply = await client.futures.fills(product_type="usdt-futures")
    assert json.loads(json.dumps(reply.rows[0].received)) == row
    assert reply.cursor == row["tradeId"]


async def test_a_connection_that_ended_holds_its_permit_no_longer_than_an_answer() -> None:
    """What it carried cannot arrive any more, unlike a call that was given up."""
    client, _ = reader(lambda request: ConnectionError("closed"))
    with pytest.raises(Unreachable):
        await client.futures.accounts(product_type=USDT)

    def used() -> int:
        return client.budget.usage()["futures.accounts"].used

    assert used() > 0
    await asyncio.sleep(1.1)
    assert used() == 0
