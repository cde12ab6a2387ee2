"""Keeps keys that the exchange sends only once: on disk, synced and readable by the owner alone, before they are shown.

Each key is a TOML file of its own, which a profile can name as the source of its credentials. The file is made, with
the passphrase, before the key is requested, so that its name is taken; the issued key replaces it in one step.

Keys are reserved by name, matched with the reply, and saved before they are shown. The exchange sends a key only once,
so every key in a reply is saved, even if it was not requested or cannot be read.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import tomli_w
from pydantic import SecretStr

from tradetui.desk.creation.kinds import COPY_TITLE, CreatedItem, CreationKind, RequestedKey
from tradetui.exchange.clock import Clock
from tradetui.storage.atomic_file import sync_directory, write_synced
from tradetui.storage.disk_thread import Disk
from tradetui.storage.private_directory import make_private_directory
from tradetui.storage.toml_file import NotToml, parse_toml, read_toml
from tradetui.wire.endpoints.reply import UndecodableRow
from tradetui.wire.models.subaccounts import CopyApiKey, VirtualSubaccount

HEADING: Final = "# An API key that tradetui created. Keep it, and its mode 0600: the exchange shows the secret once.\n"
LONGEST_NAME: Final = 32
_TEMPORARY: Final = "temporary files until this session ends"
_SECRETS: Final = ("api_key", "secret", "passphrase")
COMPLETE: Final = "complete"
"""The last line of a complete file; a file that a crash cut short lacks it."""


class KeyStoreUnusable(Exception):
    """Issued keys cannot be stored; the message is one sentence and the remedy."""


class SecretBackend(Protocol):
    """A store of secrets that replaces files: the system's keyring."""

    where: str

    def put(self, name: str, secrets: Mapping[str, str]) -> None:
        """Store secrets; raises KeyStoreUnusable."""

    def get(self, name: str) -> Mapping[str, str]:
        """Return the stored secrets; raises KeyStoreUnusable."""

    def drop(self, name: str) -> None:
        """Delete secrets; raises KeyStoreUnusable."""


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key as issued. A secret that the exchange did not send is None, and so is an uncertain passphrase."""

    api_key: str
    secret: SecretStr | None
    uid: str = ""
    label: str = ""
    permissions: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    passphrase: SecretStr | None = None


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key in the key store, without its secrets.

    `complete` means that key, secret and passphrase are all there. `file` is None if the key ends with the session;
    `unreadable` is why the file could not be read.
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
    """The secrets of an entry; a missing one is None."""

    api_key: SecretStr | None = None
    secret: SecretStr | None = None
    passphrase: SecretStr | None = None


class KeyStore:
    """The keys issued to one account, in files of mode 0600 in a directory of mode 0700, all synced.

    All calls block briefly, and raise KeyStoreUnusable if the disk or the other store of secrets fails.
    """

    def __init__(
        self, folder: Path, secret_backend: SecretBackend | None = None, *, is_temporary: bool = False
    ) -> None:
        """Complete replacements that a crash interrupted, perhaps the only copy of a secret; leave incomplete text.

        `is_temporary` is whether the folder ends with the session.
        """
        self._folder = folder
        self._is_temporary = is_temporary
        self._secret_backend = secret_backend
        with self._usable():
            for temporary_file in folder.glob(".*.toml.new"):
                if _is_complete(temporary_file):
                    os.replace(temporary_file, folder / temporary_file.name[1:].removesuffix(".new"))
                    sync_directory(folder)

    @property
    def where(self) -> str:
        if self._secret_backend is not None:
            return self._secret_backend.where
        return _TEMPORARY if self._is_temporary else str(self._folder)

    def reserve(self, intent: str, kind: str, title: str, passphrase: SecretStr, at_ms: int) -> str:
        """Take a free name for a key that is about to be requested, and store its passphrase; return the name."""
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", title)[:LONGEST_NAME] or "key"
        public = {"intent": intent, "kind": kind, "title": title, "at_ms": at_ms}
        with self._usable():
            make_private_directory(self._folder)
            for number in count(1):
                name = stem if number == 1 else f"{stem[: LONGEST_NAME - 3]}-{number}"
                with suppress(FileExistsError):
                    write_synced(self._file(name), _text(public, {}), new=True)
                    break
            sync_directory(self._folder)
            sync_directory(self._folder.parent)
        self._write(name, public, {"passphrase": passphrase.get_secret_value()})
        return name

    def reserve_all(self, intent: str, kind: str, requested_keys: Sequence[RequestedKey], at_ms: int) -> list[str]:
        """Take a name for each key that is about to be requested, or for none; return the names."""
        names: list[str] = []
        try:
            for key in requested_keys:
                names.append(self.reserve(intent, kind, key.title, key.passphrase, at_ms))
        except KeyStoreUnusable:
            self.discard(names)
            raise
        return names

    def store(self, name: str, issued_key: IssuedKey) -> None:
        """Store an issued key under its reserved name, synced on return."""
        public = {key: value for key, value in self._read(name).items() if key not in (*_SECRETS, COMPLETE)}
        public.update(told=True, uid=issued_key.uid, label=issued_key.label)
        public.update(permissions=list(issued_key.permissions), addresses=list(issued_key.addresses))
        secrets = {"api_key": issued_key.api_key}
        for field_name, value in (("secret", issued_key.secret), ("passphrase", issued_key.passphrase)):
            if value is not None:
                secrets[field_name] = value.get_secret_value()
        self._write(name, public, secrets)

    def discard(self, names: Sequence[str]) -> None:
        """Release reserved names because no key was made, as far as the disk allows; an entry with a key stays."""
        for name in names:
            with suppress(KeyStoreUnusable):  # a passphrase without a key does no harm
                values = self._read(name)
                if values.get("told"):
                    continue
                if self._secret_backend is not None:
                    self._secret_backend.drop(_boxed(name, values))
                with self._usable():
                    self._file(name).unlink(missing_ok=True)
                    sync_directory(self._folder)

    def entries(self) -> list[StoredKey]:
        """Return every key, newest first; an unreadable file is listed by its name alone."""
        with self._usable():
            if self._folder.exists() and not self._folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            files = [file for file in self._folder.glob("*.toml") if not file.name.startswith(".")]
        entries = [self._entry(file.stem) for file in files]
        return sorted(entries, key=lambda entry: (-entry.at_ms, entry.name))

    def secrets(self, name: str) -> Secrets:
        """Return the secrets of a key; raises KeyStoreUnusable if they are stored elsewhere and not available."""
        values = self._read(name)
        if kept_in := values.get("kept_in"):
            if self._secret_backend is None:
                raise KeyStoreUnusable(f"The secrets of {name} are in {kept_in}. Open a profile that uses it.")
            values |= self._secret_backend.get(_boxed(name, values))
            if not all(values.get(secret_name) for secret_name in _texts(values.get("has"))):
                raise KeyStoreUnusable(f"{kept_in} does not have the secrets of {name}. Look for them there.")
        return Secrets(
            *(SecretStr(str(values[secret_name])) if values.get(secret_name) else None for secret_name in _SECRETS)
        )

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.toml"

    def _temporary_file(self, name: str) -> Path:
        return self._folder / f".{name}.toml.new"

    def _write(self, name: str, public: Mapping[str, Any], secrets: Mapping[str, str]) -> None:
        """Write a temporary file beside a reserved one, sync it, and replace the reserved one in one step."""
        public = {**public, "has": [secret_name for secret_name in _SECRETS if secrets.get(secret_name)]}
        if self._secret_backend is not None:
            self._secret_backend.put(_boxed(name, public), secrets)
            public, secrets = {**public, "kept_in": self._secret_backend.where}, {}
        temporary_file = self._temporary_file(name)
        with self._usable():
            write_synced(temporary_file, _text(public, secrets), new=False)
            os.replace(temporary_file, self._file(name))
            sync_directory(self._folder)

    def _read(self, name: str) -> dict[str, Any]:
        """Return what a file holds; one that others may read is refused, since it is no longer secret."""
        file = self._file(name)
        try:
            with self._usable():
                mode = stat.S_IMODE(file.stat().st_mode)
                if mode & 0o077:
                    raise KeyStoreUnusable(f"{file} holds secrets and has mode {mode:04o}. Run: chmod 600 {file}")
                return parse_toml(file.read_text(encoding="utf-8"))
        except (NotToml, UnicodeDecodeError):
            raise KeyStoreUnusable(f"{file} cannot be read as TOML. Look at it in an editor.") from None

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            why = problem.strerror or type(problem).__name__
            remedy = "Make it writable, or free some space."
            raise KeyStoreUnusable(f"{self._folder} cannot be used ({why}). {remedy}") from None

    def _entry(self, name: str) -> StoredKey:
        file = None if self._is_temporary else self._file(name)
        try:
            values, unreadable = self._read(name), ""
        except KeyStoreUnusable as problem:
            values, unreadable = {}, str(problem)
        return StoredKey(
            name=name,
            intent=str(values.get("intent", "")),
            kind=str(values.get("kind", "")),
            title=str(values.get("title", name)),
            at_ms=at_ms if isinstance(at_ms := values.get("at_ms"), int) else 0,
            complete=set(_texts(values.get("has"))) == set(_SECRETS),
            issued=values.get("told") is True,
            uid=str(values.get("uid", "")),
            label=str(values.get("label", "")),
            permissions=_texts(values.get("permissions")),
            addresses=_texts(values.get("addresses")),
            location=str(values.get("kept_in") or file or _TEMPORARY),
            file=None if values.get("kept_in") else file,
            unreadable=unreadable,
            has=_texts(values.get("has")),
        )


def _text(public: Mapping[str, Any], secrets: Mapping[str, str]) -> str:
    text = HEADING + tomli_w.dumps({**public, **secrets, COMPLETE: True})
    # Half a surrogate pair from the exchange must not prevent the write.
    return text.encode("utf-8", "replace").decode()


def _boxed(name: str, public: Mapping[str, Any]) -> str:
    """Return a name that is unique in a store that all accounts share."""
    return f"{name} {public.get('intent', '')}"


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _is_complete(file: Path) -> bool:
    try:
        return read_toml(file).get(COMPLETE) is True
    except NotToml:
        return False


_KEY_FIELDS = ("apikey", "subAccountApiKey")
_ENDS = 4

MakeProfile: TypeAlias = Callable[[str, StoredKey, Secrets, str], str]
"""Writes a profile of this name for a key of this account's UID, and returns its file; raises ProfileNotWritten."""


class ProfileNotWritten(Exception):
    """A profile could not be made from a key; the message is one sentence and the remedy."""


class AccountKeys:
    """The known keys, and their secrets on request.

    Every coroutine raises KeyStoreUnusable while the account is unknown, and if the disk fails.
    """

    def __init__(
        self, disk: Disk, clock: Clock, secret_backend: SecretBackend | None, make_profile: MakeProfile | None
    ) -> None:
        """`make_profile` writes a profile for a key; None if there is no directory for profiles."""
        self.trouble = "the account is not identified yet"
        """Why no key can be stored while `ready` is False."""
        self.uid = ""
        """The account's UID; empty while unknown."""
        self._disk = disk
        self._clock = clock
        self._secret_backend = secret_backend
        self._make_profile = make_profile
        self._key_store: KeyStore | None = None

    async def open(self, folder: Path, *, is_temporary: bool = False) -> None:
        """Open the key store; if it cannot be used, `trouble` says why."""
        try:
            self._key_store = await self._disk.run(
                partial(KeyStore, folder, self._secret_backend, is_temporary=is_temporary)
            )
        except KeyStoreUnusable as problem:
            self.trouble = str(problem)

    @property
    def ready(self) -> bool:
        return self._key_store is not None

    @property
    def where(self) -> str:
        return self._key_store.where if self._key_store is not None else "no directory yet"

    async def entries(self) -> list[StoredKey]:
        """Every key, newest first."""
        return await self._disk.run(self._opened().entries)

    async def secrets(self, name: str) -> Secrets:
        return await self._disk.run(self._opened().secrets, name)

    async def reserve(self, intent: str, kind: str, requested_keys: Sequence[RequestedKey]) -> list[str]:
        """Take a name for each key that is about to be requested, and store its passphrase; return the names."""
        reserve_all, now_ms = self._opened().reserve_all, self._clock.wall_ms()
        return await self._disk.run(reserve_all, intent, kind, requested_keys, now_ms)

    async def discard(self, names: Sequence[str]) -> None:
        """Release reserved names, as far as the disk allows."""
        if self._key_store is not None:
            await self._disk.run(self._key_store.discard, names)

    async def save(self, unsaved: UnsavedKeys, intent: str) -> None:
        """Save issued keys, which the exchange sends only once, to disk; synced on return."""
        await self._disk.run(unsaved.save, self._opened(), intent, self._clock.wall_ms())

    @property
    def makes_profiles(self) -> bool:
        return self._make_profile is not None

    async def make_profile(self, name: str, key: StoredKey) -> str:
        """Make a profile from a key and return its file; raises ProfileNotWritten too."""
        if self._make_profile is None:
            raise ProfileNotWritten("This session has no directory for profiles.")
        if not key.complete:
            raise ProfileNotWritten("Key, secret and passphrase are needed, and one of them is missing.")
        secrets = await self.secrets(key.name)
        return await self._disk.run(self._make_profile, name, key, secrets, self.uid)

    def _opened(self) -> KeyStore:
        if self._key_store is None:
            raise KeyStoreUnusable(self.trouble)
        return self._key_store


@dataclass(slots=True)
class UnsavedKeys:
    """The keys of one reply: `issued` in the order of `requested`, under reserved `names`, and `others`.

    `reply` is the reply with its secrets masked; `acknowledged` means that the journal has it.
    """

    kind: CreationKind
    requested: Sequence[RequestedKey]
    names: Sequence[str]
    issued: Sequence[IssuedKey | None]
    others: Sequence[IssuedKey]
    reply: Any
    acknowledged: bool = False
    other_names: list[str] = field(default_factory=list)

    def save(self, key_store: KeyStore, intent: str, at_ms: int) -> None:
        """Save all keys to disk, again if it failed before; raises KeyStoreUnusable."""
        for name, issued_key in zip(self.names, self.issued, strict=True):
            if issued_key is not None:
                key_store.store(name, issued_key)
        for issued_key in self.others[len(self.other_names) :]:
            name = key_store.reserve(intent, self.kind, "not-asked-for", SecretStr(""), at_ms)
            key_store.store(name, issued_key)
            self.other_names.append(name)

    @property
    def missing(self) -> list[str]:
        return [key.title for key, issued_key in zip(self.requested, self.issued, strict=True) if issued_key is None]

    def rows(self) -> tuple[CreatedItem, ...]:
        requested = zip(self.requested, self.issued, self.names, strict=True)
        unclear = "created, but it is not clear for which of the requested names"
        return (
            *(_item(key.title, issued_key, name) for key, issued_key, name in requested),
            *(CreatedItem("?", unclear, None, name) for name in self.other_names),
        )


def _item(title: str, issued_key: IssuedKey | None, name: str) -> CreatedItem:
    """Return the result of a requested key, from the issued key saved under its name."""
    if issued_key is None:
        return CreatedItem(title, "not in the reply: it may have been created", None)
    uid = f": UID {issued_key.uid}" if issued_key.uid else ""
    if not issued_key.api_key or issued_key.secret is None:
        missing = "API key" if not issued_key.api_key else "secret"
        sentence = f"created{uid}, but its {missing} is missing in the reply; delete this key and create another"
        return CreatedItem(title, sentence, False, name)
    return CreatedItem(title, f"created{uid}, key kept as {name}", True, name)


def match_issued_keys(
    requested_keys: Sequence[RequestedKey], rows: Sequence[object], undecodable_rows: Sequence[UndecodableRow]
) -> tuple[list[IssuedKey | None], list[IssuedKey]]:
    """Match issued keys with the requested ones; return one for each, in order, and the unmatched rest.

    The exchange returns names changed (masked, like an e-mail address). A row belongs to the requested name that its
    name begins with, else to the note it carries, else to its position if no row is missing. A repeated row counts
    once.
    """
    rows = [row for at, row in enumerate(rows) if row not in rows[:at]]
    issued_keys = [_issued_key(row) for row in rows] + [_saved(row.received) for row in undecodable_rows]
    names = [_name(row) for row in rows] + [_undecodable_name(row.received) for row in undecodable_rows]
    labels = [requested_key.label for requested_key in requested_keys]
    free_rows = set(range(len(issued_keys)))
    row_of: dict[int, int] = {}
    """The index of a row by the index of its requested key."""

    def take_only(key_index: int, row_indexes: list[int]) -> None:
        if len(row_indexes) == 1:
            row_of[key_index] = row_indexes[0]
            free_rows.discard(row_indexes[0])

    for key_index, requested_key in enumerate(requested_keys):
        title = requested_key.title.casefold()
        take_only(key_index, [row_index for row_index in free_rows if names[row_index].startswith(title)])
    for key_index, label in enumerate(labels):
        if key_index not in row_of and label and labels.count(label) == 1:
            take_only(key_index, [row_index for row_index in free_rows if issued_keys[row_index].label == label])
    without_row = [key_index for key_index in range(len(requested_keys)) if key_index not in row_of]
    if len(issued_keys) == len(requested_keys) and len(without_row) == len(free_rows):
        row_of.update(zip(without_row, sorted(free_rows), strict=True))
        free_rows.clear()
    ours = [
        replace(issued_keys[row_of[key_index]], passphrase=requested_key.passphrase) if key_index in row_of else None
        for key_index, requested_key in enumerate(requested_keys)
    ]
    return ours, [issued_keys[row_index] for row_index in sorted(free_rows)]


def _issued_key(row: object) -> IssuedKey:
    if isinstance(row, CopyApiKey):
        return IssuedKey(row.apikey, row.secret, permissions=row.permissions)
    assert isinstance(row, VirtualSubaccount)
    return IssuedKey(
        row.sub_account_api_key or "",
        row.secret_key or _secret_in(row.received),
        row.sub_account_uid or "",
        row.label or "",
        row.perm_list,
        row.ip_list,
    )


def _saved(received: object) -> IssuedKey:
    """Return the usable part of an unreadable row: the exchange sends the secret in it only once."""
    row: Mapping[str, object] = received if isinstance(received, Mapping) else {}
    return IssuedKey(
        str(row.get("subAccountApiKey") or row.get("apikey") or ""),
        _secret_in(row),
        str(row.get("subAccountUid") or ""),
        str(row.get("label") or ""),
    )


def masked_secrets(received: object) -> dict[str, Any]:
    """Return a row for the journal: enough to find and delete the key at the exchange, too little to use it."""
    row: Mapping[str, Any] = received if isinstance(received, Mapping) else {}
    return {name: _masked(name, value) for name, value in row.items()}


def _masked(name: str, value: Any) -> Any:
    """Mask a secret, and a key except for its two ends; a short key is masked whole."""
    if isinstance(value, SecretStr):
        return "***"
    if name not in _KEY_FIELDS or not value:
        return value
    key = str(value)
    return f"{key[:_ENDS]}…{key[-_ENDS:]}" if len(key) >= 4 * _ENDS else "***"


def _secret_in(row: Mapping[str, object]) -> SecretStr | None:
    """Return the secret of a row; None if it is missing or empty."""
    secret = row.get("secretKey") or row.get("secret")
    return secret if isinstance(secret, SecretStr) and secret.get_secret_value() not in ("", "null") else None


def _name(row: object) -> str:
    return (row.sub_account_name or "").casefold() if isinstance(row, VirtualSubaccount) else COPY_TITLE


def _undecodable_name(received: object) -> str:
    row: Mapping[str, object] = received if isinstance(received, Mapping) else {}
    return str(row.get("subAccountName") or "").casefold()
