"""Columns of the trigger orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.columns.column import Column, Tone, id_column, number_column, text_column, time_column
from tradetui.desk.tables.columns.shared import PRODUCT, effect_column
from tradetui.desk.tables.number_format import text_as_given
from tradetui.trading.trade_effect import effect_of_trigger

if TYPE_CHECKING:
    from tradetui.desk.tables.product_row import ProductRow
    from tradetui.wire.models.futures import TriggerOrder

_STATUS_TONE: Final = {"executed": Tone.GAIN, "fail_execute": Tone.LOSS, "fail_trigger": Tone.LOSS, "live": Tone.PLAIN}

TRIGGER_COLUMNS: Final[tuple[Column[ProductRow[TriggerOrder]], ...]] = (
    time_column("uTime", "Updated", lambda row: row.record.u_time),
    text_column("symbol", "Symbol", 10, lambda row: row.record.symbol),
    text_column("planType", "Plan", 11, lambda row: row.record.plan_type),
    Column(
        "planStatus",
        "Status",
        lambda row: row.record.plan_status,
        lambda row, _: text_as_given(row.record.plan_status),
        12,
        tone=lambda row: _STATUS_TONE.get(str(row.record.plan_status).lower(), Tone.MUTED),
    ),
    effect_column(
        "does",
        "Does",
        lambda row: effect_of_trigger(row.record),
        lambda effect: effect.present,
        lambda row: row.record.side,
        lambda row: row.record.trade_side,
    ),
    number_column("triggerPrice", "Trigger", 11, lambda row: row.record.trigger_price, unit="quote coin"),
    number_column("size", "Size", 10, lambda row: row.record.size, unit="base coin"),
    number_column("executePrice", "Executed", 11, lambda row: row.record.execute_price, unit="quote coin"),
    text_column("triggerType", "By", 10, lambda row: row.record.trigger_type),
    number_column("callbackRatio", "Callback", 8, lambda row: row.record.callback_ratio, unit="per cent"),
    time_column("cTime", "Created", lambda row: row.record.c_time),
    id_column("orderId", "Order", 19, lambda row: row.record.order_id),
    PRODUCT,
)
