"""The table of positions in the reversal dialog: what is held now, and what will be held afterwards.

In hedge mode it has a row for the LONG leg, the SHORT leg and their net. In one-way mode it has a row for the net, and
a second one if the exchange may do either of two things. Once the reversal is over, the last column is what is held.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Final

from textual.content import Content

from tradetui.desk.reversal.preview import ChangedFact, Preview
from tradetui.desk.tables.cells.number_format import UNKNOWN
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
