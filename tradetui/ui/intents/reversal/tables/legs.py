"""The positions now, the changes, and the positions afterwards; after the end, the actual ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    now: Decimal
    then: Decimal
    entry: str = ""
    note: str = ""
    changed: str | None = None
    style: str = ""
    is_signed: bool = False
    has_sides: bool = False
    """Whether it is the one position of one-way mode, whose sizes are LONG or SHORT by their sign."""

    def styles_of(self, *sizes: Decimal | None) -> tuple[str, ...]:
        """The styles of cells that show these sizes or None, where they differ from the row's."""
        if not self.has_sides:
            return ()
        return tuple(f"bold ${'long' if size > 0 else 'short'}" if size else self.style for size in sizes)


def legs_table(preview: Preview, plan: ReversalPlan, marks: Marks, room: Room) -> Iterator[Content]:
    """The position in each leg now and afterwards; changed figures are marked."""
    figures = figures_of(preview)
    value_title = f"value {preview.estimates.quote_coin}" if preview.estimates is not None else "value"
    header = TableRow("", ("now", "change", "afterwards", "entry", value_title))
    rows = [header, *(_row(held, preview, figures) for held in _held_rows(preview, plan, figures, marks))]
    yield from table(rows, _WIDTHS, room)


def outcome_table(preview: Preview, plan: ReversalPlan, held: Holdings | None, room: Room) -> Iterator[Content]:
    """The same table with the present position in its last column; a row that differs from the preview is marked."""
    figures = figures_of(preview)
    before = _held_rows(preview, plan, figures, Marks())
    came_true = held is not None and any(held == result.after for result in plan.results)
    sizes = dict(_sizes_held(held))
    rows = [TableRow("", ("before", "change", "afterwards", "held"))]
    for index, row in enumerate(before):
        actual = sizes.get("net" if index and row.name == "or" else row.name)
        is_different = not came_true and actual != row.then
        cells = (
            figures.size(row.now, signed=row.is_signed),
            figures.size(row.then - row.now, signed=True),
            figures.size(row.then, signed=row.is_signed),
            UNKNOWN if actual is None else figures.size(actual, signed=row.is_signed),
        )
        rows.append(
            TableRow(
                row.name,
                cells,
                DIFFERENT if is_different else "",
                "bold $warn" if is_different else row.style,
                "bold $warn",
                cell_styles=() if is_different else row.styles_of(row.now, None, row.then, actual),
                keeps_note=True,
            )
        )
    yield from table(rows, (*_WIDTHS[:4], _HELD_WIDTH), room)


def _row(held: _HeldRow, preview: Preview, figures: Figures) -> TableRow:
    then, value = held.then, UNKNOWN
    if preview.estimates is not None and preview.estimates.mark is not None:
        value = _worth(then, preview.estimates.mark, signed=held.is_signed)
    cells = (
        figures.size(held.now, signed=held.is_signed),
        figures.size(then - held.now, signed=True),
        figures.size(then, signed=held.is_signed),
        held.entry,
        value,
    )
    styles = held.styles_of(held.now, None, then, None, then)
    return TableRow(held.name, cells, held.note, held.style, changed=held.changed, cell_styles=styles)


def _held_rows(preview: Preview, plan: ReversalPlan, figures: Figures, marks: Marks) -> list[_HeldRow]:
    before, after = plan.before, plan.results[0].after
    if isinstance(before, Legs) and isinstance(after, Legs):
        return list(_leg_rows(preview, plan, before, after, figures, marks))
    assert isinstance(before, Net)
    return list(_net_rows(preview, plan, before, figures, marks))


def _leg_rows(
    preview: Preview, plan: ReversalPlan, before: Legs, after: Legs, figures: Figures, marks: Marks
) -> Iterator[_HeldRow]:
    was_net = ZERO
    for name, now, then in (("LONG", before.long, after.long), ("SHORT", before.short, after.short)):
        is_reversed = name == plan.leg
        fact = ChangedFact.SIZE if is_reversed else ChangedFact[name]
        was = marks.before(fact)
        was_size = now if was is None else Decimal(was)
        was_net += was_size if name == "LONG" else -was_size
        entry_now = _entry_now(preview, name)
        entry = UNKNOWN
        if then and is_reversed:
            entry = figures.price(entry_now)
        elif then and preview.estimates is not None:
            entry = estimate(figures.price(preview.estimates.costs.entry_after))
        yield _HeldRow(
            name,
            now,
            then,
            entry,
            f"entry was {figures.price(entry_now)}" if now and entry_now is not None else "",
            None if was is None else f"{ChangedFact.SIZE} was {figures.size(was_size)}",
            f"bold ${name.lower()}" if is_reversed else f"${name.lower()}",
        )
    net, then_net = before.long - before.short, after.long - after.short
    mark = preview.estimates.mark if preview.estimates is not None else None
    yield _HeldRow(
        "net",
        net,
        then_net,
        note="" if mark is None else f"was {_worth(net, mark, signed=True)}",
        changed=marks.was(ChangedFact.HELD) if was_net == net else f"net was {figures.size(was_net, signed=True)}",
        is_signed=True,
    )


def _net_rows(preview: Preview, plan: ReversalPlan, before: Net, figures: Figures, marks: Marks) -> Iterator[_HeldRow]:
    entry_now, was = _entry_now(preview, plan.leg), marks.before(ChangedFact.SIZE)
    changed = marks.was(ChangedFact.HELD) if was is None else f"{ChangedFact.SIZE} was {figures.size(Decimal(was))}"
    for index, result in enumerate(plan.results):
        after = result.after
        assert isinstance(after, Net)
        then = after.net
        turned = before.net * then < 0
        entry = UNKNOWN
        if turned and preview.estimates is not None:
            entry = estimate(figures.price(preview.estimates.costs.price))
        elif then and not turned:
            entry = figures.price(entry_now)
        yield _HeldRow(
            "or" if index else "net",
            before.net,
            then,
            entry,
            f"entry was {figures.price(entry_now)}" if entry_now is not None and not index else "",
            None if index else changed,
            "bold",
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


def _sizes_held(held: Holdings | None) -> Iterable[tuple[str, Decimal]]:
    if isinstance(held, Legs):
        return (("LONG", held.long), ("SHORT", held.short), ("net", held.long - held.short))
    return (("net", held.net),) if held is not None else ()
