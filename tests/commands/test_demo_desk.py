"""A desk on the embedded exchange in this process."""

from __future__ import annotations

import asyncio
import tempfile
from datetime import UTC
from decimal import Decimal
from pathlib import Path

import pytest

from tests.sandbox.invariants import check_books
from tests.ui.fixtures.app_on_sandbox import START_MS
from tradetui.cli import main
from tradetui.commands.process.console import USAGE
from tradetui.commands.session.demo_desk import (
    AWAY_EVERY_S,
    SHOWN_PRODUCT_TYPES,
    build_sandbox,
    open_demo_desk,
)
from tradetui.commands.session.demo_overview import DemoOverview
from tradetui.desk.archive.equity import nearest_sample
from tradetui.desk.overview.account_row import RowState
from tradetui.desk.results.period_query import PeriodChoice, PeriodQuery, period_of
from tradetui.desk.results.period_results import read_period_results
from tradetui.exchange.clock import LoopClock
from tradetui.sandbox.seed_accounts import MOST_OF_A_DESK, desk_accounts
from tradetui.storage.disk_thread import InlineDisk
from tradetui.wire.exchange_time import DAY_MS
from tradetui.wire.text import uid_tail


def test_a_name_that_no_account_has_is_named() -> None:
    with pytest.raises(ValueError, match="no account 'hegde'"):
        open_demo_desk(build_sandbox(7), "hegde", read_only=True)


@pytest.mark.looptime
async def test_a_desk_of_eight_has_one_account_near_liquidation_and_one_whose_exchange_comes_and_goes(
    tmp_path: Path,
) -> None:
    clock = LoopClock(START_MS)
    sandbox = build_sandbox(7, clock, desk_of=8)
    names = [account.name for account in desk_accounts(8)]
    overview = DemoOverview(sandbox, names, "trade", clock, tmp_path, InlineDisk).overview()
    overview.start()
    rows = {row.name: row for row in await overview.look(30)}
    assert {row.state for row in rows.values()} == {RowState.READ, RowState.MARGIN}
    near = rows["near-limit"]
    assert near.state is RowState.MARGIN and near.margin_ratio is not None
    assert Decimal("0.8") < near.margin_ratio < 1 and overview.rows[0].name in ("near-limit", "isolated")
    assert rows["comes-and-goes"].state is rows["coin"].state is RowState.READ
    await asyncio.sleep(AWAY_EVERY_S - 10 - clock.monotonic())
    states = {row.name: row.state for row in overview.rows}
    assert (states["comes-and-goes"], states["coin"]) == (RowState.NO_LINK, RowState.READ)
    await asyncio.sleep(40)
    assert {row.name: row.state for row in overview.rows}["comes-and-goes"] is RowState.READ
    check_books(sandbox.exchange_state)
    await overview.stop()


@pytest.mark.looptime
async def test_a_session_of_a_desk_keeps_its_lock_and_its_day_and_shares_the_permits_of_its_row(
    tmp_path: Path,
) -> None:
    clock = LoopClock(START_MS)
    sandbox = build_sandbox(7, clock, desk_of=3)
    demo = DemoOverview(sandbox, ["hedge", "one-way", "coin"], "trade", clock, tmp_path, InlineDisk)
    overview = demo.overview()
    overview.start()
    await overview.look(30)
    desk = open_demo_desk(
        sandbox,
        "hedge",
        read_only=False,
        clock=clock,
        new_disk=InlineDisk,
        data_dir=tmp_path,
        with_past_equity=True,
        permits=demo.permits,
    )
    desk.start()
    await asyncio.sleep(90)
    assert desk.intents is not None and not desk.intents.locked and not desk.intents.trouble
    rows = {row.name: row for row in overview.rows if row.has_key}
    assert {row.access for row in rows.values()} == {"trade"}
    today = desk.today()
    assert today is not None and rows["hedge"].today is not None
    assert abs(rows["hedge"].today - today.amount) < abs(today.amount) / 100, "the session samples what the demo knows"
    assert rows["one-way"].today is not None, "no session ran there"
    locked = await overview.lock_trading()
    await asyncio.sleep(2)
    assert sorted(locked.locked) == ["coin", "hedge", "one-way"] and desk.intents.locked
    assert {row.access for row in overview.rows if row.has_key} == {"locked"}
    await desk.intents.set_lock(False)
    await asyncio.sleep(6)
    assert {row.name: row.access for row in overview.rows if row.has_key}["hedge"] == "trade"
    assert not [call for call in sandbox.calls if call.code == "429"]
    await desk.stop()
    await overview.stop()


def test_a_desk_has_as_many_accounts_as_wanted_each_with_a_key_of_its_own() -> None:
    assert len({account.uid for account in desk_accounts(MOST_OF_A_DESK)}) == MOST_OF_A_DESK
    state = build_sandbox(7, desk_of=50).exchange_state
    assert len({key.uid for key in state.keys}) == 50
    assert [row["subAccountName"] for row in state.account(state.keys[0].uid).virtual_subaccounts] == [
        "carry",
        "reserve",
    ]


def test_the_uids_of_a_desk_and_its_sub_accounts_differ_in_the_digits_that_a_row_shows() -> None:
    accounts = [owned for seeded in desk_accounts(MOST_OF_A_DESK) for owned in (seeded, *seeded.subaccounts)]
    assert len({uid_tail(owned.uid) for owned in accounts}) == len(accounts)


@pytest.mark.parametrize("line", ["demo --accounts 1", "demo --accounts 51", "demo --accounts 8 --unified"])
def test_a_number_of_accounts_that_cannot_be_shown_is_refused_with_those_that_can(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == USAGE
    assert "Give a number from 2 to 50, without --unified." in capsys.readouterr().err


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


async def test_a_desk_that_may_send_stops_with_threads_for_its_disks_and_leaves_no_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    desk = open_demo_desk(build_sandbox(7), "hedge", read_only=False)
    desk.start()
    while desk.archive is None or desk.intents is None or desk.intents.trouble:  # noqa: ASYNC110 - as a person looks
        await asyncio.sleep(0.02)
    assert "journal.sqlite" in files_in(tmp_path)
    await desk.stop()
    assert not files_in(tmp_path)


@pytest.mark.looptime
async def test_the_demo_knows_the_equity_before_it_and_so_has_a_today() -> None:
    clock = LoopClock(START_MS)
    desk = open_demo_desk(
        build_sandbox(7, clock), "hedge", read_only=True, clock=clock, new_disk=InlineDisk, with_past_equity=True
    )
    desk.start()
    await asyncio.sleep(90)
    today = desk.today()
    assert desk.archive is not None and today is not None
    assert (today.since, today.is_complete) == (None, True)
    opening = nearest_sample(desk.archive.connection, SHOWN_PRODUCT_TYPES, START_MS - START_MS % DAY_MS, 0)
    equity = desk.totals().equity
    assert opening is not None and equity is not None
    assert today.amount == equity - opening.equity, "nothing was transferred today"
    query = PeriodQuery(period_of(PeriodChoice.MONTH, clock.wall_ms(), UTC), clock.wall_ms(), SHOWN_PRODUCT_TYPES)
    results = read_period_results(desk.archive.connection, query)
    assert results.result is not None and results.unexplained == 0
    assert len(results.equity.curve) == 1, "it has no gap"
    await desk.stop()
