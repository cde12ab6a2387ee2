"""Positions: reported by the exchange, or else summed from fills; the source is chosen once.

Anything that makes a sum uncertain is noted beside it: missing fills, contradictory fills, or fills with an unknown
word. A sum is shown only when it has all fills that the exchange still keeps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from heapq import merge
from itertools import count
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from tradetui.desk.feeds.fills.fill_history import FillHistory
from tradetui.desk.feeds.polling.feed import Reading, StillReading
from tradetui.desk.feeds.polling.multi_product import JoinedReads, ProductPart
from tradetui.desk.tables.rows.product_row import id_order
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import EndpointMissing, PermissionRefused
from tradetui.storage.disk_thread import Disk, InlineDisk
from tradetui.trading.positions import FromFills, Position, reported
from tradetui.trading.positions_from_fills import PositionBook
from tradetui.wire.endpoints.catalogue import CATALOGUE
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.enums import PositionMode, PositionSide
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.futures_accounts import PositionsRequest, ReportedPosition
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

_MARKED_BY_FILLS: Final = "summed from fills; marks are the last fill's price"
PAGES_A_POLL: Final = 8
"""Pages of older fills read in one poll while positions wait for them."""
FILLS_STILL_NEW_S: Final = 0.5
"""Fills that another feed read within this time are not read again for positions."""


class PositionsReader:
    """Reads all-position; if that endpoint is missing or not permitted, sums all fills that the exchange still keeps.

    Only those two errors switch to fills, and only once fills can be read; after any other error the last rows age.
    `first_client` reads reported positions until the first read succeeds: a person waits for the first positions, so
    they must not queue behind the feeds of other sessions. `joined` adds market data to a position. `contradiction`
    returns why the account's fills do not give its positions in hedge mode; empty if they do.
    """

    def __init__(
        self,
        client: ExchangeReader,
        product_types: Sequence[ProductType],
        histories: Mapping[ProductType, FillHistory] | None = None,
        disk: Disk | None = None,
        first_client: ExchangeReader | None = None,
        joined: Callable[[Position], Position] | None = None,
        contradiction: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        self._client = client
        self._first_client = first_client or client
        self._clock = client.clock
        self._disk = disk or InlineDisk()
        self._joined = joined
        self._contradiction = contradiction
        self._reads_fills_itself = histories is None
        if histories is None:
            histories = {product_type: FillHistory(client, product_type, self._disk) for product_type in product_types}
        self._histories = histories
        self.parts = JoinedReads[Position](product_types, lambda: client.interface_changes)
        self._sums: dict[ProductType, _RunningSum] = {}
        self.source: Literal["reported", "fills"] | None = None

    async def read(self) -> Reading[Position]:
        reading = None if self.source == "fills" else await self._read_reported()
        return await self._read_from_fills() if reading is None else reading

    async def _read_reported(self) -> Reading[Position] | None:
        """Return the reported positions; None if the exchange does not offer them and fills become the source.

        Once positions have been reported, a refusal is raised. A concurrent read may switch to fills meanwhile.
        """
        try:
            error = await self.parts.read(self._reported)
        except (EndpointMissing, PermissionRefused):
            if self.source == "reported":
                raise
            return None
        if isinstance(error, EndpointMissing | PermissionRefused) and self.source != "reported":
            self.parts.last.clear()
            return None
        if error is None and self.source is None:
            self.source = "reported"
        return self.parts.reading(self._rows(), error)

    async def _read_from_fills(self) -> Reading[Position]:
        error = await self.parts.read(self._summed)
        self.source = "fills"
        rows = self._rows()
        contradiction = "" if self._contradiction is None else await self._contradiction()
        if any(row.mode is not PositionMode.ONE_WAY for row in rows):
            rows = [_doubted(row) for row in rows] if contradiction else rows
        else:
            contradiction = ""
        doubts = [f"the position in {symbol} is not certain: {doubt}" for symbol, doubt in self.doubts.items()]
        if contradiction:
            doubts.append(f"positions in hedge mode are not certain: {earlier_contradiction(contradiction)}")
        corrections = filter(None, (history.correction for history in self._histories.values()))
        marks_are_live = bool(rows) and all(row.market.mark_is_live for row in rows)
        notes = (*doubts, *corrections, "summed from fills" if marks_are_live else _MARKED_BY_FILLS)
        return self.parts.reading(rows, error, "; ".join(notes))

    @property
    def doubts(self) -> dict[str, str]:
        """By symbol, why its position may not be the sum of its fills; empty if positions are reported."""
        return {
            symbol: f"{unknown} is not known"
            for running_sum in self._sums.values()
            for symbol, unknown in running_sum.book.unknown_word_by_symbol.items()
        }

    def _rows(self) -> list[Position]:
        positions = sorted(self.parts.rows, key=lambda row: (row.product_type, row.symbol, row.shown_leg))
        return positions if self._joined is None else [self._joined(position) for position in positions]

    async def _reported(self, product_type: ProductType) -> ProductPart[Position]:
        if self.source == "reported":
            # It answered before, so a refusal may be temporary: ask again each time, and not only after ten minutes.
            self._client.capabilities.answered(CATALOGUE["futures.positions"])
        client = self._client if product_type in self.parts.last else self._first_client
        reply, part = await read_reported(client, product_type)
        if (held := held_sizes(reply)) is not None:
            self._histories[product_type].ledger_upkeep.compare(held, reply.request_time)
        return part

    async def _summed(self, product_type: ProductType) -> ProductPart[Position]:
        """Sum one product type's fills once all are read; raises StillReading while older ones are missing."""
        history, now = self._histories[product_type], self._clock.monotonic()
        # A reader with its own histories serves a person about to act: no earlier read is new enough for that.
        if self._reads_fills_itself or history.read_at is None or now - history.read_at > FILLS_STILL_NEW_S:
            await history.read_newest(now)
        for _ in count() if self._reads_fills_itself else range(PAGES_A_POLL):
            if not await history.read_gap():
                break
        if history.gaps:
            raise StillReading(f"Positions are summed from fills; reading these: {history.pages_read} pages so far")
        return history.part((await self._sum_with_new_fills(history)).positions())

    async def _sum_with_new_fills(self, history: FillHistory) -> PositionBook:
        """Add new fills to the running sum; sum all fills anew if it cannot be continued."""
        running_sum, new_fills = self._sums.get(history.product_type), history.follow()
        if running_sum is None or not running_sum.rests_on(history):
            new_fills.clear()
            running_sum = await self._disk.run(_RunningSum.of_all, history)
        for fill in sorted(new_fills, key=_fill_order):
            running_sum.book.add(fill)
        new_fills.clear()
        if running_sum.book.outdated:  # a fill came late, or with other figures
            running_sum = await self._disk.run(_RunningSum.of_all, history)
        self._sums[history.product_type] = running_sum
        return running_sum.book


class _RunningSum(NamedTuple):
    """A product type's positions as a running sum of its fills, and what that sum began with."""

    book: PositionBook
    archive: Archive | None
    lost_spans: int

    @classmethod
    def of_all(cls, history: FillHistory) -> _RunningSum:
        """Sum all fills, both archived ones and those not archived yet; blocks."""
        product_type, archive, unsaved = history.product_type, history.write_buffer.archive, history.unsaved
        book = PositionBook(product_type, 0 if archive is None else archive.known_from(product_type))
        unsaved_ids = {fill.row_id for fill in unsaved}
        archived = () if archive is None else archive.rows.fills(product_type)
        saved = (fill for fill in archived if fill.row_id not in unsaved_ids)
        for fill in merge(saved, sorted(unsaved, key=_fill_order), key=_fill_order):
            book.add(fill)
        return cls(book, archive, len(history.lost))

    def rests_on(self, history: FillHistory) -> bool:
        """Whether this sum is of the history's present archive, and no more fills were lost since."""
        return self.archive is history.write_buffer.archive and self.lost_spans == len(history.lost)


async def read_reported(
    client: ExchangeReader, product_type: ProductType
) -> tuple[Reply[ReportedPosition], ProductPart[Position]]:
    """Read the positions that the exchange reports of a product type; raises `ExchangeError`."""
    reply = await client.read(PositionsRequest(product_type=product_type))
    positions = [reported(product_type, row) for row in reply.rows if row.total]
    part = ProductPart(list(dict.fromkeys(positions)))  # a row that came twice is one position
    part.note_reply(reply)
    return reply, part


def held_sizes(reply: Reply[ReportedPosition]) -> dict[tuple[str, bool], Decimal] | None:
    """Return the sizes that a reply reports, by symbol and whether long; None if the rows do not determine them."""
    if reply.undecodable_rows or any(row.leg is None for row in reply.rows):
        return None
    rows = {(row.symbol.upper(), row.leg is PositionSide.LONG, row.total) for row in reply.rows}
    sizes = {(symbol, is_long): total for symbol, is_long, total in rows}
    return sizes if len(sizes) == len(rows) else None


def earlier_contradiction(contradiction: str) -> str:
    """Describe that an earlier reversal's fills contradict the account's fills, and how to take that back."""
    release = "once fills and positions agree again, release it in the journal"
    return f"an earlier reversal showed this: {contradiction}; {release}"


def _doubted(position: Position) -> Position:
    """Mark a hedge-mode position that is summed from fills as contradicted."""
    if position.mode is PositionMode.ONE_WAY or not isinstance(position.source, FromFills):
        return position
    return replace(position, source=replace(position.source, contradicted=True))


def _fill_order(fill: FuturesFill) -> tuple[datetime, str]:
    return fill.c_time, id_order(fill.row_id)
