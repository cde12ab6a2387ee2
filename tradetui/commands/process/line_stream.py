"""Standard output of a command that runs for days: a slow reader delays nothing, a closed pipe is detected."""

from __future__ import annotations

import asyncio
import io
import os
import select
import stat
import sys
from typing import Final, Self, TextIO

from tradetui.commands.process.console import Output

_AT_ONCE: Final = getattr(select, "PIPE_BUF", 512)
"""Bytes that a pipe takes without waiting once it is writable."""


class LineStream:
    """Writes lines as they come; `closed` is set when the reader of a pipe has gone."""

    def __init__(self, stream: TextIO) -> None:
        """Take over a stream and flush it first. Belongs to the running loop."""
        stream.flush()
        self.closed = asyncio.Event()
        self._descriptor = stream.fileno()
        self._bytes = io.BytesIO()
        # Text is encoded as the stream does it, and written by the descriptor, which the stream would wait for.
        text = io.TextIOWrapper(self._bytes, stream.encoding, "backslashreplace", newline="\n", write_through=True)
        self.output = Output(text)
        self._loop = asyncio.get_running_loop()
        self._is_pipe = stat.S_ISFIFO(os.fstat(self._descriptor).st_mode)
        if self._is_pipe:
            # The writing end of a pipe is never readable: it is an error, that nobody reads any more, which wakes this.
            self._loop.add_reader(self._descriptor, self._reader_gone)

    @classmethod
    def of_stdout(cls) -> Self:
        return cls(sys.stdout)

    async def flush(self) -> None:
        """Flush the lines; raises OSError, BrokenPipeError among it."""
        rest = memoryview(self._bytes.getvalue())
        while rest:
            await self._writable()
            rest = rest[os.write(self._descriptor, rest[:_AT_ONCE]) :]
        self._bytes.seek(0)
        self._bytes.truncate()

    def close(self) -> None:
        if self._is_pipe:
            self._loop.remove_reader(self._descriptor)

    async def _writable(self) -> None:
        ready = asyncio.Event()
        try:
            self._loop.add_writer(self._descriptor, ready.set)
        except PermissionError:
            return  # a file, which is always writable
        try:
            await ready.wait()
        finally:
            self._loop.remove_writer(self._descriptor)

    def _reader_gone(self) -> None:
        self._loop.remove_reader(self._descriptor)
        self._is_pipe = False
        self.closed.set()
