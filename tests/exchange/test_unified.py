"""A unified account is read by interface v3, in the classic rows: the interface is chosen, and no row is lost."""

from __future__ import annotations

import asyncio
import contextlib
import random
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from tests.exchange.scripted_exchange import CREDENTIALS, START_MS, ArrivedRequest, NoBudget, Say, Scripted
from tests.exchange.unified_script import DAY_MS, UnifiedScript, refused, unified_fill, unified_order
from tests.wire.model_rows import FILL
from tests.wire.unified_rows import UNIFIED_POSITION, UNIFIED_ROWS, UNIFIED_TRIGGER
from tradetui.exchange import (
    ExchangeClient,
    ExchangeReader,
    LoopClock,
    PermissionRefused,
    Priority,
    Rejected,
    UnifiedAccount,
    Unreachable,
)
from tradetui.exchange.errors import AccountMoving, ClassicAccount, ClassicOnly, ReadOnly
from tradetui.exchange.unified import Interface
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.enums import PositionSide
from tradetui.wire.models.reversal import ReversalRequest
from tradetui.wire.models.subaccounts import VirtualSubaccountRequest

pytestmark = pytest.mark.looptime

USDT = "USDT-FUTURES"
FILLS, ORDERS = "/api/v3/trade/fills", "/api/v3/trade/unfilled-orders"
PAST, WAITING = "/api/v3/trade/history-strategy-orders", "/api/v3/trade/unfilled-strategy-orders"
SETTINGS = "/api/v3/account/settings"


def client_of(
    script: UnifiedScript, interface: Interface = Interface.AUTO, kind: type[ExchangeReader] = ExchangeReader
) -> Any:
    clock = LoopClock(START_MS)
    app = Scripted(script, clock.wall_ms)
    return kind(CREDENTIALS, app=app, clock=clock, random=random.Random(1), interface=interface, budget=NoBudget())


async def test_the_first_refusal_of_v2_changes_over_and_nothing_is_asked_there_again() -> None:
    script = UnifiedScript(rows={"/api/v3/position/current-position": [UNIFIED_POSITION]})
    client = client_of(script)
    assert not client.is_unified
    (position,) = (await client.futures.positions(product_type=USDT)).rows
    assert (position.leg, position.total) == (PositionSide.SHORT, Decimal("2.5"))
    assert client.is_unified and client.interface_changes == 0
    await client.futures.accounts(product_type=USDT)
    await client.spot.account_info()
    assert [path for path in script.calls if path.startswith("/api/v2/")] == ["/api/v2/mix/position/all-position"]
    assert script.calls.count(SETTINGS) == 1


async def test_many_reads_at_once_ask_for_the_mode_once() -> None:
    script = UnifiedScript()
    client = client_of(script)
    await asyncio.gather(*(client.futures.accounts(product_type=USDT) for _ in range(4)))
    assert (script.calls.count(SETTINGS), client.interface_changes) == (1, 0)


async def test_a_traders_40731_changes_over_too_and_a_copy_traders_does_not() -> None:
    script = UnifiedScript()
    client = client_of(script)
    script.classic = lambda _: refused("40731", "elite trader")

    def trader(request: ArrivedRequest) -> Say:
        return refused("40731") if request.path.startswith("/api/v2/") else script(request)

    client = client_of(trader)  # type: ignore[arg-type]
    assert (await client.futures.accounts(product_type=USDT)).rows[0].margin_coin == "USD"
    script.mode = "classic"
    client = client_of(trader)  # type: ignore[arg-type]
    with pytest.raises(Rejected, match="copy") as caught:
        await client.futures.fills(product_type=USDT)
    assert (caught.value.code, client.is_unified, client.capabilities.account_refusal) == ("40731", False, None)


async def test_the_profile_may_choose_the_interface() -> None:
    script = UnifiedScript()
    client = client_of(script, Interface.UNIFIED)
    assert client.is_unified
    await client.futures.accounts(product_type=USDT)
    assert script.calls == [SETTINGS, "/api/v3/account/assets"]
    client = client_of(script, Interface.CLASSIC)
    with pytest.raises(UnifiedAccount, match='To watch it: Set interface = "auto"'):
        await client.futures.accounts(product_type=USDT)
    assert not client.is_unified


async def test_a_classic_key_on_v3_is_named_and_asked_once_a_minute() -> None:
    script = UnifiedScript("classic")
    client = client_of(script, Interface.UNIFIED)
    for _ in range(3):
        with pytest.raises(ClassicAccount, match=r"is in classic mode.*40084.*interface = \"auto\""):
            await client.futures.accounts(product_type=USDT)
    assert script.calls == [SETTINGS]


@pytest.mark.parametrize("mode", ["upgrading", "switching", "folding"])
async def test_an_account_that_is_being_moved_is_not_read_by_either(mode: str) -> None:
    script = UnifiedScript(mode)
    client = client_of(script)
    for _ in range(3):
        with pytest.raises(AccountMoving, match=f"its mode is '{mode}'"):
            await client.futures.fills(product_type=USDT)
    assert script.calls.count(SETTINGS) == 1 and FILLS not in script.calls
    script.mode = "unified"
    await asyncio.sleep(60)
    assert (await client.futures.fills(product_type=USDT)).rows == ()
    assert client.is_unified


async def test_an_account_may_be_moved_while_the_session_runs_and_back() -> None:
    script = UnifiedScript("classic", lambda _: Say(data={"fillList": [FILL], "endId": None}))
    script.rows[FILLS] = [unified_fill(1, 1000)]
    client = client_of(script)
    assert (await client.futures.fills(product_type=USDT)).rows[0].trade_id == FILL["tradeId"]
    script.mode = "unified"
    assert (await client.futures.fills(product_type=USDT)).rows[0].trade_id == str(10**18 + 1)
    assert (client.is_unified, client.interface_changes) == (True, 1)
    below = await client.futures.fills(product_type=USDT, id_less_than=str(10**18))
    assert below.rows[0].trade_id == str(10**18 + 1), "an id of v2 says nothing there: all is read again"
    script.mode = "classic"
    reply = await client.futures.fills(product_type=USDT, id_less_than=f"{START_MS}:{10**18}")
    assert reply.rows[0].trade_id == FILL["tradeId"]
    assert (client.is_unified, client.interface_changes) == (False, 2)


async def test_a_mode_that_cannot_be_asked_for_changes_nothing() -> None:
    script = UnifiedScript(refusals={SETTINGS: Say(status=502, body=b"<html>")})
    client = client_of(script)
    with pytest.raises(Exception, match="busy"):
        await client.futures.fills(product_type=USDT)
    assert not client.is_unified
    script.refusals = {SETTINGS: refused("40014", "need uta_mgt")}
    assert (await client.futures.fills(product_type=USDT)).rows == ()
    assert client.is_unified, "the key may not read the settings, and the account is unified all the same"


async def test_what_v3_does_not_offer_is_refused_without_a_call() -> None:
    script = UnifiedScript()
    client = client_of(script, Interface.UNIFIED)
    await client.futures.accounts(product_type=USDT)
    calls = len(script.calls)
    for read in (client.spot.fills, client.spot.bills, partial(client.futures.bills, product_type=USDT)):
        with pytest.raises(ClassicOnly, match="is not read of a unified account"):
            await read()
    with pytest.raises(ClassicOnly, match="has no SUSDT-FUTURES"):
        await client.futures.fills(product_type="SUSDT-FUTURES")
    assert len(script.calls) == calls


async def test_a_refused_permission_says_so() -> None:
    script = UnifiedScript(refusals={"/api/v3/account/assets": refused("40014", "need uta_mgt permission")})
    client = client_of(script, Interface.UNIFIED)
    with pytest.raises(PermissionRefused, match="uta_mgt"):
        await client.futures.accounts(product_type=USDT)


async def walked(client: ExchangeReader, **parameters: Any) -> list[str]:
    pages = client.futures.iter_fills(product_type=USDT, **parameters)
    return [row.trade_id async for page in pages for row in page.rows]


async def test_fills_of_ninety_days_are_read_in_spans_of_thirty() -> None:
    fills = [unified_fill(number, (number * 13 % 89) * DAY_MS + number) for number in range(1, 240)]
    fills.append(unified_fill(999, 5, category="SPOT", symbol="SOLUSDT"))
    script = UnifiedScript(rows={FILLS: fills}, widest_page=7)
    client = client_of(script, Interface.UNIFIED)
    expected = {fill["execId"] for fill in fills[:-1]}
    for parameters in ({}, {"start_time": 0}, {"limit": 3}, {"start_time": START_MS - 89 * DAY_MS}):
        ids = await walked(client, **parameters)
        assert (len(ids), set(ids)) == (len(expected), expected), parameters


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ages=st.lists(st.integers(0, 90 * DAY_MS - 600_000), max_size=40),
    on_edges=st.lists(st.sampled_from([0, 30 * DAY_MS, 60 * DAY_MS, 30 * DAY_MS + 1, 60 * DAY_MS - 1]), max_size=6),
    page=st.integers(1, 9),
)
def test_no_fill_is_lost_or_repeated(ages: list[int], on_edges: list[int], page: int) -> None:
    fills = [unified_fill(number, age) for number, age in enumerate([*ages, *on_edges])]

    async def read() -> list[str]:
        return await walked(client_of(UnifiedScript(rows={FILLS: fills}, widest_page=page), Interface.UNIFIED))

    ids = asyncio.run(read())
    assert sorted(ids) == sorted(fill["execId"] for fill in fills)


async def test_a_page_without_rows_of_the_request_is_not_the_end() -> None:
    fills = [
        unified_fill(number, number * DAY_MS, symbol="ETHUSDT" if number < 80 else "SOLUSDT") for number in range(89)
    ]
    client = client_of(UnifiedScript(rows={FILLS: fills}, widest_page=5), Interface.UNIFIED)
    assert len(await walked(client, symbol="SOLUSDT")) == 9


async def test_a_cursor_of_the_classic_interface_loses_nothing_below_it() -> None:
    fills = [unified_fill(number, (80 - number) * DAY_MS) for number in range(80)]
    client = client_of(UnifiedScript(rows={FILLS: fills}), Interface.UNIFIED)
    ids = await walked(client, id_less_than=fills[70]["execId"])
    assert set(ids) == {fill["execId"] for fill in fills[:70]}


async def test_orders_are_whole_whatever_their_status() -> None:
    statuses = ("live", "new", "partially_filled", "half_way")
    orders = [unified_order(number, orderStatus=statuses[number % 4]) for number in range(1, 251)]
    script = UnifiedScript(rows={ORDERS: [*orders, unified_order(900, category="MARGIN")]}, widest_page=100)
    client = client_of(script, Interface.UNIFIED)
    ids_by_status: dict[str, set[str]] = {}
    for status in ("live", "partially_filled"):
        pages = client.futures.iter_pending_orders(product_type=USDT, status=status)
        ids_by_status[status] = {row.order_id async for page in pages for row in page.rows}
    assert ids_by_status["partially_filled"] == {
        row["orderId"] for row in orders if row["orderStatus"] == "partially_filled"
    }
    assert ids_by_status["live"] | ids_by_status["partially_filled"] == {row["orderId"] for row in orders}
    assert not ids_by_status["live"] & ids_by_status["partially_filled"]


async def test_the_sign_of_fees_is_that_of_takers_in_the_same_reply_or_on_the_newest_page() -> None:
    maker, taker = unified_fill(1, 20 * DAY_MS, tradeScope="maker"), unified_fill(2, DAY_MS)
    refunded = unified_fill(3, 500, feeDetail=[{"feeCoin": "USDT", "fee": "-0.27153"}])
    script = UnifiedScript(rows={FILLS: [maker]})
    client = client_of(script, Interface.UNIFIED)

    async def fees(**parameters: Any) -> list[Decimal | None]:
        rows = (await client.futures.fills(product_type=USDT, **parameters)).rows
        return [row.fee_detail[0].total_fee for row in rows]

    assert await fees() == [None]
    script.rows[FILLS] = [maker, taker]
    assert await fees() == [Decimal("-0.27153")] * 2
    assert await fees(end_time=START_MS - 10 * DAY_MS) == [Decimal("-0.27153")], "as on the newest page"
    script.rows[FILLS] = [maker, refunded]
    assert await fees() == [Decimal("-0.27153"), Decimal("0.27153")], "the sign of another reply is not kept"
    script.rows[FILLS] = [maker, taker, refunded]
    assert await fees() == [None] * 3, "takers contradict each other"
    script.rows[FILLS] = [maker]
    assert await fees() == [None]


async def test_strategy_orders_are_asked_for_by_type_and_trailing_ones_do_not_exist() -> None:
    past = {**UNIFIED_TRIGGER, "createdTime": str(START_MS - 40 * DAY_MS)}
    script = UnifiedScript(rows={PAST: [past], WAITING: [{**UNIFIED_TRIGGER, "status": None, "triggerType": None}]})
    client = client_of(script, Interface.UNIFIED, ExchangeReader)
    history = await client.futures.triggers(product_type=USDT, plan_type="profit_loss")
    assert [row.plan_type for row in history.rows] == ["profit_plan", "loss_plan"]
    assert [row.order_id for row in history.rows] == [
        f"{past['orderId']} {half}" for half in ("take-profit", "stop-loss")
    ]
    waiting = await client.futures.live_triggers(product_type=USDT, plan_type="profit_loss")
    assert {row.plan_status for row in waiting.rows} == {"live"}
    calls = len(script.calls)
    assert (await client.futures.triggers(product_type=USDT, plan_type="track_plan")).rows == ()
    assert (await client.futures.live_triggers(product_type=USDT, plan_type="track_plan")).rows == ()
    assert len(script.calls) == calls
    loss = f"{past['orderId']} stop-loss"
    one = await client.futures.triggers(product_type=USDT, plan_type="profit_loss", order_id=loss)
    assert [row.order_id for row in one.rows] == [loss]
    feed = client.with_priority(Priority.FEED)
    assert (await feed.futures.triggers(product_type=USDT, plan_type="profit_loss", order_id="1")).rows == ()


async def test_closed_positions_and_the_key() -> None:
    closed = {**UNIFIED_ROWS["unified.closed_positions"], "updatedTime": str(START_MS - 5 * DAY_MS)}
    script = UnifiedScript(rows={"/api/v3/position/history-position": [closed]})
    client = client_of(script, Interface.UNIFIED)
    pages = client.futures.iter_closed_positions(product_type=USDT, start_time=START_MS - 89 * DAY_MS)
    assert [row.net_profit async for page in pages for row in page.rows] == [Decimal("9.4")]
    assert (await client.spot.account_info()).rows[0].user_id == "9001"


async def test_an_undecodable_row_is_counted_and_kept() -> None:
    script = UnifiedScript(rows={FILLS: [unified_fill(1, 10), unified_fill(2, 20, execPrice=None)]})
    reply = await client_of(script, Interface.UNIFIED).futures.fills(product_type=USDT)
    assert (len(reply.rows), len(reply.undecodable_rows), reply.count) == (1, 1, 2)
    received = reply.undecodable_rows[0].received
    assert isinstance(received, dict) and received["tradeId"] == str(10**18 + 2)


@pytest.mark.parametrize("interface", [Interface.AUTO, Interface.UNIFIED])
async def test_nothing_that_writes_is_sent_for_a_unified_account(interface: Interface) -> None:
    script = UnifiedScript()
    client = client_of(script, interface, ExchangeClient)
    await client.futures.accounts(product_type=USDT)
    passphrase = SecretStr("Passphrase9")
    subaccount = VirtualSubaccountRequest(sub_account_name="abcdefgh", passphrase=passphrase, label="note")
    attempts = (
        client.futures.reverse(symbol="BTCUSDT", margin_coin="USDT", product_type=USDT, size="1"),
        client.copytrading.create_api_key(passphrase="Passphrase9"),
        client.subaccounts.create_batch(accounts=[subaccount]),
        client.broker.create_subaccount(subaccount_name="desk1@example.com"),
    )
    for attempt in attempts:
        with pytest.raises(ReadOnly, match="only read"):
            await attempt
    assert script.writes == []


@pytest.mark.parametrize("mode", ["unified", "upgrading"])
async def test_an_account_that_is_moved_while_a_write_waits_is_not_written_to(mode: str) -> None:
    script = UnifiedScript("classic", lambda _: Say(data={"fillList": [], "endId": None}))
    client = client_of(script, kind=ExchangeClient)
    request = ReversalRequest(symbol="BTCUSDT", margin_coin="USDT", product_type=USDT, size=Decimal(1))

    async def moved_meanwhile(stamp_ms: int) -> None:
        script.mode = mode
        with contextlib.suppress(AccountMoving):
            await client.futures.fills(product_type=USDT)

    for _ in range(2):
        with pytest.raises(ReadOnly, match="only read"):
            await client.write(request, before_send=moved_meanwhile)
    assert script.writes == [] and not client.is_classic


def test_no_endpoint_of_v3_writes() -> None:
    assert [endpoint.name for endpoint in CATALOGUE.values() if endpoint.interface == "v3" and endpoint.writes] == []


async def test_a_link_that_breaks_while_changing_over_shows_nothing_and_is_tried_again() -> None:
    script = UnifiedScript()
    breaks = [True]

    def broken(request: ArrivedRequest) -> Say | Exception:
        if request.path == SETTINGS and breaks:
            return ConnectionResetError()
        return script(request)

    client = client_of(broken)  # type: ignore[arg-type]
    feed = client.with_priority(Priority.FEED)
    with pytest.raises(Unreachable):
        await feed.futures.accounts(product_type=USDT)
    assert not client.is_unified
    breaks.clear()
    assert (await feed.futures.accounts(product_type=USDT)).rows
