"""The figures of a period, a day, a symbol or a coin, in USDT or in the coin itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from tradetui.trading.contract_math import ZERO
from tradetui.trading.results.periods import ResultSums


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFigures:
    """Trading results, all amounts in one coin; paid fees and funding are negative.

    `sums` count closing orders (`trades`) by profit and own fees; zero is neither won nor lost. `funding` is None where
    it is not known, and not in `net` then. `is_converted` says that some of it was converted from another coin,
    `is_complete` that no fill of it is known to be missing, or to have come without its fee or profit. `unexplained` is
    the change of the wallets beyond net and transfers; None where that is not known, or was not requested.
    """

    sums: ResultSums = field(default_factory=ResultSums)
    funding: Decimal | None = None
    is_converted: bool = False
    is_complete: bool = True
    unexplained: Decimal | None = None

    @property
    def net(self) -> Decimal:
        """Gross, fees and funding; without funding where that is not known."""
        return self.sums.net + (self.funding or ZERO)

    @property
    def fees_part(self) -> Decimal | None:
        """Fees that were paid as a fraction of the gross profit; None where there is none."""
        return -self.sums.fees / self.sums.gross if self.sums.gross > ZERO else None

    @property
    def won_part(self) -> Decimal | None:
        """Won orders as a fraction of all; None without orders."""
        return Decimal(self.sums.wins) / self.sums.trades if self.sums.trades else None

    @property
    def lost_part(self) -> Decimal | None:
        """Lost orders as a fraction of all; None without orders."""
        return Decimal(self.sums.losses) / self.sums.trades if self.sums.trades else None

    @property
    def average_won(self) -> Decimal | None:
        """The average result of a won order; None without one."""
        return self.sums.won / self.sums.wins if self.sums.wins else None

    @property
    def average_lost(self) -> Decimal | None:
        """The average result of a lost order, negative; None without one."""
        return self.sums.lost / self.sums.losses if self.sums.losses else None

    @property
    def average_order(self) -> Decimal | None:
        """The average result of a closing order; None without one."""
        return (self.sums.won + self.sums.lost) / self.sums.trades if self.sums.trades else None

    @property
    def profit_factor(self) -> Decimal | None:
        """Sum of wins ÷ sum of losses; None without losses."""
        return self.sums.won / -self.sums.lost if self.sums.lost else None


@dataclass(frozen=True, slots=True)
class ResultLine:
    """Figures of one group: a symbol, a coin, a day (`day` is it too), or empty for the whole; `coin` is their unit.

    `symbols` are those that the results of a coin are of.
    """

    group: str
    coin: str
    figures: ResultFigures
    day: date | None = None
    symbols: tuple[str, ...] = ()
