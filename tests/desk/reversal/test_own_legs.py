"""Fills of our own order that no leg of it can have made."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from tests.trading.position_fills import START_MS, fill, position
from tests.trading.test_reversal import legs, plan
from tradetui.desk.reversal.tracking.own_legs import contradiction
from tradetui.trading.holdings import Net
from tradetui.trading.positions import FromFills
from tradetui.wire.models.futures import FuturesFill

LONG_REVERSED = plan(legs("20", "5"), "buy", "3")
REPORTED = position("long", "20")
SUMMED = replace(REPORTED, source=FromFills(proven_flat=True))


@pytest.mark.parametrize(
    ("own_fill", "contradicts"),
    [
        (fill("buy", "close", "3"), False),
        (fill("sell", "open", "3"), False),
        (fill("sell", "close", "3"), True),
        (fill("buy", "open", "3"), True),
        (fill("sell", "burst_close_short", "3"), False),
        (fill("sell", "offset_close_short", "3"), False),
        (fill("sell", "sideways", "3"), False),
        (fill("buy", "buy_single", "3", mode="one_way_mode"), False),
    ],
)
def test_a_fill_that_is_neither_leg_of_its_order_leaves_sums_of_fills_untold(
    own_fill: FuturesFill, contradicts: bool
) -> None:
    assert bool(contradiction(LONG_REVERSED, [own_fill], (), [SUMMED])) is contradicts
    assert not contradiction(LONG_REVERSED, [own_fill], (), [REPORTED]), "what is reported needs no fills"


@pytest.mark.parametrize(
    ("prices", "contradicts"),
    [
        (("100", "100", "101"), False),
        (("100", "100", "101", "101"), False),
        (("100", "100", "101", "101", "102", "102", "103", "103"), True),
    ],
    ids=["a part, of which as much as it closes is unlike", "all of it", "each twice"],
)
def test_fills_of_a_part_that_are_alike_are_no_fill_under_two_ids(prices: tuple[str, ...], contradicts: bool) -> None:
    sold = [
        fill("sell", "sell_single", "5", price, mode="one_way_mode", at=START_MS).model_copy(update={"order_id": "o"})
        for price in prices
    ]
    assert bool(contradiction(plan(Net(Decimal(10))), sold, (), [SUMMED])) is contradicts


@pytest.mark.parametrize(
    ("closing", "opening", "contradicts"),
    [
        (("20", "20"), ("20", "20"), True),
        (("20",), ("20",), False),
        (("20",), ("20", "20"), False),
        (("10", "10"), ("10", "10"), False),
    ],
    ids=["each comes twice", "each once", "ours once", "two equal fills each"],
)
def test_fills_of_both_orders_of_a_one_way_reversal_that_come_twice_do_not_show_what_is_held(
    closing: tuple[str, ...], opening: tuple[str, ...], contradicts: bool
) -> None:
    one = fill("sell", "sell_single", "20", mode="one_way_mode")
    ours, theirs = (
        [
            one.model_copy(
                update={"order_id": order_id, "trade_id": f"{order_id}{number}", "base_volume": Decimal(size)}
            )
            for number, size in enumerate(sizes)
        ]
        for order_id, sizes in (("ours", closing), ("theirs", opening))
    )
    assert bool(contradiction(plan(Net(Decimal(20))), ours, theirs, [SUMMED])) is contradicts
