"""Three machines as six processes on one account, one embedded exchange and one PostgreSQL, while everything fails.

Each machine has directories of its own and reaches the store through a relay of its own. What happens is drawn from a
seed; when it happens depends on the machine, so that a seed repeats the deeds and not every microsecond.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.exchange.arrival_counter import most_in_one_second
from tests.postgres import Cluster, StoreDatabase, running_cluster
from tests.sandbox.exchange_events import heal
from tests.whole.exchange_thread import REVERSAL, ExchangeThread
from tests.whole.machines.relay import Relay, Way
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.states import ENDED, Intent, State
from tradetui.sandbox.app import Answer
from tradetui.sandbox.gateway.api_keys import HttpCall
from tradetui.wire.endpoints.catalogue import CATALOGUE

PEOPLE = ("anna", "bob", "olga")
SESSIONS_OF_A_MACHINE = 2
MODE, LEG, SIZE = "hedge", "long", "0.5"
HELD = "20"
FREE_WITHIN_S = 150.0
PATIENCE_S = 90.0
MENDS_S = 12.0
CONFIG = """
[profiles.trial]
base_url = "{base_url}"
mode = "trade"
start_locked = false
product_types = ["USDT-FUTURES"]
budget_share = {budget_share}
account_kind = "ordinary"
max_reversal_value = 100000000
uid = "{uid}"
store = "{store}"
machine = "{machine}"
"""


class Arrival(NamedTuple):
    """One call that reached the exchange; the id is that of a reversal, else empty."""

    at_s: float
    method: str
    path: str
    client_oid: str
    was_taken: bool


class WatchedExchange(ExchangeThread):
    """Keeps when each call arrived."""

    def __init__(self) -> None:
        super().__init__()
        self.arrivals: list[Arrival] = []
        answer = self.sandbox.answer

        def answering(request: HttpCall, fault: Any = None) -> Answer:
            at_s = time.time()
            reply = answer(request, fault)
            call = self.sandbox.calls[-1]
            is_reversal = (request.method, request.path) == REVERSAL
            client_oid = str(json.loads(request.body).get("clientOid", "")) if is_reversal else ""
            # A fault that stands in the place of the reply has no code; one that came before the order, no caller.
            was_taken = call.code == "00000" or (not call.code and call.uid is not None)
            self.arrivals.append(Arrival(at_s, request.method, request.path, client_oid, was_taken))
            return reply

        self.sandbox.answer = answering  # type: ignore[method-assign]

    @property
    def reversals(self) -> list[Arrival]:
        return [arrival for arrival in self.arrivals if arrival.client_oid]


class Session:
    """One process of the program. `reports` holds what it said, newest last."""

    def __init__(self, name: str, environment: dict[str, str], log: Path) -> None:
        self.name = name
        self.reports: list[dict[str, Any]] = []
        self.has_stopped = threading.Event()
        self._log = log.open("ab")
        command = [sys.executable, "-m", "tests.whole.machines.machine_program"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={**os.environ, **environment},
        )
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.reports.append(json.loads(line))
        self.has_stopped.set()

    def do(self, errand: str, **more: Any) -> None:
        """Have it do something; a process that has died hears nothing."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps({"do": errand, **more}) + "\n")
            self.process.stdin.flush()

    def count(self, report: str) -> int:
        return sum(entry["report"] == report for entry in self.reports)

    @property
    def shows(self) -> dict[str, Any]:
        """What its header says; nothing before it says anything."""
        return next((entry for entry in reversed(self.reports) if entry["report"] == "shows"), {"trouble": "starting"})

    @property
    def is_free(self) -> bool:
        return not self.shows["trouble"] and not self.shows["unsettled"]

    def kill(self) -> None:
        self.process.kill()
        self._end()

    def stop(self) -> None:
        self.do("stop")
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"{self.name} does not stop; last it said {self.reports[-3:]}") from None
        self._end()

    def _end(self) -> None:
        self.process.wait()
        self._reading.join(10)
        assert self.process.stdin is not None
        self.process.stdin.close()
        self._log.close()


@dataclass
class Machine:
    """A computer of one person: its directories, its relay to the store, and the sessions that run on it."""

    number: int
    folder: Path
    relay: Relay
    environment: dict[str, str]
    sessions: list[Session] = field(default_factory=list)
    ended: list[Session] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"desk{self.number}"

    def start(self, former: Session | None = None) -> None:
        """Start a session, in the place of one that has ended."""
        session = Session(f"{PEOPLE[self.number]}@{self.name}", self.environment, self.folder / "log")
        if former is None:
            self.sessions.append(session)
        else:
            self.sessions[self.sessions.index(former)] = session
            self.ended.append(former)

    def intents(self) -> list[Intent]:
        """What its journals say, read from their files."""
        intents: list[Intent] = []
        for file in self.folder.glob("data/accounts/*/journal.sqlite"):
            journal = Journal(file)
            intents += journal.newest(1000)
            journal.close()
        return intents


class Trial:
    """What runs, what is done to it, and what it is held to."""

    def __init__(self, seed: int, folder: Path, exchange: WatchedExchange, store: StoreDatabase) -> None:
        self.exchange = exchange
        self.store = store
        self.machines: list[Machine] = []
        self.deeds: Counter[str] = Counter()
        self.story: list[str] = []
        self._folder = folder
        self._random = Random(f"machines {seed}")
        self._began_s, self._began_at_s = time.monotonic(), time.time()
        self._suspended: set[int] = set()
        """Processes that were stopped by SIGSTOP and not yet continued."""
        self._timers: list[threading.Timer] = []

    def note(self, text: str) -> None:
        self.story.append(f"{time.monotonic() - self._began_s:7.2f}  {text}")

    @contextmanager
    def running(self, machines: int = len(PEOPLE), sessions: int = SESSIONS_OF_A_MACHINE) -> Iterator[None]:
        """Join the machines and start their sessions; wait until each can send."""
        self.exchange.hold(MODE, HELD, HELD)
        with ExitStack() as stack:
            try:
                for number in range(machines):
                    self.machines.append(self._machine(number, stack.enter_context(Relay(self.store.cluster.port))))
                for machine in self.machines:
                    for _ in range(sessions):
                        machine.start()
                self._wait_until_free()
                yield
            finally:
                for timer in self._timers:
                    timer.cancel()
                    timer.function()
                for session in self.sessions:
                    if session.process.poll() is None:
                        session.kill()

    def _machine(self, number: int, relay: Relay) -> Machine:
        folder = self._folder / f"machine-{number}"
        folder.mkdir(parents=True)
        config = CONFIG.format(
            base_url=self.exchange.base_url,
            budget_share=1 / (len(PEOPLE) + 1),
            uid=self.exchange.key(MODE).uid,
            store=f"host=127.0.0.1 port={relay.port} dbname={self.store.name} user={PEOPLE[number]}",
            machine=f"desk{number}",
        )
        environment = {**self.exchange.environment(MODE, folder, config), "HOME": str(folder)}
        command = [sys.executable, "-m", "tradetui", "store", "join"]
        joined = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
        assert joined.returncode == 0, joined.stdout + joined.stderr
        return Machine(number, folder, relay, environment)

    @property
    def sessions(self) -> list[Session]:
        return [session for machine in self.machines for session in machine.sessions]

    @property
    def all_sessions(self) -> list[Session]:
        """Also those that have ended."""
        return self.sessions + [session for machine in self.machines for session in machine.ended]

    def count(self, report: str) -> int:
        """How often any session has reported this."""
        return sum(session.count(report) for session in self.all_sessions)

    def _wait_until_free(self) -> None:
        """Wait until every session can send, and names nothing that is not settled."""
        self.wait("every session is free", lambda: all(session.is_free for session in self.sessions))

    def wait(self, what: str, holds: Callable[[], bool]) -> None:
        """Wait until something holds, which `what` names where it never does."""
        end_s = time.monotonic() + FREE_WITHIN_S
        while not holds():
            assert time.monotonic() < end_s, "\n".join([f"{what}: never", *self._last_reports(), *self.story])
            time.sleep(0.1)

    def reverse_until_sent(self, session: Session) -> None:
        """Have a session reverse; on a busy machine the store may seem away, and it tries again."""
        sent, tries = len(self.exchange.reversals), 0

        def has_tried() -> bool:
            ended = session.count("withheld") + session.count("ended")
            return ended > tries or len(self.exchange.reversals) > sent

        while len(self.exchange.reversals) == sent:
            self.wait(f"{session.name} is free", lambda: session.is_free)
            tries = session.count("withheld") + session.count("ended")
            session.do("reverse", leg=LEG, size=SIZE)
            self.wait(f"{session.name} sends or does not", has_tried)

    def _last_reports(self) -> list[str]:
        return [f"{session.name}: {session.reports[-2:]}" for session in self.sessions]

    # Deeds

    def rage(self, seconds: float) -> None:
        """Reverse, and break something before it is sent, while it is under way or afterwards, for so long.

        On a busy machine it takes longer until a reversal was sent; without one, nothing would be proved.
        """
        began_s = time.monotonic()
        breaks = (
            *(self._faulty_way,) * 3,
            self._slow_way,
            self._reset_way,
            self._faulty_reversal,
            self._kill_session,
            self._suspend_session,
            self._restart_store,
            self._suspend_store,
        )
        while (lasted_s := time.monotonic() - began_s) < seconds or not self.exchange.reversals:
            assert lasted_s < seconds + FREE_WITHIN_S, "\n".join(["no reversal was sent", *self.story])
            if self._random.random() < 0.8:  # while nobody can send, nothing can be sent twice
                self._give_time_until(lambda: any(session.is_free for session in self.sessions))
            for deed in (self._reverse, self._random.choice(breaks)):
                self.deeds[deed.__name__.strip("_").replace("_", " ")] += 1
                deed()
                time.sleep(self._random.choice((0.0, 0.1, 0.5, 1.0)))

    def _give_time_until(self, holds: Callable[[], bool]) -> None:
        end_s = time.monotonic() + MENDS_S
        while time.monotonic() < end_s and not holds():
            time.sleep(0.02)

    def _later(self, seconds: float, work: Callable[[], None]) -> None:
        timer = threading.Timer(seconds, work)
        timer.daemon = True
        timer.start()
        self._timers.append(timer)

    def _reverse(self) -> None:
        """Two sessions of two machines at nearly the same moment, or one alone; mostly such as can send.

        What is broken next is broken at once, or when the last of them confirms, or when it has sent.
        """
        until = self._random.choice(((), ("confirms", "withheld"), ("sent", "withheld")))
        machines = self._random.sample(self.machines, len(self.machines))
        if self._random.random() < 0.8:
            machines.sort(key=lambda machine: not any(session.is_free for session in machine.sessions))
        for machine in machines[: self._random.choice((1, 2, 2))]:
            session = self._random.choice(
                [session for session in machine.sessions if session.is_free] or machine.sessions
            )
            self.note(f"{session.name} reverses")
            reported = sum(map(session.count, until))
            session.do("reverse", leg=LEG, size=SIZE)
            time.sleep(self._random.choice((0.0, 0.0, 0.05, 0.3)))
        self._give_time_until(lambda: not until or sum(map(session.count, until)) > reported)

    def _faulty_way(self) -> None:
        machine = self._random.choice(self.machines)
        way, seconds = self._random.choice((Way.SWALLOWED, Way.CUT)), self._random.choice((0.5, 2.0, 5.0, 9.0))
        self.note(f"the way of {machine.name} is {way} for {seconds} s")
        machine.relay.set_way(way)
        self._later(seconds, lambda: machine.relay.set_way(Way.OPEN))

    def _slow_way(self) -> None:
        machine = self._random.choice(self.machines)
        self.note(f"the way of {machine.name} is slow")
        machine.relay.delay_s = 0.15

        def mend() -> None:
            machine.relay.delay_s = 0.0

        self._later(3.0, mend)

    def _reset_way(self) -> None:
        self._random.choice(self.machines).relay.reset()

    def _faulty_reversal(self) -> None:
        kind = self._random.choice(("dropped-before", "dropped-after", "5xx", "5xx-after", "delay"))
        self.note(f"the next reversal: {kind}")
        self.exchange.sandbox.faults.plan(kind, endpoint="futures.reverse")

    def _kill_session(self) -> None:
        machine = self._random.choice(self.machines)
        session = self._random.choice(machine.sessions)
        self.note(f"{session.name} is killed")
        session.kill()
        machine.start(session)

    def _suspend_session(self) -> None:
        session = self._random.choice(self.sessions)
        seconds = self._random.choice((1.0, 4.0, 12.0))
        self.note(f"{session.name} is suspended for {seconds} s")
        self._suspend([session.process.pid], seconds)

    def _restart_store(self) -> None:
        how = self._random.choice((signal.SIGKILL, signal.SIGQUIT, signal.SIGINT))
        self.note(f"the store ends by {how.name}, and starts again")
        self._continue(self._suspended)
        self.store.cluster.stop(how)
        time.sleep(self._random.choice((0.0, 1.0, 4.0)))
        start(self.store.cluster)

    def _suspend_store(self) -> None:
        seconds = self._random.choice((0.5, 3.0, 6.0))
        self.note(f"the store is suspended for {seconds} s")
        assert self.store.cluster.process is not None
        server = self.store.cluster.process.pid
        self._suspend([server, *children_of(server)], seconds)

    def _suspend(self, processes: Sequence[int], seconds: float) -> None:
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        self._suspended.update(processes)
        self._later(seconds, lambda: self._continue(processes))

    def _continue(self, processes: Iterable[int]) -> None:
        for process in list(processes):
            if process in self._suspended:
                self._suspended.discard(process)
                with suppress(ProcessLookupError):  # it was killed meanwhile
                    os.kill(process, signal.SIGCONT)

    # The end

    def calm_down(self) -> None:
        """Mend everything; wait until every session is free, and release what the program allows to be released."""
        self.note("everything is mended")
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        self._continue(self._suspended)
        for machine in self.machines:
            machine.relay.delay_s = 0.0
            machine.relay.set_way(Way.OPEN)
        heal(self.exchange.sandbox.faults)
        self._wait_until_free()
        for session in self.sessions:
            session.stop()

    def judge(self) -> None:
        """Hold what happened to the promises."""
        problems = [
            *self._sent_more_than_confirmed(),
            *self._overlapping(),
            *self._outcomes(),
            *self._lost_steps(),
            *self._over_the_limits(),
        ]
        assert not problems, "\n".join([*problems, *self.story])

    def _sent_more_than_confirmed(self) -> Iterator[str]:
        confirmations = self.count("confirms")
        sent = [arrival.client_oid for arrival in self.exchange.reversals]
        if len(sent) > confirmations:
            yield f"{len(sent)} POSTs of {confirmations} confirmations"
        for client_oid, count in Counter(sent).items():
            if count > 1:
                yield f"{client_oid} was sent {count} times"

    def _overlapping(self) -> Iterator[str]:
        """No reversal arrives while an earlier one is not at its end in the journal of its machine or a follower's."""
        ends_s: dict[str, float] = {}
        for intent in self._intents():
            ended = [event.at_ms / 1000 for event in intent.events if event.state in ENDED]
            if ended:
                ends_s[intent.id] = min(ended[0], ends_s.get(intent.id, ended[0]))
        for number, later in enumerate(self.exchange.reversals):
            for earlier in self.exchange.reversals[:number]:
                if ends_s.get(earlier.client_oid, float("inf")) > later.at_s:
                    yield f"{later.client_oid} arrived while {earlier.client_oid} had not ended"

    def _intents(self) -> list[Intent]:
        return [intent for machine in self.machines for intent in machine.intents()]

    def _outcomes(self) -> Iterator[str]:
        """What the journals say was done is what the exchange has done."""
        done = {arrival.client_oid for arrival in self.exchange.reversals if arrival.was_taken}
        by_state = {(intent.id, intent.state, str(intent.details.get("outcome"))) for intent in self._intents()}
        says_done = {intent for intent, state, outcome in by_state if state is State.SETTLED and outcome == "reversed"}
        if done != says_done:
            yield f"done {sorted(done - says_done)} and not said so; said {sorted(says_done - done)} and not done"

    def _lost_steps(self) -> Iterator[str]:
        """Each intent stands in the store as it stands in the journals of the machines that know it."""
        rows = dict(self.store.sql("select id, state from tradetui.intent"))
        for intent in self._intents():
            if rows.get(intent.id) != str(intent.state):
                yield f"{intent.id} is {intent.state} here and {rows.get(intent.id)} in the store"
        if still_open := {intent: state for intent, state in rows.items() if State(state) not in ENDED}:
            yield f"open in the store: {still_open}"

    def _over_the_limits(self) -> Iterator[str]:
        """Of a limit below the number of machines each keeps one call a second while the store is away."""
        times = defaultdict[tuple[str, str], list[float]](list)
        for arrival in self.exchange.arrivals:
            times[arrival.method, arrival.path].append(arrival.at_s - self._began_at_s)
        for endpoint in CATALOGUE.values():
            most = most_in_one_second(times[endpoint.method, endpoint.path])
            if most > max(endpoint.limit.calls, len(self.machines)):
                listed = ", ".join(f"{time_s:.2f}" for time_s in times[endpoint.method, endpoint.path])
                yield f"{most} calls of {endpoint.name} in a second: {listed}"


def children_of(process: int) -> list[int]:
    listed = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True, check=False)
    return [int(line) for line in listed.stdout.split()]


@contextmanager
def older_copy(cluster: Cluster) -> Iterator[None]:
    """Put the server's files back at the end as they are now; it stands still while they are copied."""
    files, copy = cluster.directory / "data", cluster.directory / "copy"
    cluster.stop(signal.SIGINT)
    subprocess.run(["cp", "-a", files, copy], check=True)
    start(cluster)
    yield
    cluster.stop(signal.SIGINT)
    shutil.rmtree(files)
    copy.rename(files)
    start(cluster)


def start(cluster: Cluster) -> None:
    """Start a server again that was killed: its children need a moment to see that it is gone."""
    end_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            cluster.start()
            return
        except RuntimeError:
            assert time.monotonic() < end_s, (cluster.directory / "log").read_text()[-2000:]
            time.sleep(0.2)


@contextmanager
def trial_of(seed: int, folder: Path) -> Iterator[Trial]:
    """An exchange and a server of its own for the trial of a seed."""
    with running_cluster() as cluster, WatchedExchange() as exchange:
        trial = Trial(seed, folder, exchange, StoreDatabase(cluster, cluster.new_database()))
        yield trial


def raged(seed: int, folder: Path, seconds: float) -> Trial:
    """Run the trial of a seed to its end, and judge it."""
    with trial_of(seed, folder) as trial:
        with trial.running():
            trial.rage(seconds)
            trial.calm_down()
        trial.judge()
    return trial
