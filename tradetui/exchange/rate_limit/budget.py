"""What a budget of calls is, for whoever calls and for each way of keeping one: every call holds one of its permits.

A call arrives at the exchange between its sending and its reply. The next call on the same permit is sent a second
after that reply, so two uses of one permit are never within a second of each other *at the exchange*, whatever the
network does to either. N permits therefore never put more than N calls into any sliding second there.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tradetui.exchange.rate_limit.address_quota import AddressUsage

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint


class Priority(StrEnum):
    """Who waits for the answer: a feed, which will ask again anyway, or a person."""

    FEED = "feed"
    INTERACTIVE = "interactive"


class Usage(NamedTuple):
    """One endpoint's permits now."""

    used: int
    """Those that are out or cooling."""
    allowed: int
    halved: bool = False
    """Whether some are held back, since the exchange refused a call as one too many."""
    paused_s: float = 0.0
    """For how long none is handed out."""


class Permit(Protocol):
    """The right to one call. Exactly one of its methods is to be called; later calls change nothing."""

    def replied(self, remaining: int | None = None) -> None:
        """A reply came; `remaining` is what the exchange says is left of this second."""

    def refused(self, retry_after: float | None = None) -> None:
        """The exchange answered 429, perhaps naming seconds to wait."""

    def unanswered(self) -> None:
        """The call was given up; it may still arrive."""

    def unused(self) -> None:
        """Nothing was sent."""


class Budget(Protocol):
    """What hands out permits: `LocalBudget` within this process, `SharedBudget` by a file of the user's processes."""

    account: str
    """Whose limits these are; may be set again when the UID is learned."""
    account_kind: str | None
    """ordinary, copy_trader, broker, or `None` while unknown, which counts as a copy trader."""

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        """Wait for a permit, first come first served, persons before feeds; the waiting can be cancelled.

        `hold_s` is the longest the call may take. Raises RateLimited for a long pause, or for a person where the
        address is full, and NotSent for those who wait when it is closed.
        """

    def usage(self) -> Mapping[str, Usage]:
        """The permits of every endpoint that was called, by its name in the catalogue."""

    def address_usage(self) -> AddressUsage:
        """Calls of the last minute at this exchange's address, as of the newest permit."""

    async def aclose(self) -> None:
        """Stop; those still waiting get `NotSent`."""


class _NoPermit:
    def replied(self, remaining: int | None = None) -> None: ...
    def refused(self, retry_after: float | None = None) -> None: ...
    def unanswered(self) -> None: ...
    def unused(self) -> None: ...


class NoBudget:
    """No limit at all: for measuring against servers that have none."""

    account: str = ""
    account_kind: str | None = None
    _permit = _NoPermit()

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        return self._permit

    def usage(self) -> Mapping[str, Usage]:
        return {}

    def address_usage(self) -> AddressUsage:
        return AddressUsage()

    async def aclose(self) -> None: ...
