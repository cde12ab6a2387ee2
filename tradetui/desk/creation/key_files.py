"""Stores the texts of issued keys: in files that only their owner can read, or in memory until the session ends."""

from __future__ import annotations

import errno
import os
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tradetui.storage.atomic_file import sync_directory, write_synced
from tradetui.storage.private_directory import make_private_directory

COMPLETE: Final = "complete"
"""The last line of a whole file: one that a crash cut short has it not."""


class KeyStoreUnusable(Exception):
    """Issued keys cannot be stored; one sentence and what to do."""


@dataclass(slots=True)
class KeyMemory:
    """Texts that end with the session."""

    texts: dict[str, str] = field(default_factory=dict, repr=False)
    where: str = "memory, until this session ends"

    def complete_interrupted_writes(self) -> None:
        """There is nothing a crash could have left."""

    def location(self, name: str) -> str:
        return "memory"

    def path(self, name: str) -> Path | None:
        return None

    def names(self) -> list[str]:
        return list(self.texts)

    def read(self, name: str) -> str:
        return self.texts[name]

    def write_new(self, name: str, text: str) -> None:
        """Keep a text under a name that nothing has; raises FileExistsError."""
        if name in self.texts:
            raise FileExistsError(name)
        self.texts[name] = text

    def replace(self, name: str, text: str) -> None:
        self.texts[name] = text

    def remove(self, name: str) -> None:
        self.texts.pop(name, None)


class KeyFolder:
    """Files of mode 0600 in a directory of mode 0700; what is written is synced, and its directory too.

    Whatever the disk refuses is raised as KeyStoreUnusable.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.where = str(folder)

    def location(self, name: str) -> str:
        return str(self.path(name))

    def path(self, name: str) -> Path:
        return self._folder / f"{name}.toml"

    def names(self) -> list[str]:
        with self._usable():
            if self._folder.exists() and not self._folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            return [file.stem for file in self._folder.glob("*.toml") if not file.name.startswith(".")]

    def read(self, name: str) -> str:
        """The text of a file; one that others may read is refused, since it is no secret any more."""
        file = self.path(name)
        with self._usable():
            mode = stat.S_IMODE(file.stat().st_mode)
            if mode & 0o077:
                raise KeyStoreUnusable(f"{file} holds secrets and has mode {mode:04o}. Run: chmod 600 {file}")
            return file.read_text(encoding="utf-8")

    def write_new(self, name: str, text: str) -> None:
        """Write under a name that nothing has; raises FileExistsError too."""
        with self._usable():
            make_private_directory(self._folder)
        with self._usable(FileExistsError):
            write_synced(self.path(name), text, new=True)
            sync_directory(self._folder)
            sync_directory(self._folder.parent)

    def replace(self, name: str, text: str) -> None:
        """Write beside it, sync, and put it in its place in one step."""
        temporary_file = self._temporary_file(name)
        with self._usable():
            write_synced(temporary_file, text, new=False)
            os.replace(temporary_file, self.path(name))
            sync_directory(self._folder)

    def remove(self, name: str) -> None:
        """Remove a file that may be there."""
        with self._usable():
            self.path(name).unlink(missing_ok=True)
            sync_directory(self._folder)

    def complete_interrupted_writes(self) -> None:
        """Complete a replacement that a crash interrupted, perhaps the only copy of a secret; leave torn text."""
        with self._usable():
            for temporary_file in self._folder.glob(".*.toml.new"):
                if _is_complete(temporary_file):
                    os.replace(temporary_file, self._folder / temporary_file.name[1:].removesuffix(".new"))
                    sync_directory(self._folder)

    def _temporary_file(self, name: str) -> Path:
        return self._folder / f".{name}.toml.new"

    @contextmanager
    def _usable(self, *passing: type[OSError]) -> Iterator[None]:
        try:
            yield
        except passing:
            raise
        except OSError as problem:
            why = problem.strerror or type(problem).__name__
            remedy = "Make it writable, or free some space."
            raise KeyStoreUnusable(f"{self._folder} cannot be used ({why}). {remedy}") from None


def _is_complete(file: Path) -> bool:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8")).get(COMPLETE) is True
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False
