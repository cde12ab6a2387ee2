"""Messages for a person on stderr; imports nothing heavy, so that the first paint may come before anything is."""

from __future__ import annotations

import sys

from tradetui.wire.scrub import scrub


def say(text: str) -> None:
    """Write one message to stderr, free of control characters."""
    print("\n".join(scrub(line) for line in text.splitlines()), file=sys.stderr)  # noqa: T201


def needs_terminal() -> bool:
    """Whether there is a terminal; says what to do where there is none."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return True
    say("tradetui needs a terminal. For a picture without one: tradetui demo --screenshot FILE")
    return False
