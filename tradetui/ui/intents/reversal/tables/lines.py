"""The text of the reversal dialog, from what decides whether it is confirmed to the outcome.

Before: the deciding part, the request as sent, the basis of each figure. Afterwards: what is held, and what differs.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from functools import partial
from typing import Final

from textual.content import Content

from tradetui.desk.reversal.outcome import Outcome
from tradetui.desk.reversal.preview import Change, ChangedFact, Preview
from tradetui.desk.reversal.progress import Aftermath, Progress
from tradetui.desk.settings import DeskSettings
from tradetui.desk.tables.cells.number_format import MONEY_PLACES, UNKNOWN, number
from tradetui.trading.contract_math import is_dollar
from tradetui.trading.holdings import Holdings, Net
from tradetui.trading.orders_after_reversal import RestingKind
from tradetui.trading.positions import Reported
from tradetui.trading.reversal import ReversalPlan
from tradetui.ui.intents.reversal.tables.legs import legs_table, outcome_table
from tradetui.ui.intents.reversal.tables.orders import KIND_WIDTH, orders_table
from tradetui.ui.intents.reversal.tables.risks import MARGIN_SHORT, outcome_risk_table, risk_table
from tradetui.ui.intents.reversal.tables.table_rows import CHANGED, Marks, Room, figures_of, line
from tradetui.ui.safe_text import sanitized
from tradetui.wire.enums import PositionMode
from tradetui.wire.text import scrub

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
    mark_price = preview.estimates.mark if preview.estimates is not None else None
    yield from orders_table(preview.resting, figures_of(preview), mark_price, marks, room)
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
        kind = "order" if order.kind is RestingKind.ORDER else "stop"
        yield hanging_line(kind, f"{order.summary}, id {order.order_id}")
        yield hanging_line("", f"afterwards: {order.effect}")
    if settings.proxy:
        yield hanging_line("sent through", settings.proxy)
    if settings.ca_file:
        yield hanging_line("certificates", settings.ca_file)


def outcome_lines(shown: Preview, plan: ReversalPlan, progress: Progress, room: Room) -> Iterable[Content]:
    """The outcome: the previewed tables with the present positions, and the remaining orders and stops."""
    came_true = progress.outcome is Outcome.REVERSED
    yield Content.styled(scrub(_settled(plan, progress)), "bold" if came_true else "bold $warn")
    if not came_true:
        yield Content.styled("This differs from the preview. Check the position now.", "bold $warn")
    if came_true or room.is_airy:
        yield Content("")
    yield from outcome_table(shown, plan, progress.held, room)
    if progress.came_true and plan.uncertain:
        yield Content("")
        yield Content.styled(scrub(f"Result: {progress.came_true}."), "bold")
    if progress.aftermath is not None:
        yield from _aftermath_lines(shown, plan, progress.aftermath, progress.held, room)


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


def _aftermath_lines(
    shown: Preview, plan: ReversalPlan, aftermath: Aftermath, held: Holdings | None, room: Room
) -> Iterable[Content]:
    blank = [Content("")] if room.is_airy else []
    if aftermath.actuals is not None:
        yield from blank
        yield from outcome_risk_table(shown, plan, aftermath.actuals, held, room)
    if aftermath.resting:
        yield from blank
        mark_price = shown.estimates.mark if shown.estimates is not None else None
        yield from orders_table(aftermath.resting, figures_of(shown), mark_price, Marks(), room)
    if aftermath.unread:
        yield Content.styled(scrub(f"Orders, stops and account could not be read: {aftermath.unread}"), "$warn")


def _marked(row: Content, was: str | None) -> Content:
    return row if was is None else Content.assemble(row, (f" ◂ {scrub(was)}", CHANGED))
