"""One budget for all processes of the user on this machine, kept in a file.

Each process has one reservation at a time, made as soon as a permit's return is known, which is a second ahead: no
process waits for another, none takes all, and the permit is used the moment it is free. Another store (the clock then
being that store's own) would be another `Budget`.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tradetui.exchange.clock import Clock, SystemClock
from tradetui.exchange.errors import NotSent
from tradetui.exchange.rate_limit.address_quota import (
    DEFAULT_ADDRESS_SHARE,
    AddressMeter,
    AddressQuota,
    AddressUsage,
)
from tradetui.exchange.rate_limit.address_rows import AddressTerms
from tradetui.exchange.rate_limit.budget import Permit, Priority, Usage
from tradetui.exchange.rate_limit.budget_file import BudgetFile
from tradetui.exchange.rate_limit.local_budget import LocalBudget
from tradetui.exchange.rate_limit.quota import permits
from tradetui.exchange.rate_limit.shared_pool import SharedPool
from tradetui.storage.sqlite_file import FileUnusable

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint

_log = logging.getLogger(__name__)


class SharedBudget:
    """Permits of one account, shared with every process that uses the same directory.

    `account` names the account (base URL, environment, UID) and may be set again when it is learned; `host` is the
    exchange's address, in one spelling, whose limits by network address are shared, and `address_share` (0 to 1) the
    part of all its calls that the user's processes may make together. `inline` does the file's work on the spot, for
    virtual time. When the file cannot be used the budget says so once in the log and counts for this process alone;
    `shared` then is False.
    """

    def __init__(
        self,
        directory: Path,
        account: str,
        *,
        host: str = "",
        share: float = 1.0,
        address_share: float = DEFAULT_ADDRESS_SHARE,
        account_kind: str | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
        inline: bool = False,
    ) -> None:
        self._account = account
        self.account_kind = account_kind
        self.shared = True
        self.file = BudgetFile(directory, inline=inline)
        self._host = host
        self._share = share
        self._address_share = address_share
        self.address_quota = AddressQuota.of_share(address_share)
        self.address_meter = AddressMeter(self.address_quota)
        self._clock = clock or SystemClock()
        self._random = random or Random()
        self._opening: asyncio.Future[None] | None = None
        self._local: LocalBudget | None = None
        self._pools: dict[str, SharedPool] = {}
        self._closed = False

    @property
    def account(self) -> str:
        """Under whose name calls are counted."""
        return self._account

    @account.setter
    def account(self, name: str) -> None:
        before, self._account = self._account, name
        if name != before and self.file.is_open and self._local is None:
            # The exchange has counted what is under way and cooling for the account that it turns out to be.
            self.file.run(partial(self.file.store.rename_account, before, name)).add_done_callback(_log_failure)

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        """Wait for a permit; see `Budget.acquire`."""
        if self._closed:
            raise NotSent("the program is closing", endpoint=endpoint.name, remedy="Start it again to go on.")
        if not self.file.is_open and self._local is None:
            await self._open()
        if self._local is not None:
            self._local.account_kind = self.account_kind
            return await self._local.acquire(endpoint, priority, hold_s=hold_s)
        pool = self._pools.get(endpoint.name)
        if pool is None:
            pool = self._pools[endpoint.name] = SharedPool(self, endpoint)
        return await pool.acquire(priority, hold_s)

    def usage(self) -> Mapping[str, Usage]:
        """Every endpoint's use as last seen in the file, other processes' included."""
        if self._local is not None:
            return self._local.usage()
        return {name: pool.usage() for name, pool in self._pools.items()}

    def address_usage(self) -> AddressUsage:
        """Calls of the user's processes at this exchange in the last minute, as last seen in the file."""
        if self._local is not None:
            return self._local.address_usage()
        return self.address_meter.usage(self._clock.monotonic())

    async def aclose(self) -> None:
        """Stop handing out and let the file go."""
        if self._closed:
            return
        self._closed = True
        for pool in self._pools.values():
            await pool.aclose()
        if self._local is not None:
            await self._local.aclose()
        await self.file.aclose()

    def terms(self, endpoint: Endpoint) -> tuple[str, int]:
        """Under which key an endpoint is counted, and this process's permits of it."""
        whose = f"ip:{self._host}" if endpoint.limit.scope == "ip" else self.account
        return f"{whose}|{endpoint.name}", permits(endpoint, self._share, self.account_kind)

    def address_terms(self, endpoint: Endpoint, priority: Priority) -> AddressTerms:
        """Under which address a call is counted, and as what."""
        return AddressTerms(self._host, self.address_quota, priority is Priority.FEED, endpoint.writes)

    @property
    def clock(self) -> Clock:
        """The clock all processes share."""
        return self._clock

    def give_up(self, failure: Exception) -> LocalBudget:
        """Go on without the file."""
        if self._local is None:
            _log.warning("the shared rate limits cannot be used (%s): other processes are not seen", failure)
            self.shared = False
            self._local = LocalBudget(
                share=self._share,
                address_share=self._address_share,
                account_kind=self.account_kind,
                clock=self._clock,
                random=self._random,
            )
        return self._local

    async def _open(self) -> None:
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open_once())
        await asyncio.shield(self._opening)

    async def _open_once(self) -> None:
        try:
            await self.file.open(self._random)
        except FileUnusable as newer:
            self._opening = None
            raise NotSent(
                f"{newer.file}: {newer.reason}", remedy="Update this program, or close the newer one."
            ) from None
        except (OSError, sqlite3.Error) as failure:
            self.give_up(failure)


def _log_failure(renamed: asyncio.Future[None]) -> None:
    if not renamed.cancelled() and (failure := renamed.exception()) is not None:
        _log.warning("calls before the account was known are not counted for it (%s)", type(failure).__name__)
