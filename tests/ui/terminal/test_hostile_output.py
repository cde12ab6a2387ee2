"""Nothing from the exchange can style, ring, link or break the screen: the bytes that reach a pseudo-terminal."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.bench.terminal import Terminal

ROOT = Path(__file__).parents[3]
FORBIDDEN = (
    b"\x1b[31mred",
    b"\x1b]52;c;aGFja2Vk",
    b"\x1b]8;",
    b"evil.example\x1b]",
    b"evil.example\x1b\\",
    b"\x1b[2J\x1b[Hwipe",
    b"\xc2\x9b",
    b"\x07bell",
    b"bell\x08",
    "‮".encode(),
    "‏".encode(),
    "​".encode(),
    "﻿".encode(),
)


def check(written: bytes) -> None:
    """None of it raw, all of it as what it is: text."""
    for sequence in FORBIDDEN:
        assert sequence not in written, sequence
    text = re.sub(rb"\x1b\[[0-9;?<>=]*[A-Za-z~]", b"", written)
    assert "�".encode() in text, "what was taken out is shown as such"
    assert b"[/]" in text, "markup is shown as the text it is"


def test_the_bytes_of_a_hostile_screen() -> None:
    with Terminal([sys.executable, "-m", "tests.ui.fixtures.hostile_text"], columns=160, rows=70) as terminal:
        terminal.until_shown(b"hostile-screen-ready")
        terminal.read_for(1.0)
        assert terminal.process.poll() is None, "the screen is still there"
        written = bytes(terminal.output)
    check(written)
    assert b"[@click=app.quit]" in written


def test_the_bytes_of_the_whole_program_on_a_hostile_exchange(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.ui.fixtures.hostile_exchange"]
    # Where keys and their pauses fall together an export may be asked for: it is written where nobody misses it.
    where = {"PYTHONPATH": str(ROOT)}
    with Terminal(command, environment=where, folder=tmp_path) as terminal:
        terminal.until_shown("�".encode())
        terminal.read_for(1.5)
        # Every panel, sorted and copied from; the detail of a row; filter, list of screens, profiles, help, reversal.
        for keys in (b"1", b"3", b"5ssYy", b"4", b"jj\r", b"jjyY", b"\x1b", b"/red\r", b"\x1b", b"o", b"\x1b"):
            terminal.send(keys)
            terminal.read_for(0.25)
        # The screens of records: rows, totals with their business types as titles, a row's detail, copies, a refusal.
        for keys in (
            b"6",
            b"jj\r",
            b"jyY",
            b"\x1b",
            b"7",
            b"a",
            b"ss",
            b"\tyY",
            b"\r",
            b"\x1b",
            b"f",
            b"\x1b",
            b"8",
            b"9",
            b"\x1b",
        ):
            terminal.send(keys)
            if keys == b"7":
                terminal.until_shown(b"Totals")
            terminal.read_for(0.4)
        for keys in (b"P", b"\x1b", b"?", b"\x1b", b"2", b"R"):
            terminal.send(keys)
            terminal.read_for(0.4)
        terminal.read_for(1.0)
        assert terminal.process.poll() is None, "the program goes on"
        written = bytes(terminal.output)
    check(written)
