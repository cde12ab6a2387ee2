"""The model of an endpoint: its limit, request and rows, its paging, and how its rows may change."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final, Literal, NamedTuple

from tradetui.wire.exchange_time import TimeRule
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.request import Request


class RowLaw(StrEnum):
    """How an endpoint's rows may change, which decides how pages are read."""

    APPEND = "append"  # rows never change: page back to the newest known id plus a minute's overlap
    WHOLE = "whole"  # every page each time: a missing row is gone
    MUTABLE = "mutable"  # rows may change: re-read the period in which they can, update by id
    SINGLE = "single"  # one call returns everything


class PageRule(NamedTuple):
    """The rules for reaching older rows with the parameter `parameter`."""

    #: Its source: the payload's "endId" or "cursor", or this field of the last row.
    cursor_field: str
    #: The key of the list in the payload; None if the payload is the list.
    rows_key: str | None
    default: int
    maximum: int
    #: For a limit above the maximum the exchange uses the maximum instead of an error.
    capped: bool = False
    #: The idLessThan that means the first page.
    first: str | None = None
    #: The field of the last row that replaces a missing endId; a missing cursor means that nothing is older.
    row_field: str = "orderId"
    parameter: Literal["idLessThan", "cursor"] = "idLessThan"


class RateLimit(NamedTuple):
    """Calls in any second or longer window, counted per account (`uid`) or per address (`ip`)."""

    calls: int
    copy_trader: int | None = None
    scope: Literal["uid", "ip"] = "uid"
    window_s: int = 1

    @property
    def per_second(self) -> float:
        return self.calls / self.window_s


class Endpoint(NamedTuple):
    """One endpoint; by default a signed GET, allowed ten times a second, without pages.

    `number` is its number in the interface; None beyond the interface, and then `core` is False.
    """

    name: str
    path: str
    request: type[Request[Any]]
    number: int | None = None
    method: Literal["GET", "POST"] = "GET"
    limit: RateLimit = RateLimit(10)
    law: RowLaw = RowLaw.SINGLE
    page: PageRule | None = None
    #: The attribute of the row model that holds the time its rows are ordered by.
    time_field: str | None = None
    signed: bool = True
    #: The key of the list in a payload without pages; None if the payload is the list or the row.
    list_key: str | None = None

    @property
    def row(self) -> type[Record]:
        return self.request.row

    @property
    def area(self) -> str:
        return self.name.partition(".")[0]

    @property
    def core(self) -> bool:
        return self.number is not None

    @property
    def interface(self) -> Literal["v2", "v3"]:
        """The version of the interface: v2 serves classic accounts, v3 unified ones."""
        return "v3" if self.path.startswith("/api/v3/") else "v2"

    @property
    def writes(self) -> bool:
        return self.method == "POST"

    @property
    def time(self) -> TimeRule | None:
        return self.request.time_rule

    @property
    def rows_key(self) -> str | None:
        """The key of the list in the payload; None if the payload is the list or the row."""
        return self.page.rows_key if self.page is not None else self.list_key

    @property
    def decides_what_is_sent(self) -> bool:
        """Whether a later write depends on its reply, which therefore must not be ambiguous.

        A reply with a secret is parsed even if it is ambiguous, because it comes only once.
        """
        return self.signed and not self.secret and self.law in (RowLaw.SINGLE, RowLaw.WHOLE)

    @property
    def secret(self) -> bool:
        return bool(self.row.secrets)


ADDRESS_CALLS_PER_MINUTE: Final = 6_000
"""The limit of calls from one network address in any minute, for all programs and endpoints together."""
ADDRESS_LOCKOUT_S: Final = 300
"""Seconds for which an address beyond the limit is refused."""
