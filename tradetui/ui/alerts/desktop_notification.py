"""A desktop notification through the terminal, by an escape sequence. It loads no Textual: `doctor` sends one too.

OSC 9 is iTerm2's, OSC 777 urxvt's; most terminals that notify know one of the two. A BEL follows, which marks the
window where the terminal knows neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tradetui.desk.alerts.rules import DesktopSequence
from tradetui.wire.text import scrub

TITLE: Final = "tradetui"
_BEL: Final = "\a"
_ESC: Final = "\x1b"


def own_sequence(environ: Mapping[str, str]) -> DesktopSequence:
    """The sequence a terminal knows, as far as the environment says which one it is; OSC 9 otherwise."""
    if environ.get("TERM_PROGRAM") in ("iTerm.app", "WezTerm", "ghostty") or environ.get("LC_TERMINAL") == "iTerm2":
        return DesktopSequence.OSC_9
    if environ.get("KITTY_WINDOW_ID") or environ.get("WT_SESSION"):
        return DesktopSequence.OSC_9
    is_foot_or_rxvt = environ.get("TERM", "").startswith(("foot", "rxvt"))
    knows_777 = is_foot_or_rxvt or environ.get("VTE_VERSION") or environ.get("KONSOLE_VERSION")
    return DesktopSequence.OSC_777 if knows_777 else DesktopSequence.OSC_9


def in_tmux(environ: Mapping[str, str]) -> bool:
    """Whether the terminal is a pane of tmux, which passes such a sequence on only in an envelope."""
    return bool(environ.get("TMUX"))


def notification(sentence: str, sequence: DesktopSequence | None, environ: Mapping[str, str]) -> str:
    """The escape sequence of a notification of one sentence, free of other control characters.

    `sequence` is the profile's choice, None for the one that the terminal in `environ` knows.
    """
    # Semicolons part the fields of both sequences, and OSC 9 with a number first means something else to some.
    text = f"{TITLE}: {scrub(sentence)}".replace(";", ",")
    if (sequence or own_sequence(environ)) is DesktopSequence.OSC_777:
        body = text.removeprefix(f"{TITLE}: ")
        request = f"{_ESC}]777;notify;{TITLE};{body}{_BEL}"
    else:
        request = f"{_ESC}]9;{text}{_BEL}"
    if in_tmux(environ):
        request = f"{_ESC}Ptmux;{request.replace(_ESC, _ESC * 2)}{_ESC}\\"
    return f"{request}{_BEL}"
