"""The figures of the ledger's quarter-hours, of UTC and counted from 1970: read, changed and written in the archive.

Sums of days and months (`ledger_span`) are made of them once and kept. Where a quarter-hour changes, those that it is
part of are deleted in the same transaction, and are made anew when somebody reads them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import fields
from decimal import Decimal
from operator import attrgetter
from typing import Final, NamedTuple

from tradetui.trading.results.result_sums import ResultSums

_NAMES: Final = tuple(figure.name for figure in fields(ResultSums))
FIGURES: Final = ", ".join(_NAMES)
"""The columns of a quarter-hour's figures, in the order of the fields of `ResultSums`."""
QUARTERS_IN_MEMORY: Final = 256
"""Quarter-hours that a step changes before it writes them: a leg sent back to its beginning changes thousands."""
_QUARTERS_A_DAY: Final = 96
_LONGEST_SPAN: Final = 31 * _QUARTERS_A_DAY + 4
"""Quarter-hours of the longest span: a month in which clocks are put back."""


class QuarterKey(NamedTuple):
    """The key of a row of figures: what one leg brought in within a quarter-hour, in one coin."""

    quarter: int
    product_type: str
    symbol: str
    leg: str
    coin: str


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
                f"SELECT {FIGURES} FROM ledger_quarter WHERE quarter = :quarter AND product_type = :product_type"
                " AND symbol = :symbol AND leg = :leg AND coin = :coin",
                key._asdict(),
            ).fetchone()
            sums = self._quarters[key] = ResultSums() if row is None else sums_of(row)
        return sums

    def write(self) -> None:
        columns = (*QuarterKey._fields, *_NAMES)
        self._connection.executemany(
            f"INSERT OR REPLACE INTO ledger_quarter ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
            [(*key, *ledger_figures(sums)) for key, sums in self._quarters.items()],
        )
        forget_spans(self._connection, (key.quarter for key in self._quarters))
        self._quarters.clear()

    def forget(self) -> None:
        """Let go of what is not written, as after a transaction that was undone."""
        self._quarters.clear()


def forget_spans(connection: sqlite3.Connection, quarters: Iterable[int]) -> None:
    """Delete the sums that these quarter-hours are part of; called in the transaction that changes them."""
    for day in {quarter // _QUARTERS_A_DAY for quarter in quarters}:
        first, beyond = day * _QUARTERS_A_DAY, (day + 1) * _QUARTERS_A_DAY
        # Both values of `by_symbol` are named so that SQLite takes the primary key, which begins with it.
        connection.execute(
            "DELETE FROM ledger_span WHERE by_symbol IN (0, 1) AND first > ? AND first < ? AND beyond > ?",
            (first - _LONGEST_SPAN, beyond, first),
        )


def sums_of(figures: Iterable[str | int]) -> ResultSums:
    """The figures of a quarter-hour from the file's, in the order of `FIGURES`: amounts as text, counts as numbers."""
    return _sums(*[Decimal(figure) if isinstance(figure, str) else figure for figure in figures])


def ledger_figures(sums: ResultSums) -> tuple[str | int, ...]:
    """The figures as the file has them, in the order of `FIGURES`."""
    return tuple(str(figure) if isinstance(figure, Decimal) else figure for figure in _all_figures(sums))


_sums: Final[Callable[..., ResultSums]] = ResultSums
"""The class under a type by which amounts and counts may come in one list."""
_all_figures: Final = attrgetter(*_NAMES)
