"""Columns of the totals by coin: received, paid and fees where there are any, then one for each business type."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from tradetui.desk.tables.cells.column import Column, by_sign, text_column
from tradetui.desk.tables.cells.figure_columns import money, money_column
from tradetui.desk.tables.cells.number_format import number
from tradetui.trading.coin_totals import CoinTotal
from tradetui.wire.text.sanitize import scrub

MOST_KINDS: Final = 40
"""Business types with a column of their own; the exchange knows about thirty."""
_WIDEST_TITLE: Final = 28


def _coin(total: CoinTotal) -> str:
    return total.coin


COIN: Final[Column[CoinTotal]] = text_column("coin", "Coin", 10, lambda total: total.coin)
ROWS: Final[Column[CoinTotal]] = Column(
    "rows", "Rows", lambda total: total.rows, lambda total, _: number(total.rows), 6, right=True
)
RECEIVED: Final[Column[CoinTotal]] = money_column(
    "received", "Received", 14, lambda total: total.received, _coin, unit="coin"
)
PAID: Final[Column[CoinTotal]] = money_column("paid", "Paid", 14, lambda total: total.paid, _coin, unit="coin")
FEES: Final[Column[CoinTotal]] = money_column(
    "fees", "Fees", 12, lambda total: total.fees, _coin, profit=True, unit="coin"
)


def totals_columns(totals: Sequence[CoinTotal]) -> tuple[Column[CoinTotal], ...]:
    """The columns that these totals need: none that would be nothing in every row."""
    figures = [column for column in (RECEIVED, PAID, FEES) if any(column.value(total) for total in totals)]
    kinds = list(dict.fromkeys(kind for total in totals for kind in total.movements))
    movements = [_movement(f"moved:{kind}", kind, (kind,)) for kind in kinds[:MOST_KINDS]]
    if kinds[MOST_KINDS:]:
        movements.append(_movement("moved", f"{len(kinds) - MOST_KINDS} others", tuple(kinds[MOST_KINDS:])))
    return (COIN, ROWS, *figures, *movements)


def _movement(id_: str, title: str, kinds: tuple[str, ...]) -> Column[CoinTotal]:
    def moved(total: CoinTotal) -> Decimal | None:
        amounts = [total.movements[kind] for kind in kinds if kind in total.movements]
        return sum(amounts[1:], amounts[0]) if amounts else None

    shown = scrub(title)[:_WIDEST_TITLE]
    return Column(
        id_,
        shown,
        moved,
        lambda total, cell_format: money(moved(total), total.coin, cell_format, signed=True),
        max(12, len(shown)),
        right=True,
        tone=by_sign(moved),
        unit="coin",
    )
