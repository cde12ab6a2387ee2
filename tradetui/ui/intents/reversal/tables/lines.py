"""The text of the reversal dialog, from what decides whether it is confirmed to the outcome.

Before: the deciding part, the request as sent, the basis of each figure. Afterwards: what is held, and what differs.

The table of positions in the reversal dialog: what is held now, and what will be held afterwards.

In hedge mode it has a row for the LONG leg, the SHORT leg and their net. In one-way mode it has a row for the net, and
a second one if the exchange may do either of two things. Once the reversal is over, the last column is what is held.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Final

from textual.content import Content

from tradetui.desk.reversal.outcome import Outcome
from tradetui.desk.reversal.preview import Change, ChangedFact, Preview
from tradetui.desk.reversal.progress import Progress
from tradetui.desk.settings import DeskSettings
from tradetui.desk.tables.cells.cell_format import MONEY_PLACES, UNKNOWN, number
from tradetui.trading.contract_math import is_dollar
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.orders_after_reversal import OrderImpact
from tradetui.trading.positions import Reported
from tradetui.trading.reversal import ReversalPlan
from tradetui.ui.intents.reversal.tables.risks import (
    KIND_WIDTH,
    MARGIN_SHORT,
    orders_table,
    outcome_risk_table,
    risk_table,
)
from tradetui.ui.intents.reversal.tables.table_rows import (
    CHANGED,
    DIFFERENT,
    Figures,
    Marks,
    Room,
    TableRow,
    estimate,
    figures_of,
    line,
    table,
)
from tradetui.ui.safe_text import sanitized
from tradetui.wire.enums import PositionMode
from tradetui.wire.text import scrub

_WIDTHS: Final = (9, 10, 12, 13, 13, 15)
_HELD_WIDTH: Final = 13


def legs_table(preview: Preview, plan: ReversalPlan, marks: Marks, room: Room) -> Iterator[Content]:
    """The position in each leg now and afterwards; changed figures are marked."""
    figures, estimates = figures_of(preview), preview.estimates
    mark_price = None if estimates is None else estimates.mark
    value_title = "value" if estimates is None else f"value {estimates.quote_coin}"
    rows = [TableRow("", ("now", "change", "afterwards", "entry", value_title))]
    for row in _PositionRows(preview, plan, figures, marks):
        value = UNKNOWN if mark_price is None else _worth(row.after, mark_price, signed=row.is_signed)
        cells = (*row.size_cells(figures), row.entry, value)
        styles = row.cell_styles(row.before, None, row.after, None, row.after)
        rows.append(TableRow(row.name, cells, row.note, row.style, changed=row.changed, cell_styles=styles))
    yield from table(rows, _WIDTHS, room)


def outcome_table(preview: Preview, plan: ReversalPlan, held: Holdings | None, room: Room) -> Iterator[Content]:
    """The same table with the present position in its last column; a row that differs from the preview is marked."""
    figures = figures_of(preview)
    came_true = any(held == result.after for result in plan.results)
    rows = [TableRow("", ("before", "change", "afterwards", "held"))]
    for row in _PositionRows(preview, plan, figures):
        size_held = row.leg.size_in(held)
        held_text = UNKNOWN if size_held is None else figures.size(size_held, signed=row.is_signed)
        cells = (*row.size_cells(figures), held_text)
        if came_true or size_held == row.after:
            note, style, cell_styles = "", row.style, row.cell_styles(row.before, None, row.after, size_held)
        else:
            note, style, cell_styles = DIFFERENT, "bold $warn", ()
        rows.append(TableRow(row.name, cells, note, style, "bold $warn", cell_styles=cell_styles, keeps_note=True))
    yield from table(rows, (*_WIDTHS[:4], _HELD_WIDTH), room)


class _Leg(StrEnum):
    """The part of a position that a row is about."""

    LONG = "LONG"
    SHORT = "SHORT"
    NET = "net"

    def size_in(self, held: Holdings | None) -> Decimal | None:
        """Its size in what is held; None where that is not known, or where one-way mode has no such leg."""
        if isinstance(held, Legs):
            return {_Leg.LONG: held.long, _Leg.SHORT: held.short, _Leg.NET: held.long - held.short}[self]
        return held.net if held is not None and self is _Leg.NET else None


@dataclass(frozen=True, slots=True)
class _PositionRow:
    """One row before it is text. Sizes are in the base coin; a net is above zero where it is long."""

    name: str
    leg: _Leg
    before: Decimal
    after: Decimal
    entry: str = ""
    note: str = ""
    changed: str | None = None
    style: str = ""
    is_one_way: bool = False
    """Whether it is the position of one-way mode, whose sizes have the colour of LONG or SHORT by their sign."""

    @property
    def is_signed(self) -> bool:
        return self.leg is _Leg.NET

    def size_cells(self, figures: Figures) -> tuple[str, str, str]:
        """The sizes before and afterwards, with the change between them."""
        return (
            figures.size(self.before, signed=self.is_signed),
            figures.size(self.after - self.before, signed=True),
            figures.size(self.after, signed=self.is_signed),
        )

    def cell_styles(self, *sizes: Decimal | None) -> tuple[str, ...]:
        """The styles of cells that show these sizes, or None for another figure; empty where all have the row's."""
        if not self.is_one_way:
            return ()
        return tuple(f"bold ${'long' if size > 0 else 'short'}" if size else self.style for size in sizes)


@dataclass(frozen=True, slots=True)
class _PositionRows:
    """Makes the rows of a preview, with the marks of what has changed since the trader looked last."""

    preview: Preview
    plan: ReversalPlan
    figures: Figures
    marks: Marks = field(default_factory=Marks)

    def __iter__(self) -> Iterator[_PositionRow]:
        before, after = self.plan.before, self.plan.results[0].after
        if isinstance(before, Legs) and isinstance(after, Legs):
            yield self._leg_row(_Leg.LONG, before.long, after.long)
            yield self._leg_row(_Leg.SHORT, before.short, after.short)
            yield self._hedge_net_row(before, after)
        else:
            assert isinstance(before, Net)
            yield from self._one_way_rows(before)

    def _leg_row(self, leg: _Leg, before: Decimal, after: Decimal) -> _PositionRow:
        is_reversed = leg == self.plan.leg
        entry, estimates = UNKNOWN, self.preview.estimates
        if after and is_reversed:
            entry = self.figures.price(self._entry_now(leg))
        elif after and estimates is not None:
            entry = estimate(self.figures.price(estimates.costs.entry_after))
        size_seen = self._size_seen(leg, before)
        return _PositionRow(
            leg,
            leg,
            before,
            after,
            entry,
            note=self._entry_note(leg) if before else "",
            changed=None if size_seen == before else f"{ChangedFact.SIZE} was {self.figures.size(size_seen)}",
            style=f"bold ${leg.lower()}" if is_reversed else f"${leg.lower()}",
        )

    def _hedge_net_row(self, before: Legs, after: Legs) -> _PositionRow:
        net = before.long - before.short
        net_seen = self._size_seen(_Leg.LONG, before.long) - self._size_seen(_Leg.SHORT, before.short)
        changed = self.marks.was(ChangedFact.HELD)
        if net_seen != net:
            changed = f"net was {self.figures.size(net_seen, signed=True)}"
        estimates = self.preview.estimates
        mark_price = None if estimates is None else estimates.mark
        note = "" if mark_price is None else f"was {_worth(net, mark_price, signed=True)}"
        return _PositionRow(_Leg.NET, _Leg.NET, net, after.long - after.short, note=note, changed=changed)

    def _one_way_rows(self, before: Net) -> Iterator[_PositionRow]:
        """A row for each possible result; what the entry and the size were is noted in the first one alone."""
        size_seen, changed = self.marks.before(ChangedFact.SIZE), self.marks.was(ChangedFact.HELD)
        if size_seen is not None:
            changed = f"{ChangedFact.SIZE} was {self.figures.size(Decimal(size_seen))}"
        for index, result in enumerate(self.plan.results):
            assert isinstance(result.after, Net)
            after = result.after.net
            is_turned = before.net * after < 0
            entry, estimates = UNKNOWN, self.preview.estimates
            if is_turned and estimates is not None:
                entry = estimate(self.figures.price(estimates.costs.price))
            elif after and not is_turned:
                entry = self.figures.price(self._entry_now(self.plan.leg))
            row = _PositionRow("or", _Leg.NET, before.net, after, entry, style="bold", is_one_way=True)
            if index == 0:
                row = replace(row, name=_Leg.NET, note=self._entry_note(self.plan.leg), changed=changed)
            yield row

    def _size_seen(self, leg: _Leg, size_now: Decimal) -> Decimal:
        """A leg's size when the trader looked last."""
        text = self.marks.before(ChangedFact.SIZE if leg == self.plan.leg else ChangedFact[leg.name])
        return size_now if text is None else Decimal(text)

    def _entry_now(self, leg: str) -> Decimal | None:
        symbol = self.preview.target.symbol
        legs = (position for position in self.preview.positions if position.symbol == symbol)
        return next((position.entry for position in legs if position.shown_leg.upper() == leg), None)

    def _entry_note(self, leg: str) -> str:
        entry = self._entry_now(leg)
        return "" if entry is None else f"entry was {self.figures.price(entry)}"


def _worth(amount: Decimal, mark_price: Decimal, *, signed: bool) -> str:
    # The value is in the quote coin, which is always a dollar.
    return Figures(None, "USD").money(amount * mark_price, signed=signed)


_ASSUMED: Final = "Assumed   "
_MODE_NAMES: Final = {PositionMode.HEDGE: "hedge", PositionMode.ONE_WAY: "one-way"}


def decision_lines(preview: Preview, changed: Sequence[Change], room: Room, zone: tzinfo = UTC) -> Iterator[Content]:
    """The deciding part: action, legs, costs and risks, orders and stops, assumptions; changes are marked."""
    plan, marks = preview.plan, Marks(changed)
    if plan is None:
        return
    blank = [Content("")] if room.is_airy else []
    yield Content.styled(scrub(f"REVERSE THE {plan.leg} OF {plan.params.symbol}"), f"bold ${plan.leg.lower()}")
    yield sanitized(_action(plan))
    yield from blank
    yield from legs_table(preview, plan, marks, room)
    if plan.uncertain:
        yield Content.styled("One of these two results; the outcome says which.", "bold $warn")
    if unproven := preview.unproven(zone):
        yield Content.styled(scrub(f"NOT PROVEN: {unproven}"), "bold $warn")
    if not room.is_airy:
        yield from _warning_lines(preview)
    yield from blank
    yield from risk_table(preview, plan, marks, room)
    yield from blank
    yield from _orders(preview, preview.resting, room, marks)
    for change in changed:
        if change.fact is ChangedFact.ORDER_GONE:
            yield Content.styled(scrub(f"{'gone':<{KIND_WIDTH}}{change.before}"), CHANGED)
    yield from blank
    yield from _assumption_lines(plan, room)


def request_lines(preview: Preview, changed: Sequence[Change]) -> Iterator[Content]:
    plan, marks = preview.plan, Marks(changed)
    if plan is None:
        return
    yield Content("")
    yield Content.styled("The request as sent, POST /api/v2/mix/order/click-backhand", "$quiet")
    for name, value in plan.request_fields().items():
        sent = plan.side_meaning if name == "side" else str(value)
        if name == "size" and plan.params.size is None:
            sent = f"{sent}, the whole position"
        yield _marked(line(name, sent), marks.was(ChangedFact.REQUEST, name))
    if "size" not in plan.request_fields():
        yield line("size", "not sent: the whole position")


def details_lines(preview: Preview, settings: DeskSettings, changed: Sequence[Change], width: int) -> Iterator[Content]:
    """What every figure rests on, and how old it is, in lines of `width` cells."""
    hanging_line = partial(line, width=width)
    yield Content("")
    yield Content.styled("Where the figures come from", "$quiet")
    yield from _position_lines(preview, Marks(changed), width)
    yield hanging_line(
        "read", "Positions, orders, account, bid and ask were read together; the frame says how long ago."
    )
    for figure in preview.figures:
        written = partial(number, places=MONEY_PLACES if is_dollar(figure.coin) else None, at_most=8)
        value = UNKNOWN if figure.value is None else f"{written(figure.value)} {figure.coin}".rstrip()
        now = "" if figure.now is None else f", {written(figure.now)} now"
        yield hanging_line(figure.name, f"{value}{now}: {figure.basis}")
    for order in preview.resting:
        kind = "order" if order.rests_in_book else "stop"
        yield hanging_line(kind, f"{order.summary}, id {order.order_id}")
        yield hanging_line("", f"afterwards: {order.effect}")
    if settings.proxy:
        yield hanging_line("sent through", settings.proxy)
    if settings.ca_file:
        yield hanging_line("certificates", settings.ca_file)


def outcome_lines(shown: Preview, plan: ReversalPlan, progress: Progress, room: Room) -> Iterable[Content]:
    """The outcome: orders that differ from the preview, its tables with the present positions, and the other orders."""
    aftermath, held = progress.aftermath, progress.held
    orders = compared_orders(shown, plan, progress)
    different = [order for order in orders if order.difference]
    came_true = progress.outcome is Outcome.REVERSED
    yield Content.styled(scrub(_settled(plan, progress)), "bold" if came_true else "bold $warn")
    if not came_true:
        yield Content.styled("This differs from the preview. Check the position now.", "bold $warn")
    if different:
        yield Content.styled("Orders differ from the preview. Check them now.", "bold $warn")
        yield from _orders(shown, different, room)
    if came_true or room.is_airy:
        yield Content("")
    yield from outcome_table(shown, plan, held, room)
    if progress.came_true and plan.uncertain:
        yield Content("")
        yield Content.styled(scrub(f"Result: {progress.came_true}."), "bold")
    if aftermath is None:
        return
    blank = [Content("")] if room.is_airy else []
    if aftermath.actuals is not None:
        yield from blank
        yield from outcome_risk_table(shown, plan, aftermath.actuals, held, room)
    if others := [order for order in orders if not order.difference]:
        yield from blank
        yield from _orders(shown, others, room)
    if aftermath.unread:
        yield Content.styled(scrub(f"Orders, stops and account could not be read: {aftermath.unread}"), "$warn")


def _orders(shown: Preview, orders: Sequence[OrderImpact], room: Room, marks: Marks | None = None) -> Iterator[Content]:
    mark_price = shown.estimates.mark if shown.estimates is not None else None
    return orders_table(orders, figures_of(shown), mark_price, marks or Marks(), room)


def compared_orders(shown: Preview, plan: ReversalPlan, progress: Progress) -> Sequence[OrderImpact]:
    """The orders as they were read after the end, each compared with the preview."""
    aftermath = progress.aftermath
    if aftermath is None:
        return ()
    return aftermath.compared_orders(shown.resting, plan, progress.held, stops_were_whole=shown.stops_are_whole)


def sending_sentence(shown: Preview, journal_key: str) -> str:
    """What Esc does before any reply; `journal_key` opens the journal."""
    return (
        "Reading again, then sending … Until it is sent, Esc withdraws it. After that, Esc closes this dialog: the "
        f"reversal continues, {shown.target.symbol} stays locked, and {journal_key} shows it."
    )


def tracking_sentence(shown: Preview, journal_key: str) -> str:
    """What Esc does while the outcome is tracked; `journal_key` opens the journal."""
    symbol = scrub(shown.target.symbol)
    return (
        f"Esc closes this dialog: the search for the outcome continues, {symbol} stays locked, and {journal_key} "
        "shows it."
    )


def unknown_outcome_lines(shown: Preview, why: str, journal_key: str) -> Content:
    """The request may have been executed: the certain facts, and what goes on; `journal_key` opens the journal."""
    symbol = shown.target.symbol
    return Content.assemble(
        (scrub(f"The outcome is not known: {why.rstrip('.')}."), "bold $warn"),
        "\n\n",
        scrub(
            f"The search for the outcome continues. {symbol} stays locked until it is settled or released; "
            f"{journal_key} shows it."
        ),
    )


def _assumption_lines(plan: ReversalPlan, room: Room) -> Iterator[Content]:
    sentences = [f"{assumption[0].upper()}{assumption[1:]}." for assumption in plan.assumptions]
    assumptions = scrub(" ".join([*sentences, "Estimates (~) hold while all other prices stand."]))
    for index, text in enumerate(textwrap.wrap(assumptions, max(20, room.width - len(_ASSUMED)))):
        yield Content.styled(f"{_ASSUMED if not index else ' ' * len(_ASSUMED)}{text}", "$quiet")


def _action(plan: ReversalPlan) -> str:
    result = plan.results[0]
    closed, size = plan.size_text(result.closed), plan.size_text(plan.held_size)
    if plan.uncertain:
        return f"{closed} of {size} or, where the exchange ignores the size, all of it; at the market."
    close, opposite = ("sell", "SHORT") if plan.reverses_long else ("buy", "LONG")
    part = "All of it" if result.closed == plan.held_size else f"{closed} of {size}"
    opened = plan.size_text(result.opened)
    return f"{part}, at the market: {close} {closed} to close the {plan.leg}, {close} {opened} more to go {opposite}."


def _warning_lines(preview: Preview) -> Iterable[Content]:
    """The worst warnings from below, where they do not fit on the screen with the legs."""
    if preview.margin_short:
        yield Content.styled(f"{MARGIN_SHORT[0].upper()}{MARGIN_SHORT[1:]}.", "bold $warn")
    wrong = [order for order in preview.resting if order.wrong_way]
    if wrong:
        more = f", and {len(wrong) - 1} more like it" if len(wrong) > 1 else ""
        yield Content.styled(scrub(f"{wrong[0].summary}: {wrong[0].effect}{more}  !"), "bold $warn")


def _position_lines(preview: Preview, marks: Marks, width: int) -> Iterable[Content]:
    hanging_line = partial(line, width=width)
    position = preview.position
    mode = f"not known: {preview.mode_from}"
    if preview.mode is not None:
        mode = f"{_MODE_NAMES[preview.mode]}, read from {preview.mode_from}"
    yield _marked(hanging_line("position mode", mode), marks.was(ChangedFact.MODE))
    if position is None:
        return
    figures = figures_of(preview)
    leverage = f"leverage {number(position.leverage)}x" if position.leverage else "leverage not known"
    margin = f"{position.margin_mode or 'margin mode not known'}, {leverage}"
    yield _marked(hanging_line("margin", margin), marks.were(ChangedFact.MARGIN_MODE, ChangedFact.LEVERAGE))
    source = "as the exchange reports" if isinstance(position.source, Reported) else "summed from fills"
    yield hanging_line("entry, mark", f"{figures.price(position.entry)} and {figures.price(position.mark)}, {source}")
    if position.locked:
        yield hanging_line("in close orders", f"{number(position.locked)} of it is set aside for orders that close it")


def _settled(plan: ReversalPlan, progress: Progress) -> str:
    """The outcome in words; a one-way position that was to be reduced was not turned."""
    before, held = plan.before, progress.held
    made_smaller = isinstance(before, Net) and isinstance(held, Net) and before.net * held.net > 0
    if made_smaller and progress.outcome is Outcome.REVERSED:
        held_now = progress.sentence.removeprefix(f"{Outcome.REVERSED}; ")
        return f"Settled as previewed, smaller on the same side: {held_now}"
    return f"Settled: {progress.sentence}"


def _marked(row: Content, was: str | None) -> Content:
    return row if was is None else Content.assemble(row, (f" ◂ {scrub(was)}", CHANGED))
