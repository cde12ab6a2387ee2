"""Keeps secrets in memory out of core dumps: of a crash, a kill or a debugger's attach by another program."""

from __future__ import annotations

import sys

_PR_SET_DUMPABLE = 4


def forbid_core_dumps() -> None:
    """Have the system write no core of this process; it goes on where the system does not allow that.

    The size limit alone is not enough on Linux: a `core_pattern` that pipes into a program ignores it. A process
    that is not dumpable gives none to a pipe either; its files in /proc then belong to root.
    """
    from contextlib import suppress  # --help comes without it

    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
