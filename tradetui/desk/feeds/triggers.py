"""Reads past and waiting trigger orders: three plan types of every product type, merged.

The history lists a plan by its creation time, but only after its end. So a plan made last week and cancelled now
appears below rows that were read long ago. Therefore the newest page of every plan type is read each time, and older
pages are swept repeatedly, one a poll. If the exchange also reports waiting plans, one that leaves that list has just
ended, and is looked up by its id.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from tradetui.desk.feeds.archive_writing import UndecodableRows, WriteBuffer, refuse_unreadable
from tradetui.desk.feeds.polling.feed import Reading, Snapshot
from tradetui.desk.feeds.polling.multi_product import exchange_errors, gather_reads, left_out_sentence, symbols_of
from tradetui.desk.tables.rows.product_row import MarkedRow, ProductRow, newest_first
from tradetui.exchange.client import ExchangeReader
from tradetui.exchange.errors import EndpointMissing, ExchangeError, PermissionRefused, UnreadableReply
from tradetui.storage.disk_thread import Disk
from tradetui.wire.endpoints.reply import Reply
from tradetui.wire.enums import QUERIED_PLAN_TYPES, PlanType
from tradetui.wire.models.futures import LiveTriggersRequest, TriggerHistoryRequest, TriggerOrder
from tradetui.wire.product_types import ProductType

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

_KEPT: Final = 400
"""Past triggers kept in memory; older ones are in the archive."""
HIDDEN_READS: Final = 4
"""While the history is hidden, one of this many reads of waiting plans also reads the history, the first included."""
LOOKED_UP_AT_ONCE: Final = 12
MOST_LOOK_UPS: Final = 6
"""Number of polls in which an ended plan is looked up; a plan may never appear in the history."""


@dataclass(slots=True)
class _PlanKind:
    """One plan type of one product type: its waiting plans, and the position of the sweep through older pages."""

    product_type: ProductType
    plan_type: PlanType
    waiting: Sequence[ProductRow[TriggerOrder]] = ()
    undecodable_waiting: int = 0
    sweep_cursor: str | None = None
    is_swept: bool = False


@dataclass(slots=True)
class _EndedPlan:
    kind: _PlanKind
    order_id: str
    look_ups: int = 0


class TriggersReader:
    """Reads the history of trigger orders, and the waiting ones if the exchange reports them."""

    def __init__(self, client: ExchangeReader, product_types: Sequence[ProductType], disk: Disk) -> None:
        self._client = client
        self._disk = disk
        self._write_buffer = WriteBuffer(TriggerOrder, disk)
        self._product_types = tuple(product_types)
        self._kinds = [
            _PlanKind(product_type, plan_type) for product_type in product_types for plan_type in QUERIED_PLAN_TYPES
        ]
        self._rows: dict[str, ProductRow[TriggerOrder]] = {}
        self._rows_in_order: list[ProductRow[TriggerOrder]] | None = None
        self._waiting_in_order: tuple[ProductRow[TriggerOrder], ...] | None = None
        self._ended: deque[_EndedPlan] = deque(maxlen=200)
        self._undecodable_rows = UndecodableRows()
        self._left_out: set[str] = set()
        self._server_ms: int | None = None
        self._history_turn = 0
        self._reads = 0
        self.is_hidden = False
        """Whether the history is out of view; then only waiting plans are read each time."""
        self.reports_waiting = False

    @property
    def waiting(self) -> tuple[ProductRow[TriggerOrder], ...] | None:
        """The waiting trigger orders, or None if the exchange does not report them."""
        if not self.reports_waiting:
            return None
        if self._waiting_in_order is None:
            self._waiting_in_order = tuple(newest_first(row for kind in self._kinds for row in kind.waiting))
        return self._waiting_in_order

    @property
    def undecodable_waiting(self) -> int:
        """Number of unreadable waiting plans; if there are any, a position without a stop may have one."""
        return sum(kind.undecodable_waiting for kind in self._kinds)

    async def attach(self, archive: Archive) -> None:
        for product_type in self._product_types:
            for row in await self._disk.run(archive.rows.newest, TriggerOrder, product_type, _KEPT):
                self._rows.setdefault(row.row_id, row)
        self._rows_in_order = None
        await self._write_buffer.open(archive)
        self._trim()

    async def read(self) -> Reading[ProductRow[TriggerOrder]]:
        self._reads += 1
        history_reads: list[Awaitable[None]] = []
        if not self.is_hidden or self._reads % HIDDEN_READS == 1:
            self._history_turn += 1
            self._server_ms = None
            history_reads = [self._read_history(index, kind) for index, kind in enumerate(self._kinds)]
        results = await gather_reads([self._read_live(), *history_reads])
        errors = exchange_errors(results)
        if not errors:
            await self._look_up_ended()
        if self._rows_in_order is None:
            self._rows_in_order = newest_first(self._rows.values())
        rows = self._rows_in_order
        if errors and (not rows or len(errors) == len(results)):
            raise errors[0]
        note = self._write_buffer.trouble or left_out_sentence(
            self._product_types, self._left_out, symbols_of(row.record for row in rows)
        )
        undecodable_rows = len(self._undecodable_rows) + self.undecodable_waiting
        return Reading(rows, undecodable_rows, note, errors[0] if errors else None, self._server_ms)

    async def _read_history(self, index: int, kind: _PlanKind) -> None:
        request = TriggerHistoryRequest(product_type=kind.product_type, plan_type=kind.plan_type)
        reply = await self._client.read(request)
        await self._keep(kind, reply)
        second_page = reply.cursor if reply.count else None
        kind.is_swept = kind.is_swept or second_page is None
        # If waiting plans are known, the sweep only has to find plans that ended unseen: one plan type a poll.
        has_turn = self._history_turn % len(self._kinds) == index
        due = has_turn or not kind.is_swept or not self.reports_waiting
        cursor = kind.sweep_cursor or second_page
        if cursor is None or not due:
            return
        reply = await self._client.read(request.changed(id_less_than=cursor))
        await self._keep(kind, reply)
        kind.sweep_cursor = reply.cursor if reply.count and reply.cursor != cursor else None
        kind.is_swept = kind.is_swept or kind.sweep_cursor is None

    async def _read_live(self) -> None:
        if (unreadable := await self.read_waiting()) is not None:
            raise unreadable

    async def read_waiting(self) -> UnreadableReply | None:
        """Read waiting plans; return the error if a plan type has no readable row. Its last good rows stay."""
        unreadable: UnreadableReply | None = None
        try:
            for kind in self._kinds:
                problem = await self._read_waiting(kind)
                unreadable = unreadable or problem
        except (EndpointMissing, PermissionRefused):
            self.reports_waiting, self._waiting_in_order = False, None
            for kind in self._kinds:
                kind.waiting, kind.undecodable_waiting = (), 0
            return None
        self.reports_waiting = True
        return unreadable

    async def _read_waiting(self, kind: _PlanKind) -> UnreadableReply | None:
        """Read the waiting plans; if a page has no readable row, keep the last good rows and return the error."""
        request = LiveTriggersRequest(product_type=kind.product_type, plan_type=kind.plan_type)
        waiting: list[ProductRow[TriggerOrder]] = []
        undecodable_rows = 0
        async for reply in self._client.pages(request):
            undecodable_rows += len(reply.undecodable_rows)
            try:
                refuse_unreadable(reply)
            except UnreadableReply as problem:
                kind.undecodable_waiting = undecodable_rows
                return problem
            waiting += (ProductRow(kind.product_type, row) for row in reply.rows)
        waiting_ids = {row.row_id for row in waiting}
        for row in kind.waiting:
            if row.row_id not in waiting_ids and row.row_id not in self._rows:
                self._ended.append(_EndedPlan(kind, row.record.row_id))
        kind.waiting, kind.undecodable_waiting = waiting, undecodable_rows
        self._waiting_in_order = None
        return None

    async def _look_up_ended(self) -> None:
        for _ in range(min(LOOKED_UP_AT_ONCE, len(self._ended))):
            ended = self._ended.popleft()
            kind = ended.kind
            if f"{kind.product_type}|{ended.order_id}" in self._rows:
                continue
            ended.look_ups += 1
            if ended.look_ups < MOST_LOOK_UPS:
                self._ended.append(ended)
            request = TriggerHistoryRequest(
                product_type=kind.product_type, plan_type=kind.plan_type, order_id=ended.order_id
            )
            try:
                await self._keep(kind, await self._client.read(request))
            except ExchangeError:
                return  # it stays on the list, and the sweep finds it too

    async def _keep(self, kind: _PlanKind, reply: Reply[TriggerOrder]) -> None:
        self._undecodable_rows.add(reply.undecodable_rows)
        self._left_out.update(reply.left_out)
        if reply.request_time is not None:
            self._server_ms = min(self._server_ms or reply.request_time, reply.request_time)
        rows = [ProductRow(kind.product_type, row) for row in reply.rows]
        changed = [row for row in rows if self._rows.get(row.row_id) != row]
        if not changed:
            return
        await self._write_buffer.put(changed)
        self._rows.update((row.row_id, row) for row in changed)
        self._rows_in_order = None
        self._trim()

    def _trim(self) -> None:
        if len(self._rows) > _KEPT:
            self._rows = {row.row_id: row for row in newest_first(self._rows.values())[:_KEPT]}


Stops = Snapshot[ProductRow[TriggerOrder]]


class StopViews:
    """Two snapshots of stops and other trigger orders, rebuilt only if their rows changed.

    `mark_of` gives a symbol's mark price, from which the distance of a waiting stop is measured.
    """

    def __init__(self, mark_of: Callable[[ProductType, str], Decimal | None] = lambda *_: None) -> None:
        self._mark_of = mark_of
        self.waiting: Stops = Snapshot()
        """The waiting ones, newest first."""
        self.all: Stops = Snapshot()
        """The waiting ones, then the ended ones, each newest first."""
        self._made_of = (-1, -1)

    def update(self, ended: Stops, waiting: Sequence[ProductRow[TriggerOrder]]) -> None:
        marked = tuple(
            MarkedRow(row.product_type, row.record, self._mark_of(row.product_type, row.record.symbol))
            for row in waiting
        )
        if marked == self.waiting.rows:
            self.waiting = replace(self.waiting, read_at=ended.read_at)
        else:
            self.waiting = replace(Snapshot.of(marked, self.waiting.generation + 1), read_at=ended.read_at)
        made_of = (ended.generation, self.waiting.generation)
        if made_of != self._made_of:
            self._made_of = made_of
            # If a plan is in both, the row of the history is newer and says more.
            only_waiting = tuple(row for row in marked if row.row_id not in ended.index)
            self.all = Snapshot.of(only_waiting + ended.rows, self.all.generation + 1)
        self.all = self.all.read_like(ended)
