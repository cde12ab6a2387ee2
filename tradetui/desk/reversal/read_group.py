"""Reads that are begun together and end together: none goes on behind one that failed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

T = TypeVar("T")


class ReadGroup:
    """Where the block is left, for whatever reason, what still runs is cancelled and its end waited for."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[Any]] = []

    def begin(self, read: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin one; it is to be awaited within the block."""
        task = asyncio.create_task(read)
        self._tasks.append(task)
        return task

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
