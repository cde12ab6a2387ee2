"""The figures of the ledger's quarter-hours, in UTC and counted from 1970: read, changed and written in the archive.

Sums of days (`ledger_span`) are made from them once and kept. When a quarter-hour changes, the sums of its days are
deleted in the same transaction, and made again when they are read.

Closing orders: each order that closed something, with the profit and fees of all its closing fills. Results count won
and lost orders. An order counts once, in the quarter-hour of its last fill so far: each further fill removes it from
its previous quarter-hour and counts it again.

The sequence in which archived fills are booked, by time and then by id, and the position modes along it. An account can
change between hedge and one-way mode only while it holds nothing. If the fills of a product type show such a change,
any size that a leg still holds by its fills ends there.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from decimal import Decimal
from operator import attrgetter
from typing import Final, Literal, NamedTuple

from tradetui.desk.tables.rows.product_row import id_order
from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import BookedFill, LegKey, booked_fill
from tradetui.trading.results.periods import quarter_of
from tradetui.trading.results.trips import Closing, ResultSums
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.json_text import load_json
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType
from tradetui.wire.replies.record import UndecodableRowError

_NAMES: Final = tuple(figure.name for figure in fields(ResultSums))
FIGURES: Final = ", ".join(_NAMES)
"""The columns of a quarter-hour's figures, in the order of the fields of `ResultSums`."""
QUARTERS_IN_MEMORY: Final = 256
"""Quarter-hours that a step changes before it writes them; a leg sent back to its beginning changes thousands."""
_QUARTERS_A_DAY: Final = 96
_LONGEST_DAY: Final = _QUARTERS_A_DAY + 4
"""Quarter-hours of a day on which clocks are put back."""


class QuarterKey(NamedTuple):
    """The key of a row of figures: the result of one leg within a quarter-hour, in one coin."""

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
        """Return the figures of a quarter-hour; change them at once, since the next request may write them."""
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
        """Drop unwritten figures, as after a rollback."""
        self._quarters.clear()


def forget_spans(connection: sqlite3.Connection, quarters: Iterable[int]) -> None:
    """Delete the day sums that include these quarter-hours; called in the transaction that changes them."""
    for day in {quarter // _QUARTERS_A_DAY for quarter in quarters}:
        first, beyond = day * _QUARTERS_A_DAY, (day + 1) * _QUARTERS_A_DAY
        # `by_symbol` is named so that SQLite uses the primary key, which begins with it.
        connection.execute(
            "DELETE FROM ledger_span WHERE by_symbol = 1 AND first > ? AND first < ? AND beyond > ?",
            (first - _LONGEST_DAY, beyond, first),
        )


def sums_of(figures: Iterable[str | int]) -> ResultSums:
    """Make a quarter-hour's figures from the file's, in the order of `FIGURES`: amounts as text, counts as numbers."""
    return _sums(*[Decimal(figure) if isinstance(figure, str) else figure for figure in figures])


def ledger_figures(sums: ResultSums) -> tuple[str | int, ...]:
    """Return the figures as the file stores them, in the order of `FIGURES`."""
    return tuple(str(figure) if isinstance(figure, Decimal) else figure for figure in _all_figures(sums))


_sums: Final[Callable[..., ResultSums]] = ResultSums
"""The class under a type that allows amounts and counts in one list."""
_all_figures: Final = attrgetter(*_NAMES)


VISIBLE_AFTER_MS: Final = 5_000
"""Every read of the exchange shows a fill that is at least this old."""


class Instant(NamedTuple):
    """A point of the sequence: Unix ms, then the id in sort order."""

    time: int
    ordinal: str


BEFORE_ALL: Final = Instant(-1, "")


class SequencedFill(NamedTuple):
    """A booked fill and its position in the sequence."""

    instant: Instant
    fill: BookedFill


def sequenced_fill(product_type: ProductType, fill: FuturesFill) -> SequencedFill:
    time = unix_ms(fill.c_time)
    return SequencedFill(Instant(time, id_order(fill.row_id)), booked_fill(product_type, fill, time))


def read_booked_fill(product_type: str, body: str, time: int) -> BookedFill | None:
    """Read a fill from the archive's text; None if this version cannot."""
    try:
        known_type = ProductType(product_type)
        return booked_fill(known_type, FuturesFill.from_row(load_json(body)), time)
    except (UndecodableRowError, ValueError):
        return None


_MODES: Final = (
    "SELECT time, ordinal, CASE WHEN told != '' THEN lower(told)"
    r" WHEN json_extract(body, '$.tradeSide') LIKE '%\_single%' ESCAPE '\' THEN 'one_way_mode' END AS mode"
    " FROM (SELECT time, ordinal, body, json_extract(body, '$.posMode') AS told FROM record"
    " WHERE kind = 'fill' AND product_type = ?)"
)
"""The position modes that the terms of the archived fills show, as `terms_of` reads them."""


class ModeRun(NamedTuple):
    """The fill from which a position mode was in force, until the fill of the next run."""

    begin: Instant
    mode: str


class PositionModes:
    """Stores from which fill of a product type each position mode was in force."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._runs: dict[ProductType, list[ModeRun]] = {}

    def forget(self) -> None:
        """Drop everything in memory, as after a rollback."""
        self._runs.clear()

    def changed_between(self, product_type: ProductType, after: Instant, until: Instant) -> bool:
        """Whether the position mode changed after one instant and at or before another."""
        runs = self._runs_of(product_type)
        latest = _index_at(runs, until)
        return latest > 0 and runs[latest].begin > after

    def note(self, fills: Iterable[SequencedFill]) -> set[ProductType]:
        """Note fills; return the product types to rebuild, those with a change that is not known yet."""
        product_types: set[ProductType] = set()
        for instant, fill in fills:
            mode = fill.terms.mode
            if mode is None:
                continue
            runs = self._runs_of(fill.key.product_type)
            index = _index_at(runs, instant)
            if index < 0 and runs and runs[0].mode == mode:
                runs[0] = ModeRun(instant, mode)  # the start of the oldest mode changes nothing
            elif index < 0 or runs[index].mode != mode:
                product_types.add(fill.key.product_type)
        return product_types

    def rebuild(self, product_type: ProductType) -> Instant | None:
        """Read the mode changes from the fills again and store them; return the first instant that differs."""
        rows = self._connection.execute(
            "SELECT time, ordinal, mode FROM (SELECT *, lag(mode) OVER (ORDER BY time, ordinal) AS before"
            f" FROM ({_MODES}) WHERE mode IN ('hedge_mode', 'one_way_mode'))"
            " WHERE mode IS NOT before ORDER BY time, ordinal",
            (product_type,),
        ).fetchall()
        runs = [ModeRun(Instant(time, ordinal), mode) for time, ordinal, mode in rows]
        # The first run begins with the oldest fill, where no earlier mode could have changed.
        changes, known_changes = set(runs[1:]), set(self._runs_of(product_type)[1:])
        self._runs[product_type] = runs
        self._connection.execute("DELETE FROM ledger_mode WHERE product_type = ?", (product_type,))
        self._connection.executemany(
            "INSERT INTO ledger_mode (product_type, time, ordinal, mode) VALUES (?, ?, ?, ?)",
            [(str(product_type), *run.begin, run.mode) for run in runs],
        )
        return min((run.begin for run in changes ^ known_changes), default=None)

    def _runs_of(self, product_type: ProductType) -> list[ModeRun]:
        runs = self._runs.get(product_type)
        if runs is None:
            rows = self._connection.execute(
                "SELECT time, ordinal, mode FROM ledger_mode WHERE product_type = ? ORDER BY time, ordinal",
                (product_type,),
            )
            runs = self._runs[product_type] = [ModeRun(Instant(time, ordinal), mode) for time, ordinal, mode in rows]
        return runs


def _index_at(runs: list[ModeRun], instant: Instant) -> int:
    """Return the index of the run that holds an instant; -1 before the first."""
    return bisect_right(runs, instant, key=attrgetter("begin")) - 1


_OF_LEG: Final = "FROM ledger_order WHERE product_type = :product_type AND symbol = :symbol AND leg = :leg"
_SELECT: Final = f"SELECT coin, first_time, first_ordinal, last_time, last_ordinal, profit, fees, in_usd {_OF_LEG}"
_LAST_FILL_AFTER: Final = " AND last_time >= :time AND (last_time, last_ordinal) > (:time, :ordinal)"
"""The first comparison lets SQLite use the index by time; the second leaves out fills of that millisecond."""


@dataclass(slots=True)
class ClosingOrder:
    """The closing fills of one order, from the first to the last; profit and fees are in `coin`.

    `in_usd` is profit and fees in dollars, each fill at its own price, for coin-margined contracts. For the others,
    whose coin is a dollar coin, it stays zero.
    """

    coin: str
    first: Instant
    last: Instant
    profit: Decimal = ZERO
    fees: Decimal = ZERO
    in_usd: Decimal = ZERO


class ClosingOrders:
    """Stores closing orders in the archive and counts them in `quarters`; called within a transaction."""

    def __init__(self, connection: sqlite3.Connection, quarters: ChangedQuarters) -> None:
        self._connection = connection
        self._quarters = quarters

    def add(self, sequenced: SequencedFill, closing: Closing) -> None:
        instant, fill = sequenced
        row = self._connection.execute(
            f"{_SELECT} AND order_id = :order_id", {**fill.key._asdict(), "order_id": fill.order_id}
        ).fetchone()
        if row is None:
            order = ClosingOrder(fill.coin, first=instant, last=instant)
        else:
            order = _order_of(row)
            self._count(fill.key, order, -1)
        order.last = instant
        order.profit += closing.profit
        order.fees += closing.fees
        if fill.inverse:
            order.in_usd += (closing.profit + closing.fees) * fill.price
        self._count(fill.key, order)
        amounts = (str(order.profit), str(order.fees), str(order.in_usd))
        self._connection.execute(
            "INSERT OR REPLACE INTO ledger_order (product_type, symbol, leg, order_id, coin, first_time, first_ordinal,"
            " last_time, last_ordinal, profit, fees, in_usd) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*fill.key, fill.order_id, order.coin, *order.first, *order.last, *amounts),
        )

    def after(self, key: LegKey, flat: Instant) -> Iterator[ClosingOrder]:
        """Yield the orders of a leg whose last fill is after an instant."""
        return map(_order_of, self._connection.execute(_SELECT + _LAST_FILL_AFTER, key._asdict() | flat._asdict()))

    def undo_after(self, key: LegKey, flat: Instant) -> None:
        """Delete the orders of a leg whose last fill is after an instant, and remove them from their quarter-hours."""
        for order in self.after(key, flat):
            self._count(key, order, -1)
        self._connection.execute(f"DELETE {_OF_LEG}{_LAST_FILL_AFTER}", key._asdict() | flat._asdict())

    def _count(self, key: LegKey, order: ClosingOrder, sign: Literal[1, -1] = 1) -> None:
        """Count an order in the quarter-hour of its last fill, or with -1 take it out."""
        sums = self._quarters.sums(QuarterKey(quarter_of(order.last.time), *key, order.coin))
        sums.count_order(order.profit + order.fees, order.in_usd, sign)


def _order_of(row: tuple[str, int, str, int, str, str, str, str]) -> ClosingOrder:
    coin, first_time, first_ordinal, last_time, last_ordinal, profit, fees, in_usd = row
    first, last = Instant(first_time, first_ordinal), Instant(last_time, last_ordinal)
    return ClosingOrder(coin, first, last, Decimal(profit), Decimal(fees), Decimal(in_usd))
