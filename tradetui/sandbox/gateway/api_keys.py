"""The API keys of the embedded exchange's accounts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

READ = frozenset({"futures-read", "holdings-read", "spot-read", "broker-read"})
ALL = READ | {"futures-write", "subaccount-write", "copy-write"}
ANYWHERE = ("0.0.0.0/0", "::/0")


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
    ips: tuple[str, ...] = ANYWHERE
    """Addresses it may be used from (networks in CIDR notation); an empty tuple is a key bound to none."""

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


def made_key(
    seed: int,
    name: str,
    uid: str,
    permissions: frozenset[str],
    mode: str,
    kind: str,
    *,
    passphrase: str = "",
    ips: tuple[str, ...] = ANYWHERE,
) -> SandboxKey:
    """A key whose texts follow from seed and name, so that the same seed gives the same keys."""
    digest = hashlib.sha256(f"{seed}/{name}/{uid}".encode()).hexdigest()
    return SandboxKey(
        name,
        uid,
        f"bg_{digest[:32]}",
        digest[32:] + digest[:32],
        passphrase or f"Sandbox{digest[:8]}",
        permissions,
        mode,
        kind,
        ips,
    )
