"""Builds a session that can send; imported only by sessions that may. Its parts are loaded when needed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from tradetui.desk.intents.intents import Intents
from tradetui.desk.settings import DeskSettings
from tradetui.desk.trading_session import TradingSession
from tradetui.exchange.client import ExchangeClient, TradingClient
from tradetui.exchange.clock import Clock
from tradetui.storage.disk_thread import Disk

if TYPE_CHECKING:
    from tradetui.desk.creation import Creation, MakeProfile, SecretBackend
    from tradetui.desk.reversal.execution import Execution


class KeyDestinations(NamedTuple):
    """Where created keys go: `secret_backend`, None for files, and `make_profile`, None where none is made of them."""

    secret_backend: SecretBackend | None = None
    make_profile: MakeProfile | None = None


def trading_session(
    client: TradingClient,
    settings: DeskSettings,
    clock: Clock,
    random: Random,
    disk: Disk,
    key_destinations: Callable[[], KeyDestinations],
) -> TradingSession:
    """A session whose journal is opened once the exchange has reported the account; it closes `disk` when it stops.

    `key_destinations` is called when something is to be created, since what it returns loads much.
    """

    def new_id() -> str:
        """An intent's id, the clientOid of a reversal: 28 characters that no other program's orders begin with."""
        return f"tt-{random.getrandbits(100):025x}"

    # Neither a journal nor the name of an account, until `open` gives both.
    intents = Intents(
        journal=None, disk=disk, clock=clock, account="", new_id=new_id, start_locked=settings.start_locked
    )

    def make_execution(intents: Intents) -> Execution:
        from tradetui.desk.reversal.execution import Execution

        return Execution(client, settings, clock, intents)

    # A profile that allows no creation has a client of a class without it.
    if not isinstance(client, ExchangeClient):
        return TradingSession(intents, make_execution)

    def make_creation(intents: Intents) -> Creation:
        from tradetui.desk.creation import Creation

        secret_backend, make_profile = key_destinations()
        return Creation(client, settings, clock, intents, disk, secret_backend, make_profile)

    return TradingSession(intents, make_execution, make_creation)
