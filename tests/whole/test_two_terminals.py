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

from tests.ui.terminal_screen import PAGE_DOWN, Screen, until
from tests.whole.exchange_thread import ExchangeThread
from tradetui.desk.intents.journal.journal import Journal
from tradetui.ui.intents.reversal.unread import NO_FOCUS

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
ENDS = ("Settled:", "NOT SENT", "Not done", "An earlier reversal", "no long position", "no short position")


def armed(screen: Screen) -> bool:
    text = screen.text.lower()
    return "afterwards" in text and not any(words in text for words in ("arming", "reading", "not sent"))


def confirmable(screen: Screen) -> bool:
    """Whether the confirm button stands there with its whole name, and the line below it gives no reason against it.

    What decides may have been scrolled away again: it counts as shown once its end was on the screen.
    """
    text = screen.text.lower()
    named = re.search(r"reverse (long|short) [\d.]+ into (long|short)", text) is not None
    return named and not any(words in text for words in ("arming", "reading …", "more below"))


def confirm_has_focus(screen: Screen) -> bool:
    """Whether Enter presses the button that confirms."""
    return screen.marks_as_focused("Reverse LONG") or screen.marks_as_focused("Reverse SHORT")


@contextmanager
def two_terminals(
    folder: Path, *, apart: bool = False, size: tuple[int, int] = (120, 36)
) -> Iterator[tuple[ExchangeThread, list[Screen]]]:
    """Two terminals of one account; `apart`: each with a data directory and a spelling of the address of its own."""
    with ExchangeThread() as exchange:
        exchange.hold("hedge", "0.5", "0")
        key = exchange.key("hedge")
        config = folder / "config.toml"
        base_urls = {"first": exchange.base_url, "second": exchange.base_url}
        if apart:
            base_urls["second"] = exchange.base_url.replace("127.0.0.1", "localhost")
            assert base_urls["first"] != base_urls["second"]
        config.write_text("".join(PROFILE.format(name=name, base_url=base_url) for name, base_url in base_urls.items()))
        environment = {
            "TRADETUI_CONFIG": str(config),
            "TRADETUI_API_KEY": key.api_key,
            "TRADETUI_API_SECRET": key.secret,
            "TRADETUI_PASSPHRASE": key.passphrase,
            "TRADETUI_DATA_DIR": str(folder / "data"),
            "TRADETUI_RUNTIME_DIR": str(folder / "run"),
            "TRADETUI_STATE_DIR": str(folder / "state"),
            "PYTHONPATH": str(Path(__file__).parents[2]),
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
    until(screens, lambda each: "every field" not in each.text, "the five panels")


def shown_to_its_end(screen: Screen) -> bool:
    """Whether all that decides was on the screen; a page further where it was not."""
    if "There is more below" in screen.text:
        screen.send(PAGE_DOWN)
    return confirmable(screen)


def play_round(exchange: ExchangeThread, screens: list[Screen]) -> list[str]:
    """Both preview, both confirm in the same moment; how each ended."""
    posts = exchange.posts
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
    until(screens, armed, "an armed preview")
    # The body is painted before the line below it says that it is arming.
    for _ in range(30):
        for screen in screens:
            screen.read()
    until(screens, armed, "an armed preview")
    # What does not fit is shown page by page: nothing is confirmed before all that decides was.
    until(screens, shown_to_its_end, "the end of the preview")
    for screen in screens:
        screen.send(b"\t")
    # Enter that comes before the focus was painted presses nothing.
    until(screens, confirm_has_focus, "the focus of the button")
    for screen in screens:
        screen.send(b"\r")
    pressed = dict.fromkeys(map(id, screens), time.monotonic())

    def ended(screen: Screen) -> bool:
        # The preview may expire just before Enter, which presses nothing then: it is to be pressed again.
        if NO_FOCUS[:20] in screen.text and confirm_has_focus(screen) and time.monotonic() - pressed[id(screen)] > 2:
            pressed[id(screen)] = time.monotonic()
            screen.send(b"\r")
        return any(words in screen.text for words in ENDS)

    until(screens, ended, "an end")
    ends = [next(words for words in ENDS if words in screen.text) for screen in screens]
    assert exchange.posts == posts + 1, f"{exchange.posts - posts} POSTs: {ends}"
    assert ends.count("Settled:") == 1, ends
    for screen, end in zip(screens, ends, strict=True):
        if end != "Settled:":
            screen.send(b"\x1b")
        else:
            until([screen], lambda each: "Acknowledge" in each.text, "the acknowledgement")
    close(screens)
    return ends


def close(screens: list[Screen]) -> None:
    """Acknowledge: it takes a moment until the button may be pressed."""
    end = time.monotonic() + 20
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
    assert states == {"settled": count}, states
    return ends


def test_pressed_at_the_same_moment_one_is_sent(tmp_path: Path) -> None:
    rounds(3, tmp_path)


def test_with_two_data_directories_and_two_spellings_of_the_address_one_is_sent(tmp_path: Path) -> None:
    rounds(3, tmp_path, apart=True, size=(80, 24))


@pytest.mark.campaign
def test_a_hundred_rounds(tmp_path: Path) -> None:
    print(f"100 rounds in two terminals, one POST each: {dict(rounds(100, tmp_path))}")  # noqa: T201
