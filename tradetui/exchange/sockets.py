"""Connections straight on asyncio, for httpcore: a tenth of a call cheaper than through anyio, and nothing else."""

# ruff: noqa: ASYNC109 - the time-outs are httpcore's parameters

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from typing import Any

import httpcore

_FULL = 256 * 1024
"""What may wait unread before the other end is slowed down."""


class Connection(asyncio.Protocol):
    """One connection: what came and was not read yet, and whether the other end has closed."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self.received = bytearray()
        self.ended = False
        self.failure: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        if len(self.received) > _FULL and not self._paused:
            self._paused = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self.ended = True
        self._wake()
        return False  # the transport closes itself

    def connection_lost(self, failure: Exception | None) -> None:
        self.ended = True
        self.failure = failure
        self._writable.set()
        self._wake()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def some(self, most: int) -> bytes:
        """Wait for bytes; empty at the end."""
        while not self.received and not self.ended:
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        if not self.received and self.failure is not None:
            raise self.failure
        data = bytes(self.received[:most])
        del self.received[:most]
        if self._paused and len(self.received) <= _FULL:
            self._paused = False
            self.transport.resume_reading()
        return data

    async def written(self) -> None:
        """Wait until what was written fits into the system's buffers again."""
        await self._writable.wait()
        if self.failure is not None:
            raise self.failure

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class Stream(httpcore.AsyncNetworkStream):
    """A connection as httpcore wants it; every failure becomes one of httpcore's."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Some bytes, or none at the end."""
        connection = self._connection
        try:
            if connection.received or connection.ended:
                return await connection.some(max_bytes)
            async with asyncio.timeout(timeout):
                return await connection.some(max_bytes)
        except TimeoutError:
            raise httpcore.ReadTimeout from None
        except (OSError, ssl.SSLError) as failure:
            raise httpcore.ReadError(str(failure)) from None

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write everything."""
        connection = self._connection
        if not buffer:
            return
        if connection.ended or connection.transport.is_closing():
            raise httpcore.WriteError("the connection is closed")
        connection.transport.write(buffer)
        try:
            async with asyncio.timeout(timeout):
                await connection.written()
        except TimeoutError:
            raise httpcore.WriteTimeout from None
        except (OSError, ssl.SSLError) as failure:
            raise httpcore.WriteError(str(failure)) from None

    async def aclose(self) -> None:
        """Close without waiting for the other end."""
        self._connection.transport.close()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Encrypt from here on."""
        connection = self._connection
        try:
            async with asyncio.timeout(timeout):
                transport = await asyncio.get_running_loop().start_tls(
                    connection.transport, connection, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError:
            connection.transport.abort()
            raise httpcore.ConnectTimeout from None
        except (OSError, ssl.SSLError) as failure:
            connection.transport.abort()
            raise httpcore.ConnectError(str(failure)) from None
        if transport is None:
            raise httpcore.ConnectError("the connection was closed")
        connection.transport = transport
        return self

    def get_extra_info(self, info: str) -> Any:
        """What httpcore asks: the TLS object, and whether something came on an idle connection: its end."""
        if info == "is_readable":
            return bool(self._connection.received) or self._connection.ended
        if info == "ssl_object":
            return self._connection.transport.get_extra_info("ssl_object")
        return None


class Sockets(httpcore.AsyncNetworkBackend):
    """Opens connections on the running loop."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect; of several addresses the first that answers."""
        try:
            async with asyncio.timeout(timeout):
                _, connection = await asyncio.get_running_loop().create_connection(
                    Connection, host, port, happy_eyeballs_delay=0.25
                )
        except TimeoutError:
            raise httpcore.ConnectTimeout from None
        except OSError as failure:
            raise httpcore.ConnectError(str(failure)) from None
        return Stream(connection)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
