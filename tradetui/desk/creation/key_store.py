"""Keeps keys that the exchange tells once: on disk and synced, readable by their owner alone, before anybody sees them.

Each key is a TOML file of its own, which a profile can name as the place of its credentials. A file is made, with the
passphrase, before the key is asked for, so that its name is taken; what the exchange told replaces it in one step.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import tomli_w
from pydantic import SecretStr

from tradetui.storage.atomic_file import sync_directory, write_synced
from tradetui.storage.private_directory import make_private_directory

HEADING: Final = "# An API key given out to tradetui. Keep it, and its mode 0600: the exchange tells the secret once.\n"
LONGEST_NAME: Final = 32
_SECRETS: Final = ("api_key", "secret", "passphrase")
_COMPLETE: Final = "complete"
"""The last line of a whole file: one that a crash cut short has it not."""


class KeyStoreUnusable(Exception):
    """What is given out cannot be kept; one sentence and what to do."""


class SecretBackend(Protocol):
    """Where secrets are put in the place of files: the system's keyring."""

    where: str

    def put(self, name: str, secrets: Mapping[str, str]) -> None:
        """Keep; raises KeyStoreUnusable."""
        ...

    def get(self, name: str) -> Mapping[str, str]:
        """What was kept; raises KeyStoreUnusable."""
        ...

    def drop(self, name: str) -> None:
        """Forget; raises KeyStoreUnusable."""
        ...


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """What the exchange told of a key. A secret it did not tell is None, and so is the passphrase if it is in doubt."""

    api_key: str
    secret: SecretStr | None
    passphrase: SecretStr | None
    uid: str = ""
    label: str = ""
    permissions: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key in the key store, without its secrets.

    `complete` is whether key, secret and passphrase are all there; `file` is None where nothing outlives the session;
    `unreadable` says why nothing is known of what the file holds.
    """

    name: str
    intent: str
    kind: str
    title: str
    at_ms: int
    complete: bool
    issued: bool
    uid: str = ""
    label: str = ""
    permissions: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    location: str = ""
    file: Path | None = None
    unreadable: str = ""
    has: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of an entry; one that is not there is None."""

    api_key: SecretStr | None = None
    secret: SecretStr | None = None
    passphrase: SecretStr | None = None


class KeyStore:
    """The keys given out to one account. All calls block briefly; those that write raise KeyStoreUnusable."""

    def __init__(self, folder: Path | None, secret_backend: SecretBackend | None = None) -> None:
        """Without a folder nothing outlives the session. What a crash left half done is brought to its end."""
        self._files: _Folder | _Memory = _Memory() if folder is None else _Folder(folder)
        self._secret_backend = secret_backend
        self._files.finish_what_was_begun()

    @property
    def where(self) -> str:
        """Where keys are kept, in words."""
        return self._secret_backend.where if self._secret_backend is not None else self._files.where

    def reserve(self, intent: str, kind: str, title: str, passphrase: SecretStr, at_ms: int) -> str:
        """Take a free name for a key that is about to be asked for, and keep its passphrase; returns the name."""
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", title)[:LONGEST_NAME] or "key"
        public = {"intent": intent, "kind": kind, "title": title, "at_ms": at_ms}
        number = 1
        while True:
            name = stem if number == 1 else f"{stem[: LONGEST_NAME - 3]}-{number}"
            try:
                self._files.write_new(name, _text(public, {}))
                break
            except FileExistsError:
                number += 1
        self._write(name, public, {"passphrase": passphrase.get_secret_value()})
        return name

    def give(self, name: str, issued_key: IssuedKey) -> None:
        """Keep what the exchange told of a key whose name was reserved; synced when this returns."""
        public = {key: value for key, value in self._read(name).items() if key not in (*_SECRETS, _COMPLETE)}
        public.update(told=True, uid=issued_key.uid, label=issued_key.label)
        public.update(permissions=list(issued_key.permissions), addresses=list(issued_key.addresses))
        given = {"api_key": issued_key.api_key}
        for field_name, value in (("secret", issued_key.secret), ("passphrase", issued_key.passphrase)):
            if value is not None:
                given[field_name] = value.get_secret_value()
        self._write(name, public, given)

    def discard(self, name: str) -> None:
        """Give a reserved name free again, because no key was made; one that holds a key stays."""
        values = self._read(name)
        if values.get("told"):
            return
        if self._secret_backend is not None:
            self._secret_backend.drop(_boxed(name, values))
        self._files.remove(name)

    def entries(self) -> list[StoredKey]:
        """Every key, newest first; a file that cannot be read is listed by its name alone."""
        entries = [self._entry(name) for name in self._files.names()]
        return sorted(entries, key=lambda entry: (-entry.at_ms, entry.name))

    def secrets(self, name: str) -> Secrets:
        """The secrets of an entry, for who asks to see or use them."""
        values = self._read(name)
        if values.get("kept_in") and self._secret_backend is not None:
            values = {**values, **self._secret_backend.get(_boxed(name, values))}
        return Secrets(
            *(SecretStr(str(values[secret_name])) if values.get(secret_name) else None for secret_name in _SECRETS)
        )

    def _write(self, name: str, public: Mapping[str, Any], secrets: Mapping[str, str]) -> None:
        has = {"has": [secret_name for secret_name in _SECRETS if secrets.get(secret_name)]}
        if self._secret_backend is None:
            self._files.replace(name, _text({**public, **has}, secrets))
            return
        self._secret_backend.put(_boxed(name, public), secrets)
        self._files.replace(name, _text({**public, **has, "kept_in": self._secret_backend.where}, {}))

    def _read(self, name: str) -> dict[str, Any]:
        try:
            return tomllib.loads(self._files.read(name))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            raise KeyStoreUnusable(
                f"{self._files.location(name)} cannot be read as TOML. Look at it in an editor."
            ) from None

    def _entry(self, name: str) -> StoredKey:
        location = self._files.location(name)
        try:
            values, unreadable = self._read(name), ""
        except KeyStoreUnusable as problem:
            values, unreadable = {}, str(problem)
        return StoredKey(
            name=name,
            intent=str(values.get("intent", "")),
            kind=str(values.get("kind", "")),
            title=str(values.get("title", name)),
            at_ms=_whole(values.get("at_ms")),
            complete=set(_texts(values.get("has"))) == set(_SECRETS),
            issued=values.get("told") is True,
            uid=str(values.get("uid", "")),
            label=str(values.get("label", "")),
            permissions=_texts(values.get("permissions")),
            addresses=_texts(values.get("addresses")),
            location=str(values.get("kept_in") or location),
            file=None if values.get("kept_in") else self._files.path(name),
            unreadable=unreadable,
            has=_texts(values.get("has")),
        )


def _text(public: Mapping[str, Any], secrets: Mapping[str, str]) -> str:
    text = HEADING + tomli_w.dumps({**public, **secrets, _COMPLETE: True})
    # Half a character from the exchange must not keep a secret from being written.
    return text.encode("utf-8", "replace").decode()


def _boxed(name: str, public: Mapping[str, Any]) -> str:
    """A name that no other account's key has, in a place that all of them share."""
    return f"{name} {public.get('intent', '')}"


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


@dataclass(slots=True)
class _Memory:
    """Files that end with the session."""

    texts: dict[str, str] = field(default_factory=dict, repr=False)
    where: str = "this session's memory, which ends with it"

    def finish_what_was_begun(self) -> None:
        return

    def location(self, name: str) -> str:
        return "memory"

    def path(self, name: str) -> Path | None:
        return None

    def names(self) -> list[str]:
        return list(self.texts)

    def read(self, name: str) -> str:
        return self.texts[name]

    def write_new(self, name: str, text: str) -> None:
        if name in self.texts:
            raise FileExistsError(name)
        self.texts[name] = text

    def replace(self, name: str, text: str) -> None:
        self.texts[name] = text

    def remove(self, name: str) -> None:
        self.texts.pop(name, None)


class _Folder:
    """Files of mode 0600 in a directory of mode 0700; what is written is synced, and its directory too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.where = str(folder)

    def location(self, name: str) -> str:
        return str(self.path(name))

    def path(self, name: str) -> Path:
        return self._folder / f"{name}.toml"

    def names(self) -> list[str]:
        try:
            if self._folder.exists() and not self._folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            return [file.stem for file in self._folder.glob("*.toml") if not file.name.startswith(".")]
        except OSError as problem:
            raise self._unusable(problem) from None

    def read(self, name: str) -> str:
        """The text of a file; one that others may read is refused, since it is no secret any more."""
        file = self.path(name)
        try:
            mode = stat.S_IMODE(file.stat().st_mode)
            if mode & 0o077:
                raise KeyStoreUnusable(f"{file} holds secrets and has mode {mode:04o}. Run: chmod 600 {file}")
            return file.read_text(encoding="utf-8")
        except OSError as problem:
            raise self._unusable(problem) from None

    def write_new(self, name: str, text: str) -> None:
        """Write under a name that nothing has; raises FileExistsError."""
        try:
            make_private_directory(self._folder)
        except OSError as problem:
            raise self._unusable(problem) from None
        try:
            write_synced(self.path(name), text, new=True)
            sync_directory(self._folder)
            sync_directory(self._folder.parent)
        except FileExistsError:
            raise
        except OSError as problem:
            raise self._unusable(problem) from None

    def replace(self, name: str, text: str) -> None:
        """Write beside it, sync, and put it in its place in one step."""
        beside = self._beside(name)
        try:
            write_synced(beside, text, new=False)
            os.replace(beside, self.path(name))
            sync_directory(self._folder)
        except OSError as problem:
            raise self._unusable(problem) from None

    def remove(self, name: str) -> None:
        try:
            self.path(name).unlink(missing_ok=True)
            sync_directory(self._folder)
        except OSError as problem:
            raise self._unusable(problem) from None

    def finish_what_was_begun(self) -> None:
        """Put in its place what a crash left beside it, the only copy of a secret perhaps; torn text is left alone."""
        try:
            for beside in self._folder.glob(".*.toml.new"):
                if _whole_file(beside):
                    os.replace(beside, self._folder / beside.name[1:].removesuffix(".new"))
                    sync_directory(self._folder)
        except OSError as problem:
            raise self._unusable(problem) from None

    def _beside(self, name: str) -> Path:
        return self._folder / f".{name}.toml.new"

    def _unusable(self, problem: OSError) -> KeyStoreUnusable:
        why = problem.strerror or type(problem).__name__
        return KeyStoreUnusable(f"{self._folder} cannot be used ({why}). Make it writable, or free some space.")


def _whole_file(file: Path) -> bool:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8")).get(_COMPLETE) is True
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False
