"""The keys issued to the session's account: reserved by name, matched with the reply, and saved before they are shown.

The exchange sends a key only once, so that whatever a reply holds is saved, asked for or not, readable or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import SecretStr

from tradetui.desk.creation.key_store import IssuedKey, KeyStore, KeyStoreUnusable, SecretBackend, Secrets, StoredKey
from tradetui.desk.creation.kinds import COPY_TITLE, CreatedItem, CreationKind, RequestedKey
from tradetui.exchange.clock import Clock
from tradetui.storage.disk_thread import Disk
from tradetui.wire.endpoints.reply import UndecodableRow
from tradetui.wire.models.subaccounts import CopyApiKey, VirtualSubaccount

_KEY_FIELDS = ("apikey", "subAccountApiKey")
_ENDS = 4

MakeProfile: TypeAlias = Callable[[str, StoredKey, Secrets, str], str]
"""Writes a profile of this name for a key of this account's UID, and returns its file; raises ProfileNotWritten."""


class ProfileNotWritten(Exception):
    """A profile that could not be made of a key; one sentence and what to do."""


class AccountKeys:
    """The known keys, and their secrets on request.

    Every coroutine raises KeyStoreUnusable while the account is not known, and where the disk fails.
    """

    def __init__(
        self, disk: Disk, clock: Clock, secret_backend: SecretBackend | None, make_profile: MakeProfile | None
    ) -> None:
        """`make_profile` writes a profile of a key; it is None where there is no place for profiles."""
        self.trouble = "the account is not identified yet"
        """Why no key can be kept, as long as `ready` is False."""
        self.uid = ""
        """The account's UID; empty while it is not known."""
        self._disk = disk
        self._clock = clock
        self._secret_backend = secret_backend
        self._make_profile = make_profile
        self._key_store: KeyStore | None = None

    async def open(self, folder: Path | None) -> None:
        """Open the key store; where it cannot be used, `trouble` says why."""
        try:
            self._key_store = await self._disk.run(KeyStore, folder, self._secret_backend)
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
        """Take a name for each key that is about to be asked for, and keep its passphrase; the names."""
        names: list[str] = []
        try:
            for key in requested_keys:
                now_ms = self._clock.wall_ms()
                reserve = self._opened().reserve
                names.append(await self._disk.run(reserve, intent, kind, key.title, key.passphrase, now_ms))
        except KeyStoreUnusable:
            await self.discard(names)
            raise
        return names

    async def discard(self, names: Sequence[str]) -> None:
        """Give reserved names free again, as far as the disk takes it."""
        if self._key_store is None:
            return
        for name in names:
            # A passphrase without a key does no harm where it cannot be removed.
            with suppress(KeyStoreUnusable):
                await self._disk.run(self._key_store.discard, name)

    async def save(self, unsaved: UnsavedKeys, intent: str) -> None:
        """Save issued keys, which the exchange sends only once, to the disk; synced when this returns."""
        await self._disk.run(unsaved.save, self._opened(), intent, self._clock.wall_ms())

    @property
    def makes_profiles(self) -> bool:
        return self._make_profile is not None

    async def make_profile(self, name: str, key: StoredKey) -> str:
        """Make a profile of a key and return its file; raises ProfileNotWritten too."""
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

    `reply` is the received reply, with its secrets covered; `acknowledged` whether the journal has it.
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
        """Put all of it on disk, or try so again; raises KeyStoreUnusable."""
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
    """The result of a requested key, by the issued key saved under its name."""
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
    """The key issued for each requested one, in that order, and the keys that belong to none of them for certain.

    The exchange gives names back changed (masked, as an e-mail address): a row belongs to the name it begins with,
    else to the note it carries, else, where nothing is missing, to its place. A row that comes twice is one.
    """
    rows = [row for at, row in enumerate(rows) if row not in rows[:at]]
    issued_keys = [_issued_key(row) for row in rows] + [_saved(row.received) for row in undecodable_rows]
    names = [_name(row) for row in rows] + [_undecodable_name(row.received) for row in undecodable_rows]
    labels = [requested_key.label for requested_key in requested_keys]
    free_rows = set(range(len(issued_keys)))
    row_of: dict[int, int] = {}
    """The index of a row by that of the key requested."""

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
        return IssuedKey(row.apikey, row.secret, None, permissions=row.permissions)
    assert isinstance(row, VirtualSubaccount)
    return IssuedKey(
        row.sub_account_api_key or "",
        row.secret_key or _secret_in(row.received),
        None,
        row.sub_account_uid or "",
        row.label or "",
        row.perm_list,
        row.ip_list,
    )


def _saved(received: object) -> IssuedKey:
    """The saved part of a row that could not be read: the exchange sends the secret in it only once."""
    row: Mapping[str, object] = received if isinstance(received, Mapping) else {}
    return IssuedKey(
        str(row.get("subAccountApiKey") or row.get("apikey") or ""),
        _secret_in(row),
        None,
        str(row.get("subAccountUid") or ""),
        str(row.get("label") or ""),
    )


def masked_secrets(received: object) -> dict[str, Any]:
    """A row as the journal may hold it: enough to find the key at the exchange and delete it, too little to use it."""
    row: Mapping[str, Any] = received if isinstance(received, Mapping) else {}
    return {name: _masked(name, value) for name, value in row.items()}


def _masked(name: str, value: Any) -> Any:
    """Nothing of a secret, and the two ends of a key; nothing of one so short that they would be most of it."""
    if isinstance(value, SecretStr):
        return "***"
    if name not in _KEY_FIELDS or not value:
        return value
    key = str(value)
    return f"{key[:_ENDS]}…{key[-_ENDS:]}" if len(key) >= 4 * _ENDS else "***"


def _secret_in(row: Mapping[str, object]) -> SecretStr | None:
    """The secret as it came, whatever its type."""
    secret = row.get("secretKey") or row.get("secret")
    return secret if isinstance(secret, SecretStr) and secret.get_secret_value() not in ("", "null") else None


def _name(row: object) -> str:
    return (row.sub_account_name or "").casefold() if isinstance(row, VirtualSubaccount) else COPY_TITLE


def _undecodable_name(received: object) -> str:
    row: Mapping[str, object] = received if isinstance(received, Mapping) else {}
    return str(row.get("subAccountName") or "").casefold()
