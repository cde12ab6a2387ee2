"""Alerts on the screen: the line above the keys, messages elsewhere, the bell, the desktop, and the screen A."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, Static

from tests.ui.fixtures.app_on_sandbox import AppOnFewRows
from tradetui.desk.events.rules import Alert, AlertEvent, Channel, Condition, RuleKind, rule_of
from tradetui.ui.alerts.alert_notices import AlertNotices
from tradetui.ui.alerts.alerts_screen import AlertsScreen
from tradetui.ui.application.run_app import screen_text

pytestmark = pytest.mark.looptime
SIZE = (120, 36)
EVERY_WAY = rule_of(Condition(RuleKind.LINK_LOST), tuple(Channel))


def alert(sentence: str, kind: RuleKind = RuleKind.LINK_LOST, *channels: Channel) -> Alert:
    event = AlertEvent(kinds=frozenset({kind}), key=sentence, sentence=sentence)
    return Alert(event, 1_785_585_600_000, frozenset(channels or Channel))


def messages(stage: AppOnFewRows) -> list[str]:
    return [notification.message for notification in stage.app._notifications]


def shown_below(stage: AppOnFewRows, id_: str) -> str:
    """What a form says in the line of this id."""
    return str(stage.app.screen.query_one(f"#{id_}", Static).content)


async def settled(pilot: Pilot[None], seconds: float = 1.5) -> None:
    await asyncio.sleep(seconds)
    await pilot.pause()


def test_what_comes_together_goes_through_once() -> None:
    notices = AlertNotices(App[object](), None, {})
    rung = [moment for moment in range(12) if notices.may_ring(float(moment), at_once=False)]
    assert rung == [0, 5, 10]
    assert notices.may_ring(10.5, at_once=True)


async def test_on_the_main_screen_it_is_the_line_above_the_keys_until_it_was_looked_at() -> None:
    stage = AppOnFewRows(before=lambda sandbox: setattr(sandbox.exchange_state, "stands_still", True))
    async with stage.running(SIZE, after=6) as pilot:
        stage.desk.alerts.test(EVERY_WAY)
        await settled(pilot)
        lines = screen_text(stage.app).splitlines()
        assert lines[-2].strip() == '12:00  This is a test of the alert "link lost": nothing has happened'
        assert "A Alerts 1 new" in lines[-3]
        assert messages(stage) == []
        assert stage.desk.alerts.unseen == 1
        await pilot.press("A")
        await settled(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert stage.desk.alerts.unseen == 0
        assert "This is a test of the alert" not in screen_text(stage.app)


async def test_the_bell_rings_where_the_rule_has_it_among_its_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE):
        rings: list[int] = []
        monkeypatch.setattr(stage.app, "bell", lambda: rings.append(1))
        stage.app.alerted(alert("Gone [/] \x1b[31m"))
        assert len(rings) == 1
        stage.app.alerted(alert("silent", RuleKind.LINK_LOST, Channel.LINE))
        assert len(rings) == 1


async def test_an_alert_is_a_message_beside_a_dialog_and_a_line_elsewhere() -> None:
    stage = AppOnFewRows(before=lambda sandbox: setattr(sandbox.exchange_state, "stands_still", True))
    async with stage.running(SIZE) as pilot:
        await pilot.press("question_mark")
        stage.app.alerted(alert("fill 0", RuleKind.FILL))
        stage.app.alerted(alert("Gone [/] \x1b[31m"))
        await pilot.pause()
        assert messages(stage) == ["Gone [/] \ufffd[31m"], "behind a dialog the line is still there"
        await pilot.press("escape", "J")
        await settled(pilot, 6)
        before = len(messages(stage))
        for number in range(5):
            stage.app.alerted(alert(f"fill {number}", RuleKind.FILL))
        await pilot.pause()
        stage.desk.alerts.test(EVERY_WAY)
        await settled(pilot)
        assert messages(stage)[before:] == [], "no message covers a row"
        assert "This is a test of the alert" in screen_text(stage.app).splitlines()[-2], (
            "the newest stands above the keys"
        )


async def test_the_desktop_gets_the_sentence_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = AppOnFewRows(before=lambda sandbox: setattr(sandbox.exchange_state, "stands_still", True))
    monkeypatch.delenv("TMUX", raising=False)
    async with stage.running(SIZE, after=6) as pilot:
        written: list[str] = []
        driver: Any = stage.app._driver
        monkeypatch.setattr(driver, "write", written.append)
        stage.desk.alerts.test(EVERY_WAY)
        await settled(pilot)
        notices = [text for text in written if "]9;" in text or "]777;" in text]
        assert len(notices) == 1
        assert (
            notices[0].endswith("\a\a")
            and 'This is a test of the alert "link lost": nothing has happened' in notices[0]
        )


async def test_an_alert_that_comes_while_a_screen_opens_is_shown_once_it_stands() -> None:
    test_alert = 'This is a test of the alert "link lost": nothing has happened'
    stage = AppOnFewRows(before=lambda sandbox: setattr(sandbox.exchange_state, "stands_still", True))
    async with stage.running(SIZE, after=6) as pilot:
        push_screen = stage.app.push_screen

        def push_and_alert(*arguments: Any) -> Any:
            pushed = push_screen(*arguments)
            stage.desk.alerts.test(EVERY_WAY)
            return pushed

        for key in ("6", "J", "m", "A"):
            assert test_alert not in screen_text(stage.app)
            with pytest.MonkeyPatch.context() as alerting:
                alerting.setattr(stage.app, "push_screen", push_and_alert)
                await pilot.press(key)
                await settled(pilot)
            assert test_alert in screen_text(stage.app), key
            await pilot.press("escape", "A")  # where it is looked at
            await settled(pilot)
            await pilot.press("escape")
            await settled(pilot)


async def test_the_screen_lists_tests_and_silences_and_keeps_the_log() -> None:
    stage = AppOnFewRows(before=lambda sandbox: setattr(sandbox.exchange_state, "stands_still", True))
    async with stage.running(SIZE, after=6) as pilot:
        await pilot.press("A")
        await settled(pilot)
        screen = stage.app.screen
        assert isinstance(screen, AlertsScreen)
        text = screen_text(stage.app)
        assert "Alerts 5" in text and "No alert has fired yet." in text
        for sentence in ("trigger executed or failed", "stop cancelled", "outcome of a reversal unknown", "line, bell"):
            assert sentence in text
        await pilot.press("t", "x")
        await settled(pilot)
        text = screen_text(stage.app)
        assert 'This is a test of the alert "fill": nothing has happened' in text
        assert "Alerts 5 · 1 silenced" in text and "Log 1" in text
        assert stage.desk.alerts.choices.silenced == {"fill"}
        await pilot.press("x")
        await settled(pilot)
        assert stage.desk.alerts.choices.silenced == frozenset()
        await pilot.press("tab", "enter")
        await settled(pilot)
        assert 'what      This is a test of the alert "fill": nothing has happened' in screen_text(stage.app)
        await pilot.press("escape", "t")
        await settled(pilot)
        assert "Put the cursor on an alert of the list first." in messages(stage)
        await pilot.press("slash", *"test", "enter")
        await settled(pilot)
        assert "Log 1 /test" in screen_text(stage.app)
        await pilot.press("q")
        assert stage.app.screen is stage.app.main


async def test_in_monitor_mode_what_can_never_fire_is_named() -> None:
    stage = AppOnFewRows(read_only=True)
    async with stage.running((160, 40), after=6) as pilot:
        await pilot.press("A")
        await settled(pilot)
        assert "cannot fire: monitor mode sends no reversal" in screen_text(stage.app)


async def test_an_alert_is_made_at_a_position_and_deleted_in_the_list() -> None:
    stage = AppOnFewRows(before=lambda sandbox: setattr(sandbox.exchange_state, "stands_still", True))
    async with stage.running(SIZE, after=6) as pilot:
        await pilot.press("a")
        await settled(pilot)
        symbol = stage.app.screen.query_one("#field-symbol", Input).value
        assert symbol, "that of the position under the cursor"
        text = screen_text(stage.app)
        assert f"Alert: {symbol} nearer than 5 % to liquidation." in text
        assert "It waits: there is no such figure now." in text, "it has no liquidation price"
        stage.app.screen.query_one("#field-symbol", Input).value = ""
        await settled(pilot)
        assert "% from liquidation, nearer than 5 %: mark" in shown_below(stage, "reason")
        stage.app.screen.query_one("#field-symbol", Input).value = symbol
        stage.app.screen.query_one("#field-kind", Input).value = "position_result_below"
        stage.app.screen.query_one("#field-threshold", Input).value = "1000000"
        await settled(pilot)
        assert "It fires at once:" in screen_text(stage.app)
        await pilot.press("enter")
        await settled(pilot)
        name = f"{symbol} result below 1,000,000 USDT"
        assert f"Alert made: {name}." in messages(stage)
        assert [rule.name for rule in stage.desk.alerts.choices.made] == [name]
        await settled(pilot, 3)
        assert stage.desk.alerts.newest is not None and symbol in stage.desk.alerts.newest.sentence
        await pilot.press("A", "d")
        await settled(pilot)
        assert "Only an alert that was made on the screen" in "".join(messages(stage))
        await pilot.press("G", "d")
        await settled(pilot)
        assert stage.desk.alerts.choices.made == ()
        stage.desk.alerts.use_rules((EVERY_WAY,))
        await pilot.press("n")
        await settled(pilot)
        assert "Fill in or correct: About." in screen_text(stage.app)
        stage.app.screen.query_one("#field-kind", Input).value = "link_lost"
        await pilot.press("enter")
        await settled(pilot)
        assert shown_below(stage, "problem-kind") == "the configuration has 'link lost': change it there"
        assert stage.desk.alerts.rules == (EVERY_WAY,)


async def test_what_an_alert_says_of_a_reversal_takes_the_place_of_what_was_said_of_it_before() -> None:
    stage = AppOnFewRows()
    async with stage.running(SIZE) as pilot:
        for symbol, sentence in (("BTCUSDT", "it went on filling"), ("ETHUSDT", "another"), ("BTCUSDT", "reversed")):
            event = AlertEvent(
                kinds=frozenset({RuleKind.OUTCOME_UNKNOWN}), key=sentence, sentence=sentence, symbol=symbol, stays=True
            )
            stage.app.alerted(Alert(event, 1_785_585_600_000, frozenset({Channel.LINE})))
        await pilot.pause()
        assert messages(stage) == ["another", "reversed"]
