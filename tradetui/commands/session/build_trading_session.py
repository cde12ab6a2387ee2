"""Builds a session that can send; imported only by sessions that may. Its parts are loaded when needed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from tradetui.desk.intents.intents import Intents
from tradetui.desk.settings import DeskSettings
from tradetui.desk.trading_session import TradingSession
from tradetui.exchange.client import ExchangeClient, TradingClient
from tradetui.exchange.clock import Clock
from tradetui.storage.disk_thread import Disk

if TYPE_CHECKING:
    from tradetui.desk.creation import Creation, MakeProfile, SecretBackend
    from tradetui.desk.reversal.execution import Execution
    from tradetui.profiles.load import Flags, LoadedProfile


def trading_session(
    client: TradingClient,
    settings: DeskSettings,
    clock: Clock,
    random: Random,
    disk: Disk,
    key_destinations: Callable[[], tuple[SecretBackend | None, MakeProfile | None]],
    account: str = "",
) -> TradingSession:
    """A session whose journal, on `disk`, is opened once the exchange has reported the account.

    `key_destinations` returns where keys that it creates go: the backend of their secrets, and the maker of profiles.
    """

    def new_id() -> str:
        """An intent's id, the clientOid of a reversal: 28 characters that no other program's orders begin with."""
        return f"tt-{random.getrandbits(100):025x}"

    intents = Intents(None, disk, clock, account, new_id, start_locked=settings.start_locked)

    def make_execution(intents: Intents) -> Execution:
        from tradetui.desk.reversal.execution import Execution

        return Execution(client, settings, clock, intents)

    if not isinstance(client, ExchangeClient):
        return TradingSession(intents, make_execution)
    admin_client = client

    def make_creation(intents: Intents) -> Creation:
        from tradetui.desk.creation import Creation

        return Creation(admin_client, settings, clock, intents, disk, *key_destinations())

    return TradingSession(intents, make_execution, make_creation)


def issued_key_destinations(
    loaded: LoadedProfile, flags: Flags, profile_written: Callable[[str], None]
) -> tuple[SecretBackend | None, MakeProfile | None]:
    """The backend of secrets, None for files, and the maker of profiles; `profile_written` gets each new one's name."""
    from tradetui.commands.session.issued_key_profiles import KeyringSecrets, ProfileMaker

    source = loaded.profile.credentials
    backend = KeyringSecrets(source.service) if source.source == "keyring" else None
    return backend, ProfileMaker(loaded, flags, profile_written)
