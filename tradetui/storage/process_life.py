"""Tells whether the process that wrote a record is still alive, by a file lock that it holds."""

from __future__ import annotations

import fcntl
import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from tradetui.storage.private_directory import make_private_directory

_log = logging.getLogger(__name__)
_SUFFIX: Final = ".alive"
_KEPT_S: Final = 30 * 86_400.0
"""Seconds after the start of a process for which its file is kept, if it was killed; the file shows that it ended."""
ALIVE_DIR: Final = "alive"
"""The directory of the lock files, within the user's runtime directory."""
_owners_of_this_process: Final[set[str]] = set()


class ProcessLives:
    """The live processes of this user, each with a locked file; this process adds its own.

    `owner` is the name by which others check whether this process lives. It is empty if the directory takes no lock
    file; then nobody can check. The system drops the lock when the process ends, however it ends. If the directory is
    emptied meanwhile, others check the process number instead.
    """

    def __init__(self, directory: Path, nonce: str) -> None:
        """Make and lock this process's file; `nonce` tells apart two processes that had the same number."""
        owner = f"{os.getpid()}-{nonce}"
        self._directory = directory
        self._file = directory / f"{owner}{_SUFFIX}"
        self._descriptor: int | None = None
        try:
            make_private_directory(directory)
            self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            _owners_of_this_process.add(owner)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _clear_old_files(directory, os.fstat(self._descriptor).st_mtime)
        except OSError as problem:
            self.close()
            _log.warning(
                "%s takes no lock file (%s): others wait until this process is certainly over", directory, problem
            )
        self.owner: Final = owner if self._descriptor is not None else ""

    def has_ended(self, owner: str) -> bool:
        """True if the process of `owner` has certainly ended; False if that is not known."""
        return owner not in ("", self.owner) and not is_alive(self._directory, owner)

    def close(self) -> None:
        """Remove the file and its lock. Others then go by the process number, so this process must end soon."""
        if self._descriptor is not None:
            self._file.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None
            _owners_of_this_process.discard(self._file.stem)


def is_alive(directory: Path, owner: str) -> bool:
    """False only if the process of `owner` has certainly ended."""
    file = directory / f"{owner}{_SUFFIX}"
    try:
        descriptor = os.open(file, os.O_RDWR)
    except FileNotFoundError:
        return _process_exists(owner)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False  # the file stays: without it a later process of the same number would be taken for this one
    except OSError:
        return True
    finally:
        os.close(descriptor)


def _clear_old_files(directory: Path, now_s: float) -> None:
    """Remove the lock files of ended processes that started more than 30 days ago."""
    for file in directory.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            if now_s - file.stat().st_mtime > _KEPT_S and not is_alive(directory, file.name.removesuffix(_SUFFIX)):
                file.unlink()


def _process_exists(owner: str) -> bool:
    """Whether a process of the owner's number exists; it may be a later process of the same number."""
    number = owner.partition("-")[0]
    if not number.isdecimal():
        return False
    if number == str(os.getpid()):  # in a container a program often gets the same number each time
        return owner in _owners_of_this_process
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
