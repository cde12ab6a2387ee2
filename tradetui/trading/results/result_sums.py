"""Sums of results in one coin, over a quarter-hour, a period or an account."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.booking import CoinBooking


@dataclass(slots=True)
class ResultSums:
    """Results in one coin: what fills brought in, and how the orders that closed something came out.

    `gross` is profit before fees; paid fees are negative; `volume` is in the quote coin. `trades` are closing orders,
    `won` and `lost` what the winning and the losing ones made after their own fees. What ends in `in_usd` is the same
    at each fill's own price, for coin-margined contracts alone. `incomplete_fills` counts the fills whose fee or profit
    the exchange did not give, which is not in the sums then.
    """

    gross: Decimal = ZERO
    fees: Decimal = ZERO
    volume: Decimal = ZERO
    gross_in_usd: Decimal = ZERO
    fees_in_usd: Decimal = ZERO
    trades: int = 0
    wins: int = 0
    losses: int = 0
    won: Decimal = ZERO
    lost: Decimal = ZERO
    won_in_usd: Decimal = ZERO
    lost_in_usd: Decimal = ZERO
    incomplete_fills: int = 0

    @property
    def net(self) -> Decimal:
        """Profit after fees, before funding."""
        return self.gross + self.fees

    def book(self, booking: CoinBooking) -> None:
        """Add what a fill brings in."""
        self._book(booking, 1)

    def unbook(self, booking: CoinBooking) -> None:
        """Take off what a fill brought in when it was booked."""
        self._book(booking, -1)

    def count_order(self, result: Decimal, in_usd: Decimal) -> None:
        """Count a closing order by its profit and own fees: above zero it won, below zero it lost."""
        self._count_order(result, in_usd, 1)

    def uncount_order(self, result: Decimal, in_usd: Decimal) -> None:
        """Take off a closing order as it was counted."""
        self._count_order(result, in_usd, -1)

    def add(self, other: ResultSums) -> None:
        """Add the figures of another stretch of time."""
        self.gross += other.gross
        self.fees += other.fees
        self.volume += other.volume
        self.gross_in_usd += other.gross_in_usd
        self.fees_in_usd += other.fees_in_usd
        self.trades += other.trades
        self.wins += other.wins
        self.losses += other.losses
        self.won += other.won
        self.lost += other.lost
        self.won_in_usd += other.won_in_usd
        self.lost_in_usd += other.lost_in_usd
        self.incomplete_fills += other.incomplete_fills

    def converted(self, rate: Decimal) -> ResultSums:
        """The same results in another coin, at a rate; without those in dollars."""
        return ResultSums(
            self.gross * rate,
            self.fees * rate,
            self.volume * rate,
            trades=self.trades,
            wins=self.wins,
            losses=self.losses,
            won=self.won * rate,
            lost=self.lost * rate,
            incomplete_fills=self.incomplete_fills,
        )

    def _book(self, booking: CoinBooking, sign: Literal[1, -1]) -> None:
        self.gross += sign * booking.gross
        self.fees += sign * booking.fees
        self.volume += sign * booking.volume
        self.gross_in_usd += sign * booking.gross_in_usd
        self.fees_in_usd += sign * booking.fees_in_usd
        self.incomplete_fills += sign * booking.incomplete_fills

    def _count_order(self, result: Decimal, in_usd: Decimal, sign: Literal[1, -1]) -> None:
        self.trades += sign
        if result > ZERO:
            self.wins += sign
            self.won += sign * result
            self.won_in_usd += sign * in_usd
        elif result < ZERO:
            self.losses += sign
            self.lost += sign * result
            self.lost_in_usd += sign * in_usd
