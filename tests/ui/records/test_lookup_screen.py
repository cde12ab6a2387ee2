"""The screens of records on the embedded exchange: each endpoint through its keys, its refusals included."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input, OptionList, Static

from tests.desk.fixtures.lookup_session import BOOKS
from tests.ui.fixtures.app_on_sandbox import EVERY_ACCOUNT, AppOnFewRows, newest_message
from tradetui.desk.lookup.lookup import LookupState
from tradetui.desk.tables.table import LOOKUPS, Table
from tradetui.ui.application.palette import HelpDialog
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.key_bindings.actions import Action
from tradetui.ui.records.detail_screen import NOT_SENT, DetailScreen
from tradetui.ui.records.lookup_screen import FilterForm, LookupScreen
from tradetui.ui.safe_text import inside_sentence
from tradetui.ui.settings.ui_settings import TableChoice
from tradetui.ui.table.table_frame import TableFrame
from tradetui.wire.replies.record import Record

pytestmark = pytest.mark.looptime
KEYS = {"spot-fills": "6", "spot-bills": "7", "convert": "8", "transfers": "9", "email": "0"}
IDS = {"spot-fills": "tradeId", "spot-bills": "billId", "convert": "id", "transfers": "txId"}


async def opened(stage: AppOnFewRows, pilot: Pilot[None], table: str, *, form: bool = False) -> LookupScreen:
    """The screen of a kind, its first page read, or its form open."""
    await pilot.press(KEYS[table])
    await settle(pilot)
    screen = stage.app.lookup
    assert isinstance(screen, LookupScreen)
    assert screen.kind.name == table
    assert isinstance(stage.app.screen, FilterForm if form else LookupScreen)
    return screen


async def settle(pilot: Pilot[None], seconds: float = 1.0) -> None:
    await asyncio.sleep(seconds)
    await pilot.pause()


async def typed(stage: AppOnFewRows, pilot: Pilot[None], field: str, text: str) -> None:
    """Type a text into a field of the open form; while one types nothing is called wrong, after leaving it is."""
    box = stage.app.screen.query_one(f"#field-{field}", Input)
    box.focus()
    box.value = ""
    await pilot.press(*("full_stop" if letter == "." else "minus" if letter == "-" else letter for letter in text))
    await pilot.pause()
    assert box.value == text and problem(stage, field) == ""
    await pilot.press("down", "up")
    assert box.has_focus


def problem(stage: AppOnFewRows, field: str) -> str:
    line = stage.app.screen.query_one(f"#problem-{field}", Static)
    return str(line.render()) if line.display else ""


def texts_of(stage: AppOnFewRows) -> dict[str, str]:
    assert isinstance(stage.app.screen, FilterForm)
    return stage.app.screen.texts


def records(screen: LookupScreen) -> list[Record]:
    rows = screen.rows_table.rows
    return [record for index in range(rows.count) if (record := rows.row(index)) is not None]


def ids(screen: LookupScreen) -> list[str]:
    return [str(record.received[IDS[screen.kind.name]]) for record in records(screen)]


def book(stage: AppOnFewRows, table: str) -> list[dict[str, Any]]:
    uid = stage.desk.settings.uid
    assert uid is not None
    rows: Any = stage.sandbox.exchange_state.rows(uid, BOOKS[table])
    return list(rows)


async def test_a_key_opens_the_newest_rows_and_scrolling_brings_the_older_ones() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        for table in ("spot-fills", "spot-bills", "convert"):
            screen = await opened(stage, pilot, table)
            assert screen.lookup is not None
            everything = [row[IDS[table]] for row in book(stage, table)]
            start = screen.lookup.query.stretch.start_ms
            if start is not None:
                time = "ts" if table == "convert" else "cTime"
                everything = [row[IDS[table]] for row in book(stage, table) if int(row[time]) >= start]
            page = screen.kind.endpoint.page
            assert page is not None
            assert ids(screen) == everything[: page.maximum], table
            assert len(everything) > page.maximum or table == "spot-bills"
            if screen.lookup.state is LookupState.MORE:
                assert "scroll for older ones, if any" in screen_text(stage.app), table
            for _ in range(10):
                await pilot.press("G")
                await settle(pilot)
                if screen.lookup.state is LookupState.COMPLETE:
                    break
            assert ids(screen) == everything, table
            assert f"{len(everything)} rows · all there are" in screen_text(stage.app)
            assert (
                str(screen.query_one(TableFrame).heading) == f"{KEYS[table]} {LOOKUPS[table].title} {len(everything)}"
            )


async def test_a_screen_that_is_full_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tradetui.desk.lookup.lookup.MOST_ROWS", 200)
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        await opened(stage, pilot, "spot-fills")
        await pilot.press("a")
        await settle(pilot, 3)
        assert "200 rows, as many as fit here · f narrows the query, `tradetui show` prints all" in screen_text(
            stage.app
        )
        await pilot.press("a")
        assert newest_message(stage) == "Every row is loaded, or as many as fit."


async def test_nothing_is_read_on_for_while_nobody_scrolls_nor_for_what_a_filter_hides() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        screen = await opened(stage, pilot, "spot-fills")
        await settle(pilot, 30)
        assert screen.lookup is not None
        assert screen.lookup.pages == 1
        await pilot.press("slash", *"nothing like it", "enter")
        await settle(pilot, 30)
        assert (screen.rows_table.rows.count, screen.lookup.pages) == (0, 1)
        await pilot.press("escape")
        assert screen.rows_table.rows.count == 100
        screen.rows_table.scroll_to(y=90, animate=False)
        await settle(pilot)
        assert screen.rows_table.rows.count == 200, "the mouse wheel brings older rows too"


async def test_rows_that_do_not_fill_the_screen_are_read_on_without_a_key() -> None:
    stage = AppOnFewRows("broker")
    async with stage.running((80, 24)) as pilot:
        screen = await opened(stage, pilot, "transfers")
        await settle(pilot, 5)
        assert screen.lookup is not None
        assert screen.rows_table.rows.count < screen.rows_table.size.height
        assert screen.lookup.state is LookupState.COMPLETE
        assert "all there are" in screen_text(stage.app)


@pytest.mark.parametrize("sort", [False, True])
async def test_a_short_page_is_followed_until_the_screen_is_full(sort: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    few_at_a_time(monkeypatch, 5)
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        if sort:
            stage.app.remember_table("spot-fills", TableChoice(sort="size"))
        screen = await opened(stage, pilot, "spot-fills")
        await settle(pilot, 30)
        lookup, height = screen.lookup, screen.rows_table.size.height
        assert lookup is not None
        assert height <= lookup.rows.count < 3 * height
        assert lookup.state is LookupState.MORE


async def test_reading_on_by_itself_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    few_at_a_time(monkeypatch, 5)
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        stage.sandbox.faults.plan("delay", endpoint="spot.fills", times=50)
        await pilot.press(KEYS["spot-fills"])
        for _ in range(200):
            await settle(pilot, 0.2)
            screen = stage.app.lookup
            if screen is not None and screen.lookup is not None and screen.lookup.pages == 2:
                break
        assert screen is not None
        assert screen.lookup is not None
        assert (screen.lookup.pages, screen.lookup.state) == (2, LookupState.LOADING)
        await pilot.press("escape")
        await settle(pilot, 30)
        assert screen.lookup.state is LookupState.STOPPED
        assert screen.lookup.rows.count < screen.rows_table.size.height


def few_at_a_time(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Pages of the spot fills are asked for so many rows at a time."""
    endpoint = LOOKUPS["spot-fills"].endpoint
    assert endpoint.page is not None
    small = endpoint._replace(page=endpoint.page._replace(maximum=rows))
    monkeypatch.setattr(Table, "endpoint", property(lambda _: small))


async def test_everything_can_be_read_by_key_and_palette_stopped_and_gone_on_with_after_a_failure_too() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        screen = await opened(stage, pilot, "spot-fills")
        assert screen.lookup is not None
        stage.sandbox.faults.plan("delay", endpoint="spot.fills")
        await pilot.press("a")
        await pilot.pause()
        assert "100 rows · reading … · Esc stops" in screen_text(stage.app)
        await pilot.press("escape")
        await pilot.pause()
        assert stage.app.screen is screen
        assert "100 rows · stopped · u goes on" in screen_text(stage.app)
        await pilot.press("G")
        await settle(pilot)
        assert screen.rows_table.rows.count == 100
        await pilot.press("u")
        await settle(pilot, 5)
        assert screen.lookup.state is LookupState.COMPLETE
        everything = [row["tradeId"] for row in book(stage, "spot-fills")]
        assert ids(screen) == everything
        await pilot.press("a")
        assert newest_message(stage) == "Every row is loaded, or as many as fit."

        await pilot.press("u")
        await settle(pilot)
        assert ids(screen) == everything[:100]
        stage.sandbox.faults.plan("5xx", endpoint="spot.fills", times=2)
        await pilot.press("a")
        await settle(pilot, 2)
        assert "100 rows · failed, u tries again · The exchange is busy" in screen_text(stage.app)
        assert screen.rows_table.rows.count == 100
        await pilot.press("u")
        await settle(pilot, 3)
        assert ids(screen) == everything

        await pilot.press("u")
        await settle(pilot)
        assert ids(screen) == everything[:100]
        await pilot.press("ctrl+p", *"read all")
        await asyncio.sleep(1)
        await pilot.press("enter")
        await settle(pilot, 4)
        assert screen.lookup is not None
        assert screen.lookup.state is LookupState.COMPLETE, "the palette acts on the screen that is shown"


async def test_reading_again_begins_at_the_newest() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        screen = await opened(stage, pilot, "spot-bills")
        before = ids(screen)
        uid = stage.desk.settings.uid
        assert uid is not None
        bills = stage.sandbox.exchange_state.account(uid).spot_history.bills
        bills.insert(0, {**bills[0], "billId": str(int(bills[0]["billId"]) + 1)})
        await pilot.press("u")
        await settle(pilot)
        assert ids(screen) == [bills[0]["billId"], *before][:500]


async def test_totals_by_coin_follow_what_is_loaded_and_those_that_do_not_fit_are_named_in_their_border() -> None:
    stage = AppOnFewRows()
    async with stage.running((160, 48)) as pilot:
        screen = await opened(stage, pilot, "spot-bills")
        await pilot.press("a")
        await settle(pilot, 3)
        totals = screen.totals_table.rows
        assert screen.lookup is not None
        assert {totals.row_id(index) for index in range(totals.count)} == {"USDT", "BTC", "ETH", "SOL"}
        titles = [column.title for column in screen.totals_table.columns]
        assert titles[:5] == ["Coin", "Rows", "Received", "Paid", "Fees"]
        assert {"transfer-in", "transfer-out", "buy", "sell", "rebate rewards"} <= set(titles)
        assert "Totals of the rows loaded" in screen_text(stage.app)
        await pilot.press("tab", "y")
        assert stage.app.clipboard == "USDT"
        await pilot.press("enter")
        assert isinstance(stage.app.screen, DetailScreen)
        assert "movements" in {field.name for field in stage.app.screen.fields}
        await pilot.press("escape", "tab")
        assert screen.rows_table.has_focus
        await pilot.press("z")
        assert not screen.query_one("#totals").display
        await pilot.press("escape")
        assert screen.query_one("#totals").display
        assert stage.app.screen_stack[-1] is screen
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        hidden = [screen.totals_table.columns[index].title for index in screen.totals_table.model.cells.layout.beyond]
        (border,) = [line for line in screen_text(stage.app).splitlines() if "Totals of the rows loaded" in line]
        assert hidden and f"→ {inside_sentence(hidden[0])}, " in border


async def test_a_narrow_terminal_keeps_the_figures_and_marks_where_the_period_is_cut() -> None:
    stage = AppOnFewRows()
    async with stage.running((60, 22)) as pilot:
        for table, kept in (("spot-fills", {"priceAvg", "size"}), ("convert", {"fromCoinSize", "toCoinSize"})):
            screen = await opened(stage, pilot, table)
            layout, columns = screen.rows_table.model.cells.layout, screen.rows_table.columns
            assert kept <= {column.id for column in columns} - {columns[index].id for index in layout.beyond}
            await pilot.resize_terminal(48, 22)
            await pilot.pause()
            assert screen_text(stage.app).splitlines()[2].rstrip().endswith("…")
            await pilot.resize_terminal(60, 22)
            await pilot.press("escape")


async def test_the_form_filters_completes_a_word_and_tells_each_rule_at_its_field() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 40)) as pilot:
        screen = await opened(stage, pilot, "spot-bills")
        await pilot.press("f", "tab", *"trans")
        await pilot.pause()
        form = stage.app.screen
        assert isinstance(form, FilterForm)
        await pilot.press("right")
        await pilot.pause()
        assert form.query_one("#field-groupType", Input).value == "transaction"
        assert "Group: deposit, withdraw, transaction" in screen_text(stage.app)
        await typed(stage, pilot, "groupType", "gift")
        assert problem(stage, "groupType").startswith("Group: one of the billing types; given: gift. Use one of:")
        assert screen_text(stage.app).count("pre_c2c") == 1, "which words there are is said once"
        assert form.query_one("#confirm", Button).disabled
        await pilot.press("enter")
        assert stage.app.screen is form
        await typed(stage, pilot, "groupType", "transaction")
        await typed(stage, pilot, "coin", "BTC")
        await typed(stage, pilot, "startTime", "100d")
        await typed(stage, pilot, "endTime", "1d")
        assert problem(stage, "endTime").startswith("To: at most 90 days after From; given: 99.0 days.")
        await typed(stage, pilot, "startTime", "60d")
        assert {problem(stage, field) for field in texts_of(stage)} == {""}
        assert "Reads 2 Jun 12:00 to 31 Jul 12:00 UTC." in screen_text(stage.app)
        await pilot.press("enter")
        await settle(pilot)
        assert stage.app.screen_stack[-1] is screen
        now = stage.clock.wall_ms()
        expected = [
            row["billId"]
            for row in book(stage, "spot-bills")
            if row["coin"] == "BTC"
            and row["groupType"] == "transaction"
            and now - 60 * 86_400_000 <= int(row["cTime"]) <= now - 86_400_000
        ]
        assert ids(screen) == expected != []
        assert "Coin BTC · Group transaction · 2 Jun 12:00 to" in screen_text(stage.app)
        await pilot.press("f")
        await pilot.pause()
        again = stage.app.screen
        assert isinstance(again, FilterForm)
        assert again.texts["coin"] == "BTC"
        await pilot.press("escape")
        assert ids(screen) == expected


async def test_each_filter_narrows_what_is_read_and_an_order_id_finds_its_fill() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        for table, field, text in (
            ("spot-fills", "symbol", "BTCUSDT"),
            ("spot-bills", "businessType", "rebate rewards"),
            ("spot-bills", "coin", "ETH"),
        ):
            screen = await opened(stage, pilot, table)
            await pilot.press("f")
            await pilot.pause()
            for name in texts_of(stage):
                stage.app.screen.query_one(f"#field-{name}", Input).value = text if name == field else ""
            await pilot.press("enter")
            await settle(pilot)
            await pilot.press("a")
            await settle(pilot, 3)
            assert ids(screen) == [row[IDS[table]] for row in book(stage, table) if row[field] == text] != [], field
        screen = await opened(stage, pilot, "spot-fills")
        row = book(stage, "spot-fills")[17]
        await pilot.press("f")
        await pilot.pause()
        stage.app.screen.query_one("#field-symbol", Input).value = ""
        await typed(stage, pilot, "orderId", row["orderId"])
        await pilot.press("enter")
        await settle(pilot)
        assert ids(screen) == [row["tradeId"]]


async def test_transfers_show_the_default_range_and_cut_a_long_one() -> None:
    stage = AppOnFewRows("broker")
    async with stage.running((140, 40)) as pilot:
        screen = await opened(stage, pilot, "transfers")
        text = screen_text(stage.app)
        assert "31 Jul 00:00 to 31 Jul 23:59 UTC, since no time is given" in text
        day = [
            row["txId"] for row in book(stage, "transfers") if 0 <= _ms("2026-08-01") - int(row["ts"]) - 1 < 86_400_000
        ]
        assert ids(screen) == day
        await pilot.press("f")
        await pilot.pause()
        await typed(stage, pilot, "startTime", "90d")
        assert "both given or both empty" in problem(stage, "endTime")
        await typed(stage, pilot, "endTime", "0d")
        assert "Reads 3 May 12:00 to 1 Aug 12:00 UTC, in 13 requests." in screen_text(stage.app)
        stage.sandbox.faults.plan("delay", endpoint="broker.transfers", times=13)
        await pilot.press("enter")
        parts: list[float] = []
        for _ in range(60):
            await settle(pilot, 0.5)
            assert screen.lookup is not None
            parts.append(screen.lookup.part or 0.0)
            if screen.lookup.state is LookupState.COMPLETE:
                break
            assert "%" in screen_text(stage.app)
        assert parts == sorted(parts)
        assert len(set(parts)) >= 10
        assert ids(screen) == [row["txId"] for row in book(stage, "transfers")]


def _ms(day: str) -> int:
    from datetime import UTC, datetime

    return round(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


async def test_transfers_of_one_type() -> None:
    stage = AppOnFewRows("broker")
    async with stage.running((140, 40)) as pilot:
        screen = await opened(stage, pilot, "transfers")
        for word, kind in {"WITHDRAWAL": "withdrawl", "deposit": "deposit", "withdrawl": "withdrawl"}.items():
            assert {record.received["type"] for record in records(screen)} != {kind}, "others are shown before"
            await pilot.press("f")
            await pilot.pause()
            for field, text in {"startTime": "30d", "endTime": "0d", "type": word}.items():
                stage.app.screen.query_one(f"#field-{field}", Input).value = text
            await pilot.press("enter")
            await settle(pilot, 4)
            assert {record.received["type"] for record in records(screen)} == {kind}, word


async def test_an_email_is_asked_for_with_the_sub_account_under_the_cursor() -> None:
    stage = AppOnFewRows("broker")
    async with stage.running((120, 36)) as pilot:
        transfers = await opened(stage, pilot, "transfers")
        uid = str(records(transfers)[0].received["uid"])
        screen = await opened(stage, pilot, "email", form=True)
        form = stage.app.screen
        assert isinstance(form, FilterForm)
        assert form.texts == {"subUid": uid}
        await pilot.press("enter")
        await settle(pilot)
        assert [record.row_id for record in records(screen)] == [uid]
        assert f"desk{uid[-1]}@broker.example" in screen_text(stage.app)


async def test_what_is_wrong_is_told_whole_where_there_is_room_and_not_before_anything_is_typed() -> None:
    stage = AppOnFewRows("broker")
    async with stage.running((120, 36)) as pilot:
        await opened(stage, pilot, "email", form=True)
        assert problem(stage, "subUid") == "", "that it is needed stands in the empty box"
        assert "required" not in screen_text(stage.app)
        assert stage.app.screen.query_one("#confirm", Button).disabled
        behind = stage.app.screen_stack[-2]
        assert isinstance(behind, LookupScreen)
        assert behind.reason(Action.READ_ALL) == "nothing has been read yet: f opens the query"
        await typed(stage, pilot, "subUid", "1")
        await pilot.press("enter")
        await settle(pilot)
        assert "subUid does not belong to this broker (40066)" in screen_text(stage.app), "an email of nobody"
        assert "0 rows · failed, u tries again" in screen_text(stage.app)
        await pilot.press("escape", "9", "f")
        await pilot.pause()
        form = stage.app.screen
        form.query_one("#field-startTime", Input).value = "nonsense of a length that cannot stand in one line"
        form.query_one("#field-endTime", Input).focus()
        await pilot.pause()
        text = " ".join(screen_text(stage.app).split())
        assert "yesterday, august, 2026-07-31T15:30." in text


BROKERS = ("transfers", "email")


@pytest.mark.parametrize(
    ("account", "permissions", "reason", "tables"),
    [
        ("hedge", frozenset({"futures-read"}), "(40014)", [table for table in LOOKUPS if table not in BROKERS]),
        ("broker", frozenset({"futures-read"}), "(40014)", BROKERS),
        ("unified", None, "This is not read of a unified account", list(LOOKUPS)),
    ],
    ids=["no permission", "no permission of a broker", "unified account"],
)
async def test_a_refusal_is_a_sentence_and_not_an_empty_table(
    account: str, permissions: frozenset[str] | None, reason: str, tables: Sequence[str]
) -> None:
    stage = AppOnFewRows(account, permissions=permissions)
    async with stage.running((120, 36)) as pilot:
        for table in tables:
            # Before the exchange has told what the key may do, nothing is known of it.
            stage.desk.storage.identity = None
            await opened(stage, pilot, table, form=table == "email")
            if table == "email":
                await pilot.press(*"4200000001", "enter")
                await settle(pilot)
            stage.app.clear_notifications()
            await pilot.pause()
            text = screen_text(stage.app)
            assert reason in " ".join(text.replace("╱", " ").replace("│", " ").split()), table
            assert "0 rows · failed, u tries again" in text
            assert LOOKUPS[table].nothing not in text


async def test_who_is_no_broker_is_told_so_once_and_the_screen_leaves_the_list() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        assert "9 Sub-account transfers" in await options(stage, pilot)
        await opened(stage, pilot, "transfers")
        assert "You are not a Broker (40029)" in screen_text(stage.app)
        assert "Only a broker's main account may call this" in screen_text(stage.app)
        await pilot.press("escape")
        assert stage.app.screen is stage.app.main
        assert "9 Sub-account transfers" not in await options(stage, pilot)
        await pilot.press("9")
        assert stage.app.screen is stage.app.main
        assert newest_message(stage) == "The key or the account may not do this: You are not a Broker (40029)."


async def options(stage: AppOnFewRows, pilot: Pilot[None]) -> list[str]:
    """The list of screens, opened and left."""
    await pilot.press("o")
    await pilot.pause()
    listed = stage.app.screen.query_one(OptionList)
    prompts = [str(listed.get_option_at_index(index).prompt) for index in range(listed.option_count)]
    await pilot.press("escape")
    return prompts


async def test_what_the_keys_authorities_rule_out_is_not_offered() -> None:
    stage = AppOnFewRows(permissions=frozenset({"futures-read", "holdings-read"}))
    async with stage.running((120, 36)) as pilot:
        prompts = await options(stage, pilot)
        assert "6 Spot fills" not in prompts
        assert "7 Spot bills" in prompts
        await pilot.press("6")
        assert newest_message(stage).startswith("The key may not read spot orders")
        await pilot.press("question_mark")
        assert isinstance(stage.app.screen, HelpDialog)
        assert "now off: the key may not read spot orders" in screen_text(stage.app)


async def test_a_managed_sub_account_is_told_of_its_binding() -> None:
    stage = AppOnFewRows("managed")
    async with stage.running((120, 36)) as pilot:
        screen = await opened(stage, pilot, "spot-fills")
        assert screen.rows_table.rows.count
        await pilot.press("f")
        await pilot.pause()
        await typed(stage, pilot, "startTime", "60d")
        await pilot.press("enter")
        await settle(pilot)
        assert "startTime is earlier than the binding time (40408)" in screen_text(stage.app)


async def test_the_keys_of_rows_work_as_on_the_main_screen() -> None:
    stage = AppOnFewRows(timezone="Asia/Tokyo")
    async with stage.running((120, 36)) as pilot:
        screen = await opened(stage, pilot, "spot-fills")
        table = screen.rows_table
        await pilot.press("j", "y")
        assert stage.app.clipboard == (table.model.cell_text() or "").strip()
        assert stage.app.clipboard.endswith("+09:00")
        await pilot.press("T", "y")
        assert stage.app.clipboard.endswith("Z")
        await pilot.press("right", "right", "s", "s")
        assert table.sort_filter.sort is not None
        assert table.sort_filter.sort.column == "side"
        sides = [record.received["side"] for record in records(screen)]
        assert [sides[0], sides[-1]] == ["buy", "sell"]
        await pilot.press("S")
        assert records(screen)[0].received["side"] == "sell"
        await pilot.press("s", "0", "slash", *"sol", "enter")
        assert {record.received["symbol"] for record in records(screen)} == {"SOLUSDT"}
        assert f"{table.rows.count}/100 /sol" in str(screen.query_one(TableFrame).heading)
        await pilot.press("enter")
        detail = stage.app.screen
        assert isinstance(detail, DetailScreen)
        assert {"tradeId", "feeDetail", "userId"} <= {field.name for field in detail.fields if field.mark != NOT_SENT}
        await pilot.press("escape", "escape")
        assert table.rows.count == table.model.source.count
        assert stage.app.screen is screen
        await pilot.press("slash", *"nothing like this", "enter")
        assert "None of 100 rows matches /nothing like this. Older ones may: a reads all." in screen_text(stage.app)
        assert screen.lookup is not None
        await settle(pilot, 5)
        assert screen.lookup.pages == 1
        await pilot.press("a")
        await settle(pilot, 3)
        assert screen.lookup.state is LookupState.COMPLETE


async def test_digits_go_from_screen_to_screen_and_back_and_are_text_while_a_filter_is_typed() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        await pilot.press("slash", *"67890")
        assert stage.app.screen is stage.app.main
        assert stage.app.main.query_one("#filter", Input).value == "67890"
        await pilot.press("escape")
        first = await opened(stage, pilot, "spot-fills")
        assert all(feed.is_hidden for feed in stage.desk.feeds.values())
        await pilot.press("G")
        await settle(pilot)
        rows = ids(first)
        assert len(rows) == 200
        await opened(stage, pilot, "convert")
        again = await opened(stage, pilot, "spot-fills")
        assert again is not first
        assert ids(again) == rows
        await pilot.press("4")
        await pilot.pause()
        assert stage.app.screen is stage.app.main
        assert stage.app.main.focused_panel == "fills"
        assert not stage.desk.feeds["fills"].is_hidden
        assert stage.app.lookup is None
        await pilot.press("o")
        await pilot.pause()
        listed = stage.app.screen.query_one(OptionList)
        listed.highlighted = [str(option.prompt) for option in listed.options].index("8 Convert history")
        await pilot.press("enter")
        await settle(pilot)
        assert stage.app.lookup is not None
        assert stage.app.lookup.kind.name == "convert"
        await pilot.press("q")
        assert stage.app.screen is stage.app.main
        assert stage.app.is_running


async def test_records_are_read_where_nothing_can_be_sent() -> None:
    stage = AppOnFewRows(read_only=True)
    async with stage.running((120, 36)) as pilot:
        screen = await opened(stage, pilot, "spot-fills")
        assert screen.rows_table.rows.count == 100
        assert "MONITOR" in screen_text(stage.app).splitlines()[0]


async def test_every_size_of_terminal_has_its_screen() -> None:
    stage = AppOnFewRows()
    async with stage.running((200, 60)) as pilot:
        for size in ((200, 60), (80, 24), (60, 20), (30, 10), (12, 5)):
            await pilot.resize_terminal(*size)
            screen = await opened(stage, pilot, "spot-bills")
            assert screen.rows_table.rows.count == 500
            await pilot.press("f")
            await pilot.pause()
            assert isinstance(stage.app.screen, FilterForm)
            await pilot.press("tab", "tab", "escape")
            assert stage.app.screen_stack[-1] is screen
            await pilot.press("escape")
        screen = await opened(stage, pilot, "spot-bills")
        await pilot.resize_terminal(120, 36)
        await settle(pilot)
        assert screen.query_one("#totals").display
        assert screen_text(stage.app).splitlines()[-1].rstrip().endswith(" UTC")
        await pilot.resize_terminal(60, 15)
        await pilot.pause()
        assert screen_text(stage.app).splitlines()[-1].rstrip().endswith(" UTC"), "at every width"


async def test_another_profile_keeps_nothing_of_the_one_before() -> None:
    stage = AppOnFewRows(profiles=EVERY_ACCOUNT)
    async with stage.running((120, 36)) as pilot:
        screen = await opened(stage, pilot, "spot-fills")
        before = ids(screen)
        await pilot.press("escape", "P", "j", "enter")
        await settle(pilot, 3)
        assert stage.desk.settings.name == "one-way"
        assert not set(ids(await opened(stage, pilot, "spot-fills"))) & set(before)
