"""How the embedded exchange is set up: limits, dialect, extent and faults, as words a person gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

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
    """A fault's name or rate that does not exist; the message names the ones there are."""


@dataclass(frozen=True)
class SandboxOptions:
    """Options of one sandbox. `faults` is kind to chance (0 to 1); `delay_ms` how long a delayed answer takes."""

    seed: int = 7
    speed: Decimal = Decimal(1)
    faults: Mapping[str, float] = field(default_factory=dict)
    limits: bool = True
    core_only: bool = False
    dialect: Literal["documented", "live"] = "documented"
    one_way_size: Literal["honour", "ignore"] = "honour"
    delay_ms: int = 1_500
    skew_ms: int = 45_000


def parse_faults(fault_list: str) -> dict[str, float]:
    """Read `KIND=RATE,KIND=RATE`; raises UnknownFault naming what is wrong."""
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
