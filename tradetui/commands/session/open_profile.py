"""Opens a profile: its key, the route to its exchange, its account, and the client or desk that a command needs.

A command that only reads opens a reader, which has no method that sends. The exchange identifies the account. Until it
answers, the account of an earlier session or of the profile stands in, so that all share one budget from the start.

The data directory is kept private: other users' permissions are removed and reported.
"""

from __future__ import annotations

import asyncio
import platform
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import quote

from tradetui.commands.process.console import say
from tradetui.commands.process.secrecy import hide_in_log
from tradetui.commands.session.screen_state import FILE as STATE_FILE
from tradetui.commands.session.screen_state import FileAlertChoices
from tradetui.desk.account.identity import (
    AccountIdentity,
    AccountKey,
    KnownAccounts,
    identify,
    identity_without_exchange,
    normalised_address,
    stand_in,
)
from tradetui.desk.desk import Desk
from tradetui.desk.events.delivery import ProgramCommand
from tradetui.desk.events.rules import AlertSettings, DesktopSequence, Rule, with_defaults, with_made
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.desk.tables.time_zones import zone_named
from tradetui.exchange.client import ExchangeClient, ExchangeReader, TradingClient
from tradetui.exchange.clock import Clock, SystemClock
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.errors import ExchangeError
from tradetui.exchange.rate_limit.budget import Budget
from tradetui.exchange.transport.transport import MAX_CONCURRENT_READS
from tradetui.exchange.unified import Interface
from tradetui.profiles import paths
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import Flags, LoadedProfile, load
from tradetui.profiles.model import Profile
from tradetui.profiles.route import Route, route_of
from tradetui.profiles.secrets import fetch_credentials
from tradetui.storage.atomic_file import write_text
from tradetui.storage.disk_thread import ThreadDisk
from tradetui.storage.private_directory import PermissionChanges, close_to_others, make_private_directory
from tradetui.storage.sqlite_file import FileUnusable
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.intents.journal.registered_journal import JournalLocation
    from tradetui.storage.postgres.server import PostgresServer

ClientT = TypeVar("ClientT", bound=ExchangeReader)
ROW_CONNECTIONS: Final = 2  # of an account that is one row among many
_OWN_PREFIX: Final = "TRADETUI_"
_CREDENTIAL_ENDINGS: Final = ("_API_KEY", "_API_SECRET", "_PASSPHRASE")


@dataclass(frozen=True)
class OpenProfile:
    """A profile and the parts derived from it, each computed once when first needed.

    Every part raises ConfigurationError if the profile does not provide it.
    """

    loaded: LoadedProfile

    @cached_property
    def credentials(self) -> Credentials:
        """The API key from its only source, a file, program or keyring that may ask the person."""
        credentials = fetch_credentials(self.loaded)
        secrets = (credentials.secret, credentials.passphrase)
        hide_in_log(credentials.api_key, *(secret.get_secret_value() for secret in secrets))
        return credentials

    @cached_property
    def route(self) -> Route:
        route = route_of(self.loaded)
        if route.proxy is not None and route.proxy.password:
            hide_in_log(route.proxy.password, quote(route.proxy.password, safe=""))
        return route

    @cached_property
    def settings(self) -> DeskSettings:
        """The desk's settings; their hash of the key names the files of an account that no exchange identified."""
        return replace(self.settings_without_key, key_stand_in=self.account_key.key_stand_in)

    @cached_property
    def settings_without_key(self) -> DeskSettings:
        """The desk's settings without the key's hash; a live account starts locked unless the profile decides."""
        loaded, profile, environment = self.loaded, self.loaded.profile, self.environment
        locked = profile.start_locked if profile.start_locked is not None else environment is Environment.LIVE
        return DeskSettings(
            name=loaded.name,
            environment=environment,
            product_types=tuple(map(ProductType, profile.product_types)),
            uid=profile.uid,
            account_kind=None if profile.account_kind == "unknown" else profile.account_kind,
            base_url=profile.base_url,
            proxy=self.route.proxy_text,
            ca_file=self.route.ca_file_text,
            exchange_environment=profile.environment,
            data_dir=loaded.data_dir,
            state_dir=loaded.state_dir,
            runtime_dir=loaded.runtime_dir,
            read_only=loaded.read_only,
            start_locked=locked,
            subaccount_rows=profile.subaccount_rows,
            intervals=profile.intervals.model_dump(),
            max_reversal_size=profile.max_reversal_size,
            max_reversal_value=profile.max_reversal_value,
            symbols=frozenset(profile.symbols),
            typed_above=profile.typed_above,
            zone=zone_named(profile.timezone),
            trade_side=profile.reversal_trade_side,
            one_way_side=profile.one_way_side,
        )

    @property
    def environment(self) -> Environment:
        """LIVE is real money: DEMO only where the profile or its product types prove it."""
        profile = self.loaded.profile
        is_demo = profile.environment == "demo" or all(ProductType(name).is_demo for name in profile.product_types)
        return Environment.DEMO if is_demo else Environment.LIVE

    @property
    def account_key(self) -> AccountKey:
        profile = self.loaded.profile
        return AccountKey(profile.base_url, profile.environment, stand_in(self.credentials.api_key))

    @cached_property
    def presumed_account(self) -> AccountIdentity:
        """The account as known from an earlier session, else by the profile's uid or the key."""
        try:
            remembered = KnownAccounts(self.loaded.data_dir).uid_of(self.account_key)
        except FileUnusable as problem:
            raise ConfigurationError(problem.reason, location=problem.file, remedy=problem.remedy) from None
        return identity_without_exchange(self.account_key, self.loaded.profile.uid, remembered)

    @cached_property
    def account(self) -> AccountIdentity:
        """The account as the exchange reports it now, else the presumed one."""
        return asyncio.run(self._identified_account())

    async def _identified_account(self) -> AccountIdentity:
        async with self.reader() as client:
            try:
                identity = await identify(client, self.account_key, self.loaded.profile.uid)
            except ExchangeError:
                return self.presumed_account
        return identity if identity.origin == "exchange" else self.presumed_account

    @cached_property
    def journal(self) -> JournalLocation:
        """The location of the account's journal; profiles of one account share it."""
        from tradetui.desk.trading_session import journal_location  # not loaded in monitor mode

        return journal_location(self.settings, self.account)

    @cached_property
    def machine(self) -> str:
        """This machine's name in the store: the profile's, else the host's without its domain."""
        host = re.sub(r"[^0-9A-Za-z_-]", "-", platform.node().partition(".")[0])[:64]
        return self.loaded.profile.machine or host or "machine"

    @property
    def egress(self) -> str:
        """The name in the store of the network address from which this machine calls the exchange."""
        return self.loaded.profile.egress or self.machine

    @property
    def share_in_store(self) -> float | None:
        """This machine's share of the limits among all that joined the store; None for the store's own default."""
        profile = self.loaded.profile
        return profile.budget_share if "budget_share" in profile.model_fields_set else None

    def store_server(self) -> PostgresServer | None:
        """Return the connection to the store, not opened yet; None if the profile names none."""
        loaded = self.loaded
        if loaded.profile.store is None:
            return None
        from tradetui.profiles.store_address import store_conninfo

        conninfo = store_conninfo(loaded.profile.store, loaded.environ, str(loaded.file or "environment"))
        from tradetui.storage.postgres.server import PostgresServer

        return PostgresServer(conninfo, self._installation)

    @property
    def _installation(self) -> str:
        """The id by which the store tells this installation from another of its name; empty before the first join."""
        try:
            return (self.loaded.data_dir / INSTALLATION_FILE).read_text(encoding="ascii")
        except FileNotFoundError:
            return ""

    def make_installation(self) -> None:
        """Give this installation its id for the store, if it has none; raises ConfigurationError."""
        if self._installation:
            return
        try:
            make_private_directory(self.loaded.data_dir)
            write_text(self.loaded.data_dir / INSTALLATION_FILE, secrets.token_hex(16))
        except OSError as problem:
            raise ConfigurationError(
                f"cannot be written ({problem.strerror})",
                location=str(self.loaded.data_dir),
                remedy="Make it writable, or set data_dir.",
            ) from None

    @cached_property
    def rules_in_force(self) -> tuple[Rule, ...]:
        """The alert rules of the configuration, and those made on the screen."""
        loaded = self.loaded
        return with_made(profile_rules(loaded.profile), FileAlertChoices(loaded.data_dir, loaded.name).read().made)

    def reader(self, clock: Clock | None = None) -> ExchangeReader:
        return self._client(ExchangeReader, clock, server=self.store_server())

    def row_reader(self, beside: Budget, clock: Clock, server: PostgresServer | None) -> ExchangeReader:
        """A client that can only read, with few connections.

        It takes its permits from the store at `server`, and where the profile has none, where another budget has them.
        """
        return self._client(ExchangeReader, clock, server=server, beside=beside, concurrent_reads=ROW_CONNECTIONS)

    def desk(self, flags: Flags | None = None, profile_written: Callable[[str], None] = lambda _: None) -> Desk:
        """Return a desk that does not poll yet."""
        loaded, clock, server = self.loaded, SystemClock(), self.store_server()
        writing = ExchangeClient if loaded.profile.account_admin else TradingClient
        client = self._client(ExchangeReader if loaded.read_only else writing, clock, server=server)
        trading = None
        if isinstance(client, TradingClient):
            # In monitor mode the process does not even load code that could send.
            from tradetui.commands.session.build_trading_session import KeyDestinations, trading_session

            def key_destinations() -> KeyDestinations:
                from tradetui.commands.session.issued_key_profiles import KeyringSecrets, ProfileMaker

                source = loaded.profile.credentials
                backend = KeyringSecrets(source.service) if source.source == "keyring" else None
                return KeyDestinations(backend, ProfileMaker(loaded, flags or Flags(), profile_written))

            open_store = None
            if server is not None:
                from tradetui.desk.intents.journal.account_store import AccountStore

                def open_store(account: str) -> AccountStore:
                    return AccountStore(server, account, self.machine)

            # A separate thread: writing before sending must never wait for a long read of the archive.
            trading = trading_session(
                client, self.settings, clock, SystemRandom(), ThreadDisk(), key_destinations, open_store
            )
        return Desk(client, self.settings, clock, Random(), trading, disk=ThreadDisk(), alerts=self._alert_settings())

    def _client(
        self,
        client_class: type[ClientT],
        clock: Clock | None,
        *,
        server: PostgresServer | None = None,
        beside: Budget | None = None,
        concurrent_reads: int = MAX_CONCURRENT_READS,
    ) -> ClientT:
        profile, clock, random = self.loaded.profile, clock or SystemClock(), SystemRandom()
        share, shared = profile.budget_share, None
        if profile.store is not None:
            from tradetui.exchange.rate_limit.permits_in_store import MACHINE_SHARE, PermitServer

            share = self.share_in_store or MACHINE_SHARE
            if server is not None:
                shared = PermitServer(server, self.machine, self.egress, share)
        return client_class(
            self.credentials,
            base_url=profile.base_url,
            proxy=self.route.proxy,
            tls=self.route.tls,
            environment=profile.environment,
            interface=Interface(profile.interface),
            locale=profile.locale,
            clock=clock,
            random=random,
            concurrent_reads=concurrent_reads,
            budget=Budget(
                self.loaded.runtime_dir,
                self.presumed_account.name,
                host=normalised_address(profile.base_url),
                share=share,
                address_share=profile.address_share,
                account_kind=self.settings_without_key.account_kind,
                clock=clock,
                random=random,
                beside=beside,
                is_even=beside is not None,
                shared=shared,
            ),
        )

    def _alert_settings(self) -> AlertSettings:
        """Return rules, choices and the command; the command gets no variable that holds a secret."""
        loaded, profile = self.loaded, self.loaded.profile
        command = None
        if profile.alert_command:
            environ = environment_without_secrets(loaded.environ, profile.credentials.prefix, self.credentials)
            command = ProgramCommand(profile.alert_command, environ)
        desktop = profile.desktop_notification
        return AlertSettings(
            rules=profile_rules(profile),
            choices=FileAlertChoices(loaded.data_dir, loaded.name),
            command=command,
            commands_a_minute=profile.alert_commands_a_minute,
            desktop_sequence=None if desktop == "auto" else DesktopSequence(desktop),
            profile=loaded.name,
            environment=str(self.settings.environment),
        )


def profile_rules(profile: Profile) -> tuple[Rule, ...]:
    own = tuple(alert.rule for alert in profile.alerts)
    return with_defaults(own) if profile.alerts_defaults else own


def environment_without_secrets(environ: Mapping[str, str], prefix: str, credentials: Credentials) -> dict[str, str]:
    """Return the variables without our own, those of a key, and any that contains a part of the key."""
    own_names = {f"{prefix}{ending}" for ending in _CREDENTIAL_ENDINGS}
    return {
        name: value
        for name, value in environ.items()
        if not name.startswith(_OWN_PREFIX) and name not in own_names and credentials.masked(value) == value
    }


INSTALLATION_FILE: Final = "installation"
OWN_NAMES: Final = ("accounts", STATE_FILE, f"{STATE_FILE}.unread", INSTALLATION_FILE)
"""Every file and folder directly in the data directory."""
KEY_STORE_DIRECTORIES: Final = ("vault",)
"""Directories of issued keys: their reader refuses a file that others may read, because it is no longer secret."""


def open_privately(environ: Mapping[str, str], flags: Flags) -> OpenProfile:
    """Load the profile and make its data directory private; raises ConfigurationError."""
    loaded = load(environ, flags)
    if sentence := permission_sentence(loaded, close_data_dir(loaded)):
        say(f"tradetui: {sentence}")
    return OpenProfile(loaded)


def close_data_dir(loaded: LoadedProfile) -> PermissionChanges:
    is_default = loaded.data_dir == paths.data_dir({})
    return close_to_others(loaded.data_dir, OWN_NAMES, is_ours=is_default, checked_by_reader=KEY_STORE_DIRECTORIES)


def permission_sentence(loaded: LoadedProfile, changes: PermissionChanges) -> str:
    """Describe which files were open to others, and whether they still are; empty if none was."""
    sentences = []
    if changes.narrowed:
        (path, mode), *others = changes.narrowed
        more = f" and {len(others)} more in it" if others else ""
        sentences.append(f"Others could read {path}{more} (mode {mode:04o}); now only you can.")
    for path in changes.left_open[:1]:
        if path == loaded.data_dir:
            sentences.append(
                f"Others can read data_dir {path}. tradetui did not change that, because the directory belongs to "
                "others too or holds other files. Set data_dir to a separate directory, or run chmod 700 on this one."
            )
        else:
            sentences.append(
                f"Others can read {path}, and tradetui cannot change that. Become its owner, or remove it."
            )
    return " ".join(sentences)
