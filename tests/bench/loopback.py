"""A listening socket on loopback whose answers are not held back by Nagle's algorithm."""

from __future__ import annotations

import socket


def listen() -> socket.socket:
    """Listen on any free port; asyncio switches the delay off only for sockets that name TCP."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    return listening
