"""A desk on the embedded exchange in this process."""

from __future__ import annotations

import asyncio
import tempfile
from datetime import UTC
from pathlib import Path

import pytest

from tests.ui.fixtures.app_on_sandbox import START_MS
from tradetui.commands.session.demo_desk import SHOWN_PRODUCT_TYPES, build_sandbox, open_demo_desk
from tradetui.desk.archive.equity import nearest_sample
from tradetui.desk.results.period_query import PeriodChoice, PeriodQuery, period_of
from tradetui.desk.results.period_results import read_period_results
from tradetui.exchange.clock import LoopClock
from tradetui.storage.disk_thread import InlineDisk
from tradetui.wire.exchange_time import DAY_MS


def test_a_name_that_no_account_has_is_named() -> None:
    with pytest.raises(ValueError, match="no account 'hegde'"):
        open_demo_desk(build_sandbox(7), "hegde", read_only=True)


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
