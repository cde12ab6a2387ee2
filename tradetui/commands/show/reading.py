"""Reads the rows of one `tradetui show` page by page, merged newest first, and counts missing rows.

Rows are read on demand: a million of them need no more memory than a few pages, and `head` ends the reading. Only
positions are read at once, because other endpoints complete them with market data.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from tradetui.commands.process.console import PageProgress
from tradetui.desk.archive.coverage import HOUR_MS, TimeSpan
from tradetui.desk.feeds.market_context import MarketContext
from tradetui.desk.feeds.polling.feed import Feed
from tradetui.desk.feeds.positions import PositionsReader
from tradetui.desk.feeds.triggers import TriggersReader
from tradetui.desk.tables.rows.product_row import ProductRow, record_of
from tradetui.desk.tables.table import TableName
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import EndpointMissing, ExchangeError, PermissionRefused, Rejected
from tradetui.storage.disk_thread import InlineDisk
from tradetui.trading.positions import Position
from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.exchange_time import NINETY_DAYS_MS, ON_THE_WAY_MS, SHORTEST_THREE_MONTHS_MS
from tradetui.wire.models.futures_accounts import PositionsRequest
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import Record
from tradetui.wire.text import counted

RecordRow = TypeVar("RecordRow", bound=Record | ProductRow[Record])
"""A record, alone or with the product type it was read under."""
_OLDEST = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class RowsReader:
    """Reads the rows of one `tradetui show` and counts them in `progress`; raises ExchangeError."""

    options: argparse.Namespace
    client: ExchangeReader
    endpoint: Endpoint
    span: TimeSpan | None
    progress: ReadingProgress

    async def rows(self, requests: list[list[Any]]) -> AsyncIterator[Record | ProductRow[Record]]:
        """Yield rows of every product type, newest first; records without a time by product type."""
        time_field = self.endpoint.time_field
        groups = [merged([self.stream(request) for request in group], time_field=time_field) for group in requests]
        row_count, limit = 0, self._row_limit
        # An id is unique within a product type only, so repetitions are removed before product types are merged.
        records = merged(groups, time_field=time_field, once=False)
        while limit is None or row_count < limit:
            record = await anext(records, None)
            if record is None:
                return
            row_count += 1
            yield record
        try:
            self.progress.has_more = await anext(records, None) is not None
        except ExchangeError:
            self.progress.may_have_more = True

    @property
    def _row_limit(self) -> int | None:
        """The requested limit, or one page, because further back the product types may reach differently far."""
        if self.options.limit is not None:
            return int(self.options.limit)
        return None if self.options.all or self.endpoint.page is None else self.endpoint.page.default

    async def stream(self, request: Any) -> AsyncIterator[Record | ProductRow[Record]]:
        """Yield the rows of one request page by page on demand, or one page ahead if all are wanted."""
        if self.endpoint.page is None:
            for row in self._rows_of(request, await self.client.read(request)):
                yield row
            return
        row_count, limit = 0, self._row_limit
        pages = self.client.pages(request) if self.span is None else self._pages_of_span(request, *self.span)
        try:
            async for reply in ahead(pages) if limit is None else pages:
                for row in self._rows_of(request, reply):
                    yield row
                row_count += len(reply.rows)
        except ExchangeError:
            if limit is None or row_count < limit:
                raise
            self.progress.may_have_more = True

    def _rows_of(self, request: Any, reply: Reply[Any]) -> Sequence[Record | ProductRow[Record]]:
        """Count a page and return its rows, with their product type for the desk's writers."""
        self.progress.page(reply)
        product_type = getattr(request, "product_type", None)
        if product_type is None or not writes_desk_rows(self.options):
            return reply.rows
        return [ProductRow(product_type, record) for record in reply.rows]

    async def _pages_of_span(self, request: Any, start: int, end: int) -> AsyncIterator[Reply[Any]]:
        """Yield the pages of a long span, newest first, until the exchange refuses to go further back.

        The exchange keeps ninety days, a limit that moves while pages are read. So the last day is a separate piece,
        whose beginning is set when it is reached.
        """
        piece_start = max(start, self.client.server_clock.now_ms - SHORTEST_THREE_MONTHS_MS)
        known: set[object] = set()
        if piece_start < end:
            async for reply in self.client.pages(request, start_time=piece_start, end_time=end):
                known = {record.unique_key for record in reply.rows}
                yield reply
        edge = min(piece_start, end)
        try:
            while start < edge:
                oldest_kept = self.client.server_clock.now_ms - NINETY_DAYS_MS + ON_THE_WAY_MS
                piece_start = max(start, oldest_kept) if oldest_kept < edge else start
                async for reply in self.client.pages(request, start_time=piece_start, end_time=edge):
                    # Adjacent pieces share their boundary millisecond.
                    rows = tuple(record for record in reply.rows if record.unique_key not in known)
                    known = {record.unique_key for record in reply.rows}
                    yield replace(reply, rows=rows)
                edge = piece_start
        except Rejected as problem:
            if edge == end:
                raise
            if edge - start > HOUR_MS:  # if all ninety days were wanted, the refusal only reflects the moving limit
                self.progress.refused_before = edge, problem


async def held_positions(
    client: ExchangeReader, requests: Sequence[PositionsRequest], progress: ReadingProgress, *, with_market: bool
) -> AsyncIterator[Position]:
    """Yield positions, reported or summed from fills; `with_market` adds the nearest stop-loss and next funding."""
    reader = PositionsReader(client, [ProductType(request.product_type) for request in requests])
    coins = {request.product_type: request.margin_coin for request in requests}
    reading = await reader.read()
    progress.undecodable_rows += reading.undecodable_rows
    progress.see_symbols(reader.parts.left_out, reader.parts.kept_symbols)
    positions, error = reading.rows, reading.error
    if with_market and positions:
        positions, problem = await _with_market(client, positions, progress)
        error = error or problem
    for position in positions:
        coin = coins[position.product_type]
        if coin is None or (position.margin_coin or "").upper() == coin.upper():
            yield position
    if error is not None:
        raise error


async def _with_market(
    client: ExchangeReader, positions: Sequence[Position], progress: ReadingProgress
) -> tuple[Sequence[Position], Exception | None]:
    """Return the positions as the desk joins them with the market, and the error of a part that could not be read."""
    product_types = tuple(dict.fromkeys(position.product_type for position in positions))
    triggers_reader = TriggersReader(client, product_types, InlineDisk())
    triggers = Feed(TableName.TRIGGERS, triggers_reader, interval=1.0, clock=client.clock)
    market = MarketContext(client, product_types, triggers, triggers_reader)
    error: Exception | None = None
    try:
        await triggers_reader.read_waiting()
    except ExchangeError as problem:
        error = problem
    await market.funding_rates.poll()
    if not isinstance(market.funding_rates.problem, EndpointMissing | PermissionRefused):
        error = error or market.funding_rates.problem
    progress.undecodable_rows += triggers_reader.undecodable_waiting + market.funding_rates.snapshot.undecodable_rows
    return [market.joined(position) for position in positions], error


class ReadingProgress:
    """Counts the rows of one `tradetui show`, and notes missing ones; shown while pages are read."""

    def __init__(self, what: str) -> None:
        self._pages = PageProgress(what)
        self.rows = 0
        self.has_more = False
        self.may_have_more = False
        """Whether there may be more rows, because the exchange refused the next page."""
        self.undecodable_rows = 0
        self.left_out: set[str] = set()
        """The symbols of rows left out because their names belong to other product types."""
        self.kept_symbols: set[str] = set()
        self.refused_before: tuple[int, ExchangeError] | None = None
        """The time (Unix ms) before which the exchange returns nothing, and its refusal."""

    def page(self, reply: Reply[Any]) -> None:
        self.undecodable_rows += len(reply.undecodable_rows)
        self.see_symbols(reply.left_out, [symbol for row in reply.rows if (symbol := getattr(row, "symbol", None))])
        self._pages.page(f"{counted(self.rows, 'row')}, ")

    def see_symbols(self, left_out: Collection[str], kept_symbols: Collection[str]) -> None:
        self.left_out.update(left_out)
        self.kept_symbols.update(kept_symbols)

    def end(self) -> None:
        self._pages.end(f"{counted(self.rows, 'row')}, ")


async def merged(
    streams: Sequence[AsyncIterator[RecordRow]], *, time_field: str | None, once: bool = True
) -> AsyncIterator[RecordRow]:
    """Merge streams that are newest first into one; with `once` each record comes only once.

    A k-way merge: it holds one record per stream, so that streams may be of any length. Keys are remembered only within
    one moment, because duplicates have the same time.
    """
    if len(streams) == 1:
        async for record in streams[0]:
            yield record
        return
    heads = {stream: head for stream in streams if (head := await anext(stream, None)) is not None}
    shown_keys: set[object] = set()
    moment: datetime | None = None
    while heads:
        newest = max(heads, key=lambda stream: _age(heads[stream], time_field))
        record = heads[newest]
        following = await anext(newest, None)
        if following is None:
            del heads[newest]
        else:
            heads[newest] = following
        now = _age(record, time_field)
        if now != moment:
            moment, shown_keys = now, set()
        if once:
            wire_record = record_of(record)
            key = None if wire_record is None else wire_record.unique_key
            if key in shown_keys:
                continue
            shown_keys.add(key)
        yield record


def _age(row: Record | ProductRow[Record], time_field: str | None) -> datetime:
    value = getattr(record_of(row), time_field) if time_field else None
    return value if isinstance(value, datetime) else _OLDEST


async def ahead(pages: AsyncIterator[Reply[Any]]) -> AsyncIterator[Reply[Any]]:
    """Yield the same pages, reading the next one while one is used."""
    following = asyncio.ensure_future(anext(pages, None))
    try:
        while (page := await following) is not None:
            following = asyncio.ensure_future(anext(pages, None))
            yield page
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def writes_desk_rows(options: argparse.Namespace) -> bool:
    """Whether rows are the desk's, with their product type, and not as received."""
    return options.csv or options.format is not None
