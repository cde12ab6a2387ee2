"""`tradetui journal`: what is said of an intent by the state it is in."""

from __future__ import annotations

from datetime import timedelta, timezone
from pathlib import Path

from tradetui.commands.journal import NOT_ENDED, _lines
from tradetui.desk.intents.journal.journal import Journal
from tradetui.desk.intents.states import State
from tradetui.exchange.clock import Moment

EAST = timezone(timedelta(hours=9), "EAST")


def test_what_is_not_settled_says_what_to_do_before_anything_else(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    journal.begin("tt-1", "account", "USDT-FUTURES|BTCUSDT", "reversal", {"title": "Reverse BTCUSDT"}, Moment(1))
    journal.step("tt-1", State.SENT, {}, Moment(2))
    first, second = _lines(journal.intent("tt-1"), EAST)
    assert first.startswith("1970-01-01 09:00:00 EAST  sent ")
    assert "Reverse BTCUSDT" in first
    assert second.strip() == NOT_ENDED
    journal.step("tt-1", State.REJECTED, {"message": "no"}, Moment(3))
    assert len(list(_lines(journal.intent("tt-1"), EAST))) == 1
