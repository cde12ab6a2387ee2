"""What a trader reads on a terminal of 80 columns and 24 lines, the smallest that shows everything."""

from __future__ import annotations

import asyncio
import re

import pytest
from textual.widgets import Static

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tests.ui.fixtures.journalled_reversals import reversed_once
from tests.ui.fixtures.reversal_dialog import opened
from tradetui.trading.positions import Position, StopState
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.dialogs.table_dialogs import ColumnsDialog
from tradetui.ui.table.cells import ELLIPSIS

pytestmark = pytest.mark.looptime
SIZE = (80, 24)


async def test_every_screen_with_times_names_its_zone() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        for key in ("2", "4", "5", "H", "J", "A", "7"):
            await pilot.press(key)
            await asyncio.sleep(2)
            await pilot.pause()
            assert "  UTC" in screen_text(stage.app).splitlines()[-1], key
            await pilot.press("escape")


async def test_a_column_that_orders_the_positions_is_on_the_screen() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await pilot.press("2", "z")
        await pilot.pause()
        assert " Funding" not in screen_text(stage.app).splitlines()[3]
        await pilot.press("s", "f")
        await asyncio.sleep(0.5)
        await pilot.pause()
        frame, header = screen_text(stage.app).splitlines()[2:4]
        assert "by funding ▲" in frame and "Funding▲" in header and "Symbol" in header, header


async def test_each_position_says_whether_it_has_a_stop_whose_kind_and_size_are_there_whole() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await asyncio.sleep(2)
        await pilot.pause()
        header, *lines = screen_text(stage.app).splitlines()[3:]
        assert [*header.split()][1:-1][-3:] == ["Away", "%", "Stop"]
        rows = [line.replace("▸", " ").strip("│▆ ").split() for line in lines if " LONG " in line or " SHORT " in line]
        stops = {(row[0], row[1]): row[-1] for row in rows if row[-1] in ("no", "set", "%")}
        positions = {}
        for position in stage.desk.feeds["positions"].snapshot.rows:
            assert isinstance(position, Position)
            positions[position.symbol, position.shown_leg.upper()] = position.market
        assert len(stops) > 10
        for leg, stop in stops.items():
            assert (stop == "no") == (positions[leg].stop_state is StopState.NONE), leg
            assert (stop == "%") == (positions[leg].stop_part is not None), leg

        await pilot.press("5")
        await asyncio.sleep(1)
        text = screen_text(stage.app)
        assert "take-profit (position) " in text
        assert " whole " in text
        assert f"{ELLIPSIS} " not in text.partition("Kind")[2].partition("more")[0]


async def test_keys_and_buttons_of_the_columns_are_in_sight() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        for size in ((60, 16), SIZE, (120, 36)):
            await pilot.resize_terminal(*size)
            await pilot.press("2", "c")
            await asyncio.sleep(0.5)
            await pilot.pause()
            dialog = stage.app.screen
            assert isinstance(dialog, ColumnsDialog)
            text = " ".join(screen_text(stage.app).replace("│", " ").split())
            assert "Space shows, hides" in text and "Cancel Show these" in text, (size, text)
            await pilot.press("escape")


async def test_every_title_of_the_creation_form_is_whole() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await pilot.press("N")
        await asyncio.sleep(0.5)
        await pilot.press("enter")
        await asyncio.sleep(0.5)
        await pilot.pause()
        assert "Name Passphrase Note Permissions IP addresses" in " ".join(screen_text(stage.app).split())


async def test_what_a_reversal_assumes_is_wrapped_once() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        dialog = await opened(stage, pilot)
        body = dialog.query_one("#body", Static)
        lines = str(body.content).splitlines()
        (first,) = [index for index, line in enumerate(lines) if line.startswith("Assumed")]
        assert max(map(len, lines[first:])) <= body.content_size.width


async def test_a_spot_bill_says_what_it_is_of_and_at_sixty_columns_how_older_ones_are_read() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await pilot.press("7")
        await asyncio.sleep(2)
        await pilot.pause()
        assert "transfer-in" in screen_text(stage.app).splitlines()[5]
        await pilot.resize_terminal(60, 24)
        await pilot.pause()
        assert "500 rows · scroll for older ones, if any · a reads all" in screen_text(stage.app)


async def test_the_journal_says_how_a_reversal_ended() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        await reversed_once(stage, pilot)
        await pilot.press("enter", "J")
        await asyncio.sleep(2)
        await pilot.pause()
        (line,) = [line for line in screen_text(stage.app).splitlines() if "Reverse BTCUSD LONG" in line]
        assert "settled Reverse BTCUSD LONG 0.1894 into" in " ".join(line.split()), line
        assert line.split()[-2] == "reversed", line


async def test_how_many_positions_have_no_stop_is_said_once() -> None:
    stage = AppOnFewRows()
    async with stage.running((80, 36)) as pilot:
        await pilot.press("2", "z")
        await asyncio.sleep(2)
        for width in (80, 100, 108, 113, 118, 120, 160):
            await pilot.resize_terminal(width, 36)
            await pilot.pause()
            positions = [row for row in stage.desk.feeds["positions"].snapshot.rows if isinstance(row, Position)]
            count = sum(position.market.stop_state is StopState.NONE for position in positions)
            *_, totals, note = [line for line in screen_text(stage.app).splitlines() if line.startswith("│ ")]
            assert len(re.findall(rf"\b{count} without( stop)?\b", f"{totals} {note}")) == 1, (width, totals, note)
            assert re.findall(rf"\b{count}\b", totals) == ([str(count)] if f"{count} without" in totals else []), width
