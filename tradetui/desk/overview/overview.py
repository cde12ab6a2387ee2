"""Watches several accounts at once: their rows, always newest, from one loop, one disk and one budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Final, NamedTuple

from tradetui.desk.account.identity import AccountIdentity
from tradetui.desk.events.rules import Alert
from tradetui.desk.overview.account_row import AccountRow, by_need
from tradetui.desk.overview.watched_account import AccountSource, OpenBlocking, OpenedAccount, WatchedAccount
from tradetui.desk.publisher import Publisher
from tradetui.exchange.clock import Clock
from tradetui.storage.disk_thread import Disk

KEPT_EVERY_S: Final = 5.0


async def _in_thread(open_account: Callable[[], OpenedAccount]) -> OpenedAccount:
    return await asyncio.to_thread(open_account)


class LockResult(NamedTuple):
    """The accounts that were locked, and those that could not be, each with the reason."""

    locked: tuple[str, ...]
    failed: tuple[str, ...]


class Overview(Publisher[()]):
    """The rows of these profiles from `start` to `stop`; profiles of one account share a row.

    Listeners are called whenever a row may have changed.

    `disk` runs all blocking reads, `run` opens accounts; `release` releases what the accounts share.
    """

    def __init__(
        self,
        sources: Sequence[AccountSource],
        clock: Clock,
        random: Random,
        disk: Disk,
        *,
        run: OpenBlocking = _in_thread,
        release: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__()
        self.clock = clock
        self.alerted: Callable[[AccountRow, Alert], None] = lambda *_: None
        """Called for every alert of a row."""
        self._sources = tuple(sources)
        self._random = random
        self._disk = disk
        self._run = run
        self._release = release
        self._accounts: list[WatchedAccount] = []
        self._identities: list[AccountIdentity | None] = []
        """Those of the accounts when profiles of one account were last merged."""
        self._stopping: set[asyncio.Task[None]] = set()
        self._reading_kept: asyncio.Task[None] | None = None
        self._looked = asyncio.Event()

    def start(self) -> None:
        """Begin to watch; each account is opened separately, so that none waits for another."""
        for source in self._sources:
            self._watch(source)
        self._reading_kept = asyncio.create_task(self._read_kept_again_and_again(), name="overview disk")

    async def stop(self) -> None:
        if self._reading_kept is not None:
            self._reading_kept.cancel()
            await asyncio.gather(self._reading_kept, return_exceptions=True)
        await asyncio.gather(*(account.stop() for account in self._accounts), *self._stopping, return_exceptions=True)
        self._disk.close()
        if self._release is not None:
            await self._release()

    @property
    def rows(self) -> list[AccountRow]:
        """The present rows, those that need a person first; a sub-account with a profile has that row alone."""
        rows = [account.row for account in self._accounts]
        uids = {row.uid for row in rows if row.uid is not None}
        of_mains = [row for account in self._accounts for row in account.subaccount_rows]
        return by_need([*rows, *{row.uid: row for row in of_mains if row.uid not in uids}.values()])

    async def look(self, within_s: float) -> list[AccountRow]:
        """Wait until each account was read or failed, at most `within_s` seconds; return the rows."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._looked.wait()
        await self._read_kept()
        return self.rows

    def use_sources(self, sources: Sequence[AccountSource]) -> None:
        """Watch these profiles from now on; accounts whose profiles are the same as before go on undisturbed."""
        for account in tuple(self._accounts):
            if not all(source in sources for source in account.sources):
                self._drop(account)
        watched = {source.name for account in self._accounts for source in account.sources}
        for source in sources:
            if source.name not in watched:
                self._watch(source)
        self._sources = tuple(sources)
        self._row_changed()

    async def lock_trading(self) -> LockResult:
        """Lock every account that may send, for every session of this user, one after the other."""
        locked, failed = [], []
        for account in tuple(self._accounts):
            for lock in account.locks:
                try:
                    await self._disk.run(lock, account.known_account)
                except Exception as problem:
                    failed.append(f"{account.sources[0].name}: {problem}")
                else:
                    locked.append(account.sources[0].name)
        await self._read_kept()
        return LockResult(tuple(dict.fromkeys(locked)), tuple(failed))

    def _watch(self, source: AccountSource) -> None:
        account = WatchedAccount(
            source, self.clock, self._random, self._row_changed, lambda *alert: self.alerted(*alert), self._run
        )
        self._accounts.append(account)
        account.start()

    def _drop(self, account: WatchedAccount) -> None:
        self._accounts.remove(account)
        stopping = asyncio.create_task(account.stop())
        self._stopping.add(stopping)
        stopping.add_done_callback(self._stopping.discard)

    def _row_changed(self) -> None:
        self._merge_profiles_of_one_account()
        if not self._looked.is_set() and all(account.is_looked_at for account in self._accounts):
            self._looked.set()
        self._tell()

    def _merge_profiles_of_one_account(self) -> None:
        if [account.identity for account in self._accounts] == self._identities:
            return
        first_of: dict[str, WatchedAccount] = {}
        for account in tuple(self._accounts):
            if account.identity is None or not account.identity.known:
                continue
            first = first_of.setdefault(account.identity.name, account)
            if first is not account:
                first.sources += account.sources
                self._drop(account)
        self._identities = [account.identity for account in self._accounts]

    async def _read_kept_again_and_again(self) -> None:
        while True:
            await self._read_kept()
            await asyncio.sleep(KEPT_EVERY_S)

    async def _read_kept(self) -> None:
        for account in tuple(self._accounts):
            await account.read_kept(self._disk)
