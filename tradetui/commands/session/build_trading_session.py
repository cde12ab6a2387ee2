"""Builds a session that can send; imported only by sessions that may send. Its parts are loaded when needed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal.account_store import AccountStore
from tradetui.desk.settings import DeskSettings
from tradetui.desk.trading_session import TradingSession
from tradetui.exchange.client import ExchangeClient, TradingClient
from tradetui.exchange.clock import Clock
from tradetui.storage.disk_thread import Disk

if TYPE_CHECKING:
    from tradetui.desk.creation import Creation, MakeProfile, SecretBackend
    from tradetui.desk.reversal.execution import Execution


class KeyDestinations(NamedTuple):
    """Where created keys go: `secret_backend` (None: files) and `make_profile` (None: no profile is made of them)."""

    secret_backend: SecretBackend | None = None
    make_profile: MakeProfile | None = None


def trading_session(
    client: TradingClient,
    settings: DeskSettings,
    clock: Clock,
    random: Random,
    disk: Disk,
    key_destinations: Callable[[], KeyDestinations],
    open_store: Callable[[str], AccountStore] | None = None,
) -> TradingSession:
    """Return a session whose journal opens once the exchange has reported the account; it closes `disk` when it stops.

    `key_destinations` is called only for a creation, because it imports much. `open_store` gives the store of an
    account by its name, if the profile names one.
    """

    def new_id() -> str:
        """Return an intent's id, also the clientOid of a reversal: 28 characters with the prefix of this program."""
        return f"tt-{random.getrandbits(100):025x}"

    # The journal and the account's name come with `open`.
    intents = Intents(
        journal=None,
        disk=disk,
        clock=clock,
        account="",
        new_id=new_id,
        start_locked=settings.start_locked,
        open_store=open_store,
    )

    def make_execution(intents: Intents) -> Execution:
        from tradetui.desk.reversal.execution import Execution

        return Execution(client, settings, clock, intents)

    # Without permission to create, the client's class has no method for it.
    if not isinstance(client, ExchangeClient):
        return TradingSession(intents, make_execution)

    def make_creation(intents: Intents) -> Creation:
        from tradetui.desk.creation import Creation

        secret_backend, make_profile = key_destinations()
        return Creation(client, settings, clock, intents, disk, secret_backend, make_profile)

    return TradingSession(intents, make_execution, make_creation)
