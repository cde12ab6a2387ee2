"""Keys that arrive together reach the application one by one, each after the previous one is fully handled.

Textual gives every key to the widget that has the focus at that moment, while the previous key may still be on its way
to the handler that moves the focus, opens a dialog or fills a field. Letters of a paste, or of a slow line, would then
be lost or change their order, and Enter could press another button than the one the trader saw.

Also the box for one line of text: a paste is inserted whole, or a notice says that it was not.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from textual import events, on
from textual.widgets import Input

from tradetui.ui.safe_text import notify

if TYPE_CHECKING:
    from textual.app import App
    from textual.dom import DOMNode

TypedInput: TypeAlias = events.Key | events.Paste
BURST_GAP_S: Final = 0.03
"""Keys that follow each other faster were not pressed by a person who looked at each result."""
PAINT_FIRST_S: Final = 0.02
"""How long a key's paint has the interpreter for itself, while no other key waits: a little more than one frame.

Painted lines are written by a thread of Textual's, which would wait for the passes below.
"""
HELD_S: Final = 0.75  # the longest gap between repeats of a held key, of which the first is the longest
LONGEST_S: Final = 1.0
"""The longest wait of keys for the handler of the previous one; it may itself be waiting for them."""
ROUNDS: Final = 3
"""Passes through the queues: the key itself; the messages its handlers post; the messages that follow from those."""
MOST_WAITING: Final = 2_000
"""Keys that may wait: more than the longest text that a box takes."""
MOST_ROUNDS: Final = 12  # passes after which the next key proceeds although the focus keeps moving


class _QueuedKey(NamedTuple):
    """A key, the seconds since the previous one, and whether that was the same key."""

    event: TypedInput
    gap_s: float
    is_repeated: bool


class KeyOrder:
    """The queue of keys; `current` is being handled, `gap_s` is the seconds since the previous one.

    `is_repeated` is whether that was the same key. Times are when a key was read from the terminal, by the clock of
    Textual's messages.
    """

    def __init__(self, app: App[Any], dispatch: Callable[[TypedInput], Awaitable[None]]) -> None:
        """`dispatch` passes one key to the application, in its own message pump."""
        self.current: TypedInput | None = None
        self.gap_s = float("inf")
        self.is_repeated = False
        self._app = app
        self._dispatch = dispatch
        self._waiting: deque[_QueuedKey] = deque()
        self._last_read_at = float("-inf")
        self._last_key = ""
        self._task: asyncio.Task[None] | None = None
        self._key_waits = asyncio.Event()

    @property
    def in_burst(self) -> bool:
        """Whether the current key came together with the one before it."""
        return self.gap_s < BURST_GAP_S

    @property
    def is_held(self) -> bool:
        """Whether the current key may be held down, and so was not pressed again."""
        return self.is_repeated and self.gap_s < HELD_S

    @property
    def is_busy(self) -> bool:
        return self._task is not None and not self._task.done()

    async def add(self, event: TypedInput) -> None:
        key = event.key if isinstance(event, events.Key) else ""
        queued = _QueuedKey(event, event.time - self._last_read_at, key != "" and key == self._last_key)
        self._last_read_at, self._last_key = event.time, key
        if self.is_busy:
            if len(self._waiting) >= MOST_WAITING:
                self._waiting.clear()
                notify(self._app, "Keys came faster than they could be handled, and were dropped.", severity="warning")
            self._waiting.append(queued)
            self._key_waits.set()
            return
        await self._begin(queued)
        self._task = asyncio.create_task(self._handle_in_turn())

    def stop(self) -> None:
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()

    async def _begin(self, queued: _QueuedKey) -> None:
        self.current, self.gap_s, self.is_repeated = queued
        await self._dispatch(queued.event)

    async def _handle_in_turn(self) -> None:
        """Wait until the key is fully handled, then take the next one, until none waits."""
        while True:
            await self._let_paint()
            await self._wait_until_handled()
            if not self._waiting:
                return
            await self._pass_through(self._app, partial(self._begin, self._waiting.popleft()))

    async def _let_paint(self) -> None:
        """Leave the interpreter to the key's paint, until another key waits."""
        if self._waiting:
            return
        self._key_waits.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(PAINT_FIRST_S):
                await self._key_waits.wait()

    async def _wait_until_handled(self) -> None:
        """Pass through the queues until the focus was unchanged for `ROUNDS` rounds, or the time is up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_S):
                quiet_rounds = 0
                for _ in range(MOST_ROUNDS):
                    before = self._nodes_in_focus()
                    for node in before:
                        await self._pass_through(node)
                    quiet_rounds = quiet_rounds + 1 if self._nodes_in_focus() == before else 0
                    if quiet_rounds == ROUNDS:
                        return

    def _nodes_in_focus(self) -> list[DOMNode]:
        """The nodes that a key passes now: the focused widget, and all around it out to the application."""
        if not self._app.is_running or not self._app.screen_stack:
            return []
        return list((self._app.focused or self._app.screen).ancestors_with_self)

    @staticmethod
    async def _pass_through(node: DOMNode, work: Callable[[], Awaitable[None]] | None = None) -> None:
        """Wait until a node has handled all its present messages, and then this work."""
        passed = asyncio.Event()

        async def at_its_turn(work: Callable[[], Awaitable[None]]) -> None:
            try:
                await work()
            finally:
                passed.set()

        # A bound method: its parameters are looked up once, not each of the fifteen times a key passes here.
        if node.call_later(passed.set) if work is None else node.call_later(at_its_turn, work):
            await passed.wait()


LONGEST_TEXT: Final = 1_400  # characters that a box takes: more than thirty addresses


def one_line(text: str) -> str:
    """The lines of a text joined by blanks, without empty ones and the space around each."""
    return " ".join(filter(None, map(str.strip, text.splitlines())))


class LineBox(Input):
    """An input whose cursor does not blink, and that reports every text it loses."""

    @on(events.Mount)
    def _begin(self) -> None:
        self.max_length, self.cursor_blink = LONGEST_TEXT, False

    def on_paste(self, event: events.Paste) -> None:
        event.prevent_default()  # Textual's own method keeps only the first line
        event.stop()
        if text := one_line(event.text):
            self.replace(text, *self.selection)

    def restricted(self) -> None:
        notify(self.app, f"A box takes {LONGEST_TEXT:,} characters at most: this was not put in.", severity="warning")
