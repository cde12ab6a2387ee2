"""The table of positions in the reversal dialog: each leg now and afterwards, and once it is over, what is held indeed.

Hedge mode has a row for LONG, SHORT and their net; one-way mode one for each result that is possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from textual.content import Content

from tradetui.desk.reversal.preview import ChangedFact, Preview
from tradetui.desk.tables.cells.number_format import UNKNOWN
from tradetui.trading.contract_math import ZERO
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.reversal import ReversalPlan
from tradetui.ui.intents.reversal.tables.table_rows import (
    DIFFERENT,
    Figures,
    Marks,
    Room,
    TableRow,
    estimate,
    figures_of,
    table,
)

_WIDTHS: Final = (9, 10, 12, 13, 13, 15)
_HELD_WIDTH: Final = 13


@dataclass(frozen=True, slots=True)
class _HeldRow:
    """One row before it is text. Sizes are in the base coin, signed where they are of a net."""

    name: str
    before: Decimal
    after: Decimal
    entry: str = ""
    note: str = ""
    changed: str | None = None
    style: str = ""
    is_signed: bool = False
    has_sides: bool = False
    """Whether it is the one position of one-way mode, whose sizes are LONG or SHORT by their sign."""

    def size_cells(self, figures: Figures) -> tuple[str, str, str]:
        """The sizes before and afterwards, with the change between them."""
        return (
            figures.size(self.before, signed=self.is_signed),
            figures.size(self.after - self.before, signed=True),
            figures.size(self.after, signed=self.is_signed),
        )

    def styles_of(self, *sizes: Decimal | None) -> tuple[str, ...]:
        """The styles of cells that show these sizes or None, where they differ from the row's."""
        if not self.has_sides:
            return ()
        return tuple(f"bold ${'long' if size > 0 else 'short'}" if size else self.style for size in sizes)


def legs_table(preview: Preview, plan: ReversalPlan, marks: Marks, room: Room) -> Iterator[Content]:
    """The position in each leg now and afterwards; changed figures are marked."""
    figures = figures_of(preview)
    value_title = f"value {preview.estimates.quote_coin}" if preview.estimates is not None else "value"
    rows = [TableRow("", ("now", "change", "afterwards", "entry", value_title))]
    for row in _held_rows(preview, plan, figures, marks):
        value = UNKNOWN
        if preview.estimates is not None and preview.estimates.mark is not None:
            value = _worth(row.after, preview.estimates.mark, signed=row.is_signed)
        cells = (*row.size_cells(figures), row.entry, value)
        styles = row.styles_of(row.before, None, row.after, None, row.after)
        rows.append(TableRow(row.name, cells, row.note, row.style, changed=row.changed, cell_styles=styles))
    yield from table(rows, _WIDTHS, room)


def outcome_table(preview: Preview, plan: ReversalPlan, held: Holdings | None, room: Room) -> Iterator[Content]:
    """The same table with the present position in its last column; a row that differs from the preview is marked."""
    figures = figures_of(preview)
    came_true = any(held == result.after for result in plan.results)
    sizes = _sizes_held(held)
    rows = [TableRow("", ("before", "change", "afterwards", "held"))]
    for index, row in enumerate(_held_rows(preview, plan, figures, Marks())):
        actual = sizes.get("net" if index and row.name == "or" else row.name)
        actual_text = UNKNOWN if actual is None else figures.size(actual, signed=row.is_signed)
        is_different = not came_true and actual != row.after
        rows.append(
            TableRow(
                row.name,
                (*row.size_cells(figures), actual_text),
                DIFFERENT if is_different else "",
                "bold $warn" if is_different else row.style,
                "bold $warn",
                cell_styles=() if is_different else row.styles_of(row.before, None, row.after, actual),
                keeps_note=True,
            )
        )
    yield from table(rows, (*_WIDTHS[:4], _HELD_WIDTH), room)


def _held_rows(preview: Preview, plan: ReversalPlan, figures: Figures, marks: Marks) -> Iterator[_HeldRow]:
    """Both legs and their net in hedge mode; in one-way mode the net, a row for each possible result."""
    before, after = plan.before, plan.results[0].after
    if isinstance(before, Legs) and isinstance(after, Legs):
        return _leg_rows(preview, plan.leg, (before, after), figures, marks)
    assert isinstance(before, Net)
    return _net_rows(preview, plan, before, figures, marks)


def _leg_rows(
    preview: Preview, reversed_leg: str, legs: tuple[Legs, Legs], figures: Figures, marks: Marks
) -> Iterator[_HeldRow]:
    before, after = legs
    previewed_net = ZERO  # as it was when the trader looked last
    for name, size_before, size_after in (("LONG", before.long, after.long), ("SHORT", before.short, after.short)):
        is_reversed = name == reversed_leg
        was = marks.before(ChangedFact.SIZE if is_reversed else ChangedFact[name])
        was_size = size_before if was is None else Decimal(was)
        previewed_net += was_size if name == "LONG" else -was_size
        entry_now = _entry_now(preview, name)
        entry = UNKNOWN
        if size_after and is_reversed:
            entry = figures.price(entry_now)
        elif size_after and preview.estimates is not None:
            entry = estimate(figures.price(preview.estimates.costs.entry_after))
        yield _HeldRow(
            name,
            size_before,
            size_after,
            entry,
            note=f"entry was {figures.price(entry_now)}" if size_before and entry_now is not None else "",
            changed=None if was is None else f"{ChangedFact.SIZE} was {figures.size(was_size)}",
            style=f"bold ${name.lower()}" if is_reversed else f"${name.lower()}",
        )
    net = before.long - before.short
    was_net = marks.was(ChangedFact.HELD)
    if previewed_net != net:
        was_net = f"net was {figures.size(previewed_net, signed=True)}"
    mark = preview.estimates.mark if preview.estimates is not None else None
    worth = "" if mark is None else f"was {_worth(net, mark, signed=True)}"
    yield _HeldRow("net", net, after.long - after.short, note=worth, changed=was_net, is_signed=True)


def _net_rows(preview: Preview, plan: ReversalPlan, before: Net, figures: Figures, marks: Marks) -> Iterator[_HeldRow]:
    entry_now, was = _entry_now(preview, plan.leg), marks.before(ChangedFact.SIZE)
    changed = marks.was(ChangedFact.HELD) if was is None else f"{ChangedFact.SIZE} was {figures.size(Decimal(was))}"
    for index, result in enumerate(plan.results):
        assert isinstance(result.after, Net)
        after = result.after.net
        turned = before.net * after < 0
        entry = UNKNOWN
        if turned and preview.estimates is not None:
            entry = estimate(figures.price(preview.estimates.costs.price))
        elif after and not turned:
            entry = figures.price(entry_now)
        yield _HeldRow(
            "or" if index else "net",
            before.net,
            after,
            entry,
            note=f"entry was {figures.price(entry_now)}" if entry_now is not None and not index else "",
            changed=None if index else changed,
            style="bold",
            is_signed=True,
            has_sides=True,
        )


def _entry_now(preview: Preview, leg: str) -> Decimal | None:
    symbol = preview.target.symbol
    legs = (position for position in preview.positions if position.symbol == symbol)
    return next((position.entry for position in legs if position.shown_leg.upper() == leg), None)


def _worth(amount: Decimal, mark: Decimal, *, signed: bool) -> str:
    # What a leg is worth is in the quote coin, always a dollar.
    return Figures(None, "USD").money(amount * mark, signed=signed)


def _sizes_held(held: Holdings | None) -> Mapping[str, Decimal]:
    """What is held by the name of its row; nothing where that is not known."""
    if isinstance(held, Legs):
        return {"LONG": held.long, "SHORT": held.short, "net": held.long - held.short}
    return {} if held is None else {"net": held.net}
