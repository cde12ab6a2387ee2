"""A life of several machines on one account, each with its own journal, clocks and way to the store that all share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.desk.intents.memory_store import AccountRows, Link, MemoryConnection, MemoryServer, Row
from tests.whole.lives.clocks import Machine
from tests.whole.lives.life import Life
from tests.whole.lives.network import Network, Post
from tests.whole.lives.plan import Plan, StoreFault, StoreFaultKind
from tests.whole.lives.process import Process
from tests.whole.lives.promises import LOCKING, Promises, Step
from tradetui.desk.intents.journal.account_store import AccountStore, StoreEvent
from tradetui.desk.intents.lost_intents import BY
from tradetui.desk.intents.states import State

PEOPLE = ("anna", "bob", "olga")
SILENCE_NOTICED_S = 2.0
SLOW_S = 0.4
LOCK_SEEN_S = 1.0
NEXT_SESSION_S = 60.0
"""Within this a session with a slow disk tells the store what was written before it began."""
STALE_S = 10.0
"""So long after a fault of its way to the store a machine may still not know what others did."""


class SharedPromises(Promises):
    """What must also hold where several machines share a store."""

    def __init__(self, plan: Plan, network: Network, server: MemoryServer) -> None:
        super().__init__(plan, network)
        self._server = server
        self.was_restored = False
        self.stale_until_s: dict[int, float] = {}
        """By machine: until when its sessions may not know what others did."""
        self._in_journals: dict[str, str] = {}
        """The state of each intent in the journal of the machine that began it."""

    def departs(self, post: Post) -> None:
        super().departs(post)
        states = [str(row.state) for row in self._rows(post.client_oid)]
        if states != ["sent"]:
            self.breaks("s", f"{post.client_oid} left while the store says {states}")

    def written(self, intent: str, step: Step) -> None:
        """A step that was copied from the store was judged when it was written there."""
        self._in_journals[intent] = step.state
        if BY in step.details:
            self.note(f"journal (process {step.process}): {intent} {step.state} by {step.details[BY]}")
            self.trails[intent].steps.append(step)
        else:
            super().written(intent, step)

    def written_in_store(self, intent: str, step: Step) -> None:
        super().written(intent, step)

    def judge_locked(self, process: int, *, locked: bool) -> None:
        """(s) A lock of trading has reached every machine that reaches the store."""
        if not locked and not self.may_be_stale(process):
            self.breaks("s", f"process {process} does not know that trading is locked")

    def watch(self, process: int, unsettled: tuple[str, ...]) -> None:
        if not self.may_be_stale(process):
            super().watch(process, unsettled)

    def may_be_stale(self, process: int) -> bool:
        machine = self.plan.processes[process].machine
        return asyncio.get_running_loop().time() < self.stale_until_s.get(machine, 0.0)

    def judge_store(self) -> None:
        """(s) No step is lost: what a machine's journal says in the end, the store says too.

        An older copy may lack what had ended before it was accepted.
        """
        for intent, state in self.untold.items():
            states = [str(row.state) for row in self._rows(intent)]
            self.breaks("s", f"in the end a journal says {state} of {intent}, and the store {states}")
        for account in self._server.accounts.values():
            for row in account.rows.values():
                if row.state in LOCKING:
                    self.breaks("s", f"in the end {row.id} is {row.state} in the store")

    @property
    def untold(self) -> dict[str, str]:
        """The intents of which the store does not say the same as a journal, and what the journal says."""
        return {intent: state for intent, state in self._in_journals.items() if not self._store_agrees(intent, state)}

    def _store_agrees(self, intent: str, state: str) -> bool:
        rows = tuple(self._rows(intent))
        may_lack = self.was_restored and state not in LOCKING
        return all(_agrees(row, state) for row in rows) if rows else may_lack

    def _rows(self, intent: str) -> Iterator[Row]:
        """The rows of an intent in the store: one, or none."""
        return (account.rows[intent] for account in self._server.accounts.values() if intent in account.rows)


def _agrees(row: Row, state: str) -> bool:
    """Whether the store says the same of an intent as its journal, where it has this state.

    A sender that wakes knows itself that nothing was done, and one that the store did not reach knows how its order
    ended. Meanwhile another machine has settled it by what it saw, or a person has released it. Each of these ends was
    judged when it was written.
    """
    ended_otherwise = {State.SETTLED: ("withdrawn", "rejected"), State.RELEASED: ("settled",)}
    return row.state == state or state in ended_otherwise.get(row.state, ())


class SharedLife(Life):
    """A life whose processes run on the machines of the plan."""

    promises: SharedPromises

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.server = MemoryServer()
        super().__init__(plan, folder)
        count = 1 + max(process.machine for process in plan.processes)
        self.machines = [Machine(folder / f"machine-{n}", f"{plan.seed}/machine {n}") for n in range(count)]
        self.links = [Link() for _ in range(count)]
        self.server.written = self._store_written

    def _new_promises(self) -> Promises:
        return SharedPromises(self.plan, self.network, self.server)

    def _begin(self) -> None:
        super()._begin()
        loop = asyncio.get_running_loop()
        for fault in self.plan.store_faults:
            if fault.kind is StoreFaultKind.RESTORED:
                loop.call_at(fault.at_s - fault.for_s, self._copy_store, fault)
            else:
                loop.call_at(fault.at_s, self._begin_fault, fault)

    def _new_process(self, number: int) -> Process:
        process = super()._new_process(number)
        process.open_store = partial(self._open_store, process)
        return process

    def _open_store(self, process: Process, account: str) -> AccountStore:
        machine = process.names.machine
        connection = MemoryConnection(self.server, PEOPLE[machine], process.clock, self.links[machine])
        process.store_connections.append(connection)
        return AccountStore(connection, account, f"desk{machine}")

    # The store

    def _store_written(self, account: str, event: StoreEvent) -> None:
        """A release, and a step of a machine that has not begun the intent, is in the store before any journal."""
        begun_by = self.server.accounts[account].rows[event.intent].events[0].writer
        if event.state is State.RELEASED or event.writer.machine != begun_by.machine:
            followers = [
                number
                for number, process in enumerate(self.plan.processes)
                if f"desk{process.machine}" == event.writer.machine
            ]
            step = Step(asyncio.get_running_loop().time(), str(event.state), dict(event.details), followers[0])
            self.verdict.hits[f"followed: {event.state}"] += 1
            self.promises.written_in_store(event.intent, step)

    async def _lock(self, process: Process, for_s: float) -> None:
        self._fate(self._see_lock(process, for_s))
        await super()._lock(process, for_s)

    async def _see_lock(self, locker: Process, for_s: float) -> None:
        """Judge what every session knows of a lock, unless a session of its own person has unlocked it already."""
        await asyncio.sleep(LOCK_SEEN_S)
        running = [process for process in self.processes.values() if process.ready and not process.suspended]
        own = [process for process in running if process.names.machine == locker.names.machine]
        may_be_late = self._weather_over or self.plan.disk_slow_share or self.promises.may_be_stale(locker.number)
        if (
            for_s > LOCK_SEEN_S
            and locker in own
            and all(process.execution.intents.locked for process in own)
            and not may_be_late
        ):
            for process in running:
                self.promises.judge_locked(process.number, locked=process.execution.intents.locked)

    def _begin_fault(self, fault: StoreFault) -> None:
        if self._weather_over:
            return
        self._goes_wrong(fault)
        link, loop = self.links[fault.machine], asyncio.get_running_loop()
        match fault.kind:
            case StoreFaultKind.CUT:
                link.cut()
            case StoreFaultKind.SWALLOWED:
                link.cut(SILENCE_NOTICED_S)
            case StoreFaultKind.SLOW:
                link.delay_s = SLOW_S
            case StoreFaultKind.REPLIES_LOST:
                link.replies_to_lose = 1
            case StoreFaultKind.RESTARTED:
                self.server.restart()
        loop.call_later(fault.for_s, self._mend, fault.machine)

    def _mend(self, machine: int) -> None:
        self.promises.note(f"the store can be reached by machine {machine}")
        self.links[machine].mend()

    def _copy_store(self, fault: StoreFault) -> None:
        asyncio.get_running_loop().call_later(fault.for_s, self._restore, fault, self.server.snapshot())

    def _restore(self, fault: StoreFault, copy: dict[str, AccountRows]) -> None:
        if self._weather_over:
            return
        self._goes_wrong(fault)
        self.promises.was_restored = True
        self.server.restore(copy)

    def _goes_wrong(self, fault: StoreFault) -> None:
        self.verdict.hits[str(fault.kind)] += 1
        self.promises.note(f"{fault.kind}, machine {fault.machine}, {fault.for_s} s")
        everywhere = fault.kind in (StoreFaultKind.RESTARTED, StoreFaultKind.RESTORED)
        now_s = asyncio.get_running_loop().time()
        for machine in range(len(self.machines)) if everywhere else (fault.machine,):
            until_s = now_s + STALE_S + (0.0 if everywhere else fault.for_s)
            self.promises.stale_until_s[machine] = max(until_s, self.promises.stale_until_s.get(machine, 0.0))

    async def _end(self) -> None:
        for machine in range(len(self.machines)):
            self._mend(machine)
        await super()._end()

    async def _stop_all(self) -> None:
        await super()._stop_all()
        if self.plan.disk_slow_share and self.promises.untold:
            # A session that ends waits for a slow disk only briefly. The next one tells what that one could not.
            self.verdict.hits["told by the next session"] += 1
            for number in range(len(self.plan.processes)):
                await self._start(number)
            await asyncio.sleep(NEXT_SESSION_S)
            await super()._stop_all()

    def _conclude(self) -> None:
        self.promises.judge_store()
        super()._conclude()
