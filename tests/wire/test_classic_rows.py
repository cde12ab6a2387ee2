"""Rows of a unified account in the classic fields: directions, fees, and each odd reply that is known."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.wire.unified_rows import (
    UNIFIED_ASSETS,
    UNIFIED_COIN,
    UNIFIED_FILL,
    UNIFIED_ORDER,
    UNIFIED_POSITION,
    UNIFIED_ROWS,
    UNIFIED_TRIGGER,
)
from tests.wire.whole_reply import read_reply
from tradetui.trading.account_totals import totals_of
from tradetui.trading.fill_terms import effect_of_order, effect_of_trigger, terms_of
from tradetui.trading.positions import reported
from tradetui.trading.trigger_orders import TriggerState, stops_of_leg, trigger_state
from tradetui.wire.classic_rows import (
    classic_accounts,
    classic_closed_position,
    classic_fill,
    classic_key,
    classic_order,
    classic_position,
    classic_triggers,
    paid_signs,
)
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.reply import UnreadableBody
from tradetui.wire.enums import PositionMode, PositionSide, SystemClose
from tradetui.wire.json_text import dump_json, load_json
from tradetui.wire.models.api_key import AccountInfo, may_withdraw, permission_texts
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder
from tradetui.wire.models.futures_accounts import ClosedPosition, FuturesAccount, ReportedPosition
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import UndecodableRowError

HEDGE, ONE_WAY = "hedge_mode", "one_way_mode"
LONG, SHORT = PositionSide.LONG, PositionSide.SHORT


def fill(hold_mode: str | None = HEDGE, paid: int | None = 1, **changes: Any) -> FuturesFill:
    return FuturesFill.from_row(classic_fill({**UNIFIED_FILL, **changes}, hold_mode, paid))


def order(**changes: Any) -> PendingOrder:
    return PendingOrder.from_row(classic_order({**UNIFIED_ORDER, **changes}))


def position(**changes: Any) -> ReportedPosition:
    return ReportedPosition.from_row(classic_position({**UNIFIED_POSITION, **changes}))


def triggers(strategy_type: str = "tpsl", hold_mode: str | None = HEDGE, *, waits: bool = False, **changes: Any) -> Any:
    rows = classic_triggers({**UNIFIED_TRIGGER, **changes}, strategy_type, hold_mode, waits=waits)
    return [TriggerOrder.from_row(row) for row in rows]


@pytest.mark.parametrize(
    ("word", "side", "effect"),
    [
        ("open_long", "buy", "opened LONG"),
        ("open_short", "sell", "opened SHORT"),
        ("close_long", "sell", "closed LONG"),
        ("close_short", "buy", "closed SHORT"),
        ("Close_Short", "BUY", "closed SHORT"),
        ("burst_close_long", "sell", "liquidated LONG"),
        ("reduce_close_short", "buy", "reduced SHORT"),
        ("dte_sys_adl_close_long", "sell", "deleveraged LONG"),
        ("buy_single", "buy", "bought"),
        ("sell_single", "sell", "sold"),
        ("burst_sell_single", "sell", "liquidated LONG"),
        ("dte_sys_adl_buy_in_single_side_mode", "buy", "deleveraged SHORT"),
    ],
)
def test_a_fill_does_what_its_words_say(word: str, side: str, effect: str) -> None:
    terms = terms_of(fill(tradeSide=word, side=side))
    assert terms.effect is not None and terms.effect.past == effect
    assert terms.effect.buys is (side.lower() == "buy")
    mode = PositionMode.ONE_WAY if "single" in word else PositionMode.HEDGE
    assert terms.mode is mode
    assert terms.forced_by is {"b": SystemClose.LIQUIDATION, "d": SystemClose.ADL}.get(
        word[0] if word.startswith(("burst", "dte")) else ""
    )


def test_an_ordinary_open_is_never_taken_for_a_close_by_the_exchange() -> None:
    received = {**UNIFIED_FILL, "tradeSide": "open_short", "side": "sell"}
    as_it_came = FuturesFill.from_row(
        {"tradeId": "1", "symbol": "A", "price": "1", "baseVolume": "1", "cTime": "1780000000400", **received}
    )
    assert terms_of(as_it_came).effect is None, "not even the words as they came decide anything"
    opened = terms_of(fill(**received)).effect
    assert opened is not None and opened.opens


@pytest.mark.parametrize(
    ("hold_mode", "word", "side", "effect"),
    [
        (HEDGE, "open", "sell", "opened SHORT"),
        (HEDGE, "close", "sell", "closed LONG"),
        (HEDGE, "close", "buy", "closed SHORT"),
        (ONE_WAY, "close", "sell", "sold"),
        (ONE_WAY, "open", "buy", "bought"),
        (None, "open", "buy", None),
        (None, "close", "sell", None),
        ("split_mode", "close", "sell", None),
    ],
)
def test_open_and_close_alone_need_the_accounts_position_mode(
    hold_mode: str | None, word: str, side: str, effect: str | None
) -> None:
    terms = terms_of(fill(hold_mode, tradeSide=word, side=side))
    assert (terms.effect and terms.effect.past) == effect


@pytest.mark.parametrize(
    ("word", "side"),
    [("open_long", "sell"), ("close_short", "sell"), ("open_sideways", "buy"), ("", "buy"), (None, "buy"), (7, "buy")],
)
def test_a_word_that_is_not_known_or_contradicts_the_side_decides_nothing(word: object, side: str) -> None:
    odd = fill(tradeSide=word, side=side)
    assert terms_of(odd).effect is None
    assert (odd.trade_side or "", odd.side) == ("" if not word else str(word), side)


def test_a_fills_figures_are_the_exchanges_own_digits() -> None:
    row = fill(execValue="233.0706", execPnl="0.1418", execPrice="116606.2", execQty="0.0020")
    assert (row.quote_volume, row.profit, str(row.price), str(row.base_volume)) == (
        Decimal("233.0706"),
        Decimal("0.1418"),
        "116606.2",
        "0.0020",
    )
    assert "execPnl" in row.unknown and row.original == {
        **UNIFIED_FILL,
        "execValue": "233.0706",
        "execPnl": "0.1418",
        "execPrice": "116606.2",
        "execQty": "0.0020",
    }


def taker(fee: str | None, **changes: Any) -> dict[str, Any]:
    return {**UNIFIED_FILL, "feeDetail": [{"feeCoin": "USDT", "fee": fee}], **changes}


@pytest.mark.parametrize(
    ("fees", "signs"),
    [
        (["0.00642032"], {1}),
        (["-0.08157471"], {-1}),
        (["0.1", "0", "0.2", None, ""], {1}),
        (["0.1", "-0.1"], {1, -1}),
        (["0"], set()),
        ([], set()),
    ],
)
def test_a_paid_fee_has_the_sign_of_takers_fees(fees: list[str], signs: set[int]) -> None:
    maker = taker("-5", tradeScope="maker")
    assert paid_signs([maker, *(taker(fee) for fee in fees), {"tradeScope": "taker"}]) == signs


@pytest.mark.parametrize(
    ("paid", "fee", "total"),
    [
        (1, "0.27153", Decimal("-0.27153")),
        (-1, "-0.27153", Decimal("-0.27153")),
        (1, "-0.01", Decimal("0.01")),
        (None, "0.27153", None),
        (None, "0", Decimal(0)),
        (1, "", None),
        (1, None, None),
        (1, "1_0", None),
    ],
)
def test_a_fee_counts_only_by_a_known_sign(paid: int | None, fee: object, total: Decimal | None) -> None:
    (detail,) = fill(paid=paid, feeDetail=[{"feeCoin": "USDT", "fee": fee}]).fee_detail
    assert (detail.fee_coin, detail.total_fee) == ("USDT", total)


@pytest.mark.parametrize("fees", [None, [], "", [None], {"feeCoin": "BGB", "fee": "1"}])
def test_fees_in_another_shape_break_nothing(fees: object) -> None:
    assert [detail.total_fee for detail in fill(feeDetail=fees).fee_detail] == (
        [Decimal(-1)] if isinstance(fees, dict) else []
    )


@pytest.mark.parametrize(
    ("mode", "side", "leg", "reduces", "effect"),
    [
        (HEDGE, "buy", "long", "NO", "opens LONG"),
        (HEDGE, "sell", "long", "YES", "closes LONG"),
        (HEDGE, "sell", "short", "NO", "opens SHORT"),
        (HEDGE, "buy", "short", "YES", "closes SHORT"),
        (HEDGE, "sell", "sideways", "NO", None),
        (HEDGE, "sell", "", "NO", None),
        (HEDGE, "give", "long", "NO", None),
        (ONE_WAY, "sell", "long", "NO", "sells"),
        (ONE_WAY, "sell", "long", "YES", "closes LONG"),
        ("split_mode", "sell", "long", "NO", None),
        (None, "sell", "long", "NO", None),
    ],
)
def test_an_order_does_what_side_and_leg_say(
    mode: str | None, side: str, leg: str, reduces: str, effect: str | None
) -> None:
    done = effect_of_order(order(holdMode=mode, side=side, posSide=leg, reduceOnly=reduces))
    assert (done and done.present) == effect


def test_a_trade_side_of_an_order_that_contradicts_its_side_decides_nothing() -> None:
    assert effect_of_order(order(tradeSide="close_long")) is not None
    assert effect_of_order(order(tradeSide="open_long")) is None


def test_an_orders_odd_words_and_figures() -> None:
    fresh = order(orderStatus="new", avgPrice="0", feeDetail=None, cumExecQty="0", takeProfit=None, stopLoss=None)
    assert (fresh.status, fresh.price_avg, fresh.fee, fresh.leverage) == ("live", None, None, None)
    assert (fresh.preset_stop_surplus_price, fresh.preset_stop_loss_price) == (None, None)
    assert order(orderStatus="half_way").status == "half_way"
    empty = order(
        price="", avgPrice="", cumExecQty="", cumExecValue="", takeProfit="", stopLoss="", posSide="", holdMode=""
    )
    assert (empty.price, empty.price_avg, empty.base_volume, empty.quote_volume) == (None,) * 4
    assert (empty.preset_stop_surplus_price, empty.pos_side, empty.pos_mode, effect_of_order(empty)) == (None,) * 4
    assert (order().size, order().base_volume, order().price_avg) == (Decimal("12.5"), Decimal("2.5"), Decimal("190.5"))


def test_a_position_in_its_own_figures() -> None:
    row = position()
    assert (row.leg, row.total, row.locked, row.open_price_avg) == (
        SHORT,
        Decimal("2.5"),
        Decimal(1),
        Decimal("181.02"),
    )
    assert (row.keep_margin_rate, row.total_fee, row.achieved_profits) == (
        Decimal("0.0065"),
        Decimal("0.31"),
        Decimal("1.25"),
    )
    assert row.c_time is None, "the leg's first opening is not the position's"
    assert (row.take_profit, row.stop_loss, row.margin_ratio, row.unreadable) == (None, None, None, {})


@pytest.mark.parametrize(("price", "shown"), [("0", None), ("-6251.3", None), ("", None), ("95.5", Decimal("95.5"))])
def test_a_liquidation_price_of_zero_or_below_is_none(price: str, shown: Decimal | None) -> None:
    assert position(liquidationPrice=price).liquidation_price == shown


def test_an_absurd_liquidation_price_says_that_there_is_none() -> None:
    held = reported(ProductType.USDT_FUTURES, position(liquidationPrice="20000"))
    assert held.has_no_liquidation


def test_one_way_positions_say_long_too_and_unknown_sides_decide_nothing() -> None:
    assert (position(holdMode=ONE_WAY, posSide="long").leg, position(posSide="net").leg) == (LONG, None)
    assert reported(ProductType.USDT_FUTURES, position(posSide="up")).unknown_fields == ("holdSide 'up'",)


def test_a_take_profit_and_stop_loss_in_one_order_are_two() -> None:
    profit, loss = triggers()
    assert (profit.plan_type, profit.trigger_price, profit.price, profit.trigger_type) == (
        "profit_plan",
        Decimal(150),
        Decimal("150.5"),
        "fill_price",
    )
    assert (loss.plan_type, loss.trigger_price, loss.price, loss.trigger_type) == (
        "loss_plan",
        Decimal(192),
        Decimal(193),
        "mark_price",
    )
    assert [trigger_state(half) for half in (profit, loss)] == [TriggerState.CANCELLED, TriggerState.EXECUTED]
    assert len({profit.order_id, loss.order_id}) == 2
    assert profit.original == loss.original == UNIFIED_TRIGGER


def test_a_waiting_stop_is_the_stop_of_its_leg() -> None:
    waiting = triggers(status=None, triggerType=None, qty="", waits=True)
    assert [trigger_state(half) for half in waiting] == [TriggerState.WAITING] * 2
    for mode in (PositionMode.HEDGE, None):
        nearest = stops_of_leg(waiting, SHORT, mode).nearest
        assert nearest is not None
        assert (nearest.price, nearest.size) == (Decimal(192), None)
        assert stops_of_leg(waiting, LONG, mode).nearest is None
    one_way = triggers(hold_mode=ONE_WAY, waits=True, status="pending", triggerType=None)
    assert stops_of_leg(one_way, SHORT, PositionMode.ONE_WAY).nearest is not None


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("pending", TriggerState.WAITING),
        ("submitting", TriggerState.EXECUTING),
        ("success", TriggerState.EXECUTED),
        ("failed", TriggerState.FAILED),
        ("cancelled", TriggerState.CANCELLED),
        ("half_way", None),
        ("", None),
        (None, None),
    ],
)
def test_the_states_of_strategy_orders(status: str | None, state: TriggerState | None) -> None:
    (stop,) = triggers(takeProfit="", status=status)
    assert trigger_state(stop) is state
    assert stop.plan_status == (status if status == "half_way" else stop.plan_status)


def test_a_trigger_order_opens_or_closes_by_side_and_leg_or_is_not_known() -> None:
    effects = [
        effect_of_trigger(triggers("trigger", type="", **changes)[0])
        for changes in ({"side": "buy"}, {"side": "sell"}, {"side": None}, {"side": "sell", "posSide": "up"})
    ]
    assert [effect and effect.present for effect in effects] == ["closes SHORT", "opens SHORT", None, None]
    (plain,) = triggers("trigger", type="trigger")
    assert (plain.plan_type, plain.trigger_price, plain.price) == ("normal_plan", Decimal(191), Decimal("191.5"))
    (neither,) = triggers(takeProfit="0", stopLoss=None)
    assert neither.plan_type == "profit_loss"


def test_a_closed_position() -> None:
    row = ClosedPosition.from_row(classic_closed_position(UNIFIED_ROWS["unified.closed_positions"]))
    assert (row.hold_side, row.net_profit, row.total_funding, row.pnl) == (
        "short",
        Decimal("9.4"),
        Decimal("0.01"),
        Decimal("9.95"),
    )


def test_the_whole_account_counts_once_and_its_coins_are_parts() -> None:
    coins = [UNIFIED_COIN, {**UNIFIED_COIN, "coin": "USDT", "equity": "10249.5", "usdValue": "10249.5"}]
    rows = [FuturesAccount.from_row(row) for row in classic_accounts({**UNIFIED_ASSETS, "assets": coins})]
    assert [row.margin_coin for row in rows] == ["USD", "BTC", "USDT"]
    totals = totals_of(rows)
    assert (totals.equity, totals.unrealised, totals.no_equity_because) == (Decimal(15015), Decimal("-120.12"), "")
    assert totals.worst_margin_ratio == Decimal(72) / Decimal(14400)
    assert rows[1].usdt_equity == Decimal("4750.5") * Decimal(15015) / Decimal(15000)
    assert (totals.least_free, totals.union_available) == (None, None), "neither is told"
    assert not totals.has_union, "the header's figure is the equity, not the union margin"


@pytest.mark.parametrize("changes", [{"assets": None}, {"assets": ""}, {"accountEquity": "0"}, {"usdtEquity": None}])
def test_assets_that_are_missing_leave_the_whole(changes: dict[str, object]) -> None:
    rows = [FuturesAccount.from_row(row) for row in classic_accounts({**UNIFIED_ASSETS, **changes})]
    assert rows[0].margin_coin == "USD"
    assert totals_of(rows).equity == (None if changes.get("usdtEquity", "") is None else Decimal(15015))


def test_a_keys_permissions_in_words() -> None:
    info = AccountInfo.from_row(classic_key(UNIFIED_ROWS["unified.key"]))
    assert info.user_id == "9001"
    assert permission_texts(info.authorities) == (
        "unified account: read",
        "unified trading: read",
    )
    whole = AccountInfo.from_row(
        classic_key({**UNIFIED_ROWS["unified.key"], "permType": "read-and-write", "permissions": ["withdraw", "new"]})
    )
    assert permission_texts(whole.authorities) == ("withdrawals: read and write", "'new', which is not documented")
    assert may_withdraw(whole.authorities)


@pytest.mark.parametrize("name", [name for name in UNIFIED_ROWS if CATALOGUE[name].rows_key])
def test_a_null_list_has_no_rows_and_a_null_cursor_ends_the_pages(name: str) -> None:
    for data in ('{"list":null,"cursor":null}', '{"list":[],"cursor":null}', '{"list":null}', '{"cursor":""}'):
        body = f'{{"code":"00000","msg":"success","requestTime":1,"data":{data}}}'.encode()
        reply = read_reply(CATALOGUE[name], body)
        assert (reply.rows, reply.cursor) == ((), None)


def test_a_null_payload_is_no_waiting_stop_and_says_nothing_of_positions() -> None:
    body = b'{"code":"00000","msg":"success","requestTime":1,"data":null}'
    assert read_reply(CATALOGUE["unified.live_triggers"], body).rows == ()
    for name in ("unified.assets", "unified.positions", "unified.orders"):
        with pytest.raises(UnreadableBody, match="is empty"):
            read_reply(CATALOGUE[name], body)


def test_the_cursor_is_the_payloads_own() -> None:
    data = {"list": [UNIFIED_FILL], "cursor": "77"}
    body = json.dumps({"code": "00000", "requestTime": 1, "data": data}).encode()
    assert read_reply(CATALOGUE["unified.fills"], body).cursor == "77"
    data["cursor"] = None  # type: ignore[assignment]
    body = json.dumps({"code": "00000", "requestTime": 1, "data": data}).encode()
    assert read_reply(CATALOGUE["unified.fills"], body).cursor is None, "the last row's id is no cursor"


def test_numbers_may_be_json_numbers() -> None:
    filled = fill(execQty=Decimal("2.5"), createdTime=1780000000400)
    assert (filled.base_volume, filled.c_time) == (Decimal("2.5"), fill().c_time)
    held = position(total=Decimal("0.25"), avgPrice=181, liquidationPrice=0, updatedTime=1780000000456)
    assert (held.total, held.open_price_avg, held.liquidation_price) == (Decimal("0.25"), Decimal(181), None)
    assert (order(qty=3, avgPrice=0).size, order(avgPrice=0).price_avg) == (Decimal(3), None)
    (profit, loss) = triggers(takeProfit=150, stopLoss=Decimal("192.5"))
    assert (profit.trigger_price, loss.trigger_price) == (Decimal(150), Decimal("192.5"))
    whole = FuturesAccount.from_row(classic_accounts({**UNIFIED_ASSETS, "accountEquity": 15000, "mmr": Decimal(72)})[0])
    assert (whole.account_equity, whole.union_mm) == (Decimal(15000), Decimal(72) * Decimal(15015) / Decimal(15000))


@pytest.mark.parametrize("equity", ["", None, "n/a"])
def test_an_equity_that_is_not_told_is_no_zero(equity: object) -> None:
    with pytest.raises(UndecodableRowError, match="accountEquity"):
        FuturesAccount.from_row(classic_accounts({**UNIFIED_ASSETS, "accountEquity": equity})[0])


def test_a_converted_row_is_read_again_from_the_archive_as_it_was() -> None:
    before = fill(tradeSide="open_short", side="sell")
    after = FuturesFill.from_row(load_json(dump_json(before.received)))
    assert after == before
    assert after.original == before.original
