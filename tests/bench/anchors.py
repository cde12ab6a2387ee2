"""What figures are held to: measurements of things that are not ours, or that are as simple as can be."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from tests.bench.terminal import Terminal, write_byte_code

BARE_PYTHON = "python -c pass"
EMPTY_APP = "empty Textual app"
TABLES_KEY = "key in five still tables"
PLAIN_LOOP = "plain Python loop"
_EMPTY_APP_CODE = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("empty-app-ready")
Empty().run()
"""
_LOOP_ROUNDS = 200_000
SETTLE_S = 3.0
SEEN_S = 3.0


def command_seconds(command: Sequence[str]) -> float:
    """Seconds that a command takes, its output thrown away."""
    write_byte_code()
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def shown_seconds(command: Sequence[str], text: bytes) -> float:
    """Seconds from the start of a program in a terminal until it has written the text."""
    with tempfile.TemporaryDirectory() as home, Terminal(command, environment={"HOME": home}) as terminal:
        return terminal.until_shown(text)


def bare_python() -> float:
    """Seconds of an interpreter that does nothing."""
    return command_seconds([sys.executable, "-c", "pass"])


def empty_app() -> float:
    """Seconds until a Textual application of one word is on the screen."""
    return shown_seconds([sys.executable, "-c", _EMPTY_APP_CODE], b"empty-app-ready")


def plain_loop() -> float:
    """Seconds of a fixed loop of plain Python: dictionaries, whole numbers and texts."""
    begin = time.perf_counter()
    totals: dict[str, int] = {}
    for number in range(_LOOP_ROUNDS):
        name = f"symbol{number % 97}"
        totals[name] = totals.get(name, 0) + number * 7 % 1_000_003
    assert len(totals) == 97
    return time.perf_counter() - begin


@contextmanager
def tables(kind: str, state: str) -> Iterator[Terminal]:
    """Five tables of a hundred rows in a terminal, `record` or `data`, `changing` or `still`; the first is focused."""
    with Terminal([sys.executable, "-m", "tests.bench.tables_program", kind, state]) as terminal:
        terminal.until_shown(b"SYM001USDT")
        terminal.read_for(SETTLE_S)
        terminal.send(b"\t")
        terminal.read_for(SEEN_S / 3)
        yield terminal


def key_seconds(terminal: Terminal, key: bytes, pause: float = 0.05) -> float:
    """Seconds from a key to the first byte written after it, once the terminal was silent for the pause.

    Raises:
        AssertionError: the key painted nothing.
    """
    terminal.read_for(pause)
    written, begin = len(terminal.output), time.perf_counter()
    terminal.send(key)
    terminal.read_for(SEEN_S, until=lambda: len(terminal.output) > written)
    assert len(terminal.output) > written, f"{key!r} painted nothing"
    return time.perf_counter() - begin


def shown_key_seconds(terminal: Terminal, key: bytes, pause: float) -> float:
    """Seconds from a key to the last byte written after it: until what was asked for stands on the screen.

    The terminal was silent for the pause before, and is again afterwards.

    Raises:
        AssertionError: the key painted nothing.
    """
    terminal.read_for(pause)
    written, begin = len(terminal.output), time.perf_counter()

    def has_more() -> bool:
        return len(terminal.output) > written

    terminal.send(key)
    last_byte, seen_until = 0.0, begin + SEEN_S
    while (now := time.perf_counter()) < seen_until:
        written = len(terminal.output)
        terminal.read_for(seen_until - now, until=has_more)
        if has_more():
            last_byte = time.perf_counter() - begin
            seen_until = begin + last_byte + pause
    assert last_byte, f"{key!r} painted nothing"
    return last_byte


def keys_by_turns(terminals: Mapping[str, Terminal], keys: Sequence[bytes]) -> dict[str, list[float]]:
    """Seconds from key to paint in each terminal, the same keys pressed in all of them by turns."""
    taken: dict[str, list[float]] = {name: [] for name in terminals}
    for turn, key in enumerate(keys):
        for name, terminal in terminals.items():
            taken[name].append(key_seconds(terminal, key, 0.05 + turn % 7 / 100))
    return taken


def keys_and_anchor(
    terminal: Terminal,
    keys: Iterable[bytes],
    anchor: Callable[[], float],
    pause: float,
    seconds: Callable[[Terminal, bytes, float], float] = key_seconds,
) -> tuple[list[float], list[float]]:
    """Seconds of each key, and of the anchor, which is measured after each key."""
    taken, anchors = [], []
    for key in keys:
        taken.append(seconds(terminal, key, pause))
        anchors.append(anchor())
    return taken, anchors


def moves(count: int) -> list[bytes]:
    """Keys that take the cursor down and up again."""
    return [b"j" if number % 8 < 4 else b"k" for number in range(count)]
