"""How results book the account's records: a fill as profit, fees and volume by coin, and a bill by its kind.

A bill is the exchange's record of a change of the wallet: a trade, funding, a transfer.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from tradetui.trading.contract_math import ZERO
from tradetui.trading.fill_terms import FillTerms, terms_of
from tradetui.wire.enums import PositionSide, same, system_close
from tradetui.wire.models.futures import FeeDetail, FuturesFill
from tradetui.wire.product_types import ProductType, margin_coin

_NO_OTHER_FEES: Final[dict[str, Decimal]] = {}
"""Shared by all fills whose fees are in one coin, and never changed."""
QUARTER_MS: Final = 15 * 60_000
"""Results are kept by quarter-hours of UTC, because the offset of every time zone is a multiple of them."""


class LegKey(NamedTuple):
    """The leg of a round trip: the long or short leg of a symbol, or its net in one-way mode."""

    product_type: ProductType
    symbol: str
    leg: PositionSide


class CoinBooking(NamedTuple):
    """The part of a fill in one coin; `volume` is in the quote coin, paid fees are negative.

    `gross_in_usd` and `fees_in_usd` are the same at the fill's own price, only for coin-margined contracts.
    `incomplete_fills` is 1 if the exchange did not give the whole amount.
    """

    coin: str
    gross: Decimal
    fees: Decimal
    volume: Decimal = ZERO
    gross_in_usd: Decimal = ZERO
    fees_in_usd: Decimal = ZERO
    incomplete_fills: int = 0


@lru_cache(maxsize=4096)
def _contract(product_type: ProductType, symbol: str) -> tuple[str, str, bool]:
    """Return the symbol in capitals, its margin coin (empty if not in its name), and whether that is a base coin."""
    return symbol.upper(), (margin_coin(product_type, symbol) or "").upper(), product_type.is_coin_margined


class BookedFill(NamedTuple):
    """A fill as results count it: `fees` in the coin of its profit, other fees separately, `volume` in the quote coin.

    `coin` is the margin coin, or the coin of the fee if the symbol names none. `profit` is None if the exchange did not
    give it. `time` is in Unix ms. `is_complete` is False if a fee is missing, or the profit of a fill that may close:
    neither is known to be zero.
    """

    key: LegKey
    terms: FillTerms
    coin: str
    inverse: bool
    size: Decimal
    price: Decimal
    profit: Decimal | None
    fees: Decimal
    other_fees: dict[str, Decimal]
    volume: Decimal
    time: int
    order_id: str
    is_complete: bool = True

    def bookings(self) -> list[CoinBooking]:
        """Return its bookings, one per coin; the first is in the coin of its profit."""
        gross, fees = self.profit or ZERO, self.fees
        rate = self.price if self.inverse else ZERO
        own = CoinBooking(self.coin, gross, fees, self.volume, gross * rate, fees * rate, not self.is_complete)
        others = [CoinBooking(coin, ZERO, amount) for coin, amount in self.other_fees.items()]
        return [own, *(booking for booking in others if booking.fees)]


def booked_fill(product_type: ProductType, fill: FuturesFill, time: int) -> BookedFill:
    """Return a fill as results count it at a time in Unix ms; the volume is the exchange's, else size times price."""
    symbol, coin, inverse = _contract(product_type, fill.symbol)
    terms = terms_of(fill)
    if not coin:
        coin = str(fill.received.get("marginCoin") or next((fee.fee_coin for fee in fill.fee_detail), None) or "")
        coin = coin.upper()
    fees, other_fees = ZERO, _NO_OTHER_FEES
    is_complete = bool(fill.fee_detail) and (fill.profit is not None or terms.opens is True)
    for fee in fill.fee_detail:
        fee_coin = fee.fee_coin.upper() if fee.fee_coin else coin
        amount = fee_amount(fee)
        if amount is None:
            is_complete = False
        elif fee_coin == coin:
            fees += amount
        else:
            other_fees = {**other_fees, fee_coin: other_fees.get(fee_coin, ZERO) + amount}
    return BookedFill(
        key=LegKey(product_type, symbol, terms.leg),
        terms=terms,
        coin=coin,
        inverse=inverse,
        size=fill.base_volume,
        price=fill.price,
        profit=fill.profit,
        fees=fees,
        other_fees=other_fees,
        volume=fill.base_volume * fill.price if fill.quote_volume is None else fill.quote_volume,
        time=time,
        order_id=fill.order_id or f"fill {fill.trade_id}",
        is_complete=is_complete,
    )


def fee_amount(fee: FeeDetail) -> Decimal | None:
    """Return the account's change by a fee: negative if paid; a deduction is paid whatever its sign.

    None if the fee is not given.
    """
    amount = fee.total_fee
    if fee.deduction is not None and same(fee.deduction, "yes"):
        amount = amount or fee.total_deduction_fee or amount
        return -abs(amount) if amount else amount
    return amount


class BillKind(StrEnum):
    """Causes of a change of the wallet."""

    TRADE = "trade"  # a fill: its profit and its fee
    FUNDING = "funding"
    TRANSFER = "transfer"  # from or to another account of the same owner
    MARGIN = "margin"  # between a position and its wallet; their sum is unchanged
    OTHER = "other"  # vouchers, profit shares, and every unknown word; it counts as unexplained


_FUNDING: Final = frozenset({"contract_settle_fee", "contract_main_settle_fee", "contract_margin_settle_fee"})
_MARGIN: Final = frozenset({"append_margin", "adjust_down_lever_append_margin", "reduce_margin", "auto_append_margin"})
_TRADE_PREFIXES: Final = ("open_", "close_", "force_", "reduce_close_")
_TRANSFER_PREFIXES: Final = ("trans_from_", "trans_to_", "transfer_from_", "transfer_to_")


def bill_kind(business_type: str) -> BillKind:
    """Return the kind of a bill by its `businessType` in any case, as listed for `/api/v2/mix/account/bill`."""
    word = business_type.strip().lower()
    if word in _FUNDING:
        return BillKind.FUNDING
    if word.startswith(_TRANSFER_PREFIXES):
        return BillKind.TRANSFER
    if word in _MARGIN:
        return BillKind.MARGIN
    is_trade = word in ("buy", "sell") or word.startswith(_TRADE_PREFIXES) or system_close(word) is not None
    return BillKind.TRADE if is_trade else BillKind.OTHER
