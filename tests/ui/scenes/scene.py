"""One picture of the program: how its session is set up, what happens in it, and the words that must then be there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

from textual.app import App
from textual.pilot import Pilot

from tests.bench.virtual_loop import VirtualLoop
from tests.ui.fixtures.app_on_sandbox import AppOnSandbox
from tests.ui.fixtures.virtual_time import drawn_before_it_is_dimmed, textual_in_loop_time
from tradetui.sandbox.app import Sandbox
from tradetui.ui.application.screenshot import screen_text

Play = Callable[[AppOnSandbox, Pilot[None]], Awaitable[None]]

SIZE = (110, 34)
"""Columns and rows of a picture that has no reason for another size."""


async def _nothing(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    pass


@dataclass(frozen=True)
class Scene:
    """One picture, drawn in a virtual time of its own on an embedded exchange of its own.

    `before` prepares the exchange before the program connects. `play` runs once the program has been open for
    `after` seconds. Every entry of `shows` must then stand on one line of the screen: without these words the
    picture would not be what its name says. A `published` scene is also written to `screenshots/`.
    """

    size: tuple[int, int]
    shows: tuple[str, ...]
    play: Play = _nothing
    before: Callable[[Sandbox], None] | None = None
    account: str = "hedge"
    stage: type[AppOnSandbox] = AppOnSandbox
    read_only: bool = False
    after: float = 8.0
    published: bool = False

    @contextmanager
    def staged(self) -> Iterator[tuple[App[Any], Callable[[Pilot[None]], Awaitable[None]]]]:
        """The program on its stage, and what is played before the picture is taken.

        What is played raises AssertionError where the screen does not show the words that make it this scene.
        """
        stage = self.stage(self.account, read_only=self.read_only, before=self.before)
        with _run_in_loop_time(stage.app):
            yield stage.app, partial(self._perform, stage)

    async def _perform(self, stage: AppOnSandbox, pilot: Pilot[None]) -> None:
        await asyncio.sleep(self.after)
        await pilot.pause()
        await self.play(stage, pilot)
        await pilot.pause()
        screen = screen_text(stage.app)
        assert all(len(line) <= self.size[0] for line in screen.splitlines()), screen
        missing = [sentence for sentence in self.shows if sentence not in screen]
        assert not missing, f"the screen does not show {missing}:\n{screen}"


@contextmanager
def _run_in_loop_time(app: App[Any]) -> Iterator[None]:
    """Let `app.run` play in virtual time, as `run_test` does it: the same order of tasks under every Python."""

    def run(*, headless: bool, size: tuple[int, int], auto_pilot: Callable[[Pilot[Any]], Awaitable[None]]) -> Any:
        async def session() -> Any:
            async with app.run_test(headless=headless, size=size, notifications=True) as pilot:
                await auto_pilot(pilot)
            return app.return_value

        with textual_in_loop_time(), drawn_before_it_is_dimmed(), asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(session())

    with patch.object(app, "run", run):
        yield
