"""Time as the exchange counts it: whole milliseconds since 1970, and the time spans that requests name.

Which ends a request gives, how long a span may be, and how a longer one is cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NamedTuple


def unix_ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def utc_moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


DAY_MS: Final = 86_400_000
NINETY_DAYS_MS: Final = 90 * DAY_MS
# Three calendar months are 89 to 92 days; pieces of 89 fit any of them, and the live exchange's 90 days.
SHORTEST_THREE_MONTHS_MS: Final = 89 * DAY_MS
ON_THE_WAY_MS: Final = 60_000
"""How long a request may wait and travel; meanwhile the oldest rows that the exchange keeps may be dropped."""


class Ends(StrEnum):
    """The ends, startTime and endTime, that a request must give."""

    OPTIONAL = "optional"
    BOTH_OR_NEITHER = "both-or-neither"
    REQUIRED = "required"


class Missing(StrEnum):
    """The exchange's assumption for an end that is not given."""

    UNSTATED = "unstated"
    THREE_MONTHS = "three-months"  # end: three months after the start; start: three months ago
    PREVIOUS_DAY = "previous-day"  # both: the previous day 00:00 to 23:59 UTC
    NEVER = "never"  # both must be given


class TimeRule(NamedTuple):
    """The time rule of an endpoint; lengths in milliseconds."""

    span_ms: int
    both: Ends = Ends.OPTIONAL
    missing: Missing = Missing.UNSTATED
    #: How far back the exchange tells anything; None where nothing is said.
    window_ms: int | None = None
    #: Whether, for a managed sub-account, the start cannot be earlier than its binding.
    from_binding: bool = False
    #: The longest span in the interface's words.
    span_text: str = "90 days"

    @property
    def piece_ms(self) -> int:
        """The longest piece that is certainly within the rule."""
        return SHORTEST_THREE_MONTHS_MS if self.missing is Missing.THREE_MONTHS else self.span_ms

    def kept_since(self, start: int, now_ms: int) -> int:
        """The start (ms), or a later one that the exchange still keeps when a request made now arrives."""
        return start if self.window_ms is None else max(start, now_ms - self.window_ms + ON_THE_WAY_MS)


THREE_MONTHS: Final = TimeRule(
    span_ms=NINETY_DAYS_MS, missing=Missing.THREE_MONTHS, span_text="three months, taken as 90 days,"
)
"""The rule of most futures endpoints."""


def split_span(start: int, end: int, piece: int) -> Iterator[tuple[int, int]]:
    """Cut start..end (ms, both included) into pieces of at most `piece` ms, newest first.

    Neighbouring pieces share their boundary moment, so that no row falls between them; rows on it come twice and
    are told apart by id. Nothing for an end before the start; one empty stretch is one piece.
    """
    if piece <= 0:
        raise ValueError("a piece must be longer than zero")
    if end < start:
        return
    while end - start > piece:
        yield end - piece, end
        end -= piece
    yield start, end
