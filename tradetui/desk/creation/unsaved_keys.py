"""What the exchange told once and is not on disk yet, and what of it is what was requested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from tradetui.desk.creation.issued_keys import RequestedKey
from tradetui.desk.creation.key_store import IssuedKey, KeyStore
from tradetui.desk.creation.kinds import CreatedItem, CreationKind


@dataclass(slots=True)
class UnsavedKeys:
    """The keys of one reply: `issued` in the order of `requested`, under reserved `names`, and `others`.

    `reply` is what came, with its secrets covered; `acknowledged` whether the journal has it.
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
                key_store.give(name, issued_key)
        for issued_key in self.others[len(self.other_names) :]:
            name = key_store.reserve(intent, self.kind, "not-asked-for", SecretStr(""), at_ms)
            key_store.give(name, issued_key)
            self.other_names.append(name)

    @property
    def missing(self) -> list[str]:
        """What was requested and is not in the reply."""
        return [
            requested_key.title
            for requested_key, issued_key in zip(self.requested, self.issued, strict=True)
            if issued_key is None
        ]

    def rows(self) -> tuple[CreatedItem, ...]:
        """What became of each, once it is kept."""
        made = [
            _item(requested_key.title, issued_key, name)
            for requested_key, issued_key, name in zip(self.requested, self.issued, self.names, strict=True)
        ]
        unclear = "created, but it is not clear for which of the requested names"
        return (*made, *(CreatedItem("?", unclear, None, name) for name in self.other_names))


def _item(title: str, issued_key: IssuedKey | None, name: str) -> CreatedItem:
    """What became of a key asked for, of which this was told and kept under this name."""
    if issued_key is None:
        return CreatedItem(title, "not in the reply: it may have been created", None)
    uid = f": uid {issued_key.uid}" if issued_key.uid else ""
    if not issued_key.api_key or issued_key.secret is None:
        missing = "API key" if not issued_key.api_key else "secret"
        return CreatedItem(
            title,
            f"created{uid}, but its {missing} is missing in the reply; delete this key and create another",
            False,
            name,
        )
    return CreatedItem(title, f"created{uid}, key kept as {name}", True, name)
