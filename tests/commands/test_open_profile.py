"""Every command asks for the profile's API key once: its program may take seconds, or ask the person."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Point
from tests.commands.test_watch import watching
from tests.ui.fixtures.terminal_screen import Screen, until
from tradetui.cli import main
from tradetui.commands.process.console import ATTENTION, DONE


@pytest.fixture
def key_runs(server: dict[str, Any], point: Point, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file to which the key's program appends a line whenever it runs."""
    point()
    for name in ("TRADETUI_API_KEY", "TRADETUI_API_SECRET", "TRADETUI_PASSPHRASE"):
        monkeypatch.delenv(name)
    key = next(profile for profile in server["profiles"] if profile["name"] == "hedge")
    runs, key_file, config = tmp_path / "runs", tmp_path / "key.json", tmp_path / "config.toml"
    key_file.write_text(json.dumps(key))
    program = ["sh", "-c", f"echo run >> '{runs}'; cat '{key_file}'"]
    config.write_text(
        f'[profiles.main]\nbase_url = "{server["base_url"]}"\nmode = "trade"\nproduct_types = ["USDT-FUTURES"]\n'
        f'alert_command = ["true"]\ncredentials = {{ source = "command", command = {json.dumps(program)} }}\n'
    )
    monkeypatch.setenv("TRADETUI_CONFIG", str(config))
    yield runs
    assert runs.read_text() == "run\n"


@pytest.mark.parametrize(
    "command",
    [
        "doctor",
        "journal",
        "journal --accept-loss",
        "preview BTCUSDT --side buy",
        "show positions",
        "show fills",
        "show pnl --since 1h",
        "show pnl --since 1h --fresh",
        "show trips --since 1h --fresh",
        "show equity --fresh",
    ],
)
def test_a_command_asks_for_the_key_once(key_runs: Path, command: str) -> None:
    assert main(command.split()) in (DONE, ATTENTION)


def test_results_of_an_archive_ask_for_the_key_once(key_runs: Path) -> None:
    assert main(["show", "pnl", "--since", "1h"]) == DONE
    key_runs.unlink()
    assert main(["show", "pnl", "--since", "2d"]) == DONE, "what the archive lacks is read"


def test_a_session_that_watches_asks_for_the_key_once(key_runs: Path) -> None:
    with watching("--json") as process:
        assert process.stdout is not None and process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.wait()


@pytest.mark.parametrize("arguments", [[], ["monitor"]])
def test_a_session_on_the_screen_asks_for_the_key_once(key_runs: Path, arguments: list[str]) -> None:
    with Screen([sys.executable, "-m", "tradetui", *arguments]) as screen:
        until([screen], lambda shown: "BTCUSDT" in shown.text, "the first rows")
