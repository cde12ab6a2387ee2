"""The figures of the ledger's quarter-hours, of UTC and counted from 1970: read, changed and written in the archive.

A quarter-hour that changes voids the sums of days and months that it is part of (`span_sums.py`): they are deleted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from decimal import Decimal
from operator import attrgetter
from typing import Final

from tradetui.trading.results.result_sums import ResultSums

QuarterKey = tuple[int, str, str, str, str]
"""Quarter-hour, product type, symbol, leg, coin."""
QUARTERS_IN_MEMORY: Final = 256
"""Quarter-hours that a step changes before it writes them: a leg sent back to its beginning changes thousands."""
_FIGURES: Final = fields(ResultSums)
FIGURES: Final = ", ".join(figure.name for figure in _FIGURES)
"""The columns of a quarter-hour's figures; sums of days and months have them in this order, too."""
_FIGURE_TYPES: Final[Sequence[Callable[[str | int], Decimal | int]]] = [
    Decimal if isinstance(figure.default, Decimal) else int for figure in _FIGURES
]
_sums_from_figures: Final[Callable[..., ResultSums]] = ResultSums
_figures_of: Final = attrgetter(*(figure.name for figure in _FIGURES))
_QUARTERS_A_DAY: Final = 96
_LONGEST_SPAN: Final = 31 * _QUARTERS_A_DAY + 4
"""Quarter-hours of the longest span: a month in which clocks are put back."""


class ChangedQuarters:
    """The quarter-hours that a transaction changes, in memory until they are written."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._quarters: dict[QuarterKey, ResultSums] = {}

    def sums(self, key: QuarterKey) -> ResultSums:
        """The figures of a quarter-hour, to be changed at once: the next request may have them written."""
        sums = self._quarters.get(key)
        if sums is None:
            if len(self._quarters) == QUARTERS_IN_MEMORY:
                self.write()
            row = self._connection.execute(
                f"SELECT {FIGURES} FROM ledger_quarter"
                " WHERE quarter = ? AND product_type = ? AND symbol = ? AND leg = ? AND coin = ?",
                key,
            ).fetchone()
            sums = self._quarters[key] = ResultSums() if row is None else sums_of(row)
        return sums

    def write(self) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO ledger_quarter VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            [(*key, *ledger_figures(sums)) for key, sums in self._quarters.items()],
        )
        forget_spans(self._connection, (quarter for quarter, *_ in self._quarters))
        self._quarters.clear()

    def forget(self) -> None:
        self._quarters.clear()


def forget_spans(connection: sqlite3.Connection, quarters: Iterable[int]) -> None:
    """Delete the sums that these quarter-hours are part of; called in the transaction that changes them."""
    for day in {quarter // _QUARTERS_A_DAY for quarter in quarters}:
        first, beyond = day * _QUARTERS_A_DAY, (day + 1) * _QUARTERS_A_DAY
        connection.execute(
            "DELETE FROM ledger_span WHERE by_symbol IN (0, 1) AND first > ? AND first < ? AND beyond > ?",
            (first - _LONGEST_SPAN, beyond, first),
        )


def sums_of(row: Iterable[str | int]) -> ResultSums:
    """The figures of a quarter-hour as the file has them."""
    return _sums_from_figures(*[figure_type(figure) for figure_type, figure in zip(_FIGURE_TYPES, row, strict=True)])


def ledger_figures(sums: ResultSums) -> tuple[str | int, ...]:
    """The figures as the file has them, in the order of `FIGURES`."""
    return tuple(str(figure) if isinstance(figure, Decimal) else figure for figure in _figures_of(sums))
