"""A relay between one machine and the store: it delays, holds back, refuses and resets from one moment to the next."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from contextlib import suppress
from enum import StrEnum
from typing import Final

from tests.bench.loopback import listen

_RESETS_ON_CLOSE: Final = struct.pack("ii", 1, 0)
"""The value of SO_LINGER with which a close sends a reset."""


class Way(StrEnum):
    """What becomes of bytes and of new connections."""

    OPEN = "open"
    SWALLOWED = "swallowed"
    """Nothing passes and nothing is refused; what was held back passes once the way is open again."""
    CUT = "cut"
    """Connections are reset, also new ones."""


class Relay:
    """Listens on `port` of loopback and passes everything on to another port; runs on a thread of its own."""

    def __init__(self, to_port: int) -> None:
        self.delay_s = 0.0
        """The time that each piece takes, in each direction."""
        self._to_port = to_port
        self._listening = listen()
        self.port: int = self._listening.getsockname()[1]
        self._way = Way.OPEN
        self._writers: set[asyncio.StreamWriter] = set()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._is_ready = threading.Event()

    def __enter__(self) -> Relay:
        self._thread.start()
        assert self._is_ready.wait(30), "the relay never began to listen"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def set_way(self, way: Way) -> None:
        self._loop.call_soon_threadsafe(self._set_way, way)

    def reset(self) -> None:
        """Reset every connection; new ones are served as before."""
        self._loop.call_soon_threadsafe(self._reset)

    def _set_way(self, way: Way) -> None:
        self._way = way
        if way is Way.SWALLOWED:
            self._passes.clear()
        else:
            self._passes.set()
        if way is Way.CUT:
            self._reset()

    def _reset(self) -> None:
        for writer in self._writers:
            raw = writer.get_extra_info("socket")
            with suppress(OSError):
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETS_ON_CLOSE)
            writer.transport.abort()

    async def _serve(self) -> None:
        self._stop, self._passes, self._loop = asyncio.Event(), asyncio.Event(), asyncio.get_running_loop()
        self._passes.set()
        async with await asyncio.start_server(self._accept, sock=self._listening):
            self._is_ready.set()
            await self._stop.wait()
            self._reset()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            if self._way is Way.CUT:
                writer.transport.abort()
                return
            await self._passes.wait()
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._to_port)
            self._writers.add(server_writer)
            try:
                await asyncio.gather(self._pass(reader, server_writer), self._pass(server_reader, writer))
            finally:
                self._writers.discard(server_writer)
                server_writer.close()
        except OSError:
            pass  # either side is gone, and so is the other
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(1 << 16):
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            await self._passes.wait()
            writer.write(piece)
            await writer.drain()
        writer.close()
