"""What comes at once from the terminal: what is typed or pasted arrives, and what nobody can have meant is dropped."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.fixtures.terminal_screen import Screen, until
from tradetui.ui.terminal.bounded_input import MOST_PASTED, MOST_TYPED, TypedBytes

PASTE_BEGINS, PASTE_ENDS = b"\x1b[200~", b"\x1b[201~"
FLOODS = {
    "letters": b"qRx\n" * 262_144,
    "digits": b"1234567890" * 104_857,
    "sequences": b"\x1b[A\x1b[1;5C\x1b[" * 80_659,
    "pastes": (PASTE_BEGINS + b"x" + PASTE_ENDS) * 80_659,
    "a paste": PASTE_BEGINS + b"x" * 1_048_576 + PASTE_ENDS,
    "no UTF-8": b"\xff\xfe\xe9" * 349_525,
}


def arrived(chunks: list[bytes], every_s: float) -> tuple[bytes, int]:
    """What is parsed of chunks and of the pause after them, and how many bytes are dropped."""
    typed, parsed = TypedBytes(), b""
    for number, chunk in enumerate(chunks):
        parsed += typed.take(chunk, number * every_s)
    last, dropped = typed.pause()
    return parsed + last, dropped


@given(st.lists(st.binary(min_size=1, max_size=6), max_size=200))
def test_what_is_typed_arrives_as_it_was_typed(chunks: list[bytes]) -> None:
    assert arrived(chunks, 0.03) == (b"".join(chunks), 0)


@given(st.binary(max_size=MOST_TYPED - 300), st.integers(1, 4096))
def test_a_text_that_a_box_takes_arrives_however_it_is_cut(text: bytes, size: int) -> None:
    assert arrived([text[start : start + size] for start in range(0, len(text), size)], 0.0) == (text, 0)


@pytest.mark.parametrize("size", [200, 4096, 65_536])
@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_of_a_flood_next_to_nothing_is_parsed_and_what_follows_is(flood: bytes, size: int) -> None:
    typed, parsed = TypedBytes(), 0
    for start in range(0, len(flood), size):
        parsed += len(typed.take(flood[start : start + size], 0.0))
        assert len(typed._held) <= MOST_PASTED
    after_flood, dropped = typed.pause()
    assert (parsed + len(after_flood) + dropped, after_flood) == (len(flood), b"")
    assert parsed <= 256
    assert typed.take(b"?", 1.0) == b"?"


def test_a_paste_of_many_lines_is_given_at_its_end() -> None:
    paste = PASTE_BEGINS + b"203.0.113.7\n" * 2_000 + PASTE_ENDS
    assert TypedBytes().take(paste, 0.0) == paste


def test_a_mouse_that_moves_is_not_taken_for_a_flood() -> None:
    typed = TypedBytes()
    for number in range(2_000):
        move = f"\x1b[<35;{number % 200};{number % 60}M".encode()
        assert typed.take(move, number * 0.005) == move


@pytest.mark.parametrize("name", ["letters", "a paste"])
def test_the_program_answers_a_key_after_a_megabyte_and_its_memory_does_not_grow(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tradetui", "demo"]
    with Screen(command, 120, 36, {"HOME": str(tmp_path)}) as screen:
        until([screen], lambda shown: shown.text.count("BTCUSDT") > 1, "rows")
        before = screen.resident_mib()
        send_all(screen, FLOODS[name])
        until([screen], lambda shown: "came at once was dropped" in shown.text, "what was dropped")
        screen.read_for(0.5)  # the key is pressed when the flood is over
        send_all(screen, b"?")
        until([screen], lambda shown: "╭─ Help" in shown.text, "help", 20)
        assert screen.resident_mib() < before + 60, "the demo itself still loads"


def test_letters_that_are_pasted_without_marks_go_into_a_field_or_nowhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tradetui", "demo"]
    with Screen(command, 120, 36, {"HOME": str(tmp_path)}) as screen:
        until([screen], lambda shown: shown.text.count("BTCUSDT") > 1, "rows")
        send_all(screen, b"qy" * 300)
        until([screen], lambda shown: "came at once was dropped" in shown.text, "that they were dropped")
        assert screen.process.poll() is None, "q quits, as a key"
        send_all(screen, b"/")
        until([screen], lambda shown: "Esc" in shown.text and "came at once" not in shown.text, "the field")
        send_all(screen, b"BTC" * 100)
        until([screen], lambda shown: "BTCBTCBTC" in shown.text, "the text")
        assert "came at once" not in screen.text


def send_all(screen: Screen, content: bytes) -> None:
    """Write into the terminal as fast as the program reads."""
    while content:
        try:
            content = content[os.write(screen._master, content[:4_096]) :]
        except BlockingIOError:
            screen.read()
