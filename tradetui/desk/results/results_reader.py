"""Reads results off the event loop, after bringing the ledger forward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import islice

from tradetui.desk.archive.database import Archive, bring_ledger_forward
from tradetui.desk.archive.equity import EquitySeries
from tradetui.desk.archive.trip_queries import TripOrigins, TripRow, ended_trips, open_trips, trip_fill_ids
from tradetui.desk.results.period_query import PeriodQuery
from tradetui.desk.results.period_results import PeriodResults, read_period_results
from tradetui.storage.disk_thread import Disk
from tradetui.trading.positions import Position
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType


class ResultsReader:
    """Reads an archive on the disk thread, in steps between which other disk work can run.

    It keeps the equity read so far, and reads only new samples. Every coroutine raises sqlite3.Error or OSError if the
    archive cannot be used.
    """

    def __init__(self, archive: Archive, disk: Disk) -> None:
        self._archive = archive
        self._disk = disk
        self._equity_series = cache(partial(EquitySeries, archive.connection))

    async def period(
        self, query: PeriodQuery, progress: Callable[[int], None] = lambda fills_to_book: None
    ) -> PeriodResults:
        """Return the results of a period; `progress` gets the number of fills that have to be booked first."""
        await bring_ledger_forward(self._archive, self._disk, progress)
        return await self._disk.run(self._read_period, query)

    async def trips(self, query: PeriodQuery, limit: int, positions: Sequence[Position] = ()) -> list[TripRow]:
        """Return at most `limit` round trips: open ones of the positions first, then ended ones by last close.

        Both are newest first; a past period has no open ones.
        """
        await bring_ledger_forward(self._archive, self._disk)
        return await self._disk.run(_read_trips, self._archive, query, limit, positions)

    async def trip_fill_ids(self, row: TripRow) -> tuple[str, ...]:
        """Return the ids of the fills of a round trip, newest first."""
        return await self._disk.run(trip_fill_ids, self._archive.connection, row)

    async def symbols(self) -> list[str]:
        return await self._disk.run(self._archive.rows.symbols, FuturesFill)

    async def bills_refused(self, product_types: Sequence[ProductType]) -> str:
        """Return why the last read of a product type's bills was refused; empty if none was."""
        coverages = [await self._disk.run(self._archive.bill_coverage, product_type) for product_type in product_types]
        return next((coverage.refusal for coverage in coverages if coverage.refusal), "")

    def _read_period(self, query: PeriodQuery) -> PeriodResults:
        return read_period_results(self._archive.connection, query, self._equity_series(query.product_types))


def _read_trips(archive: Archive, query: PeriodQuery, limit: int, positions: Sequence[Position]) -> list[TripRow]:
    ledger_query = query.ledger
    running = [] if ledger_query.until is not None else open_trips(archive.connection, ledger_query, positions)
    ended = list(islice(ended_trips(archive.connection, ledger_query), max(0, limit - len(running))))
    origins = TripOrigins(archive.connection, ended[-1].trip.last_ms if ended else query.now_ms)
    return [origins.named(row) for row in (*running, *ended)]
