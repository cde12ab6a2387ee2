"""Two `tradetui` processes, two profiles of one account, two terminals: pressed at the same moment, one POST.

A hundred rounds: python -m pytest -m campaign tests/whole/test_two_terminals.py -s
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ui.fixtures.terminal_screen import PAGE_DOWN, Screen, until
from tests.whole.exchange_thread import ExchangeThread
from tradetui.desk.intents.journal.journal import Journal
from tradetui.ui.dialogs.deliberate_dialog import TOO_SOON
from tradetui.ui.intents.reversal.fields import DROPPED, NO_FOCUS

PROFILE = """
[profiles.{name}]
base_url = "{base_url}"
mode = "trade"
start_locked = false
product_types = ["USDT-FUTURES"]
budget_share = 1.0
account_kind = "ordinary"
max_reversal_value = 100000000
"""
ENDS = ("Settled:", "NOT SENT", "Not done", "An earlier reversal", "No LONG", "No SHORT")
TOO_SLOW = re.compile(r"the account was read [\d.]+ s before sending")
PATIENCE_S = 90.0
"""A preview is read anew when it is 10 s old: on a busy machine it takes several until one is confirmed in time."""
KEY_EVERY_S = 5.0
"""A busy program answers late, and a key too many would press what comes after the dialog."""
PRESSED_NOTHING = (NO_FOCUS[:20], DROPPED[:20], TOO_SOON[:20])


def confirmable(screen: Screen) -> bool:
    """Whether the confirm button stands there with its whole name, and the line below it gives no reason against it.

    What decides may have been scrolled away again: it counts as shown once its end was on the screen.
    """
    text = screen.text.lower()
    named = re.search(r"reverse (btcusdt )?(long|short) [\d.]+ (into (long|short)|· (first|second))", text) is not None
    return named and not any(marker in text for marker in ("ready in a moment", "reading …", "sending …", "more below"))


def confirm_has_focus(screen: Screen) -> bool:
    """Whether Enter presses the button that confirms."""
    return any(map(screen.marks_as_focused, ("Reverse LONG", "Reverse SHORT", "Reverse BTCUSDT")))


@contextmanager
def two_terminals(
    folder: Path, *, apart: bool = False, size: tuple[int, int] = (120, 36)
) -> Iterator[tuple[ExchangeThread, list[Screen]]]:
    """Two terminals of one account; `apart`: each with a data directory and a spelling of the address of its own."""
    with ExchangeThread() as exchange:
        exchange.hold("hedge", "0.5", "0")
        base_urls = {"first": exchange.base_url, "second": exchange.base_url}
        if apart:
            base_urls["second"] = exchange.base_url.replace("127.0.0.1", "localhost")
            assert base_urls["first"] != base_urls["second"]
        config = "".join(PROFILE.format(name=name, base_url=base_url) for name, base_url in base_urls.items())
        environment = {
            **exchange.environment("hedge", folder, config),
            "COLUMNS": str(size[0]),
            "LINES": str(size[1]),
        }
        command = [sys.executable, "-m", "tradetui"]
        first = Screen([*command, "--profile", "first"], *size, environment)
        if apart:
            environment = {**environment, "TRADETUI_DATA_DIR": str(folder / "data-of-second")}
        second = Screen([*command, "--profile", "second"], *size, environment)
        with first, second:
            until([first, second], lambda screen: "BTCUSDT" in screen.text, "the position")
            yield exchange, [first, second]


def back_to_the_panels(screens: list[Screen]) -> None:
    """An Enter too many may have opened a row: it was pressed until the dialog was gone."""
    for _ in range(40):
        for screen in screens:
            screen.read()
    for screen in screens:
        if "every field" in screen.text:
            screen.send(b"\x1b")
    until(screens, lambda screen: "every field" not in screen.text, "the five panels")


class Hand:
    """Presses at one terminal what its dialog waits for, each key again only where it had no effect for a while."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._pressed_at_s: dict[bytes, float] = {}

    def press(self, key: bytes) -> None:
        if time.monotonic() - self._pressed_at_s.get(key, 0.0) >= KEY_EVERY_S:
            self._pressed_at_s[key] = time.monotonic()
            self._screen.send(key)

    def is_ready(self) -> bool:
        """Whether Enter confirms now: all that decides was shown, page by page, and the button has the focus."""
        screen = self._screen
        if "There is more below" in screen.text:
            self.press(PAGE_DOWN)
            return False
        if not confirmable(screen):
            return False
        if not confirm_has_focus(screen):
            self.press(b"\t")
            return False
        return True

    def has_ended(self) -> bool:
        """Whether it came to an end; an Enter that is said to have pressed nothing is pressed again."""
        if any(end in self._screen.text for end in ENDS):
            return True
        if any(sentence in self._screen.text for sentence in PRESSED_NOTHING) and self.is_ready():
            self.press(b"\r")
        return False


def play_round(exchange: ExchangeThread, screens: list[Screen]) -> list[str]:
    """Both preview, both confirm in the same moment, until one was sent; how each ended."""
    posts = exchange.posts
    ends = confirm_at_once(exchange, screens)
    while exchange.posts == posts and any(map(was_too_slow, screens)):
        close(screens)
        ends = confirm_at_once(exchange, screens)
    texts = [screen.text for screen in screens]
    assert exchange.posts == posts + 1, "\n".join([f"{exchange.posts - posts} POSTs: {ends}", *texts])
    assert ends.count("Settled:") == 1, "\n".join([str(ends), *texts])
    close(screens)
    return ends


def was_too_slow(screen: Screen) -> bool:
    """Whether nothing was sent because it took this machine too long: then one confirms again."""
    return TOO_SLOW.search(re.sub(r"[│\s]+", " ", screen.text)) is not None


def confirm_at_once(exchange: ExchangeThread, screens: list[Screen]) -> list[str]:
    """Both open the dialog, and once both are ready both press Enter."""
    back_to_the_panels(screens)
    leg = "LONG" if exchange.held("hedge")["long"] != "0" else "SHORT"
    for screen in screens:
        screen.send(b"2u")
    until(screens, lambda screen: re.search(rf"BTCUSDT +{leg} +0\.5", screen.text) is not None, f"the {leg} leg")
    # The leg of the round before may have gone since that key: R says so then, and opens nothing.
    for screen in screens:
        screen.send(b"2")
    for _ in range(30):
        for screen in screens:
            screen.read()
    for screen in screens:
        screen.send(b"R")
    hands = {id(screen): Hand(screen) for screen in screens}
    until(screens, lambda screen: hands[id(screen)].is_ready(), "a preview that Enter confirms", PATIENCE_S)
    for screen in screens:
        hands[id(screen)].press(b"\r")
    until(screens, lambda screen: hands[id(screen)].has_ended(), "an end", PATIENCE_S)
    return [next(end for end in ENDS if end in screen.text) for screen in screens]


def close(screens: list[Screen]) -> None:
    """Acknowledge, which takes a moment until the button may be pressed, and leave what was not sent."""
    end = time.monotonic() + PATIENCE_S
    for screen in screens:
        if "Settled:" not in screen.text:
            screen.send(b"\x1b")
    while any("Acknowledge" in screen.text or "NOT SENT" in screen.text for screen in screens):
        assert time.monotonic() < end, "a dialog stays open:\n" + "\n".join(screen.text for screen in screens)
        for screen in screens:
            if "Acknowledge" in screen.text:
                screen.send(b"\r")
            for _ in range(20):
                screen.read()


def rounds(count: int, folder: Path, *, apart: bool = False, size: tuple[int, int] = (120, 36)) -> Counter[str]:
    with two_terminals(folder, apart=apart, size=size) as (exchange, screens):
        ends = Counter(end for _ in range(count) for end in play_round(exchange, screens))
    files = list(folder.glob("data*/accounts/*/journal.sqlite"))
    assert len(files) == (2 if apart else 1)
    states: Counter[str] = Counter()
    for file in files:
        journal = Journal(file)
        states += Counter(str(intent.state) for intent in journal.newest(1000))
        journal.close()
    del states["withdrawn"]  # it was too slow, and nothing of it was sent
    assert states == {"settled": count}, states
    return ends


def test_pressed_at_the_same_moment_one_is_sent(tmp_path: Path) -> None:
    rounds(2, tmp_path)


def test_with_two_data_directories_and_two_spellings_of_the_address_one_is_sent(tmp_path: Path) -> None:
    rounds(2, tmp_path, apart=True, size=(80, 24))


@pytest.mark.campaign
def test_a_hundred_rounds(tmp_path: Path) -> None:
    print(f"100 rounds in two terminals, one POST each: {dict(rounds(100, tmp_path))}")  # noqa: T201
