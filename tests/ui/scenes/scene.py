"""One picture of the program: how its session is set up, what happens in it, and the words that must then be there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from unittest.mock import patch

from textual._doc import take_svg_screenshot
from textual.app import App
from textual.pilot import Pilot

from tests.bench.virtual_loop import VirtualLoop
from tests.ui.fixtures.app_on_sandbox import AppOnSandbox
from tests.ui.fixtures.virtual_time import drawn_before_it_is_dimmed, textual_in_loop_time
from tradetui.sandbox.app import Sandbox
from tradetui.ui.application.run_app import screen_text

Play = Callable[[AppOnSandbox, Pilot[None]], Awaitable[None]]

SIZE = (110, 34)
"""Columns and rows of a picture that has no reason for another size."""


async def _nothing(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    pass


@dataclass(frozen=True)
class Scene:
    """One picture, drawn in virtual time on an embedded exchange.

    `before` prepares the exchange before the program connects. `play` runs once the program has been open for
    `after` seconds. Every entry of `shows` must then stand on one line of the screen: without these words the
    picture would not be what its name says. A `published` scene is also written to `screenshots/`.

    A scene has a program and an exchange of its own, unless it `follows` another: then it goes on, `after` more
    seconds, where that one ended.
    """

    size: tuple[int, int]
    shows: tuple[str, ...]
    play: Play = _nothing
    before: Callable[[Sandbox], None] | None = None
    account: str = "hedge"
    stage: Callable[..., AppOnSandbox] = AppOnSandbox
    read_only: bool = False
    after: float = 8.0
    published: bool = False
    follows: Scene | None = field(default=None, repr=False)

    def then(
        self,
        shows: tuple[str, ...],
        play: Play = _nothing,
        *,
        size: tuple[int, int] | None = None,
        after: float = 0.0,
        published: bool = False,
    ) -> Scene:
        """The scene that follows this one, of the same size unless one is given."""
        return replace(
            self, size=size or self.size, shows=shows, play=play, after=after, published=published, follows=self
        )


class Performance:
    """Plays scenes, and leaves the program of the last one running for the scene that follows it.

    A scene whose predecessor was not the last to be played has all its predecessors played before it, so that its
    picture is the same alone and among others.
    """

    def __init__(self) -> None:
        self._running = ExitStack()
        self._stage: AppOnSandbox
        self._last: Scene | None = None

    def begin(self, scene: Scene) -> tuple[App[Any], Callable[[Pilot[None]], Awaitable[None]]]:
        """The program, and what is played in it before the picture is taken.

        What is played raises AssertionError where the screen does not show the words that make it this scene.
        """
        if scene.follows is None:
            self.end()
            self._stage = scene.stage(scene.account, read_only=scene.read_only, before=scene.before)
            self._running.enter_context(_run_in_loop_time(self._stage.app))
        elif scene.follows is not self._last:
            self.picture(scene.follows)
        return self._stage.app, partial(self._play, scene, self._stage)

    def picture(self, scene: Scene) -> str:
        """The picture of a scene, as SVG."""
        app, play = self.begin(scene)
        return take_svg_screenshot(app=app, terminal_size=scene.size, run_before=play)

    def end(self) -> None:
        """Close the program that is left running."""
        self._last = None
        self._running.close()

    async def _play(self, scene: Scene, stage: AppOnSandbox, pilot: Pilot[None]) -> None:
        self._last = None  # unless all goes well
        await asyncio.sleep(scene.after)
        await pilot.pause()
        await scene.play(stage, pilot)
        await pilot.pause()
        screen = screen_text(stage.app)
        assert all(len(line) <= scene.size[0] for line in screen.splitlines()), screen
        missing = [sentence for sentence in scene.shows if sentence not in screen]
        assert not missing, f"the screen does not show {missing}:\n{screen}"
        self._last = scene


@contextmanager
def _run_in_loop_time(app: App[Any]) -> Iterator[None]:
    """Let `app.run` play in virtual time, as `run_test` does it: the same order of tasks under every Python.

    Each further `app.run` goes on where the one before ended, in the size it is given.
    """
    pilots: list[Pilot[Any]] = []

    with (
        textual_in_loop_time(),
        drawn_before_it_is_dimmed(),
        asyncio.Runner(loop_factory=VirtualLoop) as runner,
        patch.object(app, "exit") as exit_with,
    ):
        session = AsyncExitStack()

        async def play(size: tuple[int, int], auto_pilot: Callable[[Pilot[Any]], Awaitable[None]]) -> None:
            if not pilots:
                pilots.append(await session.enter_async_context(app.run_test(size=size, notifications=True)))
            elif size != app.size:
                await pilots[0].resize_terminal(*size)
            await auto_pilot(pilots[0])
            if app._exception is not None:
                raise app._exception

        def run(*, headless: bool, size: tuple[int, int], auto_pilot: Callable[[Pilot[Any]], Awaitable[None]]) -> Any:
            try:
                runner.run(play(size, auto_pilot))
            except BaseException:
                runner.run(session.aclose())  # no other scene goes on in it
                raise
            return exit_with.call_args.args[0]

        with patch.object(app, "run", run):
            try:
                yield
            finally:
                runner.run(session.aclose())
