"""Nothing from the exchange can style, ring, link or break the screen: the bytes that reach a pseudo-terminal."""

from __future__ import annotations

import re
import sys

from tests.bench.terminal import Terminal

FORBIDDEN = (
    b"\x1b[31mred",
    b"\x1b]52",
    b"\x1b]8;",
    b"evil.example\x1b",
    b"\x1b[2J\x1b[Hwipe",
    b"\xc2\x9b",
    b"\x07bell",
    "‮".encode(),
    "‏".encode(),
    "​".encode(),
    "﻿".encode(),
)


def test_the_bytes_of_a_hostile_screen() -> None:
    with Terminal([sys.executable, "-m", "tests.ui.hostile"], columns=160, rows=70) as terminal:
        terminal.until_shown(b"hostile-screen-ready")
        terminal.read_for(1.0)
        written = bytes(terminal.output)
        assert terminal.process.poll() is None, "the screen is still there"
    for sequence in FORBIDDEN:
        assert sequence not in written, sequence
    text = re.sub(rb"\x1b\[[0-9;?<>=]*[A-Za-z~]", b"", written)
    assert "�".encode() in text, "what was taken out is shown as such"
    assert b"[/]" in text, "markup is shown as the text it is"
    assert b"[@click=app.quit]" in text
