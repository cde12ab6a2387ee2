"""What the reversal dialog says, line by line: the preview before it is sent, the comparison afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from textual.content import Content

from tradetui.desk.reversal.outcome import Outcome
from tradetui.desk.reversal.preview import Change, ChangedFact, Preview
from tradetui.desk.reversal.progress import Progress
from tradetui.desk.settings import DeskSettings
from tradetui.desk.tables.columns import UNKNOWN, number
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.money import exact_digits
from tradetui.trading.order_impact import OrderImpact
from tradetui.trading.reversal import ReversalPlan
from tradetui.ui.sanitize import sanitized
from tradetui.wire.text.sanitize import scrub

LABEL, LONGEST = 18, 8
NOW, CHANGE, AFTERWARDS = 14, 13, 18
"""Cells of the columns of the table of legs."""
CHANGED: Final = "bold $error"


def line(label: str, text: str, style: str = "") -> Content:
    """One line: a label in a column of its own, then text; a word wider than the dialog wraps under itself."""
    return Content.assemble((f"{label:<{LABEL}}", "$quiet"), (scrub(text), style))


def preview_lines(preview: Preview, changed: Sequence[Change] = ()) -> Iterable[Content]:
    """Everything the preview knows; what is reversed and what is held afterwards first, what has changed marked."""
    plan = preview.plan
    marks = _Marks(changed)
    if plan is not None:
        yield Content.styled(scrub(f"REVERSE THE {plan.leg} OF {plan.wish.symbol}"), "bold $accent")
        yield sanitized(_action(plan))
        yield Content("")
        yield from _leg_lines(plan, marks)
        if plan.uncertain:
            yield line("", "one of the two; the outcome will say which", "$warn")
        if preview.unproven:
            yield line("NOT PROVEN", preview.unproven, "bold $warn")
        yield Content("")
    yield from _position_lines(preview, marks)
    if plan is None:
        return
    yield Content("")
    for figure in preview.figures[:6]:
        value = UNKNOWN if figure.value is None else number(figure.value, places=6)
        estimate = line(figure.name, f"{value} {figure.coin}  ({figure.basis})")
        yield marks.on(estimate, ChangedFact.NOTIONAL) if figure.name == "notional" else estimate
    if preview.margin_short:
        short = line("margin", "SHORT: the exchange may open less, or leave it closed", "bold $error")
        yield marks.on(short, ChangedFact.MARGIN)
    yield from resting_lines(preview.resting, marks)
    for change in changed:
        if change.fact is ChangedFact.ORDER and change.now == "gone":
            yield Content.assemble(line("order", change.before), (" ◂ gone", CHANGED))
    if not preview.stops_known:
        yield line("live stops", "cannot be read on this exchange; look at them yourself", "$warn")
    yield Content("")
    for assumption in plan.assumptions:
        yield line("assumed", assumption, "$quiet")
    yield Content("")
    for name, value in plan.request_fields().items():
        sent = plan.side_meaning if name == "side" else str(value)
        yield marks.on(line(f"sent {name}", sent), ChangedFact.REQUEST, name)
    yield line("size", "WHOLE POSITION" if plan.wish.size is None else str(plan.wish.size))


def route_lines(settings: DeskSettings) -> Iterable[Content]:
    """What stands between this machine and the exchange, where anything does; neither has a password in it."""
    if settings.proxy:
        yield line("sent through", settings.proxy)
    if settings.ca_file:
        yield line("certificates", settings.ca_file)


class _Marks:
    """Marks the rows whose values are not those that were looked at before."""

    def __init__(self, changed: Sequence[Change]) -> None:
        self._before = {(change.fact, change.row): change.before for change in changed}

    def before(self, fact: ChangedFact) -> str | None:
        """What stood there before, None where it has not changed."""
        return self._before.get((fact, ""))

    def on(self, row: Content, fact: ChangedFact, name: str = "") -> Content:
        """The row, with what stood there before where it has changed."""
        before = self._before.get((fact, name))
        return row if before is None else Content.assemble(row, (f" ◂ was {scrub(before)}", CHANGED))


def _action(plan: ReversalPlan) -> str:
    """The two market orders in a sentence."""
    result = plan.results[0]
    closed, size = exact_digits(result.closed), exact_digits(plan.held_size)
    if plan.uncertain:
        return f"{closed} of {size} or, where the exchange ignores the size, all of it; at the market."
    close, opposite = ("sell", "SHORT") if plan.reverses_long else ("buy", "LONG")
    part = "All of it" if result.closed == plan.held_size else f"{closed} of {size}"
    opened = exact_digits(result.opened)
    return f"{part}, at the market: {close} {closed} to close the {plan.leg}, {close} {opened} more to go {opposite}."


def _leg_lines(plan: ReversalPlan, marks: _Marks) -> Iterable[Content]:
    """Each leg now and afterwards; in one-way mode the one position, with both results where two are possible."""
    yield line("", f"{'held now':>{NOW}}{'change':>{CHANGE}}{'held afterwards':>{AFTERWARDS}}", "$quiet")
    before = plan.before
    was_net = Decimal(0)
    for index, result in enumerate(plan.results):
        after = result.after
        if isinstance(before, Legs) and isinstance(after, Legs):
            for leg, size, then in (("LONG", before.long, after.long), ("SHORT", before.short, after.short)):
                reversed_leg = leg == plan.leg
                fact = ChangedFact.SIZE if reversed_leg else ChangedFact[leg]
                sizes = _sizes(exact_digits(size), then - size, exact_digits(then))
                yield line(
                    f"{leg} ◂ reversed" if reversed_leg else leg, sizes, "bold $accent" if reversed_leg else "bold"
                )
                was = marks.before(fact)
                yield from _was(was)
                was_size = size if was is None else Decimal(was)
                was_net += was_size if leg == "LONG" else -was_size
            net, then_net = before.long - before.short, after.long - after.short
            yield line("net", _sizes(number(net, signed=True), then_net - net, number(then_net, signed=True)), "$quiet")
            yield from _was(None if was_net == net else number(was_net, signed=True))
        elif isinstance(before, Net) and isinstance(after, Net):
            now = str(before) if not index else ""
            row = line(
                "position" if not index else "or", _sizes(now, after.net - before.net, str(after)), "bold $accent"
            )
            yield row
            yield from _was(marks.before(ChangedFact.SIZE)) if not index else ()


def _was(before: str | None) -> Iterable[Content]:
    """What was held when it was looked at last, under what is held now; nothing where that has not changed."""
    if before is not None:
        yield line("", f"{f'◂ was {before}':>{NOW}}", CHANGED)


def _sizes(now: str, change: Decimal, afterwards: str) -> str:
    return f"{now:>{NOW}}{number(change, signed=True):>{CHANGE}}{afterwards:>{AFTERWARDS}}"


def _position_lines(preview: Preview, marks: _Marks) -> Iterable[Content]:
    position = preview.position
    margin = UNKNOWN if position is None else f"{position.margin_mode or UNKNOWN}, {position.leverage or UNKNOWN}x"
    yield marks.on(line("mode", f"{preview.mode or UNKNOWN} ({preview.mode_from})"), ChangedFact.MODE)
    yield line("margin, leverage", margin)
    if position is not None:
        entry = number(position.entry, at_most=LONGEST)
        yield line("entry, mark", f"{entry}, {number(position.mark)}  ({position.source})")
        if position.locked:
            yield line("locked", f"{number(position.locked)} held by close orders")


def resting_lines(resting: Iterable[OrderImpact], marks: _Marks | None = None) -> Iterable[Content]:
    """The symbol's orders and live stops, those that now go the wrong way in the colour of a warning."""
    for index, order in enumerate(resting):
        if not index:
            yield Content("")
        row = line(
            "order",
            f"{order.summary}  {order.effect}{'  !' if order.wrong_way else ''}",
            "$warn" if order.wrong_way else "",
        )
        yield row if marks is None else marks.on(row, ChangedFact.ORDER, order.order_id)


def outcome_lines(plan: ReversalPlan, progress: Progress) -> Iterable[Content]:
    """What became of it: before, previewed and held now for each leg, and what is left that goes the wrong way."""
    came_true = progress.outcome is Outcome.REVERSED
    yield Content.styled(scrub(_settled(plan, progress)), f"bold {'$success' if came_true else '$error'}")
    yield Content("")
    yield from _legs_compared(plan, progress.held)
    if progress.came_true and plan.uncertain:
        yield Content("")
        yield line("came true", progress.came_true)
    yield from resting_lines(progress.resting)
    if progress.resting_unread:
        yield line("orders, stops", f"what is left could not be read: {progress.resting_unread}", "$warn")
    if not came_true:
        yield Content("")
        yield Content.styled("This is not what was previewed. Look at it now.", "bold $error")


def _settled(plan: ReversalPlan, progress: Progress) -> str:
    """How it ended; a one-way position that was to be made smaller was not turned."""
    before, held = plan.before, progress.held
    made_smaller = isinstance(before, Net) and isinstance(held, Net) and before.net * held.net > 0
    if made_smaller and progress.outcome is Outcome.REVERSED:
        return f"Settled as previewed, smaller on the same side: {progress.sentence.removeprefix('reversed: ')}"
    return f"Settled: {progress.sentence}"


def _legs_compared(plan: ReversalPlan, held: Holdings | None) -> Iterable[Content]:
    """Each leg before, as previewed and now; the columns are as wide as their numbers, so that a row stays whole."""
    before, now = plan.before.as_json(), held.as_json() if held is not None else {}
    previewed = [result.after.as_json() for result in plan.results]
    rows = [("", "before", "previewed", "held now", "", "$quiet")]
    for leg in dict.fromkeys([*before, *now]):
        wanted = [sizes.get(leg, UNKNOWN) for sizes in previewed]
        size_now = now.get(leg, UNKNOWN)
        mark, style = ("as previewed", "") if size_now in wanted else ("DIFFERENT", "bold $error")
        rows.append((leg, before.get(leg, UNKNOWN), " or ".join(dict.fromkeys(wanted)), size_now, mark, style))
    widths = [max(len(row[column]) for row in rows) for column in (1, 2, 3)]
    for leg, *sizes, mark, style in rows:
        columns = "".join(f"{size:>{width}}  " for size, width in zip(sizes, widths, strict=True))
        yield line(leg, f"{columns}{mark}".rstrip(), style)


def action_label(preview: Preview, room: int) -> str:
    """The longest title that fits into so many cells; what is held afterwards stands in the dialog in any case."""
    titles = (preview.plan.title, preview.plan.short_title) if preview.plan is not None else ()
    labels = [sanitized(title).plain for title in (*titles, f"Reverse {preview.subject}")]
    return next((label for label in labels if len(label) <= room), labels[-1])


def sending_words(shown: Preview) -> str:
    """What Esc does while it is sent and nothing has come back yet."""
    return (
        "It is read again and sent … Until it has left, Esc takes it back. After that, Esc leaves the dialog: it goes "
        f"on, {shown.target.symbol} stays locked, and J shows it."
    )


def left_words(shown: Preview) -> str:
    """What Esc does while its end is looked for."""
    return f"Esc leaves it: it goes on being looked for, {scrub(shown.target.symbol)} stays locked, and J shows it."


def unknown_outcome_lines(shown: Preview, why: str) -> Content:
    """It may have been done: what is certain, and what goes on."""
    symbol = shown.target.symbol
    return Content.assemble(
        (scrub(f"It is not known what became of it: {why.rstrip('.')}."), "bold $error"),
        "\n\n",
        scrub(f"It goes on being looked for. {symbol} stays locked until it is settled or released; J shows it."),
    )
