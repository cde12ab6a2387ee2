"""Pictures of the running application without a terminal: SVG, or plain text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from textual._context import visible_screen_stack
from textual.app import App

from tradetui.ui.key_bindings.profile_bindings import is_key_name

DRAWN_WITHIN_S = 0.3


async def picture(app: App[Any], size: tuple[int, int], after: float, keys: Sequence[str], *, as_text: bool) -> str:
    """Run for some seconds, press the keys (Textual's names, `wait:500` waits) and return the screen."""
    async with app.run_test(size=size, notifications=True) as pilot:
        await asyncio.sleep(after)
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
        if keys:
            await asyncio.sleep(DRAWN_WITHIN_S)
        await pilot.pause()
        return screen_text(app) if as_text else app.export_screenshot(simplify=True)


def is_key(name: str) -> bool:
    """Whether a key can be pressed by this name: one character, Textual's name of it, or `wait:` and milliseconds."""
    if name.startswith("wait:"):
        return name[5:].isdecimal()
    return is_key_name(name)


def screen_text(app: App[Any]) -> str:
    """The characters on the screen, line by line, without colours; behind a dialog, those of the screen."""
    visible_screen_stack.set(app._background_screens)
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips()) + "\n"
