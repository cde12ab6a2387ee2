"""A reply read in one step, as the client reads it in two."""

from __future__ import annotations

from typing import Any

from tradetui.wire.endpoints.endpoint import Endpoint
from tradetui.wire.endpoints.reply import Envelope, Reply, read_data, read_envelope


class RefusedReply(Exception):
    """A reply whose code is not success, met where rows were asked for."""

    def __init__(self, envelope: Envelope) -> None:
        super().__init__(f"{envelope.code} {envelope.msg}".strip())
        self.envelope = envelope


def read_reply(endpoint: Endpoint, body: bytes) -> Reply[Any]:
    """The rows of a successful reply; raises UnreadableBody, or RefusedReply when the exchange says no."""
    envelope = read_envelope(body)
    if not envelope.ok:
        raise RefusedReply(envelope)
    return read_data(endpoint, envelope)
