"""Round trips: a leg from flat to flat, found by adding its fills to a `RunningLeg`, oldest first.

The oldest fills may be missing, because the exchange keeps only ninety days. Nothing is invented for them: a trip with
an unknown start is marked. In one-way mode a fill does not say whether it opens or closes; an ambiguous one counts as a
close only if that is proven.

Also sums of results in one coin, over a quarter-hour, a period or an account.
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

    `opened_ms` is None if no opening fill is known. `start_proven` is False if more may have been held before.
    `profit_difference` is the exchange's profit minus the profit computed from prices, except its rounding.
    `other_fees` are fees in other coins. `ended` is whether it led back to flat. A change of position mode ends a trip
    too, because nothing can be held then; its closing fills are not known. `incomplete_fills` lack their fee or profit.
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
        """The average price of the opening fills; None if not known."""
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
    """The numbers of ended, won and lost trips; a net of zero is neither won nor lost."""

    ended: int
    won: int
    lost: int

    @classmethod
    def of_nets(cls, nets: Collection[Decimal]) -> Self:
        """Count ended trips by their net, with funding if known."""
        return cls(len(nets), sum(net > ZERO for net in nets), sum(net < ZERO for net in nets))

    @property
    def won_part(self) -> Decimal | None:
        """Won trips as a fraction of the ended ones; None without one."""
        return Decimal(self.won) / self.ended if self.ended else None


class Closing(NamedTuple):
    """The closed part of a fill: all of its profit, and its own fees in proportion to the closed size, in its coin."""

    size: Decimal
    profit: Decimal
    fees: Decimal


class FillOutcome(NamedTuple):
    """The effect of a fill on its leg: the part that closed, if any, and the trips that it ended."""

    closing: Closing | None
    ended: tuple[Trip, ...]


@dataclass(slots=True)
class RunningLeg(HeldLeg):
    """A leg summed from its fills, and the running trip.

    `proven` is whether the size is known: the first known fill may not be the first ever. Until then, a close in
    one-way mode counts only if the fill itself proves it.
    """

    key: LegKey = field(kw_only=True)
    proven: bool = False
    trip: Trip | None = None

    @classmethod
    def flat(cls, key: LegKey, *, proven: bool = False) -> RunningLeg:
        """Return a leg of which nothing is held, for certain if `proven`."""
        return cls(key.leg is not PositionSide.SHORT, key=key, proven=proven)

    def flatten(self) -> tuple[Trip, ...]:
        """Record as proven that nothing is held; return the trip that this ends, whose closing fills are unknown."""
        ended = () if self.trip is None else (self.trip,)
        self.size, self.value, self.proven, self.trip = ZERO, ZERO, True, None
        return ended

    def add(self, fill: BookedFill) -> FillOutcome:
        """Add the next fill of this leg, in order of time."""
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
        """Return the size that a fill closes, and whether that is proven or only the likelier of two readings."""
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
            return closable, False  # a close at its own entry has no profit to show it
        return ZERO, True

    def _open(self, fill: BookedFill, size: Decimal, fees: Decimal, *, long: bool) -> tuple[Trip, ...]:
        """Open with a part of a fill; return the trip that must have ended before it, unseen."""
        trip = self.trip
        ended: tuple[Trip, ...] = ()
        if trip is None or trip.long is not long or trip.opened_ms is None:
            # Fills before it are missing: no side opens against the other, and no trip begins with its end.
            trip, ended = self._begin_trip(fill, long=long, opened=True)
        value = size * fill.price
        trip.opened_size += size
        trip.opened_value += value
        self.open(size, value)
        # Fees in other coins count once, with the closing part.
        self._count(trip, fill, fees, fill.other_fees if size == fill.size else {})
        return ended

    def _close(self, fill: BookedFill, size: Decimal, fees: Decimal, *, long: bool) -> tuple[Trip, ...]:
        """Close with a part of a fill; return the trip that it ends, or one that must have ended before, unseen."""
        trip = self.trip
        ended: tuple[Trip, ...] = ()
        if trip is None or trip.long is not long:
            # The closed size was opened before the known fills.
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
            return ended  # further closes of an earlier opened size belong to it
        trip.ended = True
        self.trip = None
        return (trip,)

    def _begin_trip(self, fill: BookedFill, *, long: bool, opened: bool) -> tuple[Trip, tuple[Trip, ...]]:
        """Begin a trip with a fill that opens it or closes an unknown size; also return the trip before it."""
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
        """Return the exchange's profit of a close minus the one computed from prices, except its rounding."""
        computed = self.profit_of(self.key.product_type, size, fill.price)
        # The exchange rounds to its last digit.
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
    """Return a trip for JSON: decimals as text, fields in the order of the class."""
    values = {name: getattr(trip, name) for name in _TRIP_FIELDS}
    values |= {name: str(values[name]) for name in _TRIP_DECIMALS}
    values["other_fees"] = {coin: str(amount) for coin, amount in trip.other_fees.items()}
    return list(values.values())


def trip_from_json(values: list[Any]) -> Trip:
    fields: dict[str, Any] = dict(zip(_TRIP_FIELDS, values, strict=True))
    for name in _TRIP_DECIMALS:
        fields[name] = Decimal(fields[name])
    fields["other_fees"] = {coin: Decimal(amount) for coin, amount in fields["other_fees"].items()}
    return Trip(**fields)


RUNNING_TRIP: Final = "$[4]"
"""SQLite's path of the running trip in the JSON of a leg's state."""


def trip_path(field_name: str, trip: str = "$") -> str:
    """Return SQLite's path of a field in the JSON of a trip, which may itself be at a path."""
    return f"{trip}[{_TRIP_FIELDS.index(field_name)}]"


def leg_as_json(leg: RunningLeg) -> list[object]:
    """Return a leg's state for JSON, without its key."""
    trip = None if leg.trip is None else trip_as_json(leg.trip)
    return [leg.long, str(leg.size), str(leg.value), leg.proven, trip]


def leg_from_json(key: LegKey, values: list[Any]) -> RunningLeg:
    long, size, value, proven, trip = values
    trip = None if trip is None else trip_from_json(trip)
    return RunningLeg(long, Decimal(size), Decimal(value), key=key, proven=proven, trip=trip)


@dataclass(slots=True)
class ResultSums:
    """Results in one coin: the sums of fills, and the outcomes of closing orders.

    `gross` is profit before fees; paid fees are negative; `volume` is in the quote coin. `trades` are closing orders;
    `won` and `lost` are the sums of winning and losing ones after their own fees. Fields that end in `in_usd` are the
    same at each fill's own price, only for coin-margined contracts. `incomplete_fills` counts fills whose fee or profit
    the exchange did not give, and which the sums therefore lack.
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

    def book(self, booking: CoinBooking, sign: Literal[1, -1] = 1) -> None:
        """Add a booking, or with -1 take it out."""
        self.gross += sign * booking.gross
        self.fees += sign * booking.fees
        self.volume += sign * booking.volume
        self.gross_in_usd += sign * booking.gross_in_usd
        self.fees_in_usd += sign * booking.fees_in_usd
        self.incomplete_fills += sign * booking.incomplete_fills

    def count_order(self, result: Decimal, in_usd: Decimal, sign: Literal[1, -1] = 1) -> None:
        """Count a closing order by its profit and own fees: positive is won, negative is lost; -1 takes it out."""
        self.trades += sign
        if result > ZERO:
            self.wins += sign
            self.won += sign * result
            self.won_in_usd += sign * in_usd
        elif result < ZERO:
            self.losses += sign
            self.lost += sign * result
            self.lost_in_usd += sign * in_usd

    def add(self, other: ResultSums) -> None:
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
        """Return the same results in another coin, at a rate; without those in dollars."""
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
