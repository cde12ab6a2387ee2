"""Runs the user's own program for an alert, without a shell and with the event as JSON on its standard input."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from typing import Final

from tradetui.desk.alerts.alert_event import one_sentence

LIMIT_S: Final = 9.0
"""How long a program may run: it must have ended before another session may take its alert for undelivered."""
_KEPT_BYTES: Final = 4_096
_CHUNK_BYTES: Final = 65_536
_LAST_CHUNKS: Final = 16
_SHOWN_CHARACTERS: Final = 120


class CommandFailed(Exception):
    """The program could not be run, or not to a good end; the message says why in a few words."""


class ProgramCommand:
    """A program of this machine, started without a shell in a process group of its own."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], *, limit_s: float = LIMIT_S) -> None:
        """`environment` is all that the program gets of one, so it must hold no credentials."""
        self._arguments = tuple(arguments)
        self._environment = dict(environment)
        self._limit_s = limit_s

    async def run(self, json_text: str) -> None:
        """Run the program with this text on its standard input; raises CommandFailed."""
        # Pipes of our own: asyncio's would keep the end of the program waiting for whatever it left running.
        with _pipe() as (stdin, json_end), _pipe() as (stderr_end, stderr):
            os.set_blocking(json_end.fileno(), False)
            os.write(json_end.fileno(), json_text.encode("utf-8"))
            try:
                process = await asyncio.create_subprocess_exec(
                    *self._arguments,
                    stdin=stdin,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=stderr,
                    env=self._environment,
                    start_new_session=True,
                )
            except OSError as problem:
                raise CommandFailed(f"{one_sentence(self._arguments[0])} cannot be run ({problem.strerror})") from None
            json_end.close()
            stderr.close()
            tail = _Tail(stderr_end.fileno())
            try:
                async with asyncio.timeout(self._limit_s):
                    code = await process.wait()
            except TimeoutError:
                raise CommandFailed(f"ended after {self._limit_s:g} s, the most it may take") from None
            finally:
                if process.returncode is None:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)  # with whatever it has started
                    await process.wait()
                text = tail.close()
        if code != 0:
            last_line = one_sentence(text.strip().rpartition("\n")[2])[:_SHOWN_CHARACTERS]
            raise CommandFailed(f"ended with code {code}{f': {last_line}' if last_line else ''}")


@contextmanager
def _pipe() -> Iterator[tuple[FileIO, FileIO]]:
    """The end of a pipe to read and the one to write, closed with the block, unless one was before."""
    reading_end, writing_end = os.pipe()
    with FileIO(reading_end, "r") as reading, FileIO(writing_end, "w") as writing:
        yield reading, writing


class _Tail:
    """The last bytes of what comes through a pipe, which is read as it comes."""

    def __init__(self, reading_end: int) -> None:
        os.set_blocking(reading_end, False)
        self._reading_end = reading_end
        self._bytes = b""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(reading_end, self._read)

    def _read(self) -> bool:
        """Take what is there now; whether there may be more."""
        try:
            chunk = os.read(self._reading_end, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            self._loop.remove_reader(self._reading_end)
            return False
        self._bytes = (self._bytes + chunk)[-_KEPT_BYTES:]
        return True

    def close(self) -> str:
        """Read what is left, at most what a pipe holds, and no more after that; the last of it as text."""
        for _ in range(_LAST_CHUNKS):
            if not self._read():
                break
        self._loop.remove_reader(self._reading_end)
        return self._bytes.decode("utf-8", "replace")
