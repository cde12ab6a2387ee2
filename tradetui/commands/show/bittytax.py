"""Fills, spot records and funding in BittyTax's format: one CSV row per taxable event, oldest first.

The columns are those of BittyTax's transaction records (its README, "Transaction Records"), with the headings that its
converter uses. Each row's note names its record by id, so that a record always gives the same line: equal lines of two
exports are one event. Futures profit is Margin-Gain or Margin-Loss, fees and funding are Margin-Fee or
Margin-Fee-Rebate. All events are in one wallet, so transfers between spot and futures are no events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple

from tradetui.commands.process.console import Output, say
from tradetui.commands.show.reading import RowsReader
from tradetui.desk.archive.coverage import TimeSpan
from tradetui.desk.tables.cells.cell_format import instant
from tradetui.desk.tables.export import csv_cell
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange.errors import EndpointMissing, PermissionRefused
from tradetui.trading.contract_math import ZERO, exact_digits
from tradetui.trading.results.booking import BillKind, BookedFill, bill_kind, booked_fill, fee_amount
from tradetui.trading.spot_totals import coins_of, fee_coins_of
from tradetui.wire.enums import LIVE_BUSINESS_TYPES, BusinessType, Side, known
from tradetui.wire.exchange_time import unix_ms
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.models.futures_accounts import FuturesBill, FuturesBillsRequest
from tradetui.wire.models.spot import ConvertRecord, SpotBill, SpotFill
from tradetui.wire.product_types import ProductType
from tradetui.wire.text import counted

HEADINGS: Final = (
    "Type",
    "Buy Quantity",
    "Buy Asset",
    "Buy Value in GBP",
    "Sell Quantity",
    "Sell Asset",
    "Sell Value in GBP",
    "Fee Quantity",
    "Fee Asset",
    "Fee Value in GBP",
    "Wallet",
    "Timestamp",
    "Note",
    "Raw Data",
)
"""BittyTax computes the values, which stay empty, in its own currency."""
WALLET: Final = "Bitget"
_DOCUMENTED_TYPES: Final = {live: documented for documented, live in LIVE_BUSINESS_TYPES.items()}
_BILL_TYPES: Final[Mapping[BusinessType, str]] = {
    BusinessType.DEPOSIT: "Deposit",
    BusinessType.WITHDRAW: "Withdrawal",
    BusinessType.REBATE_REWARDS: "Fee-Rebate",
    BusinessType.AIRDROP_REWARDS: "Airdrop",
    BusinessType.USDT_CONTRACT_REWARDS: "Income",
    BusinessType.MIX_CONTRACT_REWARDS: "Income",
}
_TRADES: Final = frozenset({BusinessType.BUY, BusinessType.SELL, BusinessType.DEDUCTION_HANDLING_FEE})
_NO_EVENTS: Final = frozenset(
    {BusinessType.TRANSFER_IN, BusinessType.TRANSFER_OUT, BusinessType.SYSTEM_LOCK, BusinessType.USER_LOCK}
)
"""Movements within the account. A type in none of these tables is counted as unknown."""


class TaxRow(NamedTuple):
    """One event: amounts in and out, and a fee; quantities are positive, or None."""

    at: datetime
    note: str
    type: str
    bought: Decimal | None = None
    bought_asset: str = ""
    sold: Decimal | None = None
    sold_asset: str = ""
    fee: Decimal | None = None
    fee_asset: str = ""

    def cells(self) -> list[str]:
        quantities = (self.bought, self.sold, self.fee)
        buy, sell, fee = ("" if amount is None else exact_digits(amount) for amount in quantities)
        bought, sold, paid_in = map(csv_cell, (self.bought_asset, self.sold_asset, self.fee_asset))
        amounts = [buy, bought, "", sell, sold, "", fee, paid_in, ""]
        return [self.type, *amounts, WALLET, instant(self.at, UTC), csv_cell(self.note), ""]


class BittyTaxWriter:
    """Takes records in any order and prints their events when closed.

    `unknown` counts records by unknown type. `trade_bills` counts bills of spot trades, which are left out because the
    fills have them with their prices. `incomplete` counts fills without fee or profit.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._rows: list[TaxRow] = []
        self.unknown: Counter[str] = Counter()
        self.trade_bills = self.incomplete = 0
        self.oldest_ms: int | None = None

    def write(self, row: object) -> None:
        """Take a record; futures fills come with their product type."""
        self._rows += self._events_of(row)

    def close(self) -> None:
        self._output.csv(HEADINGS)
        for row in sorted(self._rows, key=lambda row: (row.at, row.note, row.type)):
            self._output.csv(row.cells())
        self._output.flush()

    def remarks(self) -> list[str]:
        remarks = []
        if self.trade_bills:
            remarks.append(
                f"{self.trade_bills} bills of spot trades are left out: show spot-fills gives them with prices."
            )
        if self.unknown:
            listed = ", ".join(f"{count} {what}" for what, count in self.unknown.most_common())
            remarks.append(f"The tax type of these is not known, so they are left out; enter them by hand: {listed}.")
        if self.incomplete:
            fills = counted(self.incomplete, "fill")
            remarks.append(f"the exchange gave no fee or no profit for {fills}; enter it by hand.")
        return remarks

    def _events_of(self, row: object) -> Iterable[TaxRow]:
        match row:
            case ProductRow(product_type=product_type, record=FuturesFill() as fill):
                at_ms = unix_ms(fill.c_time)
                self.oldest_ms = at_ms if self.oldest_ms is None else min(self.oldest_ms, at_ms)
                booked = booked_fill(product_type, fill, at_ms)
                self.incomplete += not booked.is_complete
                return futures_fill_events(fill, booked)
            case ProductRow(record=FuturesBill() as bill):
                note = f"bill {bill.bill_id} funding"
                return [_margin_fee(bill.c_time, note, bill.amount, bill.coin)] if bill.amount else []
            case SpotFill():
                return self._spot_fill(row)
            case ConvertRecord():
                return [_convert(row)]
            case SpotBill():
                return self._spot_bill(row)
        raise TypeError(f"no event of {type(row).__name__}")

    def _spot_fill(self, fill: SpotFill) -> Iterable[TaxRow]:
        pair = coins_of(fill.symbol, fee_coins_of(fill))
        side = known(Side, fill.side)
        if pair is None or side is None:
            self.unknown[f"fills of {fill.symbol}, side {fill.side}"] += 1
            return []
        self.incomplete += not fill.fee_detail or any(fee_amount(fee) is None for fee in fill.fee_detail)
        return spot_fill_events(fill, *pair, buys=side is Side.BUY)

    def _spot_bill(self, bill: SpotBill) -> Iterable[TaxRow]:
        word = bill.business_type or ""
        kind = known(BusinessType, _DOCUMENTED_TYPES.get(word.upper(), word))
        tax_type = None if kind is None else _BILL_TYPES.get(kind)
        if tax_type is not None:
            return [_bill_row(bill, f"bill {bill.bill_id} {kind}", tax_type)] if bill.size else []
        if kind in _TRADES:
            self.trade_bills += 1
        elif kind not in _NO_EVENTS:
            self.unknown[f"bills of type {word or 'not given'}"] += 1
        return []


def futures_fill_events(fill: FuturesFill, booked: BookedFill) -> Iterator[TaxRow]:
    """Yield the profit of a fill as gain or loss, and each of its fees."""
    note = f"fill {fill.trade_id} {fill.symbol}"
    profit = booked.profit or ZERO
    if profit > ZERO:
        yield TaxRow(fill.c_time, f"{note} profit", "Margin-Gain", profit, booked.coin)
    elif profit < ZERO:
        yield TaxRow(fill.c_time, f"{note} profit", "Margin-Loss", sold=-profit, sold_asset=booked.coin)
    for coin, amount in ((booked.coin, booked.fees), *booked.other_fees.items()):
        if amount:
            yield _margin_fee(fill.c_time, f"{note} fee", amount, coin)


def _margin_fee(at: datetime, note: str, amount: Decimal, coin: str) -> TaxRow:
    """Return the row of a fee or funding: negative is paid, positive received."""
    if amount > ZERO:
        return TaxRow(at, note, "Margin-Fee-Rebate", amount, coin)
    return TaxRow(at, note, "Margin-Fee", sold=-amount, sold_asset=coin)


def spot_fill_events(fill: SpotFill, base: str, quote: str, *, buys: bool) -> Iterator[TaxRow]:
    """Yield the trade with the first paid fee; every other fee gets its own row."""
    note = f"fill {fill.trade_id} {fill.symbol}"
    cost = fill.size * fill.price_avg if fill.amount is None else fill.amount
    bought, sold = ((fill.size, base), (cost, quote)) if buys else ((cost, quote), (fill.size, base))
    trade = TaxRow(fill.c_time, note, "Trade", *bought, *sold)
    for fee in fill.fee_detail:
        amount, coin = fee_amount(fee) or ZERO, fee.fee_coin or trade.bought_asset
        if amount > ZERO:
            yield TaxRow(fill.c_time, f"{note} fee", "Fee-Rebate", amount, coin)
        elif amount and trade.fee is None:
            trade = trade._replace(fee=-amount, fee_asset=coin)
        elif amount:
            yield TaxRow(fill.c_time, f"{note} fee", "Spend", sold=-amount, sold_asset=coin)
    yield trade


def _bill_row(bill: SpotBill, note: str, tax_type: str) -> TaxRow:
    row = TaxRow(bill.c_time, note, tax_type)
    if bill.fees is not None and bill.fees < ZERO:
        row = row._replace(fee=-bill.fees, fee_asset=bill.coin)
    if tax_type == _BILL_TYPES[BusinessType.WITHDRAW]:
        return row._replace(sold=abs(bill.size), sold_asset=bill.coin)
    return row._replace(bought=abs(bill.size), bought_asset=bill.coin)


def _convert(record: ConvertRecord) -> TaxRow:
    fee = f", fee {exact_digits(record.fee)} in a coin the exchange does not name" if record.fee else ""
    note = f"convert {record.id}{fee}"
    bought, sold = (record.to_coin_size, record.to_coin), (record.from_coin_size, record.from_coin)
    return TaxRow(record.ts, note, "Trade", *bought, *sold)


async def write_funding(reader: RowsReader, groups: Sequence[Sequence[Any]], writer: BittyTaxWriter) -> None:
    """Write the funding of the fills' period, because no fill contains it; a remark if the exchange refuses.

    `groups` are the requests of the fills, by product type. Raises ExchangeError.
    """
    since_ms, until_ms = _period_of_fills(reader, groups[0][0], writer.oldest_ms)
    symbol = None if reader.options.symbol is None else reader.options.symbol.upper()
    funding: list[ProductRow[FuturesBill]] = []
    try:
        for product_type in (ProductType(group[0].product_type) for group in groups):
            request = FuturesBillsRequest(product_type=product_type, limit=100)
            async for reply in reader.client.pages(request, start_time=since_ms, end_time=until_ms):
                for bill in reply.rows:
                    of_symbol = symbol is None or (bill.symbol or "").upper() == symbol
                    if of_symbol and bill_kind(bill.business_type) is BillKind.FUNDING:
                        funding.append(ProductRow(product_type, bill))
    except (EndpointMissing, PermissionRefused) as problem:
        say(f"tradetui: funding is not in this, since it cannot be read: {problem}")
        return
    for row in funding:
        writer.write(row)


def _period_of_fills(reader: RowsReader, request: Any, oldest_ms: int | None) -> TimeSpan:
    """Return the period of the printed fills: that of their request, or since the oldest if not all were read."""
    now_ms = reader.client.server_clock.now_ms
    since_ms, until_ms = reader.span or (request.start_time, request.end_time)
    if since_ms is None and reader.options.all:
        since_ms = 0
    elif since_ms is None or reader.progress.has_more:
        since_ms = now_ms if oldest_ms is None else oldest_ms
    return TimeSpan(since_ms, until_ms or now_ms)
