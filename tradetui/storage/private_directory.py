"""Makes directories that only their owner can read, whatever the umask, and closes existing ones to others."""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

_OWNER_ONLY: Final = 0o700
_OTHERS: Final = 0o077


def make_private_directory(directory: Path) -> None:
    """Make a directory and its missing parents with mode 0700; existing ones stay unchanged.

    Raises OSError if one of them cannot be made or is not a directory.
    """
    for path in (*reversed(directory.parents), directory):
        if path.is_dir():
            continue
        try:
            path.mkdir(mode=_OWNER_ONLY)
        except FileExistsError:
            if not path.is_dir():
                raise
        else:
            path.chmod(_OWNER_ONLY)  # a strict umask takes the owner's own permissions too


class PermissionChanges(NamedTuple):
    """Files that were open to others: `narrowed` with their former mode, and `left_open` unchanged."""

    narrowed: tuple[tuple[Path, int], ...] = ()
    left_open: tuple[Path, ...] = ()


def close_to_others(
    directory: Path, own_names: Collection[str], *, is_ours: bool, checked_by_reader: Collection[str] = ()
) -> PermissionChanges:
    """Remove the permissions of others from a directory and from its entries named in `own_names`.

    If the directory holds any other entry, as a home directory does, its own mode stays unless `is_ours` is True. Links
    below it are never followed. A missing directory is no error. Files in directories named in `checked_by_reader` stay
    unchanged: their reader refuses files that others may have read.
    """
    try:
        if not directory.is_dir():
            return PermissionChanges()
        entries = sorted(directory.iterdir())
        own = [entry for entry in entries if _is_own(entry.name, own_names)]
        below = [path for entry in own for path in _tree(entry, checked_by_reader)]
        holds_others = len(own) < len(entries)
    except OSError:  # this user cannot read it either
        below, holds_others = [], True
    left_alone = directory if holds_others and not is_ours else None
    narrowed: list[tuple[Path, int]] = []
    left_open: list[Path] = []
    for path in (directory, *below):
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & _OTHERS and path == left_alone:
                left_open.append(path)
            elif mode & _OTHERS:
                path.chmod(mode & ~_OTHERS)
                narrowed.append((path, mode))
        except FileNotFoundError:  # another process has just replaced it
            continue
        except OSError:
            left_open.append(path)
    return PermissionChanges(tuple(narrowed), tuple(left_open))


def _is_own(name: str, own_names: Collection[str]) -> bool:
    # A file that is being replaced has a temporary file beside it, such as `.state.toml.abc123`.
    return name in own_names or any(name.startswith(f".{own}.") for own in own_names)


def _tree(top: Path, checked_by_reader: Collection[str]) -> Iterator[Path]:
    if top.is_symlink():
        return
    yield top
    if top.is_dir() and top.name not in checked_by_reader:
        with suppress(OSError):  # gone, or closed to this user, as after `sudo`: its own permissions decide
            for entry in sorted(top.iterdir()):
                yield from _tree(entry, checked_by_reader)
