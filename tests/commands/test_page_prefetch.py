"""While a page is printed the next one is on its way, and nothing is left behind by who stops early."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from tradetui.commands.show import reading
from tradetui.commands.show.options import show_parser
from tradetui.commands.show.reading import ahead
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import Busy
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.models.spot import SpotBill


def bill(number: int) -> SpotBill:
    return SpotBill.from_row({"billId": str(number), "coin": "USDT", "size": "1", "cTime": "1790000000000"})


class Pages:
    """Pages that take a moment each; what was begun and what ended is kept."""

    def __init__(self, count: int, fails_at: int | None = None) -> None:
        self.count = count
        self.fails_at = fails_at
        self.begun: list[int] = []
        self.closed = False

    async def __call__(self) -> AsyncIterator[Reply[Any]]:
        try:
            for number in range(self.count):
                self.begun.append(number)
                await asyncio.sleep(0.01)
                if number == self.fails_at:
                    raise Busy("closed for lunch")
                yield Reply(rows=(bill(number),), cursor=str(number))
        finally:
            self.closed = True


async def test_the_next_page_is_begun_while_the_one_before_is_used() -> None:
    pages = Pages(4)
    rows = []
    async for page in ahead(pages()):
        await asyncio.sleep(0)
        rows.append((page.cursor, len(pages.begun)))
    assert rows == [("0", 2), ("1", 3), ("2", 4), ("3", 4)]


async def test_a_failure_comes_after_the_pages_before_it() -> None:
    pages, rows = Pages(4, fails_at=2), []
    with pytest.raises(Busy):
        async for page in ahead(pages()):
            rows.append(page.cursor)
    assert rows == ["0", "1"]


async def test_who_stops_early_leaves_no_reading_behind() -> None:
    pages = Pages(4)
    ahead_pages = ahead(pages())
    assert (await anext(ahead_pages)).cursor == "0"
    await asyncio.sleep(0)
    await ahead_pages.aclose()  # type: ignore[attr-defined]
    assert pages.closed
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize(("flags", "reads_ahead"), [(["--all"], True), (["--all", "--limit", "3"], False), ([], False)])
async def test_nothing_is_read_that_nobody_asked_for(flags: list[str], reads_ahead: bool) -> None:
    """Where the rows wanted are counted, a page more than they need is a call for nothing."""
    pages = Pages(4)
    options = show_parser().parse_args(["spot-bills", *flags])
    client = cast(ExchangeReader, PagesClient(pages))
    progress = reading.ReadingProgress("spot-bills")
    stream = reading.RowsReader(options, client, CATALOGUE["spot.bills"], None, progress).stream(None)
    first = await anext(stream)
    await asyncio.sleep(0)
    assert first.row_id == "0"
    assert (len(pages.begun) == 2) is reads_ahead
    await stream.aclose()  # type: ignore[attr-defined]


class PagesClient:
    """A client of nothing but these pages."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def pages(self, *_: object, **__: object) -> AsyncIterator[Reply[Any]]:
        return self._pages()
