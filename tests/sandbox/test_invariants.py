"""The check of the books: every single thing that could be wrong in them is found."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.sandbox import invariants as audit
from tests.sandbox.exchange_events import cancel_order, liquidate, open_position, place_order
from tests.sandbox.invariants import check_books
from tests.sandbox.signed_requests import Caller
from tradetui.sandbox.books import futures_account
from tradetui.sandbox.books.futures_account import FuturesBook
from tradetui.sandbox.books.market import CONTRACTS, TAKER_FEE
from tradetui.sandbox.books.reply_rows import account_row
from tradetui.sandbox.exchange_state import ExchangeState

TINY = Decimal("0.00000002")


@pytest.fixture
def caller() -> Caller:
    """An account that has opened, added, partly closed and turned round, and holds something on a moved market."""
    caller = Caller()
    exchange_state, uid = caller.sandbox.exchange_state, caller.hold("broker")
    for leg, size in (("long", "0.3"), ("long", "0.2"), ("short", "0.1"), ("short", "0.9"), ("long", "0.2")):
        open_position(exchange_state, uid, "BTCUSDT", leg, Decimal(size))
        exchange_state.market.set_price("BTCUSDT", exchange_state.market.last("BTCUSDT") * Decimal("1.013"))
    place_order(exchange_state, uid, "ETHUSDT", "buy", "buy_single", Decimal(1), Decimal(2000))
    return caller


def book_of(caller: Caller) -> FuturesBook:
    return caller.sandbox.exchange_state.book(caller.key("broker").uid, "USDT-FUTURES")


def holding(book: FuturesBook) -> Any:
    return book.holdings["BTCUSDT", "short"]


def last_order(book: FuturesBook) -> Any:
    return book.done[book.fills[-1]["orderId"]]


def pay(book: FuturesBook) -> None:
    book.balances["USDT"] += TINY


def pay_twice(book: FuturesBook) -> None:
    """A mistake that the balance and the order make together."""
    last_order(book).profit += TINY
    book.balances["USDT"] += TINY


def grow(book: FuturesBook) -> None:
    holding(book).size += Decimal("0.0001")


def enter_elsewhere(book: FuturesBook) -> None:
    holding(book).entry += Decimal("0.001")


def vanish(book: FuturesBook) -> None:
    del book.holdings["BTCUSDT", "short"]


def change_mode(book: FuturesBook) -> None:
    book.mode = "hedge_mode"


def lose_a_fill(book: FuturesBook) -> None:
    del book.fills[-2]


def gain_in_a_fill(book: FuturesBook) -> None:
    row = next(row for row in reversed(book.fills) if row["profit"] != "0")
    row["profit"] = str(Decimal(row["profit"]) + TINY)


def charge_less(book: FuturesBook) -> None:
    (fee,) = book.fills[-1]["feeDetail"]
    fee["totalFee"] = str(Decimal(fee["totalFee"]) + TINY)


def be_a_maker(book: FuturesBook) -> None:
    book.fills[-1]["tradeScope"] = "maker"


def fill_more(book: FuturesBook) -> None:
    last_order(book).filled += Decimal("0.0001")


def forget_an_order(book: FuturesBook) -> None:
    del book.done[book.fills[-1]["orderId"]]


MISTAKES: tuple[Callable[[FuturesBook], None], ...] = (
    *(pay, pay_twice, grow, enter_elsewhere, vanish, change_mode, lose_a_fill, gain_in_a_fill, charge_less),
    *(be_a_maker, fill_more, forget_an_order),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_a_mistake_in_the_books_is_found(caller: Caller, mistake: Callable[[FuturesBook], None]) -> None:
    check_books(caller.sandbox.exchange_state)
    mistake(book_of(caller))
    with pytest.raises(AssertionError):
        check_books(caller.sandbox.exchange_state)


@pytest.mark.parametrize("name", ["accountEquity", "unrealizedPL"])
def test_what_is_reported_is_not_believed(caller: Caller, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def reported(*arguments: Any) -> dict[str, Any]:
        row = account_row(*arguments)
        return row | {name: str(Decimal(row[name]) + TINY)}

    monkeypatch.setattr(audit, "account_row", reported)
    with pytest.raises(AssertionError, match="equity" if name == "accountEquity" else "unrealised"):
        check_books(caller.sandbox.exchange_state)


def test_a_wrong_profit_of_a_holding_is_found(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    right = futures_account.Holding.profit
    monkeypatch.setattr(futures_account.Holding, "profit", lambda self, *arguments: right(self, *arguments) * 2)
    with pytest.raises(AssertionError, match="unrealised"):
        check_books(caller.sandbox.exchange_state)


def test_a_wrong_fee_rate_is_found(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tradetui.sandbox.books.futures_account.TAKER_FEE", TAKER_FEE * 2)
    open_position(caller.sandbox.exchange_state, caller.key("broker").uid, "ETHUSDT", "long", Decimal(1))
    with pytest.raises(AssertionError, match="fee"):
        check_books(caller.sandbox.exchange_state)


@pytest.mark.parametrize("symbol", ["BTCUSDT", "BTCUSD", "ETHPERP"])
@pytest.mark.parametrize("leg", ["long", "short"])
def test_adding_at_the_mark_changes_nothing_of_what_was_gained(symbol: str, leg: str) -> None:
    caller = Caller()
    exchange_state, uid, spec = caller.sandbox.exchange_state, caller.key("copy-old").uid, CONTRACTS[symbol]
    book = exchange_state.book(uid, spec.product_type)
    for held in list(book.holdings.values()):
        liquidate(exchange_state, book, held)
    open_position(exchange_state, uid, symbol, leg, Decimal(1))
    for times in (Decimal("1.1"), Decimal("0.7")):
        exchange_state.market.set_price(symbol, exchange_state.market.last(symbol) * times)
        before = book.unrealised(spec.margin_coin, exchange_state.moment.marks())
        open_position(exchange_state, uid, symbol, leg, Decimal("0.6"))
        after = book.unrealised(spec.margin_coin, exchange_state.moment.marks())
        assert abs(after - before) < Decimal("1e-14")
    check_books(exchange_state)


def test_the_past_of_everybody_balances(reading: Caller) -> None:
    exchange_state = reading.sandbox.exchange_state
    for key in exchange_state.keys:
        account = exchange_state.account(key.uid)
        for marks in (
            exchange_state.moment.marks(),
            {symbol: mark * 2 for symbol, mark in exchange_state.moment.marks().items()},
        ):
            audit.check_account(account, marks)


def account_of(exchange_state: ExchangeState, name: str, marks: dict[str, Decimal]) -> dict[str, Any]:
    uid = next(key.uid for key in exchange_state.keys if key.name == name)
    return account_row(exchange_state.book(uid, "USDT-FUTURES"), "USDT", marks)


def test_several_assets_stand_behind_one_coin_s_debt(reading: Caller) -> None:
    exchange_state = reading.sandbox.exchange_state
    row = account_of(exchange_state, "multi-assets", exchange_state.moment.marks())
    assert row["assetMode"] == "union"
    assert Decimal(row["accountEquity"]) < -4_000, "the margin coin alone is below nothing"
    assert Decimal(row["unionTotalMargin"]) > Decimal(row["unionAvailable"]) > 70_000
    assert row["crossedMaxAvailable"] == row["unionAvailable"]
    assert row["crossedRiskRate"] == "0"
    assert 0 < Decimal(row["unionMm"]) < 5_000
    assert [asset["coin"] for asset in row["assetList"]] == ["USDT", "BTC", "ETH"]
    half = account_of(
        exchange_state, "multi-assets", {symbol: mark / 2 for symbol, mark in exchange_state.moment.marks().items()}
    )
    assert Decimal(half["unionTotalMargin"]) < Decimal(row["unionTotalMargin"]), "assets are worth what the market says"


def test_isolated_positions_have_their_margin_to_themselves(reading: Caller) -> None:
    exchange_state = reading.sandbox.exchange_state
    row = account_of(exchange_state, "isolated", exchange_state.moment.marks())
    assert Decimal(row["isolatedMargin"]) > 0 and Decimal(row["crossedMargin"]) > 0
    positions = reading.get("futures.positions", "isolated", productType="USDT-FUTURES").rows
    modes = {position["symbol"]: position["marginMode"] for position in positions}
    assert modes["ETHUSDT"] == "isolated" and modes["BTCUSDT"] == "crossed"
    ratios = {position["marginRatio"] for position in positions if position["marginMode"] == "crossed"}
    assert ratios == {row["crossedRiskRate"]}, "crossed ones share the account's"
    assert not ratios & {position["marginRatio"] for position in positions if position["marginMode"] == "isolated"}


def test_an_isolated_position_is_closed_by_force_alone() -> None:
    caller = Caller()
    exchange_state, uid = caller.sandbox.exchange_state, caller.key("isolated").uid
    book = exchange_state.book(uid, "USDT-FUTURES")
    for held in list(book.holdings.values()):
        liquidate(exchange_state, book, held)
    for order in list(book.orders.values()):
        cancel_order(exchange_state, uid, order.spec.symbol, order.order_id)
    book.live_triggers.clear()
    for symbol in ("ETHUSDT", "BTCUSDT"):
        open_position(exchange_state, uid, symbol, "long", Decimal(1))
    balance = book.balances["USDT"]
    exchange_state.stands_still = False
    exchange_state.market.set_price("ETHUSDT", exchange_state.market.last("ETHUSDT") * Decimal("0.9"))
    exchange_state.advance(exchange_state.now_ms + exchange_state.step_ms)
    assert book.held("ETHUSDT", "long") is None
    assert book.held("BTCUSDT", "long") is not None
    assert balance - book.balances["USDT"] < 500
    check_books(exchange_state)


@pytest.mark.parametrize("name", ["unionTotalMargin", "unionAvailable", "unionMm", "crossedMargin", "isolatedMargin"])
def test_union_and_isolated_figures_are_not_believed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = Caller()
    exchange_state = caller.sandbox.exchange_state
    for account in ("multi-assets", "isolated"):
        exchange_state.account(caller.key(account).uid)

    def reported(*arguments: Any) -> dict[str, Any]:
        row = account_row(*arguments)
        return row | ({name: str(Decimal(row[name]) + TINY)} if row[name] else {})

    monkeypatch.setattr(audit, "account_row", reported)
    with pytest.raises(AssertionError):
        check_books(exchange_state)
