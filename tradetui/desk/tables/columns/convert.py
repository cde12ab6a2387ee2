"""Columns of the convert history, with the price that was really paid beside the one that was quoted."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.cells.column import (
    Column,
    id_column,
    number_column,
    text_column,
    time_column,
)
from tradetui.desk.tables.cells.figure_columns import money_column
from tradetui.desk.tables.cells.number_format import LONGEST_DERIVED, number

if TYPE_CHECKING:
    from tradetui.wire.models.convert import ConvertRecord


def _effective_price(convert: ConvertRecord) -> Decimal | None:
    """What was given for one got, or got for one given: whichever the quoted price is told as; None where unknown.

    The interface does not say which way round its price is, so the one nearer to it is taken.
    """
    gave, got, quoted = convert.from_coin_size, convert.to_coin_size, convert.cnvt_price
    if not gave or not got:
        return None
    given, taken = gave / got, got / gave
    if not quoted:
        return given
    return given if max(given / quoted, quoted / given) <= max(taken / quoted, quoted / taken) else taken


CONVERT_COLUMNS: Final[tuple[Column[ConvertRecord], ...]] = (
    time_column("ts", "Time", lambda row: row.ts),
    money_column(
        "fromCoinSize", "Gave", 12, lambda row: row.from_coin_size, lambda row: row.from_coin, unit="coin given"
    ),
    text_column("fromCoin", "of", 5, lambda row: row.from_coin),
    money_column("toCoinSize", "Got", 12, lambda row: row.to_coin_size, lambda row: row.to_coin, unit="coin got"),
    text_column("toCoin", "of", 5, lambda row: row.to_coin),
    Column(
        "effectivePrice",
        "Effective",
        _effective_price,
        lambda row, _: number(_effective_price(row), at_most=LONGEST_DERIVED),
        13,
        right=True,
        unit="of the one coin for one of the other, as quoted",
    ),
    number_column("fee", "Fee", 8, lambda row: row.fee),
    number_column("cnvtPrice", "Quoted", 14, lambda row: row.cnvt_price),
    id_column("id", "Id", 19, lambda row: row.id),
)
