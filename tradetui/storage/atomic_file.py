"""Writes files in one step: a reader gets the old text or the new text, never a part of either."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

_OWNER_ONLY = 0o600
_UNFINISHED = re.compile(r"\..+\.[a-z0-9_]{8}\.tradetui")
_ABANDONED_AFTER_S = 86_400


@contextmanager
def atomic_writer(
    file: Path, *, overwrite: bool = True, mode: int = _OWNER_ONLY, durable: bool = True
) -> Iterator[TextIO]:
    """Open a stream whose text replaces `file`, synced, when the block ends without an error; an error leaves no trace.

    Until then the text is in a temporary file beside it, such as `.state.toml.k3x0a_b1.tradetui`. Temporary files of
    killed programs are removed from the directory a day after the last write. Line ends are written as given.

    The directory of `file` must exist. `mode` is the permissions of the new file. If `durable` is False, the system
    decides when the directory's entry reaches the disk.

    Raises FileExistsError if `overwrite` is False and the name is taken, even if another program takes it meanwhile;
    OSError if the file cannot be written.
    """
    if not overwrite and file.exists():
        raise FileExistsError(f"{file} exists")
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".tradetui", dir=file.parent)
    temporary_file = Path(name)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as stream:
            os.fchmod(stream.fileno(), mode)
            _remove_abandoned(file.parent, os.fstat(stream.fileno()).st_mtime)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if overwrite or not _linked(temporary_file, file):
            os.replace(temporary_file, file)
    except BaseException:
        temporary_file.unlink(missing_ok=True)
        raise
    if durable:
        sync_directory(file.parent)


def write_text(file: Path, text: str, *, overwrite: bool = True, mode: int = _OWNER_ONLY, durable: bool = True) -> None:
    """Write a whole file in one step; arguments and errors as for `atomic_writer`."""
    with atomic_writer(file, overwrite=overwrite, mode=mode, durable=durable) as stream:
        stream.write(text)


def write_synced(file: Path, text: str, *, new: bool) -> None:
    """Write a file of mode 0600 in place and sync it; a symbolic link is not followed.

    A crash may leave the file incomplete, so no reader may take this file for a whole text. The directory must exist.
    Raises FileExistsError if `new` is True and the name is taken; OSError if the file cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | (os.O_EXCL if new else os.O_TRUNC)
    with os.fdopen(os.open(file, flags, _OWNER_ONLY), "w", encoding="utf-8") as stream:
        os.fchmod(stream.fileno(), _OWNER_ONLY)
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def sync_directory(directory: Path) -> None:
    """Sync a directory, so that its entries survive a power cut; raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_abandoned(directory: Path, now_s: float) -> None:
    """Remove the temporary files of programs that were killed; keep those that cannot be removed."""
    with suppress(OSError):
        for entry in os.scandir(directory):
            is_unfinished = _UNFINISHED.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            if is_unfinished and now_s - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED_AFTER_S:
                os.unlink(entry)


def _linked(temporary_file: Path, file: Path) -> bool:
    """Link a written file to its final name if it is free; False on a file system without links. Raises
    FileExistsError.
    """
    try:
        # Unlike a rename, a link fails if another program has just made a file of that name.
        file.hardlink_to(temporary_file)
    except FileExistsError:
        raise
    except OSError:
        return False
    temporary_file.unlink()
    return True
