"""Which columns of a table are visible, where, and how wide: pure arithmetic in cells.

A column has the cells that its figures need, or it is left out by its rank and reached by scrolling to the right. Only
on a screen too narrow for two columns is one of them cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

GAP: Final = 1
WIDEST_EXTRA_GAP: Final = 3  # cells by which spare room may widen a gap: further apart the eye loses its row


class ColumnNeed(NamedTuple):
    """A column's widths: it is shown with `narrowest` cells or not at all, and uses up to `widest`.

    Where not all columns fit, those of the greatest `rank` go first. The first that would go is still shown if it has a
    shorter text that fits in `shortest` cells.
    """

    rank: int
    narrowest: int
    widest: int
    shortest: int | None = None
    is_whole_or_narrowest: bool = False
    """Whether no width between the two is of use."""


class ColumnLayout(NamedTuple):
    """Columns by their index in the table.

    `order` is every column as scrolling meets them: those that fit, then the others. `shown` are the ones on the
    screen, from the left, each with its first cell in `starts` and its cells in `widths`. The first column stays while
    `scrolled` columns after it have gone past.
    """

    order: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()
    widths: tuple[int, ...] = ()
    scrolled: int = 0

    @property
    def hidden_after(self) -> int:
        return len(self.order) - len(self.shown) - self.scrolled

    @property
    def beyond(self) -> tuple[int, ...]:
        return self.order[len(self.order) - self.hidden_after :]

    @property
    def width(self) -> int:
        return self.starts[-1] + self.widths[-1] if self.shown else 0

    def neighbour(self, column_index: int, by: int) -> int:
        """The column `by` steps further in the order of scrolling, or the last one that way."""
        slot = self.order.index(column_index) if column_index in self.order else 0
        return self.order[max(0, min(slot + by, len(self.order) - 1))]

    def at(self, x: int) -> int | None:
        """The column `x` cells from the left, with the gap on its right; None right of the last."""
        if x >= self.width + GAP:
            return None
        from_the_right = zip(reversed(self.shown), reversed(self.starts), strict=True)
        return next((column_index for column_index, start in from_the_right if x >= start), None)


def lay_out(needs: Sequence[ColumnNeed], room: int, scrolled: int = 0) -> ColumnLayout:
    """Lay out columns in `room` cells; `scrolled` columns after the first have gone past."""
    fitting = _fitting(needs, room)
    order = (*fitting, *(index for index in range(len(needs)) if index not in fitting))
    scrolled = max(0, min(scrolled, len(order) - 2))
    shown = _scrolled_past(needs, order, room, scrolled) if scrolled else fitting
    widths = _widths(needs, shown, room)
    spare = room - sum(widths) - GAP * (len(widths) - 1)
    return ColumnLayout(order, tuple(shown), _starts(widths, spare), tuple(widths), scrolled)


def lay_out_around(needs: Sequence[ColumnNeed], room: int, before: ColumnLayout, column_index: int) -> ColumnLayout:
    """The layout that shows a column, scrolled as little as possible from the one before."""
    slot = before.order.index(column_index)
    scrolled = 0 if slot == 0 else min(before.scrolled, slot - 1)
    layout = lay_out(needs, room, scrolled)
    while column_index not in layout.shown and layout.hidden_after > 0:
        scrolled += 1
        layout = lay_out(needs, room, scrolled)
    return layout


def _fitting(needs: Sequence[ColumnNeed], room: int) -> tuple[int, ...]:
    """The columns that fit, in their order: those of the least rank, and none after the first that does not fit.

    There are at least two, the first to stay and one to scroll, though the second may be cut.
    """
    fitting: list[int] = []
    used = -GAP
    for index in sorted(range(len(needs)), key=lambda index: needs[index].rank):
        need = needs[index]
        used += GAP + need.narrowest
        if used > room and len(fitting) > 1:
            if need.shortest is not None and used - need.narrowest + need.shortest <= room:
                fitting.append(index)
            break
        fitting.append(index)
    return tuple(sorted(fitting))


def _scrolled_past(needs: Sequence[ColumnNeed], order: Sequence[int], room: int, scrolled: int) -> tuple[int, ...]:
    """The first column, and as many as fit beside it after the scrolled ones; at least one of them."""
    shown = [order[0]]
    used = needs[order[0]].narrowest
    for index in order[1 + scrolled :]:
        used += GAP + needs[index].narrowest
        if used > room and len(shown) > 1:
            break
        shown.append(index)
    return tuple(shown)


def _widths(needs: Sequence[ColumnNeed], shown: Sequence[int], room: int) -> list[int]:
    """The narrowest widths, widened up to the widest, least rank first.

    Where they do not fit, columns with a shorter text are cut to that first, then all of them from the right.
    """
    widths = [needs[index].narrowest for index in shown]
    spare = room - sum(widths) - GAP * (len(widths) - 1)
    to_shorter_texts = [(slot, needs[index].shortest) for slot, index in enumerate(shown)]
    to_nothing = [(slot, 0) for slot in reversed(range(len(widths)))]
    for slot, least in (*to_shorter_texts, *to_nothing):
        if spare < 0 and least is not None:
            cut = min(-spare, widths[slot] - least)
            widths[slot] -= cut
            spare += cut
    for slot in sorted(range(len(shown)), key=lambda slot: needs[shown[slot]].rank):
        need = needs[shown[slot]]
        more = max(0, min(spare, need.widest - widths[slot]))
        if need.is_whole_or_narrowest and widths[slot] + more < need.widest:
            continue
        widths[slot] += more
        spare -= more
    return widths


def _starts(widths: Sequence[int], spare: int) -> tuple[int, ...]:
    """The first cell of every column: spare cells widen all gaps alike, and the remainder widens the first ones."""
    gaps = max(1, len(widths) - 1)
    wider, widest_gaps = divmod(min(max(0, spare), WIDEST_EXTRA_GAP * (len(widths) - 1)), gaps)
    return tuple(sum(widths[:slot]) + (GAP + wider) * slot + min(slot, widest_gaps) for slot in range(len(widths)))
