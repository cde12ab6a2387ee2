"""The checks of the store in `doctor`: server, version, TLS, role, schema, membership, history, round trip, clock."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tradetui.commands.session.open_profile import OpenProfile
from tradetui.desk.intents.journal.account_store import AccountStore, StoreRefusal
from tradetui.desk.intents.journal.store_mark import MARK_FILE, OLDER_COPY, OLDER_COPY_REMEDY, OlderCopy, StoreMark
from tradetui.exchange.clock import WARN_OFFSET_MS
from tradetui.storage.disk_thread import InlineDisk
from tradetui.storage.postgres.errors import StoreAway, StoreRefused, grant

if TYPE_CHECKING:
    from tradetui.storage.postgres.server import PostgresServer

_SLOW_MS: Final = 100.0
"""Each call to the exchange waits for a round trip to the store first."""


@dataclass(frozen=True, slots=True)
class StoreFinding:
    """One line of doctor; the remedy is empty if all is well."""

    name: str
    finding: str
    remedy: str = ""


@asynccontextmanager
async def connected_store(profile: OpenProfile) -> AsyncIterator[PostgresServer]:
    """Connect to the store that the profile names; raises StoreAway if that fails."""
    server = profile.store_server()
    assert server is not None  # checked before
    try:
        await server.open()
        if server.away_since is not None:
            raise StoreAway(server.away_reason)
        yield server
    finally:
        await server.aclose()


async def older_copy(store: AccountStore, version: int, mark_file: Path) -> str:
    """Return that the store is an older copy of itself, and what it lacks; empty if it has all this machine saw."""
    mark = StoreMark(mark_file, InlineDisk())
    await mark.read()
    try:
        await mark.events_since(store, version)
    except OlderCopy as problem:
        return OLDER_COPY.format(problem)
    return ""


async def store_findings(profile: OpenProfile) -> list[StoreFinding]:
    """Connect to the profile's store and check it; empty without one."""
    server = profile.store_server()
    if server is None:
        return []
    try:
        await server.open()
        if server.away_since is not None:
            reason, _, remedy = server.away_reason.partition("; ")
            remedy = remedy or "check that the server runs and takes this person, and the setting store"
            return [StoreFinding("store", f"it cannot be reached: {reason}", f"{remedy[0].upper()}{remedy[1:]}.")]
        return await _findings(profile, server)
    except StoreAway as away:
        return [StoreFinding("store", f"it does not answer: {away.reason}", "Check the network and the server.")]
    finally:
        await server.aclose()


async def _findings(profile: OpenProfile, server: PostgresServer) -> list[StoreFinding]:
    version = f"PostgreSQL {server.server_version // 10_000}.{server.server_version % 10_000}"
    findings = [
        _round_trip(version, server.round_trip_s * 1000),
        StoreFinding("store TLS", server.tls or "none; the server is on this machine"),
    ]
    try:
        before_s = time.time()
        [hello] = await server.call("hello")
        offset_ms = (hello["server_epoch_s"] - (before_s + time.time()) / 2) * 1000
        findings += [
            StoreFinding("store schema", f"version {hello['schema']}"),
            _role(profile, server),
            _clock(offset_ms),
        ]
        store = AccountStore(server, profile.account.name, profile.machine)
        state = await store.state()
        findings.append(StoreFinding("store account", f"{store.writer} has joined it"))
        older = await older_copy(store, state.version, profile.journal.file.with_name(MARK_FILE))
        history = "it has everything that this machine saw there"
        return [*findings, StoreFinding("store history", older or history, OLDER_COPY_REMEDY if older else "")]
    except StoreRefused as refusal:
        return [*findings, _refused(profile, refusal, server)]


def _round_trip(version: str, round_trip_ms: float) -> StoreFinding:
    remedy = "Use a server that is nearer: each call to the exchange waits for it." if round_trip_ms > _SLOW_MS else ""
    return StoreFinding("store", f"{version}, round trip {round_trip_ms:.1f} ms", remedy)


def _role(profile: OpenProfile, server: PostgresServer) -> StoreFinding:
    may_look_only = server.role == "viewer" and not profile.loaded.read_only
    remedy = f'Ask the owner of the store to run {grant(server.person)}, or write mode = "monitor" into the profile.'
    return StoreFinding("store role", f"{server.person} is {server.role}", remedy if may_look_only else "")


def _role_missing(server: PostgresServer) -> StoreFinding:
    return StoreFinding(
        "store role", f"{server.person} has none", f"Ask the owner of the store to run {grant(server.person)}."
    )


def _clock(offset_ms: float) -> StoreFinding:
    is_off = abs(offset_ms) > WARN_OFFSET_MS
    remedy = "Set the clocks of server and machine: permits end early or late by this much." if is_off else ""
    return StoreFinding("store clock", f"{offset_ms:+.0f} ms from this machine's", remedy)


def _refused(profile: OpenProfile, refusal: StoreRefused, server: PostgresServer) -> StoreFinding:
    finding = refusal.message.partition(";")[0]
    if refusal.code == StoreRefusal.OTHER_SCHEMA:
        is_newer = refusal.detail.get("store", 0) > refusal.detail.get("program", 0)
        newer = "Install the newer tradetui, which brought the schema up to date."
        remedy = newer if is_newer else "Have the store's owner run tradetui store init with this version."
        return StoreFinding("store schema", finding, remedy)
    if not server.role:
        return _role_missing(server)
    remedy = "Run tradetui store join; until then nothing is sent."
    if refusal.code == StoreRefusal.ANOTHER_INSTALLATION:
        remedy = 'Write machine = "…" with another name into the profile, then run tradetui store join.'
    elif not profile.account.known:
        remedy = "Set uid in the profile, then run tradetui store join; until then nothing is sent."
    return StoreFinding("store account", finding, remedy)
