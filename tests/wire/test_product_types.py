"""Product types and their margin coins."""

from __future__ import annotations

import pytest

from tradetui.wire.product_types import ProductType, margin_coin, may_trade


@pytest.mark.parametrize(
    ("kind", "symbol", "coin"),
    [
        ("USDT-FUTURES", "BTCUSDT", "USDT"),
        ("usdc-futures", "ETHPERP", "USDC"),
        ("COIN-FUTURES", "BTCUSD", "BTC"),
        ("COIN-FUTURES", "ethusd_250627", "ETH"),
        ("COIN-FUTURES", "BTCUSDH26", "BTC"),
        ("COIN-FUTURES", "USD", None),
        ("COIN-FUTURES", "BTC", None),
        ("SUSDT-FUTURES", "SBTCSUSDT", "SUSDT"),
        ("SUSDT-FUTURES", "BTCUSDT", "USDT"),
        ("SCOIN-FUTURES", "SBTCSUSD", "SBTC"),
        ("SCOIN-FUTURES", "BTCUSD", "BTC"),
        ("SUSDC-FUTURES", "SBTCSPERP", "USDC"),
    ],
)
def test_margin_coin(kind: str, symbol: str, coin: str | None) -> None:
    assert margin_coin(ProductType.parse(kind), symbol) == coin


def test_demo_and_inverse() -> None:
    assert [kind for kind in ProductType if kind.is_demo] == ["SUSDT-FUTURES", "SCOIN-FUTURES", "SUSDC-FUTURES"]
    assert [kind for kind in ProductType if kind.is_coin_margined] == ["COIN-FUTURES", "SCOIN-FUTURES"]


def test_an_unknown_product_type_is_told_the_six() -> None:
    with pytest.raises(ValueError, match="USDT-FUTURES, COIN-FUTURES"):
        ProductType.parse("spot")


@pytest.mark.parametrize(
    ("symbol", "kinds"),
    [
        ("btcusdt", ("USDT-FUTURES", "SUSDT-FUTURES")),
        ("ETHPERP", ("USDC-FUTURES", "SUSDC-FUTURES")),
        ("BTCUSD", ("COIN-FUTURES", "SCOIN-FUTURES")),
        ("BTCUSDH27", ("COIN-FUTURES", "SCOIN-FUTURES")),
        ("ethusd_250627", ("COIN-FUTURES", "SCOIN-FUTURES")),
        ("BTCUSD_PERP", ("COIN-FUTURES", "SCOIN-FUTURES")),
        ("BTCUSDT_261225", tuple(ProductType)),
        ("BTCUSDTH27", tuple(ProductType)),
        ("USD", tuple(ProductType)),
        ("BTC", tuple(ProductType)),
    ],
)
def test_a_symbol_says_what_it_can_be_of_only_where_it_is_certain(symbol: str, kinds: tuple[str, ...]) -> None:
    assert {kind for kind in ProductType if may_trade(kind, symbol)} == set(kinds)
