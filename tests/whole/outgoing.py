"""What this process's own thread writes to its connections, taken where Python hands it to the kernel."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

SENDING = ("send", "sendall", "sendto", "sendmsg")


@contextmanager
def outgoing_requests() -> Iterator[list[bytes]]:
    """The bytes of every write to an internet socket from this thread, as they come."""
    written: list[bytes] = []
    thread = threading.current_thread()

    def recording(name: str) -> Any:
        right = getattr(socket.socket, name)

        def wrong(self: socket.socket, data: Any, *more: Any) -> Any:
            if threading.current_thread() is thread and self.family in (socket.AF_INET, socket.AF_INET6):
                written.append(b"".join(map(bytes, data)) if name == "sendmsg" else bytes(data))
            return right(self, data, *more)

        return wrong

    with patch.multiple(socket.socket, **{name: recording(name) for name in SENDING}):
        yield written
