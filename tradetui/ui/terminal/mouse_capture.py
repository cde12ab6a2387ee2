"""Takes the mouse from the terminal, or leaves it to the terminal, whose own selection works then."""

from __future__ import annotations

from typing import Any, Final

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

MOUSE_ON: Final = "The mouse works here again."
MOUSE_OFF: Final = "The mouse is left to the terminal: its own selection works now. The palette switches it on again."


def switch_mouse(app: App[Any], *, on: bool) -> None:
    """Take the mouse, or leave it to the terminal, also after a suspension; nothing without a terminal."""
    driver = app._driver
    if not isinstance(driver, LinuxDriver) or driver._mouse == on:
        return
    if on:
        driver._mouse = True
        driver._enable_mouse_support()
    else:
        driver._disable_mouse_support()
        driver._mouse = False
    driver.flush()
