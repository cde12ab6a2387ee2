"""The program that alerts are handed to: what it gets, how long it may take, and what is said when it fails."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
from pathlib import Path

import pytest

from tests.bench.virtual_loop import pass_seconds
from tests.desk.fixtures.scripted_exchange import Clock
from tradetui.desk.events.delivery import CommandFailed, FrequencyLimit, ProgramCommand
from tradetui.desk.events.rules import Alert, AlertEvent, Channel, RuleKind

LIMIT_S = 600.0
STARTS_ANOTHER = (
    "import subprocess,sys,time; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
)


def program(code: str, *arguments: str, limit_s: float = LIMIT_S) -> ProgramCommand:
    return ProgramCommand([sys.executable, "-c", code, *arguments], {"MARK": "yes"}, limit_s=limit_s)


async def test_it_gets_the_event_its_arguments_and_the_environment_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    code = "import json,os,sys; json.dump([sys.argv[1:], sys.stdin.read(), dict(os.environ)], open(sys.argv[1],'w'))"
    event = AlertEvent(kinds=frozenset({RuleKind.FILL}), key="k", sentence="a; `b` $(c)", figures={"size": "1"})
    alert = Alert(event, 1_790_000_000_000, frozenset({Channel.COMMAND}), ("mine",))
    await program(code, str(file), "$HOME; echo").run(json.dumps(alert.as_json("u1", "main", "LIVE")))
    arguments, stdin, environ = json.loads(file.read_text())
    assert arguments == [str(file), "$HOME; echo"], "no shell reads them"
    assert environ["MARK"] == "yes" and "HOME" not in environ and "TRADETUI_API_KEY" not in environ
    assert json.loads(stdin) == {
        "event": ["fill"],
        "sentence": "a; `b` $(c)",
        "symbol": "",
        "time": "2026-09-21T14:13:20.000+00:00",
        "account": "u1",
        "profile": "main",
        "environment": "LIVE",
        "rules": ["mine"],
        "figures": {"size": "1"},
        "test": False,
    }


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise SystemExit('no such chat\\x1b[31m')", "ended with code 1: no such chat\ufffd[31m"),
        ("raise SystemExit(7)", "ended with code 7"),
        ("import os; os.kill(os.getpid(), 15)", "ended with code -15"),
    ],
)
async def test_a_failure_is_said_with_its_last_words(code: str, why: str) -> None:
    with pytest.raises(CommandFailed) as caught:
        await program(code).run("{}")
    assert str(caught.value) == why


async def test_a_program_that_is_not_there_is_said() -> None:
    with pytest.raises(CommandFailed, match=r"/no/such/program cannot be run \(No such file"):
        await ProgramCommand(["/no/such/program"], {}).run("{}")


async def test_a_program_that_reads_nothing_and_writes_much_ends_well() -> None:
    await program("import sys; sys.stderr.write('x' * 1_000_000); print('y' * 1_000_000)").run("z" * 4_000)


@pytest.mark.skipif(
    not hasattr(os, "pidfd_open"),
    reason="no pidfd_open here (Linux 5.3), which tells the end of a program that is no child",
)
async def test_one_that_does_not_end_is_ended_with_all_it_has_started(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    os.mkfifo(file)
    code = f"{STARTS_ANOTHER}; open({str(file)!r}, 'w').write(str(child.pid)); time.sleep(600)"
    running = asyncio.create_task(program(code).run("{}"))
    pid = int(await asyncio.to_thread(file.read_text))
    pass_seconds(LIMIT_S)
    with pytest.raises(CommandFailed, match=r"ended after 600 s, the most it may take"):
        await running
    await asyncio.to_thread(_wait_for_end, pid)


async def test_a_program_may_leave_another_running_that_holds_the_pipe(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    await program(f"{STARTS_ANOTHER}; open({str(file)!r}, 'w').write(str(child.pid))").run("{}")
    os.kill(int(file.read_text()), signal.SIGKILL)  # it runs still, or there would be nobody to end


def test_so_many_a_minute() -> None:
    clock = Clock()
    limit = FrequencyLimit(2, 60.0, clock)
    taken = []
    for seconds in (0, 1, 2, 59, 60, 60.5, 61, 62):
        clock.seconds = seconds
        taken.append(limit.take())
    assert taken == [True, True, False, False, True, False, True, False]


def _wait_for_end(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    with select.epoll() as ends:
        ends.register(descriptor, select.EPOLLIN)
        assert ends.poll(120), "it still runs"
    os.close(descriptor)
