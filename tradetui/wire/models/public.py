"""Public endpoints, beyond the interface."""

from typing import ClassVar

from tradetui.wire.replies.field_types import UtcTime
from tradetui.wire.replies.record import Record
from tradetui.wire.requests.request import Request


class ServerTime(Record):
    """The server's clock."""

    identity: ClassVar[tuple[str, ...]] = ("server_time",)

    server_time: UtcTime


class ServerTimeRequest(Request[ServerTime]):
    """Beyond the interface: the server's clock."""
