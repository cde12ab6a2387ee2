"""What was left open stands in the header at the start, though the exchange has not told yet whose account it is."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from tests.sandbox.exchange_events import heal
from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tests.ui.fixtures.journalled_reversals import unknown
from tradetui.desk.archive.archive_rows import Selection
from tradetui.sandbox.app import Sandbox
from tradetui.storage.sqlite_file import connect_existing
from tradetui.ui.application.run_app import screen_text
from tradetui.wire.models.futures import FuturesFill

pytestmark = pytest.mark.looptime
SIZE = (140, 60)


def tells_nothing(sandbox: Sandbox) -> None:
    """No read of this exchange is answered."""
    for endpoint in ("spot.account_info", "futures.accounts", "futures.positions", "futures.fills"):
        sandbox.faults.plan("dropped-before", endpoint=endpoint, times=1_000_000)


async def test_what_was_left_open_is_named_before_anything_was_read(tmp_path: Path) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE) as pilot:
        await unknown(stage, pilot)
    stage = AppOnFewRows(data_dir=tmp_path, before=tells_nothing)
    async with stage.running(SIZE, after=0.5) as pilot:
        execution = stage.desk.execution
        assert execution is not None
        assert stage.desk.account is None
        assert "UNKNOWN OUTCOME BTCUSD" in screen_text(stage.app).splitlines()[0]
        assert execution.intents.trouble is not None, "nothing is sent before the account is known"
        heal(stage.sandbox.faults)
        await asyncio.sleep(12)
        await pilot.pause()
        assert stage.desk.account is not None and execution.intents.trouble is None
        assert await execution.intents.newest(), "the journal is the one that was expected"


def make_archive_older(data_dir: Path) -> None:
    (file,) = data_dir.rglob("archive.sqlite")
    with closing(connect_existing(file)) as connection:
        connection.execute("PRAGMA user_version=14")


async def test_an_archive_that_was_set_aside_is_said_once(tmp_path: Path) -> None:
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE, after=5):
        pass
    make_archive_older(tmp_path)
    stage = AppOnFewRows(data_dir=tmp_path)
    async with stage.running(SIZE, after=10):
        messages = [note.message for note in stage.app._notifications if "version-14-1" in note.message]
        assert len(messages) == 1 and "What the exchange still keeps is read again." in messages[0]
        assert stage.desk.archive is not None and stage.desk.archive.rows.count(Selection(FuturesFill)) > 20
