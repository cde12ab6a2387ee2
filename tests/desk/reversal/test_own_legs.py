"""Fills of our own order that no leg of it can have made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.trading.position_fills import fill, position
from tests.trading.test_reversal import legs, plan
from tradetui.desk.reversal.tracking.own_legs import contradiction
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
    assert bool(contradiction(LONG_REVERSED, [own_fill], [SUMMED])) is contradicts
    assert not contradiction(LONG_REVERSED, [own_fill], [REPORTED]), "what is reported needs no fills"
