"""Figures as they are shown: rounded for the eye by their unit, and exact wherever they are used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradetui.desk.tables.cells.cell_format import (
    DEFAULT_FORMAT,
    CellFormat,
    Precision,
    SeenPrecisions,
    coin_places,
    number,
)
from tradetui.desk.tables.cells.column import Column, fee, money, money_column, percent_column, price, size
from tradetui.wire.decimal_text import trimmed_digits

AMOUNTS = st.decimals(allow_nan=False, allow_infinity=False, places=10, min_value=-(10**9), max_value=10**9)
BITCOIN = CellFormat(UTC, {"BTCUSDT": Precision(1, 4)}, coin_places={"BTC": 7})
EXACT = CellFormat(UTC, {"BTCUSDT": Precision(1, 4)}, exact=True, coin_places={"BTC": 7})


@dataclass(frozen=True)
class Amount:
    value: Decimal
    coin: str = "USDT"


MONEY: Column[Amount] = money_column("amount", "Amount", 12, lambda row: row.value, lambda row: row.coin, profit=True)
PART: Column[Amount] = percent_column("part", "Part %", 8, lambda row: row.value, signed=True, unit="of the whole")


def read(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


@given(AMOUNTS, st.sampled_from(["USDT", "usdc", "BTC", "XYZ"]))
def test_money_is_within_half_of_its_last_place_and_nothing_is_never_shown_for_something(
    amount: Decimal, coin: str
) -> None:
    shown = money(amount, coin, BITCOIN, signed=True)
    if "<" in shown:
        sign, _, bound = shown.rpartition("<")
        assert sign == ("-" if amount < 0 else "+")
        assert 0 < abs(amount) <= read(bound) / 2
        return
    places = len(shown.partition(".")[2])
    assert places == {"USDT": 2, "usdc": 2, "BTC": 7}.get(coin, places)
    assert 2 <= places <= 8
    assert abs(read(shown) - amount) <= Decimal(5).scaleb(-places - 1)
    assert (read(shown) == 0) == (amount == 0)


@given(AMOUNTS)
def test_a_size_is_never_rounded_and_has_the_places_of_its_contract_at_least(amount: Decimal) -> None:
    amount = amount.normalize()
    shown = size(amount, "BTCUSDT", BITCOIN)
    assert read(shown) == amount
    assert len(shown.partition(".")[2]) >= 4


@given(AMOUNTS)
def test_what_is_copied_exported_and_sorted_by_keeps_every_digit(amount: Decimal) -> None:
    row = Amount(amount)
    for column in (MONEY, PART):
        assert column.value(row) is column.sort_key(row) is amount
        assert column.exact(row, BITCOIN) == column.exact(row, EXACT) == trimmed_digits(amount)


@pytest.mark.parametrize(
    ("amount", "coin", "shown"),
    [
        ("-1753.214", "USDT", "-1,753.21"),
        ("0.004", "USDT", "+<0.01"),
        ("-0.004", "USDC", "-<0.01"),
        ("0", "USDT", "0.00"),
        ("0.0894", "BTC", "+0.0894000"),
        ("2", "BGB", "+2.0000"),
        ("2.123456789", "BGB", "+2.12345679"),
    ],
)
def test_money_in_dollars_has_two_places_and_another_coins_are_by_its_worth(amount: str, coin: str, shown: str) -> None:
    assert money(Decimal(amount), coin, BITCOIN, signed=True) == shown


def test_a_fee_in_dollars_has_four_places() -> None:
    assert fee(Decimal("-10.22871"), "USDT", DEFAULT_FORMAT) == "-10.2287"
    assert fee(Decimal("-0.00002"), "USDT", DEFAULT_FORMAT) == "-<0.0001"
    assert fee(None, None, DEFAULT_FORMAT) == "—"


def test_a_price_has_its_contracts_places_and_its_own_where_those_are_not_known() -> None:
    assert price(Decimal("84168.4"), "btcusdt", BITCOIN) == "84,168.4"
    assert price(Decimal(84168), "BTCUSDT", BITCOIN) == "84,168.0"
    assert price(Decimal("0.15800"), "DOGEUSDT", BITCOIN) == "0.15800"


def test_exact_figures_have_every_digit() -> None:
    row = Amount(Decimal("1234.56789"))
    assert MONEY.cell(row, EXACT)[0] == "+1,234.56789"
    assert PART.cell(row, EXACT)[0] == "+123,456.789"
    assert price(Decimal("84168.44"), "BTCUSDT", EXACT) == "84,168.44"
    assert fee(Decimal("-0.00002"), "USDT", EXACT) == "-0.00002"


@pytest.mark.parametrize(
    ("worth", "places"), [("84197", 7), ("2944.38", 6), ("1234567", 8), ("0.15", 4), ("0.00001", 4)]
)
def test_the_last_place_of_a_coins_money_is_worth_about_a_cent(worth: str, places: int) -> None:
    assert coin_places(Decimal(worth)) == places
    assert Decimal(worth).scaleb(-places) < Decimal("0.1")


def test_decimals_of_a_symbol_are_the_most_that_were_met() -> None:
    precisions = SeenPrecisions()
    assert precisions.see([("btcusdt", Decimal("84168.4"), Decimal("0.12")), ("BTCUSDT", Decimal("84168.45"), None)])
    assert precisions.by_symbol == {"BTCUSDT": Precision(2, 2)}
    before = precisions.by_symbol
    assert not precisions.see([("BTCUSDT", Decimal(84168), Decimal("0.1"))])
    assert precisions.by_symbol is before
    assert not precisions.see([("ETHUSDT", Decimal("2945.3"), None)], known={"ETHUSDT"})


def test_a_figure_with_more_decimals_than_any_contract_teaches_nothing() -> None:
    precisions = SeenPrecisions()
    assert not precisions.see([("BTCUSDT", Decimal("1E-400"), Decimal("0." + "0" * 400))])
    assert precisions.see([("BTCUSDT", Decimal("84168.4"), Decimal("1E-400"))])
    assert precisions.by_symbol == {"BTCUSDT": Precision(1, None)}


@given(st.integers(-70, 70), st.integers(0, 10_000))
def test_a_number_of_any_places_is_text(exponent: int, places: int) -> None:
    assert number(Decimal((0, (3,), exponent)), places=places)
