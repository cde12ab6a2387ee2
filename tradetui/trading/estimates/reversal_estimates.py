"""The estimates of a reversal: its costs, its risks, and the result if its nearest stop fills.

The exchange does not document whether both legs of a hedged contract count towards maintenance margin, or only the
larger one. Both ways of counting are tried on the present holdings. Those that give the reported liquidation price are
used for the holdings after the reversal; they give margin ratio and liquidation price.

`rows` formats all estimates as text, for the command line and for programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum, StrEnum, auto
from typing import Final, NamedTuple

from tradetui.trading.contract_math import ZERO, exact_digits_if_known, grouped_digits, profit
from tradetui.trading.estimates.cost_estimates import Basis, ReversalCosts, notional_coin
from tradetui.trading.positions import Position, sensible_liquidation
from tradetui.trading.reversal import ReversalPlan
from tradetui.trading.trigger_orders import LegStops, StopLoss, stops_of_leg
from tradetui.wire.enums import PositionSide
from tradetui.wire.models.futures import TriggerOrder
from tradetui.wire.models.futures_accounts import FuturesAccount
from tradetui.wire.product_types import margin_coin

MEETS_WITHIN: Final = Decimal("0.01")
"""A formula is not used if its price for the current position differs from the reported one by more than this."""
_CLEARLY_FURTHER: Final = Decimal("0.0002")
"""A formula is wrong if its price is this much further from the reported one than the best formula's."""
_SHOWN_STEP: Final = Decimal("0.0001")
"""The smallest visible difference of two ratios, shown in per cent with two decimals."""


class Estimable(StrEnum):
    """Whether a liquidation price after the reversal can be estimated; the value is why not."""

    YES = ""
    NOT_REPORTED = "the exchange reports none to check it by"
    SEVERAL_COINS = "other coins stand behind the margin too"
    TOO_LITTLE = "the exchange reports too little about the margin"
    UNKNOWN_MODE = "the position's margin mode is not known"
    DOES_NOT_MEET = "the formula does not give the reported price for what is held now"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalRisks:
    """Margin ratios are fractions (1 is liquidation), liquidation prices in the quote coin.

    `liquidation` is the reported price. `liquidation_after` is estimated if `estimable` is YES; None then means that no
    price would liquidate. `ratio_is_own` is whether the ratio is the isolated position's own. `ratio_is_most` is
    whether it may be lower, because the reported figures do not show how the exchange counts the legs.
    """

    ratio: Decimal | None = None
    ratio_after: Decimal | None = None
    ratio_is_own: bool = False
    ratio_is_most: bool = False
    liquidation: Decimal | None = None
    liquidation_after: Decimal | None = None
    estimable: Estimable


def reversal_risks(plan: ReversalPlan, basis: Basis, costs: ReversalCosts) -> ReversalRisks:
    """Return both risks now and afterwards; of two possible results, those of the one that trades more."""
    now = _risks_now(basis)
    ways = _ways_of_counting(plan, basis, costs)
    if not ways or not basis.mark:
        return now
    estimable = now.estimable
    if estimable is not Estimable.NOT_REPORTED:
        if basis.account is not None and basis.account.is_union and not basis.is_isolated:
            estimable = Estimable.SEVERAL_COINS
        else:
            prices_now = [way.now.liquidation_price() for way in ways]
            confirmed = [ways[index] for index in best_meeting(prices_now, now.liquidation)]
            estimable = Estimable.YES if confirmed else Estimable.DOES_NOT_MEET
            ways = confirmed or ways
    ratios = [way.after.ratio for way in ways if way.after.ratio is not None]
    prices = [way.after.liquidation_price() for way in ways]
    return replace(
        now,
        ratio_after=max(ratios, default=None),
        ratio_is_most=bool(ratios) and max(ratios) - min(ratios) >= _SHOWN_STEP,
        liquidation_after=nearest_to(basis.mark, prices) if estimable is Estimable.YES else None,
        estimable=estimable,
    )


def _risks_now(basis: Basis) -> ReversalRisks:
    """Return the reported risks, and why none can be estimated for afterwards without a way of counting."""
    position, account = basis.position, basis.account
    reported = position.liquidation if position is not None else None
    estimable = Estimable.NOT_REPORTED if reported is None else Estimable.TOO_LITTLE
    if position is None or account is None or not basis.mark:
        return ReversalRisks(estimable=estimable)
    liquidation = sensible_liquidation(reported, basis.mark)
    if basis.margin_unclear:
        return ReversalRisks(liquidation=liquidation, estimable=Estimable.UNKNOWN_MODE)
    return ReversalRisks(
        ratio=position.margin_ratio if basis.is_isolated else account.margin_ratio,
        ratio_is_own=basis.is_isolated,
        liquidation=liquidation,
        estimable=estimable,
    )


def _ways_of_counting(plan: ReversalPlan, basis: Basis, costs: ReversalCosts) -> Sequence[_NowAndAfter]:
    """Return the margin now and afterwards for each way of counting legs; none if too little is reported."""
    position, account = basis.position, basis.account
    if position is None or account is None or not basis.mark or basis.margin_unclear:
        return ()
    legs = _legs_of(position, basis.other_leg)
    legs_after = _legs_after(plan, legs, costs)
    rate = position.record.keep_margin_rate if position.record is not None else None
    if rate is None or legs_after is None:
        return ()
    is_inverse = plan.params.product_type.is_coin_margined
    empty = MarginedContract((), basis.mark, ZERO, ZERO, rate, is_inverse, LegCounting.LARGER_LEG)
    if basis.is_isolated:
        return _isolated(position, basis.other_leg, legs_after[-1], costs.needed, empty)
    return _crossed(account, legs, legs_after, costs.equity_change, empty)


class _NowAndAfter(NamedTuple):
    """The same margin by one way of counting legs, before and after the reversal."""

    now: MarginedContract
    after: MarginedContract


def _crossed(
    account: FuturesAccount,
    legs: tuple[Leg, ...],
    legs_after: tuple[Leg, ...],
    equity_change: Decimal | None,
    empty: MarginedContract,
) -> Sequence[_NowAndAfter]:
    """Return the account now and afterwards for each way of counting legs; none if too little is reported."""
    ratio = account.margin_ratio
    backing = account.union_total_margin if account.is_union else _crossed_equity(account)
    if ratio is None or backing is None or equity_change is None:
        return ()
    pairs = []
    for counting in LegCounting:
        alone = replace(empty, legs=legs, backing=backing, counting=counting)
        now = replace(alone, maintenance_elsewhere=ratio * backing - alone.maintenance)
        pairs.append(_NowAndAfter(now, replace(now, legs=legs_after, backing=backing + equity_change)))
    return pairs


def _isolated(
    position: Position, other: Position | None, opened: Leg, needed: Decimal | None, empty: MarginedContract
) -> Sequence[_NowAndAfter]:
    """Return the reversed leg now and the opened leg afterwards, with their own margins."""
    reversed_leg, margin = _leg(position), _reported_margin(position)
    other_margin = ZERO if other is None else _reported_margin(other)
    if reversed_leg is None or margin is None or other_margin is None or needed is None:
        return ()
    if not (reversed_leg.entry and opened.entry):
        return ()  # an entry of zero means that there is none

    def alone(leg: Leg, margin: Decimal) -> MarginedContract:
        # At its entry a leg has no profit yet, so only its margin backs it.
        at_entry = replace(empty, legs=(leg,), mark=leg.entry, backing=margin)
        return replace(at_entry, mark=empty.mark, backing=at_entry.backing_at(empty.mark))

    return (_NowAndAfter(alone(reversed_leg, margin), alone(opened, other_margin + needed)),)


def _reported_margin(position: Position) -> Decimal | None:
    return position.record.margin_size if position.record is not None else None


def _crossed_equity(account: FuturesAccount) -> Decimal:
    """Return the equity without the margin of isolated positions."""
    return account.account_equity - (account.isolated_margin or ZERO) - (account.isolated_unrealized_pl or ZERO)


def _legs_of(*positions: Position | None) -> tuple[Leg, ...]:
    legs = [_leg(position) for position in positions if position is not None]
    return tuple(leg for leg in legs if leg is not None)


def _leg(position: Position) -> Leg | None:
    if position.is_long is None or position.entry is None:
        return None
    return Leg(position.is_long, position.size, position.entry)


def _legs_after(plan: ReversalPlan, legs: Sequence[Leg], costs: ReversalCosts) -> tuple[Leg, ...] | None:
    """Return the remainder of the reversed leg, if any, then the opened leg with the size already in it.

    None if an entry is not known, or nothing is opened.
    """
    reversed_leg = next((leg for leg in legs if leg.is_long == plan.reverses_long), None)
    other = next((leg for leg in legs if leg.is_long != plan.reverses_long), None)
    if reversed_leg is None or costs.entry_after is None:
        return None
    left = replace(reversed_leg, size=reversed_leg.size - costs.closed)
    opened = Leg(not plan.reverses_long, costs.opened + (other.size if other is not None else ZERO), costs.entry_after)
    return (left, opened) if left.size > ZERO else (opened,)


class LegCounting(Enum):
    """Which legs of a contract count towards maintenance margin."""

    LARGER_LEG = auto()
    BOTH_LEGS = auto()


@dataclass(frozen=True, slots=True)
class Leg:
    """One leg of a contract: its size in the base coin, never negative, and its entry price."""

    is_long: bool
    size: Decimal
    entry: Decimal

    @property
    def signed(self) -> Decimal:
        """The size, negative for a short leg."""
        return self.size if self.is_long else -self.size


@dataclass(frozen=True, slots=True)
class MarginedContract:
    """The legs of one contract that share their margin, and the equity that backs them at the mark.

    `backing` is equity in the margin coin: the account's for crossed margin, the position's own for isolated.
    `maintenance_elsewhere` is the maintenance margin of other contracts. `rate` is the maintenance margin rate, a
    fraction.
    """

    legs: tuple[Leg, ...]
    mark: Decimal
    backing: Decimal
    maintenance_elsewhere: Decimal
    rate: Decimal
    inverse: bool
    """Whether the coin itself is the margin."""
    counting: LegCounting

    @property
    def maintenance(self) -> Decimal:
        return self.maintenance_elsewhere + self.maintenance_at(self.mark)

    @property
    def ratio(self) -> Decimal | None:
        """Maintenance margin as a fraction of the backing; None without backing."""
        return self.maintenance / self.backing if self.backing > ZERO else None

    def maintenance_at(self, price: Decimal) -> Decimal:
        return self.rate * counted_size(self.legs, self.counting) * (1 if self.inverse else price)

    def backing_at(self, price: Decimal) -> Decimal:
        """Return the backing at another price of this contract, with all other prices unchanged."""
        net, cost = self._net_and_cost()
        if self.inverse:
            return self.backing + cost / self.mark - cost / price
        return self.backing + net * (price - self.mark)

    def liquidation_price(self) -> Decimal | None:
        """Return the price at which the backing equals maintenance margin; None if no sensible price does."""
        net, cost = self._net_and_cost()
        counted = counted_size(self.legs, self.counting)
        if self.inverse:
            above = cost
            below = self.backing + cost / self.mark - self.maintenance_elsewhere - self.rate * counted
        else:
            above = self.maintenance_elsewhere - self.backing + net * self.mark
            below = net - self.rate * counted
        return sensible_liquidation(above / below if below else None, self.mark)

    def _net_and_cost(self) -> tuple[Decimal, Decimal]:
        return sum((leg.signed for leg in self.legs), ZERO), sum((leg.signed * leg.entry for leg in self.legs), ZERO)


def counted_size(legs: Iterable[Leg], counting: LegCounting) -> Decimal:
    """Return the size of a contract's legs that counts towards maintenance margin, in the base coin."""
    sizes: dict[bool, Decimal] = {True: ZERO, False: ZERO}
    for leg in legs:
        sizes[leg.is_long] += leg.size
    return max(sizes.values()) if counting is LegCounting.LARGER_LEG else sum(sizes.values(), ZERO)


def best_meeting(estimates: Sequence[Decimal | None], reported: Decimal | None) -> list[int]:
    """Return the indices of formulas whose price for the current position is within one per cent of the reported one.

    Formulas clearly worse than the best are left out; small differences come from marks read moments apart.
    """
    distances = [_distance(estimate, reported) for estimate in estimates]
    best = min(distances, default=Decimal(1))
    return [
        index
        for index, distance in enumerate(distances)
        if distance <= MEETS_WITHIN and distance - best <= _CLEARLY_FURTHER
    ]


def _distance(estimate: Decimal | None, reported: Decimal | None) -> Decimal:
    if estimate is None or reported is None:
        return ZERO if estimate is reported else Decimal(1)
    return abs(estimate - reported) / reported


def nearest_to(mark: Decimal, prices: Sequence[Decimal | None]) -> Decimal | None:
    """Return the liquidation price nearest to the mark, the most cautious one; None without prices."""
    return min((price for price in prices if price is not None), key=lambda price: abs(price - mark), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalEstimates:
    """Costs, risks and the result of the nearest stop; `stop` is None if no stop can be read.

    `mark` is in the quote coin. `base_coin`, `quote_coin` and `margin_coin` are the coins of sizes, prices and money.
    """

    costs: ReversalCosts
    risks: ReversalRisks
    stop: StopResult | None
    mark: Decimal | None
    base_coin: str
    quote_coin: str
    margin_coin: str

    def rows(self) -> tuple[CostEstimate, ...]:
        costs, risks, money = self.costs, self.risks, self.margin_coin
        closed, opened = grouped_digits(costs.closed), grouped_digits(costs.opened)
        at = "no price can be read" if costs.price is None else f"at {grouped_digits(costs.price)}, {costs.price_from}"
        rate = "" if costs.fee_rate is None else f" {grouped_digits(round(costs.fee_rate * 100, 4))} %"
        rows = [
            CostEstimate("traded", costs.traded, self.base_coin, f"{closed} closed and {opened} opened"),
            CostEstimate("notional", costs.notional, self.quote_coin, f"what is traded, {at}"),
            CostEstimate("fees", costs.fees, money, f"{costs.fee_from}{rate}, on what is traded"),
            CostEstimate("realised profit", costs.realised, money, f"of the {closed} closed, {at}"),
            CostEstimate("margin needed", costs.needed, money, f"for the {opened} opened, at the position's leverage"),
            CostEstimate("margin available", costs.free_after, money, "the account's free margin", now=costs.free),
            CostEstimate("margin freed", costs.freed, money, f"by the {closed} closed"),
            CostEstimate("margin ratio", risks.ratio_after, "", "at 1 the exchange liquidates", now=risks.ratio),
            CostEstimate(
                "liquidation price",
                risks.liquidation_after,
                self.quote_coin,
                risks.estimable or "while all other prices stand",
                now=risks.liquidation,
            ),
        ]
        if self.stop is not None:
            basis = _stop_basis(self.stop)
            rows.append(CostEstimate("result if stopped", self.stop.afterwards, money, basis, now=self.stop.now))
        return tuple(rows)


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """One estimate as a row of text: its name, its value afterwards and now, its coin, and its source."""

    name: str
    value: Decimal | None
    coin: str
    basis: str
    now: Decimal | None = None

    def as_json(self) -> dict[str, str | None]:
        """Return the estimate with decimals as text; `now` only if known."""
        row = {"name": self.name, "value": exact_digits_if_known(self.value), "coin": self.coin, "basis": self.basis}
        return row if self.now is None else {**row, "now": exact_digits_if_known(self.now)}


def _stop_basis(stop: StopResult) -> str:
    leg = stop.leg.upper()
    part = f"{grouped_digits(stop.size)} of the {leg}"
    if stop.price is not None:
        reported = ", only the position reports this stop" if stop.is_only_reported else ""
        unread = "; other waiting stops cannot be read" if stop.others_unread else ""
        return f"at {grouped_digits(stop.price)}{f', {part}' if stop.is_part else ''}{reported}{unread}"
    if stop.trails:
        return f"a trailing stop waits for {part if stop.is_part else f'the {leg}'}: its price moves, not estimable"
    return f"no stop waits for the {leg}"


def reversal_estimates(
    plan: ReversalPlan, basis: Basis, costs: ReversalCosts, stops: Sequence[TriggerOrder] | None
) -> ReversalEstimates:
    """Return every estimate of a plan; `stops` are the symbol's waiting trigger orders, None if they cannot be read."""
    product_type, symbol, contract = plan.params.product_type, plan.params.symbol, basis.contract
    quote = product_type.settlement_coin or "USD"
    base = margin_coin(product_type, symbol) if product_type.is_coin_margined else symbol.partition(quote)[0]
    return ReversalEstimates(
        costs=costs,
        risks=reversal_risks(plan, basis, costs),
        stop=result_if_stopped(plan, basis, costs, stops),
        mark=basis.mark,
        base_coin=(contract.base_coin if contract is not None else None) or (base or "").removesuffix("PERP"),
        quote_coin=notional_coin(product_type, contract),
        margin_coin=plan.params.margin_coin,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StopResult:
    """The result of the opened leg in the margin coin if its nearest stop-loss fills at its trigger price.

    `price` is None if no stop-loss waits for that leg. Then `ending` is the stop price of the reversed leg, and `now`
    the result there. `trails` is whether trailing stops, whose price moves, wait for the leg instead; `now_trails` is
    the same for the reversed leg. `size` is the size that the stop, or all trailing stops together, close afterwards,
    `leg_size` the whole leg, both in the base coin. `is_only_reported` is whether only the position names the stop, and
    no order of it can be read. `others_unread` is whether waiting stops could not be read, so that a nearer one may
    exist.
    """

    leg: PositionSide
    price: Decimal | None = None
    now: Decimal | None = None
    afterwards: Decimal | None = None
    size: Decimal = ZERO
    leg_size: Decimal = ZERO
    ending: Decimal | None = None
    trails: bool = False
    now_trails: bool = False
    is_only_reported: bool = False
    others_unread: bool = False

    @property
    def is_part(self) -> bool:
        return self.size < self.leg_size


def result_if_stopped(
    plan: ReversalPlan, basis: Basis, costs: ReversalCosts, stops: Sequence[TriggerOrder] | None
) -> StopResult | None:
    """Return the results if the nearest stop-loss of the opened leg fills at its trigger price.

    `stops` are the symbol's waiting trigger orders, None if they cannot be read. Then only a stop named by the position
    itself is known; without one the result is None.
    """
    held, other = basis.position, basis.other_leg
    waiting = waiting_stops(plan, plan.opened_leg, stops, other)
    stop = waiting.nearest
    if stop is None and stops is None:
        return None
    leg_size = costs.opened + (other.size if other is not None else ZERO)
    if stop is None:
        ending = waiting_stops(plan, plan.closed_leg, stops, held)
        return StopResult(
            leg=plan.opened_leg,
            now=None if ending.nearest is None else result_at_stop(plan, held, ending.nearest),
            size=min(waiting.stopped_size(leg_size), leg_size),
            leg_size=leg_size,
            ending=ending.nearest and ending.nearest.price,
            trails=bool(waiting.trailing),
            now_trails=bool(ending.trailing),
        )
    size = leg_size if stop.size is None else min(stop.size, leg_size)
    return StopResult(
        leg=plan.opened_leg,
        price=stop.price,
        now=result_at_stop(plan, other, stop),
        afterwards=None if costs.entry_after is None else _result(plan, stop, size, costs.entry_after),
        size=size,
        leg_size=leg_size,
        is_only_reported=stop.is_only_reported,
        others_unread=stops is None,
    )


def waiting_stops(
    plan: ReversalPlan, leg: PositionSide, stops: Sequence[TriggerOrder] | None, position: Position | None
) -> LegStops:
    """Return the stops of a leg among a symbol's waiting trigger orders, and the stop that its position names."""
    return stops_of_leg(stops or (), leg, plan.params.mode, None if position is None else position.stop_loss)


def result_at_stop(plan: ReversalPlan, position: Position | None, stop: StopLoss) -> Decimal | None:
    """Return the result of a held leg, in the margin coin, if a stop-loss of it fills at its trigger price."""
    if position is None or position.entry is None:
        return None
    return _result(plan, stop, position.size if stop.size is None else min(stop.size, position.size), position.entry)


def _result(plan: ReversalPlan, stop: StopLoss, size: Decimal, entry: Decimal) -> Decimal:
    is_long = stop.leg is PositionSide.LONG
    return profit(plan.params.product_type, long=is_long, size=size, entry=entry, price=stop.price)
