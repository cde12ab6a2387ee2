"""The bills of a futures book, made from its fills and movements on reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from operator import itemgetter
from typing import Any, Final, NamedTuple

from tradetui.sandbox.books.market import CONTRACTS
from tradetui.sandbox.books.numbers import ZERO, Identifiers, text
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
