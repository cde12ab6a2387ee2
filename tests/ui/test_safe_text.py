"""Nothing of the screen hands text to anything that reads markup, and messages go through the one scrub."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.app import App, ComposeResult

import tradetui.ui
from tradetui.ui.safe_text import Notice, inside_sentence, notify, notify_about, withdraw_about

ROOT = Path(tradetui.ui.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
MARKUP_READERS = {"from_markup", "notify"}


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Every call by the last part of its name; our own `notify` is no method and is left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            target = node.func
            if isinstance(target, ast.Attribute):
                yield target.attr, node
            elif isinstance(target, ast.Name) and target.id != "notify":
                yield target.id, node


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_markup(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for name, call in calls(tree):
        if name in MARKUP_READERS:
            assert file == ROOT / "safe_text.py", f"line {call.lineno}: {name}"
        if name == "Static":
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            off = keywords.get("markup")
            assert isinstance(off, ast.Constant) and off.value is False, f"line {call.lineno}: Static reads markup"
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and target.attr in ("border_title", "border_subtitle"):
                    assert not isinstance(node.value, ast.JoinedStr | ast.Attribute), f"line {node.lineno}: a title"


@pytest.mark.parametrize(
    ("title", "within"),
    [
        ("Margin ratio %", "margin ratio %"),
        ("USDT contract rewards", "USDT contract rewards"),
        ("ROI %", "ROI %"),
        ("IP addresses", "IP addresses"),
        ("Break-even", "break-even"),
    ],
)
def test_a_title_within_a_sentence_keeps_the_names_in_it(title: str, within: str) -> None:
    assert inside_sentence(title) == within


async def test_a_notice_of_one_line_lays_nothing_out_anew() -> None:
    class OneLine(App[None]):
        CSS = "#alert { height: 1; }"

        def compose(self) -> ComposeResult:
            yield Notice("alert")

    app, layouts = OneLine(), list[object]()
    async with app.run_test() as pilot:
        notice = app.query_one(Notice)
        notice.say("BTCUSDT LONG opened")
        await pilot.pause()
        app.screen.screen_layout_refresh_signal.subscribe(notice, layouts.append)
        notice.say("ETHUSDT SHORT closed, and it is said at some length")
        await pilot.pause()
        assert not layouts and "ETHUSDT" in notice.render_line(0).text


@pytest.mark.looptime
async def test_a_message_about_a_symbol_goes_with_newer_news_of_it_and_what_was_sent_only_with_news_of_that() -> None:
    app = App[None]()
    async with app.run_test(notifications=True):

        def shown() -> list[str]:
            return [notification.message for notification in app._notifications]

        notify_about(app, "ETHUSDT", "nothing was sent", was_sent=False)
        notify_about(app, "BTCUSDT", "closed only", was_sent=True)
        notify_about(app, "BTCUSDT", "nothing was sent", was_sent=False)
        notify_about(app, "btcusdt", "NOT SENT", was_sent=False)
        assert shown() == ["nothing was sent", "closed only", "NOT SENT"]
        withdraw_about(app, "BTCUSDT", was_sent=False)
        assert shown() == ["nothing was sent", "closed only"]
        notify_about(app, "BTCUSDT", "NOT SENT", was_sent=False)
        notify_about(app, "BTCUSDT", "reversed", was_sent=True)
        assert shown() == ["nothing was sent", "reversed"]


async def test_a_message_that_is_still_shown_is_not_shown_twice() -> None:
    async with App[None]().run_test() as pilot:
        for message in ("saved", "dropped", "saved", "dropped", "dropped"):
            notify(pilot.app, message)
            await pilot.pause()
        assert [notice.message for notice in pilot.app._notifications] == ["saved", "dropped"]
