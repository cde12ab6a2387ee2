"""The real program in a pseudo-terminal: however it ends, no process and no broken terminal stays."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tradetui.ui.application.run_app import GRACE_S, RESTORING_S

DEMO = [sys.executable, "-m", "tradetui", "demo"]
CRASH = [sys.executable, "-m", "tests.ui.fixtures.crashing_screen"]
MOUSELESS = [sys.executable, "-m", "tests.ui.fixtures.themed_program", "tradetui-dark", "mouse=off"]
HANGING = [sys.executable, "-m", "tests.ui.fixtures.hanging_screen"]
PATIENCE_S = 120.0
LEAVES = b"\x1b[?1049l"
SHOWS_CURSOR = b"\x1b[?25h"
TAKES_MOUSE = b"\x1b[?1000h"
ENDS_MOUSE = b"\x1b[?1000l"


class Session:
    """A program on a pseudo-terminal; `written` is what it wrote."""

    def __init__(self, command: list[str], *, controlling: bool) -> None:
        self.master, slave = pty.openpty()
        self.written = bytearray()
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=_take_terminal if controlling else None,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "36"},
        )
        os.close(slave)

    def read_until(self, text: bytes, seconds: float = PATIENCE_S) -> None:
        """Read until the text was written."""
        end = time.monotonic() + seconds
        while text not in self.written:
            assert time.monotonic() < end, f"{text!r} never came; the end was {bytes(self.written[-300:])!r}"
            self._read(0.1)

    def read_to_the_end(self) -> None:
        """Read until the process has ended, and what it had written by then."""
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < end, "the process did not end"
            self._read(0.02)
        while self._read(0.05):
            pass

    def wait_until_stopped(self) -> None:
        """Wait for the kernel to say that the process is stopped."""
        stopped, status = os.waitpid(self.process.pid, os.WUNTRACED)
        assert stopped == self.process.pid
        assert os.WIFSTOPPED(status)

    def _read(self, wait: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], wait)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.written += data
        return bool(data)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def session(command: list[str], *, controlling: bool = True) -> Iterator[Session]:
    """A session that ends with its test."""
    running = Session(command, controlling=controlling)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()
        with suppress(OSError):
            os.close(running.master)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_it_and_restores_the_terminal(number: signal.Signals) -> None:
    with session(DEMO) as running:
        running.read_until(b"BTCUSDT")
        running.process.send_signal(number)
        running.read_to_the_end()
        assert LEAVES in running.written
        assert SHOWS_CURSOR in running.written
        assert ENDS_MOUSE in running.written
        assert running.process.returncode == 128 + number


def test_one_that_hangs_on_its_way_out_is_ended_and_the_terminal_restored() -> None:
    """Only the watch over the terminal can end it; its limits add up to less than the second that is promised."""
    with session(HANGING) as running:
        running.read_until(b"none")
        running.process.send_signal(signal.SIGTERM)
        running.read_to_the_end()
        assert LEAVES in running.written
        assert running.process.returncode == 128 + signal.SIGTERM
    assert GRACE_S + RESTORING_S < 1.0


@pytest.mark.parametrize("controlling", [True, False])
def test_a_lost_terminal_ends_it(controlling: bool) -> None:
    with session(DEMO, controlling=controlling) as running:
        running.read_until(b"BTCUSDT")
        os.close(running.master)
        running.process.wait(PATIENCE_S)
        assert running.process.returncode != 0


def test_a_profile_without_mouse_never_takes_it() -> None:
    with session(MOUSELESS) as running:
        running.read_until(b"none")
        os.write(running.master, b"q")
        running.read_to_the_end()
        assert TAKES_MOUSE not in running.written
        assert running.process.returncode == 0


def test_the_palette_leaves_and_takes_the_mouse_and_q_ends_it_with_nothing_left_over() -> None:
    with session(DEMO) as running:
        running.read_until(b"BTCUSDT")
        assert TAKES_MOUSE in running.written
        for entry, proof in ((b"mouse off", ENDS_MOUSE), (b"mouse on", TAKES_MOUSE)):
            os.write(running.master, b"\x10")
            running.read_until(b"every key and what it does")
            running.written.clear()
            os.write(running.master, entry)
            running.read_until(b"selection works then" if proof is ENDS_MOUSE else b"click and scroll")
            os.write(running.master, b"\r")
            running.read_until(proof)
        running.written.clear()
        os.write(running.master, b"q")
        running.read_to_the_end()
        assert LEAVES in running.written
        assert running.process.returncode == 0


def test_suspended_in_a_dialog_and_resumed_it_goes_on_with_what_was_typed() -> None:
    with session(DEMO) as running:
        running.read_until(b"BTCUSDT")
        os.write(running.master, b"?")
        running.read_until(b"ype to search")
        running.written.clear()
        os.write(running.master, b"zoom")
        running.read_until(b"on the whole screen")
        os.write(running.master, b"\x1a")
        running.read_until(LEAVES)
        running.wait_until_stopped()
        running.written.clear()
        running.process.send_signal(signal.SIGCONT)
        running.read_until(b"\x1b[?1049h")
        # What stands still too: another program had the terminal meanwhile.
        for text in ("SANDBOX", "zoom", "on the whole screen", "╰"):
            running.read_until(text.encode())
        running.written.clear()
        os.write(running.master, b"\x1b\x1b")
        running.read_until(b"3 Orders")
        os.write(running.master, b"q")
        running.read_to_the_end()
        assert running.process.returncode == 0


@pytest.mark.parametrize("command", [CRASH, [*CRASH, "worker"]], ids=["handler", "worker"])
def test_a_crash_tells_no_value_restores_the_terminal_and_fails(command: list[str]) -> None:
    with session(command) as running:
        running.read_to_the_end()
        assert running.process.returncode == 1
        assert LEAVES in running.written
        assert b"internal error, RuntimeError" in running.written
        assert b"crashing_screen.py" in running.written
        assert b"canary" not in running.written
