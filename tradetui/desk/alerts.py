"""What is worth a bell: a new fill, a trigger order that ended, a link lost or back, a reversal that nobody awaited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import takewhile

from tradetui.desk.feeds.health import LinkState
from tradetui.desk.feeds.snapshot import Snapshot
from tradetui.desk.reversal.progress import Progress, Sent, Stage
from tradetui.desk.tables.product_row import BEGINNING, ProductRow, RecordT
from tradetui.wire.models.futures import FuturesFill, TriggerOrder
from tradetui.wire.text.decimal_text import trimmed_digits


class AlertKind(StrEnum):
    """What happened."""

    FILL = "fill"
    TRIGGER = "trigger"
    LINK_LOST = "link lost"
    LINK_BACK = "link back"
    REVERSAL = "reversal"


@dataclass(frozen=True, slots=True)
class Alert:
    """One event, as a sentence."""

    kind: AlertKind
    sentence: str


_LOST = frozenset({LinkState.DOWN, LinkState.REFUSED})


class AlertWatch:
    """Watches feeds and link; what was there when the session began is not news."""

    def __init__(self) -> None:
        self._newest: dict[AlertKind, tuple[datetime, str]] = {}
        self._listeners: list[Callable[[Alert], None]] = []
        self._was = LinkState.STARTING
        self._left_open: set[str] = set()

    def subscribe(self, listener: Callable[[Alert], None]) -> Callable[[], None]:
        """Call the listener for every alert; returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def fills_changed(self, snapshot: Snapshot[ProductRow[FuturesFill]]) -> None:
        """Look at the fills."""
        for fill in self._news(AlertKind.FILL, snapshot):
            side = f"{fill.side} {fill.trade_side or ''}".strip()
            size, price = trimmed_digits(fill.base_volume), trimmed_digits(fill.price)
            self._tell(Alert(AlertKind.FILL, f"Filled: {fill.symbol} {side} {size} at {price}"))

    def triggers_changed(self, snapshot: Snapshot[ProductRow[TriggerOrder]]) -> None:
        """Look at the trigger orders that ended."""
        for order in self._news(AlertKind.TRIGGER, snapshot):
            plan = f"{order.symbol} {order.plan_type or ''} {order.side or ''}"
            self._tell(Alert(AlertKind.TRIGGER, f"Trigger {order.plan_status or 'ended'}: {plan}"))

    def _news(self, kind: AlertKind, snapshot: Snapshot[ProductRow[RecordT]]) -> list[RecordT]:
        """Records newer than any before, newest first; none at the first good read."""
        if snapshot.read_at is None:
            return []
        rows, before = snapshot.rows, self._newest.get(kind)
        if rows:
            self._newest[kind] = max(rows[0].time_order, before or rows[0].time_order)
        elif before is None:
            self._newest[kind] = (BEGINNING, "")
        if before is None:
            return []
        newest = before
        return [row.record for row in takewhile(lambda row: row.time_order > newest, rows)]

    def link_is(self, state: LinkState, sentence: str) -> None:
        """Look at the link."""
        lost, was_lost = state in _LOST, self._was in _LOST
        if lost and not was_lost:
            self._tell(Alert(AlertKind.LINK_LOST, sentence))
        elif was_lost and not lost:
            self._tell(Alert(AlertKind.LINK_BACK, "The exchange answers again"))
        self._was = state

    def reversal_went_on(self, sent: Sent, progress: Progress) -> None:
        """Look at a reversal: one corrected after it was settled, or settled after it was left open, is news."""
        if progress.stage in (Stage.LEFT_OPEN, Stage.CORRECTED):
            self._left_open.add(sent.intent)
        if progress.stage is Stage.CORRECTED:
            locked = f"{sent.plan.wish.symbol} is locked until it is settled anew; J shows it"
            self._tell(Alert(AlertKind.REVERSAL, f"{sent.title}: {progress.sentence}; {locked}"))
        elif progress.stage is Stage.ENDED and sent.intent in self._left_open:
            self._left_open.discard(sent.intent)
            self._tell(Alert(AlertKind.REVERSAL, f"{sent.title}: {progress.sentence}"))

    def _tell(self, alert: Alert) -> None:
        for listener in tuple(self._listeners):
            listener(alert)
