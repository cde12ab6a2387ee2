"""What one fill adds to the result of its quarter-hour: price profit, fees by coin, traded volume."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from tradetui.trading.money import ZERO
from tradetui.wire.enums import PositionMode, PositionSide, Side, TradeSide, known, same
from tradetui.wire.models.fee_detail import FeeDetail
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.product_types import ProductType, margin_coin

QUARTER_MS: Final = 15 * 60_000
"""Results are kept by quarter-hours of UTC: the offset of every time zone is a multiple of them."""


class LegKey(NamedTuple):
    """What a round trip belongs to: the long or short leg of a symbol, or its net in one-way mode."""

    product_type: ProductType
    symbol: str
    leg: PositionSide


@dataclass(frozen=True, slots=True)
class FillMeaning:
    """What the words of a fill say of a position.

    `opens` is None where they do not say it: in one-way mode only a forced or reducing close is named. `known` is
    False where one of them is in no vocabulary; such a fill moves no position.
    """

    mode: PositionMode | None
    leg: PositionSide
    buys: bool
    opens: bool | None
    known: bool
    forced_by: str


class CoinBooking(NamedTuple):
    """What a fill adds in one coin; `volume` is in the quote coin, fees that were paid are negative.

    `gross_in_usd` and `fees_in_usd` are the same at the fill's own price, for coin-margined contracts alone.
    """

    coin: str
    gross: Decimal
    fees: Decimal
    volume: Decimal
    gross_in_usd: Decimal
    fees_in_usd: Decimal


_FORCED_BY: Final = {"burst": "liquidation", "delivery": "delivery", "dte_sys_adl": "ADL", "offset": "offset"}
_CLOSING_PREFIXES: Final = ("reduce_", "burst_", "delivery_", "offset_", "dte_sys_adl_")


@lru_cache(maxsize=1024)
def fill_meaning(side: str, trade_side: str | None, pos_mode: str | None) -> FillMeaning:
    """What the words of a fill say, each as it was received."""
    word, mode = (trade_side or "").lower(), PositionMode.parse(pos_mode)
    if pos_mode is None and ("_single" in word or word in ("buy_single", "sell_single")):
        mode = PositionMode.ONE_WAY
    elif pos_mode is None:
        mode = PositionMode.HEDGE
    forced_by = next((cause for prefix, cause in _FORCED_BY.items() if word.startswith(prefix)), "")
    buys = same(side, Side.BUY)
    understood = known(Side, side) is not None and mode is not None
    if mode is not PositionMode.HEDGE:
        opens = False if word.startswith(_CLOSING_PREFIXES) else None
        return FillMeaning(mode, PositionSide.NET, buys, opens, understood, forced_by)
    understood = understood and known(TradeSide, trade_side) is not None and "single" not in word
    long = word.endswith("_long") or (buys and not word.endswith("_short"))
    leg = PositionSide.LONG if long else PositionSide.SHORT
    return FillMeaning(mode, leg, buys, word == TradeSide.OPEN if understood else None, understood, forced_by)


def leg_of_fill(product_type: ProductType, fill: FuturesFill) -> LegKey:
    """The leg that a fill works on."""
    meaning = fill_meaning(fill.side, fill.trade_side, fill.pos_mode)
    return LegKey(product_type, fill.symbol.upper(), meaning.leg)


def settlement_coin(product_type: ProductType, fill: FuturesFill) -> str:
    """The coin that a fill's profit is in: the margin coin, or the coin of its fee where the symbol names none."""
    coin = margin_coin(product_type, fill.symbol)
    if coin is None:
        coin = str(fill.received.get("marginCoin") or next((fee.fee_coin for fee in fill.fee_detail), None) or "")
    return coin.upper()


def fee_amount(fee: FeeDetail) -> Decimal:
    """What a fee changes the account by: negative where it was paid, which a deduction is whatever its sign."""
    amount = fee.total_fee
    if same(fee.deduction, "yes"):
        amount = amount or fee.total_deduction_fee
        return -abs(amount) if amount else ZERO
    return ZERO if amount is None else amount


def fees_by_coin(fill: FuturesFill, coin: str) -> dict[str, Decimal]:
    """The fees of a fill by their coin; a fee that names none is in the coin given."""
    fees: dict[str, Decimal] = {}
    for fee in fill.fee_detail:
        fee_coin = fee.fee_coin.upper() if fee.fee_coin else coin
        fees[fee_coin] = fees.get(fee_coin, ZERO) + fee_amount(fee)
    return fees


def volume_of(fill: FuturesFill) -> Decimal:
    """What was traded, in the quote coin: as the exchange says, which rounds, else size times price."""
    return fill.base_volume * fill.price if fill.quote_volume is None else fill.quote_volume


def bookings(product_type: ProductType, fill: FuturesFill) -> list[CoinBooking]:
    """What a fill adds, coin by coin; the first is the coin that its profit is in."""
    coin = settlement_coin(product_type, fill)
    fees = fees_by_coin(fill, coin)
    gross, own_fees = fill.profit or ZERO, fees.pop(coin, ZERO)
    rate = fill.price if product_type.is_coin_margined else ZERO
    own = CoinBooking(coin, gross, own_fees, volume_of(fill), gross * rate, own_fees * rate)
    if not fees:
        return [own]
    return [own, *(CoinBooking(other, ZERO, amount, ZERO, ZERO, ZERO) for other, amount in fees.items() if amount)]
