"""How many permits an endpoint has: its share of the limit, paused and halved for a while after HTTP 429."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint

WINDOW_S = 1.0
"""The exchange counts calls in any second."""
MARGIN_S = 0.002
"""Added to every wait, for timers and clocks that round."""
LATE_S = 1.0
"""A call given up may still arrive; this long after giving up it is waited for."""
RESTORE_S = 1.0
"""After a refusal one permit comes back this often, and up to half as long again."""

COOLING_S = WINDOW_S + MARGIN_S
LOST_S = LATE_S + WINDOW_S + MARGIN_S


def permits(endpoint: Endpoint, share: float, account_kind: str | None) -> int:
    """This program's permits: its share of the limit, at least one.

    Copy traders may have less than others, and so has an account whose kind is unknown.
    """
    limit = endpoint.limit.per_second
    if account_kind in (None, "copy_trader"):
        limit = endpoint.limit.copy_trader or limit
    return max(1, int(limit * share + 1e-9))  # 0.29 of 100 is a little less than 29 in floating point


def reserved_for_interactive(allowed: int) -> int:
    """How many of the allowed permits feeds leave to reads a person waits for; pending orders take two calls."""
    return min(2, allowed // 2)


@dataclass(slots=True)
class EndpointQuota:
    """One endpoint's permits; all times are monotonic seconds."""

    limit: int
    withheld: int = 0
    paused_until: float = 0.0
    halved_at: float = -inf
    restore_at: float = inf
    random: Random = field(default_factory=Random, repr=False, compare=False)

    def allowed(self, now: float) -> int:
        """Permits that may be out or cooling at `now`, at least one."""
        while self.withheld and now >= self.restore_at:
            self.withheld -= 1
            self.restore_at = self.restore_at + self._restore_step() if self.withheld else inf
        return max(1, self.limit - self.withheld)

    def refuse(self, now: float, granted_at: float, retry_after: float | None) -> None:
        """Take a 429: pause (`retry_after` seconds if given) and halve, once for all calls of one burst."""
        pause = max(retry_after or 0.0, WINDOW_S) + self.random.uniform(0.0, 0.5)
        self.paused_until = max(self.paused_until, now + pause)
        self.halve(now, granted_at)

    def halve(self, now: float, granted_at: float) -> None:
        """Halve the permits at once, unless the call was already out when they were last halved."""
        if granted_at <= self.halved_at:
            return
        self.withheld = self.limit - max(1, self.allowed(now) // 2)
        self.halved_at = now
        self.restore_at = max(now, self.paused_until) + self._restore_step() if self.withheld > 0 else inf

    def next_change(self, now: float) -> float:
        """When waiting will next see another answer without anybody returning a permit; `inf` if never."""
        return min((moment for moment in (self.paused_until, self.restore_at) if moment > now), default=inf)

    def _restore_step(self) -> float:
        return RESTORE_S * (1.0 + self.random.uniform(0.0, 0.5))
