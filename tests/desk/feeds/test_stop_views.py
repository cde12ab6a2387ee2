"""The stops as a panel shows them: the waiting ones first, then those that ended."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from tests.desk.fixtures.exchange_rows import trigger
from tradetui.desk.feeds.polling.feed import Snapshot
from tradetui.desk.feeds.triggers import Stops, StopViews
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.table import TABLES
from tradetui.wire.models.futures import TriggerOrder
from tradetui.wire.product_types import ProductType


def row(number: int, status: str) -> ProductRow[TriggerOrder]:
    return ProductRow(ProductType.USDT_FUTURES, trigger(number, status))


def ended(*numbers: int, generation: int = 1) -> Stops:
    rows = tuple(row(number, "executed") for number in numbers)
    return replace(Snapshot.of(rows, generation), read_at=1.0)


def shown(stops: Stops) -> list[str | None]:
    return [f"{row.record.order_id[-1]} {row.record.plan_status}" for row in stops.rows]


def test_those_that_wait_come_before_those_that_ended() -> None:
    views = StopViews()
    views.update(ended(5, 4), (row(3, "live"), row(1, "live")))
    assert shown(views.all) == ["3 live", "1 live", "5 executed", "4 executed"]
    assert shown(views.waiting) == ["3 live", "1 live"]
    assert [views.all.index_of(key) for key in views.all.row_ids] == [0, 1, 2, 3]


def test_one_that_just_ended_is_shown_once_and_keeps_its_key() -> None:
    views = StopViews()
    waiting = row(3, "live")
    views.update(ended(2), (waiting,))
    views.update(ended(3, 2, generation=2), (waiting,))
    assert shown(views.all) == ["3 executed", "2 executed"]
    assert views.all.index_of(waiting.row_id) == 0


def test_rows_that_stand_still_change_nothing_but_their_age() -> None:
    views, history, waiting = StopViews(), ended(2), (row(3, "live"),)
    views.update(history, waiting)
    before = views.all
    views.update(replace(history, read_at=9.0), (row(3, "live"),))
    assert views.all.rows is before.rows
    assert (views.all.generation, views.all.read_at, views.waiting.read_at) == (before.generation, 9.0, 9.0)


def test_those_that_wait_say_how_far_the_mark_is_from_them() -> None:
    views = StopViews(lambda *_: Decimal(100))
    views.update(ended(2), (row(3, "live"),))
    away = next(column for column in TABLES["triggers"].columns if column.id == "away")
    assert [away.cell(stop, DEFAULT_FORMAT)[0] for stop in views.all.rows] == ["+10.00", "—"]


def test_a_mark_that_moved_makes_new_rows_of_those_that_wait() -> None:
    mark = Decimal(100)
    views = StopViews(lambda *_: mark)
    history, waiting = ended(2), (row(3, "live"),)
    views.update(history, waiting)
    before = views.all
    mark = Decimal(105)
    views.update(history, waiting)
    assert views.all.generation == before.generation + 1
    assert views.all.rows[1:] == before.rows[1:]
    assert views.all.rows[0] != before.rows[0]
