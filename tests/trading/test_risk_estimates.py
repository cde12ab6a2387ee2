"""Liquidation prices by hand: at the price that the formula gives, what stands behind it is what is to be kept."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tradetui.sandbox.books.futures_account import FuturesBook, Holding
from tradetui.sandbox.books.margin import liquidation_price, risk_rate
from tradetui.sandbox.books.market import CONTRACTS, MAINTENANCE
from tradetui.sandbox.books.numbers import Identifiers
from tradetui.trading.estimates.reversal_estimates import (
    Leg,
    LegCounting,
    MarginedContract,
    best_meeting,
    counted_size,
    nearest_to,
)

PRICES = st.decimals(min_value="0.01", max_value="100000", places=2)
SIZES = st.decimals(min_value="0.001", max_value="1000", places=3)
LEGS = st.builds(Leg, st.booleans(), SIZES, PRICES)


@given(
    legs=st.lists(LEGS, min_size=1, max_size=2, unique_by=lambda leg: leg.is_long),
    mark=PRICES,
    backing=st.decimals(min_value="0.01", max_value="1000000", places=2),
    elsewhere=st.decimals(min_value="0", max_value="10000", places=2),
    rate=st.decimals(min_value="0.001", max_value="0.1", places=3),
    inverse=st.booleans(),
    counting=st.sampled_from(LegCounting),
)
def test_at_the_liquidation_price_the_backing_equals_maintenance(
    legs: list[Leg],
    mark: Decimal,
    backing: Decimal,
    elsewhere: Decimal,
    rate: Decimal,
    inverse: bool,
    counting: LegCounting,
) -> None:
    contract = MarginedContract(tuple(legs), mark, backing, elsewhere, rate, inverse, counting)
    price = contract.liquidation_price()
    assume(price is not None)
    assert price is not None and 0 < price <= mark * 100
    kept = elsewhere + contract.maintenance_at(price)
    scale = max(abs(leg.signed * leg.entry) / (price if inverse else 1) for leg in legs) + kept + backing
    assert abs(contract.backing_at(price) - kept) <= scale * Decimal("1e-20")


@given(legs=st.lists(LEGS, max_size=2, unique_by=lambda leg: leg.is_long))
def test_both_legs_count_at_least_as_much_as_the_larger_one(legs: list[Leg]) -> None:
    larger, both = (counted_size(legs, counting) for counting in LegCounting)
    assert larger <= both <= larger * 2


@given(
    sizes=st.tuples(SIZES, SIZES),
    entries=st.tuples(PRICES, PRICES),
    mark=PRICES,
    balance=st.decimals(min_value="1000", max_value="1000000", places=2),
    symbol=st.sampled_from(["BTCUSDT", "BTCUSD"]),
)
def test_the_embedded_exchange_gives_the_same_price_by_code_of_its_own(
    sizes: tuple[Decimal, Decimal],
    entries: tuple[Decimal, Decimal],
    mark: Decimal,
    balance: Decimal,
    symbol: str,
) -> None:
    spec = CONTRACTS[symbol]
    book = FuturesBook(spec.product_type, "hedge_mode", {spec.margin_coin: balance}, Identifiers())
    for leg, size, entry in zip(("long", "short"), sizes, entries, strict=True):
        book.holdings[symbol, leg] = Holding(spec, leg, size, entry, 10, 0, 0)
    marks = {symbol: mark}
    backing = balance + book.unrealised(spec.margin_coin, marks)
    legs = (Leg(True, sizes[0], entries[0]), Leg(False, sizes[1], entries[1]))
    contract = MarginedContract(legs, mark, backing, Decimal(0), MAINTENANCE, spec.inverse, LegCounting.BOTH_LEGS)
    theirs = liquidation_price(book, book.holdings[symbol, "long"], marks)
    ours = contract.liquidation_price()
    if ours is None:
        assert theirs is None or theirs <= 0 or theirs > mark * 100
    else:
        assert theirs is not None and abs(ours - theirs) <= ours * Decimal("1e-15")
    if contract.ratio is not None:
        assert abs(contract.ratio - risk_rate(book, spec.margin_coin, marks)) <= contract.ratio * Decimal("1e-15")


@pytest.mark.parametrize(
    ("estimates", "reported", "met"),
    [
        (["101"], "100", [0]),
        (["99"], "100", [0]),
        (["101.01"], "100", []),
        ([None], None, [0]),
        ([None], "100", []),
        (["100"], None, []),
        (["100.5", "100.49"], "100", [0, 1]),
        (["100.5", "100.1"], "100", [1]),
        ([], "100", []),
    ],
)
def test_formulas_are_kept_that_meet_the_reported_price_and_of_those_the_best(
    estimates: list[str | None], reported: str | None, met: list[int]
) -> None:
    prices = [None if estimate is None else Decimal(estimate) for estimate in estimates]
    assert best_meeting(prices, None if reported is None else Decimal(reported)) == met


def test_of_several_prices_the_nearest_to_the_mark_is_the_careful_one() -> None:
    assert nearest_to(Decimal(100), [Decimal(40), None, Decimal(60)]) == Decimal(60)
    assert nearest_to(Decimal(100), [None]) is None
