"""The bytes that ask a terminal for a notification."""

from __future__ import annotations

import pytest

from tradetui.desk.events.rules import DesktopSequence
from tradetui.ui.alerts.alert_notices import notification, own_sequence


@pytest.mark.parametrize(
    ("environ", "sequence"),
    [
        ({}, DesktopSequence.OSC_9),
        ({"TERM_PROGRAM": "iTerm.app"}, DesktopSequence.OSC_9),
        ({"KITTY_WINDOW_ID": "1"}, DesktopSequence.OSC_9),
        ({"TERM": "foot"}, DesktopSequence.OSC_777),
        ({"TERM": "rxvt-unicode-256color"}, DesktopSequence.OSC_777),
        ({"TERM": "tmux-256color", "TMUX": "x", "VTE_VERSION": "7600"}, DesktopSequence.OSC_777),
    ],
)
def test_a_terminal_gets_the_sequence_it_knows(environ: dict[str, str], sequence: DesktopSequence) -> None:
    assert own_sequence(environ) is sequence


def test_each_sequence_ends_with_a_bell() -> None:
    assert notification("Link lost", DesktopSequence.OSC_9, {}) == "\x1b]9;tradetui: Link lost\a\a"
    assert notification("Link lost", DesktopSequence.OSC_777, {}) == "\x1b]777;notify;tradetui;Link lost\a\a"


def test_tmux_gets_it_in_an_envelope_with_the_bell_outside() -> None:
    assert notification("Link lost", DesktopSequence.OSC_9, {"TMUX": "x"}) == (
        "\x1bPtmux;\x1b\x1b]9;tradetui: Link lost\a\x1b\\\a"
    )


@pytest.mark.parametrize("sequence", DesktopSequence)
@pytest.mark.parametrize("environ", [{}, {"TMUX": "x"}])
def test_no_sentence_ends_the_sequence_or_begins_another(sequence: DesktopSequence, environ: dict[str, str]) -> None:
    hostile = "a\x07b\x1b]0;title\x07c\x1b\\d\x9ce\x9d52;c;QQ==\x9cf\ng;h\u202ei"
    plain = notification("a" * 37, sequence, environ)
    written = notification(hostile, sequence, environ)
    for control in ("\x07", "\x1b", "\x9c", "\x9d", "\n", "\u202e"):
        assert written.count(control) == plain.count(control)
    assert written.count(";") == plain.count(";")
