"""Moments as the exchange writes them: whole milliseconds since 1970, UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def unix_ms(moment: datetime) -> int:
    """A moment in Unix milliseconds."""
    return round(moment.timestamp() * 1000)


def utc_moment(at_ms: int) -> datetime:
    """The moment of a time in Unix milliseconds, in UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC)
