"""Forty periods taken at random, in four zones, of histories read in pieces: each day is the sum of its raw rows."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.desk.fixtures.desk_simulation import PRODUCT_TYPES
from tests.desk.results.test_wallet_on_sandbox import Trader
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.feeds.archive_writing import NOTED_EVERY_MS
from tradetui.desk.results.sums import result_lines
from tradetui.desk.results.wallet import with_unexplained
from tradetui.trading.results.periods import Grouping
from tradetui.wire.models.futures import FuturesFillsRequest

ZONES = ("UTC", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe")
WINDOWS = 20
DAY_MS = 86_400_000
FIGURES = ("gross", "fees", "funding", "volume")
Sums = dict[tuple[str, str], dict[str, Fraction]]


async def raw_fills(trader: Trader) -> list[Mapping[str, Any]]:
    """Every fill as the exchange sends it."""
    return [
        row.received
        for product_type in PRODUCT_TYPES
        async for reply in trader.client.pages(FuturesFillsRequest(product_type=product_type))
        for row in reply.rows
    ]


def raw_bills(trader: Trader) -> list[Mapping[str, Any]]:
    """Every bill in the books of the exchange."""
    books = trader.exchange_state.account(trader.uid).futures
    return [bill for product_type in PRODUCT_TYPES for bill in books[product_type].bills()]


def sums_by_day(
    fills: list[Mapping[str, Any]], bills: list[Mapping[str, Any]], since: int, until: int, zone: ZoneInfo
) -> Sums:
    """What the rows from one moment to another (Unix ms) add up to, by day of the zone and coin."""
    sums: Sums = defaultdict(lambda: dict.fromkeys(FIGURES, Fraction(0)))

    def of_day(row: Mapping[str, Any], coin: str) -> dict[str, Fraction]:
        moment = datetime.fromtimestamp(int(row["cTime"]) // 1000, zone)
        return sums[moment.date().isoformat(), coin]

    for fill in fills:
        if since <= int(fill["cTime"]) <= until:
            coin = fill["feeDetail"][0]["feeCoin"]
            of_day(fill, coin)["gross"] += Fraction(fill["profit"])
            of_day(fill, coin)["volume"] += Fraction(fill["quoteVolume"])
            for fee in fill["feeDetail"]:
                of_day(fill, fee["feeCoin"])["fees"] += Fraction(fee["totalFee"])
    for bill in bills:
        if since <= int(bill["cTime"]) <= until and bill["businessType"] == "contract_settle_fee":
            of_day(bill, bill["coin"])["funding"] += Fraction(bill["amount"]) + Fraction(bill["fee"])
    return {key: figures for key, figures in sums.items() if any(figures.values())}


@pytest.mark.looptime(end=400_000)
@pytest.mark.parametrize("name", ["one-way", "coin"])
async def test_every_day_of_a_period_is_what_its_rows_add_up_to(name: str) -> None:
    trader, chance = Trader(name), random.Random(f"windows of {name}")
    await trader.attach()
    for _ in range(6):
        await asyncio.sleep(3_600)
        trader.act()
        for history in trader.fills:
            await history.read_newest(trader.clock.monotonic())
            await history.read_gap()
    await trader.read()
    await asyncio.sleep(NOTED_EVERY_MS / 1000 + 10)
    read_until = trader.clock.wall_ms() - 60_000
    await trader.read()
    fills, bills = await raw_fills(trader), raw_bills(trader)
    await trader.client.aclose()
    first_ms = min(int(fill["cTime"]) for fill in fills)
    compared = 0
    for number in range(WINDOWS):
        zone = ZoneInfo(ZONES[number % len(ZONES)])
        since = chance.randrange(first_ms, read_until - DAY_MS)
        until = chance.randrange(since, read_until)
        if number % 3 == 0:  # from midnight to midnight
            day = datetime.fromtimestamp(since / 1000, zone).replace(hour=0, minute=0, second=0, microsecond=0)
            since = int((day + timedelta(days=1)).timestamp() * 1000)
            until = int((day + timedelta(days=9)).timestamp() * 1000) - 1
        query = ResultQuery(Grouping.DAY, trader.clock.wall_ms(), since, until, None, PRODUCT_TYPES, zone)
        rows = with_unexplained(trader.archive.connection, query, result_lines(trader.archive.connection, query))
        last_day = datetime.fromtimestamp(read_until / 1000, zone).date().isoformat()
        assert all(row.is_complete or row.group >= last_day for row in rows), "that day is not over"
        assert all(row.funding is not None for row in rows)
        assert {row.unexplained for row in rows} <= {0}, "each day's wallet moved by its net and transfers"
        shown = {
            (row.group, row.coin): {
                "gross": Fraction(row.sums.gross),
                "fees": Fraction(row.sums.fees),
                "funding": Fraction(row.funding or 0),
                "volume": Fraction(row.sums.volume),
            }
            for row in rows
        }
        shown = {key: figures for key, figures in shown.items() if any(figures.values())}
        assert shown == sums_by_day(fills, bills, since, until, zone)
        compared += len(shown)
    assert compared > 300
