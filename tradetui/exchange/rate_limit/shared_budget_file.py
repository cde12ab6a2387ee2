"""The file that holds one budget for all processes of the user, opened once and worked on in order.

Work on it takes a fraction of a millisecond and is done on the spot, unless another process holds the file just then:
that is waited for in a thread, never by the event loop.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from tradetui.exchange.rate_limit.shared_permit_store import PermitStore, is_held_by_others
from tradetui.storage.boot_id import boot_id
from tradetui.storage.disk_thread import ThreadDisk
from tradetui.storage.process_life import ALIVE_DIR, ProcessLives

Result = TypeVar("Result")

FILE_NAME = "budget.sqlite"
OPENING_S = 5.0
"""How long a file is tried that others are just opening too."""


class BudgetFile:
    """The budget's file in a directory; `inline` does all work on the spot, for virtual time."""

    def __init__(self, directory: Path, *, inline: bool) -> None:
        self._directory = directory
        self._inline = inline
        self._store: PermitStore | None = None
        self._lives: ProcessLives | None = None
        self._thread: ThreadDisk | None = None
        self._waiting_for_others = 0

    @property
    def is_open(self) -> bool:
        return self._store is not None

    @property
    def store(self) -> PermitStore:
        assert self._store is not None
        return self._store

    async def open(self, random: Random) -> None:
        """Open the file, a damaged one replaced; raises FileUnusable for a newer program's, OSError, sqlite3.Error."""
        nonce = f"{random.getrandbits(48):x}"
        self._store = await self.run(partial(self._open_file, nonce, Random(random.getrandbits(64))))

    async def aclose(self) -> None:
        if self._store is not None:
            with suppress(Exception):
                await self.run(self._store.close)
        if self._lives is not None:
            self._lives.close()
        if self._thread is not None:
            self._thread.close()

    def run(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        """Do work on the file, in the order it was requested; on the spot, unless others hold the file."""
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        if (self._store is None and not self._inline) or self._waiting_for_others:
            return self._in_thread(work)
        try:
            done.set_result(work())
        except Exception as failure:
            if not self._inline and isinstance(failure, sqlite3.OperationalError) and is_held_by_others(failure):
                return self._in_thread(work)
            done.set_exception(failure)
        return done

    def _in_thread(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        if self._thread is None:
            self._thread = ThreadDisk("budget")
        self._waiting_for_others += 1
        done = self._thread.submit(self._patiently, work)
        done.add_done_callback(self._back_from_thread)
        return done

    def _patiently(self, work: Callable[[], Result]) -> Result:
        if self._store is None:
            return work()
        with self._store.patience():
            return work()

    def _back_from_thread(self, _: asyncio.Future[Any]) -> None:
        self._waiting_for_others -= 1

    def _open_file(self, nonce: str, random: Random) -> PermitStore:
        self._lives = lives = ProcessLives(self._directory / ALIVE_DIR, nonce)
        owner = lives.owner or f"{os.getpid()}:{nonce}"
        return _open_or_replace(
            self._directory / FILE_NAME,
            partial(PermitStore, owner=owner, boot=boot_id(), random=random, has_ended=lives.has_ended),
            random,
        )


def _open_or_replace(path: Path, store_of: Callable[[Path], PermitStore], random: Random) -> PermitStore:
    try:
        return _opened(path, store_of, random)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:  # damaged; it holds nothing that matters for longer than a second
        path.replace(path.with_name(f"{path.name}.damaged"))
        for rest in ("-wal", "-shm"):
            path.with_name(path.name + rest).unlink(missing_ok=True)
        return store_of(path)


def _opened(path: Path, store_of: Callable[[Path], PermitStore], random: Random) -> PermitStore:
    """Open it, again where others are just opening it too: SQLite does not wait while a new file gets its log."""
    give_up_at = time.monotonic() + OPENING_S
    while True:
        try:
            return store_of(path)
        except sqlite3.OperationalError as failure:
            if not is_held_by_others(failure) or time.monotonic() > give_up_at:
                raise
        time.sleep(random.uniform(0.01, 0.05))
