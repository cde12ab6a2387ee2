"""A running session of one account: its feeds, storage, alerts and actions, put together in one place.

A change goes from the feed that read it to everything that depends on it (`Desk._feed_changed`). The account's files
are opened beside the feeds (`Desk._open_account`).
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from random import Random
from typing import TYPE_CHECKING, Final

from tradetui.desk.account.account_storage import AccountStorage
from tradetui.desk.account.identity import AccountIdentity, current_owner
from tradetui.desk.events.alerts import Alerts
from tradetui.desk.events.rules import AlertSettings
from tradetui.desk.feeds.bills import BILLS_EVERY_S, BillHistory, BillsReader, ClosedPositionHistory
from tradetui.desk.feeds.fills.fill_history import FillHistory
from tradetui.desk.feeds.fills.fills_reader import FilledOrders, FillsReader
from tradetui.desk.feeds.market_context import MarketContext
from tradetui.desk.feeds.orders import AccountsReader, EquitySampler, OrdersReader
from tradetui.desk.feeds.polling.feed import HIDDEN_FACTOR, Feed, Reader, Scheduler, Snapshot
from tradetui.desk.feeds.polling.session_health import Health, health_of
from tradetui.desk.feeds.positions import PositionsReader
from tradetui.desk.feeds.triggers import StopViews, TriggersReader
from tradetui.desk.lookup.session_lookups import Lookups
from tradetui.desk.reversal.outcome import OrdersAgainst
from tradetui.desk.settings import Access, DeskSettings
from tradetui.desk.tables.rows.date_filter import DateFilter
from tradetui.desk.tables.rows.product_row import RecordT
from tradetui.desk.tables.rows.row_source import FeedRow, FeedRowT
from tradetui.desk.tables.table import ACCOUNTS, FILLS, ORDERS, POSITIONS, TRIGGERS, Table
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import Clock
from tradetui.exchange.rate_limit.budget import Priority
from tradetui.storage.disk_thread import Disk, InlineDisk
from tradetui.trading.account_totals import Totals, totals_of

if TYPE_CHECKING:
    from tradetui.desk.archive.archive_rows import ArchiveRows
    from tradetui.desk.archive.database import Archive
    from tradetui.desk.archive.equity import EquitySample
    from tradetui.desk.creation import Creation
    from tradetui.desk.intents.intents import Intents
    from tradetui.desk.intents.journal.registered_journal import JournalReader
    from tradetui.desk.results.results_reader import ResultsReader
    from tradetui.desk.results.today import TodayResult, TodayTracker
    from tradetui.desk.reversal.execution import Execution
    from tradetui.desk.reversal.progress import Progress, Sent
    from tradetui.desk.trading_session import TradingSession

OWNER_AGAIN_S: Final = 60.0
"""Interval of asking the exchange for the owner of the API key, besides the request at every send."""


class Desk:
    """Feeds of one account under one scheduler, and its actions.

    `trading` is None in monitor mode, so that no object exists that could send. `disk` runs blocking work on the
    archive, on a thread, or inline if time is virtual; it is closed with the desk.
    """

    def __init__(
        self,
        client: ExchangeReader,
        settings: DeskSettings,
        clock: Clock,
        random: Random,
        trading: TradingSession | None = None,
        *,
        disk: Disk | None = None,
        alerts: AlertSettings | None = None,
        past_equity: Callable[[], Iterable[EquitySample]] = tuple,
    ) -> None:
        """Create the parts; `past_equity` gives samples from before the session, oldest first, if there are any."""
        self.client = client
        self.settings = settings
        self.clock = clock
        self.zone = settings.zone
        self.disk = disk = disk or InlineDisk()
        self._trading = trading
        self._today: TodayTracker | None = None
        self._totals: tuple[Snapshot[FeedRow], Snapshot[FeedRow], Totals] | None = None
        self._journal_reader: JournalReader | None = None
        self._results: ResultsReader | None = None
        self.lookups = Lookups(client, lambda: self.account, settings.account_kind)

        polling, product_types = client.with_priority(Priority.FEED), settings.product_types
        fill_histories = {product_type: FillHistory(polling, product_type, disk) for product_type in product_types}
        bill_histories = {product_type: BillHistory(polling, product_type, disk) for product_type in product_types}
        closed_positions = [ClosedPositionHistory(polling, product_type, disk) for product_type in product_types]
        sampler = EquitySampler(product_types, disk, past_equity)
        self.triggers_reader = TriggersReader(polling, product_types, disk)
        # The positions show waiting stops, whether or not the triggers are in view.
        self.triggers = self._feed_of(TRIGGERS, self.triggers_reader, hidden_factor=1.0)
        self.market = MarketContext(polling, product_types, self.triggers, self.triggers_reader)
        self.positions_reader = PositionsReader(
            polling,
            product_types,
            fill_histories,
            disk,
            first_client=client,
            joined=self.market.joined,
            contradiction=self._contradiction,
        )
        self.positions = self._feed_of(POSITIONS, self.positions_reader)
        self.accounts = self._feed_of(ACCOUNTS, AccountsReader(polling, product_types, sampler))
        self.fills = self._feed_of(FILLS, FillsReader(fill_histories, clock))
        self.orders = self._feed_of(ORDERS, OrdersReader(polling, product_types, self.market.mark_of))
        feeds: tuple[Feed[FeedRow], ...] = (self.accounts, self.positions, self.orders, self.fills, self.triggers)
        self.feeds: Mapping[str, Feed[FeedRow]] = {feed.name: feed for feed in feeds}
        self.filled_orders = FilledOrders()
        self.orders_against = OrdersAgainst()
        self._stop_views = StopViews(self.market.mark_of)
        bills_reader = BillsReader(polling, bill_histories, closed_positions)
        self.bills = Feed("bills", bills_reader, BILLS_EVERY_S, clock)
        polled = (*feeds, *self.market.feeds, self.bills)
        self.scheduler = Scheduler(polled, random, client.connection_status, first=POSITIONS.name)

        # Two sessions may share a random seed, but must not share an owner name.
        owner = f"{os.getpid()}-{secrets.token_hex(8)}"
        self.alerts = Alerts(
            alerts or AlertSettings(), clock, disk, owner, lambda: self.scheduler.poll_now(TRIGGERS.name), self.market
        )
        self.storage = AccountStorage(polling, settings, disk, random)
        self._attach: tuple[Callable[[Archive], Awaitable[None]], ...] = (
            *(history.attach for history in fill_histories.values()),
            *(history.attach for history in bill_histories.values()),
            *(history.attach for history in closed_positions),
            self.triggers_reader.attach,
            self.alerts.attach,
            sampler.attach,
        )
        if trading is not None:
            trading.progress_listener = self._reversal_went_on
            trading.intents.store_changed = self._have_screen_look
        self.market.tickers.subscribe(lambda _: self.alerts.prices_changed())
        for feed in feeds:
            feed.subscribe(self._feed_changed)

    def _feed_of(
        self, table: Table[FeedRowT], reader: Reader[FeedRowT], *, hidden_factor: float = HIDDEN_FACTOR
    ) -> Feed[FeedRowT]:
        interval_s = self.settings.intervals[table.name]
        return Feed(table.name, reader, interval_s, self.clock, hidden_factor=hidden_factor)

    @property
    def access(self) -> Access:
        if self.client.is_unified:
            return Access.UNIFIED
        if self.intents is None or not self.client.is_classic:
            return Access.MONITOR
        if self.intents.may_only_view:
            return Access.VIEWER_LOCKED if self.intents.locked else Access.VIEWER
        if self.intents.locked:
            return Access.LOCKED
        key_reads_only = self.account is not None and self.account.key_reads_only
        if key_reads_only:
            return Access.KEY_READS_ONLY
        shared = self.intents.shared
        has_store = shared is None or (shared.away_s is None and not shared.refusal)
        return Access.TRADE if has_store else Access.NO_STORE

    @property
    def intents(self) -> Intents | None:
        return None if self._trading is None else self._trading.intents

    @property
    def execution(self) -> Execution | None:
        """The account's reversals, loaded on first use; None in monitor mode."""
        return None if self._trading is None else self._trading.execution

    @property
    def may_create(self) -> bool:
        return self._trading is not None and self._trading.may_create

    @property
    def creation(self) -> Creation | None:
        """Creation of sub-accounts and keys, loaded on first use; None if not allowed."""
        return None if self._trading is None else self._trading.creation

    @property
    def holds_unsaved_keys(self) -> bool:
        return self._trading is not None and self._trading.holds_unsaved_keys

    @property
    def health(self) -> Health:
        return health_of(self.client.connection_status, self.feeds.values(), self.clock.monotonic())

    @property
    def account(self) -> AccountIdentity | None:
        """The account, once the exchange has answered whether it names it."""
        return self.storage.identity

    @property
    def uid(self) -> str | None:
        """The account's UID; None while neither the exchange nor the profile names it."""
        return self.account.uid if self.account is not None and self.account.known else self.settings.uid

    @property
    def archive(self) -> Archive | None:
        """The account's archive, which outlives the session; None until the account is known."""
        return self.storage.archive

    def has_other_view(self, name: str) -> bool:
        """Whether a panel can switch to another view now."""
        return name == FILLS.name or (name == TRIGGERS.name and self.triggers_reader.reports_waiting)

    def panel_rows(self, name: str, *, other_view: bool = False) -> Snapshot[FeedRow]:
        """Return the rows of a panel.

        Fills are grouped by order; the other view lists them one by one. Triggers are the waiting ones, then the ended
        ones; the other view has only the waiting ones.
        """
        if name == FILLS.name and not other_view:
            return self.filled_orders.snapshot
        if name == TRIGGERS.name and self.triggers_reader.reports_waiting:
            return self._stop_views.waiting if other_view else self._stop_views.all
        return self.feeds[name].snapshot

    def start(self, feeds: Collection[str] | None = None) -> None:
        """Begin polling these feeds, or all."""
        self.scheduler.start(feeds)
        self.storage.start(self._open_account())

    async def stop(self) -> None:
        """End polling, then close archive and client; alerts of the last changes are still delivered."""
        try:
            await self.scheduler.stop()
            await self.lookups.stop()
            await self.storage.stop_opening()
            if self._trading is not None:
                await self._trading.stop()
            await self.alerts.stop()
            if self._today is not None:
                await self._today.stop()
            await self.storage.stop()
        finally:
            try:
                self.disk.close()
            finally:
                await self.client.aclose()

    def subscribe(self, listener: Callable[[Feed[FeedRow]], None]) -> Callable[[], None]:
        """Call the listener with each feed that has news; return a function that unsubscribes it."""
        subscriptions = ExitStack()
        for feed in self.feeds.values():
            subscriptions.callback(feed.subscribe(listener))
        return subscriptions.close

    def set_hidden(self, name: str, *, is_hidden: bool) -> None:
        if name == TRIGGERS.name:
            self.triggers_reader.is_hidden = is_hidden
        self.scheduler.set_hidden(name, is_hidden=is_hidden)

    def _reversal_went_on(self, sent: Sent, progress: Progress) -> None:
        if progress.aftermath is not None and not progress.aftermath.unread:
            self.orders_against.take(sent.plan.params.symbol, progress.aftermath.resting, self.clock.monotonic())
        self.alerts.reversal_went_on(sent, progress, self.zone)

    def _drop_gone(self, feed: Feed[FeedRow], waiting_ids: Iterable[str], *, in_book: bool) -> None:
        """Drop orders that no longer wait from those against a reversal, if the feed read all waiting ones."""
        snapshot = feed.snapshot
        if snapshot.error is None and snapshot.read_at is not None:
            self.orders_against.drop_gone(waiting_ids, snapshot.read_at, in_book=in_book)

    def _feed_changed(self, feed: Feed[FeedRow]) -> None:
        now_ms = self.client.server_clock.now_ms
        if self.intents is not None and not self.client.is_classic:
            self.intents.lock.hold()  # should it become classic again, trading does not begin by itself
        if feed is self.triggers:
            waiting = self.triggers_reader.waiting or ()
            self._stop_views.update(self.triggers.snapshot, waiting)
            self.alerts.triggers_changed(self.triggers.snapshot, waiting, now_ms)
            if self.triggers_reader.reports_waiting and not self.triggers_reader.undecodable_waiting:
                self._drop_gone(feed, (row.record.order_id for row in waiting), in_book=False)
        elif feed is self.fills:
            self.filled_orders.update(self.fills.snapshot)
            self.market.see_fills(self.fills.snapshot.rows)
            if self._trading is not None and self._trading.intents.shared is not None:
                self._trading.execution.unjournaled.see_fills(self.fills.snapshot.rows)
            self.alerts.fills_changed(self.fills.snapshot, now_ms)
        elif feed is self.orders:
            self.market.see_orders(self.orders.snapshot.rows)
            if self._trading is not None and self._trading.intents.shared is not None:
                self._trading.execution.unjournaled.see_orders(self.orders.snapshot.rows)
            self.alerts.orders_changed(self.orders.snapshot)
            if not self.orders.snapshot.undecodable_rows:
                self._drop_gone(feed, (row.record.order_id for row in self.orders.snapshot.rows), in_book=True)
        elif feed is self.positions:
            self.alerts.positions_changed(self.positions.snapshot)
        elif feed is self.accounts:
            self._track_today(now_ms)
            self.alerts.accounts_changed(self.accounts.snapshot, self.positions.snapshot.rows)
            looks_at_today = self.alerts.looks_at_today and self.accounts.snapshot.error is None
            if looks_at_today and (today := self.today(alerting=True)) is not None:
                self.alerts.today_changed(today.amount, today.part)
        health = self.health
        if not health.of_account:  # the screen shows that by itself
            self.alerts.link_is(health.state, health.sentence)

    async def _open_account(self) -> None:
        """Identify the account, and open its files; from then on look once a minute at what other sessions do.

        The first rows are shown before anything is opened. The journal is opened before the archive, which may take a
        second because the whole file is checked.
        """
        storage, trading = self.storage, self._trading
        account = await storage.identify(self._account_expected, self._account_not_kept)
        self._account_known(account)
        await self.scheduler.first_shown()
        if trading is not None:
            await storage.try_step(trading.open(self.settings, account, self.disk))
        archive = await storage.open_archive()
        for attach in self._attach:
            await storage.try_step(attach(archive))
        self._track_today(self.client.server_clock.now_ms)  # by the accounts that were read before
        if trading is not None:
            # A newer program may migrate the archive meanwhile; then nothing more is sent.
            trading.intents.checks_before_sending = [archive.refuse_other_version]
            await storage.try_step(self._alert_what_ended_unsaid(trading))
        from tradetui.desk.archive.database import bring_ledger_forward  # loaded by now, off the loop

        await storage.try_step(bring_ledger_forward(archive, self.disk))
        while trading is not None:
            await asyncio.sleep(OWNER_AGAIN_S)
            await storage.try_step(self._alert_what_ended_unsaid(trading))
            trading.intents.note_key_owner(await current_owner(self.client.with_priority(Priority.FEED)))

    async def _account_expected(self, account: AccountIdentity) -> None:
        """Report the journal's open intents at once: the exchange may take seconds to identify the account."""
        if self._trading is None:
            return
        await self._trading.look_ahead(self.settings, account)
        if self._trading.intents.unsettled():
            self._have_screen_look()

    def _have_screen_look(self) -> None:
        """Publish the positions again, so that the screen looks at the session's intents and locks."""
        self.positions.publish(self.positions.snapshot)

    def _account_known(self, account: AccountIdentity) -> None:
        self.alerts.delivery.account = account.uid or account.name
        self.client.budget.account = account.name  # two profiles of one account share its limits
        # A copy trader may reverse once a second, an ordinary account ten times; an unknown one counts as a copy
        # trader.
        if account.info is not None and self.client.budget.account_kind is None:
            copies = account.info.is_copy_trader
            if copies is not None:
                self.client.budget.account_kind = "copy_trader" if copies else "ordinary"

    def _account_not_kept(self, why: str) -> None:
        if self.intents is not None:
            self.intents.trouble = why

    async def _alert_what_ended_unsaid(self, trading: TradingSession) -> None:
        """Report the outcomes of reversals whose session was killed before it reported them."""
        for sent, progress in await trading.execution.ends_of(self.alerts.delivery.unannounced_outcomes):
            self.alerts.reversal_went_on(sent, progress, self.zone)

    async def _contradiction(self) -> str:
        """Return why the account's fills do not give its positions, if a reversal of any session has shown it."""
        if self._trading is not None:
            return self._trading.contradiction
        if self.account is None or self.settings.data_dir is None:
            return ""
        if self._journal_reader is None:
            from tradetui.desk.intents.journal.registered_journal import JournalReader
            from tradetui.desk.trading_session import journal_location

            self._journal_reader = JournalReader(journal_location(self.settings, self.account))
        return await self.disk.run(self._journal_reader.contradiction)

    def history(
        self, kind: type[RecordT], changed: Callable[[], None], dates: DateFilter | None = None
    ) -> ArchiveRows[RecordT] | None:
        """Return all archived rows of a kind, read as they are shown; None until the account is known."""
        archive = self.archive
        if archive is None:
            return None
        from tradetui.desk.archive.archive_rows import ArchiveRows, Selection

        dates = dates or DateFilter()
        selection = Selection(kind, since=dates.since, until=dates.until, ids=dates.archive_ids)
        tests = (dates.keeps_symbol,) if dates.symbols else ()
        return ArchiveRows(archive.rows, self.disk, selection, changed=changed, keeps_symbol=tests)

    def results(self) -> ResultsReader | None:
        """Return the reader of period results and round trips; None until the account is known."""
        if self.archive is None:
            return None
        from tradetui.desk.results.results_reader import ResultsReader  # not needed before the first rows

        if self._results is None:
            self._results = ResultsReader(self.archive, self.disk)
        return self._results

    def today(self, *, alerting: bool = False) -> TodayResult | None:
        """Return today's result at the accounts' newest equity, or since the day's first sample; None before that.

        With `alerting` it is a result of the whole day only, and a wallet change that may be a withdrawal is no loss.
        """
        opening = None if self._today is None else self._today.opening
        totals = self.totals()
        if opening is None or totals.equity is None or (alerting and not opening.samples.is_whole_day):
            return None
        if opening.samples.start.is_unified is not any(row.record.is_whole for row in self.accounts.snapshot.rows):
            return None  # the account was moved since: its equity was of something else
        if alerting:
            return opening.alerting_result(totals.equity, totals.unrealised)
        return opening.result(totals.equity)

    @property
    def today_unknown_because(self) -> str:
        """Why `today` has no result; empty if it has one, and before the first attempt."""
        if self._today is None or self.today() is not None:
            return ""
        return self.totals().no_equity_because or self._today.unknown_because

    def _track_today(self, now_ms: int) -> None:
        if self.archive is None or self.positions.snapshot.read_at is None:
            return
        if self._today is None:
            from tradetui.desk.results.today import TodayTracker  # not needed before the first rows

            self._today = TodayTracker(self.archive, self.disk, self.settings.product_types)
        self._today.accounts_changed(now_ms, self.zone)

    def totals(self) -> Totals:
        """Return equity, unrealised profit and worst margin ratio over all accounts of the session."""
        positions, accounts = self.positions.snapshot, self.accounts.snapshot
        if self._totals is None or self._totals[0] is not positions or self._totals[1] is not accounts:
            totals = totals_of(
                [row.record for row in accounts.rows],
                None if positions.read_at is None else positions.rows,
                undecodable_rows=accounts.undecodable_rows,
            )
            self._totals = positions, accounts, totals
        return self._totals[2]
