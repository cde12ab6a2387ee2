"""Totals by coin of spot fills, spot bills, converts and transfers, for the screens of lookups and for tax exports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import Final

from tradetui.trading.contract_math import ZERO
from tradetui.wire.enums import TransferStatus, same
from tradetui.wire.models.spot import ConvertRecord, SpotBill, SpotFill
from tradetui.wire.models.subaccounts import SubaccountTransfer
from tradetui.wire.replies.record import Record

NOT_NAMED: Final = "(not given)"
"""A coin or kind that the interface does not name, such as the coin of a convert's fee."""
# Sums keep every digit: a figure has at most forty before its point, and as many after it as the exchange writes.
_EXACT: Final = Context(prec=400)
# The quote coins of spot pairs, the longer names first, because the interface names only the pair.
_QUOTES: Final = (
    "USDT",
    "USDC",
    "USDE",
    "FDUSD",
    "TUSD",
    "EURT",
    "USD",
    "EUR",
    "GBP",
    "BRL",
    "TRY",
    "BTC",
    "ETH",
    "BGB",
)


@dataclass(frozen=True, slots=True)
class CoinTotal:
    """One coin: received and paid amounts (zero or positive), and signed fees (a paid fee is negative).

    `movements` is the net movement by business type, `rows` the number of rows that moved the coin.
    """

    coin: str
    rows: int = 0
    received: Decimal = ZERO
    paid: Decimal = ZERO
    fees: Decimal = ZERO
    movements: Mapping[str, Decimal] = field(default_factory=dict)


def added(before: Mapping[str, CoinTotal], records: Iterable[Record]) -> dict[str, CoinTotal]:
    """Return the totals with these rows added; a row that moves no coin adds nothing."""
    totals = dict(before)
    for record in records:
        counted: set[str] = set()
        for movement in _movements(record):
            coin = movement.coin
            totals[coin] = _sum(totals.get(coin) or CoinTotal(coin), movement, rows=coin not in counted)
            counted.add(coin)
    return totals


def coins_of(symbol: str, fee_coins: Iterable[str] = ()) -> tuple[str, str] | None:
    """Return base and quote coin of a spot pair, by the known quote coins and by its fee, which may be in either.

    The fee decides between known quotes: `DOTUSD` ends with `TUSD` as well. None if both are undecided: a wrong coin
    would be a wrong number.
    """
    symbol, fee_coins = symbol.upper(), [coin.upper() for coin in fee_coins if coin]
    behind_fee_coin = [symbol.removeprefix(coin) for coin in fee_coins if symbol.startswith(coin)]
    likely = [quote for quote in (*behind_fee_coin, *fee_coins) if quote in _QUOTES]
    for quote in (*likely, *_QUOTES, *fee_coins, *behind_fee_coin):
        if quote and symbol.endswith(quote) and symbol != quote:
            return symbol.removesuffix(quote), quote
    return None


def fee_coins_of(fill: SpotFill) -> list[str]:
    """Return the coins in which a fill was charged, as far as the exchange names them."""
    return [fee.fee_coin for fee in fill.fee_detail if fee.fee_coin]


def _sum(total: CoinTotal, movement: CoinTotal, *, rows: int) -> CoinTotal:
    movements = dict(total.movements)
    for kind, amount in movement.movements.items():
        movements[kind] = _EXACT.add(movements.get(kind, ZERO), amount)
    return CoinTotal(
        total.coin,
        total.rows + rows,
        _EXACT.add(total.received, movement.received),
        _EXACT.add(total.paid, movement.paid),
        _EXACT.add(total.fees, movement.fees),
        movements,
    )


def _movements(record: Record) -> Iterator[CoinTotal]:
    if isinstance(record, SpotFill):
        yield from _of_fill(record)
    elif isinstance(record, SpotBill):
        yield _of_bill(record)
    elif isinstance(record, ConvertRecord):
        yield CoinTotal(record.from_coin, paid=record.from_coin_size)
        yield CoinTotal(record.to_coin, received=record.to_coin_size)
        if record.fee:
            yield CoinTotal(NOT_NAMED, fees=record.fee)
    elif isinstance(record, SubaccountTransfer):
        yield _of_transfer(record)


def _of_fill(fill: SpotFill) -> Iterator[CoinTotal]:
    base, quote = coins_of(fill.symbol, fee_coins_of(fill)) or (f"{fill.symbol} base", f"{fill.symbol} quote")
    amount = fill.amount if fill.amount is not None else _EXACT.multiply(fill.size, fill.price_avg)
    if fill.is_buy:
        yield CoinTotal(base, received=fill.size)
        yield CoinTotal(quote, paid=amount)
    else:
        yield CoinTotal(base, paid=fill.size)
        yield CoinTotal(quote, received=amount)
    for fee in fill.fee_detail:
        if fee.total_fee is not None:
            yield CoinTotal(fee.fee_coin or NOT_NAMED, fees=fee.total_fee)


def _of_bill(bill: SpotBill) -> CoinTotal:
    size = bill.size
    return CoinTotal(
        bill.coin,
        received=size if size > 0 else ZERO,
        paid=-size if size < 0 else ZERO,
        fees=bill.fees or ZERO,
        movements={bill.business_type or NOT_NAMED: size},
    )


def _of_transfer(transfer: SubaccountTransfer) -> CoinTotal:
    """Return a transfer's movement; a pending or failed transfer counts separately."""
    kind = transfer.type or NOT_NAMED
    if transfer.status and not same(transfer.status, TransferStatus.SUCCESS):
        kind = f"{kind} {transfer.status}"
    size = abs(transfer.amount)
    return CoinTotal(transfer.coin, movements={kind: -size if transfer.is_withdrawal else size})
