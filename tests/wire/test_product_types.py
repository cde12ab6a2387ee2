"""Product types and their margin coins."""

from __future__ import annotations

import pytest

from tradetui.wire.product_types import ProductType, margin_coin


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
