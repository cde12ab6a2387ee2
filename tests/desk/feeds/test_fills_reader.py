"""One row an order: what its fills come to, kept as fills come in one by one."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.desk.fixtures.exchange_rows import fill
from tradetui.desk.feeds.fills import fills_reader
from tradetui.desk.feeds.fills.fills_reader import FilledOrders
from tradetui.desk.feeds.polling.feed import Snapshot
from tradetui.desk.tables.rows.filled_order import FilledOrder, fill_by_fill
from tradetui.desk.tables.rows.product_row import ProductRow, newest_first
from tradetui.desk.tables.rows.row_source import MemoryRows
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType


def row(number: int, **fields: str) -> ProductRow[FuturesFill]:
    return ProductRow(ProductType.USDT_FUTURES, fill(number, None, **fields))


def snapshot(*rows: ProductRow[FuturesFill]) -> Snapshot[ProductRow[FuturesFill]]:
    return replace(Snapshot.of(tuple(newest_first(rows)), generation=0), read_at=1.0)


def grouped(*rows: ProductRow[FuturesFill]) -> tuple[FilledOrder, ...]:
    orders = FilledOrders()
    orders.update(snapshot(*rows))
    return orders.snapshot.rows


def test_an_orders_fills_are_one_row_of_their_sums_and_of_their_average_price() -> None:
    first = row(1, orderId="7", price="100", baseVolume="1", profit="5", quoteVolume="100", tradeScope="maker")
    last = row(2, orderId="7", price="103", baseVolume="2", profit="-1.5", quoteVolume="206")
    (order,) = grouped(first, last)
    total = order.record
    assert (total.base_volume, total.price, total.profit, total.quote_volume) == (
        Decimal(3),
        Decimal(102),
        Decimal("3.5"),
        Decimal(306),
    )
    assert total.c_time == last.record.c_time
    assert total.trade_scope == "several"
    assert [fee.total_fee for fee in total.fee_detail] == [Decimal("-0.06")] * 2
    assert order.fills == (last, first)


def test_the_order_that_filled_last_comes_first_and_one_fill_is_an_order_too() -> None:
    orders = grouped(row(1, orderId="a"), row(2, orderId="b"), row(3, orderId="a"), row(4, orderId=""))
    assert [order.record.order_id for order in orders] == [None, "a", "b"]
    assert len({order.row_id for order in orders}) == 3


def test_what_closed_and_what_opened_under_one_order_are_two_rows() -> None:
    closed, opened = row(1, orderId="7", tradeSide="close"), row(2, orderId="7", side="sell")
    assert len(grouped(closed, opened)) == 2


def test_a_fill_that_comes_again_under_another_order_leaves_the_one_it_was_counted_in() -> None:
    orders = FilledOrders()
    orders.update(snapshot(row(1, orderId="a"), row(2, orderId="a")))
    orders.update(snapshot(row(1, orderId="a"), row(2, orderId="b")))
    assert [(order.record.order_id, order.record.base_volume) for order in orders.snapshot.rows] == [
        ("b", Decimal(1)),
        ("a", Decimal(1)),
    ]


def test_an_amount_that_one_fill_does_not_give_is_not_summed() -> None:
    (order,) = grouped(row(1, orderId="7", profit="3"), row(2, orderId="7", profit=""))
    assert order.record.profit is None


def test_one_new_fill_makes_one_row_anew_and_leaves_every_other_as_it_was() -> None:
    rows = [row(number, orderId=str(number // 2)) for number in range(300)]
    orders = FilledOrders()
    orders.update(snapshot(*rows))
    before = orders.snapshot
    orders.update(snapshot(*rows, row(300, orderId="149")))
    after = orders.snapshot
    assert after.generation == before.generation + 1
    assert [new is old for new, old in zip(after.rows, before.rows, strict=True)] == [False, *[True] * 149]
    assert len(after.rows[0].fills) == 3


def test_rows_that_stand_still_change_nothing_but_their_age() -> None:
    orders, fills = FilledOrders(), snapshot(row(1))
    orders.update(fills)
    before = orders.snapshot
    orders.update(Snapshot(fills.rows, fills.row_ids, read_at=9.0, index=fills.index))
    assert orders.snapshot.rows is before.rows
    assert (orders.snapshot.generation, orders.snapshot.read_at) == (before.generation, 9.0)


def test_fills_that_the_feed_let_go_of_stay_with_their_order() -> None:
    orders = FilledOrders()
    orders.update(snapshot(row(1, orderId="7"), row(2, orderId="8"), row(3, orderId="7")))
    orders.update(snapshot(row(3, orderId="7"), row(4, orderId="9")))
    assert [len(order.fills) for order in orders.snapshot.rows] == [1, 2]


@pytest.mark.parametrize(("kept", "unknown"), [(3, [False, True]), (4, [False, False])])
def test_the_order_at_the_end_of_what_is_kept_may_have_older_fills(
    kept: int, unknown: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fills_reader, "KEPT", kept)
    orders = grouped(row(1, orderId="7"), row(2, orderId="7"), row(3, orderId="8"))
    assert [order.older_unknown for order in orders] == unknown


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 6)), unique_by=lambda pair: pair[0]), st.data())
def test_fills_that_come_one_by_one_give_what_they_give_together(
    numbered: list[tuple[int, int]], data: st.DataObject
) -> None:
    rows = [row(number, orderId=str(order), price=str(90 + number)) for number, order in numbered]
    orders, taken = FilledOrders(), list[ProductRow[FuturesFill]]()
    for fill_row in data.draw(st.permutations(rows)):
        taken.append(fill_row)
        orders.update(snapshot(*taken))
    assert orders.snapshot.rows == grouped(*rows)
    assert sum((order.record.base_volume for order in orders.snapshot.rows), Decimal(0)) == len(rows)


def test_orders_are_exported_fill_by_fill() -> None:
    rows = [row(number, orderId=str(number // 2)) for number in range(4)]
    orders = grouped(*rows)
    exported = fill_by_fill(MemoryRows(orders, [order.row_id for order in orders], 1))
    assert [exported.row(index) for index in range(exported.count)] == rows[::-1]
    plain = MemoryRows(rows, [row.row_id for row in rows], 1)
    assert fill_by_fill(plain) is plain
