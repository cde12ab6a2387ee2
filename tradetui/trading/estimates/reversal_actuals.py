"""Actual costs and risks of a completed reversal, compared with the earlier estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
from typing import Final

from tradetui.trading.contract_math import ZERO
from tradetui.trading.estimates.cost_estimates import PRICE_TOLERANCE
from tradetui.trading.estimates.reversal_estimates import MEETS_WITHIN, ReversalEstimates, result_at_stop, waiting_stops
from tradetui.trading.holdings import Legs
from tradetui.trading.positions import Position, sensible_liquidation
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.enums import MarginMode, same
from tradetui.wire.models.futures import FuturesFill, TriggerOrder
from tradetui.wire.models.futures_accounts import FuturesAccount

RATIO_TOLERANCE: Final = Decimal("0.005")
"""A margin ratio (a fraction) matches its estimate within half a percentage point."""
FREE_TOLERANCE: Final = Decimal("0.01")
"""Free margin matches its estimate within this fraction of itself, because every other position moves it too."""
FEE_TOLERANCE: Final = Decimal("0.01")
"""Fees match their estimate within this fraction of themselves."""


class RiskFigure(Enum):
    """A figure that is estimated before and read afterwards."""

    PROFIT = auto()
    FEES = auto()
    FREE_MARGIN = auto()
    MARGIN_RATIO = auto()
    LIQUIDATION = auto()
    IF_STOPPED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalActuals:
    """Figures read after the reversal; None is not known.

    `profit` and `fees` are those of our own fills in the margin coin; paid fees are negative. `free` is in the margin
    coin, `ratio` a fraction (1 is liquidation), `liquidation` in the quote coin. If `reports_liquidation`, the position
    has a reported liquidation price, and None means that there is none. If `stops_read`, waiting stops were read: then
    a `stop_price` of None means no stop, or if `trails` a trailing stop, whose price moves. `stopped` is the leg's
    result if the stop at `stop_price` fills.
    """

    profit: Decimal | None = None
    fees: Decimal | None = None
    free: Decimal | None = None
    ratio: Decimal | None = None
    liquidation: Decimal | None = None
    reports_liquidation: bool = False
    stop_price: Decimal | None = None
    stopped: Decimal | None = None
    stops_read: bool = False
    trails: bool = False


def reversal_actuals(
    plan: ReversalPlan,
    fills: Sequence[FuturesFill],
    positions: Sequence[Position],
    account: FuturesAccount | None,
    stops: Sequence[TriggerOrder] | None,
) -> ReversalActuals:
    """Return the actual figures; None is not known.

    `fills` are all our own fills, or none if they cannot be separated or are incomplete. `positions` are those of the
    product type, `account` is the margin coin's, `stops` are the symbol's waiting trigger orders.
    """
    held = _held_leg(plan, positions)
    is_isolated = held is not None and same(held.margin_mode, MarginMode.ISOLATED)
    reported = held.liquidation if held is not None else None
    free = ratio = None
    if account is not None and not (held is not None and held.margin_unclear):
        free = account.isolated_max_available if is_isolated else account.crossed_max_available
        ratio = account.margin_ratio
    if is_isolated and held is not None:
        ratio = held.margin_ratio
    waiting = None if held is None or held.leg is None else waiting_stops(plan, held.leg, stops, held)
    stop = None if waiting is None else waiting.nearest
    return ReversalActuals(
        profit=sum((fill.profit or ZERO for fill in fills), ZERO) if fills else None,
        fees=_fees(fills, plan.params.margin_coin) if fills else None,
        liquidation=sensible_liquidation(reported, held.mark) if held is not None and held.mark else reported,
        free=free,
        ratio=ratio,
        reports_liquidation=reported is not None,
        stop_price=None if stop is None else stop.price,
        stopped=None if stop is None else result_at_stop(plan, held, stop),
        stops_read=stops is not None,
        trails=waiting is not None and bool(waiting.trailing),
    )


def differing(estimates: ReversalEstimates, actuals: ReversalActuals, *, is_inverse: bool) -> frozenset[RiskFigure]:
    """Return figures that differ from their estimate by more than `~` allows.

    An estimate is valid while prices move by at most the fraction `PRICE_TOLERANCE`; `is_inverse` is whether the coin
    itself is the margin. Our liquidation price is valid within `MEETS_WITHIN`, like its formula.
    """
    costs, risks, stop = estimates.costs, estimates.risks, estimates.stop

    def moved(size: Decimal) -> Decimal:
        """Return the change of a size's value if the price moves by the tolerance, in the margin coin."""
        return size * PRICE_TOLERANCE * (1 if is_inverse else costs.price or ZERO)

    free_tolerance = max(moved(costs.traded), abs(costs.free_after or ZERO) * FREE_TOLERANCE)
    below_the_most = risks.ratio_is_most and (actuals.ratio or ZERO) < (risks.ratio_after or ZERO)
    liquidation = risks.liquidation_after
    off = {
        RiskFigure.PROFIT: _is_off(costs.realised, actuals.profit, moved(costs.closed)),
        RiskFigure.FEES: _is_off(costs.fees, actuals.fees, abs(costs.fees or ZERO) * FEE_TOLERANCE),
        RiskFigure.FREE_MARGIN: _is_off(costs.free_after, actuals.free, free_tolerance),
        RiskFigure.MARGIN_RATIO: not below_the_most and _is_off(risks.ratio_after, actuals.ratio, RATIO_TOLERANCE),
        RiskFigure.LIQUIDATION: _is_off(liquidation, actuals.liquidation, (liquidation or ZERO) * MEETS_WITHIN),
    }
    if stop is not None and not stop.others_unread and actuals.stops_read:
        other_stop = stop.price != actuals.stop_price and not stop.trails
        off[RiskFigure.IF_STOPPED] = other_stop or _is_off(stop.afterwards, actuals.stopped, moved(stop.size))
    return frozenset(figure for figure, is_off in off.items() if is_off)


def _is_off(estimated: Decimal | None, actual: Decimal | None, tolerance: Decimal) -> bool:
    return estimated is not None and actual is not None and abs(actual - estimated) > tolerance


def _held_leg(plan: ReversalPlan, positions: Sequence[Position]) -> Position | None:
    """Return the leg that was opened; in one-way mode the symbol's position."""
    of_symbol = [position for position in positions if position.symbol == plan.params.symbol]
    opened = [position for position in of_symbol if position.is_long is not plan.reverses_long]
    return next(iter(opened if isinstance(plan.before, Legs) else of_symbol), None)


def _fees(fills: Sequence[FuturesFill], margin_coin: str) -> Decimal | None:
    """Sum the fees; None if a fill has no fee, or one in another coin."""
    if not all(fill.fee_detail for fill in fills):
        return None
    fees = [fee for fill in fills for fee in fill.fee_detail]
    if any(fee.total_fee is None or not same(fee.fee_coin or margin_coin, margin_coin) for fee in fees):
        return None
    return sum((fee.total_fee or ZERO for fee in fees), ZERO)
