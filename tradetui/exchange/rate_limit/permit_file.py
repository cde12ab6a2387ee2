"""The file in which all processes of the user share their permits.

A killed process gives no permit back: its uses end a second after others notice its death, or with their leases.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, ParamSpec, TypeVar

from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import NotSent
from tradetui.exchange.rate_limit.permit_store import StoreHeld, StoreUnusable, WrittenPermits
from tradetui.storage.boot_id import boot_id
from tradetui.storage.disk_thread import ThreadDisk
from tradetui.storage.process_life import ALIVE_DIR, ProcessLives
from tradetui.storage.sqlite_file import FileUnusable, connect, is_held_by_others, make_tables, transaction, use_log

P = ParamSpec("P")
Result = TypeVar("Result")

FILE_NAME: Final = "budget.sqlite"
_VERSION: Final = 5
"""Files of earlier versions are recreated: their contents expire within seconds."""
_OPENING_S = 5.0
"""How long to retry opening a file that others are just opening too."""
_BUSY_S = 2.0
_TABLES: Final = (
    "create table boot (id text not null)",
    "create table endpoints (key text primary key, state text not null) without rowid",
    "create table addresses (key text primary key, state text not null) without rowid",
)


class FilePermits(WrittenPermits):
    """Permits of all processes of the user; the state is read again after other processes have written it.

    All times are those of CLOCK_MONOTONIC, which the processes of one boot share; a boot id distinguishes boots. Work
    takes a fraction of a millisecond and is done at once. If another process holds the file just then, a thread waits
    for it, never the event loop.
    """

    def __init__(self, directory: Path, clock: Clock, random: Random, *, inline: bool = False) -> None:
        """Open the file, or recreate a damaged or older one; `inline` does all work without a thread, for virtual time.

        Raises NotSent for the file of a newer program, and StoreUnusable if there can be no file.
        """
        super().__init__(clock, Random(random.getrandbits(64)))
        nonce = f"{random.getrandbits(48):x}"
        self._lives = ProcessLives(directory / ALIVE_DIR, nonce)
        self.owner = self._lives.owner or f"{os.getpid()}:{nonce}"
        self._inline = inline
        self._thread: ThreadDisk | None = None
        self._waiting_for_others = 0
        self._version_read = 0
        try:
            self._base = _opened(directory / FILE_NAME, self._random)
        except FileUnusable as newer:
            self._lives.close()
            remedy = "Update this program, or close the newer one."
            raise NotSent(f"{newer.file}: {newer.reason}", remedy=remedy) from None
        except (OSError, sqlite3.Error) as failure:
            self._lives.close()
            raise StoreUnusable(str(failure)) from None

    async def aclose(self) -> None:
        with suppress(StoreHeld, StoreUnusable):
            await self._run(self.close)
        if self._thread is not None:
            self._thread.close()

    def close(self) -> None:
        """Record which calls have ended, and close the file; others may see at once that this process has ended."""
        try:
            # If others hold the file just now, this process's last calls count a few seconds too long.
            with suppress(sqlite3.OperationalError), self._changing():
                for address in {use.request.address for use, _ in self._ended}:
                    calls = self._calls(address)
                    self._count_ended(address, calls)
                    self._keep_calls(address, calls)
        finally:
            self._base.close()
            self._lives.close()

    def has_ended(self, owner: str) -> bool:
        return self._lives.has_ended(owner)

    def _keys(self, prefix: str) -> list[str]:
        rows = self._base.execute("select key from endpoints where substr(key, 1, ?) = ?", (len(prefix), prefix))
        return [key for (key,) in rows]

    def _read(self, kind: str, key: str) -> str | None:
        row = self._base.execute(f"select state from {kind} where key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def _write(self, kind: str, key: str, state: str) -> None:
        self._base.execute(f"insert or replace into {kind} values (?, ?)", (key, state))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        try:
            with transaction(self._base):
                version: int = self._base.execute("pragma data_version").fetchone()[0]
                if version != self._version_read:
                    self._forget()
                    self._version_read = version
                yield
        except BaseException:
            self._forget()
            raise

    def _run(self, work: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[Result]:
        """Do work on the file in the order of requests: at once, or in a thread while others hold the file."""
        bound_work = partial(work, *args, **kwargs)
        if not self._waiting_for_others:
            try:
                return super()._run(_failing_as_store, bound_work)
            except StoreUnusable as failure:
                return _failed(failure)
            except StoreHeld as failure:
                if self._inline:
                    return _failed(failure)
        if self._thread is None:
            self._thread = ThreadDisk("budget")
        self._waiting_for_others += 1
        done = self._thread.submit(self._patiently, bound_work)
        done.add_done_callback(self._back_from_thread)
        return done

    def _patiently(self, work: Callable[[], Result]) -> Result:
        """Wait at most two seconds for other processes."""
        self._base.execute(f"pragma busy_timeout = {_BUSY_S * 1000:.0f}")
        try:
            return _failing_as_store(work)
        finally:
            with suppress(sqlite3.ProgrammingError):  # the work may have closed the file
                self._base.execute("pragma busy_timeout = 0")

    def _back_from_thread(self, _: asyncio.Future[Any]) -> None:
        self._waiting_for_others -= 1


def _failed(failure: Exception) -> asyncio.Future[Any]:
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    done.set_exception(failure)
    return done


def _failing_as_store(work: Callable[[], Result]) -> Result:
    """Return the result of work on a file; raises StoreHeld or StoreUnusable."""
    try:
        return work()
    except sqlite3.Error as failure:
        raise (StoreHeld if is_held_by_others(failure) else StoreUnusable)(str(failure)) from None


def _opened(file: Path, random: Random) -> sqlite3.Connection:
    """Open the file; retry while others open it too, because SQLite does not wait while a new file gets its log."""
    give_up_at = time.monotonic() + _OPENING_S
    while True:
        try:
            return _open(file)
        except sqlite3.DatabaseError as failure:
            if time.monotonic() > give_up_at:
                raise
            if not isinstance(failure, sqlite3.OperationalError):  # damaged; its contents expire soon anyway
                file.replace(file.with_name(f"{file.name}.damaged"))
                for rest in ("-wal", "-shm"):
                    file.with_name(file.name + rest).unlink(missing_ok=True)
            elif not is_held_by_others(failure):
                raise
        time.sleep(random.uniform(0.01, 0.05))


def _open(file: Path) -> sqlite3.Connection:
    base = connect(file, timeout_s=_BUSY_S, any_thread=True)
    try:
        use_log(base, synchronous="off")  # nothing here outlives a boot
        make_tables(base, _make_tables_anew, _VERSION, str(file))
        with transaction(base):
            if base.execute("select id from boot").fetchall() != [(boot_id(),)]:  # the monotonic clock has started anew
                for table in ("boot", "endpoints", "addresses"):
                    base.execute(f"delete from {table}")
                base.execute("insert into boot values (?)", (boot_id(),))
        base.execute("pragma busy_timeout = 0")
    except BaseException:
        base.close()
        raise
    return base


def _make_tables_anew(base: sqlite3.Connection) -> None:
    for (name,) in base.execute("select name from sqlite_master where type = 'table'").fetchall():
        base.execute(f"drop table {name}")
    for table in _TABLES:
        base.execute(table)
