"""The store's side of the permits of several machines, in virtual time: what migration 002 does, with faults."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from tradetui.storage.postgres.errors import StoreAway, StoreRefused

EXECUTED_BY_S = 1.5
LOST_AFTER_S, KEPT_S = 3.0, 3_600.0
START_S = 1_800_000_000.0


@dataclass
class MemoryQuotas:
    """The tables. `machines` has the share of each machine on the one account `account`."""

    machines: dict[str, float]
    account: str = "account"
    clock_step_s: float = 0.0
    since_s: float = -inf
    states: dict[str, tuple[int, str]] = field(default_factory=dict)
    last_writes: dict[tuple[str, str], tuple[str, float]] = field(default_factory=dict)
    writes: int = 0
    conflicts: int = 0

    def now_s(self) -> float:
        return START_S + asyncio.get_running_loop().time() + self.clock_step_s

    def crash(self) -> None:
        """Lose the unlogged tables, as PostgreSQL does when it was killed."""
        self.states.clear()
        self.since_s = self.now_s()

    def lost(self) -> set[tuple[str, str]]:
        return {who for who, (_, at) in self.last_writes.items() if LOST_AFTER_S <= self.now_s() - at <= KEPT_S}

    def shares(self, egress: str) -> tuple[float, float]:
        lost = {machine for machine, _ in self.lost()}
        behind = {machine for machine, session in self.lost() if self.last_writes[machine, session][0] == egress}
        total = min(1.0, sum(self.machines.values()))
        return total - sum(map(self.machines.__getitem__, lost)), 1 - sum(map(self.machines.__getitem__, behind))

    def rows(self, machine: str, egress: str, keys: Sequence[str], is_written: bool) -> list[dict[str, Any]]:
        share, address_share = self.shares(egress)
        first = {
            "is_written": is_written,
            "now_epoch_s": self.now_s(),
            "since_epoch_s": self.since_s,
            "share": share,
            "address_share": address_share,
            "lost": [session for of_machine, session in self.lost() if of_machine == machine],
        }
        states = [(key, *self.states.get(key, (0, None))) for key in keys]
        rows = [{**first, "key": key, "version": version, "state": state} for key, version, state in states]
        return [*rows, {**first, "key": None, "version": 0, "state": None}]

    def read_quotas(self, account: str, machine: str, egress: str, keys: Sequence[str]) -> list[dict[str, Any]]:
        self._admit(account, machine)
        return self.rows(machine, egress, keys, False)

    def write_quotas(
        self,
        account: str,
        machine: str,
        egress: str,
        session: str,
        sent_s: float,
        share: float,
        address_share: float,
        keys: Sequence[str],
        versions: Sequence[int],
        states: Sequence[str],
    ) -> list[dict[str, Any]]:
        self._admit(account, machine)
        is_current = self.shares(egress) == (share, address_share) and self.now_s() - sent_s < EXECUTED_BY_S
        is_current &= all(
            self.states.get(key, (0, ""))[0] == version for key, version in zip(keys, versions, strict=True)
        )
        if is_current:
            for key, state in zip(keys, states, strict=True):
                version, before = self.states.get(key, (0, ""))
                self.states[key] = version + (state != before), state
            self.last_writes[machine, session] = egress, min(self.now_s(), sent_s)
        self.writes += is_current
        self.conflicts += not is_current
        return self.rows(machine, egress, keys, is_current)

    def end_permit_session(self, account: str, machine: str, session: str) -> list[dict[str, Any]]:
        self.last_writes.pop((machine, session), None)
        return []

    def _admit(self, account: str, machine: str) -> None:
        if account != self.account or machine not in self.machines:
            raise StoreRefused("TT003", f"{machine} has not joined this account", {})


class MemoryConnection:
    """One session's connection to the tables, as `PostgresServer` has it."""

    def __init__(self, quotas: MemoryQuotas, chance: random.Random, slowest_s: float = 0.002) -> None:
        self.away_since: float | None = 0.0
        self._quotas = quotas
        self._chance = chance
        self._slowest_s = slowest_s

    async def open(self) -> None:
        self.away_since = None

    async def aclose(self) -> None: ...

    def cut(self) -> None:
        self.away_since = asyncio.get_running_loop().time()

    def mend(self) -> None:
        self.away_since = None

    async def call(self, function: str, *arguments: Any, deadline_s: float = 2.0) -> list[dict[str, Any]]:
        if self.away_since is not None:
            raise StoreAway("it is cut off")
        await asyncio.sleep(self._chance.uniform(0, self._slowest_s / 2))
        rows: list[dict[str, Any]] = getattr(self._quotas, function)(*arguments)
        await asyncio.sleep(self._chance.uniform(0, self._slowest_s / 2))
        if self.away_since is not None:
            raise StoreAway("it was cut off before the answer")
        return rows
