"""Builds what commands need from a profile: client, budget, desk, all of one account."""

from __future__ import annotations

import argparse
import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

from tradetui.commands.intent_ids import new_ids
from tradetui.desk.desk import Desk
from tradetui.desk.disk import ThreadDisk
from tradetui.desk.execution import Execution
from tradetui.desk.journal import Journal
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.desk.sqlite_file import FileUnusable
from tradetui.exchange.client import ExchangeClient, ExchangeReader
from tradetui.exchange.clock import Clock, SystemClock
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.shared_budget import SharedBudget
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.loading import Flags, LoadedProfile
from tradetui.profiles.model import DEMO_PRODUCT_TYPES
from tradetui.profiles.secrets import fetch
from tradetui.wire.product_types import ProductType


@dataclass(frozen=True, slots=True)
class AccountIdentity:
    """An account is address, environment and UID; `known` says whether the UID is one or a stand-in from the key."""

    base_url: str
    environment: str
    uid: str
    known: bool

    @property
    def name(self) -> str:
        """A name for files and rows that does not tell the key."""
        text = f"{self.base_url}|{self.environment}|{self.uid}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def flags_of(args: argparse.Namespace) -> Flags:
    """The global flags of a parsed command line."""
    return Flags(
        config=args.config,
        profile=args.profile,
        base_url=args.base_url,
        product_type=args.product_type,
        data_dir=args.data_dir,
        read_only=args.read_only,
    )


def credentials_of(loaded: LoadedProfile) -> Credentials:
    """The profile's key, fetched from the one place it names; raises ConfigurationError."""
    material = fetch(loaded)
    return Credentials(material.api_key.get_secret_value(), material.secret, material.passphrase, material.rsa)


def identity_of(loaded: LoadedProfile, credentials: Credentials) -> AccountIdentity:
    """The account by what is known without asking: the profile's uid, else a hash of the key."""
    profile = loaded.profile
    stand_in = f"key-{hashlib.sha256(credentials.api_key.encode()).hexdigest()[:16]}"
    return AccountIdentity(profile.base_url, profile.environment, profile.uid or stand_in, profile.uid is not None)


def open_reader(loaded: LoadedProfile, clock: Clock | None = None) -> ExchangeReader:
    """A client that can only read; raises ConfigurationError."""
    credentials = credentials_of(loaded)
    return ExchangeReader(credentials, **_options(loaded, credentials, clock))


def open_client(
    loaded: LoadedProfile, clock: Clock | None = None, credentials: Credentials | None = None
) -> ExchangeReader:
    """A client that may also write, or only read where the profile, a flag or the environment says so."""
    kind = ExchangeReader if loaded.read_only else ExchangeClient
    credentials = credentials or credentials_of(loaded)
    return kind(credentials, **_options(loaded, credentials, clock))


def _options(loaded: LoadedProfile, credentials: Credentials, clock: Clock | None) -> dict[str, Any]:
    profile = loaded.profile
    kind = None if profile.account_kind == "unknown" else profile.account_kind
    clock = clock or SystemClock()
    random = SystemRandom()
    return {
        "base_url": profile.base_url,
        "environment": profile.environment,
        "locale": profile.locale,
        "clock": clock,
        "random": random,
        "budget": SharedBudget(
            loaded.runtime_dir,
            identity_of(loaded, credentials).name,
            host=profile.base_url,
            share=profile.budget_share,
            account_kind=kind,
            clock=clock,
            random=random,
        ),
    }


def environment_of(loaded: LoadedProfile) -> Environment:
    """Whose money it is: DEMO where the profile or its product types prove it, LIVE for everything else."""
    profile = loaded.profile
    if profile.environment == "demo" or set(profile.product_types) <= DEMO_PRODUCT_TYPES:
        return Environment.DEMO
    return Environment.LIVE


def desk_settings(loaded: LoadedProfile) -> DeskSettings:
    """The desk's settings of a profile."""
    profile = loaded.profile
    environment = environment_of(loaded)
    locked = profile.start_locked if profile.start_locked is not None else environment is Environment.LIVE
    return DeskSettings(
        name=loaded.name,
        environment=environment,
        product_types=tuple(map(ProductType, profile.product_types)),
        uid=profile.uid,
        base_url=profile.base_url,
        exchange_environment=profile.environment,
        data_dir=loaded.data_dir,
        read_only=loaded.read_only,
        start_locked=locked,
        intervals=profile.intervals.model_dump(),
        max_reversal_size=profile.max_reversal_size,
        max_reversal_value=profile.max_reversal_value,
        symbols=frozenset(profile.symbols),
        typed_above=profile.typed_above,
        trade_side=profile.reversal_trade_side,
        one_way_side=profile.one_way_side,
    )


def open_desk(loaded: LoadedProfile) -> Desk:
    """A desk on a profile, not yet polling.

    Raises:
        ConfigurationError: the key cannot be fetched, or the journal's file cannot be used.
    """
    clock = SystemClock()
    credentials = credentials_of(loaded)
    client = open_client(loaded, clock, credentials)
    identity = identity_of(loaded, credentials)
    settings = replace(desk_settings(loaded), key_stand_in=identity.uid)
    execution = None
    if isinstance(client, ExchangeClient):
        disk = ThreadDisk()
        execution = Execution(
            client, settings, clock, open_journal(loaded, identity, disk), disk, identity.name, new_ids(SystemRandom())
        )
    return Desk(client, settings, clock, Random(), execution, disk=ThreadDisk())


def journal_file(loaded: LoadedProfile, identity: AccountIdentity) -> Path:
    """Where the intents of an account are kept; profiles of one account share it."""
    return loaded.data_dir / "accounts" / identity.name / "journal.sqlite"


def open_journal(loaded: LoadedProfile, identity: AccountIdentity, disk: ThreadDisk) -> Journal:
    """The account's journal, opened on the disk's own thread; raises ConfigurationError."""
    try:
        return disk.now(Journal, journal_file(loaded, identity))
    except FileUnusable as problem:
        raise ConfigurationError(
            problem.reason, place=problem.file, remedy=f"{problem.remedy}. Until then: tradetui monitor."
        ) from None
