"""One account as its row needs it: its identity, margin accounts, positions, orders and newest fills."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from tradetui.desk.account.identity import AccountIdentity, AccountKey, identify
from tradetui.desk.events.rules import Alert, Rule
from tradetui.desk.feeds.orders import AccountsReader, OrdersReader
from tradetui.desk.feeds.polling.feed import Feed, Freshness, Reading, Scheduler
from tradetui.desk.feeds.polling.multi_product import JoinedReads, ProductPart, ProductRowsReader
from tradetui.desk.feeds.polling.session_health import Health, LinkState, health_of
from tradetui.desk.feeds.positions import read_reported
from tradetui.desk.overview.account_row import UNIFIED, AccountRow, RowState
from tradetui.desk.overview.row_alerts import RowAlerts
from tradetui.desk.overview.subaccounts import SUBACCOUNTS_EVERY_S, SubaccountsReader, subaccount_rows
from tradetui.desk.settings import DeskSettings
from tradetui.desk.tables.cells.cell_format import percent_points
from tradetui.desk.tables.columns.accounts import RISK_WORTH_A_WARNING
from tradetui.desk.tables.columns.positions import LIQUIDATION_NEAR
from tradetui.desk.tables.rows.product_row import ProductRow, newest_first
from tradetui.desk.tables.rows.row_source import FeedRow
from tradetui.desk.tables.table import TableName
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import Clock, Moment
from tradetui.exchange.errors import EndpointMissing, PermissionRefused
from tradetui.exchange.rate_limit.budget import Priority
from tradetui.storage.disk_thread import Disk
from tradetui.trading.account_totals import totals_of
from tradetui.trading.contract_math import ZERO, known_sum
from tradetui.trading.position_figures import exposure_of
from tradetui.trading.positions import Position
from tradetui.wire.enums import same
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures import FuturesFillsRequest
from tradetui.wire.models.futures_accounts import FuturesAccount
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.results.today import DayOpening

ACCOUNTS_EVERY_S: Final = 5.0
ORDERS_EVERY_S: Final = 15.0
FILLS_EVERY_S: Final = 60.0
"""The newest fills are also read whenever the size of a position has changed."""
FILLS_AT_MOST_EVERY_S: Final = 15.0
NEWEST_FILLS: Final = 10
_LINK_STATES: Final = {
    LinkState.DOWN: RowState.NO_LINK,
    LinkState.REFUSED: RowState.REFUSED,
    LinkState.DEGRADED: RowState.PARTLY_READ,
    LinkState.STARTING: RowState.STARTING,
}


class Kept(NamedTuple):
    """This machine's records of an account: the symbols of unknown outcomes, the lock, and the day's opening.

    `unknown_outcomes` is None if the journal cannot be read; `problem` is why.
    """

    unknown_outcomes: tuple[str, ...] | None = ()
    is_locked: bool = False
    opening: DayOpening | None = None
    problem: str = ""


class KeptReader(Protocol):
    """Reads this machine's records of an account; it writes nothing."""

    def read(self, account: AccountIdentity, now_ms: int) -> Kept:
        """Read it now; blocks."""


class OpenedAccount(NamedTuple):
    """A client that can only read, with the settings of its profile; `kept` is None if nothing is kept.

    `presumed` is the account as known before the exchange names it.
    """

    client: ExchangeReader
    settings: DeskSettings
    presumed: AccountIdentity | None = None
    kept: KeptReader | None = None
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class AccountSource:
    """A profile as the overview opens it. `open` blocks, and raises if the profile cannot be opened.

    `lock_trading` locks the account for every session of this user. It gets the account as far as the exchange has
    named it, blocks, and raises if it cannot lock. It is None if the profile sends nothing. `configured` is the
    profile's configuration: if it is equal when the configuration is read again, the row stays as it is.
    """

    name: str
    environment: str
    access: str
    open: Callable[[], OpenedAccount] = field(compare=False)
    lock_trading: Callable[[AccountIdentity | None], None] | None = field(default=None, compare=False)
    configured: object = None


OpenBlocking: TypeAlias = Callable[[Callable[[], OpenedAccount]], Awaitable[OpenedAccount]]
"""Opens an account without blocking the event loop."""


class _IdentifyingReader(AccountsReader):
    """Identifies the account before it reads its futures accounts for the first time."""

    def __init__(
        self, client: ExchangeReader, settings: DeskSettings, known: Callable[[AccountIdentity], None]
    ) -> None:
        super().__init__(client, settings.product_types)
        self._settings = settings
        self._known = known
        self.identity: AccountIdentity | None = None

    async def read(self) -> Reading[ProductRow[FuturesAccount]]:
        if self.identity is None:
            settings = self._settings
            key = AccountKey(settings.base_url, settings.exchange_environment, settings.key_stand_in or "key-unknown")
            self.identity = await identify(self._client, key, settings.uid)
            self._known(self.identity)
        return await super().read()


class _ReportedPositions:
    """Reads the positions that the exchange reports; `offered` is whether it reports any.

    Positions are never summed from fills here, because a row would then cost as much as a session.
    """

    def __init__(self, client: ExchangeReader, product_types: Sequence[ProductType]) -> None:
        self._client = client
        self._parts = JoinedReads[Position](product_types)
        self.offered = True

    async def read(self) -> Reading[Position]:
        try:
            error = await self._parts.read(self._read)
        except (EndpointMissing, PermissionRefused):
            self.offered = False
            return Reading(())
        self.offered = True
        return self._parts.reading(self._parts.rows, error)

    async def _read(self, product_type: ProductType) -> ProductPart[Position]:
        return (await read_reported(self._client, product_type))[1]


class _AccountFeeds:
    """The feeds of one account with its own scheduler, so that a silent or refused account slows down no other."""

    def __init__(self, opened: OpenedAccount, clock: Clock, random: Random, changed: Callable[[], None]) -> None:
        self.client, self.settings, self._clock, self._changed = opened.client, opened.settings, clock, changed
        self.identity: AccountIdentity | None = None
        polling, types = opened.client.with_priority(Priority.FEED), opened.settings.product_types
        accounts = _IdentifyingReader(polling, opened.settings, self._identified)
        newest_fills = ProductRowsReader(polling, types, partial(FuturesFillsRequest, limit=NEWEST_FILLS))
        self._positions_reader = _ReportedPositions(polling, types)
        self.accounts = Feed(TableName.ACCOUNTS, accounts, ACCOUNTS_EVERY_S, clock)
        self.positions = Feed(TableName.POSITIONS, self._positions_reader, ACCOUNTS_EVERY_S, clock)
        self.orders = Feed(TableName.ORDERS, OrdersReader(polling, types), ORDERS_EVERY_S, clock)
        self.fills = Feed(TableName.FILLS, newest_fills, FILLS_EVERY_S, clock)
        self.feeds: tuple[Feed[FeedRow], ...] = (self.accounts, self.positions, self.orders, self.fills)
        self.subaccounts_reader = SubaccountsReader(polling, types)
        self.subaccounts = Feed(TableName.OVERVIEW, self.subaccounts_reader, SUBACCOUNTS_EVERY_S, clock)
        polled = (*self.feeds, self.subaccounts) if opened.settings.subaccount_rows else self.feeds
        # The account is identified first: until then its calls may count for another profile of it as well.
        self.scheduler = Scheduler(polled, random, opened.client.connection_status, first=TableName.ACCOUNTS)
        self._sizes: object = None
        self._has_new_fills = False
        for feed in polled:
            feed.subscribe(self._published)

    async def stop(self) -> None:
        await self.scheduler.stop()
        await self.client.aclose()

    @property
    def are_looked_at(self) -> bool:
        """Whether each feed was read, or could not be."""
        return all(feed.snapshot.read_at is not None or feed.failures for feed in self.feeds)

    def _identified(self, identity: AccountIdentity) -> None:
        self.identity = identity
        self.client.budget.account = identity.name
        copies = None if identity.info is None else identity.info.is_copy_trader
        if copies is not None and self.client.budget.account_kind is None:
            self.client.budget.account_kind = "copy_trader" if copies else "ordinary"

    def _published(self, feed: Feed[FeedRow]) -> None:
        if feed is self.positions:
            sizes = {position.row_id: position.size for position in self.positions.snapshot.rows}
            self._has_new_fills = self._has_new_fills or (self._sizes is not None and sizes != self._sizes)
            self._sizes = sizes
            fills_age_s = self.fills.snapshot.age(self._clock.monotonic())
            if self._has_new_fills and fills_age_s is not None and fills_age_s >= FILLS_AT_MOST_EVERY_S:
                self.scheduler.poll_now(TableName.FILLS)
                self._has_new_fills = False
        self._changed()

    @property
    def health(self) -> Health:
        return health_of(self.client.connection_status, self.feeds, self._clock.monotonic())

    def shown_in(self, row: AccountRow) -> AccountRow:
        """Return the row with the figures of these feeds."""
        now, accounts, positions = self._clock.monotonic(), self.accounts.snapshot, self.positions.snapshot
        records = [account.record for account in accounts.rows]
        are_reported = positions.read_at is not None and self._positions_reader.offered
        held = positions.rows if are_reported else None
        totals = totals_of(records, held, undecodable_rows=accounts.undecodable_rows)
        in_usdt = [record.unrealized_pl for record in records if same(record.margin_coin, "USDT")]
        health = self.health
        ages = [accounts.age(now), positions.age(now)]
        fills = newest_first(self.fills.snapshot.rows)[:NEWEST_FILLS]
        access = "key reads only" if self.identity is not None and self.identity.key_reads_only else row.access
        access = UNIFIED if self.client.is_unified else access
        return replace(
            row,
            environment=str(self.settings.environment),
            uid=self.identity.uid if self.identity is not None and self.identity.known else self.settings.uid,
            state=_LINK_STATES.get(health.state, RowState.READ),
            age_s=None if None in ages else int(max(age for age in ages if age is not None)),
            is_late={self.accounts.freshness, self.positions.freshness} != {Freshness.FRESH},
            problem=" ".join(filter(None, (health.sentence and f"{health.sentence}.", health.remedy))),
            equity=totals.equity,
            unrealised=totals.unrealised,
            unrealised_in_usdt=None if totals.unrealised is None else known_sum([ZERO, *in_usdt]),
            margin_ratio=totals.worst_margin_ratio,
            positions=held,
            exposure=exposure_of(held) if held is not None else None,
            orders=self.orders.snapshot.count if self.orders.snapshot.read_at is not None else None,
            fills=tuple(fills),
            fill_age_min=self._minutes_since(max((fill.record.c_time for fill in fills), default=None)),
            access=access,
        )

    def _minutes_since(self, moment: datetime | None) -> int | None:
        return None if moment is None else max(0, self.client.server_clock.now_ms - unix_ms(moment)) // 60_000


class WatchedAccount:
    """One account from `start` to `stop`; `changed` is called whenever its row may have changed, `alerted` for alerts.

    `sources` are the profiles of this account; the first one is read.
    """

    def __init__(
        self,
        source: AccountSource,
        clock: Clock,
        random: Random,
        changed: Callable[[], None],
        alerted: Callable[[AccountRow, Alert], None],
        run: OpenBlocking,
    ) -> None:
        self.sources = [source]
        self._clock = clock
        self._random = random
        self._changed = changed
        self._alerted = alerted
        self._alerts = RowAlerts(())
        self._run = run
        self._failure = ""
        self._opened: OpenedAccount | None = None
        self._feeds: _AccountFeeds | None = None
        self._kept: Kept | None = None
        self._opening: asyncio.Task[None] | None = None
        self._changes = 0
        self._row = AccountRow(names=(source.name,), environment=source.environment)
        self._made_of: tuple[int, ...] = ()
        """The second, change and profiles of which `_row` is made."""

    @property
    def identity(self) -> AccountIdentity | None:
        """The account, once the exchange has answered whether it names it."""
        return None if self._feeds is None else self._feeds.identity

    @property
    def known_account(self) -> AccountIdentity | None:
        """The account as the exchange names it, else as known before."""
        return self.identity or (None if self._opened is None else self._opened.presumed)

    @property
    def locks(self) -> list[Callable[[AccountIdentity | None], None]]:
        """What locks the account, of each of its profiles that may send."""
        return [source.lock_trading for source in self.sources if source.lock_trading is not None]

    @property
    def is_looked_at(self) -> bool:
        """Whether everything was read, or could not be."""
        return bool(self._failure) or (self._feeds is not None and self._feeds.are_looked_at)

    def start(self) -> None:
        self._opening = asyncio.create_task(self._open(), name=f"overview {self.sources[0].name}")

    async def stop(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        if self._feeds is not None:
            await self._feeds.stop()

    async def _open(self) -> None:
        try:
            opened = self._opened = await self._run(self.sources[0].open)
        except Exception as problem:
            self._failure = str(problem)
            self._changes += 1
        else:
            self._alerts = RowAlerts(opened.rules)
            self._feeds = _AccountFeeds(opened, self._clock, self._random, self._row_changed)
            self._changes += 1
            await opened.client.prepare()
            self._feeds.scheduler.start()
        self._changed()

    @property
    def subaccount_rows(self) -> list[AccountRow]:
        """The present rows of its sub-accounts, as its key reads them."""
        if self._feeds is None:
            return []
        feed, reader = self._feeds.subaccounts, self._feeds.subaccounts_reader
        if not feed.snapshot.rows:
            return []
        return list(subaccount_rows(self.row, feed, reader, self._clock.monotonic()))

    async def read_kept(self, disk: Disk) -> None:
        """Read this machine's records of the account, once it is known or presumed."""
        opened, account = self._opened, self.known_account
        if opened is None or opened.kept is None or account is None:
            return
        now_ms = opened.client.server_clock.now_ms
        before, self._kept = self._kept, await disk.run(opened.kept.read, account, now_ms)
        if self._kept != before:
            self._row_changed()

    def _row_changed(self) -> None:
        self._changes += 1
        if self._feeds is not None:
            row = self.row
            for alert in self._alerts.of(row, self._feeds.health, Moment.now(self._clock)):
                self._alerted(row, alert)
        self._changed()

    @property
    def row(self) -> AccountRow:
        """The row as of this second, or of a later change."""
        made_of = (int(self._clock.monotonic()), self._changes, len(self.sources))
        if made_of != self._made_of:
            self._made_of, self._row = made_of, self._present_row()
        return self._row

    def _present_row(self) -> AccountRow:
        source = self.sources[0]
        names = tuple(merged.name for merged in self.sources)
        row = AccountRow(names=names, environment=source.environment, access=source.access)
        if self._failure:
            return replace(row, state=RowState.NOT_OPENED, problem=self._failure)
        if self._feeds is None:
            return row
        row = self._feeds.shown_in(row)
        if self._kept is not None:
            row = _with_kept(row, self._kept)
        if row.unknown_outcomes:
            return replace(row, state=RowState.UNKNOWN_OUTCOME)
        if row.state < RowState.MARGIN or not (nearness := _nearness(row)):
            return row
        return replace(row, state=RowState.MARGIN, problem=f"{nearness} {row.problem}".strip())


def _with_kept(row: AccountRow, kept: Kept) -> AccountRow:
    opening = kept.opening
    is_same_kind = opening is not None and opening.samples.start.is_unified is (row.access == UNIFIED)
    today = opening.result(row.equity) if opening is not None and is_same_kind and row.equity is not None else None
    return replace(
        row,
        unknown_outcomes=kept.unknown_outcomes,
        state=min(row.state, RowState.PARTLY_READ) if kept.problem else row.state,
        problem=" ".join(filter(None, (row.problem, kept.problem))),
        today=today.amount if today is not None and today.since is None else None,
        access="locked" if kept.is_locked and row.access == "trade" else row.access,
    )


def _nearness(row: AccountRow) -> str:
    """Say that the margin, or a position's liquidation, is so near that a person should look; empty if neither is."""
    nearest, ratio, distance = row.nearest_liquidation, row.margin_ratio, row.liquidation_distance
    sentences = []
    if ratio is not None and ratio >= RISK_WORTH_A_WARNING:
        sentences.append(f"The margin ratio is {percent_points(ratio)} %; at 100 % positions are liquidated.")
    if nearest is not None and distance is not None and distance < LIQUIDATION_NEAR:
        sentences.append(f"{nearest.symbol} is {percent_points(distance)} % away from liquidation.")
    return " ".join(sentences)
