"""Turns the exception that stopped a command into a sentence on stderr and an exit code."""

from __future__ import annotations

import logging
import traceback

from tradetui.commands.process.console import REFUSED, USAGE, say
from tradetui.exchange.errors import ExchangeError
from tradetui.profiles.errors import ConfigurationError, NoProfile
from tradetui.storage.postgres.errors import StoreAway, StoreRefused
from tradetui.wire.errors import InvalidRequest

_log = logging.getLogger(__name__)

NO_PROFILE = """tradetui has no configuration yet; it would be {file}
  tradetui demo   runs the whole program on its own exchange: no account, no network
  tradetui init   writes a profile for your account"""


def report(problem: Exception) -> int:
    """Print why the command stopped and return its exit code; a person never sees a traceback."""
    _log.info("the command was stopped", exc_info=problem)
    if isinstance(problem, NoProfile):
        say(NO_PROFILE.format(file=problem.location))
        return USAGE
    if isinstance(problem, ConfigurationError | ExchangeError):
        say(f"tradetui: {problem}")
        return USAGE if isinstance(problem, ConfigurationError | InvalidRequest) else REFUSED
    if isinstance(problem, StoreAway | StoreRefused):
        did = "cannot be reached" if isinstance(problem, StoreAway) else "refuses it"
        say(f"tradetui: the store {did}: {problem}.")
        return REFUSED
    if isinstance(problem, OSError) and problem.filename is None:
        # Network errors and errors with a file name were handled above; this one is of standard output.
        say(f"tradetui: the output could not be written: {problem.strerror or type(problem).__name__}.")
        return REFUSED
    where = traceback.extract_tb(problem.__traceback__)[-1] if problem.__traceback__ else None
    location = f" at {where.filename.rsplit('/', 1)[-1]}:{where.lineno}" if where else ""
    # Only the type is printed: the message of an unexpected error may contain anything, even a secret.
    say(f"tradetui: internal error, {type(problem).__name__}{location}. Nothing was retried; please report it.")
    return REFUSED
