"""What a terminal can show: colours, characters, and when none is drawn at all."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import tradetui.ui
from tests.bench.terminal import Terminal
from tradetui.ui.terminal.drawn_once import ascii_cells, blocking_reason, terminal_abilities


@pytest.mark.parametrize(
    ("environ", "many"),
    [
        ({"TERM": "xterm"}, False),
        ({"TERM": "linux"}, False),
        ({"TERM": "xterm-16color"}, False),
        ({"TERM": "screen"}, False),
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "tmux-256color"}, True),
        ({"TERM": "xterm-direct"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, True),
        ({"TERM": "xterm", "COLORTERM": "24bit"}, True),
        ({"TERM": "xterm", "COLORTERM": "yes"}, False),
    ],
)
def test_how_many_colours_a_terminal_has(environ: dict[str, str], many: bool) -> None:
    assert terminal_abilities(environ).has_256_colours is many


@pytest.mark.parametrize(
    ("environ", "utf8"),
    [
        ({}, True),
        ({"LANG": "en_US.UTF-8"}, True),
        ({"LANG": "C.utf8"}, True),
        ({"LANG": "C"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),
        ({"LANG": "POSIX"}, False),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({"LANG": "de_DE@euro"}, False),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "C"}, False),
        ({"LANG": "C", "LC_ALL": "en_GB.UTF-8"}, True),
        ({"LANG": "en_US.UTF-8", "LC_CTYPE": "C"}, False),
        ({"LC_CTYPE": "C.UTF-8"}, True),
    ],
)
def test_which_characters_a_locale_has(environ: dict[str, str], utf8: bool) -> None:
    assert terminal_abilities(environ).has_utf8 is utf8


@pytest.mark.parametrize("term", ["", "dumb", "unknown", "DUMB"])
def test_a_terminal_without_a_cursor_is_refused_with_the_remedy(term: str) -> None:
    sentence = blocking_reason({"TERM": term})
    assert sentence is not None
    assert "TERM" in sentence and "xterm-256color" in sentence


def test_other_terminals_are_not_refused() -> None:
    assert blocking_reason({"TERM": "vt100"}) is None


@given(st.text("╭─╮│…→▲▼●·—×╱漢字é€ aZ9"))
def test_text_in_ascii_takes_as_many_cells(text: str) -> None:
    assert ascii_cells(text).isascii()
    assert len(ascii_cells(text)) == cell_len(text)


def test_every_mark_that_the_screens_draw_has_a_likeness_in_ascii() -> None:
    sources = Path(tradetui.ui.__file__).parent.rglob("*.py")
    drawn = {character for source in sources for character in source.read_text("utf-8") if not character.isascii()}
    assert {"■", "□", "•", "╌"} <= drawn
    assert [character for character in sorted(drawn) if "?" in ascii_cells(character)] == []
    assert ascii_cells("■") != ascii_cells("□"), "columns that are shown differ from those that are hidden"


def test_cut_text_keeps_its_mark_in_ascii() -> None:
    assert ascii_cells("╭─ BTCUS… ▲ ─╮") == "+- BTCUS> ^ -+"


def test_a_dumb_terminal_ends_the_program_before_it_starts() -> None:
    with Terminal([sys.executable, "-m", "tradetui", "demo"], environment={"TERM": "dumb"}) as terminal:
        assert terminal.process.wait(120) == 2
        terminal.read_for(0.2)
        written = bytes(terminal.output)
    assert b"TERM is dumb" in written
    assert b"\x1b[" not in written
    assert written.count(b"\n") == 1


@pytest.mark.parametrize("environment", [{"LC_ALL": "C"}, {"LC_ALL": "", "LC_CTYPE": "", "LANG": "C"}])
def test_without_utf8_every_byte_is_ascii(environment: dict[str, str]) -> None:
    with Terminal([sys.executable, "-m", "tradetui", "demo"], 120, 36, environment) as terminal:
        terminal.until_shown(b"BTCUSDT")
        terminal.read_for(0.5)
        written = bytes(terminal.output)
    assert b"+" in written
    assert not [byte for byte in written if byte > 0x7F]


def test_sixteen_colours_are_the_terminals_own() -> None:
    sixteen_colours = {"TERM": "xterm", "COLORTERM": ""}
    with Terminal([sys.executable, "-m", "tradetui", "demo"], 120, 36, sixteen_colours) as terminal:
        terminal.until_shown(b"BTCUSDT")
        terminal.read_for(0.5)
        written = bytes(terminal.output)
    assert not re.search(rb"\x1b\[[0-9;]*\b(?:38|48);[25];", written)
    assert re.search(rb"\x1b\[[0-9;]*\b32\b[0-9;]*m", written), "profit is green"
    assert re.search(rb"\x1b\[[0-9;]*\b31\b[0-9;]*m", written), "loss is red"
