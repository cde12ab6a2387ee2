"""The reversal dialog: nothing is sent by accident, and what became of it is shown."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input, Static

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tests.ui.fixtures.journalled_reversals import confirmed
from tests.ui.fixtures.reversal_dialog import posts, press_confirm, still
from tradetui.commands.session import demo_desk
from tradetui.desk.reversal.preview import Preview
from tradetui.desk.settings import DeskSettings
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.dialogs.deliberate_dialog import ConfirmDialog
from tradetui.ui.header.header_bar import HeaderBar
from tradetui.ui.intents.reversal.attempt import Ending
from tradetui.ui.intents.reversal.dialog import ReversalDialog, SymbolDialog
from tradetui.ui.intents.reversal.fields import Frame, Phase

pytestmark = pytest.mark.looptime


async def opened(stage: AppOnFewRows, pilot: Pilot[None]) -> ReversalDialog:
    await still(stage, pilot)
    await pilot.press("R")
    await asyncio.sleep(1.5)
    await pilot.pause()
    dialog = stage.app.screen
    assert isinstance(dialog, ReversalDialog)
    return dialog


async def test_it_shows_what_will_be_held_and_the_exact_request() -> None:
    stage = AppOnFewRows()
    async with stage.running((140, 60)) as pilot:
        dialog = await opened(stage, pilot)
        text = screen_text(stage.app)
        for sentence in ("SANDBOX · hedge", "change   afterwards", "Free margin", "enough: needs", "If stopped"):
            assert sentence in text
        assert "tradeSide" not in text
        assert "sent through" not in str(dialog.query_one("#details", Static).render()), "there is no proxy"
        await pilot.press("f2")
        await pilot.pause()
        text = screen_text(stage.app)
        for sentence in ("The request as sent", "marginCoin", "tradeSide"):
            assert sentence in text
        await pilot.press("f2")
        await pilot.pause()
        assert "tradeSide" not in screen_text(stage.app)
        assert posts(stage) == 0


async def test_it_names_the_proxy_and_the_certificates_that_the_request_goes_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    route: dict[str, Any] = {
        "proxy": "socks5://127.0.0.1:1080 (from the profile)",
        "ca_file": "/etc/own.pem (from SSL_CERT_FILE)",
    }
    monkeypatch.setattr(demo_desk, "DeskSettings", partial(DeskSettings, **route))
    stage = AppOnFewRows()
    async with stage.running((140, 60)) as pilot:
        dialog = await opened(stage, pilot)
        text = str(dialog.query_one("#details", Static).render())
        for sentence in ("sent through", "certificates", *route.values()):
            assert sentence in text


async def test_enter_cancels_escape_cancels_and_keys_typed_ahead_confirm_nothing() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        for key in ("enter", "escape"):
            await opened(stage, pilot)
            await pilot.press(key)
            assert not isinstance(stage.app.screen, ReversalDialog)
            assert posts(stage) == 0
        await pilot.press("R", "tab", "enter")
        await asyncio.sleep(3)
        assert posts(stage) == 0


async def test_tab_then_enter_confirms_once_and_the_outcome_is_named() -> None:
    stage = AppOnFewRows()
    async with stage.running((140, 60)) as pilot:
        dialog = await opened(stage, pilot)
        await pilot.press("tab", "enter", *["enter"] * 8)
        await asyncio.sleep(5)
        await pilot.pause()
        assert posts(stage) == 1
        text = screen_text(stage.app)
        assert "Settled: reversed" in text
        assert "Enter Acknowledge   Esc Close" in text and "PgDn More" not in text, "all of it is on the screen"
        assert not stage.desk.execution.intents.unsettled()  # type: ignore[union-attr]
        await pilot.resize_terminal(80, 24)
        await asyncio.sleep(0.2)
        await pilot.pause()
        widest = max(len(row) for row in str(dialog.query_one("#body", Static).content).splitlines())
        assert widest <= dialog._area.room.width, "the tables are drawn for the room that there is now"


async def test_another_outcome_is_an_alarm_with_each_leg_compared_and_what_is_left_pointed_out() -> None:
    stage = AppOnFewRows()
    async with stage.running((140, 60)) as pilot:
        await opened(stage, pilot)
        stage.sandbox.faults.plan("closed-only")
        await pilot.press("tab", "enter")
        await asyncio.sleep(70)
        await pilot.pause()
        text = screen_text(stage.app)
        assert "Settled: closed only" in text
        assert "This differs from the preview" in text
        lines = text.split("\n")
        assert any("SHORT" in row and "DIFFERENT" in row for row in lines)
        assert any("LONG" in row and "DIFFERENT" not in row for row in lines)
        assert any("order" in row and "adds to the SHORT" in row for row in lines)
        await pilot.press("enter")
        assert not isinstance(stage.app.screen, ReversalDialog)


async def test_an_uncertain_result_needs_the_symbol_typed() -> None:
    stage = AppOnFewRows("one-way")
    async with stage.running((140, 64)) as pilot:
        dialog = await opened(stage, pilot)
        box = dialog.query_one("#size", Input)
        box.focus()
        for key in ("0", "full_stop", "0", "1"):
            await pilot.press(key)
        await pilot.press("enter")
        await asyncio.sleep(1.5)
        await pilot.pause()
        assert "One of these two" in screen_text(stage.app)
        assert dialog.query_one("#confirm", Button).disabled
        typed = dialog.query_one("#typed", Input)
        assert typed.display
        assert dialog._preview is not None
        typed.value = dialog._preview.subject
        await pilot.pause()
        assert not dialog.query_one("#confirm", Button).disabled


async def test_a_size_is_kept_to_the_last_character_and_one_that_is_none_is_said() -> None:
    stage = AppOnFewRows()
    async with stage.running((140, 60)) as pilot:
        for keys, kept in (("1 2 full_stop 5", "12.5"), ("0 comma 5", "0,5"), ("1 e 1", "1e1")):
            dialog = await opened(stage, pilot)
            for key in keys.split():
                await pilot.press(key)  # at a button
                await asyncio.sleep(0.1)
                await pilot.pause()
            assert dialog.query_one("#size", Input).value == kept
            await pilot.press("enter")
            await asyncio.sleep(1)
            await pilot.pause()
            if "," in kept:
                assert "0,5 is not a size" in screen_text(stage.app)
            else:
                assert dialog._preview is not None and dialog._preview.target.size == Decimal(kept)
            await pilot.press("escape")

        dialog = await opened(stage, pilot)
        preview = dialog._preview
        dialog.query_one("#size", Input).focus()
        await pilot.pause()
        await pilot.press("enter")
        assert dialog._preview is preview, "a size that is the same makes no look forgotten"
        dialog.query_one("#size", Input).focus()
        await pilot.press("x", "enter")
        await pilot.pause()
        assert "x is not a size" in screen_text(stage.app)
        dialog.query_one("#size", Input).value = "9" * 100 + "x" * 100
        await pilot.press("enter")
        await pilot.pause()
        assert f" {'9' * 39}… is not a size" in screen_text(stage.app)
        assert posts(stage) == 0


async def test_lock_is_one_key_in_the_dialog_too_and_unlocking_asks() -> None:
    stage = AppOnFewRows()
    async with stage.running((140, 60)) as pilot:
        assert stage.desk.execution is not None
        intents = stage.desk.execution.intents
        for key in ("L", "f9"):
            await opened(stage, pilot)
            assert not intents.locked
            await pilot.press(key)
            assert intents.locked, key
            await pilot.press("tab", "enter")
            await asyncio.sleep(2)
            assert posts(stage) == 0, key
            assert stage.app.screen is stage.app.main, "Enter pressed Cancel"
            await pilot.press("L")
            assert isinstance(stage.app.screen, ConfirmDialog)
            assert "Enter presses Cancel; Tab, then Enter, presses Unlock." in screen_text(stage.app)
            await pilot.press("enter")
            assert intents.locked, "Enter presses Cancel"
            await pilot.press("L", "tab", "enter")
            await pilot.pause()
            assert not intents.locked
        await pilot.press("L")
        assert intents.locked, "on the main screen"
        await opened(stage, pilot)
        assert "Trading is locked" in screen_text(stage.app)


async def test_an_unknown_outcome_can_be_left_and_is_told_when_it_is_found() -> None:
    stage = AppOnFewRows()
    async with stage.running((140, 60)) as pilot:
        await opened(stage, pilot)
        stage.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        await pilot.press("tab", "enter")
        await asyncio.sleep(5)
        await pilot.pause()
        assert "Esc closes this dialog" in screen_text(stage.app)
        await pilot.press("escape")
        await asyncio.sleep(6)
        await pilot.pause()
        assert not isinstance(stage.app.screen, ReversalDialog)
        assert "UNKNOWN OUTCOME" in screen_text(stage.app)
        await asyncio.sleep(35)
        await pilot.pause()
        text = " ".join(screen_text(stage.app).split())
        assert "unchanged" in text
        assert "UNKNOWN OUTCOME" not in text
        assert posts(stage) == 0, "the only one was lost on its way"


async def test_elsewhere_it_asks_for_the_symbol() -> None:
    stage = AppOnFewRows()
    async with stage.running() as pilot:
        await pilot.press("4", "R")
        assert isinstance(stage.app.screen, SymbolDialog)
        await pilot.press(*"btcusdt", "space", *"long", "enter")
        await asyncio.sleep(1)
        assert isinstance(stage.app.screen, ReversalDialog)


async def test_everything_pinned_is_on_the_screen_and_the_confirm_button_never_cuts_a_number() -> None:
    stage = AppOnFewRows()
    async with stage.running((80, 24)) as pilot:
        for size in ((80, 24), (110, 50), (120, 36), (140, 60), (200, 60)):
            await pilot.resize_terminal(*size)
            dialog = await opened(stage, pilot)
            for name in ("#size", "#reason", "#cancel", "#confirm", "#keys"):
                region = dialog.query_one(name).region
                assert region.height >= 1
                assert dialog.region.contains_region(region), f"{name} at {size}"
            text = screen_text(stage.app)
            assert "change   afterwards" in text, size
            assert "SANDBOX · hedge" in text, size
            assert ("There is more below" in text) == (size == (80, 24)), f"all that decides is in sight at {size}"
            assert dialog._preview is not None and dialog._preview.plan is not None
            button = dialog.query_one("#confirm", Button)
            label = str(button.label)
            plan = dialog._preview.plan
            assert label in (plan.action, plan.title, plan.short_title), size
            assert label in text.splitlines()[button.region.y + button.region.height // 2], size
            await pilot.press("escape")


async def test_nothing_is_confirmed_before_all_of_it_was_shown_nor_asked_for_while_locked() -> None:
    stage = AppOnFewRows()
    async with stage.running((80, 24)) as pilot:
        dialog = await opened(stage, pilot)
        assert "There is more below" in screen_text(stage.app)
        await pilot.press("f9")
        await pilot.pause()
        text = screen_text(stage.app)
        assert "Trading is locked" in text
        assert stage.app.main.query_one(HeaderBar).shown.access == "LOCKED"
        assert "then confirm" not in text
        assert dialog.confirm_button.disabled
        await pilot.press("L", "tab", "enter", "escape")

        dialog = await opened(stage, pilot)
        assert "There is more below" in screen_text(stage.app)
        await pilot.press("tab", "enter")
        await asyncio.sleep(1)
        assert posts(stage) == 0
        if stage.app.screen is not dialog:
            dialog = await opened(stage, pilot)
        await pilot.press("pagedown", "pagedown", "pagedown")
        await asyncio.sleep(0.2)
        await pilot.pause()
        await press_confirm(pilot)
        await asyncio.sleep(5)
        await pilot.pause()
        assert posts(stage) == 1
        assert "Settled: reversed" in screen_text(stage.app)


async def test_a_window_too_small_to_show_it_confirms_nothing() -> None:
    stage = AppOnFewRows()
    async with stage.running((140, 60)) as pilot:
        dialog = await opened(stage, pilot)
        await pilot.resize_terminal(40, 10)
        await asyncio.sleep(0.2)
        await pilot.pause()
        assert dialog.query_one("#confirm", Button).disabled
        assert "The window is too small to show it" in screen_text(stage.app), "nothing covers the reason"
        await pilot.resize_terminal(140, 60)
        await asyncio.sleep(0.2)
        await pilot.pause()
        assert not dialog.query_one("#confirm", Button).disabled


async def test_the_preview_is_drawn_for_another_width_before_it_is_confirmed_and_while_its_outcome_is_looked_for() -> (
    None
):
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        dialog = await opened(stage, pilot)

        async def widest_table_row(width: int, height: int) -> int:
            await pilot.resize_terminal(width, height)
            await asyncio.sleep(0.2)
            await pilot.pause()
            rows = str(dialog.query_one("#body", Static).content).splitlines()
            return max(len(row) for row in rows if "   " in row.strip())

        assert await widest_table_row(80, 24) <= dialog._area.room.width
        wide = await widest_table_row(120, 36)
        assert wide > 80
        stage.sandbox.faults.plan("dropped-before", endpoint="futures.reverse")
        await pilot.press("tab", "enter")
        await asyncio.sleep(1)
        assert await widest_table_row(80, 24) <= dialog._area.room.width
        assert await widest_table_row(120, 36) == wide
        assert dialog.query_one("#confirm", Button).disabled, "drawing it anew arms nothing"


async def test_an_expired_preview_is_read_again_and_says_so() -> None:
    stage = AppOnFewRows()
    async with stage.running((140, 60)) as pilot:
        dialog = await opened(stage, pilot)
        await pilot.press("tab")
        assert dialog.query_one("#confirm", Button).has_focus
        expired = asyncio.Event()
        dialog.watch(dialog.query_one("#confirm", Button), "disabled", expired.set, init=False)
        await expired.wait()
        # Enter meets the moment of reading again, or just after it: neither confirms nor cancels.
        await pilot.press("enter")
        assert stage.app.screen is dialog
        assert posts(stage) == 0
        await asyncio.sleep(1)
        await pilot.pause()
        screen = " ".join(screen_text(stage.app).split())
        assert "Older than 10 s, it was read again: check it. Enter sends it; Esc cancels." in screen
        await pilot.press("shift+tab")
        await pilot.pause()
        assert "Enter presses Cancel; Tab, then Enter, sends it." in " ".join(screen_text(stage.app).split())


async def test_what_cannot_be_read_of_the_position_blocks() -> None:
    stage = AppOnFewRows()
    async with stage.running((140, 60)) as pilot:
        dialog = await opened(stage, pilot)
        stage.sandbox.faults.plan("wrong-types", endpoint="futures.positions", times=1_000_000)
        await asyncio.sleep(11)
        await pilot.pause()
        assert dialog.query_one("#confirm", Button).disabled
        screen = " ".join(screen_text(stage.app).split())
        assert "The answer cannot be read: 1 row came" in screen


async def test_monitor_mode_has_no_dialog_and_sends_nothing() -> None:
    stage = AppOnFewRows(read_only=True)
    async with stage.running() as pilot:
        await pilot.press("R", "L")
        assert not isinstance(stage.app.screen, ReversalDialog | SymbolDialog | ConfirmDialog)
        assert stage.desk.execution is None
        assert all(method == "GET" for method, _ in stage.sandbox.counts)


async def test_the_header_is_without_alarm_the_moment_the_outcome_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows()
    async with stage.running((120, 36)) as pilot:
        await opened(stage, pilot)
        header, ended = stage.app.main.query_one(HeaderBar), asyncio.Event()
        alarms: list[str] = []

        def show_end(dialog: ReversalDialog, end: Ending) -> None:
            alarms.append(header.shown.alarm)
            ended.set()

        monkeypatch.setattr(ReversalDialog, "show_end", show_end)
        await confirmed(stage, pilot)
        # As a publication in the middle of it leaves it.
        header.shown, header._urgent = header.shown._replace(alarm="NOT SETTLED BTCUSD: J"), ("NOT SETTLED",)
        await ended.wait()
        assert alarms == [""]


@pytest.mark.parametrize(
    ("requested_at", "state"),
    [(1.8, "read 4.0 s ago · good for 6 s"), (-6.1, "read 4.0 s ago, took 8.1 s · good for 6 s")],
)
def test_age_and_time_left_make_up_what_a_preview_is_good_for(requested_at: float, state: str) -> None:
    states: list[str] = []
    preview = SimpleNamespace(requested_at=requested_at, read_at=2.0)
    frame = cast(Frame, SimpleNamespace(_show_state=states.append))
    Frame.show_phase(frame, Phase.ARMED, cast(Preview, preview), 6.0, has_left=False)
    assert states == [state]
