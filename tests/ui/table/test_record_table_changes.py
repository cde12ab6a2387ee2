"""RecordTable while rows change: cursor and scroll follow their rows, and only what looks different is repainted."""

from __future__ import annotations

import pytest

from tests.ui.fixtures.three_column_table import COLUMNS, Repaints, Row, TableApp, shown, source
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT
from tradetui.desk.tables.cells.column import Column, Tone
from tradetui.desk.tables.rows.row_source import MemoryRows, Sort
from tradetui.ui.key_bindings.actions import Move
from tradetui.ui.settings.themes import THEMES
from tradetui.ui.table.cells import Cells
from tradetui.ui.table.table_lines import MARGIN
from tradetui.ui.table.table_model import TableCursor

FIFTY = [f"r{number}" for number in range(50)]


async def test_the_cursor_follows_its_row_when_rows_come_in_above() -> None:
    app = TableApp(source(FIFTY))
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.move_to(30)
        await pilot.pause()
        before = shown(app)
        app.table.set_source(source(["new1", "new2", *FIFTY], 2))
        assert app.table.cursor.row_id == "r30"
        assert app.table.cursor.record == Row("r30")
        assert shown(app) == before, "the rows stay where they are on the screen, at once"


async def test_the_cursor_follows_its_row_when_rows_above_go() -> None:
    app = TableApp(source(FIFTY))
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.move_to(30)
        await pilot.pause()
        before = shown(app)
        app.table.set_source(source(FIFTY[3:], 2))
        assert (app.table.cursor.row_id, shown(app)) == ("r30", before)


async def test_when_the_row_is_gone_the_cursor_stays_near() -> None:
    app = TableApp(source(["a", "b", "c"]))
    async with app.run_test(size=(40, 6)) as pilot:
        app.table.move_to(1)
        app.table.set_source(source(["a", "c"], 2))
        assert app.table.cursor.row_id == "c"
        app.table.set_source(source([], 3))
        assert app.table.cursor.row_id is None
        assert app.table.model.cell_text() is None
        await pilot.pause()
        assert [key for word, key in app.posted if word == "highlighted"] == ["a", "b", "c", None]


async def test_who_looks_at_the_top_sees_what_comes_in_there() -> None:
    app = TableApp(source(FIFTY), focus=False)
    async with app.run_test(size=(40, 8)):
        for number in range(20):
            app.table.set_source(source([*(f"new{n}" for n in range(number, -1, -1)), *FIFTY], number + 2))
        assert shown(app)[0] == "new19"
        assert app.table.cursor.row_id == "new19", "nobody has chosen a row yet"


async def test_a_row_that_was_chosen_is_kept_in_sight_while_rows_come_in() -> None:
    app = TableApp(source(FIFTY))
    async with app.run_test(size=(40, 8)):
        app.table.move_to(2)
        for number in range(20):
            app.table.set_source(source([*(f"new{n}" for n in range(number, -1, -1)), *FIFTY], number + 2))
            assert app.table.cursor.row_id == "r2"
            assert "r2" in shown(app)


async def test_scrolled_away_from_the_cursor_the_rows_on_the_screen_stay() -> None:
    app = TableApp(source(FIFTY))
    async with app.run_test(size=(40, 8)) as pilot:
        app.table.scroll_to(y=20, animate=False)
        await pilot.pause()
        before = shown(app)
        app.table.set_source(source(["new", *FIFTY], 2))
        assert shown(app) == before
        app.table.move(Move.DOWN)
        await pilot.pause()
        assert app.table.cursor.row_id == "r1"
        assert "r1" in shown(app), "a key brings the cursor back into sight"


async def test_fewer_rows_leave_no_gap_below() -> None:
    app = TableApp(source(FIFTY))
    async with app.run_test(size=(40, 8)) as pilot:
        app.table.move(Move.LAST)
        await pilot.pause()
        app.table.set_source(source(FIFTY[:9], 2))
        await pilot.pause()
        assert shown(app) == FIFTY[2:9]
        assert app.table.cursor.row_id == "r8"


async def test_sorting_and_filtering_keep_the_cursor_on_its_row_and_in_sight() -> None:
    app = TableApp(source(FIFTY))
    async with app.run_test(size=(40, 8)) as pilot:
        app.table.move_to(1)
        app.table.sort_by(Sort("name", reverse=True))
        await pilot.pause()
        assert app.table.cursor.row_id == "r1"
        assert "r1" in shown(app)
        app.table.filter("1")
        await pilot.pause()
        assert app.table.cursor.row_id == "r1"
        assert "r1" in shown(app)


async def test_the_cursor_stays_in_sight_when_the_terminal_shrinks() -> None:
    app = TableApp(source(FIFTY))
    async with app.run_test(size=(40, 30)) as pilot:
        app.table.move_to(25)
        await pilot.pause()
        await pilot.resize_terminal(40, 8)
        await pilot.pause()
        assert "r25" in shown(app)


async def test_equal_data_repaints_nothing_and_a_change_only_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["a", "b", "c", "d", "e", "f"]
    app = TableApp(source(names))
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        painted = Repaints(app, monkeypatch)
        app.table.set_source(source(names, 2))
        assert painted.lines == []
        app.table.set_source(source(names, 3, d="9"))
        assert painted.lines == [4]


async def test_rows_that_come_in_above_what_is_shown_repaint_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    app = TableApp(source(FIFTY))
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.move_to(30)
        await pilot.pause()
        painted = Repaints(app, monkeypatch)
        app.table.set_source(source(["new1", "new2", *FIFTY], 2))
        await pilot.pause()
        assert painted.lines == []


async def test_rows_that_come_in_cost_no_layout_of_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    app = TableApp(source(FIFTY))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        laid_out: list[bool] = []
        refresh = app.table.refresh

        def watched(*regions: object, layout: bool = False, **options: bool) -> object:
            laid_out.append(layout)
            return refresh(*regions, layout=layout, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(app.table, "refresh", watched)
        app.table.set_source(source(["new1", "new2", *FIFTY], 2))
        await pilot.pause()
        assert True not in laid_out
        assert app.table.virtual_size.height == 53
        assert app.table.vertical_scrollbar.window_virtual_size == 53


async def test_a_scroll_bar_that_appears_is_laid_out() -> None:
    app = TableApp(source(FIFTY[:3]))
    async with app.run_test(size=(40, 12)) as pilot:
        assert not app.table.show_vertical_scrollbar
        app.table.set_source(source(FIFTY, 2))
        await pilot.pause()
        assert app.table.show_vertical_scrollbar
        app.table.set_source(source(FIFTY[:3], 3))
        await pilot.pause()
        assert not app.table.show_vertical_scrollbar


async def test_a_cell_that_only_means_something_else_is_repainted(monkeypatch: pytest.MonkeyPatch) -> None:
    def tone(row: Row) -> Tone:
        return Tone.WARN if row.note else Tone.PLAIN

    columns = (Column("name", "Name", 8, lambda row: row.name, lambda row, _: row.name, tone=tone), COLUMNS[1])
    rows = MemoryRows([Row("a"), Row("b"), Row("c"), Row("d")], list("abcd"), 1)
    app = TableApp(rows, columns=columns)
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        painted = Repaints(app, monkeypatch)
        app.table.set_source(MemoryRows([Row("a"), Row("b", note="!"), Row("c"), Row("d")], list("abcd"), 2))
        assert painted.lines == [2]


async def test_moving_the_cursor_repaints_two_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    app = TableApp(source(FIFTY))
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        painted = Repaints(app, monkeypatch)
        app.table.move(Move.DOWN)
        assert sorted(painted.lines) == [1, 2]
        painted.lines.clear()
        app.table.move(Move.RIGHT)
        assert sorted(painted.lines) == [0, 2]
        painted.lines.clear()
        app.table.move(Move.FIRST)
        app.table.move(Move.UP)
        assert sorted(painted.lines) == [1, 2], "at the end there is nothing to repaint"


async def test_cells_are_made_once_for_a_row_that_stays_the_same() -> None:
    made: list[str] = []

    def text(row: Row, _: object) -> str:
        made.append(row.name)
        return row.name

    columns = (Column("name", "Name", 8, lambda row: row.name, text),)
    app = TableApp(source(FIFTY), columns=columns)
    async with app.run_test(size=(40, 11)) as pilot:
        await pilot.pause()
        first = len(made)
        assert first <= 20, "only what is measured and drawn is made"
        app.table.set_source(source(FIFTY, 2))
        app.table.move(Move.DOWN)
        await pilot.pause()
        assert len(made) == first


async def test_a_theme_that_changes_nothing_but_the_colours_of_results_repaints_the_rows() -> None:
    app = TableApp(source(["won"]))
    for theme in THEMES[:2]:
        app.register_theme(theme)
    async with app.run_test(size=(40, 5)) as pilot:
        for theme in THEMES[:2]:
            app.theme = theme.name
            await pilot.pause()
            row = app.screen._compositor.render_strips()[1]
            profits = [segment.style for segment in row if segment.text.strip() == "+1"]
            assert [style and style.color and style.color.name for style in profits] == [theme.variables["gain"]]


@pytest.mark.parametrize(("newest_first", "row_ids"), [(True, ["new", "old"]), (False, ["old", "old"])])
def test_on_the_newest_row_the_cursor_stays_with_what_is_newest(newest_first: bool, row_ids: list[str]) -> None:
    cursor: TableCursor[Row] = TableCursor()
    cursor.follow(source(["old", "older"]), by_choice=False)
    cursor.go_to(0)
    cursor.follow(source(["new", "old", "older"]), by_choice=False, newest_first=newest_first)
    first = cursor.row_id
    cursor.go_to(1)
    cursor.follow(source(["newest", "new", "old", "older"]), by_choice=False, newest_first=newest_first)
    assert [first, cursor.row_id] == row_ids


async def test_no_figure_touches_the_scroll_bar_and_rows_above_are_counted() -> None:
    app = TableApp(source(FIFTY))
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.move_to(30)
        await pilot.pause()
        layout = app.table.model.cells.layout
        assert app.table.show_vertical_scrollbar
        assert MARGIN + layout.width + MARGIN < app.table.size.width
        assert app.table._note().startswith("↑ ")
        cells = Cells(COLUMNS, DEFAULT_FORMAT)
        cells.lay_out(cells.full_cells - 1)
        assert cells.layout.hidden_after == 1
        cells.lay_out(cells.full_cells - 1, spare=1)
        assert cells.layout.hidden_after == 0, "rather next to the scroll bar than not at all"
