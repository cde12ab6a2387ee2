"""A program in a pseudo-terminal whose screen can be read as text and colours."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pyte

from tests.bench.terminal import Terminal

PAGE_DOWN = b"\x1b[6~"


class Screen(Terminal):
    """A terminal whose screen can be read."""

    def __enter__(self) -> Screen:
        super().__enter__()
        self.drawn = pyte.Screen(self.columns, self.rows)
        self._stream = pyte.ByteStream(self.drawn)
        return self

    @property
    def text(self) -> str:
        return "\n".join(self.drawn.display)

    def read(self) -> None:
        self._stream.feed(self.read_for(0.01))

    def marks_as_focused(self, text: str) -> bool:
        """Whether the last of these words on the screen are drawn as the button that Enter presses."""
        for line in reversed(range(self.rows)):
            column = self.drawn.display[line].rfind(text)
            if column >= 0:
                return self.drawn.buffer[line][column].reverse
        return False


def until(screens: Sequence[Screen], holds: Callable[[Screen], bool], what: str, seconds: float = 30.0) -> None:
    """Read all the screens until each shows it."""
    end = time.monotonic() + seconds
    while not all([holds(screen) for screen in screens]):
        assert time.monotonic() < end, f"{what} never came:\n" + "\n".join(screen.text for screen in screens)
        for screen in screens:
            screen.read()
