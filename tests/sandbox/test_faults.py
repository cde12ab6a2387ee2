"""Bad weather from both sides: what the exchange does and answers, and what a client makes of it."""

from __future__ import annotations

import contextlib
import json
import random
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.exchange.scripted_exchange import START_MS, NoBudget
from tests.sandbox.exchange_events import heal, open_position
from tests.sandbox.invariants import check_books
from tests.sandbox.signed_requests import NOW_MS, Caller
from tests.whole.reversal.reversal_session import SYMBOL, USDT, scene
from tradetui.desk.reversal.outcome import Outcome
from tradetui.desk.reversal.preview import Target
from tradetui.exchange import (
    AuthenticationFailed,
    Credentials,
    ExchangeClient,
    ExchangeError,
    LoopClock,
    OutcomeUnknown,
)
from tradetui.sandbox.app import Sandbox, SandboxOptions
from tradetui.sandbox.gateway.faults import ConnectionDropped, Faults
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.trading.holdings import Legs
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.enums import Side

POSITIONS = "productType=USDT-FUTURES"
REVERSAL = {"symbol": SYMBOL, "marginCoin": "USDT", "productType": "USDT-FUTURES", "side": "buy", "tradeSide": "open"}
LONG = Target(SYMBOL, USDT, Side.BUY)
PATH = ("POST", CATALOGUE["futures.reverse"].path)


async def arrive(
    caller: Caller, name: str, *, account: str = "hedge", query: str = "", body: Any = None, **changed: str | None
) -> httpx.Response:
    """Send a signed request through the exchange's front door, where the weather is."""
    endpoint = CATALOGUE[name]
    content = b"" if body is None else json.dumps(body).encode()
    request = caller.request(endpoint.method, endpoint.path, account, query=query, body=content, **changed)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(caller.sandbox), base_url="http://sandbox") as client:
        url = f"{endpoint.path}?{query}" if query else endpoint.path
        return await client.request(endpoint.method, url, content=content, headers=dict(request.headers))


def long_of(caller: Caller) -> Decimal:
    held = caller.sandbox.exchange_state.book(caller.key("hedge").uid, "USDT-FUTURES").held(SYMBOL, "long")
    return held.size if held else Decimal(0)


def total(answer: httpx.Response, leg: str = "long") -> str:
    rows = answer.json()["data"]
    return str(next(row["total"] for row in rows if (row["symbol"], row["holdSide"]) == (SYMBOL, leg)))


# The exchange's side


def test_of_several_faults_that_are_drawn_for_one_call_none_hides_another_for_good() -> None:
    faults = Faults({"delay": 1.0, "429": 1.0, "closed-only": 1.0, "liquidated": 1.0}, seed=7)
    assert {faults.take_for_call("futures.fills") for _ in range(50)} == {"delay", "429"}
    assert {faults.take_for_reversal() for _ in range(50)} == {"closed-only", "liquidated"}


async def test_a_skewed_clock_refuses_a_right_time_stamp_and_takes_its_own(fresh: Caller) -> None:
    fresh.sandbox.faults.plan("clock-skew", times=2)
    refused = await arrive(fresh, "futures.positions", query=POSITIONS)
    assert (refused.status_code, refused.json()["code"], refused.json()["data"]) == (400, "40008", None)
    assert refused.json()["requestTime"] == NOW_MS + 45_000
    taken = await arrive(fresh, "futures.positions", query=POSITIONS, stamp=str(NOW_MS + 45_000))
    assert (taken.json()["code"], taken.json()["requestTime"]) == ("00000", NOW_MS + 45_000)
    after = await arrive(fresh, "futures.positions", query=POSITIONS)
    assert (after.json()["code"], after.json()["requestTime"]) == ("00000", NOW_MS)


async def test_the_skew_is_what_the_options_say_and_the_time_endpoint_tells_it() -> None:
    caller = Caller(skew_ms=-20_000, faults={"clock-skew": 1.0})
    answer = await arrive(caller, "public.time")
    assert answer.json()["data"]["serverTime"] == str(NOW_MS - 20_000)
    within = await arrive(caller, "futures.positions", query=POSITIONS)
    assert within.json()["code"] == "00000", "twenty seconds are within the thirty"


async def test_a_reversal_at_a_skewed_clock_does_nothing(fresh: Caller) -> None:
    fresh.hold("hedge", "1")
    fresh.sandbox.faults.plan("clock-skew")
    assert (await arrive(fresh, "futures.reverse", body={**REVERSAL, "size": "1"})).json()["code"] == "40008"
    assert long_of(fresh) == 1


async def test_a_stale_read_is_the_last_answer_to_the_same_question(fresh: Caller) -> None:
    exchange_state, uid = fresh.sandbox.exchange_state, fresh.hold("hedge", "1")
    fresh.sandbox.faults.plan("stale-reads")
    assert total(await arrive(fresh, "futures.positions", query=POSITIONS)) == "1", "nothing older is known"
    open_position(exchange_state, uid, SYMBOL, "long", Decimal("0.5"))
    fresh.now_ms += 5_000
    fresh.sandbox.faults.plan("stale-reads", times=3)
    stale = await arrive(fresh, "futures.positions", query=POSITIONS)
    assert (total(stale), stale.json()["requestTime"]) == ("1", NOW_MS + 5_000), "its age cannot be told"
    other = await arrive(fresh, "futures.positions", query=f"marginCoin=USDT&{POSITIONS}")
    assert total(other) == "1.5", "another question"
    own = await arrive(fresh, "futures.positions", query=POSITIONS, account="one-way")
    assert own.json()["data"] != stale.json()["data"], "another account"
    assert total(await arrive(fresh, "futures.positions", query=POSITIONS)) == "1.5"


async def test_a_write_is_never_stale(fresh: Caller) -> None:
    fresh.hold("hedge", "1")
    fresh.sandbox.faults.plan("stale-reads", times=2)
    first = await arrive(fresh, "futures.reverse", body={**REVERSAL, "size": "0.4"})
    second = await arrive(fresh, "futures.reverse", body={**REVERSAL, "size": "0.4"})
    assert first.json()["data"]["orderId"] != second.json()["data"]["orderId"]
    assert long_of(fresh) == Decimal("0.2")


@pytest.mark.parametrize(("fault", "left"), [("5xx", "1"), ("5xx-after", "0")])
async def test_a_5xx_may_have_been_processed_or_not_and_looks_the_same(fresh: Caller, fault: str, left: str) -> None:
    fresh.hold("hedge", "1")
    fresh.sandbox.faults.plan(fault)
    answer = await arrive(fresh, "futures.reverse", body={**REVERSAL, "size": "1"})
    assert (answer.status_code, answer.headers["content-type"]) == (502, "text/html")
    assert answer.content == b"<html><body><h1>502 Bad Gateway</h1></body></html>"
    assert "x-mbx-used-remain-limit" not in answer.headers
    assert long_of(fresh) == Decimal(left)
    assert fresh.sandbox.counts[PATH] == 1
    assert fresh.sandbox.calls[-1].code == ""
    check_books(fresh.sandbox.exchange_state)


@pytest.mark.parametrize(("fault", "remembered"), [("dropped-before", 0), ("dropped-after", 1)])
async def test_a_call_is_remembered_where_it_reached_the_exchange(fresh: Caller, fault: str, remembered: int) -> None:
    fresh.sandbox.faults.plan(fault)
    with pytest.raises(ConnectionDropped):
        await arrive(fresh, "futures.positions", query=POSITIONS)
    assert len(fresh.sandbox.calls) == fresh.sandbox.counts.total() == remembered


@pytest.mark.parametrize("fault", ["5xx", "5xx-after"])
async def test_a_5xx_comes_to_reads_as_often_as_it_is_asked_for(fault: str) -> None:
    caller = Caller(faults={fault: 0.5})
    statuses = [(await arrive(caller, "futures.positions", query=POSITIONS)).status_code for _ in range(60)]
    assert set(statuses) == {200, 502}
    assert 15 < statuses.count(502) < 45
    again = Caller(faults={fault: 0.5})
    assert [(await arrive(again, "futures.positions", query=POSITIONS)).status_code for _ in range(60)] == statuses
    heal(caller.sandbox.faults)
    assert (await arrive(caller, "futures.positions", query=POSITIONS)).status_code == 200


# The client's side


class Weather:
    """A sandbox in virtual time, and a client of its hedge account."""

    def __init__(self) -> None:
        self.clock = LoopClock(START_MS)
        exchange_state = build_exchange_state(7, START_MS)
        exchange_state.stands_still = True
        self.sandbox = Sandbox(exchange_state, self.clock.wall_ms, SandboxOptions(limits=False))
        key = exchange_state.keys[0]
        self.client = ExchangeClient(
            Credentials(key.api_key, key.secret, key.passphrase),
            app=self.sandbox,
            clock=self.clock,
            budget=NoBudget(),
            random=random.Random(1),
        )


@pytest.mark.looptime
async def test_a_client_finds_back_from_a_clock_that_jumped_and_returned() -> None:
    weather = Weather()
    assert (await weather.client.futures.positions(product_type=USDT)).rows
    weather.sandbox.faults.plan("clock-skew")
    # What it learns of the jump is wrong again by its second try; the next read must not suffer from it.
    with contextlib.suppress(AuthenticationFailed):
        await weather.client.futures.positions(product_type=USDT)
    for _ in range(3):
        assert (await weather.client.futures.positions(product_type=USDT)).rows
    assert weather.client.server_clock.offset_ms == 0


@pytest.mark.looptime
async def test_a_client_reads_at_a_clock_that_stays_off() -> None:
    weather = Weather()
    weather.sandbox.faults.rates["clock-skew"] = 1.0
    for _ in range(3):
        assert (await weather.client.futures.positions(product_type=USDT)).rows
    assert weather.client.server_clock.offset_ms == 45_000
    assert weather.sandbox.counts["GET", CATALOGUE["futures.positions"].path] == 4, "refused once, and never again"


@pytest.mark.looptime
@pytest.mark.parametrize("fault", ["5xx", "5xx-after"])
async def test_a_client_reads_again_after_a_5xx(fault: str) -> None:
    weather = Weather()
    weather.sandbox.faults.plan(fault)
    assert (await weather.client.futures.positions(product_type=USDT)).rows
    assert weather.sandbox.counts["GET", CATALOGUE["futures.positions"].path] == 2


@pytest.mark.looptime
@pytest.mark.parametrize("fault", ["5xx", "5xx-after"])
async def test_a_client_does_not_send_a_reversal_again_after_a_5xx(fault: str) -> None:
    weather = Weather()
    weather.sandbox.faults.plan(fault, endpoint="futures.reverse")
    exchange_state = weather.sandbox.exchange_state
    open_position(exchange_state, exchange_state.keys[0].uid, SYMBOL, "long", Decimal(1))
    with pytest.raises(OutcomeUnknown):
        await weather.client.futures.reverse(
            symbol=SYMBOL, margin_coin="USDT", product_type=USDT, side="buy", trade_side="Open", size=Decimal("0.5")
        )
    assert weather.sandbox.counts[PATH] == 1


@pytest.mark.looptime
async def test_a_reversal_at_a_skewed_clock_is_an_error_and_sent_once() -> None:
    weather = Weather()
    await weather.client.futures.positions(product_type=USDT)
    weather.sandbox.faults.plan("clock-skew", endpoint="futures.reverse")
    with pytest.raises(ExchangeError) as problem:
        await weather.client.futures.reverse(
            symbol=SYMBOL, margin_coin="USDT", product_type=USDT, side="buy", trade_side="Open", size=Decimal("0.5")
        )
    assert not isinstance(problem.value, OutcomeUnknown)
    assert "clock" in str(problem.value).lower()
    assert weather.sandbox.counts[PATH] == 1


@pytest.mark.looptime
@pytest.mark.parametrize(
    ("fault", "outcome", "held"),
    [("5xx", Outcome.UNCHANGED, Legs(Decimal(2))), ("5xx-after", Outcome.REVERSED, Legs(short=Decimal(2)))],
)
async def test_a_reversal_lost_in_a_5xx_is_settled_by_what_became_of_it(
    fault: str, outcome: Outcome, held: Legs
) -> None:
    async with scene() as on:
        on.hold(long="2")
        on.sandbox.faults.plan(fault, endpoint="futures.reverse")
        progress = await on.reverse(LONG)
        assert (progress[-1].outcome, progress[-1].held, on.held()) == (outcome, held, held)
        assert on.posts == 1


@pytest.mark.looptime
@pytest.mark.parametrize("seed", range(4))
async def test_a_reversal_followed_through_stale_reads_is_named_by_what_is_held(seed: int) -> None:
    async with scene(seed=seed) as on:
        on.hold(long="2")
        preview = await on.execution.preview(LONG)
        sent = await on.execution.confirm(preview, preview.subject)
        on.sandbox.faults.rates["stale-reads"] = 0.6
        progress = [step async for step in on.execution.follow(sent)]
        assert progress[-1].outcome is Outcome.REVERSED
        assert on.held() == progress[-1].held == Legs(short=Decimal(2))
        assert on.posts == 1
