"""The shell is painted before anything heavy is loaded."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from unittest.mock import patch

import pytest
from textual.screen import Screen

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tests.ui.fixtures.virtual_time import textual_in_loop_time
from tradetui.ui.application.run_app import screen_text

HEAVY = (
    "httpcore",
    "httpx",
    "pydantic",
    "sqlite3",
    "statistics",
    "zoneinfo",
    "tradetui.desk.feeds",
    "tradetui.desk.desk",
    "tradetui.exchange",
    "tradetui.sandbox.app",
)


def loaded(statement: str) -> set[str]:
    """Modules that a statement loads, in a process of its own."""
    program = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_the_screen_loads_nothing_heavy() -> None:
    statement = "import tradetui.ui.application.run_app, tradetui.commands.demo"
    assert loaded(statement) & set(HEAVY) == set()


def test_the_key_table_loads_no_textual() -> None:
    modules = loaded("import tradetui.ui.key_bindings.actions; tradetui.ui.key_bindings.actions.key_table({})")
    assert {"textual", "rich", "pydantic"} & modules == set()


def test_the_main_screen_loads_no_model_and_no_file() -> None:
    """They are loaded in a thread by what opens the desk, while the main screen is on the screen already."""
    heavy = {"httpcore", "httpx", "pydantic", "sqlite3", "tradetui.exchange.client", "tradetui.desk.desk"}
    modules = loaded("import tradetui.ui.main.main_screen")
    assert modules & heavy == set()
    assert {name for name in modules if name.startswith("tradetui.ui.dialogs.")} == set(), "loaded when they are opened"


def test_the_first_rows_wait_for_nothing_that_sends_creates_or_keeps() -> None:
    later = {"tradetui.desk.reversal.execution", "tradetui.desk.creation", "tradetui.trading.reversal"}
    later |= {"tradetui.desk.archive.database", "tradetui.trading.results.booking"}
    later |= {"tradetui.desk.lookup.lookup", "tradetui.sandbox.handlers.writes"}
    of_demo = loaded("import tradetui.commands.session.demo_desk")
    assert of_demo & {*later, "tradetui.profiles.load"} == set()
    assert loaded("import tradetui.commands.session.build_trading_session") & later == set()


def test_neither_the_main_screen_nor_help_and_palette_load_what_lays_out_markdown() -> None:
    modules = loaded("import tradetui.ui.main.main_screen, tradetui.ui.application.palette")
    assert modules & {"markdown_it", "textual.widgets._markdown", "tradetui.manual"} == set()


def test_monitor_mode_loads_nothing_that_sends_or_keeps_what_was_sent() -> None:
    modules = loaded("import tradetui.commands.session.open_profile, tradetui.ui.main.main_screen")
    assert modules & {"tradetui.desk.trading_session", "tradetui.desk.intents.intents"} == set()
    assert {name for name in modules if name.startswith("tradetui.desk.intents.journal")} == set()


@pytest.mark.looptime
async def test_the_main_screen_is_not_drawn_before_its_panels_have_their_places() -> None:
    stage, stood_when_drawn = AppOnFewRows(), []
    with textual_in_loop_time():
        draw = Screen._compositor_refresh

        def note_and_draw(screen: Screen[object]) -> None:
            if screen is stage.app._main:
                stood_when_drawn.append(stage.app._main_is_open.is_set())
            draw(screen)

        with patch.object(Screen, "_compositor_refresh", note_and_draw):
            async with stage.app.run_test(size=(120, 36)) as pilot:
                await asyncio.sleep(3)
                await pilot.pause()
                assert stood_when_drawn and all(stood_when_drawn)
                assert "BTCUSDT" in screen_text(stage.app)
