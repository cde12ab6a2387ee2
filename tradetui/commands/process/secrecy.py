"""Keeps the secrets of this process out of log lines, and out of core dumps and debuggers."""

from __future__ import annotations

import sys

_SHORTEST = 4
"""Shorter texts would match words that are not secret."""
_secrets: set[str] = set()
_PR_SET_DUMPABLE = 4


def hide_in_log(*secrets: str) -> None:
    """Redact these texts from now on, and every line of a text with several lines."""
    for secret in secrets:
        _secrets.update(part for part in (secret, *secret.splitlines()) if len(part) >= _SHORTEST)


def redacted(text: str) -> str:
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def forbid_core_dumps() -> None:
    """Prevent core dumps of this process, if the system allows that.

    The size limit alone is not enough on Linux: a `core_pattern` that pipes into a program ignores it. A process that
    is not dumpable gives none to a pipe either; its files in /proc then belong to root.
    """
    from contextlib import suppress  # --help does not import it

    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
