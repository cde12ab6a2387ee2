"""Textual in the event loop's time, and a screen on the embedded exchange in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

from textual.pilot import Pilot

from tests.sandbox.born_once import born_once
from tradetui.commands.session.demo_desk import build_sandbox, open_demo_desk
from tradetui.desk.creation.account_keys import MakeProfile
from tradetui.desk.desk import Desk
from tradetui.exchange.clock import LoopClock
from tradetui.sandbox.app import Sandbox
from tradetui.storage.disk_thread import InlineDisk
from tradetui.ui.application.app import TradeApp
from tradetui.ui.settings.ui_settings import ProfileChoice, UiSettings

START_MS = 1_785_585_600_000
"""2026-08-01 12:00:00 UTC."""
FRAME_S = 0.05
NEWEST_FILLS = 60


@contextmanager
def textual_in_loop_time() -> Iterator[None]:
    """Bind Textual's clock to the running loop, and its waiting for idleness to a frame of that time."""

    async def a_frame(*_: float) -> None:
        await asyncio.sleep(FRAME_S)

    def now() -> float:
        return asyncio.get_running_loop().time()

    with (
        patch("textual._time.get_time", now),
        # A message in a corner goes when its timer in the loop says so; its own clock is the machine's.
        patch("textual.notifications.Notification.has_expired", False),
        patch("textual.notifications.Notification.time_left", property(lambda notification: notification.timeout)),
        patch("textual.app.wait_for_idle", a_frame),
        patch("textual.pilot.wait_for_idle", a_frame),
    ):
        yield


class Stage:
    """An application on a sandbox of its own; `sandbox` is there once a desk is open.

    `permissions` are those of every key, where they are given; `before` prepares the exchange before anything connects.
    """

    fills_kept: int | None = None

    def __init__(
        self,
        name: str = "hedge",
        *,
        seed: int = 7,
        read_only: bool = False,
        permissions: frozenset[str] | None = None,
        data_dir: Path | None = None,
        account_admin: bool = True,
        make_profile: MakeProfile | None = None,
        before: Callable[[Sandbox], None] | None = None,
        **settings: object,
    ) -> None:
        self.clock = LoopClock(START_MS)
        self.seed = seed
        self.permissions = permissions
        self.admin = {"data_dir": data_dir, "account_admin": account_admin, "make_profile": make_profile}
        self.before = before
        self.built: Sandbox | None = None
        names = (
            *("hedge", "one-way", "coin", "broker", "managed", "unified", "copy-old", "copy-new", "at-limits"),
            *("multi-assets", "isolated"),
        )
        self.app = TradeApp(
            UiSettings(
                environment="SANDBOX",
                access="MONITOR" if read_only else "TRADE",
                profiles=[ProfileChoice(profile, partial(self._open, profile, read_only)) for profile in names],
                chosen=names.index(name),
                inline_start=True,
                **settings,  # type: ignore[arg-type]
            )
        )

    @property
    def sandbox(self) -> Sandbox:
        """The embedded exchange."""
        assert self.built is not None
        return self.built

    @property
    def desk(self) -> Desk:
        """The open desk."""
        assert self.app.desk is not None
        return self.app.desk

    def build_sandbox(self) -> Sandbox:
        """The embedded exchange as it is at the start; an account's past is made once a process."""
        sandbox = build_sandbox(self.seed, self.clock)
        born_once(sandbox.exchange_state, fills=self.fills_kept)
        return sandbox

    def _open(self, name: str, read_only: bool) -> Desk:
        if self.built is None:
            self.built = self.build_sandbox()
            if self.permissions is not None:
                keys = self.built.exchange_state.keys
                keys[:] = [replace(key, permissions=self.permissions) for key in keys]
            if self.before is not None:
                self.before(self.built)
        return open_demo_desk(
            self.built,
            name,
            read_only=read_only,
            clock=self.clock,
            disk=InlineDisk(),
            **self.admin,  # type: ignore[arg-type]
        )

    @asynccontextmanager
    async def running(self, size: tuple[int, int] = (120, 36), after: float = 3.0) -> AsyncIterator[Pilot[None]]:
        """The application running for so many seconds."""
        with textual_in_loop_time():
            async with self.app.run_test(size=size, notifications=True) as pilot:
                await asyncio.sleep(after)
                await pilot.pause()
                yield pilot


class BriefStage(Stage):
    """A stage whose accounts have no more than their newest fills, for what is not about the past.

    Reading ninety days of them into the archive is a third of what the first seconds take.
    """

    fills_kept = NEWEST_FILLS


class MonthStage(Stage):
    """A stage whose accounts have traded for little more than a month: more than a panel holds, read within 30 s."""

    fills_kept = 400


def newest_message(stage: Stage) -> str:
    """The newest message in a corner."""
    return [notification.message for notification in stage.app._notifications][-1]
