"""Keys one by one: what the passes through the queues leave to the paint of a key, and what they do not put off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
from textual import events
from textual.app import App

from tradetui.ui.key_bindings.key_queue import MOST_ROUNDS, PAINT_FIRST_S, ROUNDS, KeyOrder, TypedInput

pytestmark = pytest.mark.looptime


class FocusedNode:
    """What has the focus: it handles what is called later at once, and notes when that was."""

    def __init__(self) -> None:
        self.passes_at: list[float] = []

    @property
    def ancestors_with_self(self) -> list[FocusedNode]:
        return [self]

    def call_later(self, callback: Callable[..., Any], *arguments: Any) -> bool:
        self.passes_at.append(asyncio.get_running_loop().time())
        asyncio.get_running_loop().call_soon(lambda: asyncio.ensure_future(self._call(callback, *arguments)))
        return True

    async def _call(self, callback: Callable[..., Any], *arguments: Any) -> None:
        outcome = callback(*arguments)
        if asyncio.iscoroutine(outcome):
            await outcome


class OneNodeApp(FocusedNode):
    """An application with one focused node and nothing else."""

    is_running = True

    def __init__(self, node: FocusedNode) -> None:
        super().__init__()
        self.focused = node
        self.screen_stack = [node]


class KeysOfOneNode:
    """Keys that are handed to an application of one node; `dispatched` are they, with the time of each."""

    def __init__(self) -> None:
        self.node = FocusedNode()
        self.dispatched: list[tuple[str, float]] = []
        self.order = KeyOrder(cast("App[Any]", OneNodeApp(self.node)), self._dispatch)

    async def press(self, key: str) -> None:
        await self.order.add(events.Key(key, key))

    async def _dispatch(self, event: TypedInput) -> None:
        assert isinstance(event, events.Key)
        self.dispatched.append((event.key, asyncio.get_running_loop().time()))


async def test_the_paint_of_a_key_comes_before_the_passes_through_the_queues() -> None:
    keys = KeysOfOneNode()
    await keys.press("j")
    assert [key for key, _ in keys.dispatched] == ["j"]
    await asyncio.sleep(PAINT_FIRST_S * 0.9)
    assert keys.node.passes_at == []
    await asyncio.sleep(PAINT_FIRST_S)
    assert len(keys.node.passes_at) == ROUNDS
    assert not keys.order.is_busy


async def test_a_key_that_waits_does_not_wait_for_the_paint_of_the_one_before() -> None:
    keys = KeysOfOneNode()
    begin = asyncio.get_running_loop().time()
    await keys.press("j")
    await asyncio.sleep(PAINT_FIRST_S / 10)
    await keys.press("k")
    await keys.press("l")
    assert [key for key, _ in keys.dispatched] == ["j"]
    await asyncio.sleep(PAINT_FIRST_S / 10)
    assert [key for key, _ in keys.dispatched] == ["j", "k", "l"]
    assert keys.dispatched[-1][1] - begin < PAINT_FIRST_S
    assert ROUNDS * 2 <= len(keys.node.passes_at) <= MOST_ROUNDS * 2
