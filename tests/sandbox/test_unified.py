"""Interface v3 of a unified account: its rows beside the classic ones of the same books, its pages and its refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.sandbox.exchange_events import cancel_order, liquidate, open_position, place_order
from tests.sandbox.signed_requests import DAY_MS, NOW_MS, Answered, Caller
from tradetui.sandbox.exchange_state import FuturesRowsName
from tradetui.sandbox.gateway.api_keys import HttpCall
from tradetui.sandbox.gateway.faults import parse_faults
from tradetui.sandbox.handlers.unified import USDT_IN_USD
from tradetui.wire.endpoints.catalogue import CATALOGUE

CATEGORIES = ("USDT-FUTURES", "COIN-FUTURES", "USDC-FUTURES")
USDT = {"category": "USDT-FUTURES"}
FILLS = "unified.fills"
PARAMETERS: dict[str, dict[str, Any]] = {
    "unified.assets": {},
    "unified.settings": {},
    "unified.key": {},
    "unified.positions": USDT,
    "unified.orders": USDT,
    FILLS: USDT,
    "unified.triggers": USDT,
    "unified.live_triggers": USDT,
    "unified.closed_positions": USDT,
}
READS = pytest.mark.parametrize("name", PARAMETERS)
PAGED = pytest.mark.parametrize("name", [name for name in PARAMETERS if CATALOGUE[name].page])
IDS = {FILLS: "execId", "unified.closed_positions": "positionId"}


@pytest.fixture(scope="module")
def live() -> Caller:
    """A sandbox that speaks as replies recorded in 2026, for tests that change nothing."""
    return Caller(dialect="live")


def read(caller: Caller, name: str, account: str = "unified", **parameters: Any) -> Answered:
    return caller.get(name, account, **{**PARAMETERS[name], **parameters})


def classic(caller: Caller, name: FuturesRowsName, category: str = "USDT-FUTURES") -> list[dict[str, Any]]:
    return [dict(row) for row in caller.sandbox.exchange_state.rows(caller.key("unified").uid, name, category)]


def move_account(caller: Caller, account: str, mode: str = "unified") -> None:
    """Move an account as its next call arrives, which is a read of its settings."""
    caller.sandbox.faults.plan(f"account-{mode}", endpoint="unified.settings")
    caller.get("unified.settings", account)


def same(one: str, other: str | Decimal) -> bool:
    return Decimal(one) == Decimal(other)


# Rows


@READS
def test_every_read_is_answered_and_every_figure_is_text(live: Caller, reading: Caller, name: str) -> None:
    for caller in (live, reading):
        answer = read(caller, name)
        assert (answer.code, answer.status, answer.body["msg"]) == ("00000", 200, "success")
        rows = answer.rows if CATALOGUE[name].rows_key or isinstance(answer.data, list) else [answer.data]
        assert rows
        for row in rows:
            assert not [field for field, value in row.items() if isinstance(value, int | float)]


HEDGE_SIDES = {
    ("buy", "open"): ("buy", "open_long", "long"),
    ("sell", "open"): ("sell", "open_short", "short"),
    ("buy", "close"): ("sell", "close_long", "long"),
    ("sell", "close"): ("buy", "close_short", "short"),
    ("buy", "burst_close_long"): ("sell", "burst_close_long", "long"),
    ("sell", "burst_close_short"): ("buy", "burst_close_short", "short"),
}
"""Side and tradeSide in the classic interface, where side names the leg, and side, tradeSide and posSide in v3."""


def test_a_fill_says_its_direction_on_the_market_and_its_leg_in_the_trade_side() -> None:
    caller = Caller(dialect="live")
    exchange_state, uid = caller.sandbox.exchange_state, caller.hold("unified", "0.4", "0.3")
    book = exchange_state.book(uid, "USDT-FUTURES")
    for leg in ("long", "short"):
        held = book.held("BTCUSDT", leg)
        assert held is not None
        liquidate(exchange_state, book, held)
    sides: set[tuple[str, str]] = set()
    for fill, row in zip(read(caller, FILLS).rows, classic(caller, "fills"), strict=False):
        sides.add((row["side"], row["tradeSide"]))
        assert (fill["side"], fill["tradeSide"], fill["posSide"]) == HEDGE_SIDES[row["side"], row["tradeSide"]]
        assert (fill["execId"], fill["orderId"], fill["symbol"]) == (row["tradeId"], row["orderId"], row["symbol"])
        assert (fill["execPrice"], fill["execQty"], fill["execPnl"]) == (
            row["price"],
            row["baseVolume"],
            row["profit"],
        )
        assert same(fill["execValue"], Decimal(row["price"]) * Decimal(row["baseVolume"])), "not truncated"
        assert (fill["tradeScope"], fill["createdTime"], fill["category"]) == (
            row["tradeScope"],
            row["cTime"],
            "USDT-FUTURES",
        )
    assert sides == set(HEDGE_SIDES)


def test_the_sign_of_a_paid_fee_is_the_documents_or_a_recorded_replys(live: Caller, reading: Caller) -> None:
    fees = [row["feeDetail"][0] for row in classic(live, "fills")[:100]]
    recorded = [fill["feeDetail"] for fill in read(live, FILLS).rows]
    assert recorded == [[{"feeCoin": fee["feeCoin"], "fee": fee["totalFee"]}] for fee in fees]
    documented = [fill["feeDetail"][0]["fee"] for fill in read(reading, FILLS).rows]
    assert [Decimal(fee) for fee in documented] == [-Decimal(fee["totalFee"]) for fee in fees]
    assert all(Decimal(fee) > 0 for fee in documented)


def test_one_way_mode_has_words_and_sides_of_its_own() -> None:
    caller = Caller(dialect="live")
    exchange_state, uid = caller.sandbox.exchange_state, caller.hold("one-way", long="0.4")
    place_order(
        exchange_state, uid, "BTCUSDT", "sell", "sell_single", Decimal("0.1"), Decimal(90_000), reduce_only=True
    )
    place_order(exchange_state, uid, "BTCUSDT", "sell", "sell_single", Decimal("0.2"), Decimal(91_000))
    move_account(caller, "one-way")
    assert read(caller, "unified.settings", "one-way").data["holdMode"] == "one_way_mode"
    (position,) = read(caller, "unified.positions", "one-way", symbol="BTCUSDT").rows
    assert (position["posSide"], position["holdMode"]) == ("long", "one_way_mode")
    assert (position["frozen"], position["available"]) == ("0.1", "0.3")
    orders = read(caller, "unified.orders", "one-way", symbol="BTCUSDT").rows[:2]
    assert [(row["side"], row["posSide"], row["reduceOnly"]) for row in orders] == [
        ("sell", "short", "NO"),
        ("sell", "long", "YES"),
    ]
    fills = read(caller, FILLS, "one-way").rows
    assert {(fill["side"], fill["tradeSide"]) for fill in fills} == {
        ("buy", "buy_single"),
        ("sell", "sell_single"),
        ("sell", "burst_sell_single"),
    }
    assert {fill["posSide"] for fill in fills} == {""}


def test_a_pending_order_that_closes_a_long_sells() -> None:
    caller = Caller()
    exchange_state, uid = caller.sandbox.exchange_state, caller.hold("unified", "0.4", "0.3")
    for leg, side, price in (("long", "buy", 90_000), ("short", "sell", 70_000)):
        place_order(exchange_state, uid, "BTCUSDT", side, "close", Decimal("0.1"), Decimal(price))
        order = read(caller, "unified.orders").rows[0]
        assert (order["side"], order["posSide"]) == ("sell" if leg == "long" else "buy", leg)
        assert (order["reduceOnly"], order["price"], order["qty"]) == ("YES", str(price), "0.1")
        (position,) = read(caller, "unified.positions", symbol="BTCUSDT", posSide=leg).rows
        assert position["frozen"] == "0.1"


@pytest.mark.parametrize("dialect", ["documented", "live"])
def test_pending_orders_have_zero_for_no_price_and_null_for_no_stop(dialect: str) -> None:
    caller = Caller(dialect=dialect)
    rows = {row["orderId"]: row for row in classic(caller, "orders")}
    orders = read(caller, "unified.orders").rows
    assert {order["orderId"] for order in orders} == set(rows), "unfilled and partially filled in one"
    resting = "live" if dialect == "documented" else "new"
    assert {order["orderStatus"] for order in orders} == {resting, "partially_filled"}
    for order in orders:
        row = rows[order["orderId"]]
        filled = order["orderStatus"] == "partially_filled"
        assert (order["cumExecQty"], order["cumExecValue"]) == (row["baseVolume"], row["quoteVolume"])
        assert (order["avgPrice"] == "0") is not filled
        assert (order["takeProfit"], order["stopLoss"]) == (
            row["presetStopSurplusPrice"] or None,
            row["presetStopLossPrice"] or None,
        )
        assert not {"leverage", "marginCoin", "tradeSide"} & set(order)
        if filled:
            fee = Decimal(row["fee"])
            assert same(order["feeDetail"][0]["fee"], -fee if dialect == "documented" else fee)
        else:
            assert order["feeDetail"] == ([{"feeCoin": "", "fee": ""}] if dialect == "documented" else None)
    assert {order["takeProfit"] is None for order in orders} == {True, False}


def test_positions_have_the_figures_of_the_classic_rows(live: Caller) -> None:
    exchange_state, uid = live.sandbox.exchange_state, live.key("unified").uid
    below_zero = 0
    for category in CATEGORIES:
        rows = {(row["symbol"], row["holdSide"]): row for row in exchange_state.positions(uid, category)}
        positions = read(live, "unified.positions", category=category).rows
        assert {(position["symbol"], position["posSide"]) for position in positions} == set(rows) != set()
        for position in positions:
            row = rows[position["symbol"], position["posSide"]]
            for name, classic_name in (
                ("total", "total"),
                ("available", "available"),
                ("frozen", "locked"),
                ("avgPrice", "openPriceAvg"),
                ("unrealisedPnl", "unrealizedPL"),
                ("curRealisedPnl", "achievedProfits"),
                ("liquidationPrice", "liquidationPrice"),
                ("mmr", "keepMarginRate"),
                ("holdMode", "posMode"),
                ("marginCoin", "marginCoin"),
            ):
                assert position[name] == row[classic_name], name
            assert same(position["totalFunding"], row["totalFee"] or "0")
            charged = Decimal(position["openFeeTotal"]) + Decimal(position["closeFeeTotal"])
            assert abs(charged + Decimal(row["deductedFee"])) < Decimal("0.000001")
            assert not {"marginRatio", "takeProfit", "stopLoss", "takeProfitId"} & set(position)
            below_zero += Decimal(position["liquidationPrice"]) <= 0
    assert below_zero, "some cannot be liquidated"


def test_a_position_is_dated_from_the_first_opening_of_its_leg_even_if_it_was_closed_since(fresh: Caller) -> None:
    exchange_state, uid = fresh.sandbox.exchange_state, fresh.hold("unified")
    first_ms = min(
        int(row["cTime"])
        for row in classic(fresh, "fills")
        if (row["symbol"], row["side"], row["tradeSide"]) == ("BTCUSDT", "buy", "open")
    )
    open_position(exchange_state, uid, "BTCUSDT", "long", Decimal("0.2"))
    (position,) = read(fresh, "unified.positions", symbol="BTCUSDT").rows
    assert position["createdTime"] == str(first_ms)
    held = exchange_state.book(uid, "USDT-FUTURES").held("BTCUSDT", "long")
    assert held is not None and held.opened_ms == NOW_MS
    (closed, *_) = (row for row in read(fresh, "unified.closed_positions").rows if row["symbol"] == "BTCUSDT")
    assert int(closed["updatedTime"]) > first_ms


def test_round_trips_are_the_classic_ones(live: Caller) -> None:
    for category in CATEGORIES:
        answer = read(live, "unified.closed_positions", category=category, startTime=NOW_MS - 30 * DAY_MS)
        rows = {row["positionId"]: row for row in classic(live, "closed-positions", category)}
        for position in answer.rows:
            row = rows[position["positionId"]]
            assert (position["netProfit"], position["totalFunding"]) == (row["netProfit"], row["totalFunding"])
            assert (position["openFeeTotal"], position["closeFeeTotal"]) == (row["openFee"], row["closeFee"])
            assert (position["cumRealisedPnl"], position["createdTime"]) == (row["pnl"], row["ctime"])
            assert (position["openPriceAvg"], position["closePriceAvg"]) == (row["openAvgPrice"], row["closeAvgPrice"])


def test_strategy_orders_are_stops_and_triggers_and_none_of_them_trails(live: Caller) -> None:
    past = read(live, "unified.triggers").rows + read(live, "unified.triggers", endTime=NOW_MS - 30 * DAY_MS).rows
    waiting = read(live, "unified.live_triggers").rows
    rows = {row["orderId"]: row for row in classic(live, "triggers") + classic(live, "live-triggers")}
    statuses = {"executed": "success", "cancelled": "cancelled", "fail_execute": "failed", "live": "pending"}
    plan_types: Counter[str] = Counter()
    for order in past + waiting:
        row = rows[order["orderId"]]
        plan_types[row["planType"]] += 1
        assert order["status"] == statuses[row["planStatus"]]
        assert (order["posSide"], order["qty"], order["updatedTime"]) == (row["posSide"], row["size"], row["uTime"])
        price_type = {"fill_price": "market", "mark_price": "mark"}[row["triggerType"]]
        if row["planType"] == "normal_plan":
            assert (order["type"], order["triggerPrice"], order["triggerBy"]) == (
                "trigger",
                row["triggerPrice"],
                price_type,
            )
            assert (order["triggerOrderType"], order["triggerOrderPrice"]) == (row["orderType"], row["price"])
            continue
        takes_profit = row["planType"].endswith("profit") or row["planType"] == "profit_plan"
        assert order["type"] == "tpsl" and "triggerPrice" not in order
        assert (order["takeProfit"], order["stopLoss"]) == (
            (row["triggerPrice"], "") if takes_profit else ("", row["triggerPrice"])
        )
        assert order["tpTriggerBy" if takes_profit else "slTriggerBy"] == price_type
        fired = "takeProfit" if takes_profit else "stopLoss"
        assert order.get("triggerType") == (fired if order["status"] == "success" else None)
    assert set(plan_types) == {"normal_plan", "profit_plan", "loss_plan", "pos_profit", "pos_loss"}
    for kind in ("tpsl", "trigger"):
        for name in ("unified.triggers", "unified.live_triggers"):
            of_kind = [order for order in read(live, name).rows if order["type"] == kind]
            assert read(live, name, type=kind).rows == of_kind


def test_the_account_counts_every_coin_in_usd_which_is_not_usdt(live: Caller) -> None:
    account = read(live, "unified.assets").data
    coins = {row["coin"]: row for row in account["assets"]}
    assert set(coins) == {"USDT", "BTC", "ETH", "USDC"}
    near = Decimal("0.0000001")
    assert abs(sum(Decimal(row["usdValue"]) for row in coins.values()) - Decimal(account["accountEquity"])) < near
    assert abs(Decimal(account["accountEquity"]) - Decimal(account["usdtEquity"]) * USDT_IN_USD) < near
    exchange_state, uid = live.sandbox.exchange_state, live.key("unified").uid
    maintenance = Decimal(0)
    for category in CATEGORIES:
        for row in exchange_state.futures_accounts(uid, category):
            coin = coins[row["marginCoin"]]
            assert (coin["equity"], coin["available"], coin["locked"]) == (
                row["accountEquity"],
                row["available"],
                row["locked"],
            )
            assert abs(Decimal(coin["usdValue"]) - Decimal(row["usdtEquity"]) * USDT_IN_USD) < near
        for row in exchange_state.positions(uid, category):
            maintenance += Decimal(row["total"]) * Decimal(row["markPrice"]) * Decimal(row["keepMarginRate"])
    assert abs(Decimal(account["mmr"]) / maintenance - 1) < Decimal("0.001"), "of all positions, in USD"
    assert Decimal(account["effEquity"]) < Decimal(account["accountEquity"]), "coins count in part"
    ratio = Decimal(account["mmr"]) / Decimal(account["effEquity"])
    assert 0 <= ratio - Decimal(account["mgnRatio"]) < Decimal("0.0001"), "rounded down"


def test_a_coin_below_zero_is_a_debt_and_a_coin_at_zero_is_left_out(fresh: Caller) -> None:
    move_account(fresh, "multi-assets")
    coins = {row["coin"]: row for row in read(fresh, "unified.assets", "multi-assets").data["assets"]}
    assert (coins["USDT"]["balance"], Decimal(coins["USDT"]["debt"]) > 0) == ("0", True)
    assert Decimal(coins["USDT"]["equity"]) < 0
    assert same(coins["BTC"]["balance"], "3.6"), "what backs the margin, and what coin futures hold"
    book = fresh.sandbox.exchange_state.book(fresh.key("multi-assets").uid, "USDC-FUTURES")
    book.balances["USDC"] = Decimal(0)
    assert "USDC" not in {row["coin"] for row in read(fresh, "unified.assets", "multi-assets").data["assets"]}


def test_settings_and_key(live: Caller) -> None:
    settings = read(live, "unified.settings").data
    assert (settings["uid"], settings["accountMode"], settings["holdMode"]) == ("4100000010", "unified", "hedge_mode")
    leverage = {row["symbol"]: (row["category"], row["leverage"]) for row in settings["symbolConfigList"]}
    assert leverage["BTCPERP"] == ("USDC-FUTURES", "10")
    key = read(live, "unified.key").data
    assert (key["userId"], key["permType"], key["permissions"]) == (
        "4100000010",
        "read_and_write",
        ["uta_mgt", "uta_trade"],
    )
    assert (key["inviterId"], key["parentId"], key["ips"]) == (None, None, "0.0.0.0/0,::/0")


def test_a_key_that_only_reads_says_so(fresh: Caller) -> None:
    move_account(fresh, "read-only")
    key = read(fresh, "unified.key", "read-only").data
    assert (key["permType"], key["permissions"]) == ("read_only", ["uta_mgt"])


# Pages, spans and parameters


def every_page(caller: Caller, name: str, **parameters: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while page := (answer := read(caller, name, **parameters, **cursor)).rows:
        assert answer.data["cursor"] == page[-1][IDS.get(name, "orderId")]
        rows += page
        cursor = {"cursor": answer.data["cursor"]}
    assert answer.data["cursor"] is None
    return rows


@PAGED
def test_pages_by_cursor_lose_nothing_and_repeat_nothing(live: Caller, name: str) -> None:
    ids = [row[IDS.get(name, "orderId")] for row in every_page(live, name, limit=7)]
    assert len(set(ids)) == len(ids) > 7
    assert ids == sorted(ids, key=int, reverse=True)
    assert ids == [row[IDS.get(name, "orderId")] for row in every_page(live, name)]


def test_fills_of_three_spans_of_thirty_days_are_all_of_ninety(live: Caller) -> None:
    ids = [
        fill["execId"]
        for span in range(3)
        for fill in every_page(
            live,
            FILLS,
            startTime=NOW_MS - (span + 1) * 30 * DAY_MS + 1,
            endTime=NOW_MS - span * 30 * DAY_MS,
        )
    ]
    assert ids == [row["tradeId"] for row in classic(live, "fills")]


def test_fills_without_a_category_are_those_of_spot_too(live: Caller) -> None:
    fills = every_page(live, FILLS, category="")
    assert {fill["category"] for fill in fills} == {*CATEGORIES, "SPOT"}
    times = [int(fill["createdTime"]) for fill in fills]
    assert times == sorted(times, reverse=True)
    spot = [fill for fill in fills if fill["category"] == "SPOT"]
    assert spot == every_page(live, FILLS, category="SPOT")
    assert not {"tradeSide", "execPnl"} & set(spot[0])
    assert len(every_page(live, "unified.orders", category="")) > len(every_page(live, "unified.orders"))
    assert read(live, FILLS, category="MARGIN").data == {"list": None, "cursor": None}


def test_fills_of_an_order(live: Caller) -> None:
    order_id = read(live, FILLS).rows[5]["orderId"]
    assert {fill["orderId"] for fill in read(live, FILLS, orderId=order_id).rows} == {order_id}


@PAGED
@pytest.mark.parametrize(
    ("limit", "code"), [("1", "00000"), ("100", "00000"), ("101", "400172"), ("0", "400172"), ("x", "400172")]
)
def test_a_page_has_at_most_a_hundred_rows(live: Caller, name: str, limit: str, code: str) -> None:
    answer = read(live, name, limit=limit)
    assert answer.code == code
    assert len(read(live, name).rows) <= 100
    if limit == "1":
        assert len(answer.rows) == 1


@pytest.mark.parametrize("name", [FILLS, "unified.triggers", "unified.closed_positions"])
def test_spans_are_thirty_days_and_reach_ninety_days_back(live: Caller, name: str) -> None:
    now: dict[str, Any] = {"endTime": NOW_MS}
    assert read(live, name, startTime=NOW_MS - 30 * DAY_MS, **now).code == "00000"
    assert read(live, name, startTime=NOW_MS - 30 * DAY_MS - 1, **now).code == "400172"
    assert read(live, name, startTime=NOW_MS, endTime=NOW_MS - 1).code == "400172"
    assert read(live, name, startTime="soon", **now).code == "400172"
    time = "updatedTime" if name == "unified.closed_positions" else "createdTime"
    later = every_page(live, name, startTime=NOW_MS - 60 * DAY_MS)
    earlier = every_page(live, name, endTime=NOW_MS - 30 * DAY_MS)
    assert later == earlier, "a missing end is thirty days from the other"
    assert all(NOW_MS - 60 * DAY_MS <= int(row[time]) <= NOW_MS - 30 * DAY_MS for row in later)
    assert read(live, name, startTime=NOW_MS - 130 * DAY_MS, endTime=NOW_MS - 101 * DAY_MS).rows == []


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("unified.positions", {"category": ""}),
        ("unified.positions", {"category": "SPOT"}),
        ("unified.positions", {"posSide": "net"}),
        ("unified.positions", {"symbol": "BTCUSD"}),
        ("unified.triggers", {"category": ""}),
        ("unified.triggers", {"type": "track_plan"}),
        ("unified.live_triggers", {"category": ""}),
        ("unified.closed_positions", {"category": ""}),
        ("unified.closed_positions", {"symbol": "NOSUCH"}),
        ("unified.orders", {"category": "SUSDT-FUTURES"}),
        (FILLS, {"category": "futures"}),
        (FILLS, {"cursor": "abc"}),
    ],
)
def test_every_parameter_error_has_one_code(live: Caller, name: str, parameters: dict[str, str]) -> None:
    answer = read(live, name, **parameters)
    assert (answer.status, answer.code, answer.data) == (400, "400172", None)
    assert answer.body["msg"] == "Parameter verification failed"


def test_nothing_is_a_null_list_of_positions_and_fills_and_an_empty_one_of_orders() -> None:
    caller = Caller(dialect="live")
    move_account(caller, "coin")
    assert read(caller, "unified.positions", "coin").data == {"list": None}
    for name in (FILLS, "unified.closed_positions"):
        assert read(caller, name, "coin").data == {"list": None, "cursor": None}
    for name in ("unified.orders", "unified.triggers"):
        assert read(caller, name, "coin").data == {"list": [], "cursor": None}
    assert read(caller, "unified.live_triggers", "coin").data == []


# Refusals, and the moment of moving


@READS
def test_a_classic_key_is_refused_before_its_signature_is_checked(reading: Caller, name: str) -> None:
    for changed in ({}, {"access_sign": "c2lnbmF0dXJl"}, {"access_passphrase": "wrongwrong"}):
        answer = reading.send("GET", CATALOGUE[name].path, "hedge", query="", body=b"", **changed)
        assert (answer.status, answer.code) == (400, "40084")
        assert answer.body["msg"].startswith("You are in Classic Account mode")


def test_the_classic_interface_refuses_a_unified_account_before_the_signature_is_checked(reading: Caller) -> None:
    for endpoint in CATALOGUE.values():
        if endpoint.interface == "v2" and endpoint.signed:
            for changed in ({}, {"access_sign": "c2lnbmF0dXJl"}):
                answer = reading.send(endpoint.method, endpoint.path, "unified", query="", body=b"", **changed)
                assert (answer.status, answer.code) == (400, "40085"), endpoint.name
    assert reading.get("futures.contracts", "unified", productType="USDT-FUTURES").code == "00000", "unsigned"


@READS
def test_a_unified_accounts_key_is_proven_as_a_classic_one(reading: Caller, name: str) -> None:
    for changed, code in (
        ({"access_sign": "c2lnbmF0dXJl"}, "40009"),
        ({"access_passphrase": "wrongwrong"}, "40012"),
        ({"access_key": "bg_nobody"}, "40037"),
        ({"paptrading": "1"}, "40099"),
    ):
        assert reading.send("GET", CATALOGUE[name].path, "unified", query="", body=b"", **changed).code == code
    assert reading.sandbox.answer(HttpCall("GET", CATALOGUE[name].path, "", {})).status == 400


def test_a_key_that_may_not_read_is_told_which_permission_it_needs(fresh: Caller) -> None:
    keys = fresh.sandbox.exchange_state.keys
    key = fresh.key("unified")
    keys[keys.index(key)] = type(key)(**{**vars(key), "permissions": frozenset()})
    for name in PARAMETERS:
        answer = read(fresh, name)
        if name != "unified.key":
            assert (answer.code, answer.body["msg"]) == (
                "40014",
                "Incorrect permissions, need uta_mgt read permissions",
            )


@READS
def test_limits_are_the_catalogues(name: str) -> None:
    caller = Caller(limits=True)
    allowed = 5 if name == "unified.key" else 20
    assert [read(caller, name).code for _ in range(allowed + 1)] == ["00000"] * allowed + ["429"]


def test_an_account_is_moved_in_the_middle_of_a_session(fresh: Caller) -> None:
    fills = {"productType": "USDT-FUTURES"}
    (before, *_) = fresh.get("futures.fills", **fills).rows
    fresh.sandbox.faults.plan("account-upgrading", endpoint="futures.fills")
    assert fresh.get("futures.accounts", **fills).code == "00000", "it is planned for another call"
    assert fresh.get("futures.fills", **fills).code == "40085", "the call finds the account moved"
    assert fresh.post("futures.reverse", {}).code == "40085"
    assert read(fresh, FILLS, "hedge").code == "25245"
    settings = read(fresh, "unified.settings", "hedge")
    assert settings.data["accountMode"] == "upgrading"
    fresh.sandbox.faults.plan("account-unified")
    (after, *_) = read(fresh, FILLS, "hedge").rows
    assert (after["execId"], after["execPrice"]) == (before["tradeId"], before["price"]), "the same books"
    assert fresh.get("futures.fills", **fills).code == "40085"
    assert fresh.get("futures.fills", "one-way", **fills).code == "00000", "another account"
    move_account(fresh, "hedge", "switching")
    assert (fresh.get("futures.fills", **fills).code, read(fresh, FILLS, "hedge").code) == ("40085", "25245")
    assert read(fresh, "unified.settings", "hedge").data["accountMode"] == "switching"
    move_account(fresh, "hedge", "classic")
    assert read(fresh, FILLS, "hedge").code == "40084"
    assert fresh.get("futures.fills", **fills).rows[0] == before


def test_a_copy_traders_unified_account_is_refused_with_another_code(fresh: Caller) -> None:
    move_account(fresh, "copy-new")
    answer = fresh.get("futures.accounts", "copy-new", productType="USDT-FUTURES")
    assert (answer.code, answer.body["msg"]) == ("40731", "This product does not support copy trading")
    assert read(fresh, "unified.assets", "copy-new").code == "00000"


def test_a_share_of_calls_can_move_accounts() -> None:
    caller = Caller(faults=parse_faults("account-unified=0.05"))
    codes = [caller.get("futures.accounts", productType="USDT-FUTURES").code for _ in range(60)]
    first = codes.index("40085")
    assert first > 0 and set(codes[first:]) == {"40085"}


def test_reads_change_nothing(fresh: Caller) -> None:
    uid = fresh.key("unified").uid
    exchange_state = fresh.sandbox.exchange_state
    changes: tuple[Callable[[], None], ...] = (
        lambda: open_position(exchange_state, uid, "BTCUSDT", "long", Decimal("0.1")),
        lambda: cancel_order(exchange_state, uid, "BTCUSDT", _resting(fresh)),
    )
    for change in changes:
        change()
        first = {name: read(fresh, name).data for name in PARAMETERS}
        assert {name: read(fresh, name).data for name in PARAMETERS} == first


def _resting(caller: Caller) -> str:
    return str(next(row for row in classic(caller, "orders") if row["symbol"] == "BTCUSDT")["orderId"])
