"""Bills and closed positions of a futures book, made from its fills and movements on reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from operator import itemgetter
from typing import Any, Final, NamedTuple

from tradetui.sandbox.books.market import CONTRACTS
from tradetui.sandbox.books.numbers import PLACES, ZERO, Identifiers, booked_amount, text
from tradetui.sandbox.books.orders import hedge_leg

FUNDING: Final = "contract_settle_fee"
TRANSFER_IN: Final = "trans_from_exchange"
TRANSFER_OUT: Final = "trans_to_exchange"


class Movement(NamedTuple):
    """Funding of a leg, or a transfer; a transfer has neither symbol nor leg."""

    time_ms: int
    business_type: str
    coin: str
    amount: Decimal
    symbol: str = ""
    leg: str = ""


class Bills:
    def __init__(self) -> None:
        self._ids = Identifiers()
        self._rows: list[dict[str, Any]] = []
        self._balances: dict[str, Decimal] = {}
        self._fills_written = self._movements_written = 0

    def rows(
        self,
        balances: Mapping[str, Decimal],
        before_start: Sequence[Movement],
        fills: Sequence[Mapping[str, Any]],
        movements: Sequence[Movement],
    ) -> list[dict[str, Any]]:
        """Return all bills, oldest first; `balances` are those before the first bill."""
        new_movements = list(movements[self._movements_written :])
        if not self._rows:
            self._balances = dict(balances)
            new_movements = [*before_start, *new_movements]
        # At the same time movements come first.
        new: list[tuple[int, Mapping[str, Any] | Movement]] = [(move.time_ms, move) for move in new_movements]
        new += [(int(fill["cTime"]), fill) for fill in fills[self._fills_written :]]
        for time_ms, event in sorted(new, key=itemgetter(0)):
            self._write(time_ms, event)
        self._fills_written, self._movements_written = len(fills), len(movements)
        return self._rows

    def _write(self, time_ms: int, event: Mapping[str, Any] | Movement) -> None:
        if isinstance(event, Movement):
            symbol, coin, business_type = event.symbol, event.coin, event.business_type
            amount, fee = event.amount, ZERO
        else:
            symbol, business_type = event["symbol"], _business_type(event)
            coin = CONTRACTS[symbol].margin_coin
            amount, fee = Decimal(event["profit"]), Decimal(event["feeDetail"][0]["totalFee"])
        self._balances[coin] += amount + fee
        self._rows.append(
            {
                "billId": self._ids.at(time_ms),
                "symbol": symbol,
                "amount": text(amount),
                "fee": text(fee),
                "feeByCoupon": "",
                "businessType": business_type,
                "coin": coin,
                "balance": text(self._balances[coin]),
                "cTime": str(time_ms),
            }
        )


def _business_type(fill: Mapping[str, Any]) -> str:
    side, trade_side = fill["side"], fill["tradeSide"]
    if fill["posMode"] == "one_way_mode":
        return f"burst_{side}" if trade_side.startswith("burst") else str(side)
    leg = hedge_leg(side, trade_side)
    return f"burst_{leg}_loss_query" if trade_side.startswith("burst") else f"{trade_side}_{leg}"


@dataclass(slots=True)
class ClosedPositions:
    """Goes through a book's fills and movements in order and keeps a row of every closed position.

    `held` are the positions still open after the fills so far, by symbol and leg. A book without its oldest fills
    begins with the positions that those fills left.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    held: dict[tuple[str, str], _OpenPosition] = field(default_factory=dict)
    _ids: Identifiers = field(default_factory=Identifiers)
    _fills_taken: int = 0
    _movements_taken: int = 0

    def take(self, fills: Sequence[Mapping[str, Any]], movements: Sequence[Movement]) -> None:
        """Process new fills, and the funding paid up to each of them; both lists only grow."""
        for fill in fills[self._fills_taken :]:
            filled_ms = int(fill["cTime"])
            while self._movements_taken < len(movements) and movements[self._movements_taken].time_ms <= filled_ms:
                movement = movements[self._movements_taken]
                held = self.held.get((movement.symbol, movement.leg))
                if held is not None:
                    held.funding += movement.amount
                self._movements_taken += 1
            self._fill(fill)
        self._fills_taken = len(fills)

    def _fill(self, fill: Mapping[str, Any]) -> None:
        symbol, size, price = fill["symbol"], Decimal(fill["baseVolume"]), Decimal(fill["price"])
        fee = Decimal(fill["feeDetail"][0]["totalFee"])
        if fill["posMode"] == "one_way_mode":
            along, against = ("long", "short") if fill["side"] == "buy" else ("short", "long")
            held = self.held.get((symbol, against))
            closing = ZERO if held is None else min(size, held.opened - held.closed)
        else:
            along = against = hedge_leg(fill["side"], fill["tradeSide"])
            closing = ZERO if fill["tradeSide"] == "open" else size
        close_fee = (fee * closing / size).quantize(PLACES)
        if closing:
            self._close((symbol, against), fill, closing, close_fee)
        if closing < size:
            held = self.held.setdefault((symbol, along), _OpenPosition(int(fill["cTime"])))
            held.opened += size - closing
            held.open_value += (size - closing) * price
            held.open_fee += fee - close_fee

    def _close(self, leg: tuple[str, str], fill: Mapping[str, Any], size: Decimal, fee: Decimal) -> None:
        held = self.held[leg]
        held.closed += size
        held.close_value += size * Decimal(fill["price"])
        held.pnl += Decimal(fill["profit"])
        held.close_fee += fee
        if held.closed < held.opened:
            return
        del self.held[leg]
        symbol, side = leg
        self.rows.append(
            {
                "positionId": self._ids.at(int(fill["cTime"])),
                "marginCoin": CONTRACTS[symbol].margin_coin,
                "symbol": symbol,
                "holdSide": side,
                "posMode": fill["posMode"],
                "openAvgPrice": booked_amount(held.open_value / held.opened),
                "closeAvgPrice": booked_amount(held.close_value / held.closed),
                "openTotalPos": text(held.opened),
                "closeTotalPos": text(held.closed),
                "pnl": text(held.pnl),
                "netProfit": text(held.pnl + held.funding + held.open_fee + held.close_fee),
                "totalFunding": text(held.funding),
                "openFee": text(held.open_fee),
                "closeFee": text(held.close_fee),
                "ctime": str(held.opened_ms),
                "utime": fill["cTime"],
            }
        )


@dataclass(slots=True)
class _OpenPosition:
    """A position from its first fill on; sizes are in the base coin, other fields except values in the margin coin."""

    opened_ms: int
    opened: Decimal = ZERO
    open_value: Decimal = ZERO
    closed: Decimal = ZERO
    close_value: Decimal = ZERO
    pnl: Decimal = ZERO
    funding: Decimal = ZERO
    open_fee: Decimal = ZERO
    close_fee: Decimal = ZERO
