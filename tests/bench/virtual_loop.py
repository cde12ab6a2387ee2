"""Virtual time outside of pytest: a loop of it, and a coroutine run in one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import looptime

T = TypeVar("T")


def virtual_loop() -> asyncio.AbstractEventLoop:
    """A loop of its own whose time passes only while everything sleeps, and then at once."""
    loop = asyncio.new_event_loop()
    assert isinstance(loop, asyncio.BaseEventLoop)
    virtual: asyncio.AbstractEventLoop = looptime.patch_event_loop(loop, start=0, noop_cycles=1)
    return virtual


def run(work: Coroutine[Any, Any, T]) -> T:
    """The coroutine's result; no second passes while it sleeps."""
    loop = virtual_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()
