"""Identifies the account of a session, and opens its archive."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

from tradetui.desk.account.identity import (
    AccountIdentity,
    AccountKey,
    KnownAccounts,
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
_FILE: Final = "archive.sqlite"
ACCOUNTS_DIR: Final = "accounts"


def account_dir(data_dir: Path, identity: AccountIdentity, key_stand_in: str = "") -> Path:
    """Return the directory of an account: its own name, or a former name if only that directory exists.

    A former name is a hash of the key, from before the UID was known.
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
    """The account of a session, its archive, and why they cannot be used."""

    def __init__(self, client: ExchangeReader, settings: DeskSettings, disk: Disk, random: Random) -> None:
        self.identity: AccountIdentity | None = None
        self.archive: Archive | None = None
        self.trouble: str | None = None
        self.notice = ""
        """The message about an archive that was set aside; the one who shows it clears it."""
        self._client = client
        self._settings = settings
        self._disk = disk
        self._random = random
        self._accounts = KnownAccounts(settings.data_dir)
        self._task: asyncio.Task[None] | None = None

    def start(self, opening: Coroutine[Any, Any, None]) -> None:
        """Begin a session's opening, which runs once beside the feeds: they do not wait for it."""
        self._task = asyncio.create_task(opening, name="account storage")

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

    async def open_archive(self) -> Archive:
        """Open the identified account's archive; if it cannot be used, one that ends with the session."""
        assert self.identity is not None
        file = archive_file(self._settings, self.identity)
        try:
            self.archive = await self._disk.run(_open_archive, file)
            self.notice = self.archive.set_aside
        except (FileUnusable, OSError, sqlite3.Error) as problem:
            self.trouble = str(problem)
            self.archive = await self._disk.run(_open_archive, None)
        return self.archive

    async def try_step(self, step: Awaitable[None]) -> None:
        """Run one step; a failure is kept in `trouble`, and later steps still run."""
        try:
            await step
        except (sqlite3.Error, OSError) as problem:
            self.trouble = str(problem)
        except Exception as problem:
            _log.exception("the account's files cannot be used")
            self.trouble = f"{type(problem).__name__}: {problem}"

    async def identify(
        self, expected: Callable[[AccountIdentity], Awaitable[None]], troubled: Callable[[str], None]
    ) -> AccountIdentity:
        """Ask until the account is known; a UID that the exchange once named stays valid when it names none.

        `expected` gets the account as known without the exchange, before the exchange is asked. `troubled` gets each
        reason why it is not known yet, except the exchange's own errors.
        """
        wait, longest = AGAIN_S
        settings = self._settings
        key = AccountKey(settings.base_url, settings.exchange_environment, settings.key_stand_in or "key-unknown")
        known_without_exchange: AccountIdentity | None = None
        while True:
            try:
                remembered = await self._disk.run(self._accounts.uid_of, key)
                if known_without_exchange is None:
                    known_without_exchange = identity_without_exchange(key, settings.uid, remembered)
                    await expected(known_without_exchange)
                identity = await identify(self._client, key, settings.uid, remembered)
                if identity.origin == "exchange":
                    await self._disk.run(self._accounts.remember, key, identity.uid)
            except FileUnusable as problem:
                # If the account were taken for another, its unsettled intents would lock nothing.
                self.trouble = str(problem)
            except OSError as problem:
                remedy = "Make it writable, or set data_dir"
                self.trouble = f"{settings.data_dir} cannot be written ({problem.strerror}). {remedy}"
            except ExchangeError:
                pass
            except Exception as problem:
                _log.exception("the account could not be identified")
                reason = f"{type(problem).__name__}: {problem}"
                self.trouble = f"the account's owner could not be determined ({reason})"
            else:
                self.identity, self.trouble = identity, None
                return identity
            if self.trouble is not None:
                troubled(self.trouble)
            await asyncio.sleep(wait * self._random.uniform(0.5, 1.0))
            wait = min(longest, wait * 2)
