"""All pages: no row lost or repeated while rows come in, spans the exchange allows, and always an end."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.exchange.scripted_exchange import (
    CREDENTIALS,
    START_MS,
    ArrivedRequest,
    NoBudget,
    Say,
    Scripted,
    StillClock,
    fill,
    in_turn,
    pending,
)
from tradetui.exchange import ExchangeReader, LoopClock, UnreadableReply
from tradetui.exchange.paging import REMEMBERED_ROWS, PageWalk
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.models.futures import FuturesFill, FuturesFillsRequest

DAY = 86_400_000
USDT = "USDT-FUTURES"


class Book:
    """Rows by an id that grows, newest first, paged as the interface says; rows may come in at every request."""

    def __init__(self, numbers: list[int], arriving: list[int] | None = None, with_end: bool = True) -> None:
        self.numbers = sorted(numbers, reverse=True)
        self.arriving = list(arriving or [])
        self.with_end = with_end
        self.calls = 0

    def page(self, request: ArrivedRequest, row: Any, id_name: str) -> tuple[list[Any], str | None]:
        self.calls += 1
        below = int(request.values["idLessThan"]) if "idLessThan" in request.values else None
        limit = int(request.values.get("limit", "100"))
        rows = [row(number) for number in self.numbers]
        rows = [row for row in rows if below is None or int(row[id_name]) < below][:limit]
        for _ in range(self.arriving.pop(0) if self.arriving else 0):
            self.numbers.insert(0, (self.numbers[0] if self.numbers else 0) + 1)
        return rows, rows[-1][id_name] if rows and self.with_end else None


def client_of(script: Any) -> tuple[ExchangeReader, Scripted]:
    app = Scripted(script)
    return ExchangeReader(CREDENTIALS, app=app, clock=StillClock(), budget=NoBudget(), random=random.Random(1)), app


async def ids(pages: AsyncIterator[Reply[Any]]) -> list[str]:
    return [getattr(row, "trade_id", row.row_id) async for page in pages for row in page.rows]


@given(
    count=st.integers(0, 60),
    limit=st.integers(1, 20),
    arriving=st.lists(st.integers(0, 3), max_size=30),
)
@settings(max_examples=60, deadline=None)
def test_every_row_that_was_there_comes_exactly_once(count: int, limit: int, arriving: list[int]) -> None:
    book = Book(list(range(count)), arriving)

    def script(request: ArrivedRequest) -> Say:
        rows, end = book.page(request, fill, "tradeId")
        return Say(data={"fillList": rows or None, "endId": end})

    async def run() -> list[str]:
        client, _ = client_of(script)
        return await ids(client.futures.iter_fills(product_type=USDT, limit=limit))

    rows = asyncio.run(run())
    assert rows == [fill(number)["tradeId"] for number in reversed(range(count))]


@given(count=st.integers(0, 40), limit=st.integers(1, 15), arriving=st.lists(st.integers(0, 2), max_size=10))
@settings(max_examples=40, deadline=None)
def test_lists_without_an_end_id_go_on_from_their_last_row(count: int, limit: int, arriving: list[int]) -> None:
    def row(number: int) -> dict[str, Any]:
        return {
            "cTime": str(START_MS),
            "coin": "USDT",
            "groupType": "transfer",
            "businessType": "x",
            "size": "1",
            "balance": "2",
            "fees": "0",
            "billId": str(10**18 + number),
        }

    book = Book(list(range(count)), arriving)

    async def run() -> list[str]:
        client, _ = client_of(lambda request: Say(data=book.page(request, row, "billId")[0]))
        return await ids(client.spot.iter_bills(limit=limit))

    assert asyncio.run(run()) == [str(10**18 + number) for number in reversed(range(count))]


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_pages_that_overlap_shrink_and_repeat_rows_lose_none_and_repeat_none(data: st.DataObject) -> None:
    """The page below an id also begins with rows above it, ends early, names a row twice, and rows vanish meanwhile."""
    there = list(reversed(range(data.draw(st.integers(0, 40), label="rows"))))
    shown: set[int] = set()
    vanished: set[int] = set()
    requests = 0

    async def read(request: Any) -> Reply[FuturesFill]:
        nonlocal requests
        requests += 1
        below = None if request.id_less_than is None else int(request.id_less_than)
        older = [number for number in there if below is None or number < below]
        if data.draw(st.booleans(), label="a row is gone"):
            gone = [number for number in older if number not in shown][:1]
            vanished.update(gone)
            older = [number for number in older if number not in gone]
            there[:] = [number for number in there if number not in gone]
        overlap = [number for number in there if below is not None and number >= below]
        overlap = overlap[len(overlap) - data.draw(st.integers(0, 3), label="overlap") :] if overlap else []
        page = older[: data.draw(st.integers(1, 6), label="rows of the page")]
        shown.update(page)
        numbers = sorted([*overlap, *page, *page[: data.draw(st.integers(0, 1), label="twice")]], reverse=True)
        rows = tuple(FuturesFill.from_row(fill(number, tradeId=str(number))) for number in numbers)
        return Reply(rows=rows, cursor=str(page[-1]) if page else None)

    async def run() -> list[str]:
        walked = PageWalk(read, [FuturesFillsRequest(product_type=USDT, limit=6)])
        return await ids(aiter(walked))

    count = len(there)
    trade_ids = asyncio.run(run())
    assert [int(trade_id) for trade_id in trade_ids] == sorted(set(range(count)) - vanished, reverse=True)
    assert requests <= count + 1


async def test_one_trade_id_under_two_symbols_is_two_rows_in_whatever_letters_the_symbol_comes() -> None:
    pages = [[("BTCUSDT", "2"), ("ETHUSDT", "2")], [("ethusdt", "2"), ("SOLUSDT", "2"), ("BTCUSDT", "1")], []]

    async def read(request: Any) -> Reply[FuturesFill]:
        page = pages.pop(0)
        rows = tuple(FuturesFill.from_row(fill(1, symbol=symbol, tradeId=trade_id)) for symbol, trade_id in page)
        return Reply(rows=rows, cursor=rows[-1].trade_id if rows else None)

    walked = PageWalk(read, [FuturesFillsRequest(product_type=USDT, limit=3)])
    symbols = [row.symbol async for page in walked for row in page.rows]
    assert symbols == ["BTCUSDT", "ETHUSDT", "SOLUSDT", "BTCUSDT"]


async def test_an_order_years_old_is_found() -> None:
    old = pending(1, cTime=str(START_MS - 900 * DAY))
    client, app = client_of(lambda request: Say(data={"entrustedList": [old], "endId": None}))
    assert await ids(client.futures.iter_pending_orders(product_type=USDT)) == [old["orderId"]]
    assert not {"startTime", "endTime"} & set(app.requests[0].values)


@pytest.mark.parametrize(
    ("count", "at_most", "calls"),
    [
        (150, 100, 2),
        (99, 100, 1),
        (19, 100, 1),
        (20, 100, 2),
        (21, 20, 2),
        (97, 20, 5),
        (100, 50, 3),
        (0, 100, 1),
    ],
)
async def test_whole_lists_end_with_a_page_that_is_not_full(count: int, at_most: int, calls: int) -> None:
    """Whatever is the most that the exchange gives, every order comes; only a round number costs a call more."""
    book = Book(list(range(count)))

    def script(request: ArrivedRequest) -> Say:
        rows, _ = book.page(request, pending, "orderId")
        return Say(data={"entrustedList": rows[:at_most], "endId": rows[:at_most][-1]["orderId"] if rows else None})

    client, app = client_of(script)
    order_ids = await ids(client.futures.iter_pending_orders(product_type=USDT))
    assert len(order_ids) == count
    assert len(app.requests) == calls


@pytest.mark.parametrize(
    "answers",
    [
        [{"fillList": [fill(2), fill(1)], "endId": None}],
        [{"fillList": [fill(2), fill(1)], "endId": ""}],
        [{"fillList": [fill(2), fill(1)]}],
        [{"fillList": [fill(2), fill(1)], "endId": fill(1)["tradeId"]}],  # the same page for ever
        [{"fillList": [fill(2), fill(1)], "endId": "9"}],  # the same way on for ever
        [
            {"fillList": [fill(2), fill(1)], "endId": "7"},
            {"fillList": None, "endId": None},
            {"fillList": [fill(0)], "endId": "5"},
        ],
    ],
)
async def test_it_ends_on_a_missing_or_repeated_end_id(answers: list[Any]) -> None:
    client, app = client_of(in_turn(*(Say(data=answer) for answer in answers)))
    trade_ids = await ids(client.futures.iter_fills(product_type=USDT))
    assert trade_ids == [fill(2)["tradeId"], fill(1)["tradeId"]]
    assert len(app.requests) <= 3


@pytest.mark.parametrize("oddity", [{}, {"price": "no number"}, {"symbol": "BTCUSD"}])
async def test_a_full_page_that_comes_again_is_not_taken_for_the_end(oddity: dict[str, str]) -> None:
    page = [fill(2), fill(1, **oddity), fill(0)]
    client, _ = client_of(in_turn(*(Say(data={"fillList": page, "endId": page[-1]["tradeId"]}) for _ in range(2))))
    with pytest.raises(UnreadableReply, match="the same full page came again"):
        await ids(client.futures.iter_fills(product_type=USDT, limit=3))


async def test_it_ends_when_every_way_on_is_new_but_no_row_is() -> None:
    count = 0

    def script(request: ArrivedRequest) -> Say:
        nonlocal count
        count += 1
        row = {**fill(1)}
        return Say(data={"entrustedList": [{**row, "planType": "normal_plan", "orderId": "1"}], "endId": str(count)})

    client, app = client_of(script)
    await ids(client.futures.iter_triggers(product_type=USDT, plan_type="normal_plan"))
    assert len(app.requests) == 2


async def test_ids_that_are_no_numbers_page_too() -> None:
    names = ["zeta", "y-9", "b", "a"]

    def script(request: ArrivedRequest) -> Say:
        below = request.values.get("idLessThan")
        rest = names[names.index(below) + 1 :] if below else names
        rows = [fill(1, tradeId=name) for name in rest[:2]]
        return Say(data={"fillList": rows, "endId": rows[-1]["tradeId"] if rows else None})

    client, _ = client_of(script)
    assert await ids(client.futures.iter_fills(product_type=USDT)) == names


def transfer(name: str, at: int = START_MS) -> dict[str, Any]:
    return {
        "uid": "7",
        "txId": name,
        "coin": "USDT",
        "type": "deposit",
        "subType": "onchain",
        "amount": "1",
        "status": "success",
        "ts": str(at),
    }


class Times:
    """An exchange of transfers that keeps to the rules of time and tells what was asked."""

    def __init__(self, moments: list[int]) -> None:
        self.moments = sorted(moments, reverse=True)
        self.spans: list[tuple[int, int]] = []

    def __call__(self, request: ArrivedRequest) -> Say:
        start, end = int(request.values["startTime"]), int(request.values["endTime"])
        if end - start > 7 * DAY:
            return Say(code="00001", status=400)
        if "idLessThan" in request.values:  # everything was on the first page
            return Say(data={"list": [], "endId": None})
        self.spans.append((start, end))
        rows = [transfer(f"t{moment}", moment) for moment in self.moments if start <= moment <= end]
        return Say(data={"list": rows[:100], "endId": None})


@given(
    moments=st.lists(st.integers(START_MS - 40 * DAY, START_MS), max_size=30, unique=True),
    length=st.integers(0, 40 * DAY),
)
@settings(max_examples=40, deadline=None)
def test_a_long_stretch_is_cut_into_spans_without_losing_a_row_on_their_borders(
    moments: list[int], length: int
) -> None:
    start = START_MS - length
    exchange = Times([*moments, start + 7 * DAY])

    async def run() -> list[str]:
        client, _ = client_of(exchange)
        return await ids(client.broker.iter_transfers(start_time=start, end_time=START_MS))

    expected = [f"t{moment}|7" for moment in exchange.moments if start <= moment <= START_MS]
    assert asyncio.run(run()) == expected


async def test_from_the_beginning_of_a_known_window() -> None:
    exchange = Times([START_MS - 5 * DAY, START_MS - 80 * DAY, START_MS - 95 * DAY])
    client, _ = client_of(exchange)
    transfer_ids = await ids(client.broker.iter_transfers(start_time=0))
    assert len(transfer_ids) == 2
    assert len(exchange.spans) == 13
    assert exchange.spans[0][1] == START_MS
    assert exchange.spans[-1][0] > START_MS - 90 * DAY, "what is kept moves on while a request is under way"


async def test_from_the_beginning_without_a_window_goes_back_ten_years_across_empty_spans() -> None:
    spans: list[tuple[int, int]] = []

    def script(request: ArrivedRequest) -> Say:
        start, end = int(request.values["startTime"]), int(request.values["endTime"])
        assert end - start <= 90 * DAY
        spans.append((start, end))
        oldest = start <= START_MS - 9 * 365 * DAY <= end
        return Say(data={"fillList": [fill(1)] if oldest and "idLessThan" not in request.values else [], "endId": None})

    client, _ = client_of(script)
    assert await ids(client.futures.iter_fills(product_type=USDT, start_time=0)) == [fill(1)["tradeId"]]
    assert spans[0][1] == START_MS
    assert spans[-1][0] == START_MS - 10 * 365 * DAY


async def test_a_history_that_must_name_its_times_is_read_from_the_beginning() -> None:
    def script(request: ArrivedRequest) -> Say:
        assert int(request.values["endTime"]) - int(request.values["startTime"]) <= 90 * DAY
        return Say(data={"dataList": [], "endId": None})

    client, app = client_of(script)
    assert await ids(client.convert.iter_history(start_time=0, end_time=START_MS)) == []
    assert app.requests[0].values["endTime"] == str(START_MS)


async def test_lost_rows_are_counted_and_do_not_stop_the_paging() -> None:
    book = Book(list(range(20)))

    def row(number: int) -> dict[str, Any]:
        return fill(number, price="no number") if number % 5 == 0 else fill(number)

    def script(request: ArrivedRequest) -> Say:
        rows, end = book.page(request, row, "tradeId")
        return Say(data={"fillList": rows, "endId": end})

    client, _ = client_of(script)
    good = lost = 0
    async for page in client.futures.iter_fills(product_type=USDT, limit=5):
        good, lost = good + len(page.rows), lost + len(page.undecodable_rows)
    assert (good, lost) == (16, 4)


async def test_a_failure_midway_is_raised_after_the_pages_before_it() -> None:
    book = Book(list(range(10)))

    def script(request: ArrivedRequest) -> Say:
        if book.calls:
            return Say(body=b"<html>")
        rows, end = book.page(request, fill, "tradeId")
        return Say(data={"fillList": rows, "endId": end})

    client, _ = client_of(script)
    keys: list[str] = []
    with pytest.raises(UnreadableReply):
        async for page in client.futures.iter_fills(product_type=USDT, limit=5):
            keys.extend(row.trade_id for row in page.rows)
    assert len(keys) == 5


@pytest.mark.looptime
async def test_pages_are_read_within_the_budget() -> None:
    book = Book(list(range(1500)))

    def script(request: ArrivedRequest) -> Say:
        rows, end = book.page(request, fill, "tradeId")
        return Say(data={"fillList": rows, "endId": end})

    clock = LoopClock(START_MS)
    client = ExchangeReader(CREDENTIALS, app=Scripted(script, clock.wall_ms), clock=clock)
    assert len(await ids(client.futures.iter_fills(product_type=USDT))) == 1500
    assert asyncio.get_running_loop().time() == pytest.approx(3 * 1.002, abs=0.1)


async def test_a_walk_goes_on_where_an_error_or_a_cancellation_left_it() -> None:
    book = Book(list(range(10)))
    trouble: list[Say] = []

    def script(request: ArrivedRequest) -> Say:
        if trouble:
            return trouble.pop()
        rows, end = book.page(request, fill, "tradeId")
        return Say(data={"fillList": rows, "endId": end})

    client, _ = client_of(script)
    walked = client.walk(FuturesFillsRequest(product_type=USDT, limit=4))
    keys: list[str] = []
    reply = await walked.next()
    assert reply is not None
    keys += [row.trade_id for row in reply.rows]
    trouble += [Say(body=b"<html>")] * 2
    with pytest.raises(UnreadableReply):
        await walked.next()
    trouble.append(Say(after=0.05, data={"fillList": [], "endId": None}))
    reading = asyncio.ensure_future(walked.next())
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    trouble.clear()
    while (reply := await walked.next()) is not None:
        keys += [row.trade_id for row in reply.rows]
    assert walked.over
    assert keys == [fill(number)["tradeId"] for number in reversed(range(10))]


async def test_an_exchange_that_goes_round_in_circles_comes_to_an_end() -> None:
    calls = 0

    async def read(request: Any) -> Reply[Any]:
        nonlocal calls
        calls += 1
        rows = tuple(FuturesFill.from_row(fill(calls * 1000 + number)) for number in range(3))
        return Reply(rows=rows, cursor=f"c{calls % 500}")

    walked = PageWalk(read, [FuturesFillsRequest(product_type=USDT)])
    while await walked.next() is not None:
        assert calls < 2_000


async def test_memory_does_not_grow_with_what_was_read() -> None:
    page = 1_000
    rows = [FuturesFill.from_row(fill(0)).model_copy() for _ in range(page)]
    calls = 0

    async def read(request: Any) -> Reply[Any]:
        nonlocal calls
        calls += 1
        if calls > 100:
            return Reply(rows=())
        served = tuple(row.model_copy(update={"trade_id": f"{calls}/{index}"}) for index, row in enumerate(rows))
        return Reply(rows=served, cursor=str(calls))

    walked = PageWalk(read, [FuturesFillsRequest(product_type=USDT)])
    count = 0
    while (reply := await walked.next()) is not None:
        count += reply.count
        assert len(walked._seen_keys) == len(walked._seen_in_order) <= REMEMBERED_ROWS
    assert count == 100 * page
