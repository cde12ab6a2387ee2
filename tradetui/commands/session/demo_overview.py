"""The overview of a demo: a row for each account of the embedded exchange, and the records that its sessions leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random

from pydantic import SecretStr

from tradetui.commands.session.demo_desk import SHOWN_PRODUCT_TYPES, ComesAndGoes, presumed_account, samples_before
from tradetui.commands.session.overview_profiles import KeptFiles, lock_journal
from tradetui.desk.account.identity import AccountIdentity
from tradetui.desk.events.rules import with_defaults
from tradetui.desk.intents.locks import StepWriters
from tradetui.desk.overview.overview import Overview
from tradetui.desk.overview.watched_account import AccountSource, Kept, OpenedAccount
from tradetui.desk.results.today import DayOpening, DaySamples
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.desk.trading_session import journal_location
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import Clock
from tradetui.exchange.credentials import Credentials
from tradetui.exchange.rate_limit.budget import Budget
from tradetui.sandbox.app import Sandbox
from tradetui.storage.disk_thread import Disk, ThreadDisk
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.periods import day_at, day_start_ms


class DemoOverview:
    """The accounts of these names; `access` is that of their sessions, which keep their files in `data_dir`."""

    def __init__(
        self,
        sandbox: Sandbox,
        names: Sequence[str],
        access: str,
        clock: Clock,
        data_dir: Path,
        new_disk: Callable[[], Disk] = ThreadDisk,
    ) -> None:
        self.permits = Budget(clock=clock)
        """The rows' permits; sessions of the same accounts take theirs beside them."""
        self._sandbox = sandbox
        self._names = names
        self._access = access
        self._clock = clock
        self._data_dir = data_dir
        self._new_disk = new_disk
        self._writers = StepWriters(clock)

    def overview(self) -> Overview:
        """An overview of these accounts, not begun; opening one takes no time, so no thread does it."""

        async def run_inline(open_account: Callable[[], OpenedAccount]) -> OpenedAccount:
            return open_account()

        return Overview(self.overview_sources(), self._clock, Random(0), self._new_disk(), run=run_inline)

    def overview_sources(self) -> list[AccountSource]:
        return [
            AccountSource(
                name,
                str(Environment.SANDBOX),
                self._access,
                partial(self._open, name),
                partial(self._lock, name) if self._access == "trade" else None,
            )
            for name in self._names
        ]

    def _settings(self, name: str) -> DeskSettings:
        return DeskSettings(
            name=name,
            environment=Environment.SANDBOX,
            product_types=SHOWN_PRODUCT_TYPES,
            uid=next(key.uid for key in self._sandbox.exchange_state.keys if key.name == name),
            data_dir=self._data_dir,
            read_only=True,
        )

    def _open(self, name: str) -> OpenedAccount:
        key = next(key for key in self._sandbox.exchange_state.keys if key.name == name)
        settings, random = self._settings(name), Random(f"{self._sandbox.options.seed}/{name}")
        account = presumed_account(settings)
        client = ExchangeReader(
            Credentials(key.api_key, SecretStr(key.secret), SecretStr(key.passphrase)),
            app=ComesAndGoes(self._sandbox, self._clock) if name == "comes-and-goes" else self._sandbox,
            clock=self._clock,
            random=random,
            budget=Budget(account=account.name, clock=self._clock, random=random, beside=self.permits, is_even=True),
        )
        kept = _DemoFiles(settings, self._writers, self._day_opening(key.uid))
        return OpenedAccount(client, settings, account, kept, rules=with_defaults(()))

    def _lock(self, name: str, account: AccountIdentity | None) -> None:
        settings = self._settings(name)
        lock_journal(journal_location(settings, account or presumed_account(settings)), self._clock)

    def _day_opening(self, uid: str) -> DayOpening | None:
        """The equity as a session would have sampled it when the day began; None in multi-assets mode.

        Nothing is transferred on the day of the start.
        """
        now_ms, zone = self._clock.wall_ms(), self._settings(self._names[0]).zone
        day = day_at(now_ms, zone)
        start = next(samples_before(self._sandbox, uid, SHOWN_PRODUCT_TYPES, (day_start_ms(day, zone),)), None)
        if start is None:
            return None
        samples = DaySamples(day, start, start, is_whole_day=True)
        return DayOpening(
            samples=samples, moved_in=ZERO, growth=ZERO + 1, equity_then=start.equity, is_complete=True, confirmed=start
        )


class _DemoFiles(KeptFiles):
    """What a session has left of an account, and the day's opening where none has sampled it."""

    def __init__(self, settings: DeskSettings, writers: StepWriters, opening: DayOpening | None) -> None:
        super().__init__(settings, writers)
        self._zone = settings.zone
        self._presumed_opening = opening

    def read(self, account: AccountIdentity, now_ms: int) -> Kept:
        kept, opening = super().read(account, now_ms), self._presumed_opening
        is_of_today = opening is not None and opening.samples.day == day_at(now_ms, self._zone)
        return kept._replace(opening=opening) if kept.opening is None and is_of_today else kept
