"""Columns that records of several kinds have: side, product type, what a fill cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Column, Tone
from tradetui.desk.tables.cells.figure_columns import fee, percent_column
from tradetui.desk.tables.cells.number_format import text_or_unknown
from tradetui.desk.tables.rows.filled_order import fees_by_coin
from tradetui.desk.tables.rows.row_source import FeedRow, RowT
from tradetui.wire.enums import PositionSide

if TYPE_CHECKING:
    from tradetui.desk.tables.rows.product_row import ProductRow, RecordT
    from tradetui.trading.trade_effect import TradeEffect
    from tradetui.wire.models.shared_fields import FeeDetail

_SIDE_TONE: Final = {"buy": Tone.LONG, "sell": Tone.SHORT}


PRODUCT: Final[Column[FeedRow]] = Column(
    "productType",
    "Type",
    5,
    lambda row: str(row.product_type),
    lambda row, _: str(row.product_type).removesuffix("-FUTURES"),
)


def quote_coin(row: FeedRow) -> str:
    """The coin of prices: a dollar coin, whatever the margin is in."""
    return row.product_type.settlement_coin or "USD"


def side_column(side: Callable[[RowT], str | None]) -> Column[RowT]:
    """BUY or SELL: what buys in the tone of a long, what sells in that of a short, an unknown side in neither."""
    return Column(
        "side",
        "Side",
        4,
        side,
        lambda row, _: text_or_unknown(side(row)).upper(),
        tone=lambda row: _SIDE_TONE.get(str(side(row)).lower(), Tone.PLAIN),
    )


PRICE_SOURCES: Final[Mapping[str, str]] = {"fill_price": "last price", "mark_price": "mark price"}
"""The names of the price that a trigger waits for."""


def worded_column(
    id_: str, title: str, width: int, value: Callable[[RowT], str | None], wording: Mapping[str, str]
) -> Column[RowT]:
    """A word of the interface as traders say it; exported as it came, and shown so where it has no other wording."""

    def shown(row: RowT) -> str:
        word = value(row)
        return text_or_unknown(wording.get((word or "").lower(), word))

    return Column(id_, title, width, value, lambda row, _: shown(row))


class _SidedRecord(Protocol):
    @property
    def side(self) -> str | None: ...

    @property
    def trade_side(self) -> str | None: ...


class _SidedRow(Protocol):
    @property
    def record(self) -> _SidedRecord: ...


SidedRowT = TypeVar("SidedRowT", bound=_SidedRow)


def effect_column(
    id_: str, title: str, effect: Callable[[SidedRowT], TradeEffect | None], phrase: Callable[[TradeEffect], str]
) -> Column[SidedRowT]:
    """The effect of an order or a fill, `opens LONG`; its side and trade side as received where they are not known."""

    def shown(row: SidedRowT) -> str:
        known_effect = effect(row)
        if known_effect is not None:
            return phrase(known_effect)
        return text_or_unknown(f"{row.record.side or ''} {row.record.trade_side or ''}".strip())

    def tone(row: SidedRowT) -> Tone:
        known_effect = effect(row)
        if known_effect is None:
            return Tone.WARN
        is_long = known_effect.buys if known_effect.leg is None else known_effect.leg is PositionSide.LONG
        return Tone.LONG if is_long else Tone.SHORT

    sources = (("side", lambda row: row.record.side), ("tradeSide", lambda row: row.record.trade_side))
    return Column(id_, title, 12, shown, lambda row, _: shown(row), tone=tone, sources=sources)


def away_column() -> Column[ProductRow[RecordT]]:
    """How far the mark is from the price that an order or a stop waits for, in per cent; ordered by nearness."""

    def distance(row: ProductRow[RecordT]) -> Decimal | None:
        # Whoever has rows has loaded their module; the columns are made before.
        from tradetui.desk.tables.rows.product_row import MarkedRow

        return row.distance if isinstance(row, MarkedRow) else None

    def nearness(row: ProductRow[RecordT]) -> Decimal | None:
        part = distance(row)
        return None if part is None else abs(part)

    return percent_column("away", "Away %", 7, distance, signed=True, order=nearness, unit="from the mark to the price")


def fee_column(fee_detail: Callable[[RowT], Sequence[FeeDetail]]) -> Column[RowT]:
    """The sum of a fill's fees; unknown where there is none, one after the other where they are in different coins."""

    def total(row: RowT) -> Decimal | None:
        amounts = fees_by_coin(fee_detail(row))
        return next(iter(amounts.values())) if len(amounts) == 1 else None

    def shown(row: RowT, cell_format: CellFormat) -> str:
        amounts = fees_by_coin(fee_detail(row))
        if len(amounts) > 1:
            return ", ".join(f"{fee(amount, coin, cell_format)} {coin}".strip() for coin, amount in amounts.items())
        return fee(total(row), next(iter(amounts), None), cell_format)

    return Column("fee", "Fee", 11, total, shown, right=True, unit="fee coin")


def fee_coin_column(fee_detail: Callable[[RowT], Sequence[FeeDetail]]) -> Column[RowT]:
    """The coins of a fill's fees, each once."""

    def coins(row: RowT) -> str | None:
        return ", ".join(dict.fromkeys(fee.fee_coin for fee in fee_detail(row) if fee.fee_coin)) or None

    return Column("feeCoin", "Coin", 5, coins, lambda row, _: text_or_unknown(coins(row)))
