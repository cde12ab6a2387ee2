"""What this process's own thread writes to its connections, taken where Python hands it to the kernel."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

SENDING = ("send", "sendall", "sendto", "sendmsg")


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes, and when they were handed over (seconds of `time.perf_counter`)."""

    data: bytes
    at: float


@contextmanager
def outgoing_requests() -> Iterator[list[Written]]:
    """Every write to an internet socket from this thread, as they come."""
    written: list[Written] = []
    thread = threading.current_thread()

    def recording(name: str) -> Any:
        right = getattr(socket.socket, name)

        def wrong(self: socket.socket, data: Any, *more: Any) -> Any:
            if threading.current_thread() is thread and self.family in (socket.AF_INET, socket.AF_INET6):
                whole = b"".join(map(bytes, data)) if name == "sendmsg" else bytes(data)
                written.append(Written(whole, time.perf_counter()))
            return right(self, data, *more)

        return wrong

    with patch.multiple(socket.socket, **{name: recording(name) for name in SENDING}):
        yield written
