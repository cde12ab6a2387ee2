"""The estimates of a reversal: its costs, its risks, and the result should its nearest stop fill.

`rows` gives all of them as text, for the command line and for programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tradetui.trading.contract_math import ZERO, exact_digits_if_known, grouped_digits, profit
from tradetui.trading.estimates.cost_estimates import Basis, ReversalCosts, reversal_costs
from tradetui.trading.estimates.risk_estimates import ReversalRisks, reversal_risks
from tradetui.trading.holdings import Legs
from tradetui.trading.positions import Position
from tradetui.trading.reversal import ReversalPlan
from tradetui.trading.trigger_orders import LegStops, StopLoss, stops_of_leg
from tradetui.wire.enums import PositionSide
from tradetui.wire.models.futures import TriggerOrder
from tradetui.wire.product_types import margin_coin


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


def reversal_estimates(plan: ReversalPlan, basis: Basis, stops: Sequence[TriggerOrder] | None) -> ReversalEstimates:
    """Every estimate of a plan; `stops` are the symbol's waiting trigger orders, None where they cannot be read."""
    costs = reversal_costs(plan, basis)
    product_type, symbol, contract = plan.params.product_type, plan.params.symbol, basis.contract
    quote = product_type.settlement_coin or "USD"
    base = margin_coin(product_type, symbol) if product_type.is_coin_margined else symbol.partition(quote)[0]
    return ReversalEstimates(
        costs=costs,
        risks=reversal_risks(plan, basis, costs),
        stop=result_if_stopped(plan, basis, costs, stops),
        mark=basis.mark,
        base_coin=(contract.base_coin if contract is not None else None) or (base or "").removesuffix("PERP"),
        quote_coin=(contract.quote_coin if contract is not None else None) or quote,
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
    # In one-way mode what waits was made for the position that ends.
    own_stops = (stops or ()) if isinstance(plan.before, Legs) else ()
    waiting = _stops_of(plan, plan.opened_leg, own_stops, other)
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
