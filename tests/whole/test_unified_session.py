"""A session of a unified account, from the interface to archive, results and alerts, beside that of a classic one.

The embedded exchange keeps one book for both interfaces. So a session that reads v3 must come to the sums of one that
reads v2, and an account that is moved in between must count each fill once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.desk.fixtures.desk_simulation import Simulation
from tests.sandbox.exchange_events import open_position
from tradetui.desk.archive.archive_rows import Selection
from tradetui.desk.archive.equity import EquitySeries, first_sample, last_sample
from tradetui.desk.archive.ledger_queries import ResultQuery
from tradetui.desk.events.rules import Alert, RuleKind
from tradetui.desk.results.sums import ResultLine, result_lines
from tradetui.desk.settings import Access
from tradetui.sandbox.books.account import AccountMode
from tradetui.sandbox.handlers import unified
from tradetui.trading.results.periods import Grouping
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType

pytestmark = pytest.mark.looptime
USDT = ProductType.USDT_FUTURES


@pytest.fixture
def other_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interface v3 gives fills other ids than v2 does, and other ids of their orders."""

    def fill(call: Any, row: Mapping[str, Any]) -> dict[str, Any]:
        converted = unified._futures_fill(call, row)
        return converted | {name: f"9{converted[name]}" for name in ("execId", "orderId")}

    monkeypatch.setitem(unified._CONVERSIONS, "unified.fills", fill)


def simulation(mode: AccountMode, data_dir: Path | None = None) -> Simulation:
    made = Simulation(seed=4, name="unified", jitter=False, product_types=(USDT,), data_dir=data_dir, checked=False)
    made.exchange_state.stands_still = True
    move(made, mode)
    return made


def move(simulated: Simulation, mode: AccountMode = AccountMode.UNIFIED) -> None:
    simulated.exchange_state.account_modes[simulated.uid] = mode


def archived(simulated: Simulation) -> list[Any]:
    assert simulated.desk.archive is not None
    return list(simulated.desk.archive.rows.fills(USDT))


def results(simulated: Simulation) -> list[ResultLine]:
    """The results of each symbol, without what the interfaces report differently: v2 truncates volumes."""
    archive = simulated.desk.archive
    assert archive is not None
    while archive.advance_ledger():
        pass
    lines = result_lines(archive.connection, ResultQuery(Grouping.SYMBOL, simulated.clock.wall_ms()))
    assert lines and all(line.sums.incomplete_fills == 0 for line in lines)
    return [replace(line, sums=replace(line.sums, volume=Decimal(0)), funding=None) for line in lines]


async def run_whole(simulated: Simulation, seconds: float = 60) -> None:
    """Let the session read all that there is."""
    await simulated.run(seconds, every=seconds)
    fills = simulated.desk.fills.snapshot
    assert (fills.note, fills.error) == ("", None)


async def test_archive_and_results_are_those_of_a_classic_account_of_the_same_books() -> None:
    sums = []
    for mode in (AccountMode.CLASSIC, AccountMode.UNIFIED):
        simulated = simulation(mode)
        simulated.desk.start()
        await run_whole(simulated)
        on_exchange = simulated.held("fills", USDT)
        assert int(on_exchange[-1]["cTime"]) < simulated.clock.wall_ms() - 31 * DAY_MS, "longer than v3 reads at once"
        assert {fill.trade_id for fill in archived(simulated)} == {row["tradeId"] for row in on_exchange}
        sums.append(results(simulated))
        await simulated.desk.stop()
    assert simulated.desk.access is Access.UNIFIED
    assert sums[0] == sums[1]


@pytest.mark.parametrize("moved_after_s", [0.5, 5, 60])
async def test_a_moved_account_counts_each_fill_once_though_its_ids_change(
    moved_after_s: float, other_ids: None, tmp_path: Path
) -> None:
    simulated = simulation(AccountMode.CLASSIC, tmp_path)
    simulated.desk.start()
    await simulated.run(moved_after_s, every=moved_after_s)
    simulated.sandbox.faults.plan("account-unified")
    await run_whole(simulated)
    assert simulated.desk.client.is_unified
    count = len(simulated.held("fills", USDT))
    assert len(archived(simulated)) == count
    sums = results(simulated)
    open_position(simulated.exchange_state, simulated.uid, "BTCUSDT", "long", Decimal("0.01"))
    await run_whole(simulated, 10)
    assert len(archived(simulated)) == count + 1
    await simulated.desk.stop()
    simulated.desk = simulated.open_desk()
    simulated.desk.start()
    await run_whole(simulated)
    assert len(archived(simulated)) == count + 1, "the next session reads v3 from the start"
    assert [line for line in results(simulated) if line.group != "BTCUSDT"] == [
        line for line in sums if line.group != "BTCUSDT"
    ]
    await simulated.desk.stop()
    classic = simulation(AccountMode.CLASSIC)
    classic.desk.start()
    await run_whole(classic)
    assert results(classic) == sums
    await classic.desk.stop()


async def test_a_session_that_finds_the_account_moved_counts_each_fill_once(other_ids: None, tmp_path: Path) -> None:
    simulated = simulation(AccountMode.CLASSIC, tmp_path)
    simulated.desk.start()
    await simulated.run(3, every=3)
    assert simulated.desk.fills.snapshot.note, "older fills are still to be read, below an id of v2"
    await simulated.desk.stop()
    for mode in (AccountMode.UNIFIED, AccountMode.CLASSIC):
        move(simulated, mode)
        simulated.desk = simulated.open_desk()
        simulated.desk.start()
        await run_whole(simulated)
        assert simulated.desk.client.is_unified is (mode is AccountMode.UNIFIED)
        assert len(archived(simulated)) == len(simulated.held("fills", USDT))
        results(simulated)
        await simulated.desk.stop()


async def test_the_move_is_no_news_and_a_fill_after_it_is(other_ids: None) -> None:
    simulated = simulation(AccountMode.CLASSIC)
    heard: list[Alert] = []
    simulated.desk.alerts.subscribe(heard.append)
    simulated.desk.start()
    await asyncio.sleep(30)
    simulated.sandbox.faults.plan("account-unified")
    await asyncio.sleep(30)
    assert simulated.desk.client.is_unified
    assert [alert.sentence for alert in heard] == []
    simulated.exchange_state.advance(simulated.clock.wall_ms())
    open_position(simulated.exchange_state, simulated.uid, "BTCUSDT", "long", Decimal("0.01"))
    await asyncio.sleep(6)
    assert [alert.event.kinds for alert in heard] == [{RuleKind.FILL}]
    assert heard[0].sentence.startswith("BTCUSDT LONG opened: bought 0.01")
    await simulated.desk.stop()


async def test_while_an_account_is_moved_nothing_is_shown_of_both() -> None:
    simulated = simulation(AccountMode.CLASSIC)
    desk = simulated.desk
    desk.start()
    await simulated.run(10, every=10)
    classic = {name: feed.snapshot.row_ids for name, feed in desk.feeds.items()}
    equity = desk.totals().equity
    simulated.sandbox.faults.plan("account-upgrading")
    await simulated.run(30, every=30)
    assert not desk.client.is_classic and desk.totals().equity == equity
    for name, feed in desk.feeds.items():
        assert feed.snapshot.error is not None and "upgrading" in feed.snapshot.error.sentence
        assert feed.snapshot.row_ids == classic[name], "the last good rows, beside the error"
    move(simulated)
    are_unified: list[bool] = []
    for _ in range(1200):
        await asyncio.sleep(0.1)
        kinds = {row.record.is_whole or row.record.is_part for row in desk.accounts.snapshot.rows}
        assert len(kinds) == 1, "never rows of both"
        are_unified.append(kinds.pop())
    assert are_unified == sorted(are_unified) and set(are_unified) == {False, True}
    assert desk.access is Access.UNIFIED
    assert all(feed.snapshot.error is None for feed in desk.feeds.values())
    assert desk.archive is not None and desk.archive.rows.count(Selection(FuturesFill)) == len(
        simulated.held("fills", USDT)
    )
    await desk.stop()


async def test_equity_from_before_a_move_is_never_compared_with_that_after_it(tmp_path: Path) -> None:
    simulated = simulation(AccountMode.CLASSIC, tmp_path)
    desk = simulated.desk
    desk.start()
    await simulated.run(150, every=50)
    classic, result = desk.totals().equity, desk.today()
    assert classic is not None and result is not None and abs(result.amount) < classic / 100
    simulated.sandbox.faults.plan("account-unified")
    amounts: set[Decimal] = set()
    for _ in range(1000):
        await asyncio.sleep(0.2)
        if (result := desk.today()) is not None:
            amounts.add(abs(result.amount))
    equity = desk.totals().equity
    assert equity is not None and equity > classic * 2, "all coins of the wallet count"
    assert all(amount < classic / 100 for amount in amounts)
    assert desk.archive is not None
    for mode, before in ((AccountMode.UNIFIED, equity), (AccountMode.CLASSIC, classic)):
        move(simulated, mode)
        await simulated.run(130, every=130)
        newest = last_sample(desk.archive.connection, [USDT], simulated.clock.wall_ms())
        oldest = first_sample(desk.archive.connection, [USDT])
        assert newest is not None and oldest is not None
        assert newest.is_unified is oldest.is_unified is (mode is AccountMode.UNIFIED)
        assert abs(newest.equity - before) < before / 100 and abs(oldest.equity - before) < before / 100
        series = EquitySeries(desk.archive.connection, [USDT]).read(0, simulated.clock.wall_ms())
        assert max(series.values) - min(series.values) < float(before) / 100, "one curve, of one kind"
    await desk.stop()
