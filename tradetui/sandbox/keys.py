"""The API keys of the embedded exchange's accounts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

READ = frozenset({"futures-read", "holdings-read", "spot-read", "broker-read"})
ALL = READ | {"futures-write", "subaccount-write", "copy-write"}


@dataclass(frozen=True)
class SandboxKey:
    """One key: whose it is, what it may do, and the three texts a client needs."""

    name: str
    uid: str
    api_key: str
    secret: str = field(repr=False)
    passphrase: str = field(repr=False)
    permissions: frozenset[str] = ALL
    mode: str = "hedge_mode"
    kind: str = "ordinary"

    def public(self) -> dict[str, Any]:
        """The key as `tradetui sandbox` prints it."""
        return {
            "name": self.name,
            "uid": self.uid,
            "api_key": self.api_key,
            "secret": self.secret,
            "passphrase": self.passphrase,
            "permissions": sorted(self.permissions),
            "mode": self.mode,
            "kind": self.kind,
        }


def made_key(seed: int, name: str, uid: str, permissions: frozenset[str], mode: str, kind: str) -> SandboxKey:
    """A key whose texts follow from seed and name, so that the same seed gives the same keys."""
    digest = hashlib.sha256(f"{seed}/{name}/{uid}".encode()).hexdigest()
    return SandboxKey(
        name, uid, f"bg_{digest[:32]}", digest[32:] + digest[:32], f"Sandbox{digest[:8]}", permissions, mode, kind
    )
