"""Positions rebuilt from fills: legs, nets, averages, and what can and cannot be proven."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trading.position_fills import START_MS, USDT, fill, position
from tradetui.trading.contract_math import profit
from tradetui.trading.holdings import Legs, Net
from tradetui.trading.positions import FromFills, Position, Reported, doubt_of_held, holdings_of, mode_of, reported
from tradetui.trading.positions_from_fills import PositionBook
from tradetui.wire.endpoints.reply import id_sort_key
from tradetui.wire.enums import PositionMode
from tradetui.wire.models.futures import FuturesFill, PendingOrder
from tradetui.wire.models.futures_accounts import ReportedPosition
from tradetui.wire.product_types import ProductType


def book_of(*fills: FuturesFill, proven: bool = False, product_type: ProductType = USDT) -> PositionBook:
    book = PositionBook(product_type)
    if proven:  # by a change of position mode
        hedge = fills[0].pos_mode == PositionMode.HEDGE
        book.add(fill("buy", "buy_single", "1", at=START_MS, mode="one_way_mode" if hedge else "hedge_mode"))
    for taken in sorted(fills, key=lambda fill: (fill.c_time, id_sort_key(fill.trade_id))):
        book.add(taken)
    return book


def sizes(book: PositionBook) -> dict[str, Decimal]:
    return {position.shown_leg: position.size for position in book.positions()}


def test_hedge_legs_live_side_by_side() -> None:
    book = book_of(fill("buy", "open", "3"), fill("sell", "open", "2"), fill("buy", "close", "1"))
    assert sizes(book) == {"long": Decimal(2), "short": Decimal(2)}
    assert book.mode is PositionMode.HEDGE


def test_one_way_is_one_signed_net_that_may_cross_zero() -> None:
    book = book_of(
        fill("buy", "buy_single", "3", mode="one_way_mode"), fill("sell", "sell_single", "5", mode="one_way_mode")
    )
    assert sizes(book) == {"short": Decimal(2)}


def test_one_way_relies_on_side_alone() -> None:
    assert sizes(book_of(fill("sell", "open", "2", mode="one_way_mode"))) == {"short": Decimal(2)}


def test_a_one_way_word_says_the_mode_where_none_came() -> None:
    bought = fill("buy", "buy_single", "10").model_copy(update={"pos_mode": None})
    assert sizes(book_of(bought)) == {"long": Decimal(10)}
    assert mode_of((), (), bought) == (PositionMode.ONE_WAY, "the newest fill")


def test_a_size_below_zero_proves_missing_opens() -> None:
    book = book_of(fill("buy", "open", "1"), fill("buy", "close", "3"), fill("buy", "open", "2"), proven=True)
    (held,) = book.positions()
    assert held.size == 2
    assert isinstance(held.source, FromFills)
    assert held.source.opens_missing
    assert not held.source.proven


def test_a_one_way_fill_with_a_profit_that_closes_nothing_known_proves_missing_opens() -> None:
    opened, closed = (fill("sell", "sell_single", "1", mode="one_way_mode", profit=profit) for profit in ("0", "7"))
    (short,) = book_of(opened, proven=True).positions()
    assert short.source.proven
    (short,) = book_of(closed, proven=True).positions()
    assert isinstance(short.source, FromFills) and short.source.opens_missing and not short.source.proven


@pytest.mark.parametrize("word", ["burst_sell_single", "reduce_sell_single", "offset_close_long"])
def test_what_the_exchange_closes_by_itself_turns_no_net_round(word: str) -> None:
    bought, again = (fill("buy", "buy_single", size, mode="one_way_mode") for size in ("3", "1"))
    assert sizes(book_of(bought, fill("sell", word, "2", mode="one_way_mode"))) == {"long": Decimal(1)}
    (held,) = book_of(bought, again, fill("sell", word, "3", mode="one_way_mode"), proven=True).positions()
    assert (held.size, held.source.proven) == (Decimal(1), True)
    assert not list(book_of(bought, again, fill("sell", word, "5", mode="one_way_mode")).positions())


def test_a_fill_that_does_not_tell_the_mode_is_of_that_of_the_one_before() -> None:
    sold = fill("sell", "sell_single", "1", mode="one_way_mode")
    assert sizes(book_of(sold, fill("sell", "close", "1", mode=""))) == {"short": Decimal(2)}


def test_a_change_of_mode_proves_flat() -> None:
    before = [fill("buy", "open", "7")]
    after = [fill("buy", "buy_single", "2", mode="one_way_mode")]
    (held,) = book_of(*before, *after).positions()
    assert held.size == 2
    assert isinstance(held.source, FromFills)
    assert held.source.proven
    assert held.source.since == after[0].c_time


def test_without_proof_the_start_is_not_flat() -> None:
    (held,) = book_of(fill("buy", "open", "1")).positions()
    assert isinstance(held.source, FromFills)
    assert not held.source.proven


def test_the_same_fill_counts_once() -> None:
    one = fill("buy", "open", "1")
    assert sizes(book_of(one, one)) == {"long": Decimal(1)}


def test_one_trade_id_under_two_symbols_is_two_fills() -> None:
    bitcoin, ether = (fill("buy", "open", "1", trade_id="7", symbol=symbol) for symbol in ("BTCUSDT", "ETHUSDT"))
    book = book_of(bitcoin, ether)
    assert [(held.symbol, held.size) for held in book.positions()] == [("BTCUSDT", Decimal(1)), ("ETHUSDT", Decimal(1))]
    assert not book.outdated


def test_a_late_older_fill_is_noticed() -> None:
    book = PositionBook(USDT)
    book.add(fill("buy", "open", "1", at=START_MS + 10_000_000))
    book.add(fill("buy", "open", "1", at=START_MS))
    assert book.outdated


@pytest.mark.parametrize(
    ("changed", "outdated"),
    [
        ({"baseVolume": "18"}, True),
        ({"side": "sell"}, True),
        ({"tradeSide": "close"}, True),
        ({"price": "101"}, True),
        ({"profit": "1"}, True),
        ({"posMode": "one_way_mode"}, True),
        ({"cTime": str(START_MS + 1)}, True),
        ({"baseVolume": "19.0"}, False),
        ({"tradeScope": "maker"}, False),
    ],
)
def test_a_fill_that_comes_again_with_other_figures_is_noticed(changed: dict[str, str], outdated: bool) -> None:
    book = PositionBook(USDT)
    first = fill("buy", "open", "19", at=START_MS)
    book.add(first)
    book.add(FuturesFill.from_row({**first.received, **changed}))
    assert sizes(book) == {"long": 19}
    assert book.outdated is outdated


def test_average_entry_and_realised_profit() -> None:
    book = book_of(
        fill("buy", "open", "1", "100"), fill("buy", "open", "3", "120"), fill("buy", "close", "2", "130", profit="30")
    )
    (held,) = book.positions()
    assert (held.entry, held.realised) == (Decimal(115), Decimal(30))


def test_the_profit_of_a_coin_margined_whole_is_the_sum_of_its_parts() -> None:
    coin = ProductType.COIN_FUTURES
    book = book_of(
        fill("buy", "open", "1", "100", symbol="BTCUSD"),
        fill("buy", "open", "1", "300", symbol="BTCUSD"),
        product_type=coin,
    )
    (held,) = book.positions()
    assert held.entry == Decimal(200)
    assert held.margin_coin == "BTC"
    parts = [profit(coin, long=True, size=Decimal(1), entry=Decimal(entry), price=Decimal(400)) for entry in (100, 300)]
    assert profit(coin, long=True, size=held.size, entry=held.entry, price=Decimal(400)) == sum(parts)


@given(st.lists(st.tuples(st.sampled_from(["buy", "sell"]), st.integers(1, 50)), max_size=40))
def test_a_net_is_the_signed_sum(moves: list[tuple[str, int]]) -> None:
    fills = [fill(side, f"{side}_single", str(size), mode="one_way_mode") for side, size in moves]
    expected = sum(size if side == "buy" else -size for side, size in moves)
    held = holdings_of(book_of(*fills).positions(), USDT, "btcusdt", PositionMode.ONE_WAY)
    assert held == Net(Decimal(expected))


@given(st.data())
def test_legs_are_the_sums_of_opens_less_closes(data: st.DataObject) -> None:
    legs = {"long": 0, "short": 0}
    fills = []
    for _ in range(data.draw(st.integers(0, 30))):
        leg = data.draw(st.sampled_from(["long", "short"]))
        closes = legs[leg] > 0 and data.draw(st.booleans())
        size = data.draw(st.integers(1, legs[leg] if closes else 40))
        legs[leg] += -size if closes else size
        fills.append(fill("buy" if leg == "long" else "sell", "close" if closes else "open", str(size)))
    held = holdings_of(book_of(*fills).positions(), USDT, "BTCUSDT", PositionMode.HEDGE)
    assert held == Legs(Decimal(legs["long"]), Decimal(legs["short"]))


def test_a_reported_row_reads_as_a_position() -> None:
    row = ReportedPosition.from_row(
        {
            "symbol": "BTCUSDT",
            "holdSide": "short",
            "total": "0.5",
            "posMode": "one_way_mode",
            "liquidationPrice": "-2797.3",
            "markPrice": "84000",
            "takeProfit": "",
            "marginMode": "cross",
        }
    )
    held = reported(USDT, row)
    assert (held.leg, held.size, held.mode) == ("short", Decimal("0.5"), PositionMode.ONE_WAY)
    assert isinstance(held.source, Reported)
    assert held.liquidation_distance is None, "a negative liquidation price means that there is none"
    assert held.take_profit is None


def held_row(side: str, total: str, *, mode: str = "hedge_mode", coin: str = "USDT") -> Position:
    row = {"symbol": "BTCUSDT", "holdSide": side, "total": total, "posMode": mode, "marginCoin": coin}
    return reported(USDT, ReportedPosition.from_row(row))


@pytest.mark.parametrize(
    ("rows", "certain"),
    [
        ([held_row("long", "20"), held_row("short", "5")], True),
        ([held_row("long", "20"), held_row("long", "20", coin="BTC")], False),
        ([held_row("long", "20", mode="one_way_mode")], True),
        ([held_row("long", "20", mode="one_way_mode"), held_row("short", "5", mode="one_way_mode")], False),
        ([held_row("net", "20")], False),
    ],
)
def test_a_leg_that_is_reported_in_two_rows_is_not_certain(rows: list[Position], certain: bool) -> None:
    assert (doubt_of_held(rows, "btcusdt") == "") is certain
    assert doubt_of_held(rows, "ETHUSDT") == ""


def order(mode: str) -> PendingOrder:
    return PendingOrder.from_row({"symbol": "BTCUSDT", "size": "1", "orderId": "1", "side": "buy", "posMode": mode})


def test_the_mode_comes_from_positions_then_orders_then_the_newest_fill() -> None:
    one_way, hedge = order("one_way_mode"), order("hedge_mode")
    assert mode_of([position("long", "1")], [one_way], None) == (PositionMode.HEDGE, "the fills")
    assert mode_of([held_row("long", "1")], [one_way], None) == (PositionMode.HEDGE, "the positions")
    assert mode_of([], [one_way], fill("buy", "open", "1"))[0] is PositionMode.ONE_WAY
    assert mode_of([], [], fill("buy", "open", "1"))[0] is PositionMode.HEDGE
    assert mode_of([], [], None)[0] is None
    assert mode_of([], [], None, "hedge_mode") == (PositionMode.HEDGE, "the account")
    assert mode_of([], [], None, "split_mode")[0] is None
    assert mode_of([], [one_way, hedge], None, "hedge_mode")[0] is None, "what contradicts itself is not outvoted"
    assert mode_of([], [one_way, hedge], None)[0] is None
