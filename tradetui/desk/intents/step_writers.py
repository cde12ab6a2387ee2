"""The processes that wrote the steps of intents: whether each still lives, and the least time since a step."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path

from tradetui.desk.intents.states import Event, Intent, OpenIntent, State, elapsed_s
from tradetui.exchange.clock import Clock, Moment
from tradetui.storage.process_life import ProcessLives


class StepWriters:
    """The processes that write an account's journal, as one of them sees the others.

    `lives` is None until this one shows that it lives. `show_life`, `has_ended` and `standing` block and belong on the
    disk's thread.
    """

    def __init__(self, clock: Clock) -> None:
        self.lives: ProcessLives | None = None
        self._clock = clock
        self._first_seen_s: dict[str, float] = {}

    def show_life(self, directory: Path | None) -> None:
        """Let other processes see that this one lives, and see of others whether they do."""
        if self.lives is None and directory is not None:
            self.lives = ProcessLives(directory, secrets.token_hex(6))

    def close(self) -> None:
        if self.lives is not None:
            self.lives.close()

    def has_ended(self, event: Event) -> bool:
        """Whether the process that wrote a step certainly lives no more."""
        if event.boot and self._clock.boot and event.boot != self._clock.boot:
            return True  # no process outlives its boot, whoever has its number now
        return self.lives is not None and self.lives.has_ended(event.owner)

    def standing(self, intents: Iterable[Intent]) -> dict[str, OpenIntent]:
        """Each intent and its state by scope; what a process that died had sent is unknown before anybody writes so."""
        standing = {}
        for intent in intents:
            is_lost = intent.state is State.SENT and self.has_ended(intent.events[-1])
            standing[intent.scope] = OpenIntent(intent.id, State.UNKNOWN if is_lost else intent.state)
        return standing

    def saw(self, intents: Iterable[Intent]) -> None:
        """Count from now on what was written in another boot."""
        now_s = self._clock.monotonic()
        for intent in intents:
            self._first_seen_s.setdefault(intent.events[-1].chain, now_s)

    def elapsed_s(self, event: Event) -> float:
        """Seconds that have certainly passed since a step was written, in whatever process and boot."""
        now = Moment.now(self._clock)
        return elapsed_s(event, now, self._first_seen_s.setdefault(event.chain, now.monotonic_s))
