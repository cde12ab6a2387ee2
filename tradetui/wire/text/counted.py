"""Counts with their noun in the singular or plural."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """`1 row`, `2,000 rows`: the count with thousands grouped, and a regular noun in its number."""
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


def shown_of(shown: int, count: int) -> str:
    """`12/2,000` where only some are shown, else the count of all: `2,000`."""
    return f"{count:,}" if shown == count else f"{shown:,}/{count:,}"
