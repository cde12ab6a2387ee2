"""The profiles of an overview: each is opened so that it can only read, and all share permits, disk and TLS context."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from tradetui.commands.session.open_profile import OpenProfile, close_data_dir
from tradetui.commands.session.screen_state import FileAlertChoices
from tradetui.desk.account.account_storage import archive_file
from tradetui.desk.account.identity import AccountIdentity, AccountKey, KnownAccounts
from tradetui.desk.archive.schema import ARCHIVE_VERSION
from tradetui.desk.events.rules import Rule
from tradetui.desk.intents.journal.account_store import AccountStore
from tradetui.desk.intents.journal.journal import written_mark
from tradetui.desk.intents.journal.registered_journal import JournalLocation, existing_journal, located, open_journal
from tradetui.desk.intents.journal.store_mark import MARK_FILE, StoreMark
from tradetui.desk.intents.locks import StepWriters
from tradetui.desk.intents.states import Intent, State, scope_name
from tradetui.desk.overview.overview import Overview
from tradetui.desk.overview.watched_account import AccountSource, Kept, OpenedAccount
from tradetui.desk.results.today import DayOpening, opening_by_bills, samples_of_day
from tradetui.desk.settings import DeskSettings
from tradetui.desk.trading_session import journal_location
from tradetui.exchange.clock import Clock, Moment, SystemClock
from tradetui.exchange.rate_limit.budget import Budget
from tradetui.profiles import paths
from tradetui.profiles.errors import ConfigurationError
from tradetui.profiles.load import Flags, known_profiles, load
from tradetui.storage.disk_thread import InlineDisk, ThreadDisk
from tradetui.storage.postgres.errors import StoreAway, StoreRefused
from tradetui.storage.process_life import ALIVE_DIR
from tradetui.storage.sqlite_file import FileUnusable, connect_existing, refuse_other_version

if TYPE_CHECKING:
    from tradetui.storage.postgres.server import PostgresServer

OPENING_EVERY_MS: Final = 60_000
ONE_PROFILE: Final = "an overview needs a second profile"
SECOND_PROFILE: Final = "`tradetui init --profile NAME` sets one up."


def profile_names(text: str | None) -> tuple[str, ...]:
    """The profiles that a flag names with commas; none without it, which stands for all."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


class OverviewProfiles:
    """The profiles that an overview shows, in the order of the configuration; `names` chooses some of them."""

    def __init__(self, environ: Mapping[str, str], flags: Flags, names: Sequence[str] | None = None) -> None:
        self._environ = environ
        self._flags = flags
        self._names = names
        self._clock: Clock = SystemClock()
        self._permits = Budget(paths.runtime_dir(environ), clock=self._clock, random=Random())
        self._writers = StepWriters(self._clock)
        self._servers: dict[tuple[str | None, Path], PostgresServer | None] = {}

    def overview(self) -> Overview:
        """An overview of these profiles, not begun; raises ConfigurationError."""
        return Overview(self.sources(), self._clock, Random(), ThreadDisk(), release=self._release)

    async def _release(self) -> None:
        await self._permits.aclose()
        self._writers.close()

    def sources(self) -> list[AccountSource]:
        """The profiles as the configuration has them now; raises ConfigurationError if it cannot be read.

        One that breaks a rule is a source that cannot be opened.
        """
        every = known_profiles(self._environ, self._flags.config).names
        if unknown := [name for name in self._names or () if name not in every]:
            raise ConfigurationError(
                f"there is no profile {unknown[0]!r}", location="--profiles", remedy=f"Profiles: {', '.join(every)}."
            )
        names = tuple(dict.fromkeys(self._names or every))
        if len(names) < 2:
            raise ConfigurationError(ONE_PROFILE, location="profiles", remedy=SECOND_PROFILE)
        return [self._source(name) for name in names]

    def _source(self, name: str) -> AccountSource:
        try:
            loaded = load(self._environ, replace(self._flags, profile=name, base_url=None))
        except ConfigurationError as problem:
            return AccountSource(name, "LIVE", "", partial(_refuse, problem), configured=str(problem))
        profile = OpenProfile(loaded)
        return AccountSource(
            name,
            str(profile.environment),
            access="monitor" if loaded.read_only else "trade",
            open=partial(self._open, profile),
            lock_trading=None if loaded.read_only else partial(_lock_trading, profile, self._clock),
            configured=(loaded.profile, loaded.read_only),
        )

    def _open(self, profile: OpenProfile) -> OpenedAccount:
        settings = profile.settings
        close_data_dir(profile.loaded)
        self._writers.show_life(profile.loaded.runtime_dir / ALIVE_DIR)
        kept = KeptFiles(settings, self._writers)
        client = profile.row_reader(self._permits, self._clock, self._server_of(profile))
        return OpenedAccount(client, settings, profile.presumed_account, kept, _rules_of(profile))

    def _server_of(self, profile: OpenProfile) -> PostgresServer | None:
        """The connection to the profile's store, one for all rows of a store; None if the profile names none."""
        store = profile.loaded.profile.store, profile.loaded.data_dir
        return self._servers.setdefault(store, profile.store_server())  # rows are opened on several threads


def _rules_of(profile: OpenProfile) -> tuple[Rule, ...]:
    """The rules in force that nobody has silenced."""
    silenced = FileAlertChoices(profile.loaded.data_dir, profile.loaded.name).read().silenced
    return tuple(rule for rule in profile.rules_in_force if rule.name not in silenced)


def _refuse(problem: ConfigurationError) -> OpenedAccount:
    raise problem


def _lock_trading(profile: OpenProfile, clock: Clock, account: AccountIdentity | None) -> None:
    """Lock the account's journal, which every session of the account obeys, and its store for other machines."""
    account = account or profile.presumed_account
    location = journal_location(profile.settings, account)
    lock_journal(location, clock)
    if (server := profile.store_server()) is not None:
        mark = StoreMark(location.file.with_name(MARK_FILE), InlineDisk())
        asyncio.run(_lock_in_store(AccountStore(server, account.name, profile.machine), mark))


async def _lock_in_store(store: AccountStore, mark: StoreMark) -> None:
    try:
        await store.open()
        await store.lock_trading(True)
        await mark.keep_untold_lock(False)
    except (StoreAway, StoreRefused) as problem:
        await mark.keep_untold_lock(True)
        raise StoreAway(f"it is locked on this machine, and other machines do not know it ({problem})") from None
    finally:
        await store.aclose()


def lock_journal(location: JournalLocation, clock: Clock) -> None:
    """Lock an account's journal; raises if it cannot be written."""
    with closing(open_journal(location)) as journal:
        journal.check()  # it enters a new journal in the list of journals
        journal.set_trading_lock(True, Moment.now(clock))


class KeptFiles:
    """Reads an account's journal and archive where they have changed, and writes to neither.

    The UID that the exchange names is remembered, so that profiles of one account share their permits from the start.
    """

    def __init__(self, settings: DeskSettings, writers: StepWriters) -> None:
        self._settings = settings
        self._writers = writers
        self._marks: object = None
        self._intents: list[Intent] = []
        self._is_locked = False
        self._opening: tuple[int, DayOpening | None] | None = None
        self._remembered = False

    def read(self, account: AccountIdentity, now_ms: int) -> Kept:
        minute = now_ms // OPENING_EVERY_MS
        if self._opening is None or self._opening[0] != minute:
            self._opening = (minute, self._day_opening(account, now_ms))
        try:
            if account.origin == "exchange" and not self._remembered:
                settings = self._settings
                key = AccountKey(settings.base_url, settings.exchange_environment, settings.key_stand_in)
                KnownAccounts(settings.data_dir).remember(key, account.uid)
                self._remembered = True
            self._read_journal(account)
        except (FileUnusable, sqlite3.Error, OSError) as problem:
            return Kept(None, opening=self._opening[1], problem=f"The account's files cannot be read: {problem}")
        standing = self._writers.standing(self._intents)
        unknown = (scope_name(scope) for scope, intent in standing.items() if intent.state is State.UNKNOWN)
        return Kept(tuple(unknown), self._is_locked, self._opening[1])

    def _read_journal(self, account: AccountIdentity) -> None:
        location = located(journal_location(self._settings, account))
        marks = tuple(map(written_mark, (location.file, *location.former_files)))
        if marks == self._marks:
            return
        self._intents, self._is_locked = [], False
        if (journal := existing_journal(location)) is not None:
            with closing(journal):
                self._intents, self._is_locked = journal.open_intents(), bool(journal.trading_locked())
        self._marks = marks  # the earlier marks: a write during the read is read next time

    def _day_opening(self, account: AccountIdentity, now_ms: int) -> DayOpening | None:
        """The day's opening as sessions have sampled it; None if none ran, or transfers are not known."""
        settings, file = self._settings, archive_file(self._settings, account)
        if file is None or not file.exists():
            return None
        try:
            with closing(connect_existing(file, read_only=True)) as connection:
                refuse_other_version(connection, ARCHIVE_VERSION, str(file))
                of_day = samples_of_day(connection, settings.product_types, settings.zone, now_ms)
                return of_day and opening_by_bills(connection, settings.product_types, of_day, now_ms)
        except (FileUnusable, sqlite3.Error, OSError):
            return None  # A session on the account says what is wrong with the file.
