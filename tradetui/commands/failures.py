"""Turns whatever stopped a command into a sentence on stderr and an exit code."""

from __future__ import annotations

import sys
import traceback

from tradetui.commands.exit_codes import REFUSED, USAGE
from tradetui.exchange.errors import ExchangeError
from tradetui.profiles.errors import ConfigurationError, NoProfile
from tradetui.wire.requests import InvalidRequest
from tradetui.wire.scrub import scrub

NO_PROFILE = """tradetui has no configuration yet.
  tradetui demo   runs the whole program on its own exchange: no account, no network
  tradetui init   writes a profile for your account"""


def say(text: str) -> None:
    """Write one message for a person to stderr, free of control characters."""
    print("\n".join(scrub(line) for line in text.splitlines()), file=sys.stderr)  # noqa: T201


def report(problem: Exception) -> int:
    """Say what stopped the command and return its exit code; a traceback never reaches the person."""
    if isinstance(problem, NoProfile):
        say(NO_PROFILE)
        return USAGE
    if isinstance(problem, ConfigurationError | InvalidRequest):
        say(f"tradetui: {problem}")
        return USAGE
    if isinstance(problem, ExchangeError):
        say(f"tradetui: {problem}")
        return REFUSED
    where = traceback.extract_tb(problem.__traceback__)[-1] if problem.__traceback__ else None
    place = f" at {where.filename.rsplit('/', 1)[-1]}:{where.lineno}" if where else ""
    # Only the kind is named: the message of an unforeseen error may hold anything, a secret among it.
    say(f"tradetui: internal error, {type(problem).__name__}{place}. Nothing was retried; please report it.")
    return REFUSED
