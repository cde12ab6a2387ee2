"""The text of the reversal dialog, from the deciding part to the outcome.

Before confirming: the deciding part, the request as sent, the basis of each figure. Afterwards: the holdings, and the
differences from the preview.

Also the table of positions now and afterwards. In hedge mode it has a row for the LONG leg, the SHORT leg and their
net. In one-way mode it has a row for the net, and a second one if two results are possible. After the reversal, the
last column is the present holdings.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple

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
    DIFFERENT,
    WARNING,
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
_OTHER_RESULT: Final = "or"  # the name of the row of a second possible result, whose size is now in the first row
_ONE_WAY_STYLE: Final = "bold"


def legs_table(preview: Preview, plan: ReversalPlan, marks: Marks, room: Room) -> Iterator[Content]:
    """The position in each leg now and afterwards; changed figures are marked."""
    figures, estimates = figures_of(preview), preview.estimates
    mark_price = None if estimates is None else estimates.mark
    value_title = "value" if estimates is None else f"value {estimates.quote_coin}"
    rows = [TableRow("", ("now", "change", "afterwards", "entry", value_title))]
    for row in _position_rows(plan):
        entry, note, changed = _entry(preview, plan, row), "", None
        value = UNKNOWN if mark_price is None else _worth(row.after, mark_price, signed=row.is_signed)
        if row.name != _OTHER_RESULT:
            note, changed = _note(preview, plan, row), _changed(plan, row, figures, marks)
        cells = (*row.size_cells(figures), entry, value)
        styles = row.cell_styles(row.before, None, row.after, None, row.after)
        rows.append(TableRow(row.name, cells, note, row.style, changed=changed, cell_styles=styles))
    yield from table(rows, _WIDTHS, room)


def outcome_table(preview: Preview, plan: ReversalPlan, held: Holdings | None, room: Room) -> Iterator[Content]:
    """The same table with the present position in its last column; a row that differs from the preview is marked."""
    figures = figures_of(preview)
    came_true = any(held == result.after for result in plan.results)
    rows = [TableRow("", ("before", "change", "afterwards", "held"))]
    for row in _position_rows(plan):
        size_held = row.leg.size_in(held)
        held_text = UNKNOWN if size_held is None else figures.size(size_held, signed=row.is_signed)
        cells = (*row.size_cells(figures), held_text)
        if came_true or size_held == row.after:
            styles = row.cell_styles(row.before, None, row.after, size_held)
            rows.append(TableRow(row.name, cells, style=row.style, cell_styles=styles))
        else:
            rows.append(TableRow(row.name, cells, DIFFERENT, WARNING, keeps_note=True))
    yield from table(rows, (*_WIDTHS[:4], _HELD_WIDTH), room)


class _Leg(StrEnum):
    """The part of a position that a row shows."""

    LONG = "LONG"
    SHORT = "SHORT"
    NET = "net"

    def size_in(self, held: Holdings | None) -> Decimal | None:
        """Return its size in the holdings; None if that is not known, or one-way mode has no such leg."""
        if isinstance(held, Legs):
            return {_Leg.LONG: held.long, _Leg.SHORT: held.short, _Leg.NET: held.long - held.short}[self]
        return held.net if held is not None and self is _Leg.NET else None


class _PositionRow(NamedTuple):
    """The sizes of one row, in the base coin; a net is above zero if it is long."""

    name: str
    leg: _Leg
    before: Decimal
    after: Decimal
    style: str

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
        """In one-way mode a size's cell has the colour of its side, and other figures, None here, the row's style."""
        if self.style != _ONE_WAY_STYLE:
            return ()
        return tuple(f"bold ${'long' if size > 0 else 'short'}" if size else self.style for size in sizes)


def _position_rows(plan: ReversalPlan) -> Iterator[_PositionRow]:
    """In hedge mode a row for each leg and their net, in one-way mode one for each possible result."""
    if isinstance(plan.before, Net):
        for index, result in enumerate(plan.results):
            assert isinstance(result.after, Net)
            name = _OTHER_RESULT if index else _Leg.NET
            yield _PositionRow(name, _Leg.NET, plan.before.net, result.after.net, _ONE_WAY_STYLE)
        return
    for leg in _Leg:
        before, after = leg.size_in(plan.before), leg.size_in(plan.results[0].after)
        assert before is not None and after is not None
        tone = f"{'bold ' if leg == plan.leg else ''}${leg.lower()}"
        yield _PositionRow(leg, leg, before, after, "" if leg is _Leg.NET else tone)


def _entry(preview: Preview, plan: ReversalPlan, row: _PositionRow) -> str:
    """Return the entry of the position afterwards: the present one for a remaining part, else an estimate."""
    figures, is_one_way = figures_of(preview), isinstance(plan.before, Net)
    if row.leg is _Leg.NET and not is_one_way:
        return ""
    if not row.after:
        return UNKNOWN
    if row.before * row.after > 0 if is_one_way else row.leg == plan.leg:
        return figures.price(_entry_now(preview, plan.leg))
    if preview.estimates is None:
        return UNKNOWN
    costs = preview.estimates.costs
    return estimate(figures.price(costs.price if is_one_way else costs.entry_after))


def _note(preview: Preview, plan: ReversalPlan, row: _PositionRow) -> str:
    """Describe the earlier entry of a position, or the value of both legs' net."""
    if row.leg is _Leg.NET and isinstance(plan.before, Legs):
        mark_price = None if preview.estimates is None else preview.estimates.mark
        return "" if mark_price is None else f"was {_worth(row.before, mark_price, signed=True)}"
    entry = _entry_now(preview, plan.leg if row.leg is _Leg.NET else row.leg) if row.before else None
    return "" if entry is None else f"entry was {figures_of(preview).price(entry)}"


def _entry_now(preview: Preview, leg: str) -> Decimal | None:
    legs = (position for position in preview.positions if position.symbol == preview.target.symbol)
    return next((position.entry for position in legs if position.shown_leg.upper() == leg), None)


def _changed(plan: ReversalPlan, row: _PositionRow, figures: Figures, marks: Marks) -> str | None:
    """Describe the size of a row when the trader last looked, None if it has not changed."""

    def size_when_looked(leg: _Leg, size_now: Decimal) -> Decimal:
        is_reversed = leg in (plan.leg, _Leg.NET)
        text = marks.before(ChangedFact.SIZE if is_reversed else ChangedFact[leg.name])
        return size_now if text is None else Decimal(text)

    before = plan.before
    if row.leg is _Leg.NET and isinstance(before, Legs):
        net_seen = size_when_looked(_Leg.LONG, before.long) - size_when_looked(_Leg.SHORT, before.short)
        if net_seen != row.before:
            return f"net was {figures.size(net_seen, signed=True)}"
    elif (size_seen := size_when_looked(row.leg, row.before)) != row.before:
        return f"{ChangedFact.SIZE} was {figures.size(size_seen)}"
    return marks.was(ChangedFact.HELD) if row.leg is _Leg.NET else None


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
        yield Content.styled("One of these two results; the outcome says which.", WARNING)
    if unproven := preview.unproven(zone):
        yield Content.styled(scrub(f"NOT PROVEN: {unproven}"), WARNING)
    if not room.is_airy:
        yield from _warning_lines(preview)
    yield from blank
    yield from risk_table(preview, plan, marks, room)
    yield from blank
    yield from orders_table(preview, preview.resting, room, marks)
    for change in changed:
        if change.fact is ChangedFact.ORDER_GONE:
            yield Content.styled(scrub(f"{'gone':<{KIND_WIDTH}}{change.before}"), WARNING)
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
    """Yield the basis of every figure, and its age, in lines of `width` cells."""
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
    yield Content.styled(scrub(_settled(plan, progress)), "bold" if came_true else WARNING)
    if not came_true:
        yield Content.styled("This differs from the preview. Check the position now.", WARNING)
    if different:
        yield Content.styled("Orders differ from the preview. Check them now.", WARNING)
        yield from orders_table(shown, different, room)
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
        yield from orders_table(shown, others, room)
    if aftermath.unread:
        yield Content.styled(scrub(f"Orders, stops and account could not be read: {aftermath.unread}"), "$warn")


def compared_orders(shown: Preview, plan: ReversalPlan, progress: Progress) -> Sequence[OrderImpact]:
    """The orders as they were read after the end, each compared with the preview."""
    aftermath = progress.aftermath
    if aftermath is None:
        return ()
    return aftermath.compared_orders(shown.resting, plan, progress.held, stops_were_whole=shown.stops_are_whole)


def sending_sentence(shown: Preview, journal_key: str) -> str:
    """Describe the effect of Esc before any reply; `journal_key` opens the journal."""
    return (
        "Reading again, then sending … Until it is sent, Esc withdraws it. After that, Esc closes this dialog: the "
        f"reversal continues, {shown.target.symbol} stays locked, and {journal_key} shows it."
    )


def tracking_sentence(shown: Preview, journal_key: str) -> str:
    """Describe the effect of Esc while the outcome is tracked; `journal_key` opens the journal."""
    symbol = scrub(shown.target.symbol)
    return (
        f"Esc closes this dialog: the search for the outcome continues, {symbol} stays locked, and {journal_key} "
        "shows it."
    )


def unknown_outcome_lines(shown: Preview, why: str, journal_key: str) -> Content:
    """Describe an unknown outcome: the certain facts, and what continues; `journal_key` opens the journal."""
    symbol = shown.target.symbol
    return Content.assemble(
        (scrub(f"The outcome is not known: {why.rstrip('.')}."), WARNING),
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
    """Yield the worst warnings from below if they do not fit on the screen with the legs."""
    if preview.margin_short:
        yield Content.styled(f"{MARGIN_SHORT[0].upper()}{MARGIN_SHORT[1:]}.", WARNING)
    wrong = [order for order in preview.resting if order.wrong_way]
    if wrong:
        more = f", and {len(wrong) - 1} more like it" if len(wrong) > 1 else ""
        yield Content.styled(scrub(f"{wrong[0].summary}: {wrong[0].effect}{more}  !"), WARNING)


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
    """Describe the outcome; a one-way position that should have been reduced was not turned."""
    before, held = plan.before, progress.held
    made_smaller = isinstance(before, Net) and isinstance(held, Net) and before.net * held.net > 0
    if made_smaller and progress.outcome is Outcome.REVERSED:
        held_now = progress.sentence.removeprefix(f"{Outcome.REVERSED}; ")
        return f"Settled as previewed, smaller on the same side: {held_now}"
    return f"Settled: {progress.sentence}"


def _marked(row: Content, was: str | None) -> Content:
    return row if was is None else Content.assemble(row, (f" ◂ {scrub(was)}", WARNING))
