"""The table of costs and risks in the reversal dialog: profit taken, fees, margin, liquidation, and the next stop.

Each row has the figure now, the estimate afterwards, and its basis. After the reversal, the last column has the
reported figures, and wrong estimates are marked.

Also the table of orders and stops: how far away each is, and its effect afterwards.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from textual.content import Content

from tradetui.desk.reversal.preview import ChangedFact, Preview
from tradetui.desk.tables.cells.cell_format import UNKNOWN
from tradetui.trading.contract_math import ZERO
from tradetui.trading.estimates.cost_estimates import ReversalCosts
from tradetui.trading.estimates.reversal_actuals import ReversalActuals, RiskFigure, differing
from tradetui.trading.estimates.reversal_estimates import Estimable, ReversalEstimates, StopResult
from tradetui.trading.holdings import Holdings
from tradetui.trading.orders_after_reversal import OrderImpact
from tradetui.trading.reversal import ReversalPlan
from tradetui.ui.intents.reversal.tables.table_rows import (
    DIFFERENT,
    WARNING,
    Figures,
    Marks,
    Room,
    TableRow,
    estimate,
    figures_of,
    liquidation,
    per_cent,
    table,
)
from tradetui.wire.text import scrub

_WIDTHS: Final = (22, 15, 18)
_OUTCOME_WIDTHS: Final = (22, 13, 14, 13)
MARGIN_SHORT: Final = "not enough margin: the exchange may open less, or nothing"


def risk_table(preview: Preview, plan: ReversalPlan, marks: Marks, room: Room) -> Iterator[Content]:
    """The table; its first row names the price of the estimates."""
    estimates = preview.estimates
    if estimates is None:
        return
    figures, costs = figures_of(preview), estimates.costs
    at = f"at {costs.price_from}, {figures.price(costs.price)}" if costs.price else "no price can be read"
    larger = " · the larger result" if plan.uncertain else ""
    header = TableRow("" if room.is_wide else f"{at}{larger}", ("now", "afterwards"), f"{at}{larger}")
    yield from table([header, *_rows(preview, plan, estimates, marks).values()], _WIDTHS, room)


def outcome_risk_table(
    preview: Preview, plan: ReversalPlan, actuals: ReversalActuals, held: Holdings | None, room: Room
) -> Iterator[Content]:
    """Yield the same table with the figures read after the end in its last column; a wrong estimate is marked.

    With two possible results the estimates are those of the larger one, and compared only with that.
    """
    estimates = preview.estimates
    if estimates is None:
        return
    larger = max(plan.results, key=lambda result: result.traded)
    is_comparable = not plan.uncertain or held == larger.after
    is_inverse = plan.params.product_type.is_coin_margined
    off = differing(estimates, actuals, is_inverse=is_inverse) if is_comparable else frozenset()
    read = _read_afterwards(figures_of(preview), actuals)
    rows = [TableRow("" if is_comparable else "of the larger result", ("before", "afterwards", "actual"))]
    for figure, row in _rows(preview, plan, estimates, Marks()).items():
        is_off = figure in off
        style = WARNING if is_off else "" if row.style == WARNING else row.style
        rows.append(TableRow(row.name, (*row.cells, read[figure]), DIFFERENT if is_off else "", style, keeps_note=True))
    yield from table(rows, _OUTCOME_WIDTHS, room)


def _read_afterwards(figures: Figures, actuals: ReversalActuals) -> Mapping[RiskFigure, str]:
    liquidation = UNKNOWN
    if actuals.reports_liquidation:
        liquidation = "none" if actuals.liquidation is None else figures.price(actuals.liquidation)
    stopped = "?"
    if actuals.stop_price is not None:
        stopped = figures.money(actuals.stopped, signed=True)
    elif actuals.stops_read:
        stopped = "trailing" if actuals.trails else "no stop"
    return {
        RiskFigure.PROFIT: figures.money(actuals.profit, signed=True),
        RiskFigure.FEES: figures.money(actuals.fees, signed=True),
        RiskFigure.FREE_MARGIN: figures.money(actuals.free),
        RiskFigure.MARGIN_RATIO: per_cent(actuals.ratio),
        RiskFigure.LIQUIDATION: liquidation,
        RiskFigure.IF_STOPPED: stopped,
    }


def _rows(
    preview: Preview, plan: ReversalPlan, estimates: ReversalEstimates, marks: Marks
) -> Mapping[RiskFigure, TableRow]:
    figures, costs = figures_of(preview), estimates.costs
    return {
        RiskFigure.PROFIT: _profit(plan, preview, figures, costs),
        RiskFigure.FEES: _fees(preview, figures, estimates, marks),
        RiskFigure.FREE_MARGIN: _free_margin(figures, estimates, marks),
        RiskFigure.MARGIN_RATIO: _margin_ratio(estimates),
        RiskFigure.LIQUIDATION: _liquidation(plan, figures, estimates),
        RiskFigure.IF_STOPPED: _if_stopped(figures, estimates),
    }


def _profit(plan: ReversalPlan, preview: Preview, figures: Figures, costs: ReversalCosts) -> TableRow:
    title = figures.money_title("Profit taken")
    entry = preview.position.entry if preview.position is not None else None
    if entry is None or costs.price is None:
        return TableRow(title, ("", UNKNOWN), f"the entry of the {plan.leg} is not known")
    distance = costs.price - entry
    where = "above" if distance > ZERO else "below"
    basis = f"closes the {plan.leg} {figures.price(abs(distance))} {where} its entry"
    tone = "$gain" if (costs.realised or ZERO) > ZERO else "$loss"
    return TableRow(title, ("", estimate(figures.money(costs.realised, signed=True))), basis, tone)


def _fees(preview: Preview, figures: Figures, estimates: ReversalEstimates, marks: Marks) -> TableRow:
    costs, before = estimates.costs, marks.before(ChangedFact.NOTIONAL)
    basis = costs.fee_from
    if costs.fee_rate is not None and costs.notional is not None:
        notional = Figures(None, "USD").money(costs.notional)
        both = ", both trades" if before is None else ""
        basis = f"taker {per_cent(costs.fee_rate)} of {notional} {estimates.quote_coin}{both}"
    cells = ("", estimate(figures.money(costs.fees, signed=True)))
    return TableRow(figures.money_title("Fees"), cells, basis, changed=None if before is None else f"was {before}")


def _free_margin(figures: Figures, estimates: ReversalEstimates, marks: Marks) -> TableRow:
    costs = estimates.costs
    cells = (figures.money(costs.free), estimate(figures.money(costs.free_after)))
    name = f"Free margin {estimates.margin_coin}"
    changed = marks.was(ChangedFact.MARGIN)
    if costs.margin_short:
        return TableRow(name, cells, MARGIN_SHORT, WARNING, changed, keeps_note=True)
    if costs.margin_short is None or costs.needed is None:
        return TableRow(name, cells, "the margin needed or the free margin is not known", changed=changed)
    needs = figures.money(costs.needed)
    freed = figures.money(costs.freed)
    frees = "" if costs.freed is None else f", closing frees {'as much first' if freed == needs else freed}"
    return TableRow(name, cells, f"enough: needs {needs}{frees}", changed=changed)


def _margin_ratio(estimates: ReversalEstimates) -> TableRow:
    risks = estimates.risks
    basis = f"{'of this position alone; ' if risks.ratio_is_own else ''}liquidation at 100 %"
    after = f"{'up to ' if risks.ratio_is_most else ''}{estimate(per_cent(risks.ratio_after))}"
    return TableRow("Margin ratio", (per_cent(risks.ratio), after), basis)


def _liquidation(plan: ReversalPlan, figures: Figures, estimates: ReversalEstimates) -> TableRow:
    risks, mark_price = estimates.risks, estimates.mark
    name = f"Liquidation {plan.params.symbol}"
    now = "none" if risks.liquidation is None else figures.price(risks.liquidation)
    if risks.estimable is Estimable.NOT_REPORTED:
        now = UNKNOWN
    if risks.estimable is not Estimable.YES or mark_price is None:
        return TableRow(name, (now, "not estimable"), str(risks.estimable))
    away = []
    if risks.liquidation is not None:
        away.append(_away(risks.liquidation, mark_price, places=2))
    if risks.liquidation_after is None:
        return TableRow(name, (now, "none"), "; ".join([*away, "none afterwards, all else equal"]))
    after = estimate(liquidation(risks.liquidation_after))
    away.append(f"then ~{_away(risks.liquidation_after, mark_price, places=1)}")
    return TableRow(name, (now, after), f"{', '.join(away)}, all else equal")


def _away(price: Decimal, mark_price: Decimal, *, places: int) -> str:
    where = "above" if price > mark_price else "below"
    return f"{per_cent(abs(price - mark_price) / mark_price, places=places)} {where}"


def _if_stopped(figures: Figures, estimates: ReversalEstimates) -> TableRow:
    stop = estimates.stop
    if stop is None:
        unreadable = "waiting stops cannot be read: check them yourself"
        return TableRow("If stopped", ("?", "?"), unreadable, "$warn", keeps_note=True)
    if stop.price is None:
        return _without_stop_price(figures, stop)
    leg, now = stop.leg.upper(), figures.money(stop.now, signed=True)
    part = f"{figures.size(stop.size)} of the {leg}," if stop.is_part else f"the {leg}'s whole result"
    after = estimate(figures.money(stop.afterwards, signed=True))
    name, basis = f"If stopped at {figures.price(stop.price)}", f"{part} should its stop fill there"
    if stop.others_unread:
        basis = f"the {leg}'s stop as its position reports it; other stops cannot be read: check them yourself"
        return TableRow(name, (now, after), basis, "$warn", keeps_note=True)
    if stop.is_only_reported:
        basis = f"{part}; only its position reports this stop"
    return TableRow(name, (now, after), basis, keeps_note=stop.is_part)


def _without_stop_price(figures: Figures, stop: StopResult) -> TableRow:
    """Return the row if no stop-loss waits for the opened leg, or only a trailing one, whose price is not known."""
    leg, now = stop.leg.upper(), figures.money(stop.now, signed=True)
    if stop.ending is None:
        now = "trailing" if stop.now_trails else "no stop"
    ends = f"; {figures.price(stop.ending)} goes with the {'SHORT' if leg == 'LONG' else 'LONG'}" if stop.ending else ""
    if not stop.trails:
        return TableRow("If stopped", (now, "no stop"), f"none for the {leg}{ends}", "$warn")
    if stop.is_part:
        basis = f"for {figures.size(stop.size)} of the {leg}, its price moves: not estimable{ends}"
        return TableRow("If stopped", (now, "trailing"), basis, "$warn", keeps_note=True)
    return TableRow("If stopped", (now, "trailing"), f"a trailing stop's price moves: not estimable{ends}")


KIND_WIDTH: Final = 14
_ACTION, _AWAY = 36, 8
_GAP: Final = 3
_LEAST_ACTION: Final = 22
_NEW: Final = " ◂ new"
_LEAST_RUN: Final = 2  # of more similar neighbours than this, only the nearest and the furthest are listed


def orders_table(
    preview: Preview, resting: Sequence[OrderImpact], room: Room, marks: Marks | None = None
) -> Iterator[Content]:
    """Yield a row for each order that the reversal affects; many alike have two, unchanged ones have one.

    Orders come before stops, those next to the mark price first.
    """
    if not resting:
        return
    figures, marks = figures_of(preview), marks or Marks()
    mark_price = None if preview.estimates is None else preview.estimates.mark
    resting = sorted(resting, key=lambda order: (not order.rests_in_book, _distance(order, mark_price)))
    shown = _listed(resting, marks, room.most_orders)
    actions = {order.order_id: _action(order, figures) for order in shown}
    longest = max(map(len, actions.values()), default=0)
    widest = _ACTION if room.is_wide else room.width - KIND_WIDTH - _AWAY - 1
    width = max(_LEAST_ACTION, min(widest, longest + 1))
    title = f"{'Orders, stops':<{KIND_WIDTH + width}}{'away':>{_AWAY}}"
    yield Content.styled(f"{title}{' ' * _GAP}{'afterwards' if room.is_wide else ''}".rstrip(), "$quiet")
    for alike in _runs(shown, marks, room.most_orders):
        for order in alike if len(alike) <= _LEAST_RUN else alike[:1]:
            yield from _row(order, actions[order.order_id], width, mark_price, marks, room)
        if len(alike) > _LEAST_RUN:
            furthest = f", the furthest {_at(alike[-1], figures)}"
            style = WARNING if alike[0].wrong_way or alike[0].difference else "$quiet"
            yield Content.styled(f"{' ' * KIND_WIDTH}{len(alike) - 1} more like it{furthest}", style)
    if left_out := len(resting) - len(shown):
        yield Content.styled(f"{left_out} more {'stays as it is' if left_out == 1 else 'stay as they are'}", "$quiet")


def _listed(resting: Sequence[OrderImpact], marks: Marks, most: int) -> Sequence[OrderImpact]:
    if len(resting) <= most:
        return resting
    touched = [
        order for order in resting if order.wrong_way or order.assumed or order.difference or _is_new(order, marks)
    ]
    touched_ids = {order.order_id for order in touched}
    others = [order for order in resting if order.order_id not in touched_ids]
    chosen = touched_ids | {order.order_id for order in others[: max(0, most - 1 - len(touched))]}
    return [order for order in resting if order.order_id in chosen]


def _runs(shown: Sequence[OrderImpact], marks: Marks, most: int) -> Iterator[Sequence[OrderImpact]]:
    """Yield groups of neighbours that differ only in price; a new order is alone, and all are if few are shown."""

    def likeness(order: OrderImpact) -> tuple[object, ...]:
        is_alone = len(shown) <= most or _is_new(order, marks)
        own_id = order.order_id if is_alone else ""
        return order.kind, order.action, order.effect, order.wrong_way, order.done, order.difference, own_id

    for _, alike in itertools.groupby(shown, likeness):
        yield list(alike)


def _row(
    order: OrderImpact, action: str, width: int, mark_price: Decimal | None, marks: Marks, room: Room
) -> Iterator[Content]:
    away = UNKNOWN
    if order.price is not None and mark_price:
        away = per_cent((order.price - mark_price) / mark_price, signed=True)
    style = WARNING if order.wrong_way or order.difference else ""
    difference = f"{DIFFERENT}: {order.difference}" if order.difference else ""
    effect = f"{', '.join(filter(None, (difference, scrub(order.effect))))}{'  !' if order.wrong_way else ''}"
    head = (f"{order.kind:<{KIND_WIDTH}}", style or "$quiet")
    middle = (f"{scrub(action):<{width}}{away:>{_AWAY}}", style)
    changed = [(_NEW, WARNING)] if _is_new(order, marks) else []
    one_line = KIND_WIDTH + max(width, len(action)) + _AWAY + _GAP + len(effect) + (len(_NEW) if changed else 0)
    if room.is_wide and one_line <= room.width:
        yield Content.assemble(head, middle, (f"{' ' * _GAP}{effect}", style), *changed)
        return
    yield Content.assemble(head, middle, *changed)
    for part in textwrap.wrap(effect, max(_LEAST_ACTION, room.width - KIND_WIDTH)):
        yield Content.assemble((f"{' ' * KIND_WIDTH}{part}", style))


def _distance(order: OrderImpact, mark_price: Decimal | None) -> Decimal:
    return ZERO if order.price is None or mark_price is None else abs(order.price - mark_price)


def _is_new(order: OrderImpact, marks: Marks) -> bool:
    return marks.before(ChangedFact.NEW_ORDER, order.order_id) is not None


def _at(order: OrderImpact, figures: Figures) -> str:
    return f"at {figures.price(order.price)}" if order.price is not None else "at the market"


def _action(order: OrderImpact, figures: Figures) -> str:
    done = f", {per_cent(order.done, places=0)} done" if order.done else ""
    return f"{order.action} {_at(order, figures)}{done}"
