"""Today's result: the change of equity since the day began, without transfers."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from decimal import Decimal
from typing import Final

from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.equity import SAMPLED_EVERY_MS, EquitySample, Rates, first_sample, last_sample, samples
from tradetui.desk.archive.ledger.missing_fills import missing_spans
from tradetui.desk.archive.ledger_queries import ResultQuery, results
from tradetui.desk.results.equity_of_period import known_transfers, sample_near
from tradetui.desk.results.period_sums import keep_sums
from tradetui.storage.disk_thread import Disk
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.periods import Grouping, day_at, day_start_ms
from tradetui.trading.results.returns import CashFlow, EquityPoint, equity_curve
from tradetui.wire.product_types import ProductType

_FILLS_READ_MS: Final = 15_000
"""The age of a sample from which every fill before it has been read."""


@dataclass(frozen=True, slots=True)
class TodayResult:
    """Today's result in USDT: net, whatever else the wallets moved by, and the change of what is open.

    `part` is a fraction, time-weighted where transfers are known; None where nothing was at stake. Transfers are taken
    out by the bills, or with `is_complete` False whatever the wallets moved by beyond fills, so that funding is not in
    it either.

    `since` is the first sample of the day (Unix ms) where nothing was sampled when the day began: then it is no
    result of today. It is None where it is one.
    """

    amount: Decimal
    part: Decimal | None
    is_complete: bool
    since: int | None = None


@dataclass(frozen=True, slots=True)
class DayOpening:
    """The start that today's result is measured from, worked out once a minute from the archive.

    `growth` is what one unit of money became from `start` until equity was `equity_then`. `confirmed` is the newest
    sample that no transfer came before that is not known. `is_whole_day` says whether `start` is near the day's start.
    """

    day: date
    start: EquitySample
    moved_in: Decimal
    growth: Decimal
    equity_then: Decimal
    is_complete: bool
    confirmed: EquitySample
    is_whole_day: bool

    def alerting_result(self, equity: Decimal, unrealised: Decimal | None) -> TodayResult:
        """Today's result, but what left the wallets since `confirmed` is no loss yet: it may have been withdrawn.

        What the market took shows in `unrealised` at once, and what a close took did before it.
        """
        before = self.confirmed.unrealised
        if unrealised is not None and before is not None:
            equity = max(equity, self.confirmed.equity + unrealised - before)
        return self.result(equity)

    def result(self, equity: Decimal) -> TodayResult:
        """Today's result at an equity in USDT."""
        amount = equity - self.start.equity - self.moved_in
        part = self.growth * equity / self.equity_then - 1 if self.equity_then > ZERO and self.growth > ZERO else None
        since = None if self.is_whole_day else self.start.time
        return TodayResult(amount, part, self.is_complete, since)


def read_day_opening(
    archive: Archive, product_types: tuple[ProductType, ...], zone: tzinfo, now_ms: int
) -> DayOpening | None:
    """The opening of the day (in the zone) of a moment, Unix ms; blocks on the disk.

    It begins with a sample near the day's start, at most two sampling intervals, so two minutes, before or after;
    where there is none, with the first of the day. None without any, and where neither bills nor fills show what was
    moved in since.
    """
    connection, day = archive.connection, day_at(now_ms, zone)
    day_start = day_start_ms(day, zone)
    near = sample_near(connection, product_types, day_start, now_ms)
    start = near or first_sample(connection, product_types, day_start)
    last = last_sample(connection, product_types, now_ms)
    if start is None or last is None:
        return None
    points, confirmed = [EquityPoint(start.time, start.equity)], start
    flows: Sequence[CashFlow] = ()
    transfers = known_transfers(connection, product_types, Rates.of(last), start.time, now_ms, now_ms)
    if transfers is not None:
        later = samples(connection, product_types, start.time + 1, last.time)
        points += [EquityPoint(sample.time, sample.equity) for sample in later]
        flows, confirmed = transfers.flows, last_sample(connection, product_types, transfers.until) or start
    else:
        sample = last_sample(connection, product_types, now_ms - _FILLS_READ_MS)
        if sample is not None and sample.time > start.time:
            moved_in = _moved_in_by_fills(archive, product_types, start, sample, now_ms)
            if moved_in is None:
                return None
            points.append(EquityPoint(sample.time, sample.equity))
            flows, confirmed = (CashFlow(sample.time, moved_in),), sample
    *_, last_point = equity_curve(points, flows)
    return DayOpening(
        day=day,
        start=start,
        moved_in=sum((flow.amount for flow in flows if start.time < flow.time), ZERO),
        growth=last_point.growth,
        equity_then=points[-1].equity,
        is_complete=transfers is not None,
        confirmed=confirmed,
        is_whole_day=near is not None,
    )


def _moved_in_by_fills(
    archive: Archive, product_types: tuple[ProductType, ...], start: EquitySample, end: EquitySample, now_ms: int
) -> Decimal | None:
    """The change of the wallets beyond fills in USDT, taken for transfers where no bills show these."""
    while archive.advance_ledger():
        pass
    beyond = _wallets_beyond_fills(archive.connection, product_types, start, end)
    gaps = (span for span in missing_spans(archive.connection, now_ms) if span.product_type in product_types)
    if beyond is None or any(span.meets(start.time, end.time) for span in gaps):
        return None
    return Rates.of(end).in_usdt(beyond)


def _wallets_beyond_fills(
    connection: sqlite3.Connection, product_types: tuple[ProductType, ...], start: EquitySample, end: EquitySample
) -> Mapping[str, Decimal] | None:
    """By coin, the change of the wallets between two samples beyond profit and fees of the fills between them.

    That is funding, transfers and all else that the exchange booked, in the coin. None where a sample does not hold the
    single accounts, or a fill came without its fee or profit. The ledger is to be brought forward before.
    """
    if not start.accounts or not end.accounts:
        return None
    query = ResultQuery(Grouping.COIN, end.time, start.time + 1, end.time, None, product_types)
    rows = results(connection, query)
    if any(row.sums.incomplete_fills for row in rows):
        return None
    net = {row.coin: row.sums.net for row in rows}
    moved: dict[str, Decimal] = {}
    for sample, sign in ((end, 1), (start, -1)):
        for account in sample.accounts:
            if account.unrealised is None:
                return None
            moved[account.coin] = moved.get(account.coin, ZERO) + sign * (account.equity - account.unrealised)
    return {coin: amount - net.get(coin, ZERO) for coin, amount in moved.items()}


class TodayTracker:
    """Keeps the day's opening: works it out on the disk's thread once a minute, while accounts are read.

    Once a day it has the sums of the days before kept, so that a period is shown at once on request.
    """

    def __init__(self, archive: Archive, disk: Disk, product_types: Sequence[ProductType]) -> None:
        self.opening: DayOpening | None = None
        self._archive = archive
        self._disk = disk
        self._product_types = tuple(product_types)
        self._zone: tzinfo | None = None
        self._read_at: tuple[int, tzinfo] | None = None
        self._summed: tuple[date, tzinfo] | None = None
        self._task: asyncio.Task[None] | None = None

    def accounts_changed(self, now_ms: int, zone: tzinfo) -> None:
        """Work the opening out anew where a minute has passed, days begin at another time now, or there is none."""
        if self._zone is not zone or (self.opening is not None and self.opening.day != day_at(now_ms, zone)):
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
            opening = await self._disk.run(read_day_opening, self._archive, self._product_types, zone, now_ms)
            if zone is self._zone:
                self.opening = opening
            await self._keep_sums(now_ms, zone)
        except (sqlite3.Error, OSError):
            return  # the figure stays as it is; the archive says by itself what is wrong with the disk

    async def _keep_sums(self, now_ms: int, zone: tzinfo) -> None:
        summed = (day_at(now_ms, zone), zone)
        if summed == self._summed or not await self._disk.run(lambda: self._archive.ledger_is_current):
            return
        since = await self._disk.run(keep_sums, self._archive.connection, zone, now_ms)
        while since is not None:
            since = await self._disk.run(keep_sums, self._archive.connection, zone, now_ms, since)
        self._summed = summed
