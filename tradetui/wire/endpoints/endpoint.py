"""The model of an endpoint: its limit, its request and rows, its paging, and the lifetime of its rows."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final, Literal, NamedTuple

from tradetui.wire.exchange_time import TimeRule
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.request import Request


class RowLaw(StrEnum):
    """The lifetime of an endpoint's rows, which decides how pages are read."""

    APPEND = "append"  # rows never change: page back to the newest known id plus a minute's overlap
    WHOLE = "whole"  # every page each time: what is absent is gone
    MUTABLE = "mutable"  # rows may change: re-read the window in which they can, update by id
    SINGLE = "single"  # one call tells all


class PageRule(NamedTuple):
    """Rules for reaching older rows through idLessThan."""

    #: What goes into idLessThan: "endId" of the payload, or this field of the last row.
    cursor_field: str
    #: The key of the list in the payload; None where the payload is the list.
    rows_key: str | None
    default: int
    maximum: int
    #: Over the maximum the exchange gives the maximum instead of an error.
    capped: bool = False
    #: The idLessThan that means the first page.
    first: str | None = None
    #: The field of the last row that stands in where endId is left out.
    row_field: str = "orderId"


class RateLimit(NamedTuple):
    """Calls a second, counted per account (`uid`) or per address (`ip`)."""

    per_second: int
    copy_trader: int | None = None
    scope: Literal["uid", "ip"] = "uid"


class Endpoint(NamedTuple):
    """One endpoint; by default a signed GET, allowed ten times a second, whose reply has no pages.

    `number` is its number in the interface; None beyond it, where `core` is False.
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
    def writes(self) -> bool:
        return self.method == "POST"

    @property
    def time(self) -> TimeRule | None:
        return self.request.time_rule

    @property
    def rows_key(self) -> str | None:
        """The key of the list in the payload; None where the payload is the list or the row."""
        return self.page.rows_key if self.page is not None else None

    @property
    def decides_what_is_sent(self) -> bool:
        """Whether what is sent next rests on its reply, which must not be read in two ways.

        A reply with a secret is read however it is written: it comes once.
        """
        return self.signed and not self.secret and self.law in (RowLaw.SINGLE, RowLaw.WHOLE)

    @property
    def secret(self) -> bool:
        return bool(self.row.secrets)


ADDRESS_CALLS_PER_MINUTE: Final = 6_000
"""Calls of one network address in any minute, whoever makes them and whatever they ask."""
ADDRESS_LOCKOUT_S: Final = 300
"""Seconds for which an address that made more is refused."""
