"""The table of stops and other trigger orders: its columns, and how many are waiting and have failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.cells.cell_format import CellFormat, text_or_unknown
from tradetui.desk.tables.cells.column import (
    Column,
    Footer,
    TableView,
    Tone,
    id_column,
    narrow_time,
    number_column,
    price_column,
    ranked,
    size,
    size_column,
    text_column,
    time_column,
)
from tradetui.desk.tables.columns.shared_columns import (
    PRICE_SOURCES,
    PRODUCT,
    away_column,
    effect_column,
    worded_column,
)
from tradetui.trading.fill_terms import effect_of_trigger
from tradetui.trading.trigger_orders import TriggerState, failure_reason, trigger_kind, trigger_state

if TYPE_CHECKING:
    from tradetui.desk.tables.rows.product_row import ProductRow
    from tradetui.wire.models.futures import TriggerOrder

_DAYS_BEFORE_TODAY: Final = timedelta(days=6)  # with today, the week of headline and footer
_TONES: Final[Mapping[TriggerState | None, Tone]] = {
    TriggerState.FAILED: Tone.WARN,
    TriggerState.CANCELLED: Tone.MUTED,
    None: Tone.WARN,
}


def _symbol(row: ProductRow[TriggerOrder]) -> str:
    return row.record.symbol


def _kind(row: ProductRow[TriggerOrder], _: CellFormat) -> str:
    return text_or_unknown(trigger_kind(row.record))


def _failure(row: ProductRow[TriggerOrder]) -> str | None:
    return failure_reason(row.record) or None


def _size(row: ProductRow[TriggerOrder], cell_format: CellFormat) -> str:
    return "whole" if row.record.size == 0 else size(row.record.size, row.record.symbol, cell_format)


TRIGGER_COLUMNS: Final[tuple[Column[ProductRow[TriggerOrder]], ...]] = ranked(
    text_column("symbol", "Symbol", 8, _symbol),
    Column("planType", "Kind", 22, lambda row: row.record.plan_type, _kind),
    effect_column("does", "Does", lambda row: effect_of_trigger(row.record), lambda effect: effect.present),
    size_column("size", "Size", 6, lambda row: row.record.size, _symbol)._replace(text=_size),
    price_column("triggerPrice", "Trigger", 8, lambda row: row.record.trigger_price, _symbol),
    away_column(),
    Column(
        "planStatus",
        "Status",
        9,
        lambda row: row.record.plan_status,
        lambda row, _: text_or_unknown(trigger_state(row.record) or row.record.plan_status),
        tone=lambda row: _TONES.get(trigger_state(row.record), Tone.PLAIN),
    ),
    time_column("uTime", "Updated", lambda row: row.record.u_time),
    text_column("failureReason", "Why it failed", 15, _failure, lambda row: Tone.WARN if _failure(row) else Tone.PLAIN),
    price_column("executePrice", "Executed", 9, lambda row: row.record.execute_price, _symbol),
    worded_column("triggerType", "Trigger by", 10, lambda row: row.record.trigger_type, PRICE_SOURCES),
    number_column("callbackRatio", "Callback %", 10, lambda row: row.record.callback_ratio, unit="per cent"),
    time_column("cTime", "Created", lambda row: row.record.c_time),
    id_column("orderId", "Order", 19, lambda row: row.record.order_id),
    PRODUCT,
    kept_longest="symbol,planType,triggerPrice,planStatus,does,uTime,size,away,failureReason",
)

_PANEL_COLUMNS: Final = ranked(
    *(narrow_time(column)._replace(title="Time") if column.id == "uTime" else column for column in TRIGGER_COLUMNS),
    kept_longest="symbol,planType,triggerPrice,planStatus,uTime,does",
)

_ENDED_ONLY: Final = frozenset({"planStatus", "failureReason", "executePrice"})
_WAITING_COLUMNS: Final = ranked(
    *(column for column in _PANEL_COLUMNS if column.id not in _ENDED_ONLY),
    kept_longest="symbol,planType,triggerPrice,does,size,away,uTime",
)


def trigger_columns(rows: Iterable[ProductRow[TriggerOrder]]) -> tuple[Column[ProductRow[TriggerOrder]], ...]:
    """Return the columns of the panel; if every row is waiting, without status, failure and executed price."""
    states = {trigger_state(row.record) for row in rows}
    return _WAITING_COLUMNS if states == {TriggerState.WAITING} else _PANEL_COLUMNS


def stops_headline(rows: Iterable[ProductRow[TriggerOrder]], cell_format: CellFormat) -> str:
    """Count the waiting triggers, and the failures of the last seven days once past triggers were read."""
    triggers = [row.record for row in rows]
    return _headline(triggers, len(_failed_this_week(triggers, cell_format)))


def stops_footer(rows: Iterable[ProductRow[TriggerOrder]], cell_format: CellFormat) -> Footer:
    """Return the headline, and the reasons of the week's failures, the most common first."""
    triggers = [row.record for row in rows]
    failed = _failed_this_week(triggers, cell_format)
    headline = _headline(triggers, len(failed))
    reasons = Counter(map(failure_reason, failed)).most_common()
    why = ", ".join(reason if len(reasons) == 1 else f"{count} {reason}" for reason, count in reasons)
    return Footer(note=f"{headline}: {why}" if why else headline)


def _headline(triggers: Sequence[TriggerOrder], failed_count: int) -> str:
    waiting = sum(trigger_state(trigger) is TriggerState.WAITING for trigger in triggers)
    return f"{waiting} waiting" + ("" if waiting == len(triggers) else f" · {failed_count} failed this week")


def _failed_this_week(triggers: Iterable[TriggerOrder], cell_format: CellFormat) -> list[TriggerOrder]:
    today = cell_format.today
    return [
        trigger
        for trigger in triggers
        if trigger_state(trigger) is TriggerState.FAILED
        and trigger.u_time is not None
        and (today is None or today - _DAYS_BEFORE_TODAY <= trigger.u_time.astimezone(cell_format.zone).date() <= today)
    ]


TRIGGERS_VIEW: Final[TableView[ProductRow[TriggerOrder]]] = TableView(
    TRIGGER_COLUMNS, trigger_columns, footer=stops_footer, headline=stops_headline
)
