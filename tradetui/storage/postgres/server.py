"""The connection to the store: calls its functions on a thread of its own, each with a deadline, and hears of changes.

A peer that swallows bytes would hold a call for as long as the system waits. At the deadline the call's socket is shut
down, which ends the call on the thread at once.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple, TypeVar

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb

from tradetui.storage.disk_thread import ThreadDisk
from tradetui.storage.postgres.errors import StoreAway, StoreRefused
from tradetui.storage.postgres.schema import libpq_reason, named_error, versions

_log = logging.getLogger(__name__)

T = TypeVar("T")

DEADLINE_S: Final = 2.0
POLL_S: Final = 5.0
_CONNECT_DEADLINE_S: Final = 8.0
"""For two connections, each of which libpq gives up after `connect_timeout`, and the first calls on them."""
_SETTINGS: Final = f"set statement_timeout = {DEADLINE_S * 1000:.0f}; set jit = off"
"""The server would take longer to compile a query than to answer it."""
_FIRST_QUERY: Final = """
select version, set_config('tradetui.installation', %s, false) from pg_stat_ssl where pid = pg_backend_pid()
"""
_FIRST_WAIT_S: Final = 0.2
_LONGEST_WAIT_S: Final = 2.0
Connection = psycopg.Connection[DictRow]


class _Connections(NamedTuple):
    """The two connections of one time, and what the server said when they were opened."""

    calls: Connection
    notices: Connection
    notices_socket: int
    tls: str
    hello: DictRow
    round_trip_s: float


class PostgresServer:
    """One session's connection to the store.

    `on_change` is called on the loop with the name of an account that somebody has written to, and with an empty text
    when the store is away, when it is back, and every `poll_s` seconds: a notice may be missed, so whoever listens then
    reads anew.
    """

    def __init__(
        self,
        conninfo: str,
        installation: str = "",
        *,
        monotonic: Callable[[], float] = time.monotonic,
        poll_s: float = POLL_S,
    ) -> None:
        """`conninfo` is the answer of `checked_conninfo`; nothing is connected before `open`.

        `installation` tells this installation from another one that names its machine alike.
        """
        self.away_since: float | None = monotonic()
        """When it was lost, in seconds of `monotonic`; None while it can be reached."""
        self.away_reason = "it is not connected yet"
        self.on_change: Callable[[str], None] | None = None
        self.server_version = 0
        """The server's version as libpq counts, 150018 for 15.18."""
        self.tls = ""
        """The version of TLS in use; empty if the connection is not encrypted."""
        self.person = ""
        """The login of this session, as the server knows it; empty before the first connection."""
        self.role = ""
        """The person's role: viewer, trader or admin; empty for a person who has none."""
        self.round_trip_s = 0.0
        """How long the last answered call took."""
        self._conninfo = conninfo
        self._installation = installation
        self._monotonic = monotonic
        self._poll_s = poll_s
        self._thread = ThreadDisk("store")
        self._under_way: set[_Work] = set()
        self._connections: _Connections | None = None
        self._is_lost = asyncio.Event()
        self._upkeep: asyncio.Task[None] | None = None
        self._opening: asyncio.Task[None] | None = None
        self._users = 0

    async def open(self) -> None:
        """Connect; if that fails, `away_since` stays set, and it is tried again in the background.

        Several parts of a session may open it; it is closed when all of them have closed it.
        """
        self._users += 1
        if self._opening is None:
            self._opening = asyncio.create_task(self._open(), name="opening the store")
        await asyncio.shield(self._opening)

    async def _open(self) -> None:
        await self._connect()
        self._upkeep = asyncio.create_task(self._keep_up(), name="store")

    async def call(self, function: str, *arguments: object, deadline_s: float = DEADLINE_S) -> list[dict[str, Any]]:
        """Return the rows of a function of the schema, called with the schema's version and then the arguments.

        A dictionary is handed over as jsonb, a list of dictionaries as jsonb[]. Raises StoreAway if no certain answer
        came within the deadline, StoreRefused if the store refused.
        """
        connections, work = self._connections, _Work()
        if connections is None:
            raise StoreAway(self.away_reason)
        began_s = self._monotonic()
        try:
            rows = await self._run(work, lambda: work.call(connections.calls, function, *arguments), deadline_s)
        except StoreAway as away:
            if work.has_begun and self._connections is connections:
                self._lose(away.reason)
            raise
        self.round_trip_s = self._monotonic() - began_s
        return rows

    async def aclose(self) -> None:
        """Close both connections once nobody uses them; a call under way ends with StoreAway."""
        self._users -= 1
        if self._users > 0:
            return
        for task in (self._opening, self._upkeep):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})
        for work in self._under_way:
            work.expire()
        self._disconnect("it is closed")
        self._thread.close()
        self._thread, self._opening, self._upkeep = ThreadDisk("store"), None, None  # it may be opened again

    async def _run(self, work: _Work, job: Callable[[], T], deadline_s: float) -> T:
        """Return the result of a job on the thread; at the deadline end it, also if the caller was cancelled."""
        answer = self._thread.submit(job)
        timer = asyncio.get_running_loop().call_later(deadline_s, work.expire)
        self._under_way.add(work)

        def end(answer: asyncio.Future[T]) -> None:
            timer.cancel()
            self._under_way.discard(work)
            if not answer.cancelled():
                answer.exception()  # nobody waits any more for an answer that comes too late

        answer.add_done_callback(end)
        await asyncio.wait({answer}, timeout=deadline_s)
        # The loop may come late itself, as after a suspension: an answer that is there by then counts.
        if answer.done() and not (work.is_late and isinstance(answer.exception(), StoreAway)):
            return answer.result()
        work.expire()
        raise StoreAway(f"no answer within {deadline_s:g} s")

    # Connecting

    async def _keep_up(self) -> None:
        """Connect again whenever the connection is lost, and have everything read anew now and then."""
        wait_s = _FIRST_WAIT_S
        while True:
            if self._connections is not None:
                wait_s = _FIRST_WAIT_S
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._poll_s):
                        await self._is_lost.wait()
                        continue
                self._report("")
            else:
                await asyncio.sleep(wait_s)
                wait_s = min(wait_s * 2, _LONGEST_WAIT_S)
                if await self._connect():
                    self._report("")

    async def _connect(self) -> bool:
        work = _Work()
        try:
            connections = await self._run(work, lambda: self._connected(work), _CONNECT_DEADLINE_S)
        except StoreAway as away:
            self.away_reason = away.reason
            return False
        self._connections = connections
        self._is_lost.clear()
        self.server_version = connections.calls.info.server_version
        self.person, self.role = connections.hello["person"], connections.hello["role"] or ""
        self.tls, self.round_trip_s = connections.tls, connections.round_trip_s
        self.away_since, self.away_reason = None, ""
        asyncio.get_running_loop().add_reader(connections.notices_socket, self._hear, connections)
        return True

    def _connected(self, work: _Work) -> _Connections:
        """Open both connections, on the thread. The one for notices listens before anything is read."""
        opened: list[Connection] = []
        try:
            for first_query in ("listen tradetui", _SETTINGS):
                connection = psycopg.connect(
                    self._conninfo, autocommit=True, row_factory=dict_row, cursor_factory=psycopg.ClientCursor
                )
                opened.append(connection)
                work.execute(connection, first_query)
            notices, calls = opened
            [ssl] = work.execute(calls, _FIRST_QUERY, (self._installation,))
            began_s, hello = self._monotonic(), {"person": calls.info.user, "role": ""}
            with suppress(StoreRefused):  # every later call says so too
                [hello] = work.call(calls, "hello")
            round_trip_s = self._monotonic() - began_s
            return _Connections(calls, notices, notices.fileno(), ssl["version"] or "", hello, round_trip_s)
        except BaseException as problem:
            _close(*opened)
            if isinstance(problem, psycopg.Error):
                raise StoreAway(libpq_reason(problem)) from None
            raise

    def _hear(self, connections: _Connections) -> None:
        """Report the accounts of the notices that have come; libpq's reading never blocks."""
        try:
            connections.notices.pgconn.consume_input()
            accounts = {}
            while (notice := connections.notices.pgconn.notifies()) is not None:
                accounts[notice.extra.decode()] = True
        except psycopg.Error as problem:
            self._lose(libpq_reason(problem))
            return
        for account in accounts:
            self._report(account)

    def _report(self, account: str) -> None:
        if self.on_change is not None:
            asyncio.get_running_loop().call_soon(self.on_change, account)

    def _lose(self, reason: str) -> None:
        _log.warning("the store is away: %s", reason)
        self._disconnect(reason)
        self._is_lost.set()
        self._report("")

    def _disconnect(self, reason: str) -> None:
        connections, self._connections = self._connections, None
        self.away_reason = reason
        if connections is None:
            return
        self.away_since = self._monotonic()
        asyncio.get_running_loop().remove_reader(connections.notices_socket)
        self._thread.submit(_close, connections.calls, connections.notices)


class _Work:
    """Queries for the thread. Once `expire` was called, the one that runs ends at once and no other begins."""

    def __init__(self) -> None:
        self.has_begun = False
        self.is_late = False
        self._lock = threading.Lock()
        self._connection: Connection | None = None

    def call(self, connection: Connection, function: str, *arguments: object) -> list[DictRow]:
        parameters = (len(versions()), *map(_adapted, arguments))
        placeholders = ", ".join(["%s"] * len(parameters))
        return self.execute(connection, f"select * from tradetui.{function}({placeholders})", parameters)

    def execute(self, connection: Connection, query: str, parameters: tuple[object, ...] = ()) -> list[DictRow]:
        """Return the rows of a query, if it has any; raises StoreAway, StoreRefused.

        The client's cursor sends query and parameters in one message, which a server that got a part of it never runs.
        """
        try:
            with self._using(connection):
                cursor = connection.execute(query.encode(), parameters or None)
                return cursor.fetchall() if cursor.description else []
        except psycopg.Error as problem:
            raise named_error(problem, connection.info.user) from None

    @contextmanager
    def _using(self, connection: Connection) -> Iterator[None]:
        with self._lock:
            if self.is_late:
                raise StoreAway("it is too late for the call")
            self.has_begun, self._connection = True, connection
        try:
            yield
        finally:
            with self._lock:
                self._connection = None

    def expire(self) -> None:
        """Shut down the socket in use, from any thread."""
        with self._lock:
            self.is_late = True
            if self._connection is not None:
                with (
                    suppress(OSError, psycopg.Error),
                    socket.fromfd(self._connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as shared,
                ):
                    shared.shutdown(socket.SHUT_RDWR)


def _adapted(argument: object) -> object:
    if isinstance(argument, dict):
        return Jsonb(argument)
    if isinstance(argument, list) and argument and all(isinstance(item, dict) for item in argument):
        return [Jsonb(item) for item in argument]
    return argument


def _close(*connections: Connection) -> None:
    for connection in connections:
        connection.close()
