"""Identifies the current boot of the machine, because CLOCK_MONOTONIC can be compared only within one boot."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

_LINUX_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@cache
def boot_id() -> str:
    """Return an id that differs from boot to boot; empty if the system gives none."""
    if sys.platform == "darwin":
        return _sysctl_text(b"kern.bootsessionuuid")
    try:
        return _LINUX_BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _sysctl_text(name: bytes) -> str:
    import ctypes.util

    library = ctypes.CDLL(ctypes.util.find_library("c"))
    text = ctypes.create_string_buffer(64)
    size = ctypes.c_size_t(len(text))
    if library.sysctlbyname(name, text, ctypes.byref(size), None, 0) != 0:
        return ""
    return text.value.decode("ascii", "replace")
