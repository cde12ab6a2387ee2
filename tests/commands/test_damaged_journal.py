"""`tradetui journal` never takes a damaged journal for an empty one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.commands.conftest import Point
from tradetui.cli import main
from tradetui.commands.process.console import ATTENTION, DONE, USAGE
from tradetui.commands.session.open_profile import OpenProfile
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.journal.registered_journal import JournalLocation, open_journal
from tradetui.desk.intents.states import State
from tradetui.exchange.clock import Moment
from tradetui.profiles.load import Flags, load


def test_a_damaged_journal_is_said_again_and_again_until_it_is_moved(
    point: Point, capsys: pytest.CaptureFixture[str]
) -> None:
    point()
    file = OpenProfile(load(os.environ, Flags())).journal.file
    assert file is not None
    Journal(file).close()
    assert main(["journal"]) == DONE
    capsys.readouterr()
    file.write_bytes(b"no database" * 500)
    assert main(["journal"]) == USAGE
    assert "damaged" in capsys.readouterr().err
    assert main(["journal"]) == USAGE
    output = capsys.readouterr().err
    assert "journal.sqlite.damaged-1" in output and "--accept-loss" in output
    assert main(["journal", "--accept-loss"]) == DONE
    output = capsys.readouterr().err
    assert "Accepted" in output and "L in tradetui unlocks it" in output
    assert file.with_name("journal.sqlite.accepted-1").read_bytes() == b"no database" * 500
    assert main(["journal"]) == DONE
    assert main(["journal", "--accept-loss"]) == DONE
    assert "Nothing is lost" in capsys.readouterr().err


def with_an_open_intent() -> JournalLocation:
    """A journal as a session left it."""
    location = OpenProfile(load(os.environ, Flags())).journal
    journal = open_journal(location)
    journal.check()
    journal.begin("i1", "account", "USDT-FUTURES|BTCUSDT", "reversal", {"title": "Reverse BTCUSDT"}, Moment(1))
    journal.step("i1", State.SENT, {}, Moment(2))
    journal.close()
    return location


def test_an_emptied_journal_is_no_empty_one(point: Point, capsys: pytest.CaptureFixture[str]) -> None:
    point()
    file = with_an_open_intent().file
    assert file is not None
    assert main(["journal"]) == ATTENTION
    file.write_bytes(b"")
    capsys.readouterr()
    assert main(["journal"]) == USAGE
    output = capsys.readouterr().err
    assert "emptied or replaced" in output and "USDT-FUTURES|BTCUSDT" in output and "--accept-loss" in output
    assert main(["doctor"]) == ATTENTION
    output = capsys.readouterr().out
    assert "emptied or replaced" in output and "--accept-loss" in output


def test_a_second_data_directory_says_where_a_symbol_is_locked(
    point: Point, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    point()
    first = with_an_open_intent().file
    point(TRADETUI_DATA_DIR=str(tmp_path / "other"))
    open_journal(OpenProfile(load(os.environ, Flags())).journal).close()
    capsys.readouterr()
    assert main(["journal"]) == main(["journal", "--json"]) == ATTENTION
    assert f"USDT-FUTURES|BTCUSDT is locked by intent i1 in {first}" in capsys.readouterr().err
    main(["doctor"])
    assert f"USDT-FUTURES|BTCUSDT is locked by {first}" in capsys.readouterr().out


def test_looking_makes_no_journal(point: Point, capsys: pytest.CaptureFixture[str], own_state_dir: Path) -> None:
    point()
    assert main(["journal"]) == DONE
    main(["doctor"])
    file = OpenProfile(load(os.environ, Flags())).journal.file
    assert file is not None and not file.exists()
    assert list(own_state_dir.iterdir()) == []
