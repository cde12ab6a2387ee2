"""Lookups of one of the embedded exchange's accounts, in virtual time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random
from typing import Any

from pydantic import SecretStr

from tests.sandbox.born_once import born_once
from tradetui.desk.account.identity import AccountIdentity, AccountKey, identify
from tradetui.desk.lookup.lookup import Lookup
from tradetui.desk.lookup.query import check_query
from tradetui.desk.lookup.session_lookups import Lookups
from tradetui.desk.tables.table import LOOKUPS
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import LoopClock
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.rate_limit.local_budget import LocalBudget
from tradetui.sandbox.app import Sandbox
from tradetui.sandbox.options import SandboxOptions
from tradetui.sandbox.seed_accounts import build_exchange_state

START_MS = 1_785_585_600_000
BOOKS = {"spot-fills": "spot-fills", "spot-bills": "bills", "convert": "converts", "transfers": "transfers"}
"""The sandbox's book behind each paged kind."""
ACCOUNTS = {"spot-fills": "hedge", "spot-bills": "hedge", "convert": "hedge", "transfers": "broker", "email": "broker"}
"""An account that has each kind."""


class LookupStage:
    """One account's lookups; `permissions` takes some of its key's away."""

    def __init__(
        self,
        account: str = "hedge",
        *,
        account_kind: str | None = None,
        permissions: frozenset[str] | None = None,
        carry: Any = lambda sandbox: sandbox,
        seed: int = 5,
        **options: Any,
    ) -> None:
        self.clock = LoopClock(START_MS)
        exchange_state = born_once(build_exchange_state(seed, START_MS))
        exchange_state.still = True
        options.setdefault("limits", False)
        self.sandbox = Sandbox(exchange_state, self.clock.wall_ms, SandboxOptions(seed=seed, **options))
        key_index = next(index for index, key in enumerate(exchange_state.keys) if key.name == account)
        if permissions is not None:
            exchange_state.keys[key_index] = replace(exchange_state.keys[key_index], permissions=permissions)
        self.key = key = exchange_state.keys[key_index]
        self.budget = LocalBudget(clock=self.clock, random=Random(1))
        self.client = ExchangeReader(
            Credentials(key.api_key, SecretStr(key.secret), SecretStr(key.passphrase)),
            app=carry(self.sandbox),
            clock=self.clock,
            random=Random(1),
            budget=self.budget,
        )
        self.account: AccountIdentity | None = None
        self.lookups = Lookups(self.client, lambda: self.account, account_kind)

    async def identify(self) -> None:
        """Ask the exchange whose key this is, as a desk does when it opens."""
        self.account = await identify(self.client, AccountKey("http://in-process", "live", "k"), None)

    def book(self, table: str) -> list[dict[str, Any]]:
        """The rows behind a kind, newest first; changing them changes the exchange."""
        rows: Any = self.sandbox.exchange_state.rows(self.key.uid, BOOKS[table], None)
        return rows  # type: ignore[no-any-return]

    def begin(self, table: str, *, limit: int | None = None, **texts: str) -> Lookup:
        """Begin a lookup, with pages of so many rows."""
        result = check_query(LOOKUPS[table].endpoint, texts, self.lookups.now_ms)
        assert result.query is not None, result.problems
        query = result.query
        if limit is not None:
            query = replace(query, request=query.request.changed(limit=limit))
        return self.lookups.begin(table, query)


async def read_on(lookup: Lookup, *, everything: bool = False) -> None:
    """Read the next page, or all of them, to the end of that reading."""
    lookup.go_on(everything=everything)
    assert lookup._task is not None
    while not lookup._task.done():
        await asyncio.wait([lookup._task])
        await asyncio.sleep(0)


def keys_of(lookup: Lookup) -> list[str | None]:
    """The keys of the rows that are there."""
    return [lookup.rows.key(index) for index in range(lookup.rows.count)]
