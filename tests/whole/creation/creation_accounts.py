"""Accounts of the embedded exchange, or of one that answers as told, that create sub-accounts and keys."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from tests.exchange.scripted_exchange import CREDENTIALS, ArrivedRequest, NoBudget, Say, Scripted
from tests.sandbox.copied_accounts import born_once
from tradetui.desk.account.identity import AccountIdentity
from tradetui.desk.creation.creation import Creation
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.registered_journal import JournalLocation
from tradetui.desk.intents.states import Intent, State
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.exchange.client import ExchangeClient
from tradetui.exchange.clock import LoopClock
from tradetui.exchange.credentials import Credentials
from tradetui.sandbox.app import Sandbox, SandboxOptions
from tradetui.sandbox.seed_accounts import build_exchange_state
from tradetui.storage.disk_thread import Disk, InlineDisk
from tradetui.wire.models.subaccounts import CreateBatchRequest
from tradetui.wire.product_types import ProductType

START_MS = 1_793_491_200_000
PASSPHRASE = "CanaryPass1"
BATCH, BROKER, COPY = (
    "/api/v2/user/batch-create-subaccount-and-apikey",
    "/api/v2/broker/account/create-subaccount",
    "/api/v2/copy/mix-trader/create-copy-api",
)


def batch(*names: str) -> CreateBatchRequest:
    """A request for sub-accounts of these names."""
    accounts = [{"sub_account_name": name, "passphrase": PASSPHRASE, "label": f"note {name}"} for name in names]
    return CreateBatchRequest(accounts=accounts)  # type: ignore[arg-type]


@dataclass
class Scene:
    """One account and what creates for it; `folder` holds its journal and key store."""

    creation: Creation
    intents: Intents
    client: ExchangeClient
    folder: Path
    exchange: Sandbox | Scripted

    @property
    def posts(self) -> int:
        """Requests that arrived to create anything."""
        if isinstance(self.exchange, Sandbox):
            return sum(self.exchange.counts["POST", path] for path in (BATCH, BROKER, COPY))
        return sum(request.method == "POST" for request in self.exchange.requests)

    @property
    def sandbox(self) -> Sandbox:
        """The embedded exchange."""
        assert isinstance(self.exchange, Sandbox)
        return self.exchange

    def journalled(self) -> list[Intent]:
        """Every intent, read by somebody else."""
        journal = Journal(self.folder / "journal.sqlite")
        try:
            return journal.newest()
        finally:
            journal.close()

    def steps(self) -> list[State]:
        """The steps of the newest intent."""
        return [event.state for event in self.journalled()[0].events]

    def files(self) -> list[Path]:
        """What is in the key store's directory, hidden files too."""
        return sorted((self.folder / "vault").iterdir())

    def journal_bytes(self) -> bytes:
        """Every byte of the journal's files."""
        return b"".join(file.read_bytes() for file in self.folder.glob("journal*"))


@asynccontextmanager
async def scene(
    folder: Path,
    account: str = "hedge",
    *,
    script: Callable[[ArrivedRequest], Say | Exception] | None = None,
    ids: str = "tt",
) -> AsyncIterator[Scene]:
    """An account of the embedded exchange, or of a scripted one, with a session that may create."""
    clock = LoopClock(START_MS)
    exchange: Sandbox | Scripted
    if script is None:
        exchange_state = born_once(build_exchange_state(3, START_MS), fills=60)
        exchange = Sandbox(exchange_state, clock.wall_ms, SandboxOptions(seed=3, limits=False))
        key = next(key for key in exchange_state.keys if key.name == account)
        credentials = Credentials(key.api_key, SecretStr(key.secret), SecretStr(key.passphrase))
    else:
        exchange, credentials = Scripted(script, clock.wall_ms), CREDENTIALS
    client = ExchangeClient(credentials, app=exchange, clock=clock, random=random.Random(3), budget=NoBudget())
    async with session(folder, client, clock, ids) as (creation, intents):
        yield Scene(creation, intents, client, folder, exchange)
    await client.aclose()


@asynccontextmanager
async def session(
    folder: Path, client: ExchangeClient, clock: LoopClock, ids: str = "tt", disk: Disk | None = None, **options: Any
) -> AsyncIterator[tuple[Creation, Intents]]:
    """One running session over a folder; a second one over the same is a restart, or another process."""
    settings = DeskSettings(
        name="test", environment=Environment.SANDBOX, product_types=(ProductType.USDT_FUTURES,), read_only=False
    )
    numbers = iter(range(1_000))
    disk = disk or InlineDisk()
    intents = Intents(None, disk, clock, "", lambda: f"{ids}-{next(numbers)}", start_locked=False)
    creation = Creation(client, settings, clock, intents, disk, **options)
    await intents.open("account", JournalLocation(folder / "journal.sqlite"))
    await creation.open(AccountIdentity("", "live", "1", "key"), folder / "vault")
    try:
        yield creation, intents
    finally:
        await creation.stop()
