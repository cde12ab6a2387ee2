"""Every key of the main screen does what its line in the help says."""

from __future__ import annotations

import asyncio

import pytest
from textual.widgets import Input, OptionList

from tests.ui.fixtures.app_on_sandbox import EVERY_ACCOUNT, AppOnFewRows, newest_message
from tradetui.desk.settings import Access
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.desk.tables.rows.row_source import Sort
from tradetui.trading.account_totals import Totals
from tradetui.ui.application.palette import HEADER_FIGURES, HelpDialog, HelpLine
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.dialogs.deliberate_dialog import ChoiceDialog
from tradetui.ui.dialogs.table_dialogs import SortDialog, column_letters
from tradetui.ui.header.header_content import Alarm, link_of, today_of, worth_of
from tradetui.ui.intents.journal_screen import JournalScreen
from tradetui.ui.key_bindings.key_footer import Hints
from tradetui.ui.records.detail_screen import DetailScreen
from tradetui.ui.records.history_screen import HistoryScreen

pytestmark = pytest.mark.looptime


async def test_panels_by_number_and_tab_and_rows_by_arrows_and_letters() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        main = stage.app.main
        assert main.focused_panel == "positions"
        for key, name in zip("12345", ("accounts", "positions", "orders", "fills", "triggers"), strict=True):
            await pilot.press(key)
            assert main.focused_panel == name
            assert main.table.has_focus
        await pilot.press("tab")
        assert main.focused_panel == "accounts"
        await pilot.press("shift+tab")
        assert main.focused_panel == "triggers"

        await pilot.press("1")
        table = main.table
        keys = [table.model.source.row_id(index) for index in range(table.rows.count)]
        for key, row_index in (("j", 1), ("down", 2), ("k", 1), ("up", 0), ("G", len(keys) - 1), ("g", 0)):
            await pilot.press(key)
            assert table.cursor.row_id == keys[row_index], key
        await pilot.press("pagedown")
        assert table.cursor.row_id == keys[-1]
        await pilot.press("pageup", "g", "right")
        assert table.model.cursor_column is table.columns[1]
        await pilot.press("left")
        assert table.model.cursor_column is table.columns[0]


async def test_filter_is_text_while_it_has_the_focus_and_escape_clears_it() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        main = stage.app.main
        everything = main.table.rows.count
        await pilot.press("slash", *"btcq")
        assert stage.app.is_running
        assert main.query_one("#filter", Input).value == "btcq"
        assert main.table.rows.count == 0
        assert "None of" in screen_text(stage.app)
        await pilot.press("backspace", "enter")
        assert not main.query("#filter")
        assert 0 < main.table.rows.count < everything
        assert f"{main.table.rows.count}/{everything}" in main.panel.caption
        assert "/btc" in main.panel.caption
        await pilot.press("escape")
        assert main.table.rows.count == everything
        await pilot.press("slash", *"!btc")
        assert 0 < main.table.rows.count < everything
        await pilot.press("escape")
        assert main.table.rows.count == everything
        assert main.table.has_focus


async def test_a_letter_sorts_by_its_column_escape_by_none_and_sort_turns_round_and_ends() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        table = stage.app.main.table
        await pilot.press("S")
        assert newest_message(stage) == "No column is sorted."
        await pilot.press("s", "escape")
        assert table.sort_filter.sort is None
        await pilot.press("s")
        dialog = stage.app.screen
        assert isinstance(dialog, SortDialog)
        letters = column_letters([column.title for column in table.columns], {"s", "0"})
        assert f" {letters[3]}  {table.columns[3].title} " in screen_text(stage.app)
        await pilot.press(letters[3])
        assert table.sort_filter.sort == Sort(table.columns[3].id, False)
        await pilot.press("s", "down", "enter")
        assert table.sort_filter.sort == Sort(table.columns[0].id, False)
        await pilot.press("s", "0")
        assert table.sort_filter.sort is None

        await pilot.press("right", "right", "s", "s")
        assert table.sort_filter.sort == Sort(table.columns[2].id, False)
        await pilot.press("S")
        assert table.sort_filter.sort == Sort(table.columns[2].id, True)
        await pilot.press("s", "s")
        assert table.sort_filter.sort == Sort(table.columns[2].id, False), "the same column again turns it round"
        await pilot.press("s", "0")
        assert table.sort_filter.sort is None


async def test_the_key_that_opens_the_list_sorts_by_this_column_whatever_key_it_is() -> None:
    stage = AppOnFewRows(keys={"sort": "/", "filter": "f5"})
    async with stage.running() as pilot:
        await pilot.press("right", "slash", "slash")
        table = stage.app.main.table
        assert table.sort_filter.sort == Sort(table.columns[1].id, False)


async def test_a_sort_by_a_click_is_undone_with_one_key() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        table = stage.app.main.table
        await pilot.press("backspace")
        assert newest_message(stage) == "There is no change of order to undo."
        await pilot.press("right", "s", "s")
        before = table.sort_filter.sort
        await pilot.click(table, offset=(1, 0))
        assert table.sort_filter.sort == Sort(table.columns[0].id, False) != before
        await pilot.press("backspace")
        assert table.sort_filter.sort == before
        assert stage.app.preferences.table("positions").sort == table.columns[1].id
        assert newest_message(stage) == "The last change of order is undone."
        await pilot.press("backspace")
        assert table.sort_filter.sort == before, "it undoes once and is no toggle"
        assert newest_message(stage) == "There is no change of order to undo."


async def test_detail_shows_every_field_and_follows_nothing_else() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        await pilot.press("3", "enter")
        detail = stage.app.screen
        assert isinstance(detail, DetailScreen)
        order = stage.app.main.table.cursor.record
        assert isinstance(order, ProductRow)
        record = order.record
        names = [field.name for field in detail.fields]
        assert set(record.received) <= set(names)
        await pilot.press("j", "y")
        assert newest_message(stage).startswith("Copied ")
        await pilot.press("q")
        assert stage.app.screen is stage.app.main
        await pilot.press("enter", "escape")
        assert stage.app.screen is stage.app.main


async def test_zoom_gives_one_panel_the_screen_and_takes_it_back() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        shown = [panel.display for panel in stage.app.main.panels.values()]
        await pilot.press("z")
        assert [name for name, panel in stage.app.main.panels.items() if panel.display] == ["positions"]
        await pilot.press("3")
        assert [name for name, panel in stage.app.main.panels.items() if panel.display] == ["orders"]
        await pilot.press("escape")
        assert [panel.display for panel in stage.app.main.panels.values()] == shown


async def test_copy_says_what_was_copied() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        table = stage.app.main.table
        await pilot.press("y")
        assert stage.app.clipboard == (table.model.cell_text() or "").strip()
        assert newest_message(stage) == f"Copied {table.model.cursor_column.title}: {stage.app.clipboard}"
        await pilot.press("Y")
        assert stage.app.clipboard.split("\t")[0].strip() == (table.model.cell_text() or "").strip()


async def test_product_goes_round() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        main = stage.app.main
        everything = main.table.rows.count
        parts = []
        for product in map(str, stage.desk.settings.product_types):
            await pilot.press("p")
            assert main.product == product
            rows = [main.panel.table.rows.row(index) for index in range(main.table.rows.count)]
            assert {row.product_type.value for row in rows if row is not None} <= {product}
            assert f"{main.table.rows.count}/{everything} {product.removesuffix('-FUTURES')}" in main.panel.caption
            parts.append(main.table.rows.count)
        assert sum(parts) == everything
        await pilot.press("p")
        assert main.product is None
        assert main.table.rows.count == everything


async def test_pause_keeps_the_rows_and_resuming_brings_all() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        main = stage.app.main
        await pilot.press("4", "space")
        assert main.query_one("#banner").display
        before = [main.table.model.source.row_id(index) for index in range(5)]
        polls = stage.desk.feeds["fills"].snapshot.generation
        await asyncio.sleep(20)
        assert stage.desk.feeds["fills"].snapshot.generation > polls
        assert [main.table.model.source.row_id(index) for index in range(5)] == before
        await pilot.press("space")
        assert not main.query_one("#banner").display
        assert [main.table.model.source.row_id(index) for index in range(5)] != before


async def test_a_panel_revealed_while_paused_shows_its_rows() -> None:
    stage = AppOnFewRows()
    async with stage.running((80, 24)) as pilot:
        await pilot.press("space", "4")
        await pilot.pause()
        assert stage.app.main.table.rows.count > 0
        before = stage.app.main.table.model.source
        await asyncio.sleep(10)
        assert stage.app.main.table.model.source is before


async def test_reversing_resumes_first() -> None:
    stage = AppOnFewRows(read_only=True)
    async with stage.running() as pilot:
        await pilot.press("space", "R")
        assert not stage.app.main.paused
        assert newest_message(stage) == "Monitor mode: nothing can be sent."
        for key in ("L", "f9"):
            stage.app.clear_notifications()
            await pilot.press(key)
            assert newest_message(stage) == (
                "This session sends nothing and locks no other session. Lock trading in a session that trades."
            )


async def test_zone_changes_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows(timezone="Asia/Tokyo")
    async with stage.running() as pilot:
        assert " 21:00 " in screen_text(stage.app)
        await pilot.press("T")
        assert newest_message(stage) == "Times are in UTC."
        assert " 12:00 " in screen_text(stage.app)
        await pilot.press("T")
        assert " 21:00 " in screen_text(stage.app)


async def test_poll_now_reads_at_once() -> None:
    stage = AppOnFewRows()
    async with stage.running((200, 60)) as pilot:
        await pilot.press("5")
        published = asyncio.Event()
        stage.desk.feeds["triggers"].subscribe(lambda _: published.set())
        await pilot.press("u")
        async with asyncio.timeout(1):
            await published.wait()


async def test_profile_is_another_account() -> None:
    stage = AppOnFewRows(profiles=EVERY_ACCOUNT)
    async with stage.running() as pilot:
        await pilot.press("P")
        assert isinstance(stage.app.screen, ChoiceDialog)
        await pilot.press("j", "enter")
        await asyncio.sleep(3)
        await pilot.pause()
        assert stage.desk.settings.name == "one-way"
        assert "one-way · " in screen_text(stage.app).splitlines()[0]
        assert stage.app.main.table.model.source is stage.desk.feeds["positions"].snapshot


async def test_screens_lists_the_panels() -> None:
    stage = AppOnFewRows(profiles=EVERY_ACCOUNT)
    async with stage.running((80, 24)) as pilot:
        await pilot.press("o")
        stage.app.screen.query_one(OptionList).highlighted = 3
        await pilot.press("enter")
        assert stage.app.main.focused_panel == "fills"
        assert "Fills" in screen_text(stage.app)
        await pilot.press("o")
        listed = stage.app.screen.query_one(OptionList)
        prompts = [str(listed.get_option_at_index(index).prompt) for index in range(listed.option_count)]
        listed.highlighted = prompts.index("J Journal")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(stage.app.screen, JournalScreen)
        await pilot.press("escape", "o")
        listed = stage.app.screen.query_one(OptionList)
        prompts = [str(listed.get_option_at_index(index).prompt) for index in range(listed.option_count)]
        assert "P Profiles" in prompts
        listed.highlighted = prompts.index("H Stops that ended")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(stage.app.screen, HistoryScreen), "whichever panel has the focus"


async def test_help_is_narrowed_by_typing_left_by_escape_and_explains_the_header() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        for key in ("f1", "question_mark"):
            await pilot.press(key)
            assert isinstance(stage.app.screen, HelpDialog), key
            await pilot.press("escape")
            assert stage.app.screen_stack[-1] is stage.app.main
        await pilot.press("question_mark", *"exposure")
        screen = screen_text(stage.app)
        assert "multiple of equity" in screen and "F9" not in screen
        await pilot.press("escape", *"LOCK once")
        screen = screen_text(stage.app)
        assert "F9" in screen and "multiple of equity" not in screen
        await pilot.press(*"zzz")
        assert "No key and no figure matches." in screen_text(stage.app)
        await pilot.press("escape", "escape")
        assert stage.app.screen is stage.app.main
        explained = {label for label, _ in HEADER_FIGURES}
        worth = worth_of(stage.desk.totals(), today_of(stage.desk.today()))
        link = link_of(stage.desk.client.connection_status, stage.desk.health.state, is_halved=False)
        badges = {badge for access in Access for badge in access.split(" · ")}
        assert all(any(badge in label for label in explained) for badge in badges), "whatever a session may do"
        labels = {figure.parts[0][0].strip() for figure in (*worth, *link[1:])}
        assert labels | set(Alarm) <= explained, "every figure and every alarm of the header is explained"
        for has_single in (True, False):
            label, _ = worth_of(Totals(has_union=True, has_single=has_single), today_of(None))[0].parts[0]
            assert label.strip() in explained


async def test_palette_runs_an_action() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        await pilot.press("ctrl+p")
        await pilot.press(*"zoom")
        await asyncio.sleep(1)
        assert any("│ zoom " in row for row in screen_text(stage.app).splitlines()), "what is typed"
        await pilot.press("enter")
        await asyncio.sleep(1)
        assert [name for name, panel in stage.app.main.panels.items() if panel.display] == ["positions"]


async def test_a_key_is_changed_by_the_profile() -> None:
    stage = AppOnFewRows(keys={"zoom": "x"})
    async with stage.running((200, 60)) as pilot:
        await pilot.press("z")
        assert sum(panel.display for panel in stage.app.main.panels.values()) == 5
        await pilot.press("x")
        assert sum(panel.display for panel in stage.app.main.panels.values()) == 1
        assert "x Zoom" in screen_text(stage.app)


async def test_a_key_that_clashes_or_is_unknown_is_told() -> None:
    stage = AppOnFewRows(keys={"zoom": "s", "zum": "x"})
    async with stage.running():
        messages = " ".join(notification.message for notification in stage.app._notifications)
        assert "keys.zum is not the id of a key" in messages
        assert "keys.zoom is not taken: s is the key of sort too, it stays z." in messages


async def test_a_key_of_another_binding_stays_its_own() -> None:
    stage = AppOnFewRows(keys={"reverse": "q"})
    async with stage.running() as pilot:
        assert "R Reverse" in screen_text(stage.app)
        await pilot.press("q")
        await pilot.pause()
        assert stage.app._exit


async def test_r_is_unbound_a_hint_can_be_clicked_and_q_quits() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        before = screen_text(stage.app).splitlines()[1:2]
        await pilot.press("r")
        assert stage.app.screen is stage.app.main
        assert screen_text(stage.app).splitlines()[1:2] == before
        await pilot.click(Hints, offset=(3, 0))
        await pilot.pause()
        assert isinstance(stage.app.screen, HelpDialog)
        await pilot.press("escape", "q")
        await pilot.pause()
        assert stage.app._exit
        assert stage.app.return_code == 0


@pytest.mark.parametrize(("text", "matches"), [("/", True), ("/filter", True), ("rows that", True), ("/lock", False)])
def test_a_slash_in_the_help_is_searched_for_or_begins_the_search(text: str, matches: bool) -> None:
    line = HelpLine("Rows", "/", "Filter", "rows that match a pattern")
    assert line.matches(text) is matches
    assert not HelpLine("Session", "L", "Lock", "").matches("/filter")
