"""Hands an alert to a program of the person's own: no shell, the event as JSON on its standard input."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, Protocol

from tradetui.desk.alerts.event import one_sentence
from tradetui.exchange.clock import Clock

LIMIT_S: Final = 10.0
"""How long a program may run."""
_STDERR_BYTES: Final = 4_096
_SHOWN_CHARACTERS: Final = 120
_LAST_WORDS_S: Final = 0.2
_MINUTE_S: Final = 60.0


class CommandFailed(Exception):
    """The program could not be run, or not to a good end; the message says why in a few words."""


class Command(Protocol):
    """Runs a program on an event."""

    async def run(self, json_text: str) -> None:
        """Run it once to its end; raises CommandFailed."""
        ...


class ProgramCommand:
    """A program of this machine, started without a shell in a process group of its own."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], *, limit_s: float = LIMIT_S) -> None:
        """`environment` is all that the program gets of one, so it must hold no credentials."""
        self._arguments = tuple(arguments)
        self._environment = dict(environment)
        self._limit_s = limit_s

    async def run(self, json_text: str) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            )
        except OSError as problem:
            raise CommandFailed(f"{one_sentence(self._arguments[0])} cannot be run ({problem.strerror})") from None
        stderr = bytearray()
        talking = asyncio.create_task(self._talk(process, json_text, stderr))
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
            # A program of its own that it left behind may keep the pipe open for ever.
            await asyncio.wait([talking], timeout=_LAST_WORDS_S)
            talking.cancel()
            await asyncio.gather(talking, return_exceptions=True)
        if code != 0:
            text = stderr.decode("utf-8", "replace").strip()
            last_line = one_sentence(text.rpartition("\n")[2])[:_SHOWN_CHARACTERS]
            raise CommandFailed(f"ended with code {code}{f': {last_line}' if last_line else ''}")

    @staticmethod
    async def _talk(process: asyncio.subprocess.Process, json_text: str, stderr: bytearray) -> None:
        assert process.stdin is not None and process.stderr is not None
        with suppress(BrokenPipeError, ConnectionResetError):  # it need not read what it is given
            process.stdin.write(json_text.encode("utf-8"))
            await process.stdin.drain()
        process.stdin.close()
        while chunk := await process.stderr.read(_STDERR_BYTES):
            stderr += chunk
            del stderr[:-_STDERR_BYTES]


class MinuteLimit:
    """So many in any minute."""

    def __init__(self, allowed: int, clock: Clock) -> None:
        self._allowed = allowed
        self._clock = clock
        self._taken_s: deque[float] = deque()

    def take(self) -> bool:
        """Whether there is room for one more, which is then counted."""
        now_s = self._clock.monotonic()
        while self._taken_s and now_s - self._taken_s[0] >= _MINUTE_S:
            self._taken_s.popleft()
        if len(self._taken_s) >= self._allowed:
            return False
        self._taken_s.append(now_s)
        return True
