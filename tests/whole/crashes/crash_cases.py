"""One crash: the program killed somewhere in a reversal, started again, and held to what the exchange knows."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from tests.sandbox.exchange_events import heal
from tests.whole.crashes.kill_counter import HOWS, SYMBOL
from tests.whole.exchange_thread import ExchangeThread
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.states import ENDED, TRANSITIONS, AlreadyOpen, State
from tradetui.exchange.clock import Moment

WEATHERS = ("none", "dropped-before", "dropped-after", "truncated")
PHASES = ("reverse", "take up")
MODES = ("hedge", "one-way")
BEFORE = {"hedge": {"long": "2", "short": "0.5"}, "one-way": {"net": "2"}}
AFTER = {"hedge": {"long": "0", "short": "2.5"}, "one-way": {"net": "-2"}}
LOCK = f"USDT-FUTURES|{SYMBOL}"
WINDOW_MS = 40_000
PACE = 10
"""How many times as fast as real time the minute passes after which what was only traded settles."""
MINUTE_AND_MORE_S = 120.0
"""That minute and what the looks take, in the time of the fast clocks."""
PARALLEL_RIGS = 8
CONFIG = """
[profiles.crash]
base_url = "{base_url}"
mode = "trade"
start_locked = false
product_types = ["USDT-FUTURES"]
budget_share = 1.0
account_kind = "ordinary"
"""


@dataclass(frozen=True)
class Case:
    """Where the program dies: in the reversal (`reverse`) or while it takes one up (`take up`), at which call, how."""

    phase: str
    number: int
    how: str
    weather: str
    mode: str = "hedge"

    def __str__(self) -> str:
        return f"{self.phase} #{self.number} {self.how}, {self.weather}, {self.mode}"


class CrashRig:
    """The program that is killed, and the exchange it trades on."""

    def __init__(self, exchange: ExchangeThread, program: Path, folder: Path) -> None:
        self.exchange = exchange
        self.counts: Counter[str] = Counter()
        self._folder = folder
        self._runs = 0
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(str(program))
        self._lines = self._connection.makefile("rw", encoding="utf-8")

    def close(self) -> None:
        """End the program's process for this rig, which sees that no more errands come."""
        self._lines.close()
        self._connection.close()

    def run(self, case: Case, mutation: str | None = None) -> bool:
        """Crash, start again, check; whether the program came as far as the call it was to die at."""
        scene = _Crash(self, case, mutation)
        try:
            killed = scene.run()
        except AssertionError as problem:
            problem.add_note(f"{case}: what it left lies in {scene.folder}")
            raise
        self.counts["killed" if killed else "came through"] += 1
        self.counts[f"{case.phase}, {case.weather}, {case.mode}"] += killed
        shutil.rmtree(scene.folder)
        return killed

    def new_folder(self) -> Path:
        """A data directory of its own for each run."""
        self._runs += 1
        return self._folder / str(self._runs)

    def errand(self, **errand: Any) -> dict[str, Any]:
        """Let the program do something."""
        self._lines.write(json.dumps(errand) + "\n")
        self._lines.flush()
        line = self._lines.readline()
        assert line, "the program ended: see its traceback above"
        last: dict[str, Any] = json.loads(line)
        self.last = last
        return last


class _Crash:
    def __init__(self, rig: CrashRig, case: Case, mutation: str | None) -> None:
        self.rig, self.case, self.exchange, self._mutation = rig, case, rig.exchange, mutation
        self.folder = rig.new_folder()
        self.folder.mkdir(parents=True)
        self._errands = 0
        config = CONFIG.format(base_url=self.exchange.base_url)
        self._environment = self.exchange.environment(case.mode, self.folder, config)

    def run(self) -> bool:
        case, exchange = self.case, self.exchange
        legs = {"hedge": ("2", "0.5"), "one-way": ("2", "0")}[case.mode]
        exchange.hold(case.mode, *legs)
        assert exchange.held(case.mode) == BEFORE[case.mode]
        posts = exchange.posts
        heal(exchange.sandbox.faults)
        if case.weather != "none":
            exchange.sandbox.faults.plan(case.weather, endpoint="futures.reverse")
        in_reversal = case.phase == "reverse"
        killed = self._errand("reverse", case.number if in_reversal else 0)["killed"]
        self._check_lock()
        exchange.ahead_ms += WINDOW_MS
        if not in_reversal:
            killed = self._errand("take up", case.number)["killed"]
            self._check_lock()
            exchange.ahead_ms += WINDOW_MS
        report = self._errand("take up", 0, patience_s=1.5)["told"]
        assert "lost" not in report, f"{case}: what was written before is lost: {report['lost']}"
        if report["unsettled"]:
            # Absence is counted from when somebody wrote that the outcome is unknown, which may have been just now.
            exchange.ahead_ms += WINDOW_MS
            report = self._see_the_end()
        # Only now, for what was on the wire when the program died arrives after it.
        self._check(report, exchange.posts - posts)
        if report["unsettled"]:
            report = self._errand("take up", 0, release=True, patience_s=1.0)["told"]
            assert [intent["state"] for intent in report["intents"]] == ["released"], self.case
        return bool(killed)

    def _see_the_end(self) -> dict[str, Any]:
        """What is told once everything has come that settles; sizes alone do so after a minute without change."""
        report: dict[str, Any]
        if not self.exchange.sandbox.options.core_only:
            report = self._errand("take up", 0)["told"]
            return report
        with self.exchange.fast(PACE) as since_ms:
            report = self._errand("take up", 0, patience_s=MINUTE_AND_MORE_S, pace=PACE, since_ms=since_ms)["told"]
        return report

    def _errand(self, do: str, kill: int, **more: Any) -> dict[str, Any]:
        case = self.case
        self._errands += 1
        # A budget of its own for each start: what is proven here is not how long a restart waits for its permits.
        environment = {**self._environment, "TRADETUI_RUNTIME_DIR": str(self.folder / f"run-{self._errands}")}
        patience_s = 4.0 if self.exchange.sandbox.options.core_only and case.weather == "dropped-before" else 20.0
        return self.rig.errand(
            do=do,
            kill=kill,
            how=case.how,
            weather=case.weather,
            mode=case.mode,
            environment=environment,
            ahead_ms=self.exchange.ahead_ms,
            mutation=self._mutation,
            **{"patience_s": patience_s, **more},
        )

    def _check_lock(self) -> None:
        """As long as an intent is open nobody begins another; looked at in a copy, so that nothing is repaired."""
        files = list((self.folder / "data").glob("accounts/*/journal.sqlite"))
        assert len(files) <= 1, self.case
        if not files:
            return
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(files[0].parent, copy)
        journal = Journal(copy / files[0].name)
        intents = journal.newest()
        for intent in intents:
            if intent.events[-1].state in ENDED:
                continue
            try:
                journal.begin("another", intent.account, intent.scope, "reversal", {}, Moment(0))
            except AlreadyOpen:
                continue
            raise AssertionError(f"{self.case}: {intent.id} is {intent.state} and locks nothing")
        journal.close()

    def _check(self, report: dict[str, Any], posts: int) -> None:
        case, held = self.case, self.exchange.held(self.case.mode)
        intents = report["intents"]
        assert report["blocked_while_open"], f"{case}: an open intent did not block"
        assert posts <= 1, f"{case}: {posts} POSTs"
        assert len(intents) <= 1, f"{case}: {len(intents)} intents of one confirmation"
        if not intents:
            assert posts == 0, f"{case}: sent without an intent"
            assert held == BEFORE[case.mode], case
            return
        intent, events = intents[0], intents[0]["events"]
        states = [State(event["state"]) for event in events]
        for before, after in pairwise(states):
            assert after in TRANSITIONS[before], f"{case}: {states}"
        assert intent["state"] == states[-1], case
        merged = {name: value for event in events for name, value in event.items()}
        assert merged["request"]["clientOid"] == intent["id"] and merged["request"]["symbol"] == SYMBOL, case
        assert merged["before"] == BEFORE[case.mode] and merged["after"] == [AFTER[case.mode]], case
        if posts:
            assert State.SENT in states, f"{case}: sent, and the journal does not say so"
        final = states[-1]
        if final is State.WITHDRAWN:
            assert posts == 0 and held == BEFORE[case.mode], f"{case}: withdrawn, {posts} POSTs, {held}"
        elif final is State.SETTLED:
            expected = {"reversed": AFTER, "unchanged": BEFORE}[merged["outcome"]][case.mode]
            assert merged["held"] == held == expected, f"{case}: {merged['outcome']}, {held}"
            assert not report["unsettled"], case
        else:
            assert final is State.UNKNOWN, f"{case}: ended as {final}"
            assert self.exchange.sandbox.options.core_only and held == BEFORE[case.mode], f"{case}: not settled"
            assert report["unsettled"], case


@contextmanager
def loaded_program(library: Path, folder: Path) -> Iterator[Path]:
    """The program to kill, which is loaded once; where every rig connects to have a process of it forked."""
    address = folder / "program"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        command = [sys.executable, "-m", "tests.whole.crashes.killed_program", str(listener.fileno())]
        environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": str(Path(__file__).parents[3])}
        program = subprocess.Popen(command, env=environment, pass_fds=[listener.fileno()])
    try:
        yield address
    finally:
        program.terminate()
        program.wait(20)


@contextmanager
def rig(program: Path, folder: Path, **options: Any) -> Iterator[CrashRig]:
    """An exchange, and a program to kill."""
    with ExchangeThread(**options) as exchange:
        crashing = CrashRig(exchange, program, folder)
        try:
            yield crashing
        finally:
            crashing.close()


@contextmanager
def rigs(program: Path, folder: Path, count: int = PARALLEL_RIGS, **options: Any) -> Iterator[list[CrashRig]]:
    """As many as run beside each other: a case waits far longer than it computes."""
    with ExitStack() as stack:
        yield [stack.enter_context(rig(program, folder / str(number), **options)) for number in range(count)]


def every_case(crash_rigs: Sequence[CrashRig], phase: str, how: str, weather: str, mode: str) -> int:
    """Kill at the first call, the second, and so on until the program comes through; how often it was killed."""

    def every_nth(crash_rig: CrashRig, number: int) -> int:
        killed = 0
        while crash_rig.run(Case(phase, number + killed * len(crash_rigs), how, weather, mode)):
            killed += 1
        return killed

    with ThreadPoolExecutor(len(crash_rigs)) as pool:
        return sum(pool.map(every_nth, crash_rigs, range(1, len(crash_rigs) + 1)))


def all_of(crash_rigs: Sequence[CrashRig], cases: Sequence[Case]) -> int:
    """Run cases beside each other; how often the program was killed."""

    def every_nth(number: int) -> int:
        return sum(map(crash_rigs[number].run, cases[number :: len(crash_rigs)]))

    with ThreadPoolExecutor(len(crash_rigs)) as pool:
        return sum(pool.map(every_nth, range(len(crash_rigs))))


def sample(calls: int, rounds: int) -> list[Case]:
    """Cases in which all pairs of phase, how, weather and mode meet, so often over, spread over so many calls."""
    kinds = list(product(PHASES, HOWS, WEATHERS, MODES))
    chosen: list[tuple[str, str, str, str]] = []
    for turn in range(rounds):
        left = {pair for kind in kinds for pair in _pairs(kind)}
        while left:
            shifted = kinds[turn * 7 :] + kinds[: turn * 7]
            best = max(shifted, key=lambda kind: len(left & _pairs(kind)))
            chosen.append(best)
            left -= _pairs(best)
    return [
        Case(phase, 1 + number * calls // len(chosen), how, weather, mode)
        for number, (phase, how, weather, mode) in enumerate(chosen)
    ]


def _pairs(kind: tuple[str, ...]) -> set[tuple[int, str, int, str]]:
    return {(a, kind[a], b, kind[b]) for a in range(len(kind)) for b in range(a)}
