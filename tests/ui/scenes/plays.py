"""What happens in more than one scene."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial

from textual.pilot import Pilot

from tests.ui.fixtures.app_on_sandbox import AppOnSandbox
from tests.ui.scenes.scene import Play, Scene
from tradetui.ui.application.run_app import screen_text


def press(*keys: str) -> Play:
    """Press the keys and wait for a second."""

    async def play(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
        await pilot.press(*keys)
        await asyncio.sleep(1)

    return play


def in_turn(*plays: Play) -> Play:
    """One after the other."""

    async def play(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
        for part in plays:
            await part(stage, pilot)

    return play


async def _choose_theme(theme: str, stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    stage.app.choose_theme(theme)
    await asyncio.sleep(0.5)


def choose_theme(theme: str) -> Play:
    """Choose it by its name."""
    return partial(_choose_theme, theme)


async def stop_market(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    """Nothing trades and no price moves from here on."""
    stage.sandbox.exchange_state.stands_still = True


def in_light_and_sixteen_colours(name: str, scene: Scene) -> Iterator[tuple[str, Scene]]:
    """The scene that is called so, followed by itself in the themes where its colours say most."""
    yield name, scene
    for theme in ("tradetui-light", "tradetui-terminal"):
        scene = scene.then(scene.shows, choose_theme(theme))
        yield f"{theme}-{name}", scene


async def preview_reversal(stage: AppOnSandbox, pilot: Pilot[None]) -> None:
    """Open the reversal dialog on the position under the cursor; the market stands still from then on."""
    stage.sandbox.exchange_state.stands_still = True
    await asyncio.sleep(3)
    await pilot.press("R")
    await asyncio.sleep(2)


async def until_shown(stage: AppOnSandbox, pilot: Pilot[None], text: str, seconds: int = 300) -> None:
    """Let virtual time pass, a second at a time and so many at most, until the screen shows the words."""
    for _ in range(seconds):
        if text in screen_text(stage.app):
            return
        await asyncio.sleep(1)
        await pilot.pause()
