"""RecordTable: what is drawn, sorted, filtered, copied and clicked, and that a million rows cost no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter

import pytest
from textual.strip import Strip

from tests.ui.fixtures.three_column_table import COLUMNS, Repaints, Row, TableApp, keys, lines, source
from tradetui.desk.tables.cells.cell_format import CellFormat
from tradetui.desk.tables.cells.column import Footer, Tone, number_column, text_column
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.rows.row_source import NO_ROWS, MemoryRows, RowSource, Sort
from tradetui.desk.tables.table import TABLES
from tradetui.ui.key_bindings.actions import Move
from tradetui.ui.table.cells import fitted
from tradetui.ui.table.record_table import RecordTable
from tradetui.wire.models.futures_accounts import FuturesAccount
from tradetui.wire.product_types import ProductType


async def test_rows_are_drawn_under_a_header() -> None:
    app = TableApp(source(["a", "b"], b="-2.5"))
    async with app.run_test(size=(40, 6)):
        drawn = lines(app)
    assert drawn[0].split() == ["Name", "Profit", "Note"]
    assert drawn[1].split() == ["a", "+1", "—"]
    assert drawn[2].split() == ["b", "-2.5", "—"]


async def test_numbers_stand_right_and_words_left() -> None:
    app = TableApp(source(["a"]))
    async with app.run_test(size=(40, 4)):
        assert lines(app)[0].startswith("Name")
        assert lines(app)[1].startswith("a ")
        assert lines(app)[1].index("+1") + 2 == lines(app)[0].index("Profit") + len("Profit")


async def test_sort_and_filter_survive_a_refresh() -> None:
    app = TableApp(source(["a", "b", "c"], a="1", b="3", c="2"))
    async with app.run_test(size=(40, 8)):
        app.table.sort_by(Sort("profit", reverse=True))
        assert keys(app) == ["b", "c", "a"]
        assert "Profit▼" in lines(app)[0]
        app.table.set_source(source(["a", "b", "c"], 2, a="9", b="3", c="2"))
        assert keys(app) == ["a", "b", "c"]
        app.table.filter("!b")
        app.table.set_source(source(["a", "b", "c", "d"], 3, d="5"))
        assert keys(app) == ["d", "a", "c"]
        app.table.sort_by(None)
        assert keys(app) == ["a", "c", "d"]
        assert "▼" not in lines(app)[0]


async def test_a_filter_sees_what_changed() -> None:
    app = TableApp(source(["a", "b"], a="77"))
    async with app.run_test(size=(40, 6)):
        app.table.filter("77")
        assert keys(app) == ["a"]
        app.table.set_source(source(["a", "b"], 2, b="77"))
        assert keys(app) == ["b"]


async def test_a_filter_and_a_test_both_hold() -> None:
    app = TableApp(source(["aa", "ab", "bb"]))
    async with app.run_test(size=(40, 6)):
        app.table.keep_only(lambda row: row.name.endswith("b"))
        app.table.filter("a")
        assert keys(app) == ["ab"]
        app.table.keep_only(None)
        assert keys(app) == ["aa", "ab"]


async def test_a_pattern_that_is_no_expression_is_plain_text() -> None:
    app = TableApp(source(["a(", "b"]))
    async with app.run_test(size=(40, 6)):
        app.table.filter("a(")
        assert app.table.rows.count == 1


async def test_unknown_values_sort_last_either_way() -> None:
    rows = MemoryRows([Row("a", None), Row("b", Decimal(1)), Row("c", Decimal(2))], ["a", "b", "c"], 1)
    app = TableApp(rows)
    async with app.run_test(size=(40, 6)):
        for reverse in (False, True):
            app.table.sort_by(Sort("profit", reverse))
            assert keys(app)[2] == "a"


class Million:
    """Rows made when asked for, with a count of how many were; it orders itself."""

    generation = 1
    count = 1_000_000
    is_pending = False

    def __init__(self, *, reverse: bool = False) -> None:
        self.made = 0
        self.orders: list[tuple[Sort | None, str]] = []
        self._reverse = reverse

    def row(self, index: int) -> Row:
        self.made += 1
        number = self.count - 1 - index if self._reverse else index
        return Row(f"r{number}", Decimal(number))

    def row_id(self, index: int) -> str:
        return f"r{self.count - 1 - index if self._reverse else index}"

    def index_of(self, row_id: str) -> int | None:
        index = int(row_id[1:])
        return self.count - 1 - index if self._reverse else index

    def ordered(self, sort: Sort | None, pattern: str, text_of: Callable[[Row], str]) -> RowSource[Row]:
        self.orders.append((sort, pattern))
        return Million(reverse=sort is not None and sort.reverse)

    def read_ahead(self, index: int) -> None:
        """Every row is at hand."""

    def whole(self) -> RowSource[Row]:
        return self


async def test_a_million_rows_cost_what_is_on_the_screen() -> None:
    rows = Million()
    app = TableApp(rows)
    async with app.run_test(size=(40, 20)) as pilot:
        app.table.move(Move.LAST)
        await pilot.pause()
        assert app.table.cursor.row_id == "r999999"
        assert lines(app)[-1].startswith("r99999")
        app.table.move(Move.PAGE_UP)
        await pilot.pause()
        assert app.table.cursor.row_id == "r999980"
        assert rows.made < 400


async def test_rows_too_many_for_memory_order_themselves_and_are_asked_once() -> None:
    rows = Million()
    app = TableApp(rows)
    async with app.run_test(size=(40, 20)):
        app.table.sort_by(Sort("profit", reverse=True))
        app.table.set_source(rows)
        assert rows.orders == [(Sort("profit", True), "")]
        assert app.table.rows.row_id(0) == "r999999"
        assert rows.made < 100


async def test_a_row_that_is_not_there_yet_is_a_placeholder() -> None:
    class Loading(Million):
        count = 5

        def row(self, index: int) -> Row:
            return None  # type: ignore[return-value]

    app = TableApp(Loading())
    async with app.run_test(size=(40, 8)):
        assert set(lines(app)[1].strip()) == {"·"}
        app.table.action_select()
        assert app.table.model.cell_text() is None
        assert ("selected", "r0") not in app.posted


async def test_copying_takes_the_whole_text_with_every_digit() -> None:
    app = TableApp(MemoryRows([Row("a", Decimal("-1234.50"), "a note longer than\x1b its column")], ["a"], 1))
    async with app.run_test(size=(60, 5)) as pilot:
        app.table.move_to_column(2)
        await pilot.pause()
        assert app.table.model.cell_text() == "a note longer than� its column"
        assert app.table.model.row_text() == "a\t-1234.50\ta note longer than� its column"
        assert "-1,234.50" in lines(app)[1]


async def test_mouse_chooses_cells_and_sorts_by_titles() -> None:
    app = TableApp(source(["a", "b", "c"]))
    async with app.run_test(size=(40, 8)) as pilot:
        await pilot.click(RecordTable, offset=(12, 2))
        assert (app.table.cursor.row_id, app.table.model.cursor_column.id) == ("b", "profit")
        await pilot.click(RecordTable, offset=(12, 0))
        assert app.table.sort_filter.sort == Sort("profit")
        await pilot.click(RecordTable, offset=(12, 0))
        assert app.table.sort_filter.sort == Sort("profit", reverse=True)
        await pilot.click(RecordTable, offset=(38, 0))
        await pilot.click(RecordTable, offset=(2, 6))
        assert app.table.cursor.row_id == "b", "right of the last title and below the last row there is nothing"
        assert [word for word in app.posted if word[0] == "header"] == [("header", "profit")] * 2


async def test_a_double_click_and_the_action_select() -> None:
    app = TableApp(source(["a", "b", "c"]))
    async with app.run_test(size=(40, 8)) as pilot:
        await pilot.click(RecordTable, offset=(2, 3))
        assert ("selected", "c") not in app.posted
        await pilot.click(RecordTable, offset=(2, 3), times=2)
        assert ("selected", "c") in app.posted
        app.table.move(Move.UP)
        app.table.action_select()
        await pilot.pause()
        assert ("selected", "b") in app.posted


async def test_a_narrow_table_scrolls_to_its_other_columns_and_keeps_the_first() -> None:
    app = TableApp(MemoryRows([Row("a", Decimal(2), "the note")], ["a"], 1))
    async with app.run_test(size=(18, 6)) as pilot:
        assert lines(app)[1].split() == ["a", "+2"]
        assert (app.table.model.cells.layout.scrolled, app.table.model.cells.layout.hidden_after) == (0, 1)
        app.table.move(Move.RIGHT)
        app.table.move(Move.RIGHT)
        await pilot.pause()
        assert lines(app)[1].split() == ["a", "the", "note"]
        assert lines(app)[0].split() == ["Name", "Note"]
        assert (app.table.model.cells.layout.scrolled, app.table.model.cells.layout.hidden_after) == (1, 0)
        app.table.move(Move.LEFT)
        app.table.move(Move.LEFT)
        await pilot.pause()
        assert lines(app)[1].split() == ["a", "+2"]


async def test_text_is_cut_where_the_table_is_narrow_and_whole_where_it_is_wide() -> None:
    note = "a note that is longer than its column"
    app = TableApp(MemoryRows([Row("a", Decimal(2), note)], ["a"], 1))
    async with app.run_test(size=(36, 6)) as pilot:
        assert lines(app)[1].endswith("…")
        await pilot.resize_terminal(70, 6)
        await pilot.pause()
        assert lines(app)[1].endswith(note)


def totals_of(rows: Iterable[Row], _: CellFormat) -> dict[str, tuple[str, Tone]]:
    return {"name": ("2", Tone.PLAIN), "profit": (f"+{sum(row.profit or 0 for row in rows)}", Tone.GAIN)}


def footer_of(rows: Iterable[Row], cell_format: CellFormat) -> Footer:
    listed = list(rows)
    return Footer(totals_of(listed, cell_format), f"{len(listed)} of them")


def footer_without_note(rows: Iterable[Row], cell_format: CellFormat) -> Footer:
    return Footer(totals_of(rows, cell_format))


def footer_with_short_note(rows: Iterable[Row], cell_format: CellFormat) -> Footer:
    return footer_of(rows, cell_format)._replace(short_note="in short")


async def test_totals_and_note_stand_under_the_rows_while_those_scroll() -> None:
    names = [f"r{number}" for number in range(9)]
    app = TableApp(source(names), footer=footer_of)
    async with app.run_test(size=(40, 9)) as pilot:
        assert [line.split()[0] for line in lines(app)[1:6]] == names[:5]
        assert set(lines(app)[6].strip()) == {"─"}
        assert lines(app)[7].split() == ["2", "+9"]
        assert lines(app)[7].index("+9") + 2 == lines(app)[1].index("+1") + 2, "totals stand under what they sum up"
        assert lines(app)[8] == "↓ 4 more · 9 of them"
        app.table.move(Move.LAST)
        await pilot.pause()
        assert [line.split()[0] for line in lines(app)[1:6]] == names[4:]
        assert lines(app)[8] == "↑ 4 more · 9 of them"
        app.table.filter("r[12]")
        assert lines(app)[7].split() == ["2", "+2"]
        app.table.set_source(source([], 2))
        assert lines(app)[1:] == [""] * 8


async def test_where_there_is_no_note_the_line_above_the_totals_says_how_many_rows_are_hidden() -> None:
    app = TableApp(source([f"r{number}" for number in range(9)]), footer=footer_without_note)
    async with app.run_test(size=(40, 9)) as pilot:
        assert lines(app)[7].startswith("─ ↓ 3 more ──") and lines(app)[8].split() == ["2", "+9"]
        app.table.move(Move.LAST)
        await pilot.pause()
        assert lines(app)[7].startswith("─ ↑ 3 more ──")
        app.table.filter("r[12]")
        assert set(lines(app)[7].strip()) == {"─"}, "all are shown"


async def test_rows_are_rather_shown_than_what_stands_under_them() -> None:
    app = TableApp(source(["a", "b", "c"]), footer=footer_of)
    for height, under in ((4, []), (5, ["note"]), (6, ["totals", "note"]), (7, ["rule", "totals", "note"])):
        async with app.run_test(size=(40, height)):
            drawn = lines(app)
            kinds = ["rule" if "─" in line else "note" if "of them" in line else "totals" for line in drawn[4:]]
            assert kinds == under
            app = TableApp(source(["a", "b", "c"]), footer=footer_of)


async def test_totals_that_the_note_says_too_take_no_row_of_a_low_table_and_shorten_the_note_of_a_high_one() -> None:
    names = [f"r{number}" for number in range(20)]
    for height, last_row, under in ((10, 8, ["20 of them"]), (12, 8, ["rule", "2", "in short"])):
        app = TableApp(source(names), footer=footer_with_short_note)
        async with app.run_test(size=(40, height)):
            drawn = lines(app)[1 + last_row :]
            assert len(drawn) == len(under)
            for line, texts in zip(drawn, under, strict=True):
                assert texts in line or (texts == "rule" and set(line.strip()) == {"─"})


async def test_where_a_total_has_no_column_on_the_screen_the_note_says_all() -> None:
    names = [f"r{number}" for number in range(20)]
    app = TableApp(source(names), footer=footer_with_short_note)
    async with app.run_test(size=(40, 14)) as pilot:
        assert lines(app)[-1].endswith("more · in short")
        app.table.set_columns((COLUMNS[0], COLUMNS[2]))
        await pilot.pause()
        assert lines(app)[-1].endswith("more · 20 of them")


async def test_a_total_that_changes_repaints_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"r{number}" for number in range(9)]
    app = TableApp(source(names), footer=footer_of)
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        painted = Repaints(app, monkeypatch)
        app.table.set_source(source(names, 2, r0="9"))
        assert painted.lines == [1, 17, 18, 19]


async def test_other_columns_keep_the_cursors_column_and_drop_a_sort_that_is_gone() -> None:
    app = TableApp(source(["b", "a"]))
    async with app.run_test(size=(40, 6)):
        app.table.move_to_column(2)
        app.table.sort_by(Sort("profit"))
        app.table.set_columns((COLUMNS[2], COLUMNS[0]))
        assert app.table.model.cursor_column.id == "note"
        assert app.table.sort_filter.sort is None
        assert lines(app)[0].split() == ["Note", "Name"]


async def test_a_column_gets_wider_for_a_number_and_stays_so() -> None:
    app = TableApp(source(["a"], a="1"))
    async with app.run_test(size=(60, 6)) as pilot:
        app.table.set_source(source(["a", "b"], 2, b="-1234567.12345678"))
        await pilot.pause()
        assert "-1,234,567.12345678" in lines(app)[2]
        assert lines(app)[0].index("Profit") + 6 == lines(app)[2].index("78") + 2, lines(app)
        app.table.set_source(source(["a"], 3))
        await pilot.pause()
        assert lines(app)[1].index("+1") == lines(app)[0].index("Profit") + 4


async def test_rows_that_come_into_sight_are_measured_before_they_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table has one line as long as it is empty: its first rows would be cut, and drawn once more."""
    app = TableApp(NO_ROWS)
    async with app.run_test(size=(60, 6)) as pilot:
        app.table.styles.height = 1
        await pilot.pause()
        texts: list[str] = []
        render_line = app.table.render_line

        def recording(y: int) -> Strip:
            strip = render_line(y)
            texts.append(strip.text)
            return strip

        monkeypatch.setattr(app.table, "render_line", recording)
        app.table.set_source(source(["a", "b"], 2, b="-1234567.12345678"))
        app.table.styles.height = "1fr"
        await pilot.pause()
        assert any("-1,234,567.12345678" in text for text in texts)
        assert not any("…" in text for text in texts)


async def test_what_cannot_be_read_makes_no_column_wider() -> None:
    record = FuturesAccount.from_row({"marginCoin": "USDT", "accountEquity": "1", "locked": "x" * 40})
    columns = [column for column in TABLES["accounts"].columns if column.id in ("marginCoin", "locked")]
    row = ProductRow(ProductType.USDT_FUTURES, record)
    app = TableApp(MemoryRows([row], ["a"], 1), columns=columns)
    async with app.run_test(size=(60, 6)) as pilot:
        await pilot.pause()
        assert lines(app)[1].split() == ["USDT", "x" * 11 + "…"]


async def test_a_number_scrolled_to_makes_room_as_well() -> None:
    names = [f"r{number}" for number in range(50)]
    app = TableApp(source(names, r49="123456789.123456"))
    async with app.run_test(size=(60, 10)) as pilot:
        app.table.move(Move.LAST)
        await pilot.pause()
        await pilot.pause()
        assert "+123,456,789.123456" in lines(app)[-1]


async def test_the_arrow_is_seen_over_a_narrow_column_too() -> None:
    columns = (
        text_column("name", "Symbol", 6, attrgetter("name")),
        number_column("profit", "Lev", 3, attrgetter("profit")),
    )
    app = TableApp(source(["a"]), columns=columns)
    async with app.run_test(size=(40, 5)):
        app.table.sort_by(Sort("profit"))
        assert lines(app)[0].split() == ["Symbol", "Lev▲"]


@pytest.mark.parametrize(
    ("text", "width", "right", "drawn"),
    [
        ("abc", 5, False, "abc  "),
        ("abc", 5, True, "  abc"),
        ("abcdef", 4, False, "abc…"),
        ("日本語", 4, False, "日 …"),
        ("日本語", 6, False, "日本語"),
        ("日本", 6, True, "  日本"),
        ("123.456", 6, True, "123.4…"),
        ("123.456", 4, True, "123…"),
        ("1,234.5", 4, True, "   …"),
        ("-1234567", 5, True, "    …"),
    ],
)
def test_cells_are_exactly_as_wide_as_their_column(text: str, width: int, right: bool, drawn: str) -> None:
    assert fitted(text, width, right=right) == drawn


@dataclass(frozen=True)
class Wide:
    """A row with wide characters."""

    name: str = "日本語日本語"
    profit: Decimal = Decimal(3)
    note: str = "見"


async def test_a_line_is_as_wide_as_it_says() -> None:
    app = TableApp(source(["a", "b"]), footer=footer_of)
    async with app.run_test(size=(40, 8)):
        layout, drawn = app.table.model.cells.layout, app.table.model.line(0)
        strips = (
            app.table._lines.header(app.table.model.cells, Sort("profit"), 0),
            app.table._lines.row(drawn, 1, layout),
            app.table._lines.row(drawn, None, layout),
            app.table._lines.totals(app.table.model.cells.drawn_totals({}), layout),
        )
        for strip in strips:
            assert strip.cell_length == sum(segment.cell_length for segment in strip)


async def test_wide_characters_leave_the_columns_where_they_are() -> None:
    app = TableApp(MemoryRows([Wide(), Row("plain")], ["a", "b"], 1))
    async with app.run_test(size=(40, 5)):
        assert app.table.render_line(1).cell_length == app.table.render_line(2).cell_length == 40
        assert lines(app)[1].startswith("日本語日本語 ")


async def test_without_colours_the_cursor_is_reversed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = TableApp(source(["a", "b"]))
    async with app.run_test(size=(40, 5)):
        styles = [[segment.style for segment in app.table.render_line(y)] for y in (1, 2)]
        assert styles[0][1] is not None and styles[0][1].reverse and styles[0][1].underline
        assert not any(style is not None and style.reverse for style in styles[1])
