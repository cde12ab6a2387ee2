"""What the ledger costs: keeping a fill with it and without, at a thousand fills and at a million, and reading results.

A million fills are two years of trading, with a bill each. Fills are booked behind the transaction that keeps them, so
that is measured apart. `show pnl` is held to `show --help`, the results of a period, and what the screen reads when it
opens, to a key in five tables that stand still.

Run: python -m tests.bench.ledger [ROWS]
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC
from decimal import Decimal
from functools import partial
from itertools import cycle
from pathlib import Path

from tests.bench.anchors import TABLES_KEY, command_seconds, key_seconds, moves, tables
from tests.bench.archive import START_MS, SYMBOLS
from tests.bench.report import Report, by_turns, median_ratio
from tradetui.desk.account.account_storage import account_dir
from tradetui.desk.account.identity import AccountKey, identity_without_exchange, stand_in
from tradetui.desk.archive.coverage import BillCoverage
from tradetui.desk.archive.database import Archive
from tradetui.desk.archive.equity import EquitySample, EquitySeries, add_sample, spacing_at
from tradetui.desk.results.period_query import PeriodChoice, PeriodQuery, period_of
from tradetui.desk.results.period_results import read_period_results
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType

TRADETUI = str(Path(sys.executable).with_name("tradetui"))
FEW, PAGE, TURNS, PERIOD_TURNS = 1_000, 100, 40, 15
KEPT_TURNS, KEPT_ROUNDS = {1: 40, PAGE: 10}, 10
"""A round is so many turns of so many fills, and begins with a thousand anew: few are to stay few."""
SPACING_MS = 63_000
"""Between two fills: a million of them take two years."""
FUNDED_EVERY_MS = 8 * 3_600_000
TYPES = (ProductType.USDT_FUTURES, ProductType.COIN_FUTURES, ProductType.USDC_FUTURES)
"""Those of a profile that chooses none; of two there never was a fill."""
ADDRESS, API_KEY = "https://api.bitget.com", "bench"


def fills(first: int, count: int) -> list[ProductRow[FuturesFill]]:
    """Fills that follow each other evenly; every other one closes what the one before it opened."""
    rows = []
    for number in range(first, first + count):
        row = {
            "tradeId": str(10**18 + number),
            "symbol": SYMBOLS[number // 2 % len(SYMBOLS)],
            "orderId": str(2 * 10**18 + number),
            "price": f"{90_000 + number % 100}.5",
            "baseVolume": "0.25",
            "feeDetail": [{"deduction": "no", "feeCoin": "USDT", "totalDeductionFee": None, "totalFee": "-0.01234567"}],
            "side": "buy",
            "quoteVolume": "22500.1250",
            "profit": str(number % 7 - 3) if number % 2 else "0",
            "tradeSide": "close" if number % 2 else "open",
            "posMode": "hedge_mode",
            "tradeScope": "taker",
            "cTime": str(START_MS + number * SPACING_MS),
        }
        rows.append(ProductRow(ProductType.USDT_FUTURES, FuturesFill.from_row(row)))
    return rows


class Writer:
    """An archive that gets fills page by page, and how long each takes."""

    def __init__(self, file: Path, begin: int) -> None:
        self.archive, self._next = Archive(file), begin
        while self._next % PAGE:
            self._next += 1

    def keep(self, count: int) -> float:
        """Seconds it takes to keep so many new fills."""
        rows = fills(self._next, count)
        self._next += count
        begin = time.perf_counter()
        self.archive.add(FuturesFill, rows)
        return time.perf_counter() - begin

    def book(self, count: int) -> float:
        """Seconds it takes to book so many new fills, once they are kept."""
        self.keep(count)
        begin = time.perf_counter()
        while self.archive.advance_ledger():
            pass
        return time.perf_counter() - begin


def filled(file: Path, count: int) -> Path:
    """An archive of so many fills, all booked."""
    archive = Archive(file)
    for first in range(0, count, 10_000):
        archive.add(FuturesFill, fills(first, min(10_000, count - first)))
        while archive.advance_ledger():
            pass
    end_ms = START_MS + count * SPACING_MS
    for product_type in ProductType:
        archive.note_read(product_type, end_ms)
    time_ms = START_MS
    with archive.transaction() as connection:
        while time_ms <= end_ms:
            worth = Decimal(time_ms // 60_000 * 7_919 % 1_000_000) / 100 + 20_000
            add_sample(connection, TYPES, EquitySample(time_ms, worth, Decimal(time_ms // 60_000 % 97)))
            time_ms += spacing_at(end_ms - time_ms)
    keep_bills(archive, count)
    archive.close()
    return file


def keep_bills(archive: Archive, count: int) -> None:
    """Keep the bills of so many fills, one each, and funding of each symbol every eight hours."""
    end_ms = START_MS + count * SPACING_MS
    bills: list[tuple[int, str, str, str]] = [
        (START_MS + number * SPACING_MS, "trade", "open_long", SYMBOLS[number // 2 % len(SYMBOLS)])
        for number in range(count)
    ]
    bills += [
        (time_ms, "funding", "contract_settle_fee", symbol)
        for time_ms in range(START_MS // FUNDED_EVERY_MS * FUNDED_EVERY_MS, end_ms, FUNDED_EVERY_MS)
        for symbol in SYMBOLS
    ]
    with archive.transaction() as connection:
        connection.executemany(
            "INSERT INTO bill VALUES ('USDT-FUTURES', 'USDT', ?, ?, ?, ?, ?, '-0.01', '0', ?)",
            (
                (at, f"{number:020}", *kinds_and_symbol, str(-number))
                for number, (at, *kinds_and_symbol) in enumerate(sorted(bills))
            ),
        )
    for product_type in TYPES:
        archive.add_bills(product_type, (), BillCoverage(START_MS, end_ms))


def period_seconds(archive: Archive, sampled: EquitySeries, choice: PeriodChoice, end_ms: int) -> float:
    """Seconds that the results of a period take that ends with the last fill."""
    query = PeriodQuery(period_of(choice, end_ms, UTC), end_ms, TYPES)
    begin = time.perf_counter()
    results = read_period_results(archive.connection, query, sampled)
    taken = time.perf_counter() - begin
    assert results.total.sums.trades and results.equity.curve
    return taken


def opening_seconds(archive: Archive, end_ms: int) -> float:
    """Seconds that the screen reads for when it opens: the period it begins with, and the calendar's month."""
    month = period_of(PeriodChoice.MONTH, end_ms, UTC)
    begin = time.perf_counter()
    sampled = EquitySeries(archive.connection, TYPES)
    for with_equity in (True, False):
        query = PeriodQuery(month, end_ms, TYPES, with_equity=with_equity)
        read_period_results(archive.connection, query, sampled)
    return time.perf_counter() - begin


def hold_periods(report: Report, file: Path, count: int) -> None:
    """Hold the results of every period to a key in five tables."""
    end_ms = START_MS + count * SPACING_MS
    with tables("record", "still") as still, closing(Archive(file)) as archive:
        keys, sampled = cycle(moves(8)), EquitySeries(archive.connection, TYPES)

        def key() -> float:
            return key_seconds(still, next(keys))

        readings = {
            f"results of {choice}": partial(period_seconds, archive, sampled, choice, end_ms) for choice in PeriodChoice
        }
        readings["the screen opens"] = partial(opening_seconds, archive, end_ms)
        for name, reading in readings.items():
            taken = by_turns(PERIOD_TURNS, {"period": reading, "key": key})
            report.ratio(
                f"ledger: {name} at {count:,}",
                statistics.median(taken["period"]) * 1000,
                TABLES_KEY,
                statistics.median(taken["key"]) * 1000,
                unit="ms",
                at_most=8.0,
                ratio=median_ratio(taken["period"], taken["key"]),
            )


def without_ledger(file: Path) -> Path:
    """An archive whose ledger takes nothing in: its tables are there, and its mark is beyond every fill."""
    connection = Archive(file).connection
    connection.execute("UPDATE ledger_mark SET booked_rowid = ?", (2**60,))
    connection.close()
    return file


def kept_by_rounds(home: Path, small: Path, at_many: Writer, count: int) -> dict[str, list[float]]:
    """Seconds that so many fills take at a thousand, at many, and at a thousand without the ledger."""
    kept: dict[str, list[float]] = {"few": [], "bare": [], "many": []}
    for number in range(KEPT_ROUNDS):
        at_few = Writer(Path(shutil.copy(small, home / f"few-{count}-{number}.sqlite")), FEW)
        bare = Writer(without_ledger(home / f"bare-{count}-{number}.sqlite"), 0)
        bare.keep(FEW)
        writers = {"few": at_few, "bare": bare, "many": at_many}
        for writer in (at_few, bare) * len(SYMBOLS):  # as warm as the one that goes on
            writer.keep(1)
        turns = by_turns(KEPT_TURNS[count], {name: partial(writer.keep, count) for name, writer in writers.items()})
        for name, seconds in turns.items():
            kept[name] += seconds
        at_few.archive.close()
        bare.archive.close()
    return kept


def main() -> int:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    report = Report()
    random.seed(7)
    with tempfile.TemporaryDirectory() as home:
        data = Path(home) / "data"
        account = identity_without_exchange(AccountKey(ADDRESS, "live", stand_in(API_KEY)), None, None)
        large = filled(account_dir(data, account, stand_in(API_KEY)) / "archive.sqlite", many)
        small = filled(Path(home) / "small.sqlite", FEW)
        environment = {
            "TRADETUI_BASE_URL": ADDRESS,
            "TRADETUI_API_KEY": API_KEY,
            "TRADETUI_API_SECRET": "bench",
            "TRADETUI_PASSPHRASE": "bench",
            "TRADETUI_DATA_DIR": str(data),
            "TRADETUI_RUNTIME_DIR": str(Path(home) / "run"),
            "TRADETUI_STATE_DIR": str(Path(home) / "state"),
            "XDG_CONFIG_HOME": home,
        }
        os.environ.update(environment)
        commands = by_turns(
            7,
            {
                "show --help": lambda: command_seconds([TRADETUI, "show", "--help"]),
                "show pnl": lambda: command_seconds([TRADETUI, "show", "pnl", "--by", "day"]),
            },
        )
        report.ratio(
            f"ledger: show pnl --by day of {many:,} fills",
            statistics.median(commands["show pnl"]) * 1000,
            "show --help",
            statistics.median(commands["show --help"]) * 1000,
            unit="ms",
            at_most=4.0,
            ratio=median_ratio(commands["show pnl"], commands["show --help"]),
        )
        hold_periods(report, large, many)
        at_many = Writer(large, many)
        for count in KEPT_TURNS:
            kept = kept_by_rounds(Path(home), small, at_many, count)
            for name, figure, anchor_name, anchor in (
                (f"ledger: {count} fills kept with it", "few", "without", "bare"),
                (f"ledger: {count} fills kept at {many:,}", "many", f"at {FEW:,}", "few"),
            ):
                report.ratio(
                    name,
                    statistics.median(kept[figure]) * 1e6,
                    anchor_name,
                    statistics.median(kept[anchor]) * 1e6,
                    unit="µs",
                    at_most=1.1,
                    ratio=median_ratio(kept[figure], kept[anchor]),
                )
        at_few = Writer(small, FEW)
        booked = by_turns(TURNS, {"many": lambda: at_many.book(PAGE), "few": lambda: at_few.book(PAGE)})
        report.ratio(
            f"ledger: {PAGE} fills booked at {many:,}",
            statistics.median(booked["many"]) * 1e6,
            f"at {FEW:,}",
            statistics.median(booked["few"]) * 1e6,
            unit="µs",
            at_most=1.5,
            ratio=median_ratio(booked["many"], booked["few"]),
        )
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
