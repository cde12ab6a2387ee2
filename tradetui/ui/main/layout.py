"""Which panels a terminal of a given size shows, and where each of them stands: pure arithmetic in cells.

A small terminal shows one panel, a larger one three, a large one all five. Each panel wants a line for every row and
cells for every column. Five panels can be arranged in several ways: the arrangement that shows most of their content is
taken. Positions count most, because money is lost there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from textual.geometry import Region

from tradetui.desk.tables.table import PANELS, TableName

NARROWEST: Final = 58  # the fewest cells across of a useful panel, its border included
LOWEST: Final = 9  # lines of a panel that shares the screen: border, titles, five rows and a note
_LINES_OUTSIDE: Final = 4  # lines outside the panels: two of the header, one for the hidden panels and one for the keys
_DEFAULT_THREE: Final[tuple[str, ...]] = (TableName.POSITIONS, TableName.ORDERS, TableName.FILLS)
_REPLACES: Final[Mapping[str, str]] = {TableName.ACCOUNTS: TableName.POSITIONS, TableName.TRIGGERS: TableName.ORDERS}
"""Where three panels are shown: which of the default ones a panel replaces when it gets the focus."""
_WEIGHTS: Final[Mapping[str, int]] = {TableName.POSITIONS: 3, TableName.ORDERS: 2, TableName.FILLS: 2}
"""How much the content of a panel counts, 1 for the others."""
_LOSS_BY_EMPTY_CELLS: Final = 8  # the loss of an arrangement all of whose cells stay empty, in the unit of the weights


class PanelNeed(NamedTuple):
    """The size a panel could use, its border included: lines for all its rows, cells for all its columns."""

    lines: int
    cells: int


class Arrangement(NamedTuple):
    """Parts of a rectangle, one below the other in a stack, else side by side; a part is a panel's name or nested."""

    parts: tuple[ArrangementPart, ...]
    is_stack: bool


ArrangementPart: TypeAlias = str | Arrangement


def _stack(*parts: ArrangementPart) -> Arrangement:
    return Arrangement(parts, is_stack=True)


def _side_by_side(*parts: ArrangementPart) -> Arrangement:
    return Arrangement(parts, is_stack=False)


_ARRANGEMENTS_OF_FIVE: Final = (
    _stack(
        TableName.POSITIONS,
        _side_by_side(_stack(TableName.ORDERS, TableName.ACCOUNTS), _stack(TableName.FILLS, TableName.TRIGGERS)),
    ),
    _stack(
        _side_by_side(TableName.POSITIONS, TableName.ACCOUNTS),
        _side_by_side(_stack(TableName.ORDERS, TableName.TRIGGERS), TableName.FILLS),
    ),
    _stack(
        _side_by_side(TableName.POSITIONS, TableName.ACCOUNTS),
        _side_by_side(TableName.ORDERS, TableName.TRIGGERS, TableName.FILLS),
    ),
)
_FIVE_IN_TWO_COLUMNS: Final = _side_by_side(
    _stack(TableName.POSITIONS, TableName.ORDERS, TableName.TRIGGERS),
    _stack(TableName.ACCOUNTS, TableName.FILLS),
)
_TWO_COLUMNS_FROM: Final = 240
"""Cells across from which five panels may stand in two columns: in fewer the right one would hide half its figures."""


def panels_shown(width: int, height: int, focused: str, before: tuple[str, ...], *, zoomed: bool) -> tuple[str, ...]:
    """The panels for a terminal: as many as have room, the focused one alone on a small terminal or when zoomed.

    `before` are the panels shown so far: where three fit, focusing one of them moves nothing.
    """
    room = height - _LINES_OUTSIDE
    if zoomed or room < 3 * LOWEST - 1:
        return (focused,)
    if width >= 2 * NARROWEST and room >= 4 * LOWEST:
        return tuple(PANELS)
    shown = before if len(before) == len(_DEFAULT_THREE) else _DEFAULT_THREE
    if focused in shown:
        return shown
    index = _DEFAULT_THREE.index(_REPLACES.get(focused, focused))
    return (*shown[:index], focused, *shown[index + 1 :])


def regions(shown: Sequence[str], width: int, height: int, needs: Mapping[str, PanelNeed]) -> dict[str, Region]:
    """The region of every panel, without gaps or overlaps: three are one over two where they fit."""
    screen = Region(0, 0, width, height)
    if len(shown) < len(PANELS):
        first, *others = shown
        below: Sequence[ArrangementPart] = [_side_by_side(*others)] if others and width >= 2 * NARROWEST else others
        return _placed(_stack(first, *below), screen, needs)
    possible = [*_ARRANGEMENTS_OF_FIVE]
    if width >= _TWO_COLUMNS_FROM:
        possible.append(_FIVE_IN_TWO_COLUMNS)
    least_sizes = [(arrangement, _least(arrangement)) for arrangement in possible]
    fitting = [arrangement for arrangement, least in least_sizes if least.cells <= width and least.lines <= height]
    candidates = [_placed(arrangement, screen, needs) for arrangement in fitting or _ARRANGEMENTS_OF_FIVE[:1]]
    return max(candidates, key=lambda placed: _worth(placed, needs))


def divide(total: int, most: Sequence[int], least: Sequence[int], *, favours_first: bool) -> list[int]:
    """Divide lines or cells among parts: to each its least, then equal amounts up to its most; the rest to the last.

    With `favours_first` the first part gets its most before any other gets more than its least. If there is no room for
    the least of all, they are cut alike.
    """
    if total < sum(least):
        edges = [total * sum(least[:number]) // max(1, sum(least)) for number in range(len(least) + 1)]
        return [end - start for start, end in pairwise(edges)]
    sizes = list(least)
    if favours_first:
        sizes[0] = max(sizes[0], min(most[0], total - sum(least[1:])))
    spare = total - sum(sizes)
    while spare and (growing := [index for index, size in enumerate(sizes) if size < most[index]]):
        for index in growing:
            sizes[index] += min(max(1, spare // len(growing)), most[index] - sizes[index], total - sum(sizes))
        spare = total - sum(sizes)
    sizes[-1] += spare
    return sizes


def _placed(part: ArrangementPart, region: Region, needs: Mapping[str, PanelNeed]) -> dict[str, Region]:
    """The panels of a part within its region."""
    if isinstance(part, str):
        return {part: region}
    left, top, width, height = region
    needs_of_parts, least = [_need(child, needs) for child in part.parts], [_least(child) for child in part.parts]
    favours_first = _holds_positions(part.parts[0])
    placed: dict[str, Region] = {}
    if part.is_stack:
        most_lines, least_lines = [need.lines for need in needs_of_parts], [need.lines for need in least]
        heights = divide(height, most_lines, least_lines, favours_first=favours_first)
        for child, lines in zip(part.parts, heights, strict=True):
            placed |= _placed(child, Region(left, top, width, lines), needs)
            top += lines
    else:
        most_cells, least_cells = [need.cells for need in needs_of_parts], [need.cells for need in least]
        widths = divide(width, most_cells, least_cells, favours_first=favours_first)
        for child, cells in zip(part.parts, widths, strict=True):
            placed |= _placed(child, Region(left, top, cells, height), needs)
            left += cells
    return placed


def _need(part: ArrangementPart, needs: Mapping[str, PanelNeed]) -> PanelNeed:
    """The size that a part could use; a panel whose need is not known gets the least that is of use."""
    if isinstance(part, str):
        return needs.get(part, PanelNeed(LOWEST, NARROWEST))
    children = [_need(child, needs) for child in part.parts]
    lines, cells = [need.lines for need in children], [need.cells for need in children]
    return PanelNeed(sum(lines), max(cells)) if part.is_stack else PanelNeed(max(lines), sum(cells))


def _least(part: ArrangementPart) -> PanelNeed:
    return _need(part, {})


def _holds_positions(part: ArrangementPart) -> bool:
    return part == TableName.POSITIONS if isinstance(part, str) else any(map(_holds_positions, part.parts))


def _worth(placed: Mapping[str, Region], needs: Mapping[str, PanelNeed]) -> float:
    """The visible part of the panels' content by weight, less the cells that stay empty."""
    worth, empty_cells, all_cells = 0.0, 0, 0
    for name, (_, _, width, height) in placed.items():
        need = _need(name, needs)
        visible_part = min(1.0, height / max(1, need.lines)) * min(1.0, width / max(1, need.cells))
        worth += _WEIGHTS.get(name, 1) * visible_part
        empty_cells += width * height - min(width, need.cells) * min(height, need.lines)
        all_cells += width * height
    return worth - _LOSS_BY_EMPTY_CELLS * empty_cells / max(1, all_cells)
