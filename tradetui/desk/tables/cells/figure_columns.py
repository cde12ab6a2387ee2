"""Makes columns of figures; rounding is for the eye, and a column's value keeps every digit."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Column, Tone, by_sign
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
    if amount is None or cell_format.exact:
        return number(amount, signed=signed, at_most=LONGEST_DERIVED)
    return number(amount, signed=signed, places=_money_places(amount, coin, cell_format, MONEY_PLACES))


def fee(amount: Decimal | None, coin: str | None, cell_format: CellFormat) -> str:
    """A fee that stands alone: four decimals in dollar coins, since most are a few cents.

    No fee is the result of a division: an exact one is shown with all its digits.
    """
    if amount is None or cell_format.exact:
        return number(amount, signed=True)
    return number(amount, signed=True, places=_money_places(amount, coin, cell_format, FEE_PLACES))


def _money_places(amount: Decimal, coin: str | None, cell_format: CellFormat, in_dollars: int) -> int:
    if coin is not None and is_dollar(coin):
        return in_dollars
    by_worth = cell_format.coin_places.get((coin or "").upper())
    if by_worth is not None:
        return by_worth
    # Nobody knows what the coin is worth: its own digits, without idle zeros.
    return min(MOST_COIN_PLACES, max(FEWEST_COIN_PLACES, decimals(amount.normalize())))


def price(amount: Decimal | None, symbol: str | None, cell_format: CellFormat, *, derived: bool = False) -> str:
    """A price with the places of its contract's step, where they are known; else with its own digits.

    One that is `derived` was worked out, and may have no end.
    """
    places = None if cell_format.exact else cell_format.precision_of(symbol).price
    return number(amount, places=places, at_most=LONGEST_DERIVED if derived else None)


def size(amount: Decimal | None, symbol: str | None, cell_format: CellFormat) -> str:
    """A size with at least the places of its contract's step; it is never rounded."""
    step_places = None if cell_format.exact else cell_format.precision_of(symbol).size
    if amount is None or step_places is None or decimals(amount) >= step_places:
        return number(amount)
    return number(amount, places=step_places)


def price_column(
    id_: str,
    title: str,
    width: int,
    value: Callable[[RowT], Decimal | None],
    symbol: Callable[[RowT], str | None],
    *,
    derived: bool = False,
) -> Column[RowT]:
    """Prices; `derived` says that some rows' were worked out."""

    def shown(row: RowT, cell_format: CellFormat) -> str:
        return price(value(row), symbol(row), cell_format, derived=derived)

    return Column(id_, title, width, value, shown, right=True, unit="USDT, USDC or USD")


def size_column(
    id_: str, title: str, width: int, value: Callable[[RowT], Decimal | None], symbol: Callable[[RowT], str | None]
) -> Column[RowT]:
    def shown(row: RowT, cell_format: CellFormat) -> str:
        return size(value(row), symbol(row), cell_format)

    return Column(id_, title, width, value, shown, right=True, unit="the contract's coin")


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

    return Column(id_, title, width, value, shown, right=True, tone=by_sign(value) if profit else None, unit=unit)


def percent_column(
    id_: str,
    title: str,
    width: int,
    value: Callable[[RowT], Decimal | None],
    *,
    signed: bool = False,
    tone: Callable[[Decimal], Tone] = lambda _: Tone.PLAIN,
    order: Callable[[RowT], object] | None = None,
    unit: str,
) -> Column[RowT]:
    """A part in per cent, which the title says, in the `tone` of what a known part means."""

    def tone_of_row(row: RowT) -> Tone:
        part = value(row)
        return Tone.PLAIN if part is None else tone(part)

    def shown(row: RowT, cell_format: CellFormat) -> str:
        return percent_points(value(row), signed=signed, exact=cell_format.exact)

    return Column(id_, title, width, value, shown, right=True, tone=tone_of_row, unit=unit, order=order)
