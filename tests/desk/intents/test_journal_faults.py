"""The journal under bad weather: where it cannot be trusted nothing is sent, and the sentence names the remedy."""

# ruff: noqa: ASYNC240 - time is virtual here, and the disk is not

from __future__ import annotations

import asyncio
import multiprocessing
import os
import resource
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.desk.intents.test_journal import raised
from tests.full_disk import disk_full_at, wal_of
from tests.whole.reversal.reversal_session import SYMBOL, USDT, Scene, scene, session
from tradetui.desk.archive.database import Archive
from tradetui.desk.intents.intents import JournalFault
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.registered_journal import JournalLocation
from tradetui.desk.intents.states import AlreadyOpen, State
from tradetui.desk.reversal.execution import Execution, NotConfirmed
from tradetui.desk.reversal.preview import Preview, Target
from tradetui.desk.reversal.progress import Sent
from tradetui.exchange.clock import Moment
from tradetui.exchange.errors import NotSent
from tradetui.storage import sqlite_file
from tradetui.storage.sqlite_file import FileUnusable
from tradetui.wire.enums import Side

pytestmark = pytest.mark.looptime

LONG = Target(SYMBOL, USDT, Side.BUY)
NOBODY = 65534
LOCK = "USDT-FUTURES|BTCUSDT"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "account" / "journal.sqlite"


async def refused(execution: Execution, preview: Preview) -> str:
    """Why it is not sent."""
    with pytest.raises((NotConfirmed, NotSent)) as caught:
        await execution.confirm(preview, preview.subject)
    return str(caught.value)


async def test_a_full_disk_refuses_before_sending(file: Path) -> None:
    async with scene() as on, session(on, file) as execution:
        on.hold(long="2")
        preview = await execution.preview(LONG)
        with disk_full_at(wal_of(file).stat().st_size):
            refusal = await refused(execution, preview)
        assert "cannot be written" in refusal and "free space" in refusal
        assert on.posts == 0
        assert any("free space" in reason for reason in execution.blocking_reasons(preview, preview.subject)), (
            "and it stays refused"
        )


@pytest.mark.parametrize("registered", [False, True], ids=["journal alone", "with the registry"])
async def test_a_journal_is_tried_again_and_goes_on_once_the_disk_takes_writes(file: Path, registered: bool) -> None:
    registry = file.parent.parent / "state" / "registry.sqlite"
    location = JournalLocation(file, registry if registered else None, ("account",))
    async with scene() as on, session(on, location) as execution:
        on.hold(long="2")
        intents = execution.intents
        preview = await execution.preview(LONG)
        full = wal_of(registry if registered else file).stat().st_size
        with disk_full_at(full):
            await refused(execution, preview)
            assert intents.fault is JournalFault.UNWRITABLE and execution.intents.locked
            assert intents.trouble is not None and "then try again: press L" in intents.trouble
            assert not await intents.try_again(), "it is still full"
            assert intents.fault is JournalFault.UNWRITABLE and intents.trouble is not None
        with closing(Journal(file)) as other:
            other.set_trading_lock(False, Moment.now(on.client.clock))  # nobody holds the file
        await asyncio.sleep(2)
        assert execution.intents.locked, "only the trader's step goes on"
        assert await intents.try_again() and not execution.intents.locked and intents.trouble is None
        assert on.posts == 0
        preview = await execution.preview(LONG)
        sent = await execution.confirm(preview, preview.subject)
        *_, end = [progress async for progress in execution.follow(sent)]
        assert end.state is State.SETTLED and on.posts == 1


@pytest.mark.parametrize(
    ("locked", "others"),
    [(True, "are not locked, lock them there"), (False, "stay locked")],
)
async def test_a_lock_that_cannot_be_written_says_what_holds_for_the_other_sessions(
    file: Path, locked: bool, others: str
) -> None:
    async with scene() as on, session(on, file) as execution:
        await execution.intents.set_lock(not locked)
        with disk_full_at(wal_of(file).stat().st_size):
            assert not await execution.intents.set_lock(locked)
        assert execution.intents.trouble is not None and execution.intents.trouble.endswith(others)


async def test_a_journal_that_was_put_in_its_place_is_no_journal_to_go_on_with(file: Path) -> None:
    async with scene() as on, session(on, file) as execution:
        on.hold(long="2")
        preview = await execution.preview(LONG)
        file.unlink()
        await refused(execution, preview)
        assert execution.intents.fault is not None
        assert not await execution.intents.try_again()
        assert execution.intents.loss is not None and execution.intents.locked
        await refused(execution, preview)
        assert on.posts == 0


async def test_a_disk_that_is_full_just_before_the_first_byte_sends_nothing(file: Path) -> None:
    async with scene() as on:
        on.hold(long="2")
        async with session(on, file) as execution:
            preview = await execution.preview(LONG)
            right = Journal.begin

            def begin_then_full(self: Journal, *arguments: Any, **named: Any) -> None:
                right(self, *arguments, **named)
                resource.setrlimit(resource.RLIMIT_FSIZE, (wal_of(file).stat().st_size, resource.RLIM_INFINITY))

            with pytest.MonkeyPatch.context() as patch, disk_full_at(resource.RLIM_INFINITY):
                patch.setattr(Journal, "begin", begin_then_full)
                refusal = await refused(execution, preview)
            assert "free space" in refusal
            assert on.posts == 0
        async with session(on, file) as execution:
            await asyncio.sleep(36)
            assert not execution.intents.unsettled(), "never sent, so withdrawn"
            assert (await execution.intents.read("tt-0")).state is State.WITHDRAWN
        assert on.posts == 0


async def test_a_disk_that_fills_up_once_it_was_sent_loses_nothing(file: Path) -> None:
    async with scene() as on:
        on.hold(long="2")
        async with session(on, file) as execution:
            sent = await sent_into_a_full_disk(on, execution, file)
            assert sent.acknowledged, "it was sent, whatever the disk says"
            assert execution.intents.unsettled()
            preview = await execution.preview(LONG)
            assert any("not settled" in reason for reason in execution.blocking_reasons(preview, preview.subject))
        async with session(on, file) as execution:
            assert execution.intents.unsettled()
            await asyncio.sleep(40)
            intent = await execution.intents.read(sent.intent)
            assert intent.state is State.SETTLED and intent.details["outcome"] == "reversed"
        assert on.posts == 1


async def sent_into_a_full_disk(on: Scene, execution: Execution, file: Path) -> Sent:
    preview = await execution.preview(LONG)
    right = Journal.step

    def step_then_full(self: Journal, intent: str, state: State, *arguments: Any, **named: Any) -> None:
        right(self, intent, state, *arguments, **named)
        if state is State.SENT:
            resource.setrlimit(resource.RLIMIT_FSIZE, (wal_of(file).stat().st_size, resource.RLIM_INFINITY))

    with pytest.MonkeyPatch.context() as patch, disk_full_at(resource.RLIM_INFINITY):
        patch.setattr(Journal, "step", step_then_full)
        return await execution.confirm(preview, preview.subject)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write anywhere; a trader may not."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("begun", [False, True], ids=["nothing there", "a journal there"])
async def test_a_read_only_directory_refuses(begun: bool) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        file = folder / "journal.sqlite"
        if begun:
            Journal(file).close()
            file.chmod(0o444)
        folder.chmod(0o555)
        async with scene() as on:
            on.hold(long="2")
            with as_nobody():
                async with session(on, file) as execution:
                    refusal = await refused(execution, await execution.preview(LONG))
            assert "cannot be written" in refusal and "Check the directory" in refusal
            assert on.posts == 0
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


async def test_a_newer_journal_is_left_alone_and_nothing_is_sent(file: Path) -> None:
    Journal(file).close()
    raw = sqlite3.connect(file)
    raw.execute("PRAGMA user_version=99")
    raw.close()
    content = file.read_bytes()
    async with scene() as on, session(on, file) as execution:
        on.hold(long="2")
        refusal = await refused(execution, await execution.preview(LONG))
        assert "newer version (99)" in refusal and "Use the newer tradetui" in refusal
        assert on.posts == 0
    assert file.read_bytes() == content


@pytest.mark.parametrize("once", ["before the confirmation", "before it is sent"])
async def test_a_newer_program_under_an_open_session_keeps_it_from_sending(
    file: Path, monkeypatch: pytest.MonkeyPatch, once: str
) -> None:
    async with scene() as on, session(on, file) as execution:
        on.hold(long="2")
        preview = await execution.preview(LONG)
        if once == "before the confirmation":
            raised(file)
        else:
            begin = execution.intents.begin

            async def begun_and_raised(*arguments: Any, **named: Any) -> None:
                await begin(*arguments, **named)
                raised(file)

            monkeypatch.setattr(execution.intents, "begin", begun_and_raised)
        assert "Restart tradetui" in await refused(execution, preview)
        assert "Restart tradetui" in (execution.intents.trouble or "")
        assert on.posts == 0


def in_another_thread(call: Callable[[], None]) -> None:
    """Call it where it is called: the journal has a thread of its own, and the archive another one."""
    with ThreadPoolExecutor() as pool:
        pool.submit(call).result()


async def test_another_file_of_the_account_that_a_newer_program_has_changed_keeps_it_from_sending(file: Path) -> None:
    async with scene() as on, session(on, file) as execution:
        on.hold(long="2")
        archive = Archive(file.with_name("archive.sqlite"))
        execution.intents.checks_before_sending = [lambda: in_another_thread(archive.refuse_other_version)]
        preview = await execution.preview(LONG)
        raised(file.with_name("archive.sqlite"))
        assert "Restart tradetui" in await refused(execution, preview)
        assert on.posts == 0
        archive.connection.close()


async def test_a_network_file_system_refuses(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with scene() as on:
        on.hold(long="2")
        monkeypatch.setattr(sqlite_file, "file_system_of", lambda directory, mounts: "nfs4")
        async with session(on, file) as execution:
            refusal = await refused(execution, await execution.preview(LONG))
            assert "network file system (nfs4)" in refusal and "Set data_dir to a directory on this machine" in refusal
            assert on.posts == 0
        assert not file.exists()


def written(file: Path, intents: int) -> None:
    """A journal with so many settled intents, all of it in the file itself."""
    journal = Journal(file)
    for number in range(intents):
        begin(journal, f"i{number}")
        for state in (State.SENT, State.ACKNOWLEDGED, State.SETTLED):
            journal.step(f"i{number}", state, {"words": "x" * 200}, Moment(2))
    journal.close()


def begin(journal: Journal, intent: str) -> None:
    journal.begin(intent, "account", LOCK, "reversal", {"request": {}}, Moment(1))


@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.7, 0.9])
async def test_a_damaged_page_anywhere_locks_trading_until_somebody_has_looked(file: Path, part: float) -> None:
    written(file, 100)
    content = bytearray(file.read_bytes())
    page = int(len(content) // 4096 * part) * 4096
    content[page : page + 4096] = b"\xff" * 4096
    file.write_bytes(content)
    aside = file.with_name("journal.sqlite.damaged-1")
    async with scene() as on:
        on.hold(long="2")
        async with session(on, file) as execution:
            refusal = await refused(execution, await execution.preview(LONG))
            assert "damaged" in refusal and aside.name in refusal
        assert aside.read_bytes() == bytes(content), "kept as it was"
        async with session(on, file) as execution:
            refusal = await refused(execution, await execution.preview(LONG))
            assert aside.name in refusal and "--accept-loss" in refusal, "the next session is locked too"
        assert on.posts == 0
        aside.rename(file.with_name("looked-at"))
        async with session(on, file) as execution:
            preview = await execution.preview(LONG)
            await execution.confirm(preview, preview.subject)
        assert on.posts == 1


def test_a_torn_log_keeps_every_step_before_the_tear(file: Path, tmp_path: Path) -> None:
    journal = Journal(file)
    begin(journal, "i1")
    whole = [State.INTENDED, State.SENT, State.ACKNOWLEDGED, State.SETTLED]
    for state in whole[1:]:
        journal.step("i1", state, {}, Moment(2))
    database, log = file.read_bytes(), wal_of(file).read_bytes()
    journal.close()
    lengths = set()
    for number, length in enumerate([*range(0, len(log), 1111), len(log)]):
        torn = tmp_path / str(number) / file.name
        torn.parent.mkdir()
        torn.write_bytes(database)
        wal_of(torn).write_bytes(log[:length])
        again = Journal(torn)
        again.check()
        states = [event.state for intent in again.newest() for event in intent.events]
        assert states == whole[: len(states)], f"cut at {length}"
        lengths.add(len(states))
        if 0 < len(states) < 4:
            with pytest.raises(AlreadyOpen):
                begin(again, "i2")
        again.close()
    assert lengths == {0, 1, 2, 3, 4}


async def test_a_journal_that_another_program_holds_refuses(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "connect", partial(sqlite_file.connect, timeout_s=0.01))
    async with scene() as on, session(on, file) as execution:
        on.hold(long="2")
        preview = await execution.preview(LONG)
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            refusal = await refused(execution, preview)
        finally:
            other.execute("ROLLBACK")
            other.close()
        assert "database is locked" in refusal
        assert on.posts == 0


def _race(file: Path, barrier: Any, results: Any, name: str, rounds: int) -> None:
    journal = Journal(file)
    for number in range(rounds):
        intent = f"{name}-{number}"
        barrier.wait()
        try:
            begin(journal, intent)
        except AlreadyOpen:
            won = False
        else:
            won = True
        results.put((number, won))
        barrier.wait()
        if won:
            journal.step(intent, State.WITHDRAWN, {}, Moment(2))
        barrier.wait()


def test_of_processes_that_begin_at_once_one_does(file: Path) -> None:
    rounds, processes = 40, 3
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(processes), context.Queue()
    Journal(file).close()
    running = [
        context.Process(target=_race, args=(file, barrier, results, f"p{number}", rounds))
        for number in range(processes)
    ]
    for process in running:
        process.start()
    won = [number for number, wins in (results.get(timeout=30) for _ in range(rounds * processes)) if wins]
    for process in running:
        process.join(10)
        assert process.exitcode == 0
    assert sorted(won) == list(range(rounds))


def _hold_and_die(file: Path, ready: Any) -> None:
    journal = Journal(file)
    journal._connection.execute("BEGIN IMMEDIATE")
    journal._connection.execute("INSERT INTO intent VALUES ('ghost', 'account', ?, 'reversal', 'intended', 1)", (LOCK,))
    ready.set()
    signal.pause()


def test_a_process_killed_in_the_middle_of_a_step_holds_nobody_up(file: Path) -> None:
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    Journal(file).close()
    process = context.Process(target=_hold_and_die, args=(file, ready))
    process.start()
    assert ready.wait(20)
    process.kill()
    process.join(10)
    journal = Journal(file)
    begin(journal, "i1")
    assert [intent.id for intent in journal.newest()] == ["i1"]


def test_what_is_said_of_each_file_names_a_remedy(file: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "none" / "x", file):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"no database" * 500)
        with pytest.raises(FileUnusable) as caught:
            Journal(path)
        assert caught.value.remedy and caught.value.reason and str(path) == caught.value.file


@pytest.mark.parametrize("lost", ["directory moved", "directory removed", "file unlinked", "log unlinked", "replaced"])
async def test_a_journal_that_is_not_where_others_look_for_it_sends_nothing(file: Path, lost: str) -> None:
    async with scene() as on, session(on, file) as execution:
        on.hold(long="2")
        preview = await execution.preview(LONG)
        if lost == "directory moved":
            file.parent.rename(file.parent.with_name("elsewhere"))
        elif lost == "directory removed":
            shutil.rmtree(file.parent)
        elif lost == "file unlinked":
            file.unlink()
        elif lost == "log unlinked":
            wal_of(file).unlink()
        else:
            shutil.copy(file, file.with_name("copy"))
            file.with_name("copy").rename(file)
        refusal = await refused(execution, preview)
        assert "moved, deleted or replaced" in refusal and "try again: press L" in refusal
        assert on.posts == 0
        assert any("moved, deleted" in reason for reason in execution.blocking_reasons(preview, preview.subject)), (
            "and it stays refused"
        )


async def test_a_lost_journal_is_noticed_while_nobody_sends_and_a_lock_stays_this_sessions_own(file: Path) -> None:
    async with scene() as on, session(on, file) as execution:
        on.hold(long="2")
        preview = await execution.preview(LONG)
        shutil.rmtree(file.parent)
        await asyncio.sleep(1)
        assert any("moved, deleted" in reason for reason in execution.blocking_reasons(preview, preview.subject))
        execution.intents.set_lock(True)
        await asyncio.sleep(0.1)
        assert execution.intents.locked
        assert any(
            "other sessions are not locked" in reason for reason in execution.blocking_reasons(preview, preview.subject)
        )
