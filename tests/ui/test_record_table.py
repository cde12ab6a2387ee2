"""RecordTable: the cursor follows its row, only changed lines are repainted, and a million rows cost no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region

from tradetui.desk.columns import Column, number_column, text_column
from tradetui.desk.rows import MemoryRows, RowSource
from tradetui.ui.record_table import RecordTable, fitted

COLUMNS: tuple[Column, ...] = (
    text_column("name", "Name", 8),
    number_column("profit", "Profit", 10, profit=True),
    text_column("note", "Note", 12),
)


@dataclass(frozen=True)
class Row:
    name: str
    profit: Decimal | None = Decimal(1)
    note: str = ""


def source(names: Sequence[str], generation: int = 1, **profits: str) -> RowSource:
    rows = [Row(name, Decimal(profits.get(name, "1"))) for name in names]
    return MemoryRows(rows, list(names), generation)


class TableApp(App[None]):
    CSS = "RecordTable { height: 1fr; }"

    def __init__(self, rows: RowSource) -> None:
        super().__init__()
        self.table = RecordTable(COLUMNS)
        self._rows = rows
        self.highlighted: list[str | None] = []
        self.selected: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.table.set_source(self._rows)
        self.table.focus()

    def on_record_table_row_highlighted(self, event: RecordTable.RowHighlighted) -> None:
        self.highlighted.append(event.key)

    def on_record_table_row_selected(self, event: RecordTable.RowSelected) -> None:
        self.selected.append(event.key)


def lines(app: TableApp) -> list[str]:
    return [app.table.render_line(y).text.rstrip() for y in range(app.table.size.height)]


async def test_rows_are_drawn_under_a_header() -> None:
    app = TableApp(source(["a", "b"], b="-2.5"))
    async with app.run_test(size=(40, 6)):
        drawn = lines(app)
    assert drawn[0].split() == ["Name", "Profit", "Note"]
    assert drawn[1].split() == ["a", "+1", "—"]
    assert drawn[2].split() == ["b", "-2.5", "—"]


async def test_the_cursor_follows_its_row_when_rows_come_in_above() -> None:
    app = TableApp(source([f"r{n}" for n in range(50)]))
    async with app.run_test(size=(40, 12)) as pilot:
        app.table.move_to(30)
        await pilot.pause()
        line = 30 - int(app.table.scroll_offset.y)
        app.table.set_source(source(["new1", "new2", *(f"r{n}" for n in range(50))], 2))
        await pilot.pause()
        assert app.table.cursor_key == "r30"
        assert app.table.cursor_record.name == "r30"
        assert 32 - int(app.table.scroll_offset.y) == line, "the row stays where it is on the screen"


async def test_when_the_row_is_gone_the_cursor_stays_near() -> None:
    app = TableApp(source(["a", "b", "c"]))
    async with app.run_test(size=(40, 6)):
        app.table.move_to(1)
        app.table.set_source(source(["a", "c"], 2))
        assert app.table.cursor_key == "c"
        app.table.set_source(source([], 3))
        assert app.table.cursor_key is None
        assert app.table.cell_text() is None


async def test_equal_data_repaints_nothing_and_a_change_only_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    app = TableApp(source(["a", "b", "c", "d", "e", "f"]))
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        painted: list[tuple[Region, ...]] = []

        def refresh(*regions: Region, **options: object) -> RecordTable:
            painted.append(regions)
            return app.table

        monkeypatch.setattr(app.table, "refresh", refresh)
        app.table.set_source(source(["a", "b", "c", "d", "e", "f"], 2))
        assert painted == []
        app.table.set_source(source(["a", "b", "c", "d", "e", "f"], 3, d="9"))
        assert [region.y for regions in painted for region in regions] == [4]


async def test_sort_and_filter_survive_a_refresh() -> None:
    app = TableApp(source(["a", "b", "c"], a="1", b="3", c="2"))
    async with app.run_test(size=(40, 8)):
        table = app.table
        table.sort_by("profit", reverse=True)
        assert [table._view.key(place) for place in range(3)] == ["b", "c", "a"]
        assert "▼" in lines(app)[0]
        table.set_source(source(["a", "b", "c"], 2, a="9", b="3", c="2"))
        assert [table._view.key(place) for place in range(3)] == ["a", "b", "c"]
        table.filter("!b")
        table.set_source(source(["a", "b", "c", "d"], 3, d="5"))
        assert [table._view.key(place) for place in range(table.shown)] == ["d", "a", "c"]


async def test_a_pattern_that_is_no_expression_is_plain_text() -> None:
    app = TableApp(source(["a(", "b"]))
    async with app.run_test(size=(40, 6)):
        app.table.filter("a(")
        assert app.table.shown == 1


async def test_unknown_values_sort_last_either_way() -> None:
    rows = MemoryRows([Row("a", None), Row("b", Decimal(1)), Row("c", Decimal(2))], ["a", "b", "c"], 1)
    app = TableApp(rows)
    async with app.run_test(size=(40, 6)):
        for reverse in (False, True):
            app.table.sort_by("profit", reverse)
            assert app.table._view.key(2) == "a"


class Million:
    """Rows made when asked for, with a count of how many were."""

    generation = 1
    count = 1_000_000

    def __init__(self) -> None:
        self.made = 0

    def row(self, place: int) -> Row:
        self.made += 1
        return Row(f"r{place}", Decimal(place))

    def key(self, place: int) -> str:
        return f"r{place}"

    def index_of(self, key: str) -> int | None:
        return int(key[1:])


async def test_a_million_rows_cost_what_is_on_the_screen() -> None:
    rows = Million()
    app = TableApp(rows)
    async with app.run_test(size=(40, 20)) as pilot:
        app.table.action_last()
        await pilot.pause()
        assert app.table.cursor_key == "r999999"
        assert lines(app)[-1].startswith("r99999")
        assert rows.made < 400


async def test_a_row_that_is_not_there_yet_is_a_placeholder() -> None:
    class Loading(Million):
        count = 5

        def row(self, place: int) -> Row:
            return None  # type: ignore[return-value]

    app = TableApp(Loading())
    async with app.run_test(size=(40, 8)):
        assert set(lines(app)[1].strip()) == {"·"}


async def test_copying_takes_the_whole_text() -> None:
    app = TableApp(MemoryRows([Row("a", Decimal("-1234.50"), "a note longer than its column")], ["a"], 1))
    async with app.run_test(size=(60, 5)) as pilot:
        app.table.move_column(2)
        await pilot.pause()
        assert app.table.cell_text() == "a note longer than its column"
        assert app.table.row_text() == "a\t-1234.50\ta note longer than its column"
        assert "…" in lines(app)[1]


async def test_mouse_chooses_rows_and_sorts_by_headers() -> None:
    app = TableApp(source(["a", "b", "c"]))
    async with app.run_test(size=(40, 8)) as pilot:
        await pilot.click(RecordTable, offset=(2, 2))
        assert app.table.cursor_key == "b"
        await pilot.click(RecordTable, offset=(12, 0))
        assert app.table.sort is not None and app.table.sort.column == "profit"


@pytest.mark.parametrize(
    ("text", "width", "right", "shown"),
    [("abc", 5, False, "abc  "), ("abc", 5, True, "  abc"), ("abcdef", 4, False, "abc…"), ("日本語", 4, False, "日 …")],
)
def test_cells_are_exactly_as_wide_as_their_column(text: str, width: int, right: bool, shown: str) -> None:
    assert fitted(text, width, right=right) == shown
