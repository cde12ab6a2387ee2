"""An exchange that ignores `productType` and gives every product type all rows: each row counts once."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from tests.exchange.scripted_exchange import CREDENTIALS, START_MS, ArrivedRequest, NoBudget, Say, Scripted
from tradetui.commands.show.reading import ReadingProgress, held_positions
from tradetui.desk.archive.database import Archive
from tradetui.desk.feeds.fills.fill_history import FillHistory
from tradetui.desk.feeds.fills.fills_reader import FillsReader
from tradetui.desk.feeds.orders import AccountsReader, OrdersReader, without_repeated_accounts
from tradetui.desk.feeds.polling.feed import Reading
from tradetui.desk.feeds.polling.multi_product import left_out_sentence
from tradetui.desk.feeds.positions import PositionsReader
from tradetui.desk.feeds.triggers import TriggersReader
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange import ExchangeReader, LoopClock
from tradetui.storage.disk_thread import InlineDisk
from tradetui.trading.account_totals import totals_of
from tradetui.wire.endpoints.reply import Reply, of_product_type
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.futures_accounts import FuturesAccount, FuturesBill, PositionsRequest
from tradetui.wire.product_types import ProductType

pytestmark = pytest.mark.looptime

TYPES: Final = (ProductType.USDT_FUTURES, ProductType.COIN_FUTURES, ProductType.USDC_FUTURES)
SYMBOLS: Final = {"BTCUSDT": TYPES[0], "ETHUSD": TYPES[1], "BTCUSDH27": TYPES[1], "SOLPERP": TYPES[2]}
EVERY: Final = [(999 - row_number, symbol) for row_number, symbol in enumerate(sorted(list(SYMBOLS) * 12))]
"""The number and symbol of each row, newest first; whole pages hold nothing of a product type."""
HEDGE: Final = {"posMode": "hedge_mode", "tradeSide": "open", "side": "buy", "cTime": str(START_MS - 60_000)}


def _rows(path: str, values: dict[str, str]) -> list[dict[str, Any]]:
    """What the exchange gives, whatever product type is asked for."""
    match path.rpartition("/")[2]:
        case "accounts":
            return [
                {"marginCoin": coin, "accountEquity": "10", "usdtEquity": "10", "available": "1"}
                for coin in ("USDT", "BTC", "USDC")
            ]
        case "orders-pending" if values["status"] == "live":
            return [
                {"symbol": symbol, "orderId": f"1{row_number}", "size": "1", **HEDGE} for row_number, symbol in EVERY
            ]
        case "orders-plan-history" | "orders-plan-pending" if values["planType"] == "normal_plan":
            return [
                {"symbol": symbol, "orderId": f"2{path[-3:]}{row_number}", "planStatus": "executed", **HEDGE}
                for row_number, symbol in EVERY
            ]
        case "fills":
            return [
                {
                    "symbol": symbol,
                    "tradeId": f"3{row_number}",
                    "orderId": "4",
                    "price": "2",
                    "baseVolume": "1",
                    **HEDGE,
                }
                for row_number, symbol in EVERY
            ]
        case "all-position":
            return [{"symbol": symbol, "holdSide": "long", "total": "1", **HEDGE} for symbol in SYMBOLS]
    return []


class _Exchange:
    """Gives every product type all rows, a page of them a call."""

    def __init__(self, *, core_only: bool, page: int) -> None:
        self.core_only, self.page = core_only, page

    def __call__(self, request: ArrivedRequest) -> Say | Exception:
        if self.core_only and request.path.endswith(("all-position", "orders-plan-pending")):
            return Say(status=404, code="40404", msg="Request URL NOT FOUND")
        rows = _rows(request.path, request.values)
        if request.path.endswith(("accounts", "all-position")):
            return Say(data=rows)
        name = "fillList" if request.path.endswith("fills") else "entrustedList"
        id_name = "tradeId" if name == "fillList" else "orderId"
        ids = [row[id_name] for row in rows]
        cursor = request.values.get("idLessThan")
        begin = ids.index(cursor) + 1 if cursor in ids else 0
        served = rows[begin : begin + self.page]
        return Say(data={name: served or None, "endId": served[-1][id_name] if served else None})


def _client(*, core_only: bool = False, page: int = 100) -> ExchangeReader:
    clock = LoopClock(START_MS)
    app = Scripted(_Exchange(core_only=core_only, page=page), clock.wall_ms)
    return ExchangeReader(CREDENTIALS, app=app, clock=clock, budget=NoBudget())


def _counted(reading: Reading[Any]) -> Counter[tuple[ProductType, str]]:
    return Counter((row.product_type, getattr(row, "symbol", None) or row.record.symbol) for row in reading.rows)


ROWS_BY_SYMBOL: Final = Counter({(product_type, symbol): 12 for symbol, product_type in SYMBOLS.items()})


@pytest.mark.parametrize("page", [10, 100])
@pytest.mark.parametrize("core_only", [True, False])
async def test_every_row_is_shown_once_under_the_product_type_of_its_symbol(
    core_only: bool, page: int, tmp_path: Path
) -> None:
    client, disk = _client(core_only=core_only, page=page), InlineDisk()
    archive = Archive(tmp_path / "archive.sqlite")
    histories = {product_type: FillHistory(client, product_type, disk) for product_type in TYPES}
    triggers = TriggersReader(client, TYPES, disk)
    for history in histories.values():
        await history.attach(archive)
    assert _counted(await OrdersReader(client, TYPES).read()) == ROWS_BY_SYMBOL
    for _ in range(4):
        past = await triggers.read()
    assert _counted(past) == ROWS_BY_SYMBOL
    if not core_only:
        assert triggers.waiting is not None
        assert Counter((row.product_type, row.record.symbol) for row in triggers.waiting) == ROWS_BY_SYMBOL
    fills = FillsReader(histories, client.clock)
    reading = await fills.read()
    for history in histories.values():
        while await history.read_gap():
            pass
    assert _counted(await fills.read()) == ROWS_BY_SYMBOL, reading
    assert _counted(await PositionsReader(client, TYPES, histories, disk).read()) == dict.fromkeys(ROWS_BY_SYMBOL, 1)
    kept = Counter(
        (product_type, row.record.symbol)
        for product_type in TYPES
        for row in archive.rows.newest(FuturesFill, product_type, 100)
    )
    assert kept == ROWS_BY_SYMBOL, "the ledger books what is kept"


@pytest.mark.parametrize("types", [TYPES, TYPES[::-1], TYPES[:2], TYPES[1:], TYPES[::2], TYPES[:1], TYPES[1:2]])
async def test_every_account_counts_once(types: tuple[ProductType, ...]) -> None:
    reading = await AccountsReader(_client(), types).read()
    assert sorted(row.record.margin_coin for row in reading.rows) == ["BTC", "USDC", "USDT"]
    assert totals_of([row.record for row in reading.rows]).equity == Decimal(30)


def _account(product_type: ProductType, coin: str) -> ProductRow[FuturesAccount]:
    return ProductRow(product_type, FuturesAccount.from_row({"marginCoin": coin, "accountEquity": "1"}))


def test_an_account_of_another_coin_is_left_out_only_where_the_coins_own_account_came() -> None:
    usdt, coin, usdc = TYPES
    every_own = [_account(usdt, "USDT"), _account(usdt, "BTC"), _account(coin, "USDC"), _account(usdc, "USDC")]
    assert without_repeated_accounts(every_own) == every_own
    with_own = [*every_own, _account(coin, "BTC")]
    assert without_repeated_accounts(with_own) == [every_own[0], every_own[3], with_own[4]]


async def test_rows_of_product_types_that_the_profile_does_not_name_are_spoken_of() -> None:
    client, disk, types = _client(core_only=True), InlineDisk(), TYPES[1:]
    histories = {product_type: FillHistory(client, product_type, disk) for product_type in types}
    positions = PositionsReader(client, types, histories, disk)
    sentence = "rows of BTCUSDT left out: not of COIN-FUTURES, USDC-FUTURES"
    readers = (OrdersReader(client, types), TriggersReader(client, types, disk), FillsReader(histories, client.clock))
    for reader in (*readers, positions):
        assert sentence in (await reader.read()).note
    assert sentence in (await PositionsReader(_client(), types).read()).note
    assert (
        left_out_sentence(TYPES[:1], SYMBOLS) == "rows of BTCUSDH27 and of 2 more symbols left out: not of USDT-FUTURES"
    )
    assert not left_out_sentence(TYPES, SYMBOLS)


@pytest.mark.parametrize("core_only", [True, False])
async def test_show_takes_note_of_positions_that_are_left_out(core_only: bool) -> None:
    progress = ReadingProgress("positions")
    requests = [PositionsRequest(product_type=product_type) for product_type in TYPES[1:]]
    client = _client(core_only=core_only)
    held = [position async for position in held_positions(client, requests, progress, with_market=False)]
    assert len(held) == 3 and "BTCUSDT" in progress.left_out - progress.kept_symbols


async def test_a_fill_named_like_another_product_types_is_spoken_of_where_that_does_not_bring_it() -> None:
    bought = {"symbol": "EURUSD", "tradeId": "7", "price": "2", "baseVolume": "1", **HEDGE}

    def answer(request: ArrivedRequest) -> Say:
        is_fills = request.path.endswith("/order/fills")
        return Say(data={"fillList": [bought] if is_fills and request.values["productType"] == TYPES[0] else []})

    clock = LoopClock(START_MS)
    client = ExchangeReader(CREDENTIALS, app=Scripted(answer, clock.wall_ms), clock=clock, budget=NoBudget())
    histories = {product_type: FillHistory(client, product_type, InlineDisk()) for product_type in TYPES}
    reading = await FillsReader(histories, clock).read()
    assert not reading.rows and "rows of EURUSD left out: named like another product type's" in reading.note


async def test_a_position_with_margin_in_usdt_is_kept_however_its_contract_is_named() -> None:
    held = {"symbol": "EURUSD", "marginCoin": "USDT", "holdSide": "long", "total": "1", **HEDGE}
    clock = LoopClock(START_MS)
    app = Scripted(lambda request: Say(data=[held] if request.values["productType"] == TYPES[0] else []), clock.wall_ms)
    client = ExchangeReader(CREDENTIALS, app=app, clock=clock, budget=NoBudget())
    for product_types in (TYPES, TYPES[:1]):
        histories = {product_type: FillHistory(client, product_type, InlineDisk()) for product_type in product_types}
        reading = await PositionsReader(client, product_types, histories, InlineDisk()).read()
        assert _counted(reading) == {(TYPES[0], "EURUSD"): 1}


def test_a_transfer_in_usdc_is_left_out_only_beside_rows_of_another_product_type() -> None:
    common = {"amount": "5", "cTime": str(START_MS)}
    deposit = FuturesBill.from_row({**common, "billId": "1", "coin": "USDC", "symbol": "", "businessType": "trans_in"})
    funding, foreign = (
        FuturesBill.from_row({**common, "billId": "2", "coin": coin, "symbol": symbol, "businessType": "settle_fee"})
        for symbol, coin in (("BTCUSDT", "USDT"), ("SOLPERP", "USDC"))
    )
    usdt, _, usdc = TYPES
    assert of_product_type(Reply((deposit, funding)), usdt).rows == (deposit, funding), "it may back contracts in USDT"
    every: Reply[FuturesBill] = Reply((deposit, funding, foreign))
    assert of_product_type(every, usdt).rows == (funding,), "the exchange gives every product type all rows"
    assert of_product_type(every, usdc).rows == (deposit, foreign)
