"""What the reversal dialog says while it is sent and followed, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from tradetui.desk.reversal.outcome import Outcome
from tradetui.desk.reversal.preview import Preview
from tradetui.desk.reversal.progress import Aftermath, Progress
from tradetui.trading.holdings import Holdings, Net
from tradetui.trading.reversal import ReversalPlan
from tradetui.ui.intents.reversal.tables.figures import figures_of
from tradetui.ui.intents.reversal.tables.legs import outcome_table
from tradetui.ui.intents.reversal.tables.orders import orders_table
from tradetui.ui.intents.reversal.tables.risks import outcome_risk_table
from tradetui.ui.intents.reversal.tables.table_rows import Marks, Room
from tradetui.wire.text.sanitize import scrub


def outcome_lines(shown: Preview, plan: ReversalPlan, progress: Progress, room: Room) -> Iterable[Content]:
    """What became of it: the previewed tables with what is held now, and the orders and stops that are left."""
    came_true = progress.outcome is Outcome.REVERSED
    yield Content.styled(scrub(_settled(plan, progress)), f"bold {'$success' if came_true else '$error'}")
    if not came_true:
        yield Content.styled("This differs from the preview. Check the position now.", "bold $error")
    if came_true or room.is_airy:
        yield Content("")
    yield from outcome_table(shown, plan, progress.held, room)
    if progress.came_true and plan.uncertain:
        yield Content("")
        yield Content.styled(scrub(f"Came true: {progress.came_true}."), "bold")
    if progress.aftermath is not None:
        yield from _aftermath_lines(shown, plan, progress.aftermath, progress.held, room)


def _aftermath_lines(
    shown: Preview, plan: ReversalPlan, aftermath: Aftermath, held: Holdings | None, room: Room
) -> Iterable[Content]:
    blank = [Content("")] if room.is_airy else []
    if aftermath.actuals is not None:
        yield from blank
        yield from outcome_risk_table(shown, plan, aftermath.actuals, held, room)
    if aftermath.resting:
        yield from blank
        mark = shown.estimates.mark if shown.estimates is not None else None
        yield from orders_table(aftermath.resting, figures_of(shown), mark, Marks(), room)
    if aftermath.unread:
        yield Content.styled(scrub(f"Orders, stops and account could not be read: {aftermath.unread}"), "$warn")


def _settled(plan: ReversalPlan, progress: Progress) -> str:
    """How it ended; a one-way position that was to be made smaller was not turned."""
    before, held = plan.before, progress.held
    made_smaller = isinstance(before, Net) and isinstance(held, Net) and before.net * held.net > 0
    if made_smaller and progress.outcome is Outcome.REVERSED:
        held_now = progress.sentence.removeprefix(f"{Outcome.REVERSED}; ")
        return f"Settled as previewed, smaller on the same side: {held_now}"
    return f"Settled: {progress.sentence}"


def sending_sentence(shown: Preview, journal_key: str) -> str:
    """What Esc does while it is sent and nothing has come back yet; `journal_key` opens the journal."""
    return (
        "Reading again, then sending … Until it is sent, Esc withdraws it. After that, Esc closes this dialog: the "
        f"reversal continues, {shown.target.symbol} stays locked, and {journal_key} shows it."
    )


def left_sentence(shown: Preview, journal_key: str) -> str:
    """What Esc does while its end is looked for; `journal_key` opens the journal."""
    symbol = scrub(shown.target.symbol)
    return (
        f"Esc closes this dialog: the search for the outcome continues, {symbol} stays locked, and {journal_key} "
        "shows it."
    )


def unknown_outcome_lines(shown: Preview, why: str, journal_key: str) -> Content:
    """It may have been done: what is certain, and what goes on; `journal_key` opens the journal."""
    symbol = shown.target.symbol
    return Content.assemble(
        (scrub(f"The outcome is not known: {why.rstrip('.')}."), "bold $error"),
        "\n\n",
        scrub(
            f"The search for the outcome continues. {symbol} stays locked until it is settled or released; "
            f"{journal_key} shows it."
        ),
    )
