"""Wallet movements beside fills, and the bills of both with the balance after each one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from tradetui.sandbox.books.market import CONTRACTS
from tradetui.sandbox.books.numbers import ZERO, Identifiers, text

FUNDING: Final = "contract_settle_fee"
TRANSFER_IN: Final = "trans_from_exchange"
TRANSFER_OUT: Final = "trans_to_exchange"


class Movement(NamedTuple):
    """Funding of a leg, or a transfer, which has neither symbol nor leg."""

    time_ms: int
    business_type: str
    coin: str
    amount: Decimal
    symbol: str = ""
    leg: str = ""


class Bills:
    """A book's bills, written from its fills and movements when they are read, which is seldom."""

    def __init__(self) -> None:
        self._ids = Identifiers()
        self._rows: list[dict[str, Any]] = []
        self._balances: dict[str, Decimal] = {}
        self._written = (0, 0)

    def rows(
        self,
        balances: Mapping[str, Decimal],
        before_start: Sequence[Movement],
        fills: Sequence[Mapping[str, Any]],
        movements: Sequence[Movement],
    ) -> list[dict[str, Any]]:
        """All bills, oldest first; `balances` are those before the first bill."""
        fills_written, movements_written = self._written
        new: list[tuple[int, int, Mapping[str, Any] | Movement]] = []
        if not self._rows:
            self._balances = dict(balances)
            new += _timed(before_start)
        new += _timed(movements[movements_written:])
        new += [(int(fill["cTime"]), 1, fill) for fill in fills[fills_written:]]
        new.sort(key=lambda event: event[:2])
        for time_ms, _, event in new:
            self._write(time_ms, event)
        self._written = len(fills), len(movements)
        return self._rows

    def _write(self, time_ms: int, event: Mapping[str, Any] | Movement) -> None:
        if isinstance(event, Movement):
            symbol, coin, business_type = event.symbol, event.coin, event.business_type
            amount, fee = event.amount, ZERO
        else:
            symbol, business_type = event["symbol"], _of_fill(event)
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


def _timed(movements: Iterable[Movement]) -> list[tuple[int, int, Mapping[str, Any] | Movement]]:
    return [(movement.time_ms, 0, movement) for movement in movements]


def _of_fill(fill: Mapping[str, Any]) -> str:
    """The bill's business type for a fill; in hedge mode its side names the leg."""
    side, trade_side = fill["side"], fill["tradeSide"]
    if fill["posMode"] == "one_way_mode":
        return f"burst_{side}" if trade_side.startswith("burst") else str(side)
    leg = "long" if side == "buy" else "short"
    if trade_side.startswith("burst"):
        return f"burst_{trade_side.rsplit('_', 1)[-1]}_loss_query"
    return f"{trade_side}_{leg}"
