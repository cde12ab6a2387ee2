"""Columns shared by several kinds of records: side, product type, fees.

Also the columns of the lookups: spot fills, the spot ledger, converts, totals by coin, and a broker's sub-accounts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from tradetui.desk.tables.cells.cell_format import LONGEST_DERIVED, CellFormat, number, text_or_unknown
from tradetui.desk.tables.cells.column import (
    Column,
    Tone,
    fee,
    id_column,
    money,
    money_column,
    number_column,
    percent_column,
    price_column,
    ranked,
    size_column,
    text_column,
    time_column,
)
from tradetui.desk.tables.rows.filled_order import fees_by_coin
from tradetui.desk.tables.rows.row_source import FeedRow, RowT
from tradetui.trading.fill_terms import sides_as_received
from tradetui.wire.enums import PositionSide, TransferStatus, TransferType
from tradetui.wire.models.subaccounts import LIVE_WITHDRAWAL
from tradetui.wire.text import scrub

if TYPE_CHECKING:
    from tradetui.desk.tables.cells.cell_format import CellFormat
    from tradetui.desk.tables.rows.product_row import ProductRow, RecordT
    from tradetui.trading.fill_terms import ReceivedTerms, TradeEffect
    from tradetui.trading.spot_totals import CoinTotal
    from tradetui.wire.models.futures import FeeDetail
    from tradetui.wire.models.spot import ConvertRecord, SpotBill, SpotFill
    from tradetui.wire.models.subaccounts import SubaccountEmail, SubaccountTransfer

_SIDE_TONE: Final = {"buy": Tone.LONG, "sell": Tone.SHORT}


PRODUCT: Final[Column[FeedRow]] = Column(
    "productType",
    "Type",
    5,
    lambda row: str(row.product_type),
    lambda row, _: str(row.product_type).removesuffix("-FUTURES"),
)


def quote_coin(row: FeedRow) -> str:
    """Return the coin of prices: a dollar coin, whatever the margin coin is."""
    return row.product_type.settlement_coin or "USD"


def side_column(side: Callable[[RowT], str | None]) -> Column[RowT]:
    """Make a column of BUY and SELL, in the tones of long and short; an unknown side has none."""
    return Column(
        "side",
        "Side",
        4,
        side,
        lambda row, _: text_or_unknown(side(row)).upper(),
        tone=lambda row: _SIDE_TONE.get(str(side(row)).lower(), Tone.PLAIN),
    )


PRICE_SOURCES: Final[Mapping[str, str]] = {"fill_price": "last price", "mark_price": "mark price"}
"""The names of the prices that can fire a trigger."""


def worded_column(
    id_: str, title: str, width: int, value: Callable[[RowT], str | None], wording: Mapping[str, str]
) -> Column[RowT]:
    """Make a column of the interface's words in traders' terms; words without one stay, exports keep all unchanged."""

    def shown(row: RowT) -> str:
        word = value(row)
        return text_or_unknown(wording.get((word or "").lower(), word))

    return Column(id_, title, width, value, lambda row, _: shown(row))


class _TradeRow(Protocol):
    @property
    def record(self) -> ReceivedTerms: ...


TradeRowT = TypeVar("TradeRowT", bound=_TradeRow)


def effect_column(
    id_: str, title: str, effect: Callable[[TradeRowT], TradeEffect | None], phrase: Callable[[TradeEffect], str]
) -> Column[TradeRowT]:
    """Make a column of effects, such as `opens LONG`; if unknown, side and trade side as received."""

    def shown(row: TradeRowT) -> str:
        known_effect = effect(row)
        if known_effect is not None:
            return phrase(known_effect)
        return text_or_unknown(sides_as_received(row.record))

    def tone(row: TradeRowT) -> Tone:
        known_effect = effect(row)
        if known_effect is None:
            return Tone.WARN
        is_long = known_effect.buys if known_effect.leg is None else known_effect.leg is PositionSide.LONG
        return Tone.LONG if is_long else Tone.SHORT

    sources = (("side", lambda row: row.record.side), ("tradeSide", lambda row: row.record.trade_side))
    return Column(id_, title, 12, shown, lambda row, _: shown(row), tone=tone, sources=sources)


def away_column() -> Column[ProductRow[RecordT]]:
    """Make a column of the distance from the mark to the price of an order or stop, in per cent; sorted by nearness."""

    def distance(row: ProductRow[RecordT]) -> Decimal | None:
        # The module of the rows is loaded only when there are rows.
        from tradetui.desk.tables.rows.product_row import MarkedRow

        return row.distance if isinstance(row, MarkedRow) else None

    def nearness(row: ProductRow[RecordT]) -> Decimal | None:
        part = distance(row)
        return None if part is None else abs(part)

    return percent_column("away", "Away %", 7, distance, signed=True, order=nearness, unit="from the mark to the price")


def fee_column(fee_detail: Callable[[RowT], Sequence[FeeDetail]]) -> Column[RowT]:
    """Make a column of the sum of a fill's fees; unknown without fees, a list if they are in several coins."""

    def total(row: RowT) -> Decimal | None:
        amounts = fees_by_coin(fee_detail(row))
        return next(iter(amounts.values())) if len(amounts) == 1 else None

    def shown(row: RowT, cell_format: CellFormat) -> str:
        amounts = fees_by_coin(fee_detail(row))
        if len(amounts) > 1:
            return ", ".join(f"{fee(amount, coin, cell_format)} {coin}".strip() for coin, amount in amounts.items())
        return fee(total(row), next(iter(amounts), None), cell_format)

    return Column("fee", "Fee", 11, total, shown, right=True, unit="fee coin")


def fee_coin_column(fee_detail: Callable[[RowT], Sequence[FeeDetail]]) -> Column[RowT]:
    """Make a column of the coins of a fill's fees."""

    def coins(row: RowT) -> str | None:
        return ", ".join(dict.fromkeys(fee.fee_coin for fee in fee_detail(row) if fee.fee_coin)) or None

    return Column("feeCoin", "Coin", 5, coins, lambda row, _: text_or_unknown(coins(row)))


def _quote_coin(fill: SpotFill) -> str | None:
    from tradetui.trading.spot_totals import coins_of

    coins = coins_of(fill.symbol)
    return None if coins is None else coins[1]


SPOT_FILL_COLUMNS: Final[tuple[Column[SpotFill], ...]] = ranked(
    time_column("cTime", "Time", lambda row: row.c_time),
    text_column("symbol", "Symbol", 10, lambda row: row.symbol),
    side_column(lambda row: row.side),
    text_column("orderType", "Kind", 6, lambda row: row.order_type),
    price_column("priceAvg", "Price", 12, lambda row: row.price_avg, lambda row: row.symbol),
    size_column("size", "Size", 12, lambda row: row.size, lambda row: row.symbol),
    money_column("amount", "Value", 14, lambda row: row.amount, _quote_coin, unit="the coin of the price"),
    fee_column(lambda row: row.fee_detail),
    fee_coin_column(lambda row: row.fee_detail),
    text_column("tradeScope", "Role", 6, lambda row: row.trade_scope),
    id_column("orderId", "Order", 19, lambda row: row.order_id),
    id_column("tradeId", "Trade id", 19, lambda row: row.trade_id),
    kept_longest="cTime,symbol,side,priceAvg,size,amount",
)

SPOT_BILL_COLUMNS: Final[tuple[Column[SpotBill], ...]] = ranked(
    time_column("cTime", "Time", lambda row: row.c_time),
    text_column("coin", "Coin", 6, lambda row: row.coin),
    money_column("size", "Change", 12, lambda row: row.size, lambda row: row.coin, signed=True, unit="coin"),
    money_column("balance", "Balance", 12, lambda row: row.balance, lambda row: row.coin, unit="coin"),
    money_column("fees", "Fees", 12, lambda row: row.fees, lambda row: row.coin, unit="coin"),
    text_column("groupType", "Group", 12, lambda row: row.group_type),
    text_column("businessType", "Business", 22, lambda row: row.business_type),
    id_column("billId", "Bill", 19, lambda row: row.bill_id),
    kept_longest="cTime,coin,size,businessType,balance,fees",
)


def _effective_price(convert: ConvertRecord) -> Decimal | None:
    """Return the amount paid per unit received, or its inverse, whichever is quoted; None if unknown.

    The interface does not define the direction of its price, so the nearer of the two is taken.
    """
    paid, received, quoted = convert.from_coin_size, convert.to_coin_size, convert.cnvt_price
    if not paid or not received:
        return None
    rate, inverse = paid / received, received / paid
    if not quoted:
        return rate
    return rate if max(rate / quoted, quoted / rate) <= max(inverse / quoted, quoted / inverse) else inverse


_EFFECTIVE: Final[Column[ConvertRecord]] = number_column(
    "effectivePrice", "Effective", 13, _effective_price, unit="of the one coin for one of the other, as quoted"
)
CONVERT_COLUMNS: Final[tuple[Column[ConvertRecord], ...]] = (
    time_column("ts", "Time", lambda row: row.ts),
    money_column(
        "fromCoinSize", "Paid", 12, lambda row: row.from_coin_size, lambda row: row.from_coin, unit="coin paid"
    ),
    text_column("fromCoin", "Coin", 5, lambda row: row.from_coin),
    money_column(
        "toCoinSize", "Received", 12, lambda row: row.to_coin_size, lambda row: row.to_coin, unit="coin received"
    ),
    text_column("toCoin", "Coin", 5, lambda row: row.to_coin),
    _EFFECTIVE._replace(text=lambda row, _: number(_effective_price(row), at_most=LONGEST_DERIVED)),
    number_column("fee", "Fee", 8, lambda row: row.fee),
    number_column("cnvtPrice", "Quoted", 14, lambda row: row.cnvt_price),
    id_column("id", "Id", 19, lambda row: row.id),
)


_TRANSFER_NAMES: Final[Mapping[str, str]] = {
    TransferType.WITHDRAWAL: LIVE_WITHDRAWAL,
    TransferStatus.FAIL: "failed",
    TransferStatus.SUCCESS: "done",
}
TRANSFER_COLUMNS: Final[tuple[Column[SubaccountTransfer], ...]] = ranked(
    time_column("ts", "Time", lambda row: row.ts),
    id_column("uid", "Sub-account", 12, lambda row: row.uid),
    worded_column("type", "Type", 10, lambda row: row.type, _TRANSFER_NAMES),
    text_column("subType", "Kind", 12, lambda row: row.sub_type),
    money_column("amount", "Amount", 16, lambda row: row.amount, lambda row: row.coin, unit="coin"),
    text_column("coin", "Coin", 6, lambda row: row.coin),
    worded_column("status", "Status", 10, lambda row: row.status, _TRANSFER_NAMES),
    id_column("txId", "Transaction", 24, lambda row: row.tx_id),
    kept_longest="ts,amount,coin,type,status,uid",
)

EMAIL_COLUMNS: Final[tuple[Column[SubaccountEmail], ...]] = (
    id_column("subUid", "Sub-account", 14, lambda row: row.sub_uid),
    text_column("subaccountEmail", "E-mail", 32, lambda row: row.subaccount_email),
    text_column("subaccountName", "Name", 32, lambda row: row.subaccount_name),
    time_column("cTime", "Created", lambda row: row.c_time),
    time_column("uTime", "Updated", lambda row: row.u_time),
)


NOT_SUMMED: Final = "not summed"
MOST_KINDS: Final = 40
"""Business types with a column of their own; the exchange has about thirty."""
_WIDEST_TITLE: Final = 28


def _coin_of(total: CoinTotal) -> str:
    return total.coin


COIN: Final[Column[CoinTotal]] = text_column("coin", "Coin", 10, _coin_of)
ROWS: Final[Column[CoinTotal]] = number_column("rows", "Rows", 6, lambda total: total.rows)


def _of_named_coin(amount: Callable[[CoinTotal], Decimal]) -> Callable[[CoinTotal], Decimal | None]:
    """Return the amount, but None for coins that the exchange does not name: their sum would be wrong."""

    def known(total: CoinTotal) -> Decimal | None:
        from tradetui.trading.spot_totals import NOT_NAMED

        return None if total.coin == NOT_NAMED else amount(total)

    return known


_fees: Final = _of_named_coin(lambda total: total.fees)
RECEIVED: Final[Column[CoinTotal]] = money_column(
    "received", "Received", 14, _of_named_coin(lambda total: total.received), _coin_of, unit="coin"
)
PAID: Final[Column[CoinTotal]] = money_column(
    "paid", "Paid", 14, _of_named_coin(lambda total: total.paid), _coin_of, unit="coin"
)


def _fees_shown(total: CoinTotal, cell_format: CellFormat) -> str:
    fees = _fees(total)
    return NOT_SUMMED if fees is None else money(fees, total.coin, cell_format, signed=True)


FEES: Final[Column[CoinTotal]] = money_column("fees", "Fees", 12, _fees, _coin_of, profit=True, unit="coin")._replace(
    text=_fees_shown
)


def totals_columns(totals: Sequence[CoinTotal]) -> tuple[Column[CoinTotal], ...]:
    """Return the columns that these totals need, without those that would be empty in every row."""
    figures = [column for column in (RECEIVED, PAID) if any(column.value(total) for total in totals)]
    if any(total.fees for total in totals):
        figures.append(FEES)
    kinds = list(dict.fromkeys(kind for total in totals for kind in total.movements))
    movements = [_movement(f"moved:{kind}", kind, (kind,)) for kind in kinds[:MOST_KINDS]]
    if kinds[MOST_KINDS:]:
        movements.append(_movement("moved", f"{len(kinds) - MOST_KINDS} others", tuple(kinds[MOST_KINDS:])))
    return (COIN, ROWS, *figures, *movements)


def _movement(id_: str, title: str, kinds: tuple[str, ...]) -> Column[CoinTotal]:
    def moved(total: CoinTotal) -> Decimal | None:
        amounts = [total.movements[kind] for kind in kinds if kind in total.movements]
        return sum(amounts[1:], amounts[0]) if amounts else None

    shown = " ".join(_TRANSFER_NAMES.get(word, word) for word in scrub(title)[:_WIDEST_TITLE].split(" "))
    return money_column(id_, shown, max(12, len(shown)), moved, _coin_of, signed=True, unit="coin")
