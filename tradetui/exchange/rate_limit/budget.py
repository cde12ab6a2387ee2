"""What a budget of calls is: it hands out permits, and every call holds one.

A call arrives at the exchange between its sending and its reply. The next call on the same permit is sent a second
after that reply, so two uses of one permit are never within a second of each other *at the exchange*, whatever the
network does to either. N permits therefore never put more than N calls into any sliding second there.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tradetui.exchange.errors import RateLimited
from tradetui.exchange.rate_limit.address_quota import AddressUsage

if TYPE_CHECKING:
    from tradetui.wire.endpoints.endpoint import Endpoint

PATIENCE_S = 10.0
"""A pause longer than this is an error at once instead of a wait."""
ADDRESS_POLL_S = 1.0
"""A full minute of the address is looked at this often, since replies end calls earlier than they were counted to."""


class Priority(StrEnum):
    """Who waits for the answer: a feed, which will ask again anyway, or a person."""

    FEED = "feed"
    INTERACTIVE = "interactive"


class Usage(NamedTuple):
    """One endpoint's permits: out or cooling, allowed now, and whether a refusal holds some back."""

    used: int
    allowed: int
    halved: bool = False
    paused_s: float = 0.0


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
    """What hands out permits; in this process, in a file shared by the user's processes, or one day further away."""

    account: str
    """Whose limits these are; may be set again when the UID is learned."""
    account_kind: str | None
    """ordinary, copy_trader, broker, or `None` while unknown, which counts as a copy trader."""

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        """Wait for a permit, first come first served, persons before feeds; the waiting can be cancelled.

        `hold_s` is the longest the call may take. `RateLimited` when the exchange asked for a long pause.
        """

    def usage(self) -> Mapping[str, Usage]:
        """What every endpoint used so far looks like now, by catalogue name."""

    def address_usage(self) -> AddressUsage:
        """Calls a minute at this exchange's address, by whom the budget counts, as last seen."""

    async def aclose(self) -> None:
        """Stop; those still waiting get `NotSent`."""


def paused(endpoint: Endpoint, seconds: float) -> RateLimited:
    """Make the error of a call that would have to wait out a long pause."""
    return RateLimited(
        f"the exchange asked for a pause; {seconds:.0f} s are left",
        retry_after=seconds,
        endpoint=endpoint.name,
        remedy="Wait, and see whether another program of this account polls too fast.",
    )


class _NoPermit:
    """A permit that nothing counts."""

    __slots__ = ()

    def replied(self, remaining: int | None = None) -> None:
        pass

    def refused(self, retry_after: float | None = None) -> None:
        pass

    def unanswered(self) -> None:
        pass

    def unused(self) -> None:
        pass


class NoBudget:
    """No limit at all: for measuring against servers that have none."""

    account: str = ""
    account_kind: str | None = None
    _permit = _NoPermit()

    async def acquire(self, endpoint: Endpoint, priority: Priority, *, hold_s: float = 30.0) -> Permit:
        """Give a permit at once."""
        return self._permit

    def usage(self) -> Mapping[str, Usage]:
        return {}

    def address_usage(self) -> AddressUsage:
        return AddressUsage()

    async def aclose(self) -> None:
        """Nothing to stop."""
