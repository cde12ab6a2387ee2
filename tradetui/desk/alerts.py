"""What is worth a bell: a new fill, a trigger order that ended, a link lost or back, a reversal that nobody awaited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from tradetui.desk.feeds.feed import Feed
from tradetui.desk.feeds.health import LinkState
from tradetui.desk.reversal.progress import Progress, Sent, Stage
from tradetui.desk.tables.product_row import BEGINNING, ProductRow
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
    """One event, as a sentence; `row` is the record it is about."""

    kind: AlertKind
    sentence: str
    row: Any = None


_LOST = frozenset({LinkState.DOWN, LinkState.REFUSED})


class AlertWatch:
    """Watches feeds and link; what was there when the session began is not news."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[datetime, str]] = {}
        self._listeners: list[Callable[[Alert], None]] = []
        self._was = LinkState.STARTING
        self._left_open: set[str] = set()

    def subscribe(self, listener: Callable[[Alert], None]) -> Callable[[], None]:
        """Call the listener for every alert; returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def feed_changed(self, feed: Feed) -> None:
        """Look at a feed that has something new."""
        snapshot = feed.snapshot
        if feed.name not in ("fills", "triggers") or snapshot.read_at is None:
            return
        rows = [row for row in snapshot.rows if isinstance(row, ProductRow)]
        before = self._newest.get(feed.name)
        if rows:
            self._newest[feed.name] = max(rows[0].time_order, before or rows[0].time_order)
        elif before is None:
            self._newest[feed.name] = (BEGINNING, "")
        if before is None:
            return
        for row in rows:
            if row.time_order <= before:
                break
            self._tell(Alert(*_said(feed.name, row), row))

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


def _said(name: str, row: ProductRow) -> tuple[AlertKind, str]:
    if name == "fills":
        what = f"{row.side} {row.trade_side or ''}".strip()
        return (
            AlertKind.FILL,
            f"Filled: {row.symbol} {what} {trimmed_digits(row.base_volume)} at {trimmed_digits(row.price)}",
        )
    return (
        AlertKind.TRIGGER,
        f"Trigger {row.plan_status or 'ended'}: {row.symbol} {row.plan_type or ''} {row.side or ''}",
    )
