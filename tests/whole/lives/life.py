"""Runs one life in virtual time: the trader's deeds, fate's, and the promises judged all along."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import math
import shutil
import tempfile
from collections import Counter
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from tests.bench.virtual_loop import VirtualLoop
from tests.whole.lives.books import Reversal
from tests.whole.lives.clocks import Machine
from tests.whole.lives.journal_watch import JournalWatch, damage_journal, inode_of
from tests.whole.lives.network import Network
from tests.whole.lives.plan import Act, ActKind, ClockStep, Damage, Leg, Plan, StrangerTrade
from tests.whole.lives.process import RUNTIME_DIR, Process, connections_by_process, task_factory
from tests.whole.lives.promises import WITHDRAWN_S, Promises, Step

MEMORY = Path("/dev/shm")
OPERATION_S = 90.0
STOP_S = 40.0
FREE_WITHIN_S = 240.0
SEES_JOURNAL_S = 5.0
LATER_FILLS_SEEN_S = 45.0
SYMBOL = "BTCUSDT"


@dataclass
class Verdict:
    """What came of a life."""

    plan: Plan
    broken: list[str] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    posts: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)


def live(plan: Plan, kind: type[Life] | None = None) -> Verdict:
    """Run a life to its end: a program without a screen, or another kind of life."""
    loop = VirtualLoop()
    loop.set_task_factory(task_factory)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        life = (kind or Life)(plan, Path(folder))
        loop.set_exception_handler(life.unhandled)
        watch = LogWatch(life)
        logger = logging.getLogger("tradetui")
        propagate, logger.propagate = logger.propagate, False
        logger.addHandler(watch)
        try:
            with connections_by_process():
                loop.run_until_complete(life.run())
        finally:
            logger.removeHandler(watch)
            logger.propagate = propagate
            life.close()
            loop.close()
    return life.verdict


class LogWatch(logging.Handler):
    """Keeps what the program logs at error level or above in the story of the life."""

    def __init__(self, life: Life) -> None:
        super().__init__(logging.WARNING)
        self._life = life

    def emit(self, record: logging.LogRecord) -> None:
        self._life.promises.note(f"log {record.levelname}: {record.getMessage()}")


class Life:
    """One life while it runs."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        lags = Random(f"{plan.seed}/fill lags")
        self.network = Network(plan, lambda: lags.uniform(0, plan.fill_lag_s) if plan.fill_lag_s else 0.0)
        self.promises = self._new_promises()
        self.network.departs = self.promises.departs
        self.network.has_read = self.promises.has_read
        self.verdict = Verdict(plan)
        self.runs: Counter[int] = Counter()
        self.processes: dict[int, Process] = {}
        self.dead: list[Process] = []
        self.machines = [Machine(folder, str(plan.seed))]
        self._journals: dict[Path, JournalWatch] = {}
        self._operations: set[asyncio.Task[Any]] = set()
        self._fates: set[asyncio.Task[Any]] = set()
        self._ending = False
        self._weather_over = False
        self._ready_since_s: dict[Process, float] = {}
        self._dead_since_s: dict[int, float] = {}

    def _new_promises(self) -> Promises:
        return Promises(self.plan, self.network)

    def unhandled(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """(f) An exception that nobody took."""
        error = context.get("exception")
        if not self._ending:
            self.promises.breaks("f", f"unhandled: {context.get('message')} {error!r}")

    def close(self) -> None:
        """Let go of the files."""
        for journal in self._journals.values():
            journal.close()

    # The course of it

    async def run(self) -> None:
        """From the start of the first process to the judgement."""
        self._begin()
        for number in range(len(self.plan.processes)):
            await self._start(number)
        loop = asyncio.get_running_loop()
        for act in self.plan.acts:
            loop.call_at(act.at_s, self._begin_act, act)
        self._fate(self._watch_processes())
        last_act_s = max((act.at_s for act in self.plan.acts), default=0.0)
        await asyncio.sleep(max(self.plan.weather_ends_s, last_act_s + 5.0))
        await self._end()
        self._conclude()

    def _begin(self) -> None:
        """The world begins: what is held, and what will happen by itself."""
        self._outside = contextvars.copy_context()
        self._watch_exchange()
        self.network.books.open_before(SYMBOL, self.plan.long, self.plan.short)
        self.network.walls = [machine.wall for machine in self.machines]
        for machine in self.machines:
            machine.boot()
        loop = asyncio.get_running_loop()
        for step in self.plan.clock_steps:
            loop.call_at(step.at_s, self._step_clock, step)
        for trade in self.plan.strangers:
            loop.call_at(trade.at_s, self._stranger, trade)

    def _conclude(self) -> None:
        self.verdict.broken = self.promises.broken
        self.verdict.trace = self.promises.trace
        self.verdict.posts = len(self.network.posts)
        self.verdict.hits += self.network.hits
        for trail in self.promises.trails.values():
            outcome = trail.steps[-1].details.get("outcome", "")
            self.verdict.outcomes[f"{trail.state} {outcome}".strip()] += 1

    async def _end(self) -> None:
        self.promises.note("the weather is over")
        self.network.heal()
        self._weather_over = True
        for act_task in list(self._fates):
            with suppress(asyncio.CancelledError):
                await act_task
        for number in range(len(self.plan.processes)):
            if number not in self.processes:
                await self._start(number)
        await self._later_fills_seen()
        await self._becomes_free()
        await self._stop_all()
        self.promises.judge_end()
        self._ending = True
        for process in self.dead:
            await process.bury()
        for operation in self._operations:
            operation.cancel()
        await asyncio.gather(*self._operations, return_exceptions=True)

    async def _later_fills_seen(self) -> None:
        """Give what was only inferred the time in which a later fill is seen and corrects it."""
        if self.promises.has_inferred():
            await asyncio.sleep(LATER_FILLS_SEEN_S)

    async def _becomes_free(self) -> None:
        """(e) In the end the symbol is free, or one deliberate release frees it."""
        loop = asyncio.get_running_loop()
        until_s, released = loop.time() + FREE_WITHIN_S, False
        while loop.time() < until_s:
            for process in self.processes.values():
                if process.has_lost:
                    self.promises.loss_accepted(process.names.data_dir)
                    self.verdict.hits["losses accepted in the end"] += 1
                    await self._bounded(process, process.accept_loss(), "acceptance of a loss")
                if process.has_older_store:
                    self.verdict.hits["older stores accepted in the end"] += 1
                    await self._bounded(process, process.accept_older_store(), "acceptance of an older store")
            open_intents = [name for process in self.processes.values() for name in process.unsettled()]
            if not open_intents and all(process.ready for process in self.processes.values()):
                return
            if self.plan.core_only and not released and loop.time() > until_s - FREE_WITHIN_S / 2:
                released = True
                self.verdict.hits["released in the end"] += 1
                # What began after the weather is not watched: it has seen nothing of the order while that was open.
                started_s = max(self._ready_since_s.get(process, math.inf) for process in self.processes.values())
                self.promises.judge_release_in_the_end(started_s + SEES_JOURNAL_S)
                for process in self.processes.values():
                    await self._bounded(process, process.release_all(), "release")
            await asyncio.sleep(2.0)
        for process in self.processes.values():
            why = process.trouble or process.execution.intents.store_trouble
            self.promises.breaks("e", f"process {process.number} is not free: {process.unsettled()} {why}")

    async def _stop_all(self) -> None:
        for number in list(self.processes):
            await self._stop(number)
        await asyncio.sleep(1.0)

    # Processes

    def _machine_of(self, number: int) -> Machine:
        return self.machines[self.plan.processes[number].machine]

    def _new_process(self, number: int) -> Process:
        self.runs[number] += 1
        machine = self._machine_of(number)
        process = Process(
            self.plan, self.network, number, self.runs[number], machine.clock, machine.folder, self._disk_used
        )
        self.processes[number] = process
        return process

    async def _start(self, number: int) -> None:
        process = self._new_process(number)
        self.promises.note(f"process {number} starts, run {self.runs[number]}, {process.clock.boot}")
        await asyncio.wait({process.task(process.start())}, timeout=OPERATION_S)

    def _killed(self, number: int) -> None:
        process = self.processes.pop(number, None)
        if process is not None:
            self._died(process)

    def _died(self, process: Process) -> None:
        self.promises.note(f"process {process.number} is killed")
        self.network.end_calls_of(process.number)
        self._dead_since_s[process.number] = asyncio.get_running_loop().time()
        self.verdict.hits["kills"] += 1
        self.dead.append(process)

    async def _stop(self, number: int) -> None:
        """End a process in good order: nothing of it is left, and nothing hangs."""
        process = self.processes.pop(number)
        process.resume()
        self.promises.note(f"process {number} stops")
        self.network.end_calls_of(number)
        died = asyncio.get_running_loop().create_future()
        process.killed = lambda: died.set_result(None)
        stopping = process.task(process.stop())
        done, _ = await asyncio.wait({stopping, died}, timeout=STOP_S, return_when=asyncio.FIRST_COMPLETED)
        if process.dead:
            self._died(process)  # it stands still in the middle of its end, and nothing is left of it
            return
        if not done:
            self.promises.breaks("f", f"process {number} does not stop within {STOP_S} s")
        elif not stopping.cancelled() and (error := stopping.exception()) is not None:
            self.promises.breaks("f", f"stopping process {number} raised {error!r}")
        left: list[asyncio.Task[Any]] = []
        for _ in range(10):  # what the trader had begun to read tries once more, and finds everything closed
            await asyncio.sleep(0.1)
            left = [task for task in process.tasks if task not in self._operations and not task.done()]
            if not left:
                break
        else:
            self.promises.breaks("f", f"tasks left by process {number}: {[repr(task) for task in left]}")
        process.end()
        self.dead.append(process)

    # Deeds

    def _begin_act(self, act: Act) -> None:
        self._fate(self._do(act))

    async def _do(self, act: Act) -> None:
        process = self.processes.get(act.who)
        match act.kind:
            case ActKind.REVERSE if process is not None:
                await self._reverse(process, act)
            case ActKind.RELEASE if process is not None:
                await self._bounded(process, process.release_all(), "release")
            case ActKind.LOCK if process is not None:
                await self._lock(process, act.pause_s)
            case ActKind.KILL if process is not None:
                process.kill()
                self._killed(act.who)
                await self._restart_after(act)
            case ActKind.STOP if process is not None:
                await self._stop(act.who)
                await self._restart_after(act)
            case ActKind.SUSPEND if process is not None:
                self.promises.note(f"process {act.who} is suspended for {act.pause_s} s")
                self.verdict.hits["suspended"] += 1
                process.suspend()
                await asyncio.sleep(act.pause_s)
                process.resume()
                self._ready_since_s[process] = asyncio.get_running_loop().time()
            case ActKind.REBOOT:
                machine = self._machine_of(act.who)
                async with machine.is_down:
                    await self._reboot(machine, act.pause_s)

    async def _lock(self, process: Process, for_s: float) -> None:
        """Lock trading, and unlock it again after a time."""
        self.promises.note(f"process {process.number} locks trading for {for_s} s")
        await self._bounded(process, process.lock(True), "lock")
        await asyncio.sleep(for_s)
        if not process.dead:
            await self._bounded(process, process.lock(False), "unlocking")

    async def _reboot(self, machine: Machine, pause_s: float) -> None:
        self.verdict.hits["reboots"] += 1
        numbers = [number for number in range(len(self.plan.processes)) if self._machine_of(number) is machine]
        for number in numbers:
            if number in self.processes:
                self.processes[number].kill()
                self._killed(number)
        await asyncio.sleep(pause_s)
        shutil.rmtree(machine.folder / RUNTIME_DIR, ignore_errors=True)
        machine.boot()
        for number in numbers:
            await self._start(number)

    async def _restart_after(self, act: Act) -> None:
        await asyncio.sleep(act.pause_s)
        async with self._machine_of(act.who).is_down:
            pass  # nothing runs on a machine that is off, and what runs was begun with its boot
        if act.damage is not None and not self._shares_running(act.who):
            self._damage(act.who, act.damage)
        if act.who not in self.processes:
            await self._start(act.who)

    async def _reverse(self, process: Process, act: Act) -> None:
        self.verdict.hits["tries"] += 1
        if act.kill_step is not None:

            def killed() -> None:
                self._killed(act.who)
                asyncio.get_running_loop().call_soon(self._begin_restart, act)

            process.killed = killed
        await self._bounded(process, process.reverse(self, act), "reversal")

    def _begin_restart(self, act: Act) -> None:
        self._fate(self._restart_after(act))

    def _fate(self, work: Coroutine[Any, Any, None]) -> None:
        """A task of no process, whoever's step it begins in."""
        task = asyncio.get_running_loop().create_task(work, context=self._outside)
        self._fates.add(task)
        task.add_done_callback(self._fates.discard)

    async def _bounded(self, process: Process, work: Any, what: str) -> None:
        """(f) What a trader waits for ends, unless the process died."""
        operation = process.task(work)
        self._operations.add(operation)
        done, _ = await asyncio.wait({operation}, timeout=OPERATION_S)
        if not done and process.was_suspended:
            done, _ = await asyncio.wait({operation}, timeout=2 * OPERATION_S)
        if not done:
            if not process.dead:
                self.promises.breaks("f", f"a {what} at process {process.number} hangs")
            return
        self._operations.discard(operation)
        if not operation.cancelled() and (error := operation.exception()) is not None and not process.dead:
            self.promises.breaks("f", f"a {what} at process {process.number} raised {error!r}")

    def followed(self, process: Process, work: Any) -> None:
        """Keep a task that follows an outcome for as long as it takes."""
        operation = process.task(work)
        self._operations.add(operation)

    # The world

    def _step_clock(self, step: ClockStep) -> None:
        self.network.step_clock(step)
        self.promises.note(f"the {step.clock}'s clock steps by {step.by_s} s for {step.for_s} s")

    def _stranger(self, trade: StrangerTrade) -> None:
        if not self.network.healed:
            self.verdict.hits[f"stranger trades {'the same symbol' if trade.symbol == SYMBOL else 'another'}"] += 1
            self.network.books.stranger_trades(trade.symbol, trade.long, trade.size)
            self.promises.note(f"a stranger trades {trade}")

    def _watch_exchange(self) -> None:
        books, promises = self.network.books, self.promises
        accept, fill, end = books.accept, books._fill, books._end

        def accepting(reversal: Any) -> None:
            accept(reversal)
            promises.accepted(reversal)

        def filling(reversal: Reversal, leg: Leg, share: Decimal) -> None:
            before = reversal.past.now
            fill(reversal, leg, share)
            if reversal.past.now != before:
                promises.filled(reversal, reversal.past.now)

        def ending(reversal: Any) -> None:
            before = reversal.past.now
            end(reversal)
            if reversal.past.now != before:
                promises.filled(reversal, reversal.past.now)

        books.accept, books._fill, books._end = accepting, filling, ending  # type: ignore[method-assign]

    async def _watch_processes(self) -> None:
        """Look twice a second at what every process publishes that had time to look at its journal."""
        loop = asyncio.get_running_loop()
        while not self._weather_over:
            await asyncio.sleep(0.5)
            for process in self.processes.values():
                if process.desk is None or not process.ready or process.suspended:
                    continue
                since_s = self._ready_since_s.setdefault(process, loop.time())
                if loop.time() - since_s > SEES_JOURNAL_S:
                    self.promises.watch(process.number, process.unsettled())
            ready = {
                process.number
                for process, since_s in self._ready_since_s.items()
                if not process.dead and process.ready and loop.time() - since_s > WITHDRAWN_S
            }
            if not self.plan.disk_slow_share:
                self.promises.judge_left_behind(ready, self._dead_since_s)

    # The journal

    def _disk_used(self, process: Process) -> None:
        """See what a process has written into a journal, before it does anything else."""
        if not process.opened:
            self._find_journals(process)
        data_dir = str(process.data_dir)
        for file, journal in tuple(self._journals.items()):
            if journal.data_dir != data_dir or not journal.was_written():
                continue
            if journal.inode != inode_of(file):
                self._find_journals(process)
                journal = self._journals[file]
            for intent, state, details in journal.new_steps():
                step = Step(asyncio.get_running_loop().time(), state, details, process.number)
                self.promises.written(intent, step)
                process.wrote(state)

    def _find_journals(self, process: Process) -> None:
        for file in process.data_dir.glob("accounts/*/journal.sqlite"):
            journal = self._journals.get(file)
            if journal is None or journal.inode != inode_of(file):
                self._journals[file] = self._outside.copy().run(JournalWatch, file)

    def _shares_running(self, number: int) -> bool:
        data_dir = self.plan.processes[number].data_dir
        return any(self.plan.processes[other].data_dir == data_dir for other in self.processes)

    def _damage(self, number: int, damage: Damage) -> None:
        self.verdict.hits[str(damage)] += 1
        data_dir = self.plan.processes[number].data_dir
        for file in (self._machine_of(number).folder / data_dir).glob("accounts/*/journal.sqlite"):
            journal = self._journals.pop(file, None)
            has_events = journal is not None and journal.has_events
            if journal is not None:
                journal.close()
            self.promises.note(f"{damage}: {file.relative_to(self.folder)}")
            damage_journal(file, damage, Random(f"{self.plan.seed}/damage"))
            if journal is not None and damage is Damage.FLIPPED:
                self._journals[file] = self._outside.copy().run(JournalWatch, file, journal.newest)
            if has_events:
                self.promises.damaged(data_dir)
