"""What a table keeps of its rows: nothing of those that have gone, and nothing in the caches of Rich."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

from rich.segment import Segment

from tests.ui.fixtures.three_column_table import COLUMNS, Row, TableApp, source
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT
from tradetui.desk.tables.rows.row_source import MemoryRows
from tradetui.ui.table.cells import Cells


async def test_lines_cut_at_the_edge_leave_nothing_in_the_cache_of_rich() -> None:
    app = TableApp(source(["row 0"]))
    async with app.run_test(size=(15, 6)):
        app.table.render_line(1)
        remembered = Segment._split_cells.cache_info().currsize
        for number in range(20):
            app.table.set_source(source([f"row {number}"], number + 2))
            assert app.table.render_line(1).cell_length == 15
        assert Segment._split_cells.cache_info().currsize == remembered


def test_a_row_that_has_gone_is_let_go() -> None:
    cells = Cells(COLUMNS, DEFAULT_FORMAT)
    rows = {name: Row(name) for name in ("stays", "goes")}
    gone = weakref.ref(rows["goes"])
    for name, row in rows.items():
        cells.drawn_row(name, row)
    drawn = cells.drawn_row("stays", rows["stays"])
    cells.forget_gone(MemoryRows([rows["stays"]], ["stays"], 2))
    del rows["goes"], row
    gc.collect()
    assert gone() is None
    assert cells.drawn_row("stays", rows["stays"]) is drawn


def test_an_equal_row_takes_the_place_of_the_one_before() -> None:
    cells = Cells(COLUMNS, DEFAULT_FORMAT)
    before = Row("a")
    drawn, former = cells.drawn_row("a", before), weakref.ref(before)
    newer = replace(before)
    assert cells.drawn_row("a", newer)[1:] == drawn[1:]
    del before, drawn
    gc.collect()
    assert former() is None
