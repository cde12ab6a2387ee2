"""Tells whether the process that wrote something still lives, by a file lock that it holds, and which boot this is.

CLOCK_MONOTONIC can be compared within one boot only.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from tradetui.storage.private_directory import make_private_directory

_log = logging.getLogger(__name__)
_SUFFIX: Final = ".alive"
_KEPT_S: Final = 30 * 86_400.0
"""How long the file of an ended process is kept, so that others can learn that it ended."""
ALIVE_DIR: Final = "alive"
"""The directory of the lock files within the user's runtime directory."""


class LifeLock:
    """This process's own lock file; `owner` is the name by which others check whether it lives.

    The system drops the lock when the process ends, however it ends. A directory that is emptied meanwhile makes others
    check the process number instead.
    """

    def __init__(self, directory: Path, nonce: str) -> None:
        """Make and lock the file; `nonce` tells two lives of one process number apart. Raises OSError."""
        make_private_directory(directory)
        self.owner: Final = f"{os.getpid()}-{nonce}"
        self._file = directory / f"{self.owner}{_SUFFIX}"
        self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _clear_old_files(directory, os.fstat(self._descriptor).st_mtime)

    def close(self) -> None:
        """Let go of the lock: others see this process as ended."""
        self._file.unlink(missing_ok=True)
        os.close(self._descriptor)


def is_alive(directory: Path, owner: str) -> bool:
    """Whether the process of that `owner` may still live; False only where it certainly does not."""
    file = directory / f"{owner}{_SUFFIX}"
    try:
        descriptor = os.open(file, os.O_RDWR)
    except FileNotFoundError:
        return _number_in_use(owner)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False  # the file stays: without it a process of the same number would be taken for this one
    except OSError:
        return True
    finally:
        os.close(descriptor)


def _clear_old_files(directory: Path, now_s: float) -> None:
    """Remove the lock files of processes that ended and began long ago, so that they do not pile up."""
    for file in directory.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            if now_s - file.stat().st_mtime > _KEPT_S and not is_alive(directory, file.name.removesuffix(_SUFFIX)):
                file.unlink()


def _number_in_use(owner: str) -> bool:
    number = owner.partition("-")[0]
    if not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


class ProcessLives:
    """The living processes of the user, and this one's own name among them.

    `owner` is empty where the directory takes no lock file; nobody can then judge this process by it.
    """

    def __init__(self, directory: Path, nonce: str) -> None:
        self._directory = directory
        self._own: LifeLock | None = None
        try:
            self._own = LifeLock(directory, nonce)
        except OSError as problem:
            _log.warning(
                "%s takes no lock file (%s): others wait until this process is certainly over", directory, problem
            )
        self.owner: Final = self._own.owner if self._own is not None else ""

    def has_ended(self, owner: str) -> bool:
        """Whether the process of that `owner` has certainly ended; False where that is not known."""
        return owner not in ("", self.owner) and not is_alive(self._directory, owner)

    def close(self) -> None:
        if self._own is not None:
            self._own.close()
            self._own = None


_LINUX_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@cache
def boot_id() -> str:
    """An id that differs from boot to boot; empty where the system gives none."""
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
