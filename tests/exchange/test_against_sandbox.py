"""The client against the embedded exchange, which was written to the interface by code of its own."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest
from pydantic import SecretStr

from tests.exchange.scripted_exchange import START_MS
from tests.sandbox.copied_accounts import born_once
from tradetui.exchange import (
    AuthenticationFailed,
    Credentials,
    EndpointMissing,
    ExchangeClient,
    ExchangeError,
    LoopClock,
    OutcomeUnknown,
    PermissionRefused,
    Priority,
    RateLimited,
    Rejected,
)
from tradetui.exchange.rate_limit.budget import Budget
from tradetui.sandbox.app import Sandbox, SandboxOptions
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.sandbox.server import serving
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.enums import BusinessType

USDT = "USDT-FUTURES"
DAY = 86_400_000


class Setting:
    """A sandbox in virtual time whose market stands still, and clients of its accounts."""

    def __init__(self, **options: Any) -> None:
        self.clock = LoopClock(START_MS)
        self.exchange_state = born_once(build_exchange_state(7, START_MS))
        self.exchange_state.stands_still = True
        self.sandbox = Sandbox(self.exchange_state, self.clock.wall_ms, SandboxOptions(**options))

    def client(self, name: str = "hedge", **changed: Any) -> ExchangeClient:
        key = next(key for key in self.exchange_state.keys if key.name == name)
        texts = {"api_key": key.api_key, "secret": key.secret, "passphrase": key.passphrase, **changed}
        budget = Budget(clock=self.clock, random=random.Random(1))
        credentials = Credentials(**texts)
        return ExchangeClient(credentials, app=self.sandbox, clock=self.clock, budget=budget, random=random.Random(1))

    def uid(self, name: str = "hedge") -> str:
        return next(key.uid for key in self.exchange_state.keys if key.name == name)


def whole(reply: Reply[Any]) -> Reply[Any]:
    """The reply, of which nothing was lost or left unread."""
    assert reply.undecodable_rows == ()
    assert reply.unreadable == 0
    return reply


async def all_of(pages: AsyncIterator[Reply[Any]]) -> list[Any]:
    return [row async for page in pages for row in whole(page).rows]


async def pending_orders(client: ExchangeClient) -> list[Any]:
    states = ("live", "partially_filled")
    return [
        row
        for status in states
        for row in await all_of(client.futures.iter_pending_orders(product_type=USDT, status=status))
    ]


@pytest.mark.looptime
@pytest.mark.parametrize("dialect", ["documented", "live"])
async def test_every_reading_endpoint(dialect: str) -> None:
    setting = Setting(dialect=dialect)
    client, broker = setting.client(), setting.client("broker")
    now = START_MS
    for call in (
        client.futures.accounts(product_type=USDT),
        client.futures.pending_orders(product_type=USDT),
        client.futures.fills(product_type="usdt-futures", symbol="BTCUSDT"),
        client.futures.triggers(product_type=USDT, plan_type="profit_loss"),
        client.futures.live_triggers(product_type=USDT, plan_type="normal_plan"),
        client.futures.positions(product_type=USDT),
        client.futures.contracts(product_type=USDT),
        client.futures.ticker(product_type=USDT, symbol="BTCUSDT"),
        client.futures.account(symbol="BTCUSDT", product_type=USDT, margin_coin="USDT"),
        client.spot.fills(),
        client.spot.bills(group_type="fait"),
        client.spot.bills(),
        client.spot.account_info(),
        client.public.time(),
        client.convert.history(start_time=now - 90 * DAY, end_time=now),
        broker.broker.transfers(start_time=now - 7 * DAY, end_time=now, type="withdrawl"),
    ):
        whole(await call)
    assert client.server_clock.offset_ms == 0
    fills = whole(await client.futures.fills(product_type=USDT))
    detail = whole(
        await client.futures.order_detail(
            symbol=fills.rows[0].symbol, product_type=USDT, order_id=fills.rows[0].order_id
        )
    )
    assert detail.rows[0].order_id == fills.rows[0].order_id
    assert len(await pending_orders(client)) >= 20
    assert all(row.is_withdrawal for row in (await broker.broker.transfers(type="withdrawl")).rows)


@pytest.mark.looptime
async def test_all_pages_are_all_rows() -> None:
    setting = Setting()
    client, uid = setting.client(), setting.uid()
    state = setting.exchange_state
    fills = await all_of(client.futures.iter_fills(product_type=USDT, start_time=0))
    assert [row.trade_id for row in fills] == [row["tradeId"] for row in state.rows(uid, "fills", USDT)]
    assert len(fills) >= 2000
    spot = await all_of(client.spot.iter_bills(limit=7))
    assert [row.bill_id for row in spot] == [row["billId"] for row in state.rows(uid, "bills")]
    history = [
        row
        for plan_type in ("normal_plan", "track_plan", "profit_loss")
        for row in await all_of(client.futures.iter_triggers(product_type=USDT, plan_type=plan_type))
    ]
    assert {row.order_id for row in history} == {row["orderId"] for row in state.rows(uid, "triggers", USDT)}
    converts = await all_of(client.convert.iter_history(start_time=0, end_time=START_MS, limit=3))
    recent = [row for row in state.rows(uid, "converts") if int(row["ts"]) >= START_MS - 90 * DAY]
    assert len(converts) >= len(recent) > 0
    broker = setting.client("broker")
    transfers = await all_of(broker.broker.iter_transfers(start_time=0, limit=5))
    assert len(transfers) == len(state.rows(setting.uid("broker"), "transfers")) > 0


@pytest.mark.looptime
@pytest.mark.parametrize("dialect", ["documented", "live"])
async def test_every_business_type_is_understood(dialect: str) -> None:
    setting = Setting(dialect=dialect)
    client = setting.client()
    everything = {row.bill_id for row in await all_of(client.spot.iter_bills())}
    bill_ids: set[str] = set()
    for word in BusinessType:
        bill_ids |= {row.bill_id for row in await all_of(client.spot.iter_bills(business_type=word))}
    assert bill_ids <= everything
    assert len(bill_ids) > len(everything) / 2


@pytest.mark.looptime
@pytest.mark.parametrize(
    ("name", "changed", "kind", "sentence"),
    [
        ("hedge", {"secret": "wrong"}, AuthenticationFailed, "secret"),
        ("hedge", {"passphrase": "wrongwrong"}, AuthenticationFailed, "passphrase"),
        ("hedge", {"api_key": "bg_unknown"}, AuthenticationFailed, "API key"),
    ],
)
async def test_wrong_keys_say_what_to_do(
    name: str, changed: dict[str, str], kind: type[ExchangeError], sentence: str
) -> None:
    client = Setting().client(name, **changed)
    with pytest.raises(kind, match=sentence):
        await client.futures.accounts(product_type=USDT)


@pytest.mark.looptime
async def test_a_clock_that_is_off_is_corrected_for_reads_and_stops_writes() -> None:
    setting = Setting()
    setting.sandbox.skew_ms = 3_600_000
    client = setting.client()
    whole(await client.futures.accounts(product_type=USDT))
    assert client.server_clock.offset_ms == 3_600_000
    with pytest.raises(ExchangeError, match="clock"):
        await client.futures.reverse(
            symbol="BTCUSDT", margin_coin="USDT", product_type=USDT, side="buy", trade_side="Open", size=Decimal(1)
        )
    assert setting.sandbox.counts["POST", "/api/v2/mix/order/click-backhand"] == 0


@pytest.mark.looptime
async def test_core_only() -> None:
    client = Setting(core_only=True).client()
    for call in (client.futures.positions(product_type=USDT), client.spot.account_info(), client.public.time()):
        with pytest.raises(EndpointMissing):
            await call
    assert client.capabilities.refusal("futures.positions") is not None
    assert len(await pending_orders(client)) >= 20


@pytest.mark.looptime
@pytest.mark.parametrize("priorities", [(Priority.INTERACTIVE,), (Priority.FEED, Priority.INTERACTIVE)])
async def test_thirty_callers_for_a_minute_and_never_too_many(priorities: tuple[Priority, ...]) -> None:
    setting = Setting()
    chance = random.Random(3)

    async def far_away(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(chance.uniform(0.02, 0.32))
        await setting.sandbox(scope, receive, send)
        await asyncio.sleep(chance.uniform(0.02, 0.32))

    key = next(key for key in setting.exchange_state.keys if key.name == "hedge")
    client = ExchangeClient(
        Credentials(key.api_key, key.secret, key.passphrase),
        app=far_away,
        clock=setting.clock,
        budget=Budget(clock=setting.clock, random=chance),
        random=chance,
    )
    loop = asyncio.get_running_loop()
    calls = 0

    async def caller(priority: Priority) -> None:
        nonlocal calls
        while loop.time() < 60:
            await client.with_priority(priority).futures.accounts(product_type=USDT)
            calls += 1

    await asyncio.gather(*(caller(priorities[i % len(priorities)]) for i in range(30)))
    assert calls / 60 > 0.95 * 10 / 1.342
    assert not client.budget.usage()["futures.accounts"].halved, "the remaining-calls header was explained"


@pytest.mark.looptime
async def test_another_program_on_the_account_is_noticed_by_the_header() -> None:
    setting = Setting()
    ours, theirs = setting.client(), setting.client()
    for _ in range(8):
        await theirs.futures.accounts(product_type=USDT)
    await ours.futures.accounts(product_type=USDT)
    assert ours.budget.usage()["futures.accounts"].halved


@pytest.mark.looptime
@pytest.mark.parametrize(
    "fault", ["dropped-before", "dropped-after", "5xx", "non-json", "truncated", "wrong-types", "429"]
)
async def test_weather_passes_for_a_person(fault: str) -> None:
    setting = Setting()
    client = setting.client()
    setting.sandbox.faults.plan(fault, times=1)
    assert whole(await client.futures.fills(product_type=USDT)).rows


@pytest.mark.looptime
@pytest.mark.parametrize("fault", ["dropped-before", "dropped-after", "5xx", "non-json", "truncated", "delay"])
async def test_a_reversal_in_bad_weather_is_unknown_and_sent_once(fault: str) -> None:
    setting = Setting(delay_ms=60_000)
    client, path = setting.client(), ("POST", "/api/v2/mix/order/click-backhand")
    position = (await client.futures.positions(product_type=USDT)).rows[0]
    setting.sandbox.faults.plan(fault, endpoint="futures.reverse")
    with pytest.raises(OutcomeUnknown):
        await client.futures.reverse(
            symbol=position.symbol,
            margin_coin=position.margin_coin or "",
            product_type=USDT,
            side="buy" if position.hold_side == "long" else "sell",
            trade_side="Open",
            size=position.total,
            client_oid="once",
        )
    await asyncio.sleep(120)
    assert setting.sandbox.counts[path] == (0 if fault == "dropped-before" else 1)
    await client.aclose()


@pytest.mark.looptime
async def test_a_429_for_a_reversal_is_a_refusal() -> None:
    setting = Setting()
    client = setting.client()
    setting.sandbox.faults.plan("429", endpoint="futures.reverse")
    with pytest.raises(RateLimited):
        await client.futures.reverse(
            symbol="BTCUSDT", margin_coin="USDT", product_type=USDT, side="buy", trade_side="Open", size=Decimal(1)
        )


@pytest.mark.looptime
async def test_writes_of_the_other_areas() -> None:
    setting = Setting()
    with pytest.raises(Rejected, match="This interface is only applicable to the new Copy model"):
        await setting.client("copy-old").copytrading.create_api_key(passphrase=SecretStr("Passphrase01"))
    made = await setting.client("copy-new").copytrading.create_api_key(passphrase=SecretStr("Passphrase01"))
    assert made.rows[0].apikey
    await asyncio.sleep(2)  # clients of their own do not share a budget
    client = setting.client("copy-new")
    with pytest.raises(Rejected) as again:
        await client.copytrading.create_api_key(passphrase=SecretStr("Passphrase01"))
    assert again.value.message == "You have already created a Copy API Key."
    created = await setting.client("broker").broker.create_subaccount(subaccount_name="new@example.com")
    email = await setting.client("broker").broker.subaccount_email(sub_uid=created.rows[0].sub_uid)
    assert email.rows[0].sub_uid == created.rows[0].sub_uid
    with pytest.raises(PermissionRefused):
        await setting.client("read-only").futures.reverse(
            symbol="BTCUSDT", margin_coin="USDT", product_type=USDT, side="buy", trade_side="Open", size=Decimal(1)
        )


async def test_over_real_http() -> None:
    clock = LoopClock(START_MS)
    exchange_state = born_once(build_exchange_state(7, START_MS))
    sandbox = Sandbox(exchange_state, clock.wall_ms, SandboxOptions())
    stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
    server = asyncio.create_task(serving(sandbox, "127.0.0.1", 0, ready.set_result, stop))
    base_url = await ready
    key = next(key for key in exchange_state.keys if key.name == "hedge")
    credentials = Credentials(key.api_key, key.secret, key.passphrase)
    async with ExchangeClient(credentials, base_url, clock=clock) as client:
        assert len(await pending_orders(client)) >= 20
        for fault in ("dropped-before", "dropped-after", "truncated", "5xx"):
            sandbox.faults.plan(fault, times=1)
            assert whole(await client.futures.fills(product_type=USDT)).rows
        whole(await client.spot.bills(business_type="deduction of handling fee"))
    stop.set()
    await server
