"""Identifies the account, opens its archive, and passes it to the parts of the desk that store rows."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from tradetui.desk.account.identity import (
    AccountIdentity,
    AccountKey,
    KnownAccounts,
    current_owner,
    identify,
    identity_without_exchange,
)
from tradetui.desk.settings import DeskSettings
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import ExchangeError
from tradetui.storage.disk_thread import Disk
from tradetui.storage.sqlite_file import FileUnusable

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

_log = logging.getLogger(__name__)

AGAIN_S: Final = (1.0, 10.0)
"""Pauses between requests for the account: a second, then doubling up to ten, with jitter, until one is answered."""
OWNER_AGAIN_S: Final = 60.0
"""Interval of asking the exchange for the owner of the API key, besides the request at every send."""
_FILE: Final = "archive.sqlite"
ACCOUNTS_DIR: Final = "accounts"


def account_dir(data_dir: Path, identity: AccountIdentity, key_stand_in: str = "") -> Path:
    """Return the directory of an account: its own name, or a former name if only that directory exists.

    A former name is a hash of the key, from before the UID was known, or comes from another spelling of the address.
    """
    accounts = data_dir / ACCOUNTS_DIR
    names = (identity.name, *identity.former_names(key_stand_in))
    return accounts / next((name for name in names if (accounts / name).is_dir()), identity.name)


def archive_file(settings: DeskSettings, identity: AccountIdentity) -> Path | None:
    """Return the file of an account's archive, which may not exist yet; None if nothing is stored."""
    if settings.data_dir is None:
        return None
    return account_dir(settings.data_dir, identity, settings.key_stand_in) / _FILE


def _open_archive(file: Path | None) -> Archive:
    from tradetui.desk.archive.database import Archive

    return Archive(file)


class AccountStorage:
    """Runs once beside the feeds, which do not wait for it: rows that they read earlier are stored as well."""

    def __init__(
        self,
        client: ExchangeReader,
        settings: DeskSettings,
        disk: Disk,
        random: Random,
        *,
        expected: Callable[[AccountIdentity], Awaitable[None]],
        troubled: Callable[[str], None],
        known: Callable[[AccountIdentity], None],
        first_rows: Callable[[], Awaitable[None]],
        open_journal: Callable[[AccountIdentity], Awaitable[None]],
        attach: Sequence[Callable[[Archive], Awaitable[None]]],
        every_minute: Callable[[Archive], Awaitable[None]],
        owner_seen: Callable[[str | None], None] | None,
    ) -> None:
        """The callbacks are called in the order described here.

        `expected` gets the account as known without the exchange, before the exchange is asked. Until the account is
        identified, `troubled` gets each reason except the exchange's own errors; then `known` gets the account.
        `first_rows` is awaited before anything is opened. `open_journal` runs before the archive is opened, which may
        take a second because the whole file is checked. Each of `attach` gets the open archive, in turn. From then on,
        once a minute, `every_minute` gets it too, and `owner_seen` the UID that the exchange names for the key; neither
        without `owner_seen`.
        """
        self.identity: AccountIdentity | None = None
        self.archive: Archive | None = None
        self.trouble: str | None = None
        self.notice = ""
        """The message about an archive that was set aside; the one who shows it clears it."""
        self._client = client
        self._settings = settings
        self._disk = disk
        self._random = random
        self._expected = expected
        self._troubled = troubled
        self._known = known
        self._first_rows = first_rows
        self._open_journal = open_journal
        self._attach = attach
        self._every_minute = every_minute
        self._owner_seen = owner_seen
        self._accounts = KnownAccounts(settings.data_dir)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="account storage")

    async def stop_opening(self) -> None:
        """Cancel the opening; an archive that is open stays open."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def stop(self) -> None:
        await self.stop_opening()
        if self.archive is not None:
            await self._disk.run(self.archive.close)
            self.archive = None

    async def _run(self) -> None:
        self.identity = await self._identify()
        self._known(self.identity)
        await self._first_rows()
        await self._try_step(self._open_journal(self.identity))
        file = archive_file(self._settings, self.identity)
        try:
            self.archive = await self._disk.run(_open_archive, file)
            self.notice = self.archive.set_aside
        except (FileUnusable, OSError, sqlite3.Error) as problem:
            self.trouble = str(problem)
            self.archive = await self._disk.run(_open_archive, None)
        for attach in self._attach:
            await self._try_step(attach(self.archive))
        from tradetui.desk.archive.database import bring_ledger_forward  # loaded by now, off the loop

        await self._try_step(bring_ledger_forward(self.archive, self._disk))
        while self._owner_seen is not None:
            await asyncio.sleep(OWNER_AGAIN_S)
            await self._try_step(self._every_minute(self.archive))
            self._owner_seen(await current_owner(self._client))

    async def _try_step(self, step: Awaitable[None]) -> None:
        """Run one step; a failure is kept in `trouble`, and later steps still run."""
        try:
            await step
        except (sqlite3.Error, OSError) as problem:
            self.trouble = str(problem)
        except Exception as problem:
            _log.exception("the account's files cannot be used")
            self.trouble = f"{type(problem).__name__}: {problem}"

    async def _identify(self) -> AccountIdentity:
        """Ask until the account is known; a UID that the exchange once named stays valid when it names none."""
        wait, longest = AGAIN_S
        settings = self._settings
        key = AccountKey(settings.base_url, settings.exchange_environment, settings.key_stand_in or "key-unknown")
        expected: AccountIdentity | None = None
        while True:
            try:
                remembered = await self._disk.run(self._accounts.uid_of, key)
                if expected is None:
                    expected = identity_without_exchange(key, settings.uid, remembered)
                    await self._expected(expected)
                identity = await identify(self._client, key, settings.uid, remembered)
                if identity.origin == "exchange":
                    await self._disk.run(self._accounts.remember, key, identity.uid)
            except FileUnusable as problem:
                # If the account were taken for another, its unsettled intents would lock nothing.
                self._say_trouble(str(problem))
            except OSError as problem:
                why = f"{settings.data_dir} cannot be written ({problem.strerror}). Make it writable, or set data_dir"
                self._say_trouble(why)
            except ExchangeError:
                pass
            except Exception as problem:
                _log.exception("the account could not be identified")
                self._say_trouble(f"the account's owner could not be determined ({type(problem).__name__}: {problem})")
            else:
                self.trouble = None
                return identity
            await asyncio.sleep(wait * self._random.uniform(0.5, 1.0))
            wait = min(longest, wait * 2)

    def _say_trouble(self, why: str) -> None:
        self.trouble = why
        self._troubled(why)
