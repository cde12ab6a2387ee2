"""Which panels are on the screen in which size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tradetui.ui.money.money_panels import CALENDAR_WIDTH, RESULT_HEIGHT, RESULT_WIDTH, MoneyPanel, arrange

FOUR = set(MoneyPanel)


def test_four_panels_in_two_rows_as_drawn() -> None:
    shown = arrange(120, 31, MoneyPanel.RESULT, is_zoomed=False, group_lines=14)
    assert set(shown) == FOUR
    assert shown[MoneyPanel.RESULT] == (RESULT_WIDTH, RESULT_HEIGHT) == (47, 17)
    assert shown[MoneyPanel.GROUPS].width == 120 - CALENDAR_WIDTH


def test_figures_and_groups_share_a_small_terminal_until_another_panel_has_the_focus() -> None:
    for focused in (MoneyPanel.RESULT, MoneyPanel.GROUPS):
        assert set(arrange(80, 19, focused, is_zoomed=False)) == {MoneyPanel.RESULT, MoneyPanel.GROUPS}
    for focused in (MoneyPanel.CHART, MoneyPanel.CALENDAR):
        assert set(arrange(80, 19, focused, is_zoomed=False)) == {focused}


def test_a_tall_terminal_gives_the_chart_what_the_groups_do_not_need() -> None:
    def height_of_chart(group_lines: int) -> int:
        return arrange(200, 55, MoneyPanel.RESULT, is_zoomed=False, group_lines=group_lines)[MoneyPanel.CHART].height

    assert [height_of_chart(group_lines) for group_lines in (0, 14, 35, 99)] == [43, 41, 20, RESULT_HEIGHT]


def test_zoom_and_narrow_terminals_show_one_panel() -> None:
    for focused in MoneyPanel:
        assert set(arrange(200, 55, focused, is_zoomed=True)) == {focused}
        assert set(arrange(40, 6, focused, is_zoomed=False)) == {focused}


@given(st.integers(20, 400), st.integers(4, 150), st.sampled_from(MoneyPanel))
def test_panels_beside_each_other_fit_and_the_focused_one_is_there(
    width: int, height: int, focused: MoneyPanel
) -> None:
    shown = arrange(width, height, focused, is_zoomed=False)
    assert focused in shown
    if set(shown) == FOUR:
        assert shown[MoneyPanel.RESULT].height + 12 <= height
        assert width - shown[MoneyPanel.GROUPS].width >= CALENDAR_WIDTH
        assert width - RESULT_WIDTH >= 40


def test_the_calendar_leaves_the_groups_the_room_for_all_their_columns() -> None:
    def width_of_groups(width: int) -> int:
        return arrange(width, 55, MoneyPanel.RESULT, is_zoomed=False, group_cells=110)[MoneyPanel.GROUPS].width

    assert [width_of_groups(width) for width in (120, 200, 300)] == [54, 110, 110]
