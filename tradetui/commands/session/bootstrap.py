"""Builds what a command needs of one account from its profile: client, identity, desk and journal.

A command that only reads opens a reader, which has no method that sends. Who the account is, is asked of the exchange;
until it answers, what an earlier session or the profile says stands in, so that all share one budget from the start.

Keeps the data directory private to its owner: removes others' permissions and reports it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any, Final
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
from tradetui.desk.alerts.delivery import ProgramCommand
from tradetui.desk.alerts.rules import AlertSettings, DesktopSequence, Rule, with_defaults, with_made
from tradetui.desk.desk import Desk
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.exchange.client import ExchangeClient, ExchangeReader, TradingClient
from tradetui.exchange.clock import Clock, SystemClock
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.errors import ExchangeError
from tradetui.exchange.rate_limit.shared_budget import SharedBudget
from tradetui.profiles import paths
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import Flags, LoadedProfile, load
from tradetui.profiles.model import Profile
from tradetui.profiles.route import route_of
from tradetui.profiles.secrets import fetch_credentials
from tradetui.storage.disk_thread import ThreadDisk
from tradetui.storage.private_directory import PermissionChanges, close_to_others
from tradetui.storage.sqlite_file import FileUnusable
from tradetui.ui.settings.ui_settings import zone_named
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.intents.journal.registered_journal import JournalLocation

_OWN_PREFIX: Final = "TRADETUI_"
_CREDENTIAL_ENDINGS: Final = ("_API_KEY", "_API_SECRET", "_PASSPHRASE")


def open_reader(loaded: LoadedProfile, clock: Clock | None = None) -> ExchangeReader:
    """A client that can only read; raises ConfigurationError."""
    credentials = credentials_of(loaded)
    return ExchangeReader(credentials, **_client_options(loaded, credentials, clock))


def open_desk(
    loaded: LoadedProfile, flags: Flags | None = None, profile_written: Callable[[str], None] = lambda _: None
) -> Desk:
    """A desk on a profile, not yet polling; raises ConfigurationError where the key cannot be read."""
    clock, credentials = SystemClock(), credentials_of(loaded)
    writing = ExchangeClient if loaded.profile.account_admin else TradingClient
    options = _client_options(loaded, credentials, clock)
    client = (ExchangeReader if loaded.read_only else writing)(credentials, **options)
    settings = desk_settings(loaded, credentials)
    trading = None
    if isinstance(client, TradingClient):
        # In monitor mode not even the code that could send is in the process.
        from tradetui.commands.session.build_trading_session import KeyDestinations, trading_session

        def key_destinations() -> KeyDestinations:
            from tradetui.commands.session.issued_key_profiles import KeyringSecrets, ProfileMaker

            source = loaded.profile.credentials
            backend = KeyringSecrets(source.service) if source.source == "keyring" else None
            return KeyDestinations(backend, ProfileMaker(loaded, flags or Flags(), profile_written))

        # A thread of its own: what is written before sending never waits for a long look into the archive.
        trading = trading_session(client, settings, clock, SystemRandom(), ThreadDisk(), key_destinations)
    alerts = alert_settings(loaded, str(settings.environment), credentials)
    return Desk(client, settings, clock, Random(), trading, disk=ThreadDisk(), alerts=alerts)


def desk_settings(loaded: LoadedProfile, credentials: Credentials | None = None) -> DeskSettings:
    """The desk's settings from a profile; a live account starts locked unless the profile decides.

    With `credentials` they can name the account's files where the exchange has never said who it is.
    """
    profile = loaded.profile
    # LIVE is real money: DEMO only where the profile or its product types prove it.
    is_demo = profile.environment == "demo" or all(ProductType(name).is_demo for name in profile.product_types)
    environment = Environment.DEMO if is_demo else Environment.LIVE
    locked = profile.start_locked if profile.start_locked is not None else environment is Environment.LIVE
    route = route_of(loaded)
    return DeskSettings(
        name=loaded.name,
        environment=environment,
        product_types=tuple(map(ProductType, profile.product_types)),
        uid=profile.uid,
        account_kind=_account_kind(loaded),
        base_url=profile.base_url,
        key_stand_in="" if credentials is None else stand_in(credentials.api_key),
        proxy=route.proxy_text,
        ca_file=route.ca_file_text,
        exchange_environment=profile.environment,
        data_dir=loaded.data_dir,
        state_dir=loaded.state_dir,
        runtime_dir=loaded.runtime_dir,
        read_only=loaded.read_only,
        start_locked=locked,
        intervals=profile.intervals.model_dump(),
        max_reversal_size=profile.max_reversal_size,
        max_reversal_value=profile.max_reversal_value,
        symbols=frozenset(profile.symbols),
        typed_above=profile.typed_above,
        zone=zone_named(profile.timezone),
        trade_side=profile.reversal_trade_side,
        one_way_side=profile.one_way_side,
    )


def profile_rules(profile: Profile) -> tuple[Rule, ...]:
    own = tuple(alert.rule for alert in profile.alerts)
    return with_defaults(own) if profile.alerts_defaults else own


def rules_in_force(loaded: LoadedProfile) -> tuple[Rule, ...]:
    """The rules of the configuration and those made on the screen."""
    return with_made(profile_rules(loaded.profile), FileAlertChoices(loaded.data_dir, loaded.name).read().made)


def alert_settings(loaded: LoadedProfile, environment: str, credentials: Credentials) -> AlertSettings:
    """Rules, choices and the command of a profile; no variable that holds a secret reaches the command."""
    profile = loaded.profile
    command = None
    if profile.alert_command:
        environ = environment_without_secrets(loaded.environ, profile.credentials.prefix, credentials)
        command = ProgramCommand(profile.alert_command, environ)
    desktop = profile.desktop_notification
    return AlertSettings(
        rules=profile_rules(profile),
        choices=FileAlertChoices(loaded.data_dir, loaded.name),
        command=command,
        commands_a_minute=profile.alert_commands_a_minute,
        desktop_sequence=None if desktop == "auto" else DesktopSequence(desktop),
        profile=loaded.name,
        environment=environment,
    )


def environment_without_secrets(environ: Mapping[str, str], prefix: str, credentials: Credentials) -> dict[str, str]:
    """The variables without our own, those of a key, and any that holds a part of the key."""
    own_names = {f"{prefix}{ending}" for ending in _CREDENTIAL_ENDINGS}
    return {
        name: value
        for name, value in environ.items()
        if not name.startswith(_OWN_PREFIX) and name not in own_names and credentials.masked(value) == value
    }


def credentials_of(loaded: LoadedProfile) -> Credentials:
    """The profile's key, read from its one source; raises ConfigurationError."""
    credentials = fetch_credentials(loaded)
    secrets = (credentials.secret, credentials.passphrase)
    hide_in_log(credentials.api_key, *(secret.get_secret_value() for secret in secrets))
    return credentials


def account_key(loaded: LoadedProfile, credentials: Credentials) -> AccountKey:
    return AccountKey(loaded.profile.base_url, loaded.profile.environment, stand_in(credentials.api_key))


def identity_of(loaded: LoadedProfile) -> AccountIdentity:
    """The account: as the exchange reports it, else as it did before, else by the profile's uid or the key."""
    credentials = credentials_of(loaded)
    identity = asyncio.run(_reported_identity(loaded, account_key(loaded, credentials)))
    return identity or presumed_identity(loaded, credentials)


def presumed_identity(loaded: LoadedProfile, credentials: Credentials) -> AccountIdentity:
    """The identity as far as it is known before the exchange has answered."""
    key = account_key(loaded, credentials)
    try:
        remembered = KnownAccounts(loaded.data_dir).uid_of(key)
    except FileUnusable as problem:
        raise ConfigurationError(problem.reason, location=problem.file, remedy=problem.remedy) from None
    return identity_without_exchange(key, loaded.profile.uid, remembered)


def journal_of(loaded: LoadedProfile, identity: AccountIdentity) -> JournalLocation:
    """Where an account's intents are kept; profiles of one account share it."""
    from tradetui.desk.trading_session import journal_location  # monitor mode comes without it

    return journal_location(desk_settings(loaded, credentials_of(loaded)), identity)


async def _reported_identity(loaded: LoadedProfile, key: AccountKey) -> AccountIdentity | None:
    async with open_reader(loaded) as client:
        try:
            identity = await identify(client, key, loaded.profile.uid)
        except ExchangeError:
            return None
    return identity if identity.origin == "exchange" else None


def _client_options(loaded: LoadedProfile, credentials: Credentials, clock: Clock | None) -> dict[str, Any]:
    profile = loaded.profile
    clock = clock or SystemClock()
    random = SystemRandom()
    route = route_of(loaded)
    if route.proxy is not None and route.proxy.password:
        hide_in_log(route.proxy.password, quote(route.proxy.password, safe=""))
    return {
        "base_url": profile.base_url,
        "proxy": route.proxy,
        "tls": route.tls,
        "environment": profile.environment,
        "locale": profile.locale,
        "clock": clock,
        "random": random,
        "budget": SharedBudget(
            loaded.runtime_dir,
            presumed_identity(loaded, credentials).name,
            host=normalised_address(profile.base_url),
            share=profile.budget_share,
            address_share=profile.address_share,
            account_kind=_account_kind(loaded),
            clock=clock,
            random=random,
        ),
    }


def _account_kind(loaded: LoadedProfile) -> str | None:
    kind = loaded.profile.account_kind
    return None if kind == "unknown" else kind


OWN_NAMES: Final = ("accounts", STATE_FILE, f"{STATE_FILE}.unread")
"""Every file and folder directly in the data directory."""
KEY_STORE_DIRECTORIES: Final = ("vault",)
"""Directories of issued keys: a file there that others may read is refused, since it is no secret any more."""


def load_privately(environ: Mapping[str, str], flags: Flags) -> LoadedProfile:
    """Load the profile and close its data directory to others; raises ConfigurationError."""
    loaded = load(environ, flags)
    if sentence := permission_sentence(loaded, close_data_dir(loaded)):
        say(f"tradetui: {sentence}")
    return loaded


def close_data_dir(loaded: LoadedProfile) -> PermissionChanges:
    is_default = loaded.data_dir == paths.data_dir({})
    return close_to_others(loaded.data_dir, OWN_NAMES, is_ours=is_default, checked_by_reader=KEY_STORE_DIRECTORIES)


def permission_sentence(loaded: LoadedProfile, changes: PermissionChanges) -> str:
    """Which files were open to others, and whether they still are; empty if none was."""
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
