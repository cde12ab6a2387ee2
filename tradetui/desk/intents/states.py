"""The states of an intent, the steps between them, and the time since a step."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from tradetui.exchange.clock import Moment


class State(StrEnum):
    INTENDED = "intended"
    WITHDRAWN = "withdrawn"
    SENT = "sent"
    ACKNOWLEDGED = "acknowledged"
    REJECTED = "rejected"
    UNKNOWN = "unknown"
    SETTLED = "settled"
    CORRECTED = "corrected"
    RELEASED = "released"


TRANSITIONS: Final[Mapping[State, frozenset[State]]] = {
    State.INTENDED: frozenset({State.WITHDRAWN, State.SENT}),
    # Withdrawn by its own process, which knows that the request never left.
    State.SENT: frozenset({State.WITHDRAWN, State.ACKNOWLEDGED, State.REJECTED, State.UNKNOWN}),
    State.ACKNOWLEDGED: frozenset({State.SETTLED, State.UNKNOWN}),
    # Another process may have taken the sender for dead; the sender then writes itself how its call ended.
    State.UNKNOWN: frozenset(
        {State.SETTLED, State.RELEASED, State.UNKNOWN, State.ACKNOWLEDGED, State.REJECTED, State.WITHDRAWN}
    ),
    # A later fill of the same order shows that it was not over.
    State.SETTLED: frozenset({State.CORRECTED}),
    State.CORRECTED: frozenset({State.SETTLED, State.RELEASED, State.CORRECTED}),
    # Released again: the contradiction it left in the account's fills outlived the first release.
    State.RELEASED: frozenset({State.RELEASED}),
}
ENDED: Final = frozenset({State.WITHDRAWN, State.REJECTED, State.SETTLED, State.RELEASED})
"""An intent in one of these states locks nothing. Only `settled` can change again, to `corrected`."""
RELEASABLE: Final = frozenset(state for state, following in TRANSITIONS.items() if State.RELEASED in following) - ENDED
"""In one of these states the trader may free an intent's symbol once the intent can have no further effect."""
_LAST_STEP_TELLS: Final = frozenset({State.CORRECTED, State.RELEASED})
"""States in which the outcome in earlier steps no longer holds."""


def scope_of(product_type: str, symbol: str) -> str:
    """Return the scope that a reversal locks; a creation locks its own kind."""
    return f"{product_type}|{symbol.upper()}"


def scope_name(scope: str) -> str:
    """Return a scope as a trader names it: the symbol of a reversal, or the kind of a creation."""
    return scope.rpartition("|")[2]


class OpenIntent(NamedTuple):
    """An intent that locks a scope, and its last known state.

    `writer` is the person and machine that began it, `follower` those that settle it; empty for this machine's.
    """

    id: str
    state: State
    writer: str = ""
    follower: str = ""

    def __str__(self) -> str:
        by = f" by {self.writer}" if self.writer else ""
        return f"{self.id}, {self.state}{by}{f', looked after by {self.follower}' if self.follower else ''}"


class Withheld(Exception):
    """Nothing was sent; `reasons` are sentences."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = reasons


class AlreadyOpen(Exception):
    """An intent of the same scope is not settled yet; `intent` is its id, `by` who wrote it on another machine."""

    def __init__(self, intent: str, state: str, by: str = "") -> None:
        super().__init__(f"intent {intent} is {state}{f' by {by}' if by else ''}")
        self.intent = intent
        self.state = state


class Overtaken(Exception):
    """Another intent of the same scope was written since the rows for this one were read; `by` is who, if known."""

    def __init__(self, scope: str, by: str = "") -> None:
        super().__init__(scope)
        self.by = by


class WrongStep(Exception):
    """The state machine does not have this step; a fault of this program."""


class Event(NamedTuple):
    """One step: the state reached, its time (Unix ms, for display only), and its details.

    `boot` and `monotonic_s` are its time by a clock that never steps; `owner` is the process that wrote it, as
    `storage.process_life` knows it. Both texts are empty if the writer did not know them. `chain` is a hash that is
    unique among the events of all journals; `number` is not.
    """

    state: State
    at_ms: int
    details: Mapping[str, Any]
    number: int = 0
    boot: str = ""
    monotonic_s: float = 0.0
    owner: str = ""
    chain: str = ""

    @property
    def writer(self) -> str:
        """The person and machine that wrote it, as the store names them; empty for a process of this machine."""
        return self.owner if "@" in self.owner else ""


class Intent(NamedTuple):
    """An intent with every step so far. Secret fields are stored as `***`."""

    id: str
    account: str
    scope: str
    kind: str
    state: State
    events: tuple[Event, ...]

    @property
    def details(self) -> dict[str, Any]:
        """The details of all steps; later ones replace earlier ones."""
        merged: dict[str, Any] = {}
        for event in self.events:
            merged.update(event.details)
        return merged

    @property
    def title(self) -> str:
        return str(self.details.get("title") or f"{self.kind} {self.scope}")

    @property
    def contradiction(self) -> str:
        """Why this account's fills do not explain its positions, by the fills of its order; empty once released."""
        return str(self.details.get("contradiction") or "")

    @property
    def ends(self) -> int:
        return sum(event.state in ENDED for event in self.events)

    @property
    def is_creation(self) -> bool:
        """Whether it creates accounts or keys: it locks its own kind, and only its own machine can finish it."""
        return self.scope == self.kind

    @property
    def is_releasable(self) -> bool:
        """Whether the trader may release it: the symbol it locks, or the contradiction it left behind."""
        return self.state in RELEASABLE or (self.state in ENDED and bool(self.contradiction))

    @property
    def end(self) -> str:
        """How it ended, or why it has not; empty if no step says so."""
        return end_in(self.events[-1].details if self.state in _LAST_STEP_TELLS else self.details)


def end_in(details: Mapping[str, Any]) -> str:
    """Return the end of an intent by a step's details: its outcome, the exchange's message, or why it did not end.

    If it is not known whose the orders are, their possible owner follows the outcome.
    """
    if outcome := details.get("outcome"):
        return "; ".join(map(str, filter(None, (outcome, details.get("attribution")))))
    return str(details.get("message") or details.get("why") or "")


def elapsed_s(event: Event, now: Moment, first_seen_s: float) -> float:
    """Return the seconds that have certainly passed since the event was written; never negative, wall time is not used.

    Within one boot CLOCK_MONOTONIC decides. For an event of another or an unknown boot only the reader's own time since
    it first saw the event counts: from `first_seen_s` (monotonic seconds) to `now`.
    """
    watched = max(0.0, now.monotonic_s - first_seen_s)
    if event.boot and event.boot == now.boot:
        return max(watched, now.monotonic_s - event.monotonic_s)
    return watched
