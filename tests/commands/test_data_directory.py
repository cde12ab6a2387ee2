"""The data directory of a session is closed to others, and what was found open is said."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from tests.commands.conftest import Point
from tradetui.cli import main
from tradetui.commands.process.console import ATTENTION, DONE
from tradetui.commands.session.open_profile import KEY_STORE_DIRECTORIES, OWN_NAMES, OpenProfile
from tradetui.desk.intents.journal.journal_registry import REGISTRY_FILE
from tradetui.desk.intents.journal.registered_journal import open_journal
from tradetui.desk.trading_session import KEY_STORE_DIR
from tradetui.profiles.load import Flags, load

Capture = pytest.CaptureFixture[str]


def test_the_key_store_is_where_it_is_looked_for() -> None:
    assert KEY_STORE_DIRECTORIES == (KEY_STORE_DIR,)


@pytest.mark.parametrize("umask", [0o000, 0o022])
async def test_all_that_a_session_keeps_is_private(point: Point, tmp_path: Path, umask: int) -> None:
    point(TRADETUI_READ_ONLY="0")
    before = os.umask(umask)
    try:
        desk = OpenProfile(load(os.environ, Flags())).desk()
        published = asyncio.Event()
        desk.subscribe(lambda _: published.set())
        desk.start()
        while desk.archive is None:
            await asyncio.wait_for(published.wait(), 60)
            published.clear()
        await desk.stop()
    finally:
        os.umask(before)
    data = tmp_path / "data"
    assert {entry.name for entry in data.iterdir()} <= set(OWN_NAMES)
    for path in (data, *data.rglob("*"), tmp_path / "run", *(tmp_path / "run").rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert not mode & 0o077, path
        assert not path.is_dir() or mode == 0o700, path


def test_the_registry_of_journals_is_private_and_neither_with_the_data_nor_where_a_login_empties(
    point: Point, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    point(TRADETUI_STATE_DIR=str(state))
    loaded = load(os.environ, Flags())
    location = OpenProfile(loaded).journal
    before = os.umask(0o000)
    try:
        open_journal(location).close()
    finally:
        os.umask(before)
    assert location.registry_file == state / REGISTRY_FILE
    assert not state.is_relative_to(loaded.data_dir) and not state.is_relative_to(loaded.runtime_dir)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (state, *state.iterdir())}
    assert modes == {"state": 0o700} | dict.fromkeys(modes.keys() - {"state"}, 0o600)
    assert REGISTRY_FILE in modes


@pytest.mark.parametrize("command", ["journal", "preview BTCUSDT --side buy", "show accounts"])
def test_a_wider_one_is_narrowed_and_said_once(point: Point, tmp_path: Path, capsys: Capture, command: str) -> None:
    point()
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    data.chmod(0o755)
    main(command.split())
    assert f"Others could read {data} (mode 0755); now only you" in capsys.readouterr().err
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    main(command.split())
    assert "was open" not in capsys.readouterr().err


def test_doctor_has_a_line_of_it(point: Point, tmp_path: Path, capsys: Capture) -> None:
    point()
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o750)
    assert main(["doctor"]) == DONE
    assert f"ok    data directory   Others could read {data} (mode 0750)" in capsys.readouterr().out
    (data / "letter.txt").write_text("")
    data.chmod(0o755)
    assert main(["doctor"]) == ATTENTION
    assert f"FAIL  data directory   Others can read data_dir {data}." in capsys.readouterr().out
    assert stat.S_IMODE(data.stat().st_mode) == 0o755
