"""Sums of rows: the note under orders and fills, and the one figure that a hidden panel shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Final

from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Footer, Tone, TotalTexts, tone_of
from tradetui.desk.tables.cells.figure_columns import fee, money
from tradetui.desk.tables.cells.number_format import number, percent
from tradetui.desk.tables.columns.orders import rest_value
from tradetui.desk.tables.columns.positions import without_stop_text, worst_position
from tradetui.trading.account_totals import free_part
from tradetui.trading.contract_math import is_dollar
from tradetui.trading.trade_effect import effect_of_order
from tradetui.trading.trigger_terms import TriggerState, failure_reason, trigger_state
from tradetui.wire.product_types import USDT_COINS, margin_coin

if TYPE_CHECKING:
    from tradetui.desk.tables.columns.fills import FillRow
    from tradetui.desk.tables.rows.product_row import ProductRow
    from tradetui.trading.positions import Position
    from tradetui.wire.models.futures import PendingOrder, TriggerOrder
    from tradetui.wire.models.futures_accounts import FuturesAccount

NO_FILL_TODAY: Final = "no fill today"
_WEEK: Final = timedelta(days=6)


@dataclass(slots=True)
class DollarSum:
    """Amounts of several coins added up in dollars.

    What a coin-margined fill gave in its own coin is turned over at the fill's price, USDC counts as USDT, and the sum
    is marked with `~` for either. A coin whose worth is not known stands beside the sum; where an amount is missing the
    sum is marked with `?`.
    """

    dollars: Decimal = Decimal(0)
    is_converted: bool = False
    is_incomplete: bool = False
    others: dict[str, Decimal] = field(default_factory=dict)

    def add(self, amount: Decimal | None, coin: str | None, row: FillRow) -> None:
        if amount is None:
            self.is_incomplete = True
        elif coin is None or is_dollar(coin):
            self.dollars += amount
            self.is_converted = self.is_converted or (coin is not None and coin.upper() not in USDT_COINS)
        elif row.product_type.is_coin_margined and coin == margin_coin(row.product_type, row.record.symbol):
            self.dollars += amount * row.record.price
            self.is_converted = True
        else:
            self.others[coin] = self.others.get(coin, Decimal(0)) + amount

    def text(self, cell_format: CellFormat, *, under_fees: bool = False) -> str:
        """Such as `~+884.60`, or `-82.29 and -2.0000 BGB`; `under_fees` with the decimals of a column of fees."""
        written = fee if under_fees else partial(money, signed=True)
        dollars = written(self.dollars, "USDT", cell_format)
        texts = [f"{'~' if self.is_converted else ''}{dollars}"]
        texts += [f"{money(amount, coin, cell_format, signed=True)} {coin}" for coin, amount in self.others.items()]
        return f"{' and '.join(texts)}{'?' if self.is_incomplete else ''}"


@dataclass(slots=True)
class FillTotals:
    """Profit and fees of fills, or of orders' fills, that are added one by one."""

    profit: DollarSum = field(default_factory=DollarSum)
    fees: DollarSum = field(default_factory=DollarSum)

    def add(self, row: FillRow) -> None:
        self.profit.add(row.record.profit, margin_coin(row.product_type, row.record.symbol), row)
        for part in row.record.fee_detail:
            self.fees.add(part.total_fee, part.fee_coin, row)

    def text(self, cell_format: CellFormat) -> str:
        """Such as `profit +884.60 fees -82.29`, in USDT where no coin is named."""
        return f"profit {self.profit.text(cell_format)} fees {self.fees.text(cell_format)}"

    def cells(self, cell_format: CellFormat) -> TotalTexts:
        """The sums in dollars for the columns Profit and Fee; a sum of several coins fits into no column."""
        texts: dict[str, tuple[str, Tone]] = {}
        if not self.profit.others:
            texts["profit"] = (self.profit.text(cell_format), tone_of(self.profit.dollars))
        if not self.fees.others:
            texts["fee"] = (self.fees.text(cell_format, under_fees=True), Tone.PLAIN)
        return texts

    def outside_cells(self, cell_format: CellFormat) -> str:
        """The sums that `cells` leaves out, such as `fees -82.29 and -2.0000 BGB`."""
        sums = {"profit": self.profit, "fees": self.fees}
        return " · ".join(f"{name} {total.text(cell_format)}" for name, total in sums.items() if total.others)


@dataclass(slots=True)
class _DaySums:
    """The sums of the fills of one day, or of all where none is named.

    `since` is the oldest fill that is summed, None where there is none; `has_older` says that rows before the day are
    known too, so that nothing of the day is missing.
    """

    totals: FillTotals
    since: datetime | None = None
    has_older: bool = False

    def period(self, cell_format: CellFormat) -> str:
        """The day as a word, or the time its sums begin; empty where all rows are summed."""
        if cell_format.summed_day is None or self.since is None:
            return ""
        return "today" if self.has_older else f"since {self.since:%H:%M}"


def _sums_of_day(rows: Iterable[FillRow], cell_format: CellFormat) -> _DaySums:
    sums = _DaySums(FillTotals())
    zone, day = cell_format.zone, cell_format.summed_day
    begins, ends = (None, None) if day is None else (_begin_of(day, zone), _begin_of(day + timedelta(days=1), zone))
    since: datetime | None = None
    for row in rows:
        moment = row.record.c_time
        if begins is not None and moment < begins:
            sums.has_older = True
        elif ends is None or moment < ends:
            since = moment if since is None else min(since, moment)
            sums.totals.add(row)
    sums.since = None if since is None else since.astimezone(zone)
    return sums


def _begin_of(day: date, zone: tzinfo) -> datetime:
    """In UTC, as records have their times: comparing with another zone would ask it for its offset each time."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def fills_footer(rows: Iterable[FillRow], cell_format: CellFormat) -> Footer:
    """Profit and fees of the day that is summed; of all these rows where the format names no day.

    Where no row is older than the day, what there was before the oldest is not known: the note names its time. The
    short note says of which fills the sums under the columns are, and what of them stands under none.
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


def orders_footer(rows: Iterable[ProductRow[PendingOrder]], cell_format: CellFormat) -> Footer:
    """The value of all orders' rest together, in dollars; `?` where one has no price."""
    orders = list(rows)
    values = [rest_value(row.record) for row in orders]
    known = [value for value in values if value is not None]
    doubt = "" if len(known) == len(values) else "?"
    note = orders_headline(orders, cell_format)
    return Footer({"value": (f"{money(sum(known, Decimal(0)), 'USDT', cell_format)}{doubt}", Tone.PLAIN)}, note, note)


def orders_headline(rows: Iterable[ProductRow[PendingOrder]], cell_format: CellFormat) -> str:
    """The value that the rest of all orders buys and sells, in dollars at their own prices; `?` where one has none."""
    worth = {True: Decimal(0), False: Decimal(0)}
    unknown = ""
    for row in rows:
        order = row.record
        effect = effect_of_order(order)
        value = rest_value(order)
        if effect is None or value is None:
            unknown = "?"
        else:
            worth[effect.buys] += value
    places = None if cell_format.exact else 0
    buys, sells = number(worth[True], places=places), number(worth[False], places=places)
    return f"buys {buys}{unknown} · sells {sells}{unknown} USDT"


def accounts_headline(rows: Iterable[ProductRow[FuturesAccount]], _: CellFormat) -> str:
    """The least free margin of an account, the figure first: where room is short, the end is cut."""
    parts = [(part, row.record.margin_coin) for row in rows if (part := free_part(row.record)) is not None]
    if not parts:
        return ""
    part, coin = min(parts)
    return f"{percent(part)} free {coin}"


def positions_headline(rows: Iterable[Position], cell_format: CellFormat) -> str:
    """The worst unrealised result in dollars, and how many positions have no stop."""
    positions = list(rows)
    return " · ".join(filter(None, (worst_position(positions, cell_format), without_stop_text(positions))))


def stops_headline(rows: Iterable[ProductRow[TriggerOrder]], cell_format: CellFormat) -> str:
    """How many wait, and how many failed in the last seven days; nothing of failures before past ones were read."""
    triggers = [row.record for row in rows]
    waiting = sum(trigger_state(trigger) is TriggerState.WAITING for trigger in triggers)
    if waiting == len(triggers):
        return f"{waiting} waiting"
    return f"{waiting} waiting · {len(_failed_this_week(triggers, cell_format))} failed this week"


def stops_footer(rows: Iterable[ProductRow[TriggerOrder]], cell_format: CellFormat) -> Footer:
    """The headline, and why those of the week failed, the commonest reason first."""
    triggers = list(rows)
    failed = _failed_this_week([row.record for row in triggers], cell_format)
    reasons = Counter(map(failure_reason, failed)).most_common()
    why = ", ".join(reason if len(reasons) == 1 else f"{count} {reason}" for reason, count in reasons)
    return Footer(note=": ".join(filter(None, (stops_headline(triggers, cell_format), why))))


def _failed_this_week(triggers: Iterable[TriggerOrder], cell_format: CellFormat) -> list[TriggerOrder]:
    today = cell_format.today
    return [
        trigger
        for trigger in triggers
        if trigger_state(trigger) is TriggerState.FAILED
        and trigger.u_time is not None
        and (today is None or today - _WEEK <= trigger.u_time.astimezone(cell_format.zone).date() <= today)
    ]
