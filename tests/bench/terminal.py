"""Runs a program in a pseudo-terminal and measures it from outside: bytes, processor time, moments of paint."""

from __future__ import annotations

import compileall
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import tradetui

TICKS = os.sysconf("SC_CLK_TCK")


@cache
def write_byte_code() -> None:
    """Compile the package as its installation does, so that no program that is measured compiles it at its start.

    Where the environment says PYTHONDONTWRITEBYTECODE a checkout is compiled at each start, a third of the whole time.
    """
    for folder in tradetui.__path__:
        compileall.compile_dir(folder, quiet=1)


@dataclass
class Terminal:
    """A child process with its own terminal of `columns` by `rows`, in a `folder` of its own where one is given."""

    command: Sequence[str]
    columns: int = 200
    rows: int = 60
    environment: Mapping[str, str] = field(default_factory=dict)
    output: bytearray = field(default_factory=bytearray)
    folder: Path | None = None

    def __enter__(self) -> Terminal:
        write_byte_code()
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **self.environment}
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            self.command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            cwd=self.folder,
            start_new_session=True,
            close_fds=True,
        )
        os.close(slave)
        os.set_blocking(self._master, False)
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.read_for(3.0, until=lambda: self.process.poll() is not None)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    def send(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.killpg(self.process.pid, signal.SIGWINCH)

    def read_for(self, seconds: float, until: Callable[[], bool] | None = None) -> bytes:
        """Read what is written for so long, or until the condition holds; returns the new bytes."""
        begin = len(self.output)
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            ready, _, _ = select.select([self._master], [], [], min(left, 0.02))
            if ready:
                try:
                    piece = os.read(self._master, 1 << 16)
                except OSError:
                    break
                if not piece:
                    break
                self.output += piece
            if until is not None and until():
                break
        return bytes(self.output[begin:])

    def until_shown(self, text: bytes, seconds: float = 120.0) -> float:
        """Seconds from the start until the text has been written to the terminal.

        Raises:
            TimeoutError: it was not.
        """
        self.read_for(seconds, until=lambda: text in self.output)
        if text not in self.output:
            raise TimeoutError(f"{text!r} was not shown; the end was {bytes(self.output[-400:])!r}")
        return time.perf_counter() - self.started

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def resident_mib(self) -> float:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0


@dataclass(frozen=True)
class Load:
    """What a program cost over a stretch of time."""

    cpu_percent: float
    bytes_per_second: float
    resident_mib: float


def measure(terminal: Terminal, seconds: float) -> Load:
    """Processor share of one core, bytes a second and resident memory over the next seconds."""
    before, begin = terminal.cpu_seconds(), time.perf_counter()
    written = terminal.read_for(seconds)
    elapsed = time.perf_counter() - begin
    return Load(
        cpu_percent=100 * (terminal.cpu_seconds() - before) / elapsed,
        bytes_per_second=len(written) / elapsed,
        resident_mib=terminal.resident_mib(),
    )
