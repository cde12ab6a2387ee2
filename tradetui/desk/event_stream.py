"""Follows a desk: the rows of its feeds and the entries of other sessions in archive and journals, as one stream."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import ExitStack, suppress
from typing import Final

from tradetui.desk.desk import Desk
from tradetui.desk.events.detector import OrdersLook
from tradetui.desk.events.event_log import (
    AccountEvent,
    EventId,
    EventKind,
    EventLog,
    JournalSteps,
    OrderState,
)
from tradetui.desk.feeds.polling.feed import Feed, Snapshot
from tradetui.desk.feeds.polling.session_health import LINK_BACK, LOST_LINKS, Health, LinkState, health_of
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.rows.row_source import FeedRow
from tradetui.desk.tables.table import TableName
from tradetui.desk.trading_session import journal_location
from tradetui.wire.models.futures import PendingOrder

ENTERED_EVERY_S: Final = 1.0
"""How often the archive and the journals are checked for entries of other sessions."""
OVERLAP_MS: Final = 60_000
_FEEDS: Final[Mapping[EventKind, frozenset[str]]] = {
    EventKind.FILL: frozenset({TableName.FILLS, "contracts"}),
    EventKind.ORDER: frozenset({TableName.ORDERS, TableName.FILLS, "contracts"}),
    EventKind.TRIGGER: frozenset({TableName.TRIGGERS, "contracts"}),
    EventKind.OUTCOME: frozenset({TableName.ACCOUNTS}),
}
"""The feeds that are polled for events of a kind, by name; alerts need all feeds."""


class NoLog(Exception):
    """Events cannot be kept, so none could be resumed; the message is why."""


class NotAllowed(Exception):
    """The exchange has refused everything since the first call; the message is why, and what to do."""


class AccountEvents:
    """The events of a desk's account from a point on.

    The desk polls only the feeds that the kinds need. Each sentence given to `notice` is about the stream itself: a
    link that is lost or back, or a log that begins anew.
    """

    def __init__(
        self,
        desk: Desk,
        kinds: Collection[EventKind],
        since: EventId | int | None,
        notice: Callable[[str], None],
    ) -> None:
        """Prepare the stream; `since` is an event, a time (Unix ms), or None for now."""
        self._desk = desk
        self._kinds = frozenset(kinds)
        self._since = since
        self._notice = notice
        names = None if EventKind.ALERT in kinds else frozenset().union(*(_FEEDS[kind] for kind in kinds))
        self._feed_names = names
        self._feeds = [feed for name, feed in desk.feeds.items() if names is None or name in names]
        self._changed = asyncio.Event()
        self._orders: Snapshot[ProductRow[PendingOrder]] | None = None
        self._log: EventLog | None = None
        self._number = 0
        self._since_ms = 0
        self._first_look: tuple[int, int] | None = None
        """The log's newest number after the first look at the orders, and the exchange's time then (Unix ms)."""
        self._link_lost = False
        self._archive_notice = ""

    @property
    def health(self) -> Health:
        return health_of(self._desk.client.connection_status, self._feeds, self._desk.clock.monotonic())

    async def follow(self) -> AsyncGenerator[AccountEvent, None]:
        """Poll, and yield every event once it is in the log; never ends by itself.

        Raises:
            NoLog: the archive cannot be used.
            NotAllowed: every read was refused since the start.
        """
        with ExitStack() as subscriptions:
            for feed in self._feeds:
                subscriptions.callback(feed.subscribe(self._feed_changed))
            self._desk.start(self._feed_names)
            while True:
                self._changed.clear()
                if self._refused_from_the_first(health := self.health):
                    raise NotAllowed(f"{health.sentence}. {health.remedy}".strip())
                for event in await self._new_events():
                    yield event
                with suppress(TimeoutError):
                    async with asyncio.timeout(ENTERED_EVERY_S):
                        await self._changed.wait()

    def _feed_changed(self, feed: Feed[FeedRow]) -> None:
        self._changed.set()
        if feed is self._desk.orders and feed.snapshot.error is None:
            self._orders = self._desk.orders.snapshot
        if feed is self._desk.triggers and self._log is not None:
            self._log.triggers_changed()
        health = self.health
        lost = health.state in LOST_LINKS
        if lost is not self._link_lost and not self._refused_from_the_first(health):
            self._link_lost = lost
            if lost:
                self._notice(f"{LOST_LINKS[health.state]}: {health.sentence}. {health.remedy}".strip())
            else:
                self._notice(f"{LINK_BACK}.")

    def _refused_from_the_first(self, health: Health) -> bool:
        """Whether waiting cannot help, as with a key that was never accepted."""
        never_read = self._desk.account is None and all(feed.snapshot.read_at is None for feed in self._feeds)
        return never_read and health.state is LinkState.REFUSED

    async def _new_events(self) -> list[AccountEvent]:
        try:
            if self._log is None:
                await self._open()
            if self._log is None:
                return []
            await self._desk.disk.run(self._log.enter)
            if EventKind.ORDER in self._kinds:
                await self._look_at_orders(self._log)
            events = await self._desk.disk.run(self._log.after, self._number)
        except (sqlite3.Error, OSError) as problem:
            self._notice_archive(f"Events wait: the archive cannot be written or a journal not be read ({problem}).")
            return []
        self._notice_archive("")
        if events:
            self._number = events[-1].id.number
            self._changed.set()  # there may be more of them
        return [event for event in events if self._is_selected(event)]

    async def _open(self) -> None:
        """Open the log once the account is known and its archive is open."""
        desk, archive = self._desk, self._desk.archive
        account = desk.account
        if archive is None or account is None:
            return
        if desk.storage.notice:
            self._notice(desk.storage.notice)
            desk.storage.notice = ""
        if archive.file is None:
            raise NoLog(desk.storage.trouble or "without a data directory nothing outlives the session")
        now_ms, journals = desk.client.server_clock.now_ms, JournalSteps(journal_location(desk.settings, account))
        log = await desk.disk.run(EventLog, archive, now_ms, journals)
        since = self._since
        newest = await desk.disk.run(log.newest_number)
        # An archive restored from a copy gives numbers a second time.
        if isinstance(since, EventId) and since.log == log.name and since.number <= newest:
            self._number = since.number
        elif since is None:
            self._since_ms = now_ms
            self._number = newest
        else:
            # The later of two events may have the earlier time: one minute more loses none.
            self._since_ms = since if isinstance(since, int) else since.time_ms - OVERLAP_MS
            if isinstance(since, EventId):
                self._notice(
                    "The archive does not know that event. Events follow from a minute before it on, as far as the "
                    "exchange still keeps them; those of that minute may come twice."
                )
            await desk.disk.run(log.reach_back, self._since_ms)
        self._log = log

    async def _look_at_orders(self, log: EventLog) -> None:
        snapshot, self._orders = self._orders, None
        if snapshot is None or snapshot.server_ms is None:
            return
        at_s, fills_read_s = snapshot.server_ms / 1_000, None
        if snapshot.read_at is not None and (read_at_s := self._desk.fills.snapshot.read_at) is not None:
            fills_read_s = at_s + read_at_s - snapshot.read_at
        is_whole = not snapshot.undecodable_rows
        for product_type in self._desk.settings.product_types:
            orders = {row.record.order_id: row.record for row in snapshot.rows if row.product_type is product_type}
            look = OrdersLook(orders, at_s, fills_read_s, is_whole=is_whole)
            await self._desk.disk.run(log.look_at_orders, product_type, look)
        if self._first_look is None:
            self._first_look = await self._desk.disk.run(log.newest_number), snapshot.server_ms

    def _is_selected(self, event: AccountEvent) -> bool:
        """Whether an event is of these kinds and product types, and not before the start of the stream."""
        if event.kind not in self._kinds:
            return False
        # The start is a number of the log; only fills and triggers may be entered long after their own time.
        is_dated = self._since is not None or event.kind in (EventKind.FILL, EventKind.TRIGGER)
        if is_dated and event.time_ms < self._since_ms:
            return False
        if event.product_type is None:
            return True
        if event.kind is EventKind.ORDER and self._since is None:
            # A change before the first look is no news to a reader who starts now.
            newest, looked_ms = self._first_look or (0, 0)
            has_ended = event.details["state"] in (OrderState.FILLED, OrderState.GONE)
            if event.id.number <= newest or (has_ended and event.time_ms <= looked_ms):
                return False
        return event.product_type in self._desk.settings.product_types

    def _notice_archive(self, sentence: str) -> None:
        if sentence and sentence != self._archive_notice:
            self._notice(sentence)
        self._archive_notice = sentence
