"""Which columns fit, by rank, and where they stand: whatever the columns and whatever the room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.desk.fixtures.exchange_rows import trigger
from tradetui.desk.tables.cells.cell_format import DEFAULT_FORMAT
from tradetui.desk.tables.columns.triggers import trigger_columns
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.ui.table.cells import GAP, WIDEST_EXTRA_GAP, Cells, ColumnNeed, lay_out, lay_out_around, whole_parts
from tradetui.wire.product_types import ProductType

needs_of = st.lists(
    st.builds(
        lambda rank, narrowest, more: ColumnNeed(rank, narrowest, narrowest + more),
        st.integers(1, 12),
        st.integers(1, 30),
        st.integers(0, 30),
    ),
    min_size=1,
    max_size=20,
)
rooms = st.integers(0, 300)


def needs(*ranks_and_widths: tuple[int, int]) -> list[ColumnNeed]:
    return [ColumnNeed(rank, width, width) for rank, width in ranks_and_widths]


def test_columns_go_by_rank_and_stay_in_their_order() -> None:
    columns = needs((1, 8), (4, 9), (2, 9), (3, 9))
    assert lay_out(columns, 38).shown == (0, 1, 2, 3)
    assert lay_out(columns, 37).shown == (0, 2, 3)
    assert lay_out(columns, 27).shown == (0, 2)
    assert lay_out(columns, 37).order == (0, 2, 3, 1)


def test_half_of_a_screen_of_120_cells_shows_when_a_stop_changed_last() -> None:
    row = ProductRow(ProductType.USDT_FUTURES, trigger(1, planType="pos_profit", triggerPrice="126893.8"))
    cells = Cells(trigger_columns([row]), DEFAULT_FORMAT)
    cells.measure([row], {})
    cells.lay_out(57)
    titles = [cells.columns[column_index].title for column_index in cells.layout.shown]
    assert titles == ["Symbol", "Kind", "Trigger", "Status", "Time"]


def test_the_column_that_orders_the_rows_is_on_the_screen_whatever_its_rank() -> None:
    row = ProductRow(ProductType.USDT_FUTURES, trigger(1, planType="pos_profit", triggerPrice="126893.8"))
    cells = Cells(trigger_columns([row]), DEFAULT_FORMAT)
    cells.measure([row], {})
    for column in cells.columns:
        cells.sorted_by = column.id
        cells.lay_out(57)
        shown = [cells.columns[column_index].id for column_index in cells.layout.shown]
        assert column.id in shown and cells.columns[0].id in shown


def test_a_time_that_could_not_be_read_stays_as_it_came_where_only_a_day_has_room() -> None:
    row = ProductRow(ProductType.USDT_FUTURES, trigger(1, uTime="20 Nov about noon"))
    columns = [column for column in trigger_columns([row]) if column.id == "uTime"]
    cells = Cells(columns, DEFAULT_FORMAT)
    cells.lay_out(8)
    assert cells.drawn_row("1", row).texts == ("20 No…",)


def test_the_first_column_that_would_go_is_short_where_that_fits() -> None:
    wide = [ColumnNeed(1, 8, 8), ColumnNeed(3, 9, 9, shortest=4), ColumnNeed(2, 8, 8), ColumnNeed(4, 1, 1)]
    assert lay_out(wide, 27).widths == (8, 9, 8)
    short = lay_out(wide, 26)
    assert (short.shown, short.widths) == ((0, 1, 2), (8, 8, 8))
    assert lay_out(wide, 22).widths == (8, 4, 8)
    assert lay_out(wide, 21).shown == (0, 2)


def test_a_text_that_has_a_shorter_one_is_whole_or_takes_no_room_for_nothing() -> None:
    moments = [ColumnNeed(1, 6, 12, is_whole_or_narrowest=True), ColumnNeed(2, 5, 5)]
    assert [lay_out(moments, room).widths for room in (17, 18)] == [(6, 5), (12, 5)]


def test_of_equal_ranks_the_last_goes_first() -> None:
    assert lay_out(needs((9, 5), (9, 5), (9, 5)), 11).shown == (0, 1)


def test_no_column_is_shown_after_one_of_a_smaller_rank_that_does_not_fit() -> None:
    assert lay_out(needs((1, 5), (2, 5), (3, 50), (4, 5)), 20).shown == (0, 1)


def test_what_is_left_of_the_spare_room_widens_the_first_gaps() -> None:
    columns = needs((1, 5), (2, 5), (3, 5), (4, 5))
    assert [lay_out(columns, room).starts for room in (23, 24, 25, 26)] == [
        (0, 6, 12, 18),
        (0, 7, 13, 19),
        (0, 7, 14, 20),
        (0, 7, 14, 21),
    ]


def test_spare_room_goes_to_text_that_is_cut_and_then_between_the_columns() -> None:
    columns = [ColumnNeed(2, 5, 9), ColumnNeed(1, 5, 5), ColumnNeed(3, 5, 20)]
    assert lay_out(columns, 17).widths == (5, 5, 5)
    assert lay_out(columns, 24).widths == (9, 5, 8)
    layout = lay_out(columns, 38)
    assert layout.widths == (9, 5, 20)
    assert layout.starts == (0, 11, 18)


@given(needs_of, rooms, st.integers(0, 25))
def test_columns_lie_beside_each_other_within_the_room(columns: list[ColumnNeed], room: int, scrolled: int) -> None:
    layout = lay_out(columns, room, scrolled)
    assert sorted(layout.order) == list(range(len(columns)))
    assert layout.scrolled + len(layout.shown) + layout.hidden_after == len(columns)
    assert layout.hidden_after >= 0
    ends = [start + width for start, width in zip(layout.starts, layout.widths, strict=True)]
    assert all(
        GAP <= start - end <= GAP + WIDEST_EXTRA_GAP for start, end in zip(layout.starts[1:], ends, strict=False)
    )
    assert layout.width <= max(room, GAP)


@given(needs_of, rooms)
def test_what_is_shown_has_a_smaller_rank_than_what_is_not(columns: list[ColumnNeed], room: int) -> None:
    layout = lay_out(columns, room)
    hidden = [columns[index].rank for index in range(len(columns)) if index not in layout.shown]
    assert max(columns[index].rank for index in layout.shown) <= min(hidden, default=12)
    assert list(layout.shown) == sorted(layout.shown)


@given(needs_of, rooms, st.data())
def test_every_column_is_reached_and_the_first_stays(columns: list[ColumnNeed], room: int, data: st.DataObject) -> None:
    layout = lay_out(columns, room)
    for _ in range(3):
        column_index = data.draw(st.sampled_from(layout.order))
        layout = lay_out_around(columns, room, layout, column_index)
        assert column_index in layout.shown
        assert layout.shown[0] == layout.order[0]


@given(needs_of, rooms)
def test_a_cell_of_a_column_is_found_by_its_place(columns: list[ColumnNeed], room: int) -> None:
    layout = lay_out(columns, room)
    for column_index, start, width in zip(layout.shown, layout.starts, layout.widths, strict=True):
        if width:
            assert layout.at(start) == layout.at(start + width - 1) == column_index
    assert layout.at(layout.width + GAP) is None


def test_a_note_that_is_too_long_ends_after_a_whole_part() -> None:
    note = "2 without stop · long 1,000 · net +500 USDT"
    shown = {room: whole_parts(note, room) for room in (43, 42, 29, 28, 15, 3)}
    assert shown[43] == note
    assert shown[42] == shown[29] == "2 without stop · long 1,000 …"
    assert shown[28] == "2 without stop …"
    assert shown[15] == "2 without …"
    assert shown[3] == "2 …"
    assert whole_parts("without", 3) == "without", "the table cuts it"
