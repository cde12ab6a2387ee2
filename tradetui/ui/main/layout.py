"""Which panels a terminal of a size shows, and where: pure arithmetic in cells.

A panel gets room by its content, the lines of all rows and the cells of all columns. Of several layouts the one is
taken in which most of the content is seen; positions, which money is lost with, count most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from tradetui.desk.tables.table import PANELS, TableName

NARROWEST: Final = 58
"""The fewest cells across of a useful panel, its border included."""
LOWEST: Final = 9
"""Lines of a panel that shares the screen: border, titles, five rows and a note."""
_CHROME: Final = 4
"""Lines outside the panels: two of the header, one for the hidden panels and one for the keys."""
_FIRST_THREE: Final[tuple[str, ...]] = (TableName.POSITIONS, TableName.ORDERS, TableName.FILLS)
_TAKES_TURNS_WITH: Final[Mapping[str, int]] = {TableName.ACCOUNTS: 0, TableName.TRIGGERS: 1}
"""The one of the first three in whose region another panel is shown."""
_WEIGHTS: Final[Mapping[str, int]] = {TableName.POSITIONS: 3, TableName.ORDERS: 2, TableName.FILLS: 2}
_LOSS_BY_EMPTY_CELLS: Final = 8
"""The loss of a layout all of whose cells stay empty, in the unit of the weights."""

Region: TypeAlias = tuple[int, int, int, int]
"""Left, top, width and height in cells."""


class PanelNeed(NamedTuple):
    """The size a panel could use, its border included: lines for all its rows, cells for all its columns."""

    lines: int
    cells: int


class _Split(NamedTuple):
    """Parts of a rectangle, above each other or side by side."""

    parts: tuple[str | _Split, ...]
    is_stack: bool


_Part: TypeAlias = str | _Split


def _stack(*parts: _Part) -> _Split:
    return _Split(parts, is_stack=True)


def _side_by_side(*parts: _Part) -> _Split:
    return _Split(parts, is_stack=False)


_OF_FIVE: Final = (
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
_IN_TWO_COLUMNS: Final = _side_by_side(
    _stack(TableName.POSITIONS, TableName.ORDERS, TableName.TRIGGERS),
    _stack(TableName.ACCOUNTS, TableName.FILLS),
)
_TWO_COLUMNS_FROM: Final = 240
"""Cells across from which five panels may stand in two columns: in fewer the right one would hide half its figures."""


def panels_shown(width: int, height: int, focused: str, before: tuple[str, ...], *, zoomed: bool) -> tuple[str, ...]:
    """The panels for a terminal: as many as have room, the focused one alone on a small terminal or when zoomed.

    Of three, accounts and positions share a region, and so do triggers and orders; with `before`, the panels shown so
    far, focusing one of them moves nothing.
    """
    room = height - _CHROME
    if zoomed or room < 3 * LOWEST - 1:
        return (focused,)
    if width >= 2 * NARROWEST and room >= 4 * LOWEST:
        return tuple(PANELS)
    shown = list(before if len(before) == len(_FIRST_THREE) else _FIRST_THREE)
    if focused not in shown:
        index = _FIRST_THREE.index(focused) if focused in _FIRST_THREE else _TAKES_TURNS_WITH.get(focused, 0)
        shown[index] = focused
    return tuple(shown)


def regions(shown: Sequence[str], width: int, height: int, needs: Mapping[str, PanelNeed]) -> dict[str, Region]:
    """The region of every panel, without gaps or overlaps: three are one over two where they fit."""
    if len(shown) == len(PANELS):
        layouts = (*_OF_FIVE, _IN_TWO_COLUMNS) if width >= _TWO_COLUMNS_FROM else _OF_FIVE
        fitting = [layout for layout in layouts if _least(layout).cells <= width and _least(layout).lines <= height]
        candidates = [_laid_out(layout, (0, 0, width, height), needs) for layout in fitting or _OF_FIVE[:1]]
        return max(candidates, key=lambda laid_out: _worth(laid_out, needs))
    first, *others = shown
    below: Sequence[_Part] = [_side_by_side(*others)] if others and width >= 2 * NARROWEST else others
    return _laid_out(_stack(first, *below), (0, 0, width, height), needs)


def divide(total: int, most: Sequence[int], least: Sequence[int], *, first_to_its_most: bool) -> list[int]:
    """Divide cells among parts: the least of every part first, then equal amounts up to its most.

    The rest goes to the last. With `first_to_its_most` the others wait with their least until the first has its most.
    If there is no room for the least of all, they are cut alike.
    """
    if total < sum(least):
        edges = [total * sum(least[:number]) // max(1, sum(least)) for number in range(len(least) + 1)]
        return [end - start for start, end in pairwise(edges)]
    sizes = list(least)
    if first_to_its_most:
        sizes[0] = max(sizes[0], min(most[0], total - sum(least[1:])))
    spare = total - sum(sizes)
    while spare and (growing := [index for index, size in enumerate(sizes) if size < most[index]]):
        for index in growing:
            sizes[index] += min(max(1, spare // len(growing)), most[index] - sizes[index], total - sum(sizes))
        spare = total - sum(sizes)
    sizes[-1] += spare
    return sizes


def _laid_out(part: _Part, region: Region, needs: Mapping[str, PanelNeed]) -> dict[str, Region]:
    if isinstance(part, str):
        return {part: region}
    left, top, width, height = region
    axis = 0 if part.is_stack else 1  # of a need: lines above each other, cells side by side
    sizes = divide(
        height if part.is_stack else width,
        [_need(child, needs)[axis] for child in part.parts],
        [_least(child)[axis] for child in part.parts],
        first_to_its_most=_holds_positions(part.parts[0]),
    )
    placed: dict[str, Region] = {}
    for child, size in zip(part.parts, sizes, strict=True):
        if part.is_stack:
            placed |= _laid_out(child, (left, top, width, size), needs)
            top += size
        else:
            placed |= _laid_out(child, (left, top, size, height), needs)
            left += size
    return placed


def _need(part: _Part, needs: Mapping[str, PanelNeed]) -> PanelNeed:
    """The size that a part could use; a panel whose need is not known gets the least that is of use."""
    if isinstance(part, str):
        return needs.get(part, PanelNeed(LOWEST, NARROWEST))
    parts = [_need(child, needs) for child in part.parts]
    across, along = (max, sum) if part.is_stack else (sum, max)
    return PanelNeed(along(need.lines for need in parts), across(need.cells for need in parts))


def _least(part: _Part) -> PanelNeed:
    return _need(part, {})


def _holds_positions(part: _Part) -> bool:
    return part == TableName.POSITIONS if isinstance(part, str) else any(map(_holds_positions, part.parts))


def _worth(laid_out: Mapping[str, Region], needs: Mapping[str, PanelNeed]) -> float:
    """The visible part of the panels' content by weight, less the cells that stay empty."""
    worth, empty, whole = 0.0, 0, 0
    for name, (_, _, width, height) in laid_out.items():
        need = _need(name, needs)
        worth += _WEIGHTS.get(name, 1) * min(1.0, height / max(1, need.lines)) * min(1.0, width / max(1, need.cells))
        empty += width * height - min(width, need.cells) * min(height, need.lines)
        whole += width * height
    return worth - _LOSS_BY_EMPTY_CELLS * empty / max(1, whole)
