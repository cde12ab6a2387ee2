"""All estimates of a reversal together, and as rows of text for the command line and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tradetui.trading.contract_math import grouped_digits
from tradetui.trading.estimates.cost_estimates import Basis, CostEstimate, ReversalCosts, reversal_costs
from tradetui.trading.estimates.risk_estimates import ReversalRisks, reversal_risks
from tradetui.trading.estimates.stop_result import StopResult, result_if_stopped
from tradetui.trading.reversal import ReversalPlan
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
        """Each estimate with its name, its coin and what it rests on."""
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
