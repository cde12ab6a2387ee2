"""One budget for several processes: their calls together stay within the limit, and each gets a share.

Several budgets on one file stand for several processes, with the file's work done on the spot in virtual time; real
processes come last. The same holds for several machines that count in one store, each process on another machine.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import sqlite3
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from tests.exchange.arrival_counter import most_in_one_second
from tests.exchange.limited_endpoints import limited
from tests.exchange.memory_permit_server import MemoryConnection, MemoryQuotas
from tradetui.exchange.clock import LoopClock, SystemClock
from tradetui.exchange.errors import NotSent, RateLimited
from tradetui.exchange.rate_limit.budget import Budget, Priority
from tradetui.exchange.rate_limit.permit_file import FILE_NAME, FilePermits
from tradetui.exchange.rate_limit.permit_store import Claim, PermitRequest
from tradetui.exchange.rate_limit.permits_in_store import PermitServer
from tradetui.exchange.rate_limit.quota import COOLING_S

Shared = Callable[..., Budget]


def on_file(directory: Path, seed: int = 1, **options: Any) -> Budget:
    return Budget(directory, "account", clock=LoopClock(0), random=random.Random(seed), inline=True, **options)


@pytest.fixture(params=["file", "store"])
def shared(request: pytest.FixtureRequest) -> Callable[..., Budget]:
    """Make one of several budgets that count together."""
    if request.param == "file":
        return on_file
    machines = [f"desk{seed}" for seed in range(1_000)]
    quotas = MemoryQuotas(dict.fromkeys(machines, 1.0))

    def in_store(directory: Path, seed: int = 1, **options: Any) -> Budget:
        machine, chance = f"desk{seed}", random.Random(seed)
        server = PermitServer(cast(Any, MemoryConnection(quotas, chance)), machine, "office", 1.0)
        return on_file(directory / machine, seed, shared=server, **options)

    return in_store


def now() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.looptime
@pytest.mark.parametrize("seed", range(12))
async def test_several_processes_together_stay_within_the_limit_and_each_gets_a_share(
    seed: int, tmp_path: Path, shared: Shared
) -> None:
    chance = random.Random(seed)
    per_second = chance.choice([1, 2, 5, 10])
    slowest = chance.choice([0.01, 0.12, 0.32, 1.5])
    count = chance.choice([2, 4])
    processes = [shared(tmp_path, seed * 10 + i) for i in range(count)]
    endpoint = limited(per_second)
    arrivals: list[tuple[float, int]] = []

    async def caller(which: int) -> None:
        while now() < 30:
            held = await processes[which].acquire(endpoint, Priority.INTERACTIVE)
            sent, there = now(), chance.uniform(0, slowest)
            arrivals.append((sent + there, which))
            await asyncio.sleep(there + chance.uniform(0, slowest))
            if chance.random() < 0.02:
                held.unanswered()
            else:
                held.replied()

    await asyncio.gather(*(caller(i % count) for i in range(12)))
    assert most_in_one_second(moment for moment, _ in arrivals) <= per_second, f"seed {seed}"
    shares = [sum(1 for _, client in arrivals if client == which) for which in range(count)]
    fair = len(arrivals) / count
    assert min(shares) >= 0.6 * fair - 1, f"seed {seed}: {shares}"
    for process in processes:
        await process.aclose()


@pytest.mark.looptime
async def test_calls_made_before_the_account_was_known_count_for_it(tmp_path: Path) -> None:
    budget, other = on_file(tmp_path, 1), on_file(tmp_path, 2)
    endpoint = limited(3)
    held = [await budget.acquire(endpoint, Priority.INTERACTIVE) for _ in range(2)]
    unrelated = await other.acquire(endpoint, Priority.INTERACTIVE)
    budget.account = "account of this key"
    await budget.acquire(endpoint, Priority.INTERACTIVE)
    for permit in held:
        permit.replied()
    replied_at = now()
    await budget.acquire(endpoint, Priority.INTERACTIVE)
    assert now() - replied_at >= 1.0
    unrelated.replied()


@pytest.mark.looptime
async def test_calls_of_one_that_knows_the_account_count_for_those_that_do_not_know_it_yet(tmp_path: Path) -> None:
    budget, other = on_file(tmp_path, 1), on_file(tmp_path, 2)
    endpoint = limited(1)
    (await budget.acquire(endpoint, Priority.INTERACTIVE)).replied()
    budget.account = "account of this key"
    replied_at = now()
    held = await other.acquire(endpoint, Priority.INTERACTIVE)
    assert now() - replied_at >= 1.0
    held.replied()
    other.account = "account of this key"
    replied_at = now()
    await budget.acquire(endpoint, Priority.INTERACTIVE)
    assert now() - replied_at >= 1.0


@pytest.mark.looptime
@pytest.mark.parametrize("refused_before", [True, False])
async def test_a_pause_asked_for_before_the_account_was_known_holds_for_it(
    tmp_path: Path, refused_before: bool
) -> None:
    budget, other = on_file(tmp_path, 1), on_file(tmp_path, 2)
    endpoint = limited(3)
    other.account = "account of this key"
    (await other.acquire(endpoint, Priority.INTERACTIVE)).replied()
    permit = await budget.acquire(endpoint, Priority.INTERACTIVE)
    if refused_before:
        permit.refused(3.0)
        refused_at = now()
        await asyncio.sleep(0.5)
        budget.account = "account of this key"
    else:
        budget.account = "account of this key"
        await asyncio.sleep(0.5)
        permit.refused(3.0)
        refused_at = now()
    await asyncio.sleep(0.1)
    await other.acquire(endpoint, Priority.INTERACTIVE)
    assert now() - refused_at >= 3.0
    await budget.acquire(endpoint, Priority.INTERACTIVE)


@pytest.mark.looptime
async def test_no_time_is_lost_between_processes(tmp_path: Path, shared: Shared) -> None:
    processes = [shared(tmp_path, i) for i in range(4)]
    endpoint = limited(10)
    calls = 0

    async def caller(which: int) -> None:
        nonlocal calls
        while now() < 20:
            held = await processes[which].acquire(endpoint, Priority.INTERACTIVE)
            calls += 1
            await asyncio.sleep(0.14)
            held.replied()

    await asyncio.gather(*(caller(i % 4) for i in range(30)))
    assert calls / 20 >= 0.97 * 10 / (COOLING_S + 0.14)


@pytest.mark.looptime
async def test_a_reply_wakes_no_feed_that_waits_for_an_earlier_permit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims: list[float] = []
    claim = FilePermits.claim

    def counted(store: FilePermits, request: PermitRequest) -> asyncio.Future[Claim]:
        claims.append(now())
        return claim(store, request)

    monkeypatch.setattr(FilePermits, "claim", counted)
    budget, endpoint = on_file(tmp_path), limited(5)
    held = [await budget.acquire(endpoint, Priority.FEED) for _ in range(3)]
    waiting = [asyncio.create_task(budget.acquire(endpoint, Priority.FEED)) for _ in range(3)]
    replied_at = []
    for permit in held:
        await asyncio.sleep(0.1)
        permit.replied()
        replied_at.append(now())
    for task, moment in zip(waiting, replied_at, strict=True):
        await task
        assert now() == pytest.approx(moment + COOLING_S, abs=0.002)
    # Three for the first, one that says when to look again, one for the first reply, and two for each that waits.
    assert len(claims) <= 3 + 2 + 6, claims
    await budget.aclose()


@pytest.mark.looptime
async def test_feeds_of_one_process_leave_permits_to_persons_of_another(tmp_path: Path, shared: Shared) -> None:
    one, other = shared(tmp_path, 1), shared(tmp_path, 2)
    endpoint = limited(5)
    for _ in range(3):
        await one.acquire(endpoint, Priority.FEED)
    waiting = asyncio.create_task(one.acquire(endpoint, Priority.FEED))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    for _ in range(2):
        await asyncio.wait_for(other.acquire(endpoint, Priority.INTERACTIVE), 0.01)
    waiting.cancel()


@pytest.mark.looptime
@pytest.mark.parametrize("seed", range(5))
async def test_feeds_of_two_processes_take_turns_while_a_person_of_one_reads_on(
    seed: int, tmp_path: Path, shared: Shared
) -> None:
    one, other = shared(tmp_path, seed), shared(tmp_path, seed + 100)
    chance, endpoint = random.Random(seed), limited(2)
    longest_s: dict[Budget, float] = {one: 0.0, other: 0.0}

    async def call(process: Budget, priority: Priority) -> None:
        held = await process.acquire(endpoint, priority)
        await asyncio.sleep(chance.uniform(0.02, 0.15))
        held.replied()

    async def feed(process: Budget, start_s: float) -> None:
        await asyncio.sleep(start_s)
        while now() < 90:
            began = now()
            await asyncio.gather(*(call(process, Priority.FEED) for _ in range(3)))
            longest_s[process] = max(longest_s[process], now() - began)
            await asyncio.sleep(0.1)

    async def reads_on() -> None:
        while now() < 60:
            await call(one, Priority.INTERACTIVE)
            await asyncio.sleep(chance.uniform(1.6, 1.8))

    await asyncio.gather(feed(one, 0), feed(other, 1 + chance.random()), reads_on())
    assert max(longest_s.values()) < 15, "each is served every other time; without turns one waits for a minute"
    for process in (one, other):
        await process.aclose()


@pytest.mark.looptime
async def test_a_process_that_waited_and_died_holds_up_nobody_for_long(tmp_path: Path, shared: Shared) -> None:
    one, other = shared(tmp_path, 1), shared(tmp_path, 2)
    endpoint = limited(1)
    held = await one.acquire(endpoint, Priority.FEED)
    waiting = asyncio.create_task(other.acquire(endpoint, Priority.FEED))
    await asyncio.sleep(0.1)
    waiting.cancel()
    held.replied()
    await one.acquire(endpoint, Priority.FEED)
    assert now() < 0.1 + COOLING_S + 0.5
    for process in (one, other):
        await process.aclose()


@pytest.mark.looptime
async def test_a_429_in_one_process_halves_all(tmp_path: Path, shared: Shared) -> None:
    one, other = shared(tmp_path, 1), shared(tmp_path, 2)
    endpoint = limited(10)
    (await one.acquire(endpoint, Priority.INTERACTIVE)).refused(retry_after=3)
    held = await other.acquire(endpoint, Priority.INTERACTIVE)
    assert 3 < now() <= 3.5
    assert other.usage()["futures.fills"].halved
    held.refused(retry_after=60)
    with pytest.raises(RateLimited):
        await one.acquire(endpoint, Priority.INTERACTIVE)


@pytest.mark.looptime
async def test_the_header_is_explained_by_all_processes_together(tmp_path: Path, shared: Shared) -> None:
    one, other = shared(tmp_path, 1), shared(tmp_path, 2)
    endpoint = limited(10)
    held = [await one.acquire(endpoint, Priority.INTERACTIVE) for _ in range(4)]
    theirs = [await other.acquire(endpoint, Priority.INTERACTIVE) for _ in range(3)]
    held[0].replied(remaining=3)
    await one.acquire(endpoint, Priority.INTERACTIVE)
    assert not one.usage()["futures.fills"].halved
    theirs[0].replied(remaining=1)
    await asyncio.sleep(0.01)
    await one.acquire(endpoint, Priority.INTERACTIVE)
    assert one.usage()["futures.fills"].halved


@pytest.mark.looptime
async def test_waiting_can_be_cancelled(tmp_path: Path, shared: Shared) -> None:
    budget, endpoint = shared(tmp_path), limited(1)
    held = await budget.acquire(endpoint, Priority.INTERACTIVE)
    crowd = [asyncio.create_task(budget.acquire(endpoint, Priority.INTERACTIVE)) for _ in range(200)]
    await asyncio.sleep(0.1)
    held.replied()
    await asyncio.sleep(0.9)  # one of them holds a reservation by now
    for waiting in crowd:
        waiting.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)
    await budget.acquire(endpoint, Priority.INTERACTIVE)
    assert now() == pytest.approx(0.1 + COOLING_S, abs=0.01)


@pytest.mark.looptime
async def test_a_lease_ends_what_a_killed_process_held(tmp_path: Path, shared: Shared) -> None:
    killed, other = shared(tmp_path, 1), shared(tmp_path, 2)
    endpoint = limited(1)
    await killed.acquire(endpoint, Priority.INTERACTIVE, hold_s=8)
    await other.acquire(endpoint, Priority.INTERACTIVE)
    assert 8 <= now() <= 8.3


@pytest.mark.looptime
@pytest.mark.parametrize("hold_s", [600, 86_400])
async def test_a_call_that_may_take_long_holds_its_permit_for_so_long(
    tmp_path: Path, shared: Shared, hold_s: float
) -> None:
    patient, other = shared(tmp_path, 1), shared(tmp_path, 2)
    held = await patient.acquire(limited(1), Priority.INTERACTIVE, hold_s=hold_s)
    waiting = asyncio.create_task(other.acquire(limited(1), Priority.INTERACTIVE))
    await asyncio.sleep(60)
    assert not waiting.done()
    held.replied()
    await waiting


@pytest.mark.looptime
async def test_what_begins_far_ahead_is_of_a_clock_that_has_begun_anew(tmp_path: Path) -> None:
    budget = on_file(tmp_path)
    await asyncio.sleep(1_000)
    await budget.acquire(limited(1), Priority.INTERACTIVE, hold_s=8)
    with sqlite3.connect(tmp_path / FILE_NAME) as base:
        ((state,),) = base.execute("select state from endpoints").fetchall()
        *terms, uses, turns = json.loads(state)
        later = {
            name: [owner, begins + 1000, ends + 1000, known] for name, (owner, begins, ends, known) in uses.items()
        }
        base.execute("update endpoints set state = ?", (json.dumps([*terms, later, turns]),))
    await on_file(tmp_path, 2).acquire(limited(1), Priority.INTERACTIVE)
    assert now() == 1_000


_TAKES_ALL_AND_STAYS = """
import asyncio, sys
from pathlib import Path
from tests.exchange.limited_endpoints import limited
from tradetui.exchange.rate_limit.budget import Priority
from tradetui.exchange.rate_limit.budget import Budget

async def main() -> None:
    budget = Budget(Path(sys.argv[1]), "account")
    for _ in range(3):
        await budget.acquire(limited(3), Priority.INTERACTIVE, hold_s=60)
    print("taken", flush=True)
    await asyncio.sleep(120)

asyncio.run(main())
"""


async def test_what_a_killed_process_held_is_free_a_second_after_its_death_is_seen(tmp_path: Path) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _TAKES_ALL_AND_STAYS,
        str(tmp_path),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert child.stdout is not None
    assert await child.stdout.readline() == b"taken\n"
    child.kill()
    await child.wait()
    budget = Budget(tmp_path, "account")
    begun = now()
    await asyncio.wait_for(budget.acquire(limited(3), Priority.INTERACTIVE), 30)
    assert COOLING_S <= now() - begun < 10, "and not the minute for which it would have held them"
    await budget.aclose()
    assert [file.name.partition("-")[0] for file in (tmp_path / "alive").iterdir()] == [str(child.pid)]


@pytest.mark.looptime
async def test_a_living_process_keeps_what_it_holds(tmp_path: Path, shared: Shared) -> None:
    living, other = shared(tmp_path, 1), shared(tmp_path, 2)
    await living.acquire(limited(1), Priority.INTERACTIVE, hold_s=8)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(other.acquire(limited(1), Priority.INTERACTIVE), 5)


@pytest.mark.looptime
async def test_accounts_and_addresses_are_counted_apart(tmp_path: Path) -> None:
    one = on_file(tmp_path, 1, host="h")
    other = Budget(tmp_path, "other", host="h", clock=LoopClock(0), random=random.Random(2), inline=True)
    await one.acquire(limited(1), Priority.INTERACTIVE)
    await other.acquire(limited(1), Priority.INTERACTIVE)
    await one.acquire(limited(1, name="public.time", scope="ip"), Priority.INTERACTIVE, hold_s=5)
    await other.acquire(limited(1, name="public.time", scope="ip"), Priority.INTERACTIVE)
    assert 5 <= now() <= 5.3


@pytest.mark.looptime
async def test_another_boot_begins_anew(tmp_path: Path) -> None:
    budget = on_file(tmp_path)
    await budget.acquire(limited(1), Priority.INTERACTIVE, hold_s=500)
    await budget.aclose()
    with sqlite3.connect(tmp_path / FILE_NAME) as base:
        base.execute("update boot set id = 'another'")
    await on_file(tmp_path).acquire(limited(1), Priority.INTERACTIVE)
    assert now() == 0


@pytest.mark.looptime
async def test_a_damaged_file_is_set_aside_and_a_newer_one_refused(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(b"this is no database" * 100)
    budget = on_file(tmp_path)
    await budget.acquire(limited(1), Priority.INTERACTIVE)
    assert isinstance(budget.store, FilePermits)
    assert path.with_name(FILE_NAME + ".damaged").exists()
    await budget.aclose()
    with sqlite3.connect(path) as base:
        version = base.execute("pragma user_version").fetchone()[0]
        base.execute(f"pragma user_version = {version + 1}")
    with pytest.raises(NotSent, match="newer"):
        await on_file(tmp_path).acquire(limited(1), Priority.INTERACTIVE)


@pytest.mark.looptime
async def test_without_the_file_the_process_counts_alone(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where the directory should be")
    budget = on_file(tmp_path / "taken")
    (await budget.acquire(limited(1), Priority.INTERACTIVE)).replied()
    await budget.acquire(limited(1), Priority.INTERACTIVE)
    assert not isinstance(budget.store, FilePermits)
    assert now() == pytest.approx(COOLING_S, abs=1e-3)


@pytest.mark.looptime
async def test_where_the_file_fails_meanwhile_those_who_wait_go_on_in_this_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    budget, endpoint = on_file(tmp_path), limited(1)
    held = await budget.acquire(endpoint, Priority.INTERACTIVE)
    waiting = asyncio.create_task(budget.acquire(endpoint, Priority.INTERACTIVE))
    await asyncio.sleep(0.1)
    with sqlite3.connect(tmp_path / FILE_NAME) as base:
        base.execute("drop table endpoints")
    held.replied()
    (await waiting).replied()
    replied_at = now()
    await budget.acquire(endpoint, Priority.INTERACTIVE)
    assert now() - replied_at == pytest.approx(COOLING_S, abs=1e-3)
    assert caplog.text.count("other processes are not seen") == 1
    await budget.aclose()


async def test_a_file_that_another_process_holds_is_waited_for_and_used_again(tmp_path: Path) -> None:
    budget, endpoint = Budget(tmp_path, "account"), limited(10)
    (await budget.acquire(endpoint, Priority.INTERACTIVE)).replied()
    base = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    base.execute("begin immediate")
    waiting = asyncio.create_task(budget.acquire(endpoint, Priority.INTERACTIVE))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(waiting), 0.05)
    base.execute("commit")
    (await waiting).replied()
    (await budget.acquire(endpoint, Priority.INTERACTIVE)).replied()
    assert isinstance(budget.store, FilePermits)
    assert budget.usage()["futures.fills"].used == 3
    base.close()
    await budget.aclose()


async def test_the_file_is_for_the_user_alone(tmp_path: Path) -> None:
    budget = Budget(tmp_path / "run", "account")
    (await budget.acquire(limited(10), Priority.INTERACTIVE)).replied()
    await budget.aclose()
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "run" / FILE_NAME).stat().st_mode) == 0o600


_PROCESS = textwrap.dedent("""
    import asyncio, sys, time
    from pathlib import Path
    from tests.exchange.limited_endpoints import limited
    from tradetui.exchange.rate_limit.budget import Priority
    from tradetui.exchange.rate_limit.budget import Budget

    async def main(directory, held_s):
        budget, endpoint = Budget(Path(directory), "account"), limited(10)
        async def caller():
            while True:
                held = await budget.acquire(endpoint, Priority.INTERACTIVE, hold_s=500)
                print(time.monotonic(), flush=True)
                await asyncio.sleep(held_s)
                held.replied()
        await asyncio.gather(*(caller() for _ in range(10)))

    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
""")


@contextmanager
def _sending(directory: Path, held_s: float) -> Iterator[subprocess.Popen[str]]:
    """A process that takes ten permits a second for so many seconds each, and prints when."""
    command = [sys.executable, "-c", _PROCESS, str(directory), str(held_s)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=root, env={**os.environ, "PYTHONPATH": "."}
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _sent(process: subprocess.Popen[str], count: int) -> list[float]:
    assert process.stdout is not None
    return [float(process.stdout.readline()) for _ in range(count)]


def _begin_files(number: int, directory: Path, together: Any) -> None:
    try:
        for turn in range(40):
            together.wait(200)
            FilePermits(directory / str(turn), SystemClock(), random.Random(number)).close()
    except BaseException:
        together.abort()  # the others would wait for one that is gone
        raise


def test_processes_that_begin_at_once_all_see_each_other(tmp_path: Path) -> None:
    forked = multiprocessing.get_context("fork")
    together = forked.Barrier(4)
    processes = [forked.Process(target=_begin_files, args=(number, tmp_path, together)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4


def test_real_processes_share_and_a_killed_one_frees_itself(tmp_path: Path) -> None:
    with _sending(tmp_path, 600) as killed:
        _sent(killed, 10)  # all there are, and for eight minutes
        with _sending(tmp_path, 0.05) as one, _sending(tmp_path, 0.05) as other:
            killed.kill()
            sent = [*_sent(one, 20), *_sent(other, 20)]
    # Sending and reply are 50 ms apart, so a second between sendings is a second at any server in between.
    assert most_in_one_second(sent) <= 10
