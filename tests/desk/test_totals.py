"""The header's figures: equity, profit and margin ratio of accounts with one asset and with several."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from tradetui.desk.tables.account_totals import Totals, totals_of
from tradetui.desk.tables.product_row import ProductRow
from tradetui.desk.tables.table import ACCOUNTS
from tradetui.wire.models.futures import FuturesAccount
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
    totals = totals_of([union(assetMode=word, crossedRiskRate="0.3")])
    assert totals.equity == Decimal(-4767)
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
    assert totals_of([]) == Totals()
    totals = totals_of([union(unionTotalMargin="", unionAvailable="", unionMm="")])
    assert (totals.equity, totals.union_available, totals.worst_margin_ratio) == (None, None, None)
    assert totals.has_union


def test_an_isolated_position_s_own_ratio_counts_and_a_crossed_one_s_is_the_account_s() -> None:
    positions: Any = [
        SimpleNamespace(margin_mode="crossed", margin_ratio=Decimal("0.9")),
        SimpleNamespace(margin_mode="isolated", margin_ratio=Decimal("0.4")),
        SimpleNamespace(margin_mode="isolated", margin_ratio=None),
        SimpleNamespace(margin_mode="ISOLATED", margin_ratio=Decimal("0.1")),
    ]
    assert totals_of([account(crossedRiskRate="0.01")], positions).worst_margin_ratio == Decimal("0.4")


def test_the_accounts_panel_shows_the_union_figures_first() -> None:
    rows = [ProductRow(ProductType.USDT_FUTURES, record) for record in (account(), union())]
    ids = [column.id for column in ACCOUNTS.default_columns(rows)]
    assert ids[:6] == ["productType", "marginCoin", "unionTotalMargin", "unionAvailable", "marginRatio", "unionMm"]
    assert ACCOUNTS.default_columns(rows[:1]) is ACCOUNTS.columns
