"""Runs a coroutine in virtual time outside of pytest."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import looptime

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """The coroutine's result; no second passes while it sleeps."""
    plain = asyncio.new_event_loop()
    assert isinstance(plain, asyncio.BaseEventLoop)
    loop = looptime.patch_event_loop(plain, start=0, noop_cycles=1)
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()
