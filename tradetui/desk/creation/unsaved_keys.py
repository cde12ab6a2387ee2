"""What the exchange told once and is not on disk yet, and what of it is what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from tradetui.desk.creation.issued_keys import RequestedKey
from tradetui.desk.creation.key_store import IssuedKey, Vault
from tradetui.desk.creation.kinds import CreatedItem, CreationKind, made_row


@dataclass(slots=True)
class UnsavedKeys:
    """The keys of one reply: `told` in the order they were `asked` for, under reserved `names`, and `others`.

    `reply` is what came, with its secrets covered; `acknowledged` whether the journal has it.
    """

    kind: CreationKind
    asked: Sequence[RequestedKey]
    names: Sequence[str]
    told: Sequence[IssuedKey | None]
    others: Sequence[IssuedKey]
    reply: Any
    acknowledged: bool = False
    other_names: list[str] = field(default_factory=list)

    def keep(self, vault: Vault, intent: str, at_ms: int) -> None:
        """Put all of it on disk, or try so again; raises VaultUnusable."""
        for name, told in zip(self.names, self.told, strict=True):
            if told is not None:
                vault.give(name, told)
        for told in self.others[len(self.other_names) :]:
            name = vault.reserve(intent, self.kind, "not-asked-for", SecretStr(""), at_ms)
            vault.give(name, told)
            self.other_names.append(name)

    @property
    def missing(self) -> list[str]:
        """What was asked for and is not in the reply."""
        return [each.title for each, told in zip(self.asked, self.told, strict=True) if told is None]

    def rows(self) -> tuple[CreatedItem, ...]:
        """What became of each, once it is kept."""
        made = [
            made_row(each.title, told, name) for each, told, name in zip(self.asked, self.told, self.names, strict=True)
        ]
        unclear = "created, but it cannot be told which of those asked for it is"
        return (*made, *(CreatedItem("?", unclear, None, name) for name in self.other_names))
