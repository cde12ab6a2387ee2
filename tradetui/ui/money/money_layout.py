"""Which panels of the screen are beside each other in a terminal's size, and how large they are."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from tradetui.ui.money.calendar.month_grid import DAYS, LARGEST_CELL, SMALLEST_CELL
from tradetui.ui.money.result_panel import INNER_WIDTH

FRAME: Final = 2
RESULT_WIDTH: Final = INNER_WIDTH + FRAME
RESULT_HEIGHT: Final = 15 + FRAME
CALENDAR_WIDTH: Final = (DAYS + 1) * SMALLEST_CELL + FRAME
_WIDEST_CALENDAR: Final = (DAYS + 1) * LARGEST_CELL + FRAME
_NARROWEST_GROUPS: Final = 31
_LOWEST_BELOW: Final = 12
"""Lines of the lower row of panels: six weeks, their heading, three sentences, the frame."""
_WIDEST_GROUPS: Final = 92


class MoneyPanel(StrEnum):
    """The panels of the screen, in the order of Tab."""

    RESULT = "result"
    CHART = "chart"
    GROUPS = "groups"
    CALENDAR = "calendar"


class PanelSize(NamedTuple):
    """Width and height of a panel; 0 is what the others leave."""

    width: int
    height: int


def arrange(
    width: int, height: int, focused: MoneyPanel, *, is_zoomed: bool, group_lines: int = 0
) -> dict[MoneyPanel, PanelSize]:
    """The panels that are shown in so many cells, left to right and top to bottom.

    The chart gets what the lower row does not need: `group_lines` is what all groups take there, with the frame.

    Four where there is room for two rows of them; the figures and the groups beside each other where there is none,
    the chart or the calendar in their place while it has the focus; the focused one alone where it is narrow or low.
    """
    alone = {focused: PanelSize(0, 0)}
    if is_zoomed:
        return alone
    if width >= CALENDAR_WIDTH + _NARROWEST_GROUPS and height >= RESULT_HEIGHT + _LOWEST_BELOW:
        top = max(RESULT_HEIGHT, height - max(_LOWEST_BELOW, group_lines))
        spare = width - CALENDAR_WIDTH - _NARROWEST_GROUPS
        groups = min(_WIDEST_GROUPS, max(_NARROWEST_GROUPS + spare, width - _WIDEST_CALENDAR))
        return {
            MoneyPanel.RESULT: PanelSize(RESULT_WIDTH, top),
            MoneyPanel.CHART: PanelSize(0, top),
            MoneyPanel.GROUPS: PanelSize(groups, 0),
            MoneyPanel.CALENDAR: PanelSize(0, 0),
        }
    if focused in (MoneyPanel.CHART, MoneyPanel.CALENDAR) or width < RESULT_WIDTH + _NARROWEST_GROUPS:
        return alone
    return {MoneyPanel.RESULT: PanelSize(RESULT_WIDTH, 0), MoneyPanel.GROUPS: PanelSize(0, 0)}
