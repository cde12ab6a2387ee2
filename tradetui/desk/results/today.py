"""Today's result: the change of equity since the day began, without transfers.

The day's opening is computed from the archive once a minute; with it, each new equity gives a result at once.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from decimal import Decimal
from typing import Final, NamedTuple

from tradetui.desk.archive.database import Archive, bring_ledger_forward
from tradetui.desk.archive.equity import SAMPLED_EVERY_MS, EquitySample, Rates, first_sample, last_sample, samples
from tradetui.desk.archive.ledger.missing_fills import missing_spans
from tradetui.desk.archive.ledger_queries import ResultQuery, day_groups, keep_sums, months_with_results
from tradetui.desk.results.equity_of_period import known_transfers, sample_near
from tradetui.storage.disk_thread import Disk
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.periods import Grouping, day_at, day_start_ms
from tradetui.trading.results.returns import CashFlow, EquityPoint, equity_curve
from tradetui.wire.product_types import ProductType

_FILLS_READ_MS: Final = 15_000
"""Age from which a sample's earlier fills have all been read."""


@dataclass(frozen=True, slots=True)
class TodayResult:
    """Today's result in USDT: net, other changes of the wallets, and the change of unrealised profit.

    `part` is a fraction, time-weighted if transfers are known; None if there was no equity at stake. Transfers by the
    bills are left out. If `is_complete` is False, all changes of the wallets beyond fills are left out, funding
    included.

    `since` is None for a result of the whole day. It is the first sample of the day (Unix ms) if there is none near the
    day's start.
    """

    amount: Decimal
    part: Decimal | None
    is_complete: bool
    since: int | None = None


class DaySamples(NamedTuple):
    """A day's first and newest sample; `is_whole_day` is whether `start` is near the day's start."""

    day: date
    start: EquitySample
    last: EquitySample
    is_whole_day: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOpening:
    """The start from which today's result is measured, computed once a minute from the archive.

    `growth` is what one unit of money grew to from `samples.start` until equity was `equity_then`; `moved_in` is the
    amount transferred since `samples.start`. `confirmed` is the newest sample up to which every transfer is known.
    """

    samples: DaySamples
    moved_in: Decimal
    growth: Decimal
    equity_then: Decimal
    is_complete: bool
    confirmed: EquitySample

    def alerting_result(self, equity: Decimal, unrealised: Decimal | None) -> TodayResult:
        """Return today's result, without loss for wallet changes since `confirmed`: they may be withdrawals.

        A loss by the market shows in `unrealised` at once, and a closed loss did before. If `unrealised` is not known,
        a loss shows with the next `confirmed`.
        """
        before = self.confirmed.unrealised
        change = ZERO if unrealised is None or before is None else unrealised - before
        return self.result(max(equity, self.confirmed.equity + change))

    def result(self, equity: Decimal) -> TodayResult:
        start = self.samples.start
        amount = equity - start.equity - self.moved_in
        part = self.growth * equity / self.equity_then - 1 if self.equity_then > ZERO and self.growth > ZERO else None
        return TodayResult(amount, part, self.is_complete, None if self.samples.is_whole_day else start.time)


class TodayTracker:
    """Keeps the day's opening, computed on the disk thread once a minute while accounts are read.

    Once a day it also keeps the sums of past days, so that a period is shown at once on request.
    """

    def __init__(self, archive: Archive, disk: Disk, product_types: Sequence[ProductType]) -> None:
        self.opening: DayOpening | None = None
        self.unknown_because = ""
        """Why the last attempt gave no opening."""
        self._archive = archive
        self._disk = disk
        self._product_types = tuple(product_types)
        self._zone: tzinfo | None = None
        self._read_at: tuple[int, tzinfo] | None = None
        self._sums_kept_on: tuple[date, tzinfo] | None = None
        self._task: asyncio.Task[None] | None = None

    def accounts_changed(self, now_ms: int, zone: tzinfo) -> None:
        """Compute the opening anew if a minute has passed, the day or its zone has changed, or there is none."""
        if self._zone is not zone or (self.opening is not None and self.opening.samples.day != day_at(now_ms, zone)):
            self.opening, self._zone = None, zone
        read_at = (now_ms // SAMPLED_EVERY_MS, zone)
        if (read_at != self._read_at or self.opening is None) and (self._task is None or self._task.done()):
            self._read_at = read_at
            self._task = asyncio.get_running_loop().create_task(self._read(now_ms, zone), name="today's result")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self, now_ms: int, zone: tzinfo) -> None:
        try:
            opening = await self._opening(now_ms, zone)
            if zone is self._zone:
                self.opening = opening
            await self._keep_sums(now_ms, zone)
        except (sqlite3.Error, OSError):
            return  # the figure stays; the archive reports the disk's trouble itself

    async def _opening(self, now_ms: int, zone: tzinfo) -> DayOpening | None:
        """Return the opening by the bills, or, if they do not show all transfers, by the fills after booking them."""
        connection, product_types = self._archive.connection, self._product_types
        of_day = await self._disk.run(samples_of_day, connection, product_types, zone, now_ms)
        self.unknown_because = "no equity sample yet" if of_day is None else "transfers are not known"
        if of_day is None:
            return None
        opening = await self._disk.run(opening_by_bills, connection, product_types, of_day, now_ms)
        if opening is not None:
            return opening
        await bring_ledger_forward(self._archive, self._disk)
        return await self._disk.run(opening_by_fills, self._archive, product_types, of_day, now_ms)

    async def _keep_sums(self, now_ms: int, zone: tzinfo) -> None:
        today = (day_at(now_ms, zone), zone)
        if today == self._sums_kept_on or not await self._disk.run(lambda: self._archive.ledger_is_current):
            return
        connection = self._archive.connection
        for month in await self._disk.run(months_with_results, connection, zone, now_ms):
            await self._disk.run(keep_sums, connection, month, zone, now_ms)
        self._sums_kept_on = today


def samples_of_day(
    connection: sqlite3.Connection, product_types: Sequence[ProductType], zone: tzinfo, now_ms: int
) -> DaySamples | None:
    """Return a day's samples, from one at most two minutes from its start, else from its first; None without any."""
    day = day_at(now_ms, zone)
    day_start = day_start_ms(day, zone)
    near = sample_near(connection, product_types, day_start, now_ms)
    start = near or first_sample(connection, product_types, day_start)
    last = last_sample(connection, product_types, now_ms)
    return None if start is None or last is None else DaySamples(day, start, last, near is not None)


def opening_by_bills(
    connection: sqlite3.Connection, product_types: Sequence[ProductType], of_day: DaySamples, now_ms: int
) -> DayOpening | None:
    """Return the opening without the transfers in the bills; None if not all transfers are known."""
    start, last = of_day.start, of_day.last
    transfers = known_transfers(connection, product_types, Rates.of(last), start.time, now_ms, now_ms)
    if transfers is None:
        return None
    sampled = (start, *samples(connection, product_types, start.time + 1, last.time))
    confirmed = last_sample(connection, product_types, transfers.until) or start
    return _opening_of(of_day, sampled, transfers.flows, confirmed, is_complete=True)


def opening_by_fills(
    archive: Archive, product_types: tuple[ProductType, ...], of_day: DaySamples, now_ms: int
) -> DayOpening | None:
    """Return the opening with wallet changes beyond fills as transfers; None if fills are missing.

    A unified account also needs a later sample than the first: its bills come later than its equity.

    Bring the ledger forward before. Fills that came since are booked here, or they would count as transfers.
    """
    while archive.advance_ledger():
        pass
    connection, start = archive.connection, of_day.start
    end = last_sample(connection, product_types, now_ms - _FILLS_READ_MS)
    if end is None or end.time <= start.time:
        return None if start.is_unified else _opening_of(of_day, (start,), (), start, is_complete=False)
    beyond = _wallets_beyond_fills(connection, product_types, start, end)
    gaps = (span for span in missing_spans(connection, now_ms) if span.product_type in product_types)
    if beyond is None or any(span.meets(start.time, end.time) for span in gaps):
        return None
    moved_in = Rates.of(end).in_usdt(beyond)
    if moved_in is None:
        return None
    return _opening_of(of_day, (start, end), (CashFlow(end.time, moved_in),), end, is_complete=False)


def _opening_of(
    of_day: DaySamples,
    sampled: Sequence[EquitySample],
    flows: Sequence[CashFlow],
    confirmed: EquitySample,
    *,
    is_complete: bool,
) -> DayOpening:
    *_, last_point = equity_curve([EquityPoint(sample.time, sample.equity) for sample in sampled], flows)
    return DayOpening(
        samples=of_day,
        moved_in=sum((flow.amount for flow in flows if of_day.start.time < flow.time), ZERO),
        growth=last_point.growth,
        equity_then=sampled[-1].equity,
        is_complete=is_complete,
        confirmed=confirmed,
    )


def _wallets_beyond_fills(
    connection: sqlite3.Connection, product_types: tuple[ProductType, ...], start: EquitySample, end: EquitySample
) -> Mapping[str, Decimal] | None:
    """Return the change of the wallets by coin between two samples, without profit and fees of fills.

    It consists of funding, transfers and all other bookings of the exchange, in the coin. None if a sample lacks the
    single accounts, or a fill lacks its fee or profit. Bring the ledger forward before.
    """
    if not start.accounts or not end.accounts:
        return None
    net: dict[str, Decimal] = {}
    query = ResultQuery(Grouping.COIN, end.time, start.time + 1, end.time, None, product_types)
    for _, group in day_groups(connection, query):
        if group.sums.incomplete_fills:
            return None
        net[group.coin] = net.get(group.coin, ZERO) + group.sums.net
    moved: dict[str, Decimal] = {}
    for sample, sign in ((end, 1), (start, -1)):
        for account in sample.accounts:
            if account.unrealised is None:
                return None
            moved[account.coin] = moved.get(account.coin, ZERO) + sign * (account.equity - account.unrealised)
    return {coin: amount - net.get(coin, ZERO) for coin, amount in moved.items()}
