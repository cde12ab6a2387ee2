"""The history of closed positions, computed from fills and funding when it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tradetui.sandbox.books.accounts.bills import Movement
from tradetui.sandbox.books.market import CONTRACTS
from tradetui.sandbox.books.numbers import PLACES, ZERO, Identifiers, amount, text


@dataclass(slots=True)
class _Held:
    """A position from its first fill on; sizes in the base coin, all else but values in the margin coin."""

    opened_ms: int
    opened: Decimal = ZERO
    open_value: Decimal = ZERO
    closed: Decimal = ZERO
    close_value: Decimal = ZERO
    pnl: Decimal = ZERO
    funding: Decimal = ZERO
    open_fee: Decimal = ZERO
    close_fee: Decimal = ZERO


@dataclass(slots=True)
class ClosedPositions:
    """Goes through a book's fills and movements in order and keeps a row of every position that ended.

    `held` are the positions that the fills so far left open, by symbol and leg. A book that does not keep its oldest
    fills begins with the positions that those left.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    held: dict[tuple[str, str], _Held] = field(default_factory=dict)
    _ids: Identifiers = field(default_factory=Identifiers)
    _fills: int = 0
    _movements: int = 0

    def take(self, fills: Sequence[Mapping[str, Any]], movements: Sequence[Movement]) -> None:
        """Take in the new fills, and the funding paid up to each of them; both lists only grow."""
        for fill in fills[self._fills :]:
            while self._movements < len(movements) and movements[self._movements].time_ms <= int(fill["cTime"]):
                movement = movements[self._movements]
                if (held := self.held.get((movement.symbol, movement.leg))) is not None:
                    held.funding += movement.amount
                self._movements += 1
            self._fill(fill)
        self._fills = len(fills)

    def _fill(self, fill: Mapping[str, Any]) -> None:
        symbol, size, price = fill["symbol"], Decimal(fill["baseVolume"]), Decimal(fill["price"])
        fee = Decimal(fill["feeDetail"][0]["totalFee"])
        if fill["posMode"] == "one_way_mode":
            along, against = ("long", "short") if fill["side"] == "buy" else ("short", "long")
            held = self.held.get((symbol, against))
            closing = ZERO if held is None else min(size, held.opened - held.closed)
        else:
            word = fill["tradeSide"]
            along = against = word.rsplit("_", 1)[-1] if "_" in word else "long" if fill["side"] == "buy" else "short"
            closing = ZERO if word == "open" else size
        close_fee = (fee * closing / size).quantize(PLACES)
        if closing:
            self._close((symbol, against), fill, closing, close_fee)
        if closing < size:
            held = self.held.setdefault((symbol, along), _Held(int(fill["cTime"])))
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
                "openAvgPrice": amount(held.open_value / held.opened),
                "closeAvgPrice": amount(held.close_value / held.closed),
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
