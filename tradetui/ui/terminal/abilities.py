"""The abilities of a terminal by its environment: how many colours, and which characters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_UTF8: Final = re.compile(r"\.utf-?8\b", re.IGNORECASE)
_MANY_COLOURS: Final = re.compile(r"-(256color|direct|kitty)$|^kitty$")


class TerminalAbilities(NamedTuple):
    """Without `has_256_colours` a terminal has the sixteen of its own palette."""

    has_256_colours: bool = True
    has_utf8: bool = True


def terminal_abilities(environ: Mapping[str, str]) -> TerminalAbilities:
    """The abilities of the terminal that the variables TERM, COLORTERM, LC_ALL, LC_CTYPE and LANG describe."""
    return TerminalAbilities(_has_256_colours(environ), _has_utf8(environ))


def blocking_reason(environ: Mapping[str, str]) -> str | None:
    """Why no screen can be drawn on the terminal, with the remedy; None where one can."""
    term = environ.get("TERM", "").strip().lower()
    if term not in {"", "dumb", "unknown"}:
        return None
    return (
        f"TERM is {term or 'not set'}: tradetui needs a terminal whose cursor can be moved. "
        "Set TERM to the terminal's type, for example xterm-256color."
    )


def _has_256_colours(environ: Mapping[str, str]) -> bool:
    # The same variables decide what is written: a colour that is not among the sixteen is turned into one that is.
    if environ.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}:
        return True
    return _MANY_COLOURS.search(environ.get("TERM", "").strip().lower()) is not None


def _has_utf8(environ: Mapping[str, str]) -> bool:
    """Whether the locale is one of UTF-8, the default if none is named."""
    # Python writes LC_CTYPE=C.UTF-8 into the environment where LANG=C is all that is there (PEP 538).
    if not environ.get("LC_ALL") and environ.get("LC_CTYPE") == "C.UTF-8" and environ.get("LANG") in {"C", "POSIX"}:
        return False
    locale = next((value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := environ.get(name))), None)
    return locale is None or _UTF8.search(locale) is not None
