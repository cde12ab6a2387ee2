"""Builds what can send: imported only by sessions that may."""

from __future__ import annotations

from collections.abc import Callable
from random import SystemRandom

from tradetui.commands.session.intent_ids import new_ids
from tradetui.commands.session.issued_keys import KeyringBox, ProfileMaker
from tradetui.desk.creation import Creation
from tradetui.desk.reversal.execution import Execution
from tradetui.desk.settings import DeskSettings
from tradetui.exchange.client import ExchangeClient, TradingClient
from tradetui.exchange.clock import Clock
from tradetui.profiles.load import Flags, LoadedProfile
from tradetui.storage.disk_thread import Disk


def execution_of(client: TradingClient, settings: DeskSettings, clock: Clock, disk: Disk) -> Execution:
    """What carries out reversals, its journal not yet open."""
    return Execution(client, settings, clock, None, disk, "", new_ids(SystemRandom()))


def creation_of(
    loaded: LoadedProfile,
    flags: Flags,
    made: Callable[[str], None],
    client: ExchangeClient,
    settings: DeskSettings,
    clock: Clock,
    execution: Execution,
    disk: Disk,
) -> Creation:
    """What creates sub-accounts and keys, by the same journal; `made` is told of each profile made of a key."""
    source = loaded.profile.credentials
    box = KeyringBox(source.service) if source.source == "keyring" else None
    maker = ProfileMaker(loaded, flags, made)
    return Creation(client, settings, clock, execution.intents, disk, box, maker)
