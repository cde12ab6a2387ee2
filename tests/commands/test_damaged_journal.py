"""`tradetui journal` never takes a damaged journal for an empty one."""

from __future__ import annotations

import os

import pytest

from tests.commands.conftest import Point
from tradetui.cli import main
from tradetui.commands.exit_codes import DONE, USAGE
from tradetui.commands.session import identity_of, journal_file
from tradetui.desk.journal import Journal
from tradetui.profiles.loading import Flags, load


def test_a_damaged_journal_is_said_again_and_again_until_it_is_moved(
    point: Point, capsys: pytest.CaptureFixture[str]
) -> None:
    point()
    loaded = load(os.environ, Flags())
    file = journal_file(loaded, identity_of(loaded))
    Journal(file).close()
    assert main(["journal"]) == DONE
    capsys.readouterr()
    file.write_bytes(b"no database" * 500)
    assert main(["journal"]) == USAGE
    assert "damaged" in capsys.readouterr().err
    assert main(["journal"]) == USAGE
    said = capsys.readouterr().err
    assert "journal.sqlite.damaged-1" in said and "--accept-loss" in said
    file.with_name("journal.sqlite.damaged-1").rename(file.with_name("looked-at"))
    assert main(["journal"]) == DONE
