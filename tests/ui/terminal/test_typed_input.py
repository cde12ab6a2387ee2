"""Bytes typed into the real program in a pseudo-terminal: every letter arrives, and no burst confirms."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ui.fixtures.terminal_screen import PAGE_DOWN, Screen, until
from tests.whole.exchange_thread import ExchangeThread

PROFILE = """
[profiles.typing]
base_url = "{base_url}"
mode = "trade"
start_locked = {locked}
product_types = ["USDT-FUTURES"]
budget_share = 1.0
account_kind = "ordinary"
typed_above = 1
"""
HELD = ("0.5", "0.2")
CURSOR_ON_SHORT = re.compile(r"▸BTCUSDT +SHORT")
LONG_AFTERWARDS, SHORT_HELD = re.compile(r"BTCUSDT +LONG +0\.70* "), re.compile(r"BTCUSDT +SHORT +0\.20* ")
WORD = b"BTCUSDT SHORT"
PASTE_BEGINS, PASTE_ENDS = b"\x1b[200~", b"\x1b[201~"


@contextmanager
def program(
    folder: Path, *, locked: bool = False, size: tuple[int, int] = (120, 36)
) -> Iterator[tuple[ExchangeThread, Screen]]:
    """The real program on an account that holds both legs of BTCUSDT, its cursor on the SHORT."""
    with ExchangeThread() as exchange:
        exchange.hold("hedge", *HELD)
        config = PROFILE.format(base_url=exchange.base_url, locked=str(locked).lower())
        environment = {
            **exchange.environment("hedge", folder, config),
            "COLUMNS": str(size[0]),
            "LINES": str(size[1]),
        }
        command = [sys.executable, "-m", "tradetui", "--profile", "typing"]
        with Screen(command, *size, environment) as screen:
            until([screen], lambda shown: shown.text.count("BTCUSDT") > 1, "both legs")
            screen.send(b"j")
            yield exchange, screen


def open_dialog(screen: Screen) -> None:
    """The dialog on the SHORT, armed, all of it read."""
    screen.send(b"R")
    until([screen], armed, "an armed dialog")
    screen.send(PAGE_DOWN * 4)
    until([screen], lambda shown: armed(shown) and "more below" not in shown.text, "the end of the preview")


def armed(screen: Screen) -> bool:
    """Whether what is typed now is taken."""
    return "Type BTCUSDT SHORT to go on." in screen.text and "Ready in a moment" not in screen.text


def typed(screen: Screen) -> bool:
    """Whether what is asked for was typed: nothing asks for it any more."""
    return WORD.decode() in screen.text.replace(f"Type {WORD.decode()}", "") and (
        "Type BTCUSDT SHORT to go on." not in screen.text and "reading" not in screen.text.lower()
    )


WAYS = ("one write", "bracketed paste", "slow line")


def type_word(screen: Screen, how: str) -> None:
    """Type the word until it stands there, in every way but the slow one with a Tab and an Enter right behind it."""
    if how == "bracketed paste":
        screen.send(PASTE_BEGINS + WORD.lower() + b"\t\r" + PASTE_ENDS)
        until([screen], lambda shown: "btcusdt short" in shown.text, "the word")
    elif how == "one write":
        screen.send(WORD + b"\t\r")
        until([screen], typed, "the word")
        until([screen], lambda shown: "pressed nothing" in shown.text, "that Enter pressed nothing")
    else:
        for letter in WORD:
            screen.send(bytes((letter,)))
            # The line itself is slow: it is what this way is about.
            time.sleep(0.035)
        until([screen], typed, "the word")


def confirm(screen: Screen) -> None:
    """Tab to the button and press it once it is drawn with the focus; after Enter it may be a held one."""
    if screen.marks_as_focused("Reverse SHORT"):
        screen.send(b"\t")
        until([screen], lambda shown: not shown.marks_as_focused("Reverse SHORT"), "the focus beside it")
    for _ in range(8):
        if screen.marks_as_focused("Reverse SHORT"):
            break
        screen.send(b"\t")
        for _ in range(20):
            screen.read()
    until([screen], lambda shown: shown.marks_as_focused("Reverse SHORT"), "the focus of the button")
    screen.send(b"\r")


def test_the_word_arrives_whole_in_every_way_and_its_tab_and_enter_confirm_nothing(tmp_path: Path) -> None:
    with program(tmp_path) as (exchange, screen):
        for sent, how in enumerate(WAYS):
            if sent:  # back to the panels, where the SHORT that was reversed is held again
                screen.send(b"\x1b")
                until([screen], lambda shown: LONG_AFTERWARDS.search(shown.text) is not None, "what is held now")
                exchange.hold("hedge", *HELD)
                until([screen], lambda shown: SHORT_HELD.search(shown.text) is not None, "the SHORT")
                screen.send(b"j")
                until([screen], lambda shown: CURSOR_ON_SHORT.search(shown.text) is not None, "the cursor on it")
                # R in one burst with the key before would say that the SHORT of the way before has just closed.
                for _ in range(30):
                    screen.read()
            open_dialog(screen)
            type_word(screen, how)
            assert exchange.posts == sent, how
            confirm(screen)
            until([screen], lambda shown: "Settled: reversed" in shown.text, "the end")
            assert exchange.posts == sent + 1, how
            assert exchange.held("hedge") == {"long": "0.7", "short": "0"}, how


def test_everything_in_one_write_opens_the_dialog_and_confirms_nothing(tmp_path: Path) -> None:
    with program(tmp_path) as (exchange, screen):
        screen.send(b"R" + WORD + b"\t\t\r")
        until([screen], lambda shown: "was dropped, type it again" in shown.text, "that it was dropped")
        until([screen], lambda shown: "Ready in a moment" not in shown.text, "an armed preview")
        assert exchange.posts == 0
        screen.send(b"\x1b")
        until([screen], lambda shown: "REVERSE THE" not in shown.text, "the main screen")


def answered(screen: Screen) -> bool:
    """Whether the question of unlocking is gone, or says that Enter pressed nothing."""
    return "Unlock trading on" not in screen.text or "pressed nothing" in screen.text


def test_locked_it_is_unlocked_from_the_dialog(tmp_path: Path) -> None:
    with program(tmp_path, locked=True, size=(80, 24)) as (exchange, screen):
        screen.send(b"R")
        until([screen], lambda shown: "Trading is locked; L unlocks it." in shown.text, "the reason")
        assert "Type BTCUSDT SHORT" not in screen.text, "there is no field"
        screen.send(b"L")
        until([screen], lambda shown: "Enter presses Cancel;" in shown.text, "the question, with the focus on Cancel")
        while "Unlock trading on" in screen.text:
            screen.send(b"\t")
            until([screen], lambda shown: "Enter presses Unlock; Esc cancels." in shown.text, "the focus")
            screen.send(b"\r")
            # On a busy machine Enter can be read before the program knows that the focus is drawn.
            until([screen], answered, "an answer to Enter")
            if "pressed nothing" in screen.text:
                screen.send(b"\t")
                until([screen], lambda shown: "Enter presses Cancel;" in shown.text, "the focus on Cancel")
        until([screen], lambda shown: "Type BTCUSDT SHORT to go on." in shown.text, "the dialog with its field")
        assert exchange.posts == 0
