"""When bills are read: the newest of every product type twice a minute, the past and positions that ended between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tradetui.desk.feeds.bills.bill_history import BillHistory
from tradetui.desk.feeds.bills.closed_positions import ClosedPositionHistory
from tradetui.desk.feeds.polling.feed import Reading
from tradetui.desk.feeds.polling.multi_product import gather_reads
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.clock import Clock
from tradetui.exchange.errors import ExchangeError
from tradetui.wire.models.futures_extended import FuturesBill
from tradetui.wire.product_types import ProductType

BILLS_EVERY_S: Final = 2.0
NEWEST_EVERY_S: Final = 30.0
BILL_PAGES_A_POLL: Final = 2


class BillsReader:
    """Reads bills into the archive; no row of them is shown."""

    def __init__(
        self,
        client: ExchangeReader,
        histories: Mapping[ProductType, BillHistory],
        clock: Clock,
        closed_positions: Sequence[ClosedPositionHistory] = (),
    ) -> None:
        self._client = client
        self._histories = histories
        self._closed_positions = closed_positions
        self._clock = clock
        self._newest_due = 0.0

    async def read(self) -> Reading[ProductRow[FuturesBill]]:
        """Read what is due; raises `ExchangeError` where nothing could be read."""
        now = self._clock.monotonic()
        histories = [history for history in self._histories.values() if history.attached]
        if not histories:
            return Reading(())
        if now >= self._newest_due:
            self._newest_due = now + NEWEST_EVERY_S
            self._client.capabilities.check_account()
            results = await gather_reads([history.read_newest(now) for history in histories])
            errors = [result for result in results if isinstance(result, BaseException)]
            for error in errors:
                if not isinstance(error, ExchangeError) or len(errors) == len(histories):
                    raise error
            return Reading(())
        for _ in range(BILL_PAGES_A_POLL):
            behind = [history for history in histories if history.has_gap(now)]
            if behind:
                await behind[0].read_gap(now)
        for positions in self._closed_positions:
            if positions.is_due(now):
                await positions.read_page(now)
                break
        return Reading(())
