"""The estimates of a reversal: its costs, its risks, and the result should its nearest stop fill.

`rows` gives all of them as text, for the command line and for programs.

How a reversal changes margin ratio and liquidation price, as far as the reported figures confirm it.

The exchange does not document whether both legs of a hedged contract count towards maintenance margin, or only the
larger one. Each way of counting is tried on what is held now. Those that give the liquidation price that the exchange
reports are used for what is held after the reversal.
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
"""A formula is not used for afterwards if its price for the current position is further from the reported one."""
_CLEARLY_FURTHER: Final = Decimal("0.0002")
"""A formula this much further from the reported price than the best one is the wrong one."""
_SHOWN_STEP: Final = Decimal("0.0001")
"""The smallest difference of two ratios that are shown in per cent with two decimals."""


class Estimable(StrEnum):
    """Whether a liquidation price can be given for afterwards; the value says why not."""

    YES = ""
    NOT_REPORTED = "the exchange reports none to check it by"
    SEVERAL_COINS = "other coins stand behind the margin too"
    TOO_LITTLE = "the exchange reports too little about the margin"
    UNKNOWN_MODE = "the position's margin mode is not known"
    DOES_NOT_MEET = "the formula does not give the reported price for what is held now"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalRisks:
    """Margin ratios are fractions (1 is liquidation), liquidation prices in the quote coin.

    `liquidation` is the reported price, `liquidation_after` is estimated where `estimable` says so; None then means
    that no price would liquidate. `ratio_is_own` is whether the ratio is the isolated position's own, `ratio_is_most`
    whether less is possible, since what is reported does not say how the exchange counts the legs.
    """

    ratio: Decimal | None = None
    ratio_after: Decimal | None = None
    ratio_is_own: bool = False
    ratio_is_most: bool = False
    liquidation: Decimal | None = None
    liquidation_after: Decimal | None = None
    estimable: Estimable


def reversal_risks(plan: ReversalPlan, basis: Basis, costs: ReversalCosts) -> ReversalRisks:
    """Both risks now and afterwards; where two results are possible, those of the one that trades more."""
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
    """The reported risks, and why nothing can be estimated unless there is a way to work it out."""
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
    """The margin now and afterwards by each way of counting legs; none where too little is reported."""
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
    """The same margin by one way of counting legs: before the reversal, and after it."""

    now: MarginedContract
    after: MarginedContract


def _crossed(
    account: FuturesAccount,
    legs: tuple[Leg, ...],
    legs_after: tuple[Leg, ...],
    equity_change: Decimal | None,
    empty: MarginedContract,
) -> Sequence[_NowAndAfter]:
    """The account now and afterwards, per way of counting legs; nothing where too little is reported."""
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
    """The leg that is reversed now, and the leg that is opened afterwards, with their own margins."""
    reversed_leg, margin = _leg(position), _reported_margin(position)
    other_margin = ZERO if other is None else _reported_margin(other)
    if reversed_leg is None or margin is None or other_margin is None or needed is None:
        return ()
    if not (reversed_leg.entry and opened.entry):
        return ()  # An entry of zero stands for one that is not there.

    def alone(leg: Leg, margin: Decimal) -> MarginedContract:
        # At the entry nothing is won or lost yet, so that its margin alone stands behind it.
        at_entry = replace(empty, legs=(leg,), mark=leg.entry, backing=margin)
        return replace(at_entry, mark=empty.mark, backing=at_entry.backing_at(empty.mark))

    return (_NowAndAfter(alone(reversed_leg, margin), alone(opened, other_margin + needed)),)


def _reported_margin(position: Position) -> Decimal | None:
    return position.record.margin_size if position.record is not None else None


def _crossed_equity(account: FuturesAccount) -> Decimal:
    """Equity without the margin of isolated positions."""
    return account.account_equity - (account.isolated_margin or ZERO) - (account.isolated_unrealized_pl or ZERO)


def _legs_of(*positions: Position | None) -> tuple[Leg, ...]:
    legs = [_leg(position) for position in positions if position is not None]
    return tuple(leg for leg in legs if leg is not None)


def _leg(position: Position) -> Leg | None:
    if position.is_long is None or position.entry is None:
        return None
    return Leg(position.is_long, position.size, position.entry)


def _legs_after(plan: ReversalPlan, legs: Sequence[Leg], costs: ReversalCosts) -> tuple[Leg, ...] | None:
    """The remainder of the reversed leg, if any, and then the opened leg with the size already in it.

    None where an entry is not known, or where nothing is opened.
    """
    reversed_leg = next((leg for leg in legs if leg.is_long == plan.reverses_long), None)
    other = next((leg for leg in legs if leg.is_long != plan.reverses_long), None)
    if reversed_leg is None or costs.entry_after is None:
        return None
    left = replace(reversed_leg, size=reversed_leg.size - costs.closed)
    opened = Leg(not plan.reverses_long, costs.opened + (other.size if other is not None else ZERO), costs.entry_after)
    return (left, opened) if left.size > ZERO else (opened,)


class LegCounting(Enum):
    """The legs of a contract that count towards maintenance margin."""

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
    """The legs of one contract that share their margin, with what stands behind them at the mark.

    `backing` is equity in the margin coin: the account's for crossed margin, the position's own for isolated.
    `maintenance_elsewhere` is what other contracts need of it. `rate` is the maintenance margin rate, a fraction.
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
        """Maintenance margin as a part of what stands behind it, a fraction; None where nothing does."""
        return self.maintenance / self.backing if self.backing > ZERO else None

    def maintenance_at(self, price: Decimal) -> Decimal:
        return self.rate * counted_size(self.legs, self.counting) * (1 if self.inverse else price)

    def backing_at(self, price: Decimal) -> Decimal:
        """The backing at another price of this contract, all other prices unchanged."""
        net, cost = self._net_and_cost()
        if self.inverse:
            return self.backing + cost / self.mark - cost / price
        return self.backing + net * (price - self.mark)

    def liquidation_price(self) -> Decimal | None:
        """The price at which what stands behind it equals maintenance margin; None where no sensible price does."""
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
    """The size of a contract's legs that counts towards maintenance margin, in the base coin."""
    sizes: dict[bool, Decimal] = {True: ZERO, False: ZERO}
    for leg in legs:
        sizes[leg.is_long] += leg.size
    return max(sizes.values()) if counting is LegCounting.LARGER_LEG else sum(sizes.values(), ZERO)


def best_meeting(estimates: Sequence[Decimal | None], reported: Decimal | None) -> list[int]:
    """The indices of the formulas whose price for the current position is within one per cent of the reported one.

    One that is clearly further from it than the best is left out: the two marks are moments apart.
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
    """The liquidation price nearest to the mark, the most careful one; None where there is none."""
    return min((price for price in prices if price is not None), key=lambda price: abs(price - mark), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalEstimates:
    """Costs, risks and the result of the nearest stop; `stop` is None where no stop can be read.

    `mark` is in the quote coin. `base_coin`, `quote_coin` and `margin_coin` name the coins of sizes, prices and money.
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
    """One estimate as a row of text: its name, its figure afterwards and now, its coin, and where it comes from."""

    name: str
    value: Decimal | None
    coin: str
    basis: str
    now: Decimal | None = None

    def as_json(self) -> dict[str, str | None]:
        """The figure with its decimals as text; `now` only where it is known."""
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
    """Every estimate of a plan; `stops` are the symbol's waiting trigger orders, None where they cannot be read."""
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
    """Results in the margin coin of the leg that is opened, should its nearest stop-loss fill at its trigger price.

    `price` is None where no stop-loss waits for that leg; `ending` is then the one of the leg that is reversed, and
    `now` its result. `trails` is whether trailing stops wait for the leg instead, whose price moves, and `now_trails`
    the same of the leg that is reversed. `size` is what the stop closes afterwards, or the trailing stops together,
    `leg_size` all of the leg, both in the base coin.
    `is_only_reported` is whether the position alone names the stop, and no order of it can be read; `others_unread`
    whether waiting stops could not be read at all, so that a nearer one may wait.
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
    """The results of one leg's nearest stop-loss, its price taken for the price of its fill.

    `stops` are the symbol's waiting trigger orders, None where they cannot be read. Then only a stop that the position
    itself names is known; without one the result is None.
    """
    held, other = basis.position, basis.other_leg
    waiting = _stops_of(plan, plan.opened_leg, stops or (), other)
    stop = waiting.nearest
    if stop is None and stops is None:
        return None
    leg_size = costs.opened + (other.size if other is not None else ZERO)
    if stop is None:
        ending = _stops_of(plan, plan.closed_leg, stops or (), held)
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


def _stops_of(
    plan: ReversalPlan, leg: PositionSide, stops: Sequence[TriggerOrder], position: Position | None
) -> LegStops:
    return stops_of_leg(stops, leg, plan.params.mode, None if position is None else position.stop_loss)


def result_at_stop(plan: ReversalPlan, position: Position | None, stop: StopLoss) -> Decimal | None:
    """The result of a held leg, in the margin coin, should a stop-loss of it fill at its trigger price."""
    if position is None or position.entry is None:
        return None
    return _result(plan, stop, position.size if stop.size is None else min(stop.size, position.size), position.entry)


def _result(plan: ReversalPlan, stop: StopLoss, size: Decimal, entry: Decimal) -> Decimal:
    is_long = stop.leg is PositionSide.LONG
    return profit(plan.params.product_type, long=is_long, size=size, entry=entry, price=stop.price)
