"""What the areas ask through: the reader's reads and pages, and the writer's write."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from tradetui.wire.catalogue import endpoint as catalogued
from tradetui.wire.requests.request import Request

if TYPE_CHECKING:
    from tradetui.exchange.signed_call import BeforeSend
    from tradetui.wire.catalogue import Endpoint
    from tradetui.wire.reply import Reply

Time: TypeAlias = int | datetime | None
"""Unix milliseconds or an aware datetime; `None` leaves it out."""

Asked = TypeVar("Asked", bound=Request[Any])


class Reader(Protocol):
    """The reading side of a client."""

    async def read(self, endpoint: Endpoint | str, request: Request[Any] | None = None) -> Reply[Any]:
        """One page."""
        ...

    def pages(
        self,
        endpoint: Endpoint | str,
        request: Request[Any] | None = None,
        *,
        all_spans: bool = False,
        start_time: Time = None,
        end_time: Time = None,
    ) -> AsyncIterator[Reply[Any]]:
        """All pages."""
        ...


class Writer(Protocol):
    """The writing side of a client."""

    async def __call__(
        self, endpoint: Endpoint | str, request: Request[Any], *, before_send: BeforeSend | None = None
    ) -> Reply[Any]:
        """Send once."""
        ...


class EndpointGroup:
    """A group of endpoints of one client."""

    _name: str

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def _read(self, what: str, given: dict[str, Any]) -> Reply[Any]:
        endpoint = catalogued(f"{self._name}.{what}")
        return await self._reader.read(endpoint, endpoint.request(**_named(given)))

    def _pages(self, what: str, given: dict[str, Any]) -> AsyncIterator[Reply[Any]]:
        endpoint = catalogued(f"{self._name}.{what}")
        given = _named(given)
        start, end = given.pop("start_time"), given.pop("end_time")
        all_spans = given.pop("all_spans")
        if not (all_spans or start is not None):
            given["end_time"] = end
        stands_in = _required_times(endpoint)
        request = endpoint.request(**{**stands_in, **given})
        return self._reader.pages(endpoint, request, all_spans=all_spans, start_time=start, end_time=end)


def request_of(kind: type[Asked], request: Asked | None, fields: dict[str, Any]) -> Asked:
    """The request given as an object, or made of fields."""
    if request is not None and fields:
        raise TypeError("give a request or its fields, not both")
    return request if request is not None else kind(**fields)


def _named(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "self"}


def _required_times(endpoint: Endpoint) -> dict[str, int]:
    """Times for a request that must have some, until its spans are known."""
    return {
        parameter.attribute: 0
        for parameter in endpoint.request.parameters()
        if parameter.required and parameter.name in ("startTime", "endTime")
    }
