"""A feed's state at one moment: immutable rows, their age and whether they are stale, and errors since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Generic, NamedTuple, Self

from tradetui.desk.tables.rows.row_source import FeedRow, FeedRowT_co
from tradetui.exchange.errors import ExchangeError
from tradetui.wire.error_codes import UNIFIED_ACCOUNT

STALE_INTERVALS, STALE_AT_LEAST_S = 2, 5.0
DEAD_INTERVALS, DEAD_AT_LEAST_S = 5, 15.0


class Freshness(StrEnum):
    LOADING = "loading"
    FRESH = "fresh"
    STALE = "stale"
    DEAD = "dead"

    @property
    def aged(self) -> bool:
        return self in (Freshness.STALE, Freshness.DEAD)


class StillReading(Exception):
    """No fault: more has to be read before anything can be shown; the message says how far it has come."""


class FeedError(NamedTuple):
    """Why the last read failed, in a sentence, and what to do about it."""

    sentence: str
    remedy: str
    code: str | None = None

    @property
    def of_account(self) -> bool:
        """Whether the exchange refuses the account as a whole, so that every feed fails alike."""
        return self.code == UNIFIED_ACCOUNT

    @classmethod
    def of(cls, problem: Exception) -> FeedError:
        """The error of anything a read may raise; unforeseen ones are named by their kind only."""
        if isinstance(problem, StillReading):
            return cls(str(problem), "", None)
        if isinstance(problem, ExchangeError):
            message = problem.message.strip().rstrip(".") or "no reason given"
            code = f" ({problem.code})" if problem.code else ""
            return cls(f"{problem.reason}: {message}{code}", problem.remedy or "", problem.code)
        return cls(f"The reply could not be processed: {type(problem).__name__}", "Please report it.", None)


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[FeedRowT_co]):
    """Rows of one feed. `generation` rises when a row changes.

    `read_at` is when it was last read well, in monotonic seconds, and `server_ms` the exchange's time of that;
    `undecodable_rows` counts rows that could not be read, `note` is a remark on the rows.
    """

    rows: tuple[FeedRowT_co, ...] = ()
    row_ids: tuple[str, ...] = ()
    generation: int = 0
    read_at: float | None = None
    error: FeedError | None = None
    undecodable_rows: int = 0
    note: str = ""
    server_ms: int | None = None
    index: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, rows: tuple[FeedRowT_co, ...], generation: int) -> Self:
        row_ids = tuple(row.row_id for row in rows)
        return cls(rows, row_ids, generation, index={row_id: index for index, row_id in enumerate(row_ids)})

    @property
    def count(self) -> int:
        return len(self.rows)

    def row(self, index: int) -> FeedRowT_co:
        return self.rows[index]

    def row_id(self, index: int) -> str:
        return self.row_ids[index]

    def index_of(self, row_id: str) -> int | None:
        return self.index.get(row_id)

    def read_like(self, other: Snapshot[FeedRow]) -> Self:
        """The same rows, read when and as well as those of another snapshot, from which they were made."""
        return replace(
            self,
            read_at=other.read_at,
            server_ms=other.server_ms,
            error=other.error,
            undecodable_rows=other.undecodable_rows,
            note=other.note,
        )

    def age(self, now: float) -> float | None:
        """Seconds since the last good read, None before the first."""
        return None if self.read_at is None else max(0.0, now - self.read_at)

    def freshness(self, now: float, interval: float) -> Freshness:
        """Loading before the first read; stale after two intervals (5 s at least), dead after five (15 s at least)."""
        age = self.age(now)
        if age is None:
            return Freshness.LOADING
        if age > max(DEAD_INTERVALS * interval, DEAD_AT_LEAST_S):
            return Freshness.DEAD
        if age > max(STALE_INTERVALS * interval, STALE_AT_LEAST_S):
            return Freshness.STALE
        return Freshness.FRESH
