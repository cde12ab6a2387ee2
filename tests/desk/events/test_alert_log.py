"""Which of an account's sessions delivers an alert, on one archive that they share."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.desk.fixtures.scripted_exchange import NOW_MS
from tradetui.desk.archive.database import Archive
from tradetui.desk.events.alerts import Alerts
from tradetui.desk.events.delivery import CLAIMABLE_AGAIN_S, LOG_SHOWN, OTHERS_WAIT_S, SAME_S, AlertLog, CommandFailed
from tradetui.desk.events.rules import (
    DEFAULT_RULES,
    Alert,
    AlertChoices,
    AlertEvent,
    AlertSettings,
    Channel,
    Condition,
    Rule,
    RuleKind,
    rule_of,
)
from tradetui.desk.feeds.polling.session_health import LinkState
from tradetui.exchange.clock import LoopClock, Moment
from tradetui.storage.disk_thread import InlineDisk

LOST = Rule("link", Condition(RuleKind.LINK_LOST), frozenset(Channel))


def alert(key: str, *, recurs: bool = False) -> Alert:
    event = AlertEvent(kinds=frozenset({RuleKind.FILL}), key=key, sentence=f"about {key}", recurs=recurs)
    return Alert(event, NOW_MS, frozenset({Channel.DESKTOP}), ("fill",))


def moment(seconds: float, boot: str = "b1") -> Moment:
    return Moment(NOW_MS, boot, seconds)


def test_the_session_typed_into_last_comes_first(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive.sqlite")
    first, second = AlertLog(archive, "first"), AlertLog(Archive(tmp_path / "archive.sqlite"), "second")
    first.typed(moment(1))
    second.typed(moment(2))
    assert first.note(alert("a"), moment(3)) == (1, False)
    assert second.note(alert("a"), moment(3)) == (1, True)
    first.typed(moment(4))
    assert first.note(alert("b"), moment(5)) == (2, True)
    first.leave()
    assert second.note(alert("b"), moment(5)) == (2, True), "a session that ended comes first no more"
    second.typed(moment(1, "b2"))
    assert first.note(alert("c"), moment(2, "b2"))[1] is False, "typing before a reboot counts no more"


def test_a_channel_is_claimed_once_and_again_when_it_is_not_done(tmp_path: Path) -> None:
    file = tmp_path / "archive.sqlite"
    first, second = AlertLog(Archive(file), "first"), AlertLog(Archive(file), "second")
    number, _ = first.note(alert("a"), moment(0))
    assert first.claim(number, Channel.DESKTOP, moment(0)).mine
    waiting = second.claim(number, Channel.DESKTOP, moment(4))
    assert (waiting.mine, waiting.done, waiting.free_in_s) == (False, False, CLAIMABLE_AGAIN_S - 4)
    assert second.claim(number, Channel.COMMAND, moment(4)).mine, "each channel for itself"
    assert second.claim(number, Channel.DESKTOP, moment(CLAIMABLE_AGAIN_S)).mine
    second.finish(number, Channel.DESKTOP, "sent")
    assert first.claim(number, Channel.DESKTOP, moment(99)).done


def test_what_recurs_is_one_event_for_less_than_the_minute_it_takes_to_recur(tmp_path: Path) -> None:
    log = AlertLog(Archive(tmp_path / "archive.sqlite"), "first")
    assert log.note(alert("x", recurs=True), moment(0))[0] == 1
    assert log.note(alert("x", recurs=True), moment(SAME_S - 1))[0] == 1
    assert log.note(alert("x", recurs=True), moment(61))[0] == 2
    assert log.note(alert("x", recurs=True), moment(62, "b2"))[0] == 3
    assert log.note(alert("once"), moment(0))[0] == 4
    assert log.note(alert("once"), moment(1e6, "b9"))[0] == 4


def test_the_newest_alerts_are_shown_with_what_became_of_them() -> None:
    log = AlertLog(Archive(None), "first")
    for number in range(LOG_SHOWN + 5):
        log.note(alert(f"{number}"), moment(number))
    log.claim(LOG_SHOWN + 5, Channel.DESKTOP, moment(0))
    log.finish(LOG_SHOWN + 5, Channel.DESKTOP, "sent")
    logged = log.newest()
    assert len(logged) == LOG_SHOWN
    newest = logged[0]
    assert (newest.sentence, newest.delivery, newest.rules) == (f"about {LOG_SHOWN + 4}", "desktop: sent", "fill")
    assert logged[-1].sentence == "about 5"


def test_the_log_names_what_a_session_of_other_rules_delivered_too(tmp_path: Path) -> None:
    file = tmp_path / "archive.sqlite"
    first, second = AlertLog(Archive(file), "first"), AlertLog(Archive(file), "second")
    first.note(alert("a")._replace(channels=frozenset({Channel.LINE, Channel.BELL})), moment(0))
    number, _ = second.note(alert("a"), moment(1))
    second.claim(number, Channel.DESKTOP, moment(1))
    assert [row.delivery for row in first.newest()] == ["line, bell"], "not before it is done"
    second.finish(number, Channel.DESKTOP, "sent")
    assert [row.delivery for row in first.newest()] == ["line; bell; desktop: sent"]


def test_which_ends_of_reversals_were_shown_is_noted() -> None:
    log = AlertLog(Archive(None), "first")
    assert log.unannounced_outcomes(frozenset({"ended before there was a log"})) == frozenset()
    log.end_shown("shown")
    stages = ("alerted|ended", "open|left open", "corrected|ended", "corrected|corrected", "twice|corrected")
    for number, stage in enumerate((*stages, "twice|ended|2")):
        log.note(alert(f"reversal|{stage}", recurs=True), moment(60 * number))
    settled = {"ended before there was a log", "shown", "alerted", "open", "corrected", "twice", "killed"}
    assert log.unannounced_outcomes(frozenset(settled)) == {"open", "corrected", "killed"}
    log.note(alert("reversal|twice|corrected", recurs=True), moment(60 * 4 + 1))
    assert "twice" not in log.unannounced_outcomes(frozenset(settled)), "it was known before its end"


CLAIMS_AND_HANGS = """
import sys
from pathlib import Path
from tests.desk.events.test_alert_log import alert, moment
from tradetui.desk.events.delivery import AlertLog
from tradetui.desk.events.rules import Channel
from tradetui.desk.archive.database import Archive
log = AlertLog(Archive(Path(sys.argv[1])), "killed")
log.typed(moment(1))
number, first = log.note(alert("a"), moment(2))
print(number, first, log.claim(number, Channel.DESKTOP, moment(2)).mine, flush=True)
sys.stdin.read()
"""


def test_what_a_killed_process_claimed_is_free_for_another_once_its_time_is_over(tmp_path: Path) -> None:
    file = tmp_path / "archive.sqlite"
    arguments = [sys.executable, "-c", CLAIMS_AND_HANGS, str(file)]
    with subprocess.Popen(
        arguments, cwd=Path(__file__).parents[3], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().split() == ["1", "True", "True"]
        process.kill()
    other = AlertLog(Archive(file), "other")
    assert other.note(alert("a"), moment(2)) == (1, False), "the dead session comes first: others wait two seconds"
    assert not other.claim(1, Channel.DESKTOP, moment(4)).mine
    assert other.claim(1, Channel.DESKTOP, moment(2 + CLAIMABLE_AGAIN_S)).mine


class Session:
    """Alerts of one session, and what it delivered."""

    def __init__(self, name: str, clock: LoopClock, *, hangs: bool = False) -> None:
        self.delivered: list[tuple[str, float]] = []
        self.failures: list[str] = []
        self.shown: list[Alert] = []
        self.ran: list[str] = []
        self.failing = False
        self._hangs = hangs
        self._clock = clock
        settings = AlertSettings(rules=(LOST,), command=self, commands_a_minute=2)
        self.alerts = Alerts(settings, clock, InlineDisk(), name, lambda: None)
        self.alerts.delivery.desktop = lambda sentence: self.delivered.append((sentence, clock.monotonic()))
        self.alerts.subscribe(self.shown.append)
        self.alerts.delivery.subscribe(self.failures.append)

    async def run(self, json_text: str) -> None:
        """Stands for the command."""
        self.ran.append(json_text)
        if self._hangs:
            await asyncio.Event().wait()
        if self.failing:
            raise CommandFailed("ended with code 1: no such chat")

    def lose_link(self) -> None:
        self.alerts.link_is(LinkState.DOWN, "no reply")

    def get_link_back(self) -> None:
        self.alerts.link_is(LinkState.CONNECTED, "")


async def two_sessions(file: Path, *, second_hangs: bool = False) -> tuple[LoopClock, Session, Session]:
    """Two sessions on one archive; the second is typed into last."""
    clock = LoopClock(NOW_MS)
    first, second = Session("first", clock), Session("second", clock, hangs=second_hangs)
    for session in (first, second):
        await asyncio.sleep(1)
        await session.alerts.attach(Archive(file))
    return clock, first, second


@pytest.mark.looptime
async def test_both_sessions_show_it_and_one_delivers_it(tmp_path: Path) -> None:
    clock, first, second = await two_sessions(tmp_path / "archive.sqlite")
    began = clock.monotonic()
    first.lose_link()
    second.lose_link()
    await asyncio.sleep(60)
    assert [len(session.shown) for session in (first, second)] == [1, 1]
    assert second.delivered == [("Link lost: no reply", began)]
    assert (first.delivered, len(first.ran), len(second.ran)) == ([], 0, 1)
    await asyncio.sleep(5)
    first.alerts.delivery.typed()
    await asyncio.sleep(0)
    for session in (first, second):
        session.get_link_back()
        session.lose_link()
    await asyncio.sleep(60)
    assert len(first.delivered) == 2 and len(second.delivered) == 1, "lost again and back go to the one typed into"
    for session in (first, second):
        await session.alerts.stop()


@pytest.mark.looptime
async def test_another_delivers_after_two_seconds_what_the_first_does_not_see(tmp_path: Path) -> None:
    clock, first, second = await two_sessions(tmp_path / "archive.sqlite")
    began = clock.monotonic()
    first.lose_link()
    await asyncio.sleep(60)
    assert first.delivered == [("Link lost: no reply", began + OTHERS_WAIT_S)]
    assert second.delivered == []


@pytest.mark.looptime
async def test_a_killed_claimant_is_replaced(tmp_path: Path) -> None:
    _, first, second = await two_sessions(tmp_path / "archive.sqlite", second_hangs=True)
    first.lose_link()
    second.lose_link()
    await asyncio.sleep(5)
    assert (len(second.ran), len(first.ran)) == (1, 0)
    for task in tuple(second.alerts.delivery._tasks._tasks):
        task.cancel()  # as a kill ends it: nothing is written any more
    await asyncio.sleep(60)
    assert (len(first.ran), len(first.delivered)) == (1, 0), "the desktop was done, the command was not"


@pytest.mark.looptime
async def test_a_command_that_fails_or_runs_too_often_is_said_and_logged() -> None:
    clock = LoopClock(NOW_MS)
    session = Session("only", clock)
    await session.alerts.attach(Archive(None))
    session.failing = True
    session.lose_link()
    await asyncio.sleep(1)
    session.failing = False
    for _ in range(2):
        session.alerts.test(LOST)
        await asyncio.sleep(1)
    assert session.failures == [
        "Alert command ended with code 1: no such chat",
        "Alert command not run: 2 a minute are allowed",
    ]
    assert len(session.ran) == 2
    log = await session.alerts.delivery.newest()
    assert [row.delivery.partition("command: ")[2].partition(";")[0] for row in log] == [
        "FAILED, not run: 2 a minute are allowed",
        "done",
        "FAILED, ended with code 1: no such chat",
    ]
    await asyncio.sleep(60)
    session.alerts.test(LOST)
    await asyncio.sleep(1)
    assert len(session.ran) == 3


@pytest.mark.looptime
async def test_a_silenced_rule_is_logged_and_nothing_else(tmp_path: Path) -> None:
    session = Session("only", LoopClock(NOW_MS))
    await session.alerts.attach(Archive(None))
    await session.alerts.silence("link", on=True)
    session.lose_link()
    await asyncio.sleep(5)
    assert (session.shown, session.delivered, session.ran, session.alerts.unseen) == ([], [], [], 0)
    assert [row.delivery for row in await session.alerts.delivery.newest()] == ["silenced"]
    session.alerts.test(LOST)
    await asyncio.sleep(1)
    assert len(session.delivered) == 1, "a test is sent all the same"
    await session.alerts.silence("link", on=False)
    session.get_link_back()
    session.lose_link()
    await asyncio.sleep(1)
    assert len(session.delivered) == 3


@pytest.mark.looptime
async def test_a_silence_that_cannot_be_saved_silences_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(silenced: frozenset[str]) -> None:
        raise OSError("No space left on device")

    session = Session("only", LoopClock(NOW_MS))
    monkeypatch.setattr(session.alerts.settings.choices, "write", fail)
    with pytest.raises(OSError):
        await session.alerts.silence("link", on=True)
    session.lose_link()
    await asyncio.sleep(5)
    assert len(session.delivered) == 1


@pytest.mark.looptime
async def test_what_another_session_silenced_is_not_delivered_here() -> None:
    session = Session("only", LoopClock(NOW_MS))
    await session.alerts.attach(Archive(None))
    session.alerts.settings.choices.write(AlertChoices(frozenset({"link"})))  # as another session of the profile does
    session.lose_link()
    await asyncio.sleep(5)
    assert (session.delivered, session.ran) == ([], [])
    session.get_link_back()
    await asyncio.sleep(5)
    assert len(session.shown) == 1, "what came before it was known is shown, and nothing after it"


@pytest.mark.looptime
async def test_a_rule_made_on_the_screen_takes_the_place_of_a_default_one_and_of_no_written_one() -> None:
    session = Session("only", LoopClock(NOW_MS))
    session.alerts.use_rules((*DEFAULT_RULES[:3], LOST))
    fills = rule_of(Condition(RuleKind.FILL), {Channel.DESKTOP})
    await session.alerts.add(fills)
    await session.alerts.add(LOST._replace(channels=frozenset({Channel.LINE})))
    assert session.alerts.rules == (*DEFAULT_RULES[1:3], LOST, fills)
    assert session.alerts.choices.made == (fills,)
    assert session.alerts.is_written(LOST.name) and not session.alerts.is_written("fill")
    await session.alerts.delete("fill")
    assert session.alerts.rules == (*DEFAULT_RULES[:3], LOST), "the default one is back"


@pytest.mark.looptime
async def test_what_another_session_made_counts_here_once_it_is_read() -> None:
    first, second = Session("first", LoopClock(NOW_MS)), Session("second", LoopClock(NOW_MS))
    kept = first.alerts.settings.choices
    second.alerts.settings = replace(second.alerts.settings, choices=kept)
    made = rule_of(Condition(RuleKind.ORDER_GONE))
    await first.alerts.add(made)
    assert made not in second.alerts.rules
    await second.alerts.read_choices()
    assert made in second.alerts.rules


@pytest.mark.looptime
async def test_without_an_archive_it_is_delivered_at_once() -> None:
    session = Session("only", LoopClock(NOW_MS))
    session.lose_link()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(session.delivered) == 1
    assert [row.sentence for row in await session.alerts.delivery.newest()] == ["Link lost: no reply"]
