"""The desk, which is the running session of an account: one is open at a time, the next once it has stopped."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradetui.desk.alerts.alert_event import Alert
    from tradetui.desk.desk import Desk
    from tradetui.desk.feeds.polling.feed import Feed
    from tradetui.desk.tables.rows.row_source import FeedRow
    from tradetui.ui.alerts.alert_notices import AlertNotices

_log = logging.getLogger(__name__)


class OpenDesk:
    """Builds and holds a desk, and what shows its alerts; both are None while no desk is open."""

    def __init__(self) -> None:
        self.desk: Desk | None = None
        self.alert_notices: AlertNotices | None = None
        self._unsubscribers: tuple[Callable[[], None], ...] = ()
        self._stopping: asyncio.Future[None] | None = None
        self._left_behind: set[asyncio.Future[None]] = set()

    async def build(self, build: Callable[[], Desk]) -> Desk:
        """Build a desk in a thread; if the caller is cancelled meanwhile, it is stopped as soon as it is there.

        Nobody waits for that: what builds a desk may itself wait for somebody, as a command that asks for a password.
        """
        building = asyncio.ensure_future(asyncio.to_thread(build))
        try:
            return await asyncio.shield(building)
        except asyncio.CancelledError:
            left_behind = asyncio.ensure_future(_stop_once_built(building))
            self._left_behind.add(left_behind)
            left_behind.add_done_callback(self._left_behind.discard)
            raise

    def follow(
        self,
        desk: Desk,
        make_notices: Callable[[Desk], AlertNotices],
        *,
        published: Callable[[Feed[FeedRow]], None],
        alerted: Callable[[Alert], None],
    ) -> None:
        """Hold an opened desk, and call back for everything it publishes and alerts until it is closed."""
        self.desk = desk
        self.alert_notices = alert_notices = make_notices(desk)
        delivery = desk.alerts.delivery
        delivery.desktop = alert_notices.show_on_desktop
        self._unsubscribers = (
            desk.subscribe(published),
            desk.alerts.subscribe(alerted),
            delivery.subscribe_failures(alert_notices.say_failure),
        )

    async def close(self) -> None:
        """Drop the desk, and wait until it, or one that an earlier call began to stop, has stopped."""
        for unsubscribe in self._unsubscribers:
            unsubscribe()
        self._unsubscribers = ()
        self.alert_notices = None
        if self.desk is not None:
            desk, self.desk = self.desk, None
            self._stopping = asyncio.ensure_future(desk.stop())
        if self._stopping is not None and not self._stopping.done():
            # The desk goes on stopping if the caller is cancelled: half stopped it would keep its files open.
            await asyncio.shield(self._stopping)


async def _stop_once_built(building: asyncio.Future[Desk]) -> None:
    try:
        desk = await building
    except Exception:
        return  # there is nothing to stop, and nobody waits for the reason
    try:
        await desk.stop()
    except Exception:
        _log.exception("a desk that nobody waited for could not be stopped")
