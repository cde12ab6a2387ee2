"""What a table keeps of its rows: nothing of those that have gone, and nothing in the caches of Rich."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tests.ui.tables import COLUMNS, Row, TableApp, source
from tradetui.desk.tables.columns import DEFAULT_FORMAT
from tradetui.desk.tables.row_source import MemoryRows
from tradetui.ui.table.cells import Cells
from tradetui.ui.table.lines import cut

STYLES = (Style(bold=True), Style(italic=True))


@given(
    texts=st.lists(st.text(st.sampled_from("a1 …—·漢"), max_size=8), max_size=5),
    first=st.integers(0, 30),
    width=st.integers(0, 40),
)
def test_a_line_is_cut_as_textual_cuts_it(texts: list[str], first: int, width: int) -> None:
    strip = Strip([Segment(text, STYLES[number % 2]) for number, text in enumerate(texts)])
    mine, theirs = cut(strip, first, first + width), strip.crop(first, first + width)
    assert [(segment.text, segment.style) for segment in mine if segment.text] == [
        (segment.text, segment.style) for segment in theirs if segment.text
    ]
    assert mine.cell_length == sum(segment.cell_length for segment in mine)


async def test_lines_cut_at_the_edge_leave_nothing_in_the_cache_of_rich() -> None:
    app = TableApp(source(["row 0"]))
    async with app.run_test(size=(25, 6)):
        app.table.render_line(1)
        remembered = Segment._split_cells.cache_info().currsize
        for number in range(20):
            app.table.set_source(source([f"row {number}"], number + 2))
            assert app.table.render_line(1).cell_length == 25
        assert Segment._split_cells.cache_info().currsize == remembered


def test_a_row_that_has_gone_is_let_go() -> None:
    cells = Cells(COLUMNS, DEFAULT_FORMAT)
    rows = {name: Row(name) for name in ("stays", "goes")}
    gone = weakref.ref(rows["goes"])
    for name, row in rows.items():
        cells.of(name, row)
    drawn = cells.of("stays", rows["stays"])
    cells.forget_gone(MemoryRows([rows["stays"]], ["stays"], 2))
    del rows["goes"], row
    gc.collect()
    assert gone() is None
    assert cells.of("stays", rows["stays"]) is drawn


def test_an_equal_row_takes_the_place_of_the_one_before() -> None:
    cells = Cells(COLUMNS, DEFAULT_FORMAT)
    before = Row("a")
    drawn, former = cells.of("a", before), weakref.ref(before)
    newer = replace(before)
    assert cells.of("a", newer)[1:] == drawn[1:]
    del before, drawn
    gc.collect()
    assert former() is None
