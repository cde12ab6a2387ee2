"""The header bar: what stands in it, what is unknown, and how seldom it is painted."""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.widgets import Button, Input

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tradetui.desk.feeds.polling.feed import Reading
from tradetui.desk.intents.intents import Intents
from tradetui.desk.intents.journal.registered_journal import JournalLocation, open_journal
from tradetui.desk.intents.states import State
from tradetui.desk.results.today import TodayResult
from tradetui.desk.tables.rows.row_source import FeedRow
from tradetui.exchange.clock import LoopClock, Moment
from tradetui.exchange.connection_status import ConnectionStatus
from tradetui.sandbox.gateway.api_keys import READ
from tradetui.storage.disk_thread import InlineDisk
from tradetui.trading.account_totals import Totals
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.header.header_bar import _ACCESS, Figure, HeaderBar, fitting_figures
from tradetui.ui.header.header_content import _STATES, alarm_of, today_of, worth_of


@pytest.mark.looptime
async def test_badges_account_worth_and_link() -> None:
    stage = AppOnFewRows(read_only=True)
    async with stage.running((200, 60)):
        first, second = screen_text(stage.app).splitlines()[:2]
        assert first.startswith("  SANDBOX   MONITOR   hedge · 41")
        for label in (" ms", "clock ", "rate limit ", " % used"):
            assert label in first
        for label in ("equity ", " USDT", "open ", "free ", "margin ratio ", "exposure "):
            assert label in second
        assert "today from 12:00 " in second, "nothing was sampled when the day began"
        assert "—" not in first + second


def test_what_is_unknown_is_a_dash() -> None:
    figures = worth_of(Totals(), today_of(None))
    texts = ["".join(text for text, _ in figure.parts) for figure in figures]
    assert texts == ["equity — USDT", "today —", "open —", "free —", "margin ratio —", "exposure —"]


def test_why_the_equity_is_not_known_stands_beside_it_where_there_is_room() -> None:
    totals = Totals(no_equity_because="no USDT value of BTC")
    equity = worth_of(totals, today_of(None))[0]
    whole, short = ("".join(text for text, _ in parts) for parts in (equity.parts, equity.short))
    assert (whole, short) == ("equity — no USDT value of BTC", "equity — USDT")


def test_a_coin_that_the_exchange_names_with_control_characters_is_text() -> None:
    totals = Totals(no_equity_because="no USDT value of \x1b[2JBTC")
    assert not any("\x1b" in text for text, _ in worth_of(totals, today_of(None))[0].parts)


def today(amount: str, part: str | None, *, is_complete: bool = True, since: int | None = None) -> TodayResult:
    fraction = None if part is None else Decimal(part)
    return TodayResult(Decimal(amount), fraction, is_complete, since)


@pytest.mark.parametrize(
    ("result", "text", "style"),
    [
        (today("214.361", "0.00907"), "today +214.36 +0.91 %", "$gain"),
        (today("-5", "-0.1"), "today -5.00 -10.00 %", "$loss"),
        (today("0", None), "today 0.00", ""),
        (today("7", "0.001", is_complete=False), "today +7.00? +0.10 %", "$gain"),
        (today("7", "0.001", since=50_580_000), "today from 14:03 +7.00", "$gain"),
        (None, "today —", ""),
    ],
)
def test_todays_result_is_an_amount_and_per_cent(result: TodayResult | None, text: str, style: str) -> None:
    figure = today_of(result)
    assert "".join(part for part, _ in figure.parts) == text
    assert figure.parts[-1][1] == style


def test_why_there_is_no_result_of_today_stands_beside_it_where_there_is_room() -> None:
    figure = today_of(None, UTC, "transfers are not known")
    whole, short = ("".join(text for text, _ in parts) for parts in (figure.parts, figure.short))
    assert (whole, short) == ("today — transfers are not known", "today —")


def test_where_room_is_short_todays_result_leaves_its_per_cent_out() -> None:
    figures = (Figure(1, (("equity 1,000.00 USDT", ""),)), today_of(today("214.36", "0.0091")))
    whole = sum(figure.width for figure in figures) + 3
    texts = {
        width: " ".join(part for figure in fitting_figures(figures, width) for part, _ in figure.parts)
        for width in (whole, whole - 1, whole - 8, whole - 9)
    }
    assert ["%" in text for text in texts.values()] == [True, False, False, False]
    assert ["+214.36" in text for text in texts.values()] == [True, True, True, False]


@pytest.mark.looptime
async def test_every_open_intent_is_named_whatever_its_state() -> None:
    stage = AppOnFewRows()
    async with stage.running((80, 24)) as pilot:
        assert stage.desk.execution is not None
        intents = stage.desk.execution.intents

        async def badge() -> str:
            await asyncio.sleep(2)
            await pilot.pause()
            return "".join(screen_text(stage.app).splitlines()[:2])

        await intents.begin("i1", "USDT-FUTURES|BTCUSDT", "somebody's", {})
        assert "NOT SETTLED BTCUSDT: J" in await badge()
        for state, label in (
            (State.SENT, "NOT SETTLED"),
            (State.ACKNOWLEDGED, "NOT SETTLED"),
            (State.UNKNOWN, "UNKNOWN OUTCOME"),
        ):
            await intents.step("i1", state, {})
            assert f"{label} BTCUSDT: J" in await badge()
        await intents.step("i1", State.SETTLED, {})
        assert "BTCUSDT" not in await badge()
        await intents.step("i1", State.CORRECTED, {})
        assert "NOT SETTLED BTCUSDT: J" in await badge()
        await intents.begin("i2", "USDT-FUTURES|ETHUSDT", "somebody's", {})
        for state in (State.SENT, State.UNKNOWN):
            await intents.step("i2", state, {})
        assert "UNKNOWN OUTCOME ETHUSDT and 1 more: J" in await badge()


@pytest.mark.looptime
async def test_what_another_data_directory_locks_is_named(tmp_path: Path) -> None:
    here, other = (
        JournalLocation(tmp_path / name / "journal.sqlite", tmp_path / "registry.sqlite", ("by-uid",))
        for name in ("here", "other")
    )
    journal = open_journal(other)
    journal.begin("i1", "account", "USDT-FUTURES|BTCUSDT", "reversal", {}, Moment(1, "boot", 1))
    journal.step("i1", State.SENT, {}, Moment(1, "boot", 1))
    intents = Intents(None, InlineDisk(), LoopClock(1), "", lambda: "i2", start_locked=False)
    try:
        assert await intents.open("account", here)
        await intents.refresh()
        desk = SimpleNamespace(intents=intents, storage=SimpleNamespace(trouble=None))
        assert alarm_of(desk, str.upper) == "LOCKED BY ANOTHER JOURNAL BTCUSDT"  # type: ignore[arg-type]
    finally:
        intents.close()
        journal.close()


@pytest.mark.looptime
async def test_how_the_link_is_doing_is_painted_every_five_seconds_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows()
    async with stage.running((200, 60), after=10) as pilot:
        latencies = itertools.cycle((11.0, 12.0))
        monkeypatch.setattr(ConnectionStatus, "latency_ms", property(lambda _: next(latencies)))
        header = stage.app.main.query_one(HeaderBar)
        links = []
        for _ in range(30):
            await asyncio.sleep(1)
            await pilot.pause()
            links.append(header.shown.link)
        changes = sum(before != after for before, after in itertools.pairwise(links))
        assert 2 <= changes <= 7


@pytest.mark.looptime
async def test_equity_and_open_profit_are_those_of_the_panels_at_every_moment() -> None:
    stage = AppOnFewRows()
    async with stage.running((300, 80), after=4) as pilot:
        open_profits = set()
        for _ in range(20):
            await asyncio.sleep(0.7)
            await pilot.pause()
            worth = {
                figure.parts[0][0].strip(): figure.parts[1][0]
                for figure in stage.app.main.query_one(HeaderBar).shown.worth
            }
            panels = stage.app.main.panels
            positions, accounts = (panels[name].table.model.footer.totals for name in ("positions", "accounts"))
            assert (worth["open"], worth["equity"]) == (positions["unrealised"][0], accounts["usdtEquity"][0])
            open_profits.add(worth["open"])
        assert len(open_profits) > 3


@pytest.mark.looptime
async def test_a_key_that_may_only_read_is_named_so_unless_trading_is_locked() -> None:
    stage = AppOnFewRows(permissions=READ)
    async with stage.running() as pilot:
        assert screen_text(stage.app).startswith("  SANDBOX   KEY READS ONLY   hedge")
        stage.sandbox.faults.plan("delay", times=20)
        await pilot.press("R")
        await pilot.pause()
        dialog = stage.app.screen
        assert "Reading …" in screen_text(stage.app)
        assert "This API key can only read: the exchange would refuse the order." in screen_text(stage.app)
        await asyncio.sleep(3)
        assert "This API key can only read: the exchange would refuse the order." in screen_text(stage.app)
        assert dialog.query_one("#confirm", Button).disabled and not any(box.display for box in dialog.query(Input))
        await pilot.press("escape")
        await pilot.press("L")
        await asyncio.sleep(1)
        assert screen_text(stage.app).startswith("  SANDBOX   LOCKED   hedge")


@pytest.mark.looptime
async def test_what_matters_most_stays_where_room_is_short() -> None:
    stage = AppOnFewRows()
    async with stage.running((80, 24)) as pilot:
        first, second = screen_text(stage.app).splitlines()[:2]
        assert "SANDBOX" in first and "rate limit" in first
        assert second.strip().startswith("equity ")
        assert "today from 12:00 " in second and "margin ratio " in second
        await pilot.resize_terminal(52, 24)
        await pilot.pause()
        first, second = screen_text(stage.app).splitlines()[:2]
        assert "SANDBOX" in first and " ms" in first and "rate limit" not in first
        assert "equity " in second and "today" not in second


@pytest.mark.looptime
async def test_the_state_of_the_link_stays_where_there_is_no_room_for_more() -> None:
    stage = AppOnFewRows(read_only=True)
    async with stage.running((60, 24)) as pilot:
        stage.sandbox.faults.plan("dropped-before", times=1_000_000)
        await asyncio.sleep(40)
        await pilot.pause()
        first = screen_text(stage.app).splitlines()[0]
        assert "link down" in first and "rate limit" not in first
        assert " ms" not in first, "nothing answers"
        worth = stage.app.screen.query_one(HeaderBar).shown.worth
        assert {style for figure in worth for _, style in figure.parts} == {"$quiet"}, "as in the tables below"


@pytest.mark.looptime
async def test_a_theme_chosen_later_colours_what_stays_the_same() -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        stage.sandbox.exchange_state.stands_still = True
        await asyncio.sleep(10)
        bar = stage.app.screen.query_one(HeaderBar)

        def loss() -> tuple[str, str]:
            """What is open, and its colour; a difference in the theme alone dirties nothing by itself."""
            (drawn,) = (part for part in bar.render_line(1) if part.text.startswith("~-"))
            assert drawn.style is not None and drawn.style.color is not None
            return drawn.text, drawn.style.color.get_truecolor().hex

        before, themes = loss(), stage.app.available_themes
        assert before[1] == themes["tradetui-dark"].variables["loss"]
        stage.app.choose_theme("tradetui-red-up")
        await pilot.pause()
        assert loss() == (before[0], themes["tradetui-red-up"].variables["loss"])


def test_the_link_and_what_may_be_done_never_have_the_colours_of_a_result() -> None:
    theirs = ("$gain", "$loss", "$success", "$error")
    assert not [style for _, style in _STATES.values() if style.endswith(theirs)]
    assert not [style for style in _ACCESS.values() if style.endswith(theirs)]


@pytest.mark.looptime
async def test_ages_go_on_while_every_call_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows()
    async with stage.running((200, 60)) as pilot:

        async def hangs() -> Reading[FeedRow]:
            await asyncio.Event().wait()
            raise AssertionError

        for feed in stage.desk.feeds.values():
            monkeypatch.setattr(feed.reader, "read", hangs)
        await asyncio.sleep(60)
        await pilot.pause()
        text = screen_text(stage.app)
        assert "2 Positions 18 · no data for" in text
        assert " · one row an order · no data for" in text


@pytest.mark.looptime
async def test_an_account_with_several_assets_shows_the_union_figures() -> None:
    stage = AppOnFewRows("multi-assets")
    async with stage.running((80, 24), after=12) as pilot:
        stage.sandbox.exchange_state.stands_still = True
        await pilot.press("1")
        for size in ((80, 24), (120, 36), (160, 48), (200, 60)):
            await pilot.resize_terminal(*size)
            await asyncio.sleep(1)
            await pilot.pause()
            totals = stage.desk.totals()
            text = screen_text(stage.app)
            assert totals.equity is not None and totals.equity > 300_000, "the other product types' equity is in it"
            assert totals.union_available is not None and totals.union_available > 70_000
            assert f"equity+union {totals.equity:,.2f} USDT" in text, size
            assert totals.worst_margin_ratio is not None
            assert f"margin ratio {totals.worst_margin_ratio * 100:.2f} %" in text, size
            if size[0] > 80:
                assert f"available {totals.union_available:,.2f}" in text, size
            for title in ("Union margin", "Free USDT", "Margin ratio %"):
                assert title in text, size
