"""Makes columns of figures; rounding is for the eye, and a column's value keeps every digit."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Column, Tone, by_sign, tone_of
from tradetui.desk.tables.cells.number_format import (
    FEE_PLACES,
    FEWEST_COIN_PLACES,
    LONGEST_DERIVED,
    MONEY_PLACES,
    MOST_COIN_PLACES,
    decimals,
    number,
    percent_points,
)
from tradetui.desk.tables.rows.row_source import RowT
from tradetui.trading.contract_math import is_dollar


def money(amount: Decimal | None, coin: str | None, cell_format: CellFormat, *, signed: bool = False) -> str:
    """An amount of a coin: two decimals in dollar coins, four to eight in others by what the coin is worth."""
    if cell_format.exact:
        return number(amount, signed=signed, at_most=LONGEST_DERIVED)
    return number(amount, signed=signed, places=_money_places(amount, coin, cell_format, MONEY_PLACES))


def fee(amount: Decimal | None, coin: str | None, cell_format: CellFormat) -> str:
    """A fee that stands alone: four decimals in dollar coins, since most are a few cents."""
    if cell_format.exact:
        return number(amount, signed=True)
    return number(amount, signed=True, places=_money_places(amount, coin, cell_format, FEE_PLACES))


def _money_places(amount: Decimal | None, coin: str | None, cell_format: CellFormat, in_dollars: int) -> int:
    if coin is not None and is_dollar(coin):
        return in_dollars
    by_worth = cell_format.coin_places.get((coin or "").upper())
    if by_worth is not None or amount is None:
        return by_worth or FEWEST_COIN_PLACES
    # Nobody knows what the coin is worth: its own digits, without idle zeros.
    return min(MOST_COIN_PLACES, max(FEWEST_COIN_PLACES, decimals(amount.normalize())))


def price_column(
    id_: str,
    title: str,
    width: int,
    value: Callable[[RowT], Decimal | None],
    symbol: Callable[[RowT], str | None],
    *,
    derived: bool = False,
) -> Column[RowT]:
    """A price with the places of its contract's step, where they are known; else with its own digits.

    `derived` says that some rows' were worked out, and may have no end.
    """

    def shown(row: RowT, cell_format: CellFormat) -> str:
        return price(value(row), symbol(row), cell_format, derived=derived)

    return Column(id_, title, value, shown, width, right=True, unit="USDT, USDC or USD")


def price(amount: Decimal | None, symbol: str | None, cell_format: CellFormat, *, derived: bool = False) -> str:
    places = None if cell_format.exact else cell_format.precision_of(symbol).price
    return number(amount, places=places, at_most=LONGEST_DERIVED if derived else None)


def size_column(
    id_: str, title: str, width: int, value: Callable[[RowT], Decimal | None], symbol: Callable[[RowT], str | None]
) -> Column[RowT]:
    """A size with at least the places of its contract's step; it is never rounded."""

    def shown(row: RowT, cell_format: CellFormat) -> str:
        return size(value(row), symbol(row), cell_format)

    return Column(id_, title, value, shown, width, right=True, unit="the contract's coin")


def size(amount: Decimal | None, symbol: str | None, cell_format: CellFormat) -> str:
    at_least = 0 if cell_format.exact else cell_format.precision_of(symbol).size or 0
    return number(amount, places=None if amount is None or decimals(amount) >= at_least else at_least)


def money_column(
    id_: str,
    title: str,
    width: int,
    value: Callable[[RowT], Decimal | None],
    coin: Callable[[RowT], str | None],
    *,
    profit: bool = False,
    signed: bool = False,
    unit: str = "margin coin",
) -> Column[RowT]:
    """Money in the coin of each row, `signed` where it may go either way; `profit` gives it the tone of its sign too.

    A deposit is no result: what only moves money has a sign and no tone.
    """

    def shown(row: RowT, cell_format: CellFormat) -> str:
        return money(value(row), coin(row), cell_format, signed=signed or profit)

    return Column(id_, title, value, shown, width, right=True, tone=by_sign(value) if profit else None, unit=unit)


def percent_column(
    id_: str,
    title: str,
    width: int,
    value: Callable[[RowT], Decimal | None],
    *,
    warns: Callable[[Decimal], bool] | None = None,
    signed: bool = False,
    profit: bool = False,
    order: Callable[[RowT], object] | None = None,
    unit: str,
) -> Column[RowT]:
    """A part in per cent, which the title says; `warns` says of a known part whether it is drawn as a warning.

    `profit` gives it the tone of its sign.
    """

    def tone(row: RowT) -> Tone:
        part = value(row)
        if profit:
            return tone_of(part)
        return Tone.WARN if part is not None and warns is not None and warns(part) else Tone.PLAIN

    def shown(row: RowT, cell_format: CellFormat) -> str:
        return percent_points(value(row), signed=signed, exact=cell_format.exact)

    return Column(id_, title, value, shown, width, right=True, tone=tone, unit=unit, order=order)
