"""Pages of a book that changes while it is read: every row that stays comes once, however it is cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sandbox.signed_requests import DAY_MS, NOW_MS, Answered, Caller
from tradetui.sandbox.handlers.reads import PAGED_ROWS
from tradetui.sandbox.handlers.rules import RULES

PAGED_READS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "spot.fills": ("hedge", {}),
    "broker.transfers": ("broker", {"startTime": NOW_MS - DAY_MS, "endTime": NOW_MS}),
    "futures.triggers": ("hedge", {"productType": "USDT-FUTURES", "planType": "normal_plan"}),
    "convert.history": ("hedge", {"startTime": NOW_MS - DAY_MS, "endTime": NOW_MS}),
    "spot.bills": ("hedge", {}),
    "futures.pending_orders": ("hedge", {"productType": "USDT-FUTURES"}),
    "futures.fills": ("hedge", {"productType": "USDT-FUTURES"}),
    "futures.closed_positions": ("hedge", {"productType": "USDT-FUTURES"}),
    "futures.bills": ("hedge", {"productType": "USDT-FUTURES"}),
    "futures.live_triggers": ("hedge", {"productType": "USDT-FUTURES", "planType": "normal_plan"}),
}
CHANGES = st.lists(st.tuples(st.sampled_from(["in", "out", "stay"]), st.integers(0, 60)), max_size=12)


@cache
def _live() -> Caller:
    return Caller(dialect="live")


class Shelf:
    """A caller whose world holds one book of made-up rows in place of its own."""

    def __init__(self, name: str, rows: int) -> None:
        self.name = name
        self.book = PAGED_ROWS[name]
        self.ids = list(range(1_000 + rows, 1_000, -1))
        account, self.parameters = PAGED_READS[name]
        self.account = account
        self.caller = _live()
        self.caller.sandbox.exchange_state.rows = self._rows  # type: ignore[method-assign]

    def _rows(self, uid: str, name: str, product_type: str | None = None) -> Sequence[dict[str, Any]]:
        template: dict[str, Any] = {
            "planType": "normal_plan",
            "planStatus": "executed",
            "status": "live",
            "type": "deposit",
            "businessType": "buy",
            "balanceAfter": "1",
            "enterPointSource": "API",
            "totalProfits": "",
            "feeDetail": [],
        }
        template[self.book.time_field] = str(NOW_MS - 5)
        return [{**template, self.book.id_field: str(number)} for number in self.ids]

    def read(self, **more: Any) -> Answered:
        return self.caller.get(self.name, self.account, **{**self.parameters, **more})

    def ids_in(self, answer: Answered) -> list[int]:
        return [int(row[self.book.id_field]) for row in answer.rows]


def change(shelf: Shelf, kind: str, index: int) -> None:
    if kind == "in":
        shelf.ids.insert(0, shelf.ids[0] + 1 if shelf.ids else 2_000)
    elif kind == "out" and shelf.ids:
        shelf.ids.pop(index % len(shelf.ids))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(PAGED_READS)), st.integers(0, 60), st.integers(1, 20), CHANGES)
def test_what_stays_is_read_once(name: str, rows: int, limit: int, changes: list[tuple[str, int]]) -> None:
    shelf = Shelf(name, rows)
    at_first, gone, paged = set(shelf.ids), set(), []
    cursor: dict[str, Any] = {}
    while page := shelf.ids_in(shelf.read(limit=limit, **cursor)):
        assert len(page) <= limit
        paged += page
        cursor = {"idLessThan": page[-1]}
        before = set(shelf.ids)
        if changes:
            change(shelf, *changes.pop())
        gone |= before - set(shelf.ids)
    assert len(set(paged)) == len(paged)
    assert paged == sorted(paged, reverse=True)
    assert at_first - gone <= set(paged) <= at_first


@pytest.mark.parametrize("name", PAGED_READS)
def test_default_and_greatest_page(name: str) -> None:
    shelf = Shelf(name, 700)
    paging = RULES[name].paging
    assert paging is not None
    assert len(shelf.read().rows) == paging.default
    assert len(shelf.read(limit=paging.maximum).rows) == paging.maximum
    beyond = shelf.read(limit=paging.maximum + 1)
    assert len(beyond.rows) == paging.maximum if paging.capped else beyond.code == "40058"


@pytest.mark.parametrize("name", [name for name in PAGED_READS if PAGED_ROWS[name].list_key])
def test_end_id_takes_one_to_the_next_page(name: str) -> None:
    shelf = Shelf(name, 9)
    first = shelf.read(limit=5)
    if name == "futures.live_triggers":
        assert "endId" not in first.data, "the live exchange leaves it out"
    else:
        assert first.data["endId"] == str(shelf.ids[4])
        assert shelf.ids_in(shelf.read(limit=5, idLessThan=first.data["endId"])) == shelf.ids[5:]
    assert shelf.read(idLessThan=shelf.ids[-1]).data == {PAGED_ROWS[name].list_key: None, "endId": None}


def test_one_is_the_first_page_of_transfers_and_of_nothing_else() -> None:
    for name in PAGED_READS:
        shelf = Shelf(name, 3)
        assert shelf.ids_in(shelf.read(idLessThan=1)) == (shelf.ids if name == "broker.transfers" else []), name


@pytest.mark.parametrize("cursor", ["abc", "-1", "1.5", "9" * 20, "9" * 9_000, "١٢٣"])
def test_a_cursor_that_is_no_id(cursor: str) -> None:
    for name in PAGED_READS:
        assert Shelf(name, 3).read(idLessThan=cursor).code == "40020", name


@pytest.mark.parametrize("name", PAGED_READS)
def test_books_are_newest_first_which_a_read_with_a_start_relies_on(name: str) -> None:
    caller, (account, parameters) = Caller(), PAGED_READS[name]
    for _ in range(20):
        caller.sandbox.exchange_state.advance(caller.sandbox.exchange_state.now_ms + 60_000)
    book = PAGED_ROWS[name]
    rows = caller.sandbox.exchange_state.rows(caller.key(account).uid, book.name, parameters.get("productType", ""))
    times = [row[book.time_field] for row in rows]
    assert len(times) > 1 and {len(time) for time in times} == {13}
    assert times == sorted(times, reverse=True)
