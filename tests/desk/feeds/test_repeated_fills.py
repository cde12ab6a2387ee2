"""Fills that both interfaces of a moved account report: each counts once, whatever ids they have."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.unified_rows import UNIFIED_FILL
from tradetui.desk.feeds.fills.repeated_fills import without_repeated_fills
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.wire.classic_rows import classic_fill
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import ORIGINAL

Row = ProductRow[FuturesFill]


def of_v3(exec_id: str, paid: int | None = 1, **changes: Any) -> Row:
    converted = classic_fill({**UNIFIED_FILL, "execId": exec_id, **changes}, "hedge_mode", paid)
    return ProductRow(ProductType.USDT_FUTURES, FuturesFill.from_row(converted))


def of_v2(trade_id: str, **changes: Any) -> Row:
    received = {name: value for name, value in of_v3(trade_id, **changes).received.items() if name != ORIGINAL}
    return ProductRow(ProductType.USDT_FUTURES, FuturesFill.from_row(received))


def ids(rows: list[Row]) -> list[str]:
    return [row.record.trade_id for row in rows]


@pytest.mark.parametrize(("arrived", "counted"), [(of_v3, of_v2), (of_v2, of_v3)])
def test_a_fill_of_the_other_interface_counts_once_under_the_same_id_or_another(arrived: Any, counted: Any) -> None:
    for trade_id in ("1", "2"):
        assert without_repeated_fills([arrived("1")], [counted(trade_id)]) == []
    later = arrived("2", createdTime="1780000000401")
    for other in (
        later,
        arrived("2", execPrice="181.03"),
        arrived("2", execQty="2.4"),
        arrived("2", symbol="ETHUSDT"),
    ):
        assert without_repeated_fills([other], [counted("1")]) == [other]


def test_of_equal_fills_as_many_count_as_either_interface_reports() -> None:
    arrived = [of_v3("7"), of_v3("8"), of_v3("9")]
    kept = without_repeated_fills(arrived, [of_v2("1"), of_v2("2")])
    assert ids(kept) == ["9"]
    assert ids(without_repeated_fills(arrived, [of_v2("1"), of_v2("2"), *kept])) == ["9"], "read again"
    assert ids(without_repeated_fills(arrived, [of_v2("1"), of_v2("8")])) == ["9"], "one by its id"
    assert ids(without_repeated_fills([of_v3("7"), of_v3("7")], [of_v2("1"), of_v2("2")])) == [], "twice in one batch"


@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), max_size=8))
def test_the_union_has_the_larger_number_of_each(reported_by_v2: list[int], reported_by_v3: list[int]) -> None:
    def rows(make: Any, first_id: int, prices: list[int]) -> list[Row]:
        return [make(str(first_id + number), execPrice=f"18{price}") for number, price in enumerate(prices)]

    counted, arrived = rows(of_v2, 100, reported_by_v2), rows(of_v3, 200, reported_by_v3)
    union = [*counted, *without_repeated_fills(arrived, counted)]
    for price in range(4):
        count = sum(row.record.price == 180 + price for row in union)
        assert count == max(reported_by_v2.count(price), reported_by_v3.count(price))


def test_a_known_fee_is_not_lost_to_a_reply_that_does_not_tell_its_sign() -> None:
    known, without_fee = of_v3("1"), of_v3("1", paid=None)
    assert without_repeated_fills([without_fee], [known]) == []
    assert without_repeated_fills([known], [without_fee]) == [known]
    corrected = of_v3("1", paid=None, execPnl="7.5")
    assert without_repeated_fills([corrected], [known]) == [corrected]


def test_of_an_account_that_was_never_moved_every_row_is_kept() -> None:
    rows = [of_v2("1"), of_v2("2")]
    assert without_repeated_fills(rows, [of_v2("1")]) == rows
