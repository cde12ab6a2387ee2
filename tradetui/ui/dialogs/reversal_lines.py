"""What the reversal dialog says, line by line: the preview before it is sent, the comparison afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.content import Content

from tradetui.desk.columns import UNKNOWN, number
from tradetui.wire.scrub import scrub

if TYPE_CHECKING:
    from tradetui.desk.following import Progress
    from tradetui.desk.preview import Preview
    from tradetui.trading.holdings import Holdings
    from tradetui.trading.resting_orders import Resting
    from tradetui.trading.reversal import ReversalPlan

LABEL, LONGEST = 18, 8


def line(label: str, words: str, style: str = "") -> Content:
    """One line: a label in a column of its own, then words; a word wider than the dialog wraps under itself."""
    return Content.assemble((f"{label:<{LABEL}}", "$quiet"), (scrub(words), style))


def preview_lines(preview: Preview) -> Iterable[Content]:
    """Everything the preview knows; what is held now and afterwards first."""
    plan = preview.plan
    if plan is not None:
        yield line("held now", str(plan.before), "bold")
        for result in plan.results:
            yield line("held afterwards", str(result.after), "bold $accent")
        if plan.uncertain:
            yield line("", "one of the two; the outcome will say which", "$warn")
        if preview.unproven:
            yield line("NOT PROVEN", preview.unproven, "bold $warn")
        yield Content("")
    yield from _position_lines(preview)
    if plan is None:
        return
    yield Content("")
    for name, value in plan.request_fields().items():
        yield line(f"sent {name}", str(value))
    yield line("size", "WHOLE POSITION" if plan.wish.size is None else str(plan.wish.size))
    yield Content("")
    for figure in preview.figures:
        value = UNKNOWN if figure.value is None else number(figure.value, places=6)
        yield line(figure.name, f"{value} {figure.coin}  ({figure.basis})")
    if preview.margin_short:
        yield line("margin", "SHORT: the exchange may open less, or leave it closed", "bold $error")
    yield from resting_lines(preview.resting)
    if not preview.stops_known:
        yield line("live stops", "cannot be read on this exchange; look at them yourself", "$warn")
    yield Content("")
    for words in plan.assumptions:
        yield line("assumed", words, "$quiet")


def _position_lines(preview: Preview) -> Iterable[Content]:
    position = preview.position
    margin = UNKNOWN if position is None else f"{position.margin_mode or UNKNOWN}, {position.leverage or UNKNOWN}x"
    yield line("mode", f"{preview.mode or UNKNOWN} ({preview.mode_from})")
    yield line("margin, leverage", margin)
    if position is not None:
        entry = number(position.entry, at_most=LONGEST)
        yield line("entry, mark", f"{entry}, {number(position.mark)}  ({position.source})")
        if position.locked:
            yield line("locked", f"{number(position.locked)} held by close orders")


def resting_lines(resting: Iterable[Resting]) -> Iterable[Content]:
    """The symbol's orders and live stops, those that now go the wrong way in the colour of a warning."""
    for number_, order in enumerate(resting):
        if not number_:
            yield Content("")
        yield line("order", f"{order.words}  {order.effect}", "$warn" if order.wrong_way else "")


def outcome_lines(plan: ReversalPlan, progress: Progress) -> Iterable[Content]:
    """What became of it: before, previewed and held now for each leg, and what is left that goes the wrong way."""
    came_true = str(progress.outcome) == "reversed"
    yield Content.styled(scrub(f"Settled: {progress.words}"), f"bold {'$success' if came_true else '$error'}")
    yield Content("")
    yield line("", f"{'before':>14}{'previewed':>24}{'held now':>16}", "$quiet")
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


def _legs_compared(plan: ReversalPlan, held: Holdings | None) -> Iterable[Content]:
    before, now = plan.before.as_json(), held.as_json() if held is not None else {}
    previewed = [result.after.as_json() for result in plan.results]
    for leg in dict.fromkeys([*before, *now]):
        wanted = [each.get(leg, UNKNOWN) for each in previewed]
        is_so = now.get(leg, UNKNOWN)
        mark, style = ("as previewed", "") if is_so in wanted else ("DIFFERENT", "bold $error")
        words = f"{before.get(leg, UNKNOWN):>14}{' or '.join(dict.fromkeys(wanted)):>24}{is_so:>16}  {mark}"
        yield line(leg, words, style)
