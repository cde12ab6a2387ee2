"""Writes what was chosen on the screen, one choice after the other, so that an older one never replaces a newer one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from tradetui.ui.safe_text import notify
from tradetui.ui.settings.preferences import ScreenPreferences

if TYPE_CHECKING:
    from textual.app import App
    from textual.worker import Worker

Keep: TypeAlias = Callable[[ScreenPreferences], None]


class PreferenceWriter:
    """Holds the newest choices of each profile until they are written."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._unwritten: dict[str, tuple[Keep, ScreenPreferences]] = {}
        self._worker: Worker[None] | None = None

    def write(self, profile: str, keep: Keep | None, preferences: ScreenPreferences) -> None:
        """Write a profile's choices soon; `keep` writes them and is called in a thread, None keeps nothing."""
        if keep is None:
            return
        self._unwritten[profile] = (keep, preferences)
        if self._worker is None or self._worker.is_finished:
            self._worker = self._app.run_worker(self._write_all(), group="preferences", exit_on_error=False)

    async def written(self) -> None:
        """Wait until everything chosen so far is written, or could not be."""
        if self._worker is not None and not self._worker.is_finished:
            await self._worker.wait()

    async def _write_all(self) -> None:
        while self._unwritten:
            keep, preferences = self._unwritten.pop(next(iter(self._unwritten)))
            try:
                await asyncio.to_thread(keep, preferences)
            except OSError as problem:
                notify(self._app, f"Your choice could not be saved: {problem}", severity="warning", seconds=8)
