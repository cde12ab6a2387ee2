"""On the embedded exchange nothing is unexplained: a day with trades, reversals, funding, transfers, both margins."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC
from decimal import Decimal

import pytest
from pydantic import SecretStr

from tests.desk.fixtures.desk_simulation import PRODUCT_TYPES, START_MS
from tests.sandbox.exchange_events import liquidate, transfer
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.archive.trip_queries import TripRow, ended_trips, open_trips
from tradetui.desk.feeds.archive_writing import NOTED_EVERY_MS
from tradetui.desk.feeds.bills import BillHistory, ClosedPositionHistory
from tradetui.desk.feeds.fills.fill_history import FillHistory
from tradetui.desk.results.period_query import PeriodChoice, PeriodQuery, period_of
from tradetui.desk.results.period_results import read_period_results
from tradetui.desk.results.sums import result_lines
from tradetui.desk.results.wallet import WalletAudit, WalletMove
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import LoopClock
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.rate_limit.budget import Budget
from tradetui.sandbox.app import Sandbox, SandboxOptions
from tradetui.sandbox.books.reversal import RequestedReversal
from tradetui.sandbox.exchange_state import ExchangeState
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.storage.disk_thread import InlineDisk
from tradetui.trading.positions import Position, reported
from tradetui.trading.results.periods import Grouping
from tradetui.wire.enums import PositionSide
from tradetui.wire.models.futures_accounts import PositionsRequest, ReportedPosition

HOURS = 26
ONE_MINUTE_A_STEP = Decimal(1) / 240
ROUNDED_TO = Decimal("1e-6")


class Trader:
    """An account of an exchange in virtual time, and the archive of a session that reads it now and then."""

    def __init__(self, name: str) -> None:
        self.clock = LoopClock(START_MS)
        self.exchange_state: ExchangeState = build_exchange_state(7, START_MS, speed=ONE_MINUTE_A_STEP)
        key = next(key for key in self.exchange_state.keys if key.name == name)
        self.uid, self.chance = key.uid, random.Random(name)
        budget = Budget(clock=self.clock, random=random.Random(1))
        sandbox = Sandbox(self.exchange_state, self.clock.wall_ms, SandboxOptions(seed=7))
        credentials = Credentials(key.api_key, SecretStr(key.secret), SecretStr(key.passphrase))
        self.client = ExchangeReader(credentials, app=sandbox, clock=self.clock, budget=budget, random=random.Random(1))
        self.archive = Archive(None)
        self.fills = [FillHistory(self.client, product_type, InlineDisk()) for product_type in PRODUCT_TYPES]
        self.ended = [ClosedPositionHistory(self.client, kind, InlineDisk()) for kind in PRODUCT_TYPES]
        self.bills = [BillHistory(self.client, product_type, InlineDisk()) for product_type in PRODUCT_TYPES]

    async def attach(self) -> None:
        for fills, bills in zip(self.fills, self.bills, strict=True):
            await fills.attach(self.archive)
            await bills.attach(self.archive)
        for ended in self.ended:
            await ended.attach(self.archive)

    async def read(self) -> None:
        for fills, bills in zip(self.fills, self.bills, strict=True):
            await fills.read_newest(self.clock.monotonic())
            while await fills.read_gap():
                pass
            await bills.read_newest(self.clock.monotonic())
            while await bills.read_gap(self.clock.monotonic()):
                pass
        for ended in self.ended:
            if ended.is_due(self.clock.monotonic()):
                await ended.read(self.clock.monotonic())
        while self.archive.advance_ledger(over_gaps=True):
            pass

    async def positions(self) -> list[Position]:
        """What is held now, as the exchange reports it."""
        return [
            reported(product_type, row)
            for product_type in PRODUCT_TYPES
            for row in (await self.client.read(PositionsRequest(product_type=product_type))).rows
            if isinstance(row, ReportedPosition)
        ]

    def open_trips(self, positions: list[Position]) -> list[TripRow]:
        """The trips that are open now."""
        query = ResultQuery(Grouping.TOTAL, self.clock.wall_ms(), product_types=PRODUCT_TYPES)
        return open_trips(self.archive.connection, query, positions)

    def entries_differ(self, trips: list[TripRow], open_rows: list[TripRow], held: list[Position]) -> list[str]:
        """Trips whose prices are not those of the exchange's positions, ended or held; these are rounded."""
        ended = {
            (row["symbol"], row["holdSide"], int(row["ctime"]), int(row["utime"])): row
            for product_type in PRODUCT_TYPES
            for row in self.exchange_state.account(self.uid).futures[product_type].closed_positions()
        }
        differ, compared = [], 0
        for row in trips:
            side = "long" if row.trip.long else "short"
            position = ended.get((row.symbol, side, row.trip.opened_ms or 0, row.trip.last_ms))
            if position is not None:
                for price, name in ((row.trip.entry, "openAvgPrice"), (row.trip.exit, "closeAvgPrice")):
                    compared += 1
                    if price is None or abs(price - Decimal(position[name])) > ROUNDED_TO:
                        differ.append(f"{row.symbol} {side} {name}: {price}, {position[name]}")
        reported_entries = {(position.symbol, position.is_long): position.entry for position in held}
        for row in open_rows:
            entry = reported_entries[row.symbol, row.trip.long]
            # What was closed before something was added counts in the trip's average, and not in the position's.
            if not row.trip.closed_size:
                compared += 1
                if row.trip.entry is None or entry is None or abs(row.trip.entry - entry) > row.trip.entry * ROUNDED_TO:
                    differ.append(f"{row.symbol} open: {row.trip.entry}, {entry}")
        assert compared > 5
        return differ

    def funding_bills(self, row: TripRow) -> Decimal:
        """What the bills of a trip's symbol say was settled since it was opened."""
        bills = self.archive.connection.execute(
            "SELECT amount, fee FROM bill WHERE kind = 'funding' AND product_type = ? AND symbol = ? AND time > ?",
            (str(row.product_type), row.symbol, row.trip.opened_ms),
        )
        return sum((Decimal(amount) + Decimal(fee) for amount, fee in bills), Decimal(0))

    def moves(self, since: int | None, until: int) -> list[WalletMove]:
        """What the wallets did in a period, all of whose funding is known."""
        query = ResultQuery(Grouping.COIN, self.clock.wall_ms(), since, until, product_types=PRODUCT_TYPES)
        rows = result_lines(self.archive.connection, query)
        assert all(row.funding is not None for row in rows)
        assert any(row.funding for row in rows)
        moves = WalletAudit(self.archive.connection, query).moves(*query.span, {row.coin: row.net for row in rows})
        assert moves
        return moves

    def act(self) -> None:
        """Reverse something, move money in or out, or lose a position by force."""
        state = self.exchange_state
        state.advance(self.clock.wall_ms())
        book = state.account(self.uid).futures[self.chance.choice(PRODUCT_TYPES)]
        coin = self.chance.choice(list(book.balances))
        transfer(book, coin, Decimal(self.chance.randint(-50, 90)) / 100 or Decimal(1), state.now_ms)
        if not book.holdings:
            return
        held = self.chance.choice(list(book.holdings.values()))
        if self.chance.random() < 0.2:
            liquidate(state, book, held)
            return
        hedge = book.mode == "hedge_mode"
        side = "buy" if held.leg == "long" else "sell"
        requested = RequestedReversal(
            held.spec, side if hedge else None, "Open" if hedge else None, held.size if hedge else None, ""
        )
        state.reverse(self.uid, book.product_type, requested)


@pytest.mark.looptime(end=400_000)
@pytest.mark.parametrize("name", ["one-way", "isolated", "coin", "multi-assets"])
async def test_nothing_is_unexplained(name: str) -> None:
    trader = Trader(name)
    await trader.attach()
    for _ in range(HOURS):
        await asyncio.sleep(3_600)
        trader.act()
        if trader.chance.random() < 0.2:
            await trader.read()
    await trader.read()
    await asyncio.sleep(NOTED_EVERY_MS / 1000 + 10)  # only now it is noted that the last hour is read
    await trader.read()
    positions = await trader.positions()
    open_rows = trader.open_trips(positions)
    await trader.client.aclose()
    now_ms = trader.clock.wall_ms()
    day_ms = 86_400_000
    periods = [(None, now_ms), (now_ms - 3 * day_ms, now_ms), (now_ms - 70 * day_ms, now_ms - 12_345_678)]
    for since, until in periods:
        moves = trader.moves(since, until)
        assert {move.unexplained for move in moves} == {Decimal(0)}
        assert any(move.transfers for move in moves)
    for choice in PeriodChoice:
        query = PeriodQuery(period_of(choice, now_ms, UTC), now_ms, PRODUCT_TYPES)
        assert read_period_results(trader.archive.connection, query).unexplained == 0
    trips = [*ended_trips(trader.archive.connection, ResultQuery(Grouping.TOTAL, now_ms))]
    differences = [row.net_difference for row in trips if row.net_difference is not None]
    assert differences
    assert set(differences) == {Decimal(0)}, "what a trip brought in is what the exchange says of the position"
    assert any(row.funding for row in trips)
    assert trader.entries_differ(trips, open_rows, positions) == []
    settled = [row for row in open_rows if row.funding is not None]
    assert settled, "funding of what is held was settled"
    for row in settled:
        if row.leg is PositionSide.NET:  # bills name no side: in hedge mode the other one may have been held meanwhile
            assert row.funding == trader.funding_bills(row)
    moved = {move.coin: move.moved for move in trader.moves(None, now_ms)}
    for product_type in PRODUCT_TYPES:
        book = trader.exchange_state.account(trader.uid).futures[product_type]
        for coin, balance in book.balances.items():
            first = next(row for row in book.bills() if row["coin"] == coin)
            began_with = Decimal(first["balance"]) - Decimal(first["amount"]) - Decimal(first["fee"])
            assert moved[coin] == balance - began_with
