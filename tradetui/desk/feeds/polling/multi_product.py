"""Reads every product type of a session at the same time, and joins the results.

If one fails, its last good rows stay beside the error, and the others are not affected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from tradetui.desk.feeds.archive_writing import refuse_unreadable
from tradetui.desk.feeds.polling.feed import Reading, StillReading
from tradetui.desk.tables.rows.product_row import ProductRow, RecordT
from tradetui.desk.tables.rows.row_source import FeedRowT, FeedRowT_co
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import ExchangeError, RateLimited
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.product_types import ProductType, may_trade
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.request import Request
from tradetui.wire.text import counted

T = TypeVar("T")


@dataclass(slots=True)
class ProductPart(Generic[FeedRowT_co]):
    """The rows of one product type; `server_ms` is the exchange's time of the oldest reply."""

    rows: Sequence[FeedRowT_co] = ()
    undecodable_rows: int = 0
    server_ms: int | None = None
    left_out: Iterable[str] = ()
    """The symbols of rows left out because their names belong to other product types."""
    kept_symbols: Iterable[str] = ()

    def note_reply(self, reply: Reply[Record]) -> None:
        """Note a reply's time and unreadable rows; raises UnreadableReply if no row is readable."""
        refuse_unreadable(reply)
        self.undecodable_rows += len(reply.undecodable_rows)
        self.left_out = (*self.left_out, *reply.left_out)
        self.kept_symbols = (*self.kept_symbols, *symbols_of(reply.rows))
        if reply.request_time is not None:
            self.server_ms = min(self.server_ms or reply.request_time, reply.request_time)


class JoinedReads(Generic[FeedRowT]):
    """The last good rows of every product type, `last`, and their sums.

    If the account is moved between classic and unified mode (`interface_changes` counts it), what was read before is
    dropped: the wallet of a unified account holds what the accounts of all product types held.
    """

    def __init__(self, product_types: Sequence[ProductType], interface_changes: Callable[[], int] = lambda: 0) -> None:
        self.product_types = tuple(product_types)
        self.last: dict[ProductType, ProductPart[FeedRowT]] = {}
        self._interface_changes = interface_changes
        self._read_since_change = 0

    async def read(self, read_one: Callable[[ProductType], Awaitable[ProductPart[FeedRowT]]]) -> ExchangeError | None:
        """Read each product type; return the first error if some succeeded, raise it if none did.

        Raises StillReading if the account was moved meanwhile, since some may have been read before and some after.
        """
        changes = self._interface_changes()
        if changes != self._read_since_change:
            self.last.clear()
            self._read_since_change = changes
        results = await gather_reads([read_one(product_type) for product_type in self.product_types])
        for product_type, result in zip(self.product_types, results, strict=True):
            if not isinstance(result, BaseException):
                self.last[product_type] = result
        errors = exchange_errors(results)
        if self._interface_changes() != changes:
            self.last.clear()
            raise StillReading("The account was moved to another mode; it is read again")
        if errors and len(errors) == len(self.product_types):
            raise errors[0]
        return errors[0] if errors else None

    def reading(self, rows: Sequence[FeedRowT], error: ExchangeError | None, note: str = "") -> Reading[FeedRowT]:
        """Return a reading of these rows with the counts and notes of all product types."""
        times = [part.server_ms for part in self.last.values() if part.server_ms is not None]
        note = "; ".join(filter(None, (note, left_out_sentence(self.product_types, self.left_out, self.kept_symbols))))
        return Reading(rows, self.undecodable_rows, note, error, min(times, default=None))

    @property
    def left_out(self) -> set[str]:
        return {symbol for part in self.last.values() for symbol in part.left_out}

    @property
    def kept_symbols(self) -> set[str]:
        return {symbol for part in self.last.values() for symbol in part.kept_symbols}

    @property
    def undecodable_rows(self) -> int:
        return sum(part.undecodable_rows for part in self.last.values())

    @property
    def rows(self) -> list[FeedRowT]:
        """The rows of all parts, in the order of the product types."""
        parts = (self.last[product_type] for product_type in self.product_types if product_type in self.last)
        return [row for part in parts for row in part.rows]


class ProductRowsReader(Generic[RecordT]):
    """Reads records by one call per product type, made by `request`."""

    def __init__(
        self, client: ExchangeReader, product_types: Sequence[ProductType], request: Callable[..., Request[RecordT]]
    ) -> None:
        self._client = client
        self._request = request
        self._parts = JoinedReads[ProductRow[RecordT]](product_types)

    async def read(self) -> Reading[ProductRow[RecordT]]:
        error = await self._parts.read(self._read)
        return self._parts.reading(self._parts.rows, error)

    async def _read(self, product_type: ProductType) -> ProductPart[ProductRow[RecordT]]:
        self._client.capabilities.check_account()
        reply = await self._client.read(self._request(product_type=product_type))
        part = ProductPart([ProductRow(product_type, row) for row in reply.rows])
        part.note_reply(reply)
        return part


async def gather_reads(reads: Sequence[Awaitable[T]]) -> list[T | BaseException]:
    """Run reads at the same time; return the result or exception of each, in order.

    If one fails for too many calls, those still waiting for a permit are cancelled: they would only lengthen the pause,
    and the next poll reads everything again.
    """
    tasks = [asyncio.ensure_future(read) for read in reads]
    limited: RateLimited | None = None
    try:
        waiting: set[asyncio.Future[T]] = set(tasks)
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                if not task.cancelled() and isinstance(problem := task.exception(), RateLimited):
                    limited = limited or problem
            if limited is not None:
                for task in waiting:
                    task.cancel()
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    results = await asyncio.gather(*tasks, return_exceptions=True)
    if limited is None:
        return results
    return [limited if isinstance(result, asyncio.CancelledError) else result for result in results]


def exchange_errors(results: Iterable[object]) -> list[ExchangeError]:
    """Return the exchange's errors among results of reads; raise any other exception."""
    errors = []
    for result in results:
        if isinstance(result, ExchangeError):
            errors.append(result)
        elif isinstance(result, BaseException):
            raise result
    return errors


def left_out_sentence(
    product_types: Iterable[ProductType], symbols: Iterable[str], kept_symbols: Collection[str] | None = None
) -> str:
    """Describe the rows left out because no requested product type shows them; empty if there are none.

    `kept_symbols` are the symbols shown; if they are not known, the symbols' names decide.
    """
    requested = tuple(product_types)
    named_otherwise = {symbol for symbol in symbols if not any(may_trade(name, symbol) for name in requested)}
    unshown = sorted(named_otherwise if kept_symbols is None else set(symbols) - set(kept_symbols))
    if not unshown:
        return ""
    others = f" and of {counted(len(unshown) - 1, 'more symbol')}" if len(unshown) > 1 else ""
    why = f"not of {', '.join(requested)}" if unshown[0] in named_otherwise else "named like another product type's"
    return f"rows of {unshown[0]}{others} left out: {why}"


def symbols_of(rows: Iterable[Record]) -> set[str]:
    return {symbol for row in rows if (symbol := getattr(row, "symbol", None))}
