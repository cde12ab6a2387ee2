"""The header's figures: equity, profit and margin ratio of accounts with one asset and with several."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.table import ACCOUNTS
from tradetui.trading.account_totals import Totals, free_margin, free_part, totals_of
from tradetui.trading.positions import FromFills, Position
from tradetui.wire.enums import PositionMode, PositionSide
from tradetui.wire.models.futures_accounts import FuturesAccount
from tradetui.wire.product_types import ProductType

UNION = {
    "assetMode": "union",
    "unionTotalMargin": "90000",
    "unionAvailable": "82755",
    "unionMm": "1800",
    "crossedRiskRate": "0",
    "assetList": [{"coin": "BTC", "balance": "1.2", "available": "1"}, {"coin": "USDT", "balance": "-4767"}],
}


def account(coin: str = "USDT", equity: str = "1000", **fields: Any) -> FuturesAccount:
    row = {"marginCoin": coin, "accountEquity": equity, "usdtEquity": equity, "unrealizedPL": "0", **fields}
    return FuturesAccount.from_row(row)


def union(coin: str = "USDT", equity: str = "-4767", **fields: Any) -> FuturesAccount:
    return account(coin, equity, **{**UNION, **fields})


def held(**fields: Any) -> Position:
    return Position(
        **{
            "product_type": ProductType.USDT_FUTURES,
            "symbol": "BTCUSDT",
            "leg": PositionSide.LONG,
            "size": Decimal("0.5"),
            "mode": PositionMode.HEDGE,
            "source": FromFills(),
            **fields,
        }
    )


def test_a_union_account_is_worth_its_total_margin_and_not_one_coin_s_debt() -> None:
    totals = totals_of([union()])
    assert (totals.equity, totals.union_available) == (Decimal(90_000), Decimal(82_755))
    assert totals.worst_margin_ratio == Decimal("0.02")
    assert (totals.has_union, totals.has_single) == (True, False)


def test_every_coin_of_a_pool_tells_it_and_it_counts_once_though_prices_moved_between() -> None:
    pool = [union(), union("BTC", "1.2"), union("USDC", "0", unionTotalMargin="90011", unionAvailable="82760")]
    totals = totals_of([*pool, account("USDC", "500", assetMode="single")])
    assert totals.equity == Decimal(90_500)
    assert (totals.has_union, totals.has_single) == (True, True)
    other = union(assetList=[{"coin": "ETH", "balance": "3"}])
    assert totals_of([*pool, other]).equity == Decimal(180_000)


@pytest.mark.parametrize("word", [None, "", "multi", "UNIFIED", "7"])
def test_an_asset_mode_that_nobody_knows_decides_nothing(word: str | None) -> None:
    totals = totals_of([union(assetMode=word, crossedRiskRate="0.3"), account("BTC")])
    because = f"asset mode {word!r} is not known" if word else ""
    assert (totals.equity, totals.no_equity_because) == (None if word else Decimal(-3767), because)
    assert totals.worst_margin_ratio == Decimal("0.3")
    assert not totals.has_union
    row = ProductRow(ProductType.USDT_FUTURES, union(assetMode=word))
    assert ACCOUNTS.default_columns([row]) is ACCOUNTS.columns


@pytest.mark.parametrize(
    ("fields", "ratio"),
    [
        ({"assetMode": "UNION"}, "0.02"),
        ({"crossedRiskRate": "0.5"}, "0.5"),
        ({"unionMm": ""}, None),
        ({"unionMm": "", "crossedRiskRate": "0.1"}, "0.1"),
        ({"unionTotalMargin": "0"}, "1"),
        ({"unionTotalMargin": "-5"}, "1"),
        ({"unionTotalMargin": "0", "unionMm": "0"}, None),
        ({"unionMm": "0"}, "0"),
    ],
)
def test_the_margin_ratio_of_a_union_account(fields: dict[str, str], ratio: str | None) -> None:
    assert union(**fields).margin_ratio == (None if ratio is None else Decimal(ratio))


def test_what_is_not_told_is_unknown_and_not_nothing() -> None:
    assert totals_of([]) == Totals(open_profit=Decimal(0))
    unread = totals_of([], None)
    assert (unread.open_profit, unread.exposure, unread.exposure_multiple) == (None, None, None)
    untold_pool = union(unionTotalMargin="", unionAvailable="", unionMm="")
    totals = totals_of([untold_pool])
    assert (totals.equity, totals.union_available, totals.worst_margin_ratio) == (None, None, None)
    assert totals.has_union
    beside_it = totals_of([untold_pool, account()])
    assert (beside_it.equity, beside_it.no_equity_because) == (None, "no multi-assets margin")


def test_an_account_that_is_not_read_or_tells_no_value_leaves_the_equity_unknown_and_not_smaller() -> None:
    usdt, btc = account(), account("BTC", "0.5", usdtEquity="40000")
    assert totals_of([usdt, btc]).equity == 41000
    assert totals_of([usdt], undecodable_rows=1).equity is None
    assert totals_of([usdt], undecodable_rows=1).unrealised is None
    unvalued = totals_of([usdt, account("BTC", "0.5", usdtEquity="")])
    assert (unvalued.equity, unvalued.no_equity_because) == (None, "no USDT value of BTC")
    assert totals_of([usdt], undecodable_rows=1).no_equity_because == "1 account unreadable"
    assert totals_of([usdt, btc]).no_equity_because == totals_of([]).no_equity_because == ""
    assert totals_of([usdt, account("BTC", "0", usdtEquity="")]).equity == 1000


def test_an_unrealised_profit_that_cannot_be_converted_leaves_the_sum_unknown_and_not_smaller() -> None:
    usdt = account(unrealizedPL="5")
    btc = account("BTC", "0.5", usdtEquity="40000", unrealizedPL="0.01")
    assert totals_of([usdt, btc]).unrealised == 805
    assert totals_of([usdt, account("BTC", "0.5", usdtEquity="", unrealizedPL="0.01")]).unrealised is None
    assert totals_of([usdt, account("BTC", "0", usdtEquity="", unrealizedPL="0")]).unrealised == 5
    assert totals_of([usdt, account("BTC", "0.5", usdtEquity="", unrealizedPL="")]).unrealised == 5


def test_what_pools_have_free_is_not_known_where_one_does_not_say_it() -> None:
    silent = union("USDC", "0", unionTotalMargin="10", unionAvailable="", assetList=[{"coin": "BTC", "balance": "3"}])
    assert totals_of([union(), silent]).union_available is None
    assert totals_of([union()], undecodable_rows=1).union_available is None


def test_an_isolated_position_s_own_ratio_counts_and_a_crossed_one_s_is_the_account_s() -> None:
    ratios = (("crossed", "0.9"), ("isolated", "0.4"), ("isolated", None), ("ISOLATED", "0.1"))
    positions = [
        held(margin_mode=mode, margin_ratio=None if ratio is None else Decimal(ratio)) for mode, ratio in ratios
    ]
    assert totals_of([account(crossedRiskRate="0.01")], positions).worst_margin_ratio == Decimal("0.4")


def test_the_accounts_panel_shows_the_union_figures_first() -> None:
    rows = [ProductRow(ProductType.USDT_FUTURES, record) for record in (account(), union())]
    ids = [column.id for column in ACCOUNTS.default_columns(rows)]
    assert ids[:6] == ["marginCoin", "unionTotalMargin", "free", "freePart", "marginRatio", "unionMm"]
    assert ACCOUNTS.default_columns(rows[:1]) is ACCOUNTS.columns


def test_free_margin_is_in_usdt_and_a_part_of_the_equity_and_the_least_counts() -> None:
    coin = account("BTC", "0.5", usdtEquity="42000", crossedMaxAvailable="0.25")
    dollars = account(crossedMaxAvailable="265.1")
    assert (free_margin(coin), free_part(coin)) == (Decimal(21_000), Decimal("0.5"))
    assert (free_margin(union()), free_part(union())) == (Decimal(82_755), Decimal("0.9195"))
    assert free_part(account(equity="0", crossedMaxAvailable="0")) is None
    assert totals_of([coin, dollars, union()]).least_free == Decimal("0.2651")


def test_exposure_is_a_multiple_of_the_equity_and_unknown_where_a_value_is() -> None:
    long = held(size=Decimal(1), mark=Decimal(2500), unrealised=Decimal(-3))
    short = held(leg=PositionSide.SHORT, size=Decimal(2), mark=Decimal(250), unrealised=Decimal("1.5"))
    totals = totals_of([account()], [long, short])
    assert totals.exposure is not None
    assert (totals.exposure.gross, totals.exposure.net) == (Decimal(3000), Decimal(2000))
    assert totals.exposure_multiple == Decimal(3)
    assert (totals.open_profit, totals.open_profit_is_converted) == (Decimal("-1.5"), False)
    assert totals_of([account()], [long, held()]).exposure_multiple is None
    below_zero = totals_of([account()], [long, replace(short, size=Decimal("-4.2"))])
    assert below_zero.exposure is not None
    assert (below_zero.exposure.short, below_zero.exposure.unknown) == (Decimal(0), 1)
    assert below_zero.exposure_multiple is None
    assert totals_of([account(equity="-1")], [long]).exposure_multiple is None


def test_the_totals_of_the_accounts_count_a_pool_of_assets_once() -> None:
    rows = [ProductRow(ProductType.USDT_FUTURES, record) for record in (account(), union(), union("BTC"))]
    assert ACCOUNTS.view.footer is not None
    totals = ACCOUNTS.view.footer(rows, DEFAULT_FORMAT).totals
    assert totals["marginCoin"][0] == "3"
    assert totals["usdtEquity"][0] == "91,000.00"
    assert totals["unrealizedPL"][0] == "0.00"
    coin = ProductRow(ProductType.COIN_FUTURES, account("BTC", "2", usdtEquity="168000", unrealizedPL="0.01"))
    assert ACCOUNTS.view.footer([*rows, coin], DEFAULT_FORMAT).totals["unrealizedPL"][0] == "~+840.00"
