"""The table of the futures fills: its columns, with one row for each fill or each order, and their sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from tradetui.desk.tables.cells.cell_format import UNKNOWN, CellFormat
from tradetui.desk.tables.cells.column import (
    Column,
    Footer,
    TableView,
    Tone,
    TotalTexts,
    fee,
    id_column,
    money,
    money_column,
    narrow_time,
    price_column,
    ranked,
    size_column,
    text_column,
    time_column,
    tone_of,
)
from tradetui.desk.tables.columns.shared_columns import (
    PRODUCT,
    effect_column,
    fee_coin_column,
    fee_column,
    quote_coin,
    worded_column,
)
from tradetui.desk.tables.rows.filled_order import FilledOrder
from tradetui.trading.contract_math import is_dollar
from tradetui.trading.fill_terms import terms_of
from tradetui.wire.product_types import USDT_COINS, margin_coin

if TYPE_CHECKING:
    from tradetui.desk.tables.rows.product_row import ProductRow
    from tradetui.wire.models.futures import FuturesFill

    FillRow: TypeAlias = ProductRow[FuturesFill] | FilledOrder
    """A fill, or the fills of an order."""


NO_FILL_TODAY: Final = "no fill today"
_CLIENTS: Final[Mapping[str, str]] = {"web": "web", "android": "Android", "ios": "iOS"}


def _symbol(row: FillRow) -> str:
    return row.record.symbol


def _margin_coin(row: FillRow) -> str | None:
    return margin_coin(row.product_type, row.record.symbol)


_PROFIT: Final[Column[FillRow]] = money_column(
    "profit", "Profit", 10, lambda row: row.record.profit, _margin_coin, profit=True
)


def _profit(row: FillRow, cell_format: CellFormat) -> str:
    """Write the profit; unknown for an opening fill, for which the exchange reports 0.

    In one-way mode the interface does not tell an open from a close: 0 there means an open, or a close at the entry
    price.
    """
    effect = terms_of(row.record).effect
    if row.record.profit == 0 and effect is not None and effect.opens is not False:
        return UNKNOWN
    return _PROFIT.text(row, cell_format)


FILL_COLUMNS: Final[tuple[Column[FillRow], ...]] = ranked(
    time_column("cTime", "Time", lambda row: row.record.c_time),
    text_column("symbol", "Symbol", 8, _symbol),
    effect_column("did", "Did", lambda row: terms_of(row.record).effect, lambda effect: effect.past),
    size_column("baseVolume", "Size", 7, lambda row: row.record.base_volume, _symbol),
    price_column("price", "Price", 9, lambda row: row.record.price, _symbol, derived=True),
    _PROFIT._replace(text=_profit),
    fee_column(lambda row: row.record.fee_detail),
    fee_coin_column(lambda row: row.record.fee_detail),
    money_column("quoteVolume", "Value", 10, lambda row: row.record.quote_volume, quote_coin, unit="USDT, USDC or USD"),
    text_column("tradeScope", "Role", 7, lambda row: row.record.trade_scope),
    worded_column("enterPointSource", "Via", 7, lambda row: row.record.enter_point_source, _CLIENTS),
    id_column("orderId", "Order", 19, lambda row: row.record.order_id),
    PRODUCT,
    kept_longest="cTime,symbol,did,baseVolume,profit,price,fee,feeCoin,quoteVolume,tradeScope",
)


FILL_COUNT: Final[Column[FillRow]] = Column(
    "fills",
    "Fills",
    5,
    lambda row: Decimal(len(row.fills)) if isinstance(row, FilledOrder) else Decimal(1),
    lambda row, _: f"{len(row.fills)}{'+' if row.older_unknown else ''}" if isinstance(row, FilledOrder) else "1",
    right=True,
)
"""The number of an order's fills, with a plus if older ones may not be known."""


_BEFORE_FILL_COUNT: Final = [column.id for column in FILL_COLUMNS].index("tradeScope") + 1
FILLED_ORDER_COLUMNS: Final[tuple[Column[FillRow], ...]] = (
    narrow_time(FILL_COLUMNS[0]),
    *FILL_COLUMNS[1:_BEFORE_FILL_COUNT],
    FILL_COUNT,
    *FILL_COLUMNS[_BEFORE_FILL_COUNT:],
)


def fill_columns(rows: Iterable[FillRow]) -> tuple[Column[FillRow], ...]:
    """Return the columns of these rows; rows of orders get the date or time, and the number of fills."""
    return FILLED_ORDER_COLUMNS if isinstance(next(iter(rows), None), FilledOrder) else FILL_COLUMNS


def fills_footer(rows: Iterable[FillRow], cell_format: CellFormat) -> Footer:
    """Sum profit and fees of the format's day; of all rows if it names none.

    If no row is older than the day, fills before the oldest may be missing: the note then gives its time. The short
    note says which fills the sums cover, and gives the sums that fit no column.
    """
    sums = _sums_of_day(rows, cell_format)
    if sums.since is None:
        return Footer(note=NO_FILL_TODAY, short_note=NO_FILL_TODAY)
    period, totals = sums.period(cell_format), sums.totals
    short_note = [f"sums in USDT, {period or 'all rows shown'}", totals.outside_cells(cell_format)]
    note = " ".join(filter(None, (period, totals.text(cell_format))))
    return Footer(totals.cells(cell_format), note, " · ".join(filter(None, short_note)))


def fills_headline(rows: Iterable[FillRow], cell_format: CellFormat) -> str:
    return fills_footer(rows, cell_format).note


@dataclass(slots=True)
class DollarSum:
    """Amounts of several coins added up in dollars.

    An amount in the coin of a coin-margined fill is converted at the fill's price, and USDC counts as USDT; either
    marks the sum with `~`. A coin with an unknown price is listed beside the sum. A missing amount marks the sum with
    `?`; if all are missing, there is no sum.
    """

    dollars: Decimal = Decimal(0)
    is_converted: bool = False
    is_incomplete: bool = False
    is_known: bool = False
    others: dict[str, Decimal] = field(default_factory=dict)

    def add(self, amount: Decimal | None, coin: str | None, row: FillRow) -> None:
        self.is_known = self.is_known or amount is not None
        if amount is None:
            self.is_incomplete = True
        elif coin is None or is_dollar(coin):
            self.dollars += amount
            self.is_converted = self.is_converted or (coin is not None and coin.upper() not in USDT_COINS)
        elif row.product_type.is_coin_margined and coin == _margin_coin(row):
            self.dollars += amount * row.record.price
            self.is_converted = True
        else:
            self.others[coin] = self.others.get(coin, Decimal(0)) + amount

    def text(self, cell_format: CellFormat, *, under_fees: bool = False) -> str:
        """Write the sum, such as `~+884.60` or `-82.29 and -2.0000 BGB`; `under_fees` with the decimals of fees."""
        if self.is_incomplete and not self.is_known:
            return UNKNOWN
        written = fee if under_fees else partial(money, signed=True)
        dollars = written(self.dollars, "USDT", cell_format)
        texts = [f"{'~' if self.is_converted else ''}{dollars}"]
        texts += [f"{money(amount, coin, cell_format, signed=True)} {coin}" for coin, amount in self.others.items()]
        return f"{' and '.join(texts)}{'?' if self.is_incomplete else ''}"


@dataclass(slots=True)
class FillTotals:
    """Profit and fees of fills or orders, added one by one."""

    profit: DollarSum = field(default_factory=DollarSum)
    fees: DollarSum = field(default_factory=DollarSum)

    def add(self, row: FillRow) -> None:
        self.profit.add(row.record.profit, _margin_coin(row), row)
        for part in row.record.fee_detail:
            self.fees.add(part.total_fee, part.fee_coin, row)

    def text(self, cell_format: CellFormat) -> str:
        """Write the totals, such as `profit +884.60 fees -82.29`, in USDT unless a coin is named."""
        return f"profit {self.profit.text(cell_format)} fees {self.fees.text(cell_format)}"

    def cells(self, cell_format: CellFormat) -> TotalTexts:
        """Return the sums in dollars for the columns Profit and Fee; a sum of several coins fits no column."""
        texts: dict[str, tuple[str, Tone]] = {}
        if not self.profit.others:
            texts["profit"] = (self.profit.text(cell_format), tone_of(self.profit.dollars))
        if not self.fees.others:
            texts["fee"] = (self.fees.text(cell_format, under_fees=True), Tone.PLAIN)
        return texts

    def outside_cells(self, cell_format: CellFormat) -> str:
        """Write the sums that `cells` leaves out, such as `fees -82.29 and -2.0000 BGB`."""
        sums = {"profit": self.profit, "fees": self.fees}
        return " · ".join(f"{name} {total.text(cell_format)}" for name, total in sums.items() if total.others)


@dataclass(slots=True)
class _DaySums:
    """The sums of the fills of one day, or of all.

    `since` is the time of the oldest summed fill, None without any. `has_older` means that rows before the day are
    known too, so that nothing of the day is missing.
    """

    totals: FillTotals
    since: datetime | None = None
    has_older: bool = False

    def period(self, cell_format: CellFormat) -> str:
        """Return `today`, or from when on the fills in memory are summed; empty if all rows are summed."""
        if cell_format.summed_day is None or self.since is None:
            return ""
        return "today" if self.has_older else f"newest fills since {self.since.astimezone(cell_format.zone):%H:%M}"


def _sums_of_day(rows: Iterable[FillRow], cell_format: CellFormat) -> _DaySums:
    sums = _DaySums(FillTotals())
    zone, day = cell_format.zone, cell_format.summed_day
    begins = None if day is None else _begin_of(day, zone)
    ends = None if day is None else _begin_of(day + timedelta(days=1), zone)
    for row in rows:
        moment = row.record.c_time
        if begins is not None and moment < begins:
            sums.has_older = True
        elif ends is None or moment < ends:
            sums.since = moment if sums.since is None else min(sums.since, moment)
            sums.totals.add(row)
    return sums


def _begin_of(day: date, zone: tzinfo) -> datetime:
    """Return the start of a day in UTC, like records: comparing with another zone computes its offset each time."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


FILLS_VIEW: Final[TableView[FillRow]] = TableView(
    FILL_COLUMNS, fill_columns, more_columns=(FILL_COUNT,), footer=fills_footer, headline=fills_headline
)
