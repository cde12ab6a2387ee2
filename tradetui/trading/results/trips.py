"""Round trips: a leg from flat to flat, worked out by adding its fills to a `RunningLeg`, oldest first.

The oldest fills may be missing, since the exchange keeps ninety days of them. Nothing is made up for them: a trip
whose start is not known says so, and in one-way mode, where a fill does not say whether it opens or closes, one that
may be either is counted as a close only where that is proven.

Sums of results in one coin, over a quarter-hour, a period or an account.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple, Self

from tradetui.trading.contract_math import ZERO
from tradetui.trading.holdings import HeldLeg
from tradetui.trading.results.booking import BookedFill, CoinBooking, LegKey
from tradetui.wire.enums import PositionSide


@dataclass(slots=True, kw_only=True)
class Trip:
    """One round trip, running or ended. Sizes are in the base coin, profit and fees in `coin`, times Unix ms.

    `opened_ms` is None where no opening fill is known. `start_proven` is False where more may have been held before.
    `profit_difference` is what the exchange's profit has beyond the one computed from the fills' prices, its rounding
    aside. `other_fees` are fees in other coins. `ended` says whether it led back to flat; a change of position mode
    ends it too, since nothing can be held then, and the fills that closed it are not known. `incomplete_fills` came
    without their fee or profit.
    """

    long: bool
    coin: str
    opened_ms: int | None
    last_ms: int
    start_proven: bool
    opened_by: str = ""
    closed_by: str = ""
    forced_by: str = ""
    opened_size: Decimal = ZERO
    opened_value: Decimal = ZERO
    closed_size: Decimal = ZERO
    closed_value: Decimal = ZERO
    gross: Decimal = ZERO
    fees: Decimal = ZERO
    profit_difference: Decimal = ZERO
    fill_count: int = 0
    ended: bool = False
    other_fees: dict[str, Decimal] = field(default_factory=dict)
    incomplete_fills: int = 0

    @property
    def entry(self) -> Decimal | None:
        """The average price of the opening fills; None where that is not known."""
        return self.opened_value / self.opened_size if self.opened_size else None

    @property
    def exit(self) -> Decimal | None:
        """The average price of the closing fills."""
        return self.closed_value / self.closed_size if self.closed_size else None

    @property
    def net(self) -> Decimal:
        """Profit after fees, before funding."""
        return self.gross + self.fees


class TripCounts(NamedTuple):
    """How many ended trips there are, won and lost among them; a net of zero is neither."""

    ended: int
    won: int
    lost: int

    @classmethod
    def of_nets(cls, nets: Collection[Decimal]) -> Self:
        """Counts of ended trips by their net, funding included where it is known."""
        return cls(len(nets), sum(net > ZERO for net in nets), sum(net < ZERO for net in nets))

    @property
    def won_part(self) -> Decimal | None:
        """Won trips as a fraction of the ended ones; None without one."""
        return Decimal(self.won) / self.ended if self.ended else None


class Closing(NamedTuple):
    """What a fill closed: all of its profit, and its own fees in proportion to the closed size, in its coin."""

    size: Decimal
    profit: Decimal
    fees: Decimal


class FillOutcome(NamedTuple):
    """The effect of a fill on its leg: what it closed, if anything, and the trips it ended."""

    closing: Closing | None
    ended: tuple[Trip, ...]


@dataclass(slots=True)
class RunningLeg(HeldLeg):
    """A leg as its fills sum it up, and the running trip.

    `proven` says whether the size is known: the first fill may not have been the first ever. Until it is, a close in
    one-way mode counts only where the fill itself proves it.
    """

    key: LegKey = field(kw_only=True)
    proven: bool = False
    trip: Trip | None = None

    @classmethod
    def flat(cls, key: LegKey, *, proven: bool = False) -> RunningLeg:
        """A leg of which nothing is held, as far as is known or for certain."""
        return cls(key.leg is not PositionSide.SHORT, key=key, proven=proven)

    def flatten(self) -> tuple[Trip, ...]:
        """Take it for proven that nothing is held now; gives the trip that ends thereby, its closing fills unknown."""
        ended = () if self.trip is None else (self.trip,)
        self.size, self.value, self.proven, self.trip = ZERO, ZERO, True, None
        return ended

    def add(self, fill: BookedFill) -> FillOutcome:
        """Add the next fill of this leg, in the order of time."""
        if fill.terms.effect is None:
            return self._add_unknown(fill)
        if fill.size <= ZERO:
            return FillOutcome(None, ())
        is_net, buys = self.key.leg is PositionSide.NET, fill.terms.buys
        opens_long, closes_long = (buys, not buys) if is_net else (self.long, self.long)
        closed, is_proven = self._closed_size(fill, opens_long=opens_long)
        if not closed:
            return FillOutcome(None, self._open(fill, fill.size, fill.fees, long=opens_long))
        fees = fill.fees if closed == fill.size else fill.fees * closed / fill.size
        ended = self._close(fill, closed, fees, long=closes_long)
        if closed < fill.size:
            ended += self._open(fill, fill.size - closed, fill.fees - fees, long=opens_long)
        return FillOutcome(Closing(closed, fill.profit or ZERO, fees) if is_proven else None, ended)

    def _closed_size(self, fill: BookedFill, *, opens_long: bool) -> tuple[Decimal, bool]:
        """The size that a fill closes, and whether that is proven or only the likelier of two readings."""
        size, opens = fill.size, fill.terms.opens
        if self.key.leg is not PositionSide.NET:
            return ZERO if opens else size, True
        is_against = self.size > ZERO and self.long is not opens_long
        closable = min(size, self.size)
        if self.proven:
            if is_against and (opens is None or size <= self.size):
                return closable, True
            closes_unknown = opens is not None or bool(fill.profit)  # more than is held: older fills are missing
            return size if closes_unknown else ZERO, True
        if opens is False or fill.profit:
            return closable if is_against and opens is None else size, True
        if is_against and fill.price * self.size == self.value:
            return closable, False  # at its own entry a close makes no profit to tell it by
        return ZERO, True

    def _open(self, fill: BookedFill, size: Decimal, fees: Decimal, *, long: bool) -> tuple[Trip, ...]:
        """Open with a part of a fill; gives the trip that this shows to have ended unseen."""
        trip = self.trip
        ended: tuple[Trip, ...] = ()
        if trip is None or trip.long is not long or trip.opened_ms is None:
            # What came before was not all: a side cannot be opened against the other, nor a trip begin with its end.
            trip, ended = self._begin_trip(fill, long=long, opened=True)
        value = size * fill.price
        trip.opened_size += size
        trip.opened_value += value
        self.open(size, value)
        # Fees in other coins count once, with the part that closes.
        self._count(trip, fill, fees, fill.other_fees if size == fill.size else {})
        return ended

    def _close(self, fill: BookedFill, size: Decimal, fees: Decimal, *, long: bool) -> tuple[Trip, ...]:
        """Close with a part of a fill; gives the trip that it ends, or one that this shows to have ended unseen."""
        trip = self.trip
        ended: tuple[Trip, ...] = ()
        if trip is None or trip.long is not long:
            # What is closed here was opened before the fills that are known.
            trip, ended = self._begin_trip(fill, long=long, opened=False)
        if size > self.size:
            self.proven = trip.start_proven = False
        elif self.size and fill.profit is not None:
            trip.profit_difference += self._difference(fill, size, fill.profit)
        trip.gross += fill.profit or ZERO
        trip.closed_size += size
        trip.closed_value += size * fill.price
        trip.closed_by, trip.forced_by = fill.order_id, fill.terms.forced_by or ""
        self._count(trip, fill, fees, fill.other_fees)
        self.close(size)
        if self.size or trip.opened_ms is None:
            return ended  # further closes of what was opened before belong to it
        trip.ended = True
        self.trip = None
        return (trip,)

    def _begin_trip(self, fill: BookedFill, *, long: bool, opened: bool) -> tuple[Trip, tuple[Trip, ...]]:
        """Begin a trip with a fill that opens it, or closes what is not known; gives the trip before it too, if any."""
        ended = () if self.trip is None else (self.trip,)
        self.long, self.size, self.value = long, ZERO, ZERO
        self.trip = Trip(
            long=long,
            coin=fill.coin,
            opened_ms=fill.time if opened else None,
            last_ms=fill.time,
            start_proven=opened and self.proven,
            opened_by=fill.order_id if opened else "",
        )
        return self.trip, ended

    def _difference(self, fill: BookedFill, size: Decimal, profit: Decimal) -> Decimal:
        """The exchange's profit of a close beyond the one computed from prices, its rounding aside."""
        computed = self.profit_of(self.key.product_type, size, fill.price)
        # The exchange rounds to the last digit that it writes.
        exponent = profit.as_tuple().exponent
        last_digit = Decimal(1).scaleb(exponent) if isinstance(exponent, int) else ZERO
        difference = profit - computed
        return difference if abs(difference) > last_digit else ZERO

    def _add_unknown(self, fill: BookedFill) -> FillOutcome:
        self.proven = False
        if self.trip is not None:
            self.trip.start_proven = False
        return FillOutcome(Closing(fill.size, fill.profit, fill.fees) if fill.profit else None, ())

    @staticmethod
    def _count(trip: Trip, fill: BookedFill, fees: Decimal, other_fees: Mapping[str, Decimal]) -> None:
        trip.fees += fees
        trip.last_ms = fill.time
        trip.fill_count += 1
        trip.incomplete_fills += not fill.is_complete
        for coin, amount in other_fees.items():
            trip.other_fees[coin] = trip.other_fees.get(coin, ZERO) + amount


_TRIP_FIELDS: Final = tuple(entry.name for entry in fields(Trip))
_TRIP_DECIMALS: Final = tuple(entry.name for entry in fields(Trip) if entry.type == "Decimal")


def trip_as_json(trip: Trip) -> list[object]:
    """A trip as JSON holds it, decimals as text, its fields in the order of the class."""
    values = {name: getattr(trip, name) for name in _TRIP_FIELDS}
    values |= {name: str(values[name]) for name in _TRIP_DECIMALS}
    values["other_fees"] = {coin: str(amount) for coin, amount in trip.other_fees.items()}
    return list(values.values())


def trip_from_json(values: list[Any]) -> Trip:
    """A trip as `trip_as_json` wrote it."""
    fields: dict[str, Any] = dict(zip(_TRIP_FIELDS, values, strict=True))
    for name in _TRIP_DECIMALS:
        fields[name] = Decimal(fields[name])
    fields["other_fees"] = {coin: Decimal(amount) for coin, amount in fields["other_fees"].items()}
    return Trip(**fields)


RUNNING_TRIP: Final = "$[4]"
"""SQLite's path of the running trip in the JSON of a leg's state."""


def trip_path(field_name: str, trip: str = "$") -> str:
    """SQLite's path of a field in the JSON of a trip, which may itself stand at a path."""
    return f"{trip}[{_TRIP_FIELDS.index(field_name)}]"


def leg_as_json(leg: RunningLeg) -> list[object]:
    """A leg's state as JSON holds it; its key is not in it."""
    trip = None if leg.trip is None else trip_as_json(leg.trip)
    return [leg.long, str(leg.size), str(leg.value), leg.proven, trip]


def leg_from_json(key: LegKey, values: list[Any]) -> RunningLeg:
    long, size, value, proven, trip = values
    trip = None if trip is None else trip_from_json(trip)
    return RunningLeg(long, Decimal(size), Decimal(value), key=key, proven=proven, trip=trip)


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
