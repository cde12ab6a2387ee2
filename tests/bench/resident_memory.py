"""Memory that a process has in use, without what it holds ready: heaps keep what was freed, and that comes and goes."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def give_back_free_memory() -> None:
    """Collect what is in cycles and return what is free to the system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def resident_mib() -> float:
    """Memory of this process, after what is free was given back."""
    give_back_free_memory()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES / 1024 / 1024
