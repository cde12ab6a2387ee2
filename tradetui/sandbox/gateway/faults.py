"""Faults of the embedded exchange: which answers they change and how, drawn by rates or planned by a test."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from tradetui.sandbox.books.reversal import REVERSAL_FAULTS

FAULT_KINDS = (
    "delay",
    "dropped-before",
    "dropped-after",
    "429",
    "5xx",
    "5xx-after",
    "truncated",
    "non-json",
    "wrong-types",
    "clock-skew",
    "stale-reads",
    *REVERSAL_FAULTS,
)


class UnknownFault(ValueError):
    """A fault's name or rate that does not exist; the message names the existing ones."""


class ConnectionDropped(ConnectionResetError):
    """The connection ended without an answer; raised in process, where there is no socket to close."""


@dataclass(slots=True)
class _Planned:
    kind: str
    endpoint: str | None
    times: int


class Faults:
    """Decides which fault a call has; planned faults come before drawn ones."""

    def __init__(self, rates: Mapping[str, float], seed: int) -> None:
        self.rates = dict(rates)
        self._rng = random.Random(f"{seed}/faults")
        self._planned: list[_Planned] = []

    def next(self, kind: str, *, endpoint: str | None = None, times: int = 1) -> None:
        """Plan a fault of the next calls: of one endpoint, by catalogue name, else of any, even with no effect."""
        if kind not in FAULT_KINDS:
            raise UnknownFault(f"unknown fault {kind!r}; there are {', '.join(FAULT_KINDS)}")
        self._planned.append(_Planned(kind, endpoint, times))

    def take_for_call(self, endpoint: str) -> str | None:
        """The fault of a call's transport, None mostly; one that was planned is used up."""
        return self._take(endpoint, frozenset(FAULT_KINDS) - frozenset(REVERSAL_FAULTS))

    def take_for_reversal(self) -> str | None:
        return self._take("futures.reverse", frozenset(REVERSAL_FAULTS))

    def _take(self, endpoint: str, kinds: frozenset[str]) -> str | None:
        for planned in self._planned:
            if planned.kind in kinds and planned.endpoint in (None, endpoint):
                planned.times -= 1
                if planned.times <= 0:
                    self._planned.remove(planned)
                return planned.kind
        # Each is drawn, whatever comes before it: none hides another for good.
        drawn = [kind for kind, rate in self.rates.items() if kind in kinds and self._rng.random() < rate]
        return self._rng.choice(drawn) if drawn else None


def parse_faults(fault_list: str) -> dict[str, float]:
    """Read `KIND=RATE,KIND=RATE`; raises UnknownFault, which names the error."""
    faults: dict[str, float] = {}
    for word in filter(None, (part.strip() for part in fault_list.split(","))):
        kind, equals, rate = word.partition("=")
        if kind not in FAULT_KINDS:
            raise UnknownFault(f"unknown fault {kind!r}; there are {', '.join(FAULT_KINDS)}")
        try:
            value = float(rate) if equals else 1.0
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise UnknownFault(f"the rate of {kind} must be a number from 0 to 1, not {rate!r}")
        faults[kind] = value
    return faults
