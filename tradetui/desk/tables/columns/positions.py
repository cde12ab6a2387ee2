"""Columns of the positions."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.columns.cell_format import CellFormat
from tradetui.desk.tables.columns.column import (
    Column,
    Tone,
    by_sign,
    ranked,
    text_column,
    time_column,
)
from tradetui.desk.tables.columns.figure_columns import percent_column, price_column, size_column
from tradetui.desk.tables.columns.shared import PRODUCT
from tradetui.desk.tables.number_format import LONGEST_DERIVED, UNKNOWN, number
from tradetui.wire.product_types import margin_coin

if TYPE_CHECKING:
    from tradetui.trading.positions import Position

LIQUIDATION_NEAR: Final = Decimal("0.05")


def _symbol(position: Position) -> str:
    return position.symbol


def _leg_tone(position: Position) -> Tone:
    if position.is_long is None:
        return Tone.WARN
    return Tone.LONG if position.is_long else Tone.SHORT


def _source_tone(position: Position) -> Tone:
    return Tone.WARN if str(position.source).endswith("?") else Tone.PLAIN


def _profit_column(id_: str, title: str, profit: Callable[[Position], Decimal | None]) -> Column[Position]:
    """Profit of positions of any coin: it names a coin that is no dollar, and is ordered by what it is worth."""

    def shown(position: Position, _: CellFormat) -> str:
        text = number(profit(position), signed=True, at_most=LONGEST_DERIVED)
        if text == UNKNOWN or not position.product_type.is_coin_margined:
            return text
        coin = position.margin_coin or margin_coin(position.product_type, position.symbol)
        return f"{text} {coin or 'of its coin'}"

    def worth(position: Position) -> Decimal | None:
        amount = profit(position)
        if amount is None or not position.product_type.is_coin_margined:
            return amount
        return None if position.mark is None else amount * position.mark

    return Column(id_, title, profit, shown, 11, right=True, tone=by_sign(profit), unit="margin coin", order=worth)


SUMMED_SINCE: Final[Column[Position]] = time_column("since", "Fills since", lambda position: position.summed_since)
"""Since when fills were summed to a position."""

_COLUMNS: Final[tuple[Column[Position], ...]] = (
    text_column("symbol", "Symbol", 9, lambda row: row.symbol),
    Column("leg", "Leg", lambda row: row.shown_leg, lambda row, _: row.shown_leg.upper(), 5, tone=_leg_tone),
    size_column("size", "Size", 8, lambda row: row.size, _symbol),
    price_column("entry", "Entry", 11, lambda row: row.entry, _symbol, derived=True),
    price_column("mark", "Mark", 10, lambda row: row.mark, _symbol),
    _profit_column("unrealised", "Unrealised", lambda row: row.unrealised),
    _profit_column("realised", "Realised", lambda row: row.realised),
    percent_column(
        "liquidation",
        "Liq. dist",
        9,
        lambda row: row.liquidation_distance,
        warns=lambda distance: distance < LIQUIDATION_NEAR,
        unit="of the mark",
    ),
    Column(
        "leverage",
        "Lev",
        lambda row: row.leverage,
        lambda row, _: UNKNOWN if row.leverage is None else f"{number(row.leverage)}x",
        4,
        right=True,
    ),
    text_column("marginMode", "Margin", 8, lambda row: row.margin_mode),
    Column("source", "Source", lambda row: str(row.source), lambda row, _: str(row.source), 11, tone=_source_tone),
    price_column("takeProfit", "TP", 9, lambda row: row.take_profit, _symbol),
    price_column("stopLoss", "SL", 9, lambda row: row.stop_loss, _symbol),
    PRODUCT,
)
POSITION_COLUMNS: Final[tuple[Column[Position], ...]] = ranked(
    _COLUMNS, "symbol", "leg", "unrealised", "size", "liquidation", "mark", "entry"
)
