"""How often the exchange may be called: by endpoint in any second, and by network address in any minute."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

ADDRESS_CALLS_PER_MINUTE: Final = 6_000
"""Calls of one network address in any minute, whoever makes them and whatever they ask."""
ADDRESS_LOCKOUT_S: Final = 300
"""Seconds for which an address that made more is refused."""


class RateLimit(NamedTuple):
    """Calls a second, counted per account (`uid`) or per address (`ip`)."""

    per_second: int
    copy_trader: int | None = None
    scope: Literal["uid", "ip"] = "uid"
