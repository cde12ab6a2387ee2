"""Faults of the embedded exchange: which replies they change and how, drawn by rates or planned by a test.

A call's fault takes effect in `sandbox/app.py`: `_admit_caller` refuses the call, `answer`, `_enveloped` and `_read`
change the reply, `__call__` breaks its bytes or the connection. Such a fault never changes the stored state. An
account's fault takes effect in `_signing_key` there, a reversal's in `books/reversal`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

from tradetui.sandbox.books.account import AccountMode
from tradetui.sandbox.books.reversal import ReversalFault


class CallFault(StrEnum):
    """A fault of any call, by its name in `tradetui sandbox --fault`.

    A call that is dropped or gets a 5xx was carried out first (`-after`) or has not reached the exchange.
    """

    DELAY = "delay"
    DROPPED_BEFORE = "dropped-before"
    DROPPED_AFTER = "dropped-after"
    TOO_MANY_REQUESTS = "429"
    BAD_GATEWAY = "5xx"
    BAD_GATEWAY_AFTER = "5xx-after"
    TRUNCATED = "truncated"
    NON_JSON = "non-json"
    WRONG_TYPES = "wrong-types"
    CLOCK_SKEW = "clock-skew"
    STALE_READS = "stale-reads"


class AccountFault(StrEnum):
    """The account is moved to another mode as the call arrives; its later calls find it there."""

    UPGRADING = "account-upgrading"
    UNIFIED = "account-unified"
    SWITCHING = "account-switching"
    CLASSIC = "account-classic"

    @property
    def mode(self) -> AccountMode:
        return AccountMode[self.name]


Fault = CallFault | AccountFault | ReversalFault
FAULT_KINDS: Final[tuple[Fault, ...]] = (*CallFault, *AccountFault, *ReversalFault)
FaultT = TypeVar("FaultT", CallFault, AccountFault, ReversalFault)


class InvalidFault(ValueError):
    """The fault does not exist, or its rate is not a probability; the message lists the valid ones."""


class ConnectionDropped(ConnectionResetError):
    """The connection ended without a reply; raised in process, where there is no socket to close."""


@dataclass(slots=True)
class _Planned:
    kind: Fault
    endpoint: str | None
    times: int


class Faults:
    """Decides which fault a call has: the first planned one for it, or else one drawn by the rates.

    `rates` maps kinds to probabilities (0 to 1). Raises InvalidFault for an unknown kind.
    """

    def __init__(self, rates: Mapping[str, float], seed: int) -> None:
        self.rates: dict[str, float] = {_fault_kind(name): rate for name, rate in rates.items()}
        self._rng = random.Random(f"{seed}/faults")
        self._planned: list[_Planned] = []

    def plan(self, kind: str, *, endpoint: str | None = None, times: int = 1) -> None:
        """Plan a fault for the next calls of an endpoint (by catalogue name) or of any; `times` is at least one.

        A call uses it up even if the fault has no effect on it. Raises InvalidFault.
        """
        self._planned.append(_Planned(_fault_kind(kind), endpoint, times))

    def take_for_call(self, endpoint: str) -> CallFault | None:
        """Return the fault of a call, mostly None; a planned fault is used up."""
        return self._take(endpoint, CallFault)

    def take_for_account(self, endpoint: str) -> AccountFault | None:
        return self._take(endpoint, AccountFault)

    def take_for_reversal(self) -> ReversalFault | None:
        return self._take("futures.reverse", ReversalFault)

    def _take(self, endpoint: str, kinds: type[FaultT]) -> FaultT | None:
        for planned in self._planned:
            if isinstance(planned.kind, kinds) and planned.endpoint in (None, endpoint):
                planned.times -= 1
                if planned.times <= 0:
                    self._planned.remove(planned)
                return planned.kind
        rates = {kinds(name): rate for name, rate in self.rates.items() if name in tuple(kinds)}
        # Every kind draws, and one of the hits is chosen; otherwise the first kind would hide the others.
        hits = [kind for kind, rate in rates.items() if self._rng.random() < rate]
        return self._rng.choice(hits) if hits else None


def parse_faults(fault_list: str) -> dict[str, float]:
    """Parse `KIND=RATE,KIND=RATE`, where a kind alone is certain; raises InvalidFault, which names the error."""
    rates: dict[str, float] = {}
    for entry in filter(None, (part.strip() for part in fault_list.split(","))):
        name, equals, rate = entry.partition("=")
        kind = _fault_kind(name)
        rates[kind] = _probability(kind, rate) if equals else 1.0
    return rates


def _fault_kind(name: str) -> Fault:
    for kind in FAULT_KINDS:
        if kind == name:
            return kind
    raise InvalidFault(f"unknown fault {name!r}; there are {', '.join(FAULT_KINDS)}")


def _probability(kind: str, rate: str) -> float:
    refusal = InvalidFault(f"the rate of {kind} must be a number from 0 to 1, not {rate!r}")
    try:
        probability = float(rate)
    except ValueError:
        raise refusal from None
    if not 0 <= probability <= 1:
        raise refusal
    return probability
