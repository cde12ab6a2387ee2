"""Ids for intents: the clientOid of a reversal."""

from __future__ import annotations

from collections.abc import Callable
from random import Random


def new_ids(random: Random) -> Callable[[], str]:
    """Ids of 28 characters that no other program's orders begin with."""
    return lambda: f"tt-{random.getrandbits(100):025x}"
