"""The figures of a period, a day, a symbol or a coin, in USDT or in the coin itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from tradetui.trading.contract_math import ZERO


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFigures:
    """What trading brought in, all amounts in one coin; fees and funding that were paid are negative.

    `funding` is None where it is not known, and not in `net` then. `orders`, `won` and `lost` count closing orders by
    profit and own fees, which `won_amount` and `lost_amount` sum; zero is neither. `is_converted` says that some of it
    was turned over from another coin, `is_complete` that no fill of it is known to be missing or, as
    `incomplete_fills` of them are, to have come without its fee or profit. `unexplained` is what the wallets moved by
    beyond net and transfers; None where that is not known, or was not asked for.
    """

    gross: Decimal = ZERO
    fees: Decimal = ZERO
    funding: Decimal | None = None
    volume: Decimal = ZERO
    orders: int = 0
    won: int = 0
    lost: int = 0
    won_amount: Decimal = ZERO
    lost_amount: Decimal = ZERO
    is_converted: bool = False
    is_complete: bool = True
    incomplete_fills: int = 0
    unexplained: Decimal | None = None

    @property
    def net(self) -> Decimal:
        """Gross, fees and funding; without funding where that is not known."""
        return self.gross + self.fees + (self.funding or ZERO)

    @property
    def fees_part(self) -> Decimal | None:
        """Fees that were paid as a fraction of the gross profit; None where there is none."""
        return -self.fees / self.gross if self.gross > ZERO else None

    @property
    def won_part(self) -> Decimal | None:
        """Won orders as a fraction of all; None without orders."""
        return Decimal(self.won) / self.orders if self.orders else None

    @property
    def lost_part(self) -> Decimal | None:
        """Lost orders as a fraction of all; None without orders."""
        return Decimal(self.lost) / self.orders if self.orders else None

    @property
    def average_won(self) -> Decimal | None:
        """What a won order brought on average; None without one."""
        return self.won_amount / self.won if self.won else None

    @property
    def average_lost(self) -> Decimal | None:
        """What a lost order cost on average, negative; None without one."""
        return self.lost_amount / self.lost if self.lost else None

    @property
    def average_order(self) -> Decimal | None:
        """What a closing order brought on average; None without one."""
        return (self.won_amount + self.lost_amount) / self.orders if self.orders else None

    @property
    def profit_factor(self) -> Decimal | None:
        """What was won ÷ what was lost; None without losses."""
        return self.won_amount / -self.lost_amount if self.lost_amount else None


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
