"""The row of one account among several, and the sums of rows by environment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import IntEnum
from typing import Final, NamedTuple

from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.trading.contract_math import known_sum
from tradetui.trading.position_figures import Exposure
from tradetui.trading.positions import Position
from tradetui.wire.models.futures import FuturesFill
from tradetui.wire.text import uid_tail

NO_KEY: Final = "no key"
UNIFIED: Final = "unified"


class RowState(IntEnum):
    """Why an account needs a person, the most urgent first."""

    UNKNOWN_OUTCOME = 0
    NO_LINK = 1
    REFUSED = 2
    NOT_OPENED = 3
    MARGIN = 4
    PARTLY_READ = 5
    STARTING = 6
    READ = 7

    @property
    def text(self) -> str:
        return _STATE_TEXTS[self]


_STATE_TEXTS: Final = {
    RowState.UNKNOWN_OUTCOME: "OUTCOME?",
    RowState.NO_LINK: "no link",
    RowState.REFUSED: "refused",
    RowState.NOT_OPENED: "not open",
    RowState.MARGIN: "margin",
    RowState.PARTLY_READ: "partly",
    RowState.STARTING: "starting",
    RowState.READ: "ok",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRow:
    """One account's present figures; None is unknown.

    `names` are the profiles of the account; the first one opens it. `age_s` is the whole seconds since accounts and
    positions were last read, `is_late` whether that is too long, and `problem` why. Money is in USDT: `unrealised`
    includes amounts converted from other coins, `unrealised_in_usdt` only amounts that the exchange reports in USDT.
    `positions` is None if the exchange reports none.
    """

    names: tuple[str, ...]
    environment: str
    uid: str | None = None
    state: RowState = RowState.STARTING
    age_s: int | None = None
    is_late: bool = True
    problem: str = ""
    equity: Decimal | None = None
    today: Decimal | None = None
    unrealised: Decimal | None = None
    unrealised_in_usdt: Decimal | None = None
    margin_ratio: Decimal | None = None
    positions: tuple[Position, ...] | None = None
    exposure: Exposure | None = None
    orders: int | None = None
    unknown_outcomes: tuple[str, ...] | None = None
    fills: tuple[ProductRow[FuturesFill], ...] = ()
    fill_age_min: int | None = None
    access: str = ""
    moved: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def has_key(self) -> bool:
        """Whether a profile has a key of the account; a sub-account read by its main account has none."""
        return self.access != NO_KEY

    @property
    def row_id(self) -> str:
        return self.name

    @property
    def uid_tail(self) -> str | None:
        return None if self.uid is None else uid_tail(self.uid)

    @property
    def last_fill(self) -> datetime | None:
        return max((fill.record.c_time for fill in self.fills), default=None)

    @property
    def nearest_liquidation(self) -> Position | None:
        """The position whose mark is nearest to its liquidation."""
        near = [position for position in self.positions or () if position.liquidation_distance is not None]
        return min(near, key=lambda position: position.liquidation_distance or 0, default=None)

    @property
    def liquidation_distance(self) -> Decimal | None:
        """The nearest position's distance from its liquidation, as a fraction of the mark."""
        return None if self.nearest_liquidation is None else self.nearest_liquidation.liquidation_distance


def by_need(rows: Iterable[AccountRow]) -> list[AccountRow]:
    """Return the rows by state, those that need a person first and nearest to liquidation first, then by name.

    Rows that need nobody do not change places with their margin.
    """

    def order(row: AccountRow) -> tuple[RowState, Decimal, Decimal, str]:
        ratio, distance = row.margin_ratio or Decimal(0), row.liquidation_distance
        if row.state > RowState.MARGIN:
            ratio, distance = Decimal(0), None
        return row.state, -ratio, Decimal("Infinity") if distance is None else distance, row.name.casefold()

    return sorted(rows, key=order)


class EnvironmentSum(NamedTuple):
    """The sums in USDT of one environment's accounts that have a figure; None if none has one.

    `counted` of `accounts` are in the sums. `late` are the accounts whose figures are missing or old, and which of the
    two. `oldest_s` is the greatest age in the sums.
    """

    environment: str
    accounts: int
    counted: int
    equity: Decimal | None
    unrealised: Decimal | None
    today: Decimal | None
    today_counted: int
    late: tuple[tuple[str, str], ...]
    oldest_s: int | None
    is_converted: bool

    @property
    def text(self) -> str:
        """How many accounts the sums hold, and which are late: `7 of 8 accounts (scalps: 40 s old)`."""
        late = ", ".join(f"{name}: {lateness}" for name, lateness in self.late)
        return f"{self.counted} of {self.accounts} accounts" + (f" ({late})" if late else "")


def sums_by_environment(rows: Sequence[AccountRow]) -> list[EnvironmentSum]:
    return [
        _sum_of(environment, [row for row in rows if row.environment == environment])
        for environment in sorted({row.environment for row in rows})
    ]


def _lateness(row: AccountRow) -> str:
    if row.age_s is None:
        return "not read yet"
    return f"{row.age_s} s old" if row.is_late else "figures not known"


def _sum_of(environment: str, rows: Sequence[AccountRow]) -> EnvironmentSum:
    counted = [row for row in rows if row.equity is not None]
    days = [row for row in counted if row.today is not None]
    return EnvironmentSum(
        environment,
        accounts=len(rows),
        counted=len(counted),
        equity=known_sum(row.equity for row in counted),
        unrealised=known_sum(row.unrealised_in_usdt for row in counted),
        today=known_sum(row.today for row in days),
        today_counted=len(days),
        late=tuple((row.name, _lateness(row)) for row in rows if row.is_late or row not in counted),
        oldest_s=max((row.age_s for row in counted if row.age_s is not None), default=None),
        is_converted=any(row.unrealised != row.unrealised_in_usdt for row in counted),
    )
