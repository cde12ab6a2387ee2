"""Positions: as the exchange reports them where it does, else summed from fills; the source is chosen once.

Whatever makes a sum uncertain is said beside it: fills that are missing, that contradict each other, or that have a
word nobody knows. Nothing is shown of a sum before all fills that the exchange still has are in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from heapq import merge
from itertools import count
from typing import TYPE_CHECKING, Final, Literal

from tradetui.desk.feeds.fills.corrections import unsteady_sentence
from tradetui.desk.feeds.fills.fill_history import READ_AGAIN, FillHistory
from tradetui.desk.feeds.polling.feed import Reading
from tradetui.desk.feeds.polling.multi_product import JoinedReads, ProductPart
from tradetui.desk.feeds.polling.snapshot import StillReading
from tradetui.desk.tables.rows.product_row import id_order
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import EndpointMissing, PermissionRefused
from tradetui.storage.disk_thread import Disk, InlineDisk
from tradetui.trading.positions import FromFills, Position, reported, with_mark
from tradetui.trading.positions_from_fills import PositionBook
from tradetui.wire.endpoints.catalogue import endpoint
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.enums import PositionMode, PositionSide
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.futures_accounts import PositionsRequest, ReportedPosition
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

_MARKED_BY_FILLS: Final = "summed from fills; marks are the last fill's price"
PAGES_A_POLL: Final = 8
"""Pages of older fills read in one poll while positions wait for them."""
FILLS_STILL_NEW_S: Final = 0.5
"""Fills that another feed read so recently are not read again for the positions."""


class PositionsReader:
    """Reads all-position; where that is missing or not permitted, every fill the exchange still tells.

    Only those two answers choose fills, and only once the fills can be read; any other error ages what is there.
    `first_client` reads what is reported until it has been read once: a person waits for the first positions, which
    must not wait behind the feeds of other sessions. `joined` adds to a position what the market says. `contradiction`
    says why the account's fills are not its positions in hedge mode; empty where they are.
    """

    def __init__(
        self,
        client: ExchangeReader,
        product_types: Sequence[ProductType],
        histories: Mapping[ProductType, FillHistory] | None = None,
        disk: Disk | None = None,
        clock: Clock | None = None,
        first_client: ExchangeReader | None = None,
        joined: Callable[[Position], Position] | None = None,
        contradiction: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        self._client = client
        self._first_client = first_client or client
        self._clock = clock or client.clock
        self._disk = disk or InlineDisk()
        self._joined = joined
        self._contradiction = contradiction
        self._reads_fills_itself = histories is None
        self._histories = histories or {
            product_type: FillHistory(client, product_type, self._disk) for product_type in product_types
        }
        self.parts = JoinedReads[Position](product_types)
        self._sums: dict[ProductType, _RunningSum] = {}
        self.source: Literal["reported", "fills"] | None = None

    async def read(self) -> Reading[Position]:
        reading = None if self.source == "fills" else await self._read_reported()
        return await self._read_from_fills() if reading is None else reading

    async def _read_reported(self) -> Reading[Position] | None:
        """The positions as the exchange reports them; None where it never has, and now says that it does not.

        A read beside this one may have gone over to fills meanwhile.
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
        doubts = [f"what is held of {symbol} is not certain: {doubt}" for symbol, doubt in self.doubts.items()]
        if contradiction:
            doubts.append(f"what is held in hedge mode is not certain: {earlier_contradiction(contradiction)}")
        steady_histories = (history for history in self._histories.values() if not history.corrections.unsteady)
        corrections = filter(None, (history.correction for history in steady_histories))
        marks_are_live = rows and all(row.market.mark_is_live for row in rows)
        notes = (*doubts, *corrections, "summed from fills" if marks_are_live else _MARKED_BY_FILLS)
        return self.parts.reading(rows, error, "; ".join(notes))

    @property
    def doubts(self) -> dict[str, str]:
        """By symbol, why its position is not the sum of its fills; empty where reported."""
        doubts: dict[str, str] = {}
        for product_type, sums in self._sums.items():
            unsteady = self._histories[product_type].corrections.unsteady
            doubts |= {symbol: unsteady_sentence(trade_id) for symbol, trade_id in unsteady.items()}
            doubts |= {symbol: f"{word} is not known" for symbol, word in sums.book.unknown_word_by_symbol.items()}
        return doubts

    def _rows(self) -> list[Position]:
        positions = sorted(self.parts.rows, key=lambda row: (row.product_type, row.symbol, row.shown_leg))
        return positions if self._joined is None else [self._joined(position) for position in positions]

    async def _reported(self, product_type: ProductType) -> ProductPart[Position]:
        if self.source == "reported":
            # It answered before, so a refusal of late may pass: it is asked again each time, not in ten minutes.
            self._client.capabilities.answered(endpoint("futures.positions"))
        client = self._client if product_type in self.parts.last else self._first_client
        reply = await client.read(PositionsRequest(product_type=product_type))
        positions = [
            reported(product_type, row) for row in reply.rows if isinstance(row, ReportedPosition) and row.total
        ]
        part = ProductPart(list(dict.fromkeys(positions)))  # a row that came twice is one position
        part.note_reply(reply)
        if (held := held_sizes(reply)) is not None:
            self._histories[product_type].ledger_upkeep.compare(held, reply.request_time)
        return part

    async def _summed(self, product_type: ProductType) -> ProductPart[Position]:
        history = self._histories[product_type]
        history.follow()
        now = self._clock.monotonic()
        # A reader of its own serves a person who is about to act: nothing read before is new enough for that.
        if self._reads_fills_itself or history.read_at is None or now - history.read_at > FILLS_STILL_NEW_S:
            await history.read_newest(now)
        for _ in count() if self._reads_fills_itself else range(PAGES_A_POLL):
            if not await history.read_gap():
                break
        if history.gaps:
            raise StillReading(f"Positions are summed from fills; reading these: {history.pages_read} pages so far")
        if history.read_at is None:
            raise StillReading(READ_AGAIN)  # another read has forgotten all that this one waited for
        sums = await self._sum_up(history)
        undecodable_rows = len(history.undecodable_pages.undecodable_rows)
        return ProductPart(
            sums.positions(), undecodable_rows, history.server_ms, history.left_out, history.kept_symbols
        )

    async def _sum_up(self, history: FillHistory) -> _RunningSum:
        product_type = history.product_type
        sums = self._sums.get(product_type) or _RunningSum(product_type)
        added = history.follow()
        archive = history.write_buffer.archive
        if archive is not None and archive.trimmed:
            archive = None
        if archive is not None and (sums.archive is not archive or sums.lost_spans != len(history.lost)):
            # What earlier sessions saw comes first; the archive holds what this one has read as well.
            sums = await self._disk.run(_RunningSum.of, product_type, archive, history)
        fresh = sorted(added, key=_fill_order)
        added.clear()
        sums.add(fresh)
        self._sums[product_type] = sums
        if not sums.book.outdated:
            return sums
        del self._sums[product_type]
        if archive is not None:
            self._sums[product_type] = sums = await self._disk.run(_RunningSum.of, product_type, archive, history)
            return sums
        history.forget()
        raise StillReading(READ_AGAIN)


class _RunningSum:
    """Positions of one product type as a running sum; `archive` is what it was begun from."""

    def __init__(self, product_type: ProductType) -> None:
        self.product_type = product_type
        self.book = PositionBook(product_type)
        self.archive: Archive | None = None
        self.lost_spans = self._known_from = 0
        self._last_prices: dict[str, Decimal] = {}

    @classmethod
    def of(cls, product_type: ProductType, archive: Archive, history: FillHistory) -> _RunningSum:
        """The sum of a whole history, of which some fills are not in the archive yet; blocks.

        Where fills are lost it begins behind them: one of them may have closed an earlier position.
        """
        sums, unsaved = cls(product_type), history.unsaved
        sums.archive, sums.lost_spans = archive, len(history.lost)
        unsaved_ids = {fill.trade_id for fill in unsaved}
        saved = (fill for fill in archive.rows.fills(product_type) if fill.trade_id not in unsaved_ids)
        sums._known_from = archive.known_from(product_type)
        sums.add(merge(saved, sorted(unsaved, key=_fill_order), key=_fill_order))
        return sums

    def add(self, fills: Iterable[FuturesFill]) -> None:
        """Add fills, oldest first; each costs the same whatever came before."""
        for fill in fills:
            # Those of before lost ones come from what a session remembers as well.
            if (not self._known_from or unix_ms(fill.c_time) >= self._known_from) and self.book.add(fill):
                self._last_prices[fill.symbol.upper()] = fill.price

    def positions(self) -> list[Position]:
        return [with_mark(position, self._last_prices.get(position.symbol)) for position in self.book.positions()]


def held_sizes(reply: Reply[ReportedPosition]) -> dict[tuple[str, bool], Decimal] | None:
    """The sizes that a reply reports, by symbol and whether long; None where its rows do not name them."""
    if reply.undecodable_rows or any(row.leg is None for row in reply.rows):
        return None
    rows = {(row.symbol.upper(), row.leg is PositionSide.LONG, row.total) for row in reply.rows}
    sizes = {(symbol, is_long): total for symbol, is_long, total in rows}
    return sizes if len(sizes) == len(rows) else None


def earlier_contradiction(contradiction: str) -> str:
    """A note that a reversal's own fills contradict the account's fills, and how that is taken back."""
    release = "once fills and positions agree again, release it in the journal"
    return f"an earlier reversal showed this: {contradiction}; {release}"


def _doubted(position: Position) -> Position:
    """The position, in hedge mode as one whose fills contradict themselves."""
    if position.mode is PositionMode.ONE_WAY or not isinstance(position.source, FromFills):
        return position
    return replace(position, source=replace(position.source, contradicted=True))


def _fill_order(fill: FuturesFill) -> tuple[datetime, str]:
    return fill.c_time, id_order(fill.trade_id)
