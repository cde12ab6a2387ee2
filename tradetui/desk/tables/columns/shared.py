"""Columns that records of several kinds have: side, product type, what a fill cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from tradetui.desk.tables.columns.column import Column, Tone, get
from tradetui.desk.tables.number_format import number, text_as_given


def side_tone(row: Any) -> Tone:
    """Long for what buys, short for what sells, nothing for a side nobody knows."""
    return {"buy": Tone.LONG, "sell": Tone.SHORT}.get(str(row.side).lower(), Tone.PLAIN)


def side_column() -> Column:
    """BUY or SELL."""
    return Column("side", "Side", get("side"), lambda row, _: text_as_given(row.side).upper(), 4, tone=side_tone)


def _product(row: Any) -> str | None:
    # A row that was read on its own has no product type; only desk rows carry the one they were asked under.
    product_type = getattr(row, "product_type", None)
    return None if product_type is None else str(product_type)


PRODUCT: Final = Column(
    "productType", "Type", _product, lambda row, _: text_as_given(_product(row)).removesuffix("-FUTURES"), 5
)


def _fees(row: Any) -> list[tuple[Decimal, str]]:
    return [(fee.total_fee, fee.fee_coin or "") for fee in row.fee_detail if fee.total_fee is not None]


def _fee(row: Any) -> Decimal | None:
    """The sum of a fill's fees; None where there is none, or where they are in different coins."""
    fees = _fees(row)
    return sum((amount for amount, _ in fees), Decimal(0)) if fees and len({coin for _, coin in fees}) == 1 else None


def _fee_text(row: Any) -> str:
    fees = _fees(row)
    if len({coin for _, coin in fees}) > 1:
        return ", ".join(f"{number(amount, signed=True)} {coin}".strip() for amount, coin in fees)
    return number(_fee(row), signed=True)


def _fee_coin(row: Any) -> str | None:
    return ", ".join(dict.fromkeys(fee.fee_coin for fee in row.fee_detail if fee.fee_coin)) or None


FEE: Final = Column("fee", "Fee", _fee, lambda row, _: _fee_text(row), 11, right=True, unit="fee coin")
FEE_COIN: Final = Column("feeCoin", "Coin", _fee_coin, lambda row, _: text_as_given(_fee_coin(row)), 5)
