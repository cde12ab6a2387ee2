"""Reads the terminal and drops input that no person can have typed or pasted, because it would act as keys.

Textual makes an event of every character, and handles each in turn: a megabyte would keep the screen busy for hours.
"""

from __future__ import annotations

import os
import re
import selectors
import time
from codecs import getincrementaldecoder
from typing import Final

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

MOST_TYPED: Final = 2_000
"""Most bytes at once without the marks of a paste: more than the longest text that a box takes."""
MOST_PASTED: Final = 65_536
"""Most bytes of a paste that the terminal marks as one."""
_AT_ONCE: Final = 256
"""Bytes that are passed on at once; for more, the reader first waits to count them."""
_TYPED_PER_S: Final = 1_000.0
_PAUSE_S: Final = 0.03
"""A pause that ends one burst of bytes."""
_IDLE_S: Final = 0.1
_PASTE_BEGINS, _PASTE_ENDS = b"\x1b[200~", b"\x1b[201~"
_MOUSE: Final = re.compile(rb"\x1b\[<[0-9;]+[Mm]")


class InputDropped(Message):
    """A burst of bytes was too long and was dropped, unread."""


class TypedBytes:
    """Decides which of the terminal's bytes are parsed; times are monotonic seconds."""

    def __init__(self) -> None:
        self.holding = False
        """Whether bytes are held until the pause that ends their burst."""
        self._held = bytearray()
        self._dropped = 0
        self._recent = 0.0
        self._last_s = 0.0

    def take(self, chunk: bytes, now_s: float) -> bytes:
        """Return the bytes to parse now; none while the burst may be too long, and none if it is."""
        if self._dropped:
            self._dropped += len(chunk)
            return b""
        typed = len(_MOUSE.sub(b"", chunk)) if chunk.startswith(b"\x1b[<") else len(chunk)
        self._recent = max(0.0, self._recent - (now_s - self._last_s) * _TYPED_PER_S) + typed
        self._last_s = now_s
        if not self.holding and self._recent <= _AT_ONCE:
            return chunk
        self.holding = True
        self._held += chunk
        is_paste = self._held.startswith(_PASTE_BEGINS) and self._held.count(_PASTE_BEGINS) == 1
        if len(self._held) > (MOST_PASTED if is_paste else MOST_TYPED):
            self._dropped = len(self._held)
            self._held.clear()
        return self._release() if is_paste and self._held.endswith(_PASTE_ENDS) else b""

    def pause(self) -> tuple[bytes, int]:
        """Nothing came for a moment: the bytes to parse now, and how many were dropped before."""
        dropped, self._dropped, self._recent = self._dropped, 0, 0.0
        return self._release(), dropped

    def _release(self) -> bytes:
        released = bytes(self._held)
        self._held.clear()
        self.holding = False
        return released


class BoundedInputDriver(LinuxDriver):
    """Textual's terminal driver with a limit on bursts; bytes that are not UTF-8 do not end the program."""

    def run_input_thread(self) -> None:
        typed, parser = TypedBytes(), XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(_PAUSE_S if typed.holding else _IDLE_S):
                    try:
                        content = os.read(self.fileno, MOST_PASTED)
                    except OSError:
                        content = b""
                    if not content:  # the terminal is gone, which a signal reports too
                        break
                    content = typed.take(content, time.monotonic())
                else:
                    content, dropped = typed.pause()
                    if dropped:
                        parser = XTermParser(self._debug)  # it may have been inside a paste
                        self.send_message(InputDropped())
                    if content and b"\x1b" not in content:
                        # No person types so much at once: it is a paste without marks, and no letter of it is a key.
                        content = _PASTE_BEGINS + content + _PASTE_ENDS
                if content:
                    for event in parser.feed(decode(content)):
                        self.process_message(event)
                for event in parser.tick():
                    self.process_message(event)
