"""The errors between this program and the exchange: a small tree, each error one sentence and its remedy."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Unpack

from tradetui.wire.errors import ExchangeError as ExchangeError
from tradetui.wire.errors import InvalidRequest as InvalidRequest

if TYPE_CHECKING:
    from tradetui.wire.endpoints.reply import UndecodableRow
    from tradetui.wire.errors import ErrorFields


class AuthenticationFailed(ExchangeError):
    """The key, its secret, its passphrase, the signature or the time stamp was refused."""

    reason = "The exchange does not accept the key"


class PermissionRefused(ExchangeError):
    reason = "The key or the account may not do this"


class UnifiedAccount(ExchangeError):
    """The account is in unified mode (40085, 40731), so the exchange refuses every call of the classic interface."""

    reason = "The account is in unified mode, and is not read as one"


class AccountMoving(UnifiedAccount):
    """The exchange is moving the account from one mode to the other, or names a mode that is not known."""

    reason = "The account is not in unified mode yet, and no longer in classic mode"


class ClassicAccount(ExchangeError):
    """The account is in classic mode (40084, 25245), so the exchange refuses every call of interface v3."""

    reason = "The account is in classic mode, and is read as a unified one"


class RateLimited(ExchangeError):
    """Too many calls; `retry_after` is in seconds, None if not known."""

    reason = "Too many calls for now"

    def __init__(self, message: str = "", *, retry_after: float | None = None, **fields: Unpack[ErrorFields]) -> None:
        super().__init__(message, **fields)
        self.retry_after = retry_after


class Rejected(ExchangeError):
    """The exchange refused the request itself; sending the same again will not help."""

    reason = "The exchange refused the request"


class EndpointMissing(Rejected):
    """The exchange does not have this endpoint (404, 40404)."""

    reason = "The exchange does not offer this"


class ClassicOnly(EndpointMissing):
    """The account is unified, and this is read of classic accounts alone."""

    reason = "This is not read of a unified account"


class NotSent(ExchangeError):
    """Nothing left this machine: the request was stopped before its first byte."""

    reason = "Nothing was sent"


class ReadOnly(NotSent):
    """A write was asked of a client or transport that only reads."""


class ClockTooFarOff(NotSent):
    """This machine's clock differs too much from the exchange's to send an order."""


class Busy(ExchangeError):
    """The exchange answered that it cannot serve the call now (system codes, 5xx)."""

    reason = "The exchange is busy or under maintenance"


class Hop(StrEnum):
    """The steps on the way to an answer, in order."""

    PROXY = "proxy"
    NAME = "name"
    TLS = "TLS"
    EXCHANGE = "exchange"


class Unreachable(ExchangeError):
    """No answer came: no connection, a broken one, or none in time. `hop` is the step that failed."""

    reason = "The exchange cannot be reached"
    hop = Hop.EXCHANGE


class UnreadableReply(ExchangeError):
    """The answer does not follow the interface: cut short, not JSON, too large, or of another shape."""

    reason = "The answer cannot be read"


class OutcomeUnknown(ExchangeError):
    """A write was begun and no readable reply says whether it was done: it may have been.

    `stamp_ms` is the request's time stamp by the exchange's clock. Never send it again; look at the exchange.
    `undecodable_rows` holds the rows of the reply that could not be read, masked; one of them may hold a secret that is
    shown only once.
    """

    reason = "It is not known whether this was done"

    def __init__(
        self,
        message: str = "",
        *,
        stamp_ms: int | None = None,
        undecodable_rows: tuple[UndecodableRow, ...] = (),
        **fields: Unpack[ErrorFields],
    ) -> None:
        super().__init__(message, **fields)
        self.stamp_ms = stamp_ms
        self.undecodable_rows = undecodable_rows
