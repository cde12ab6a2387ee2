"""Lives with the whole application: keys in generated orders, and every dialog can be left at any moment."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from textual.pilot import Pilot

from tests.ui.fixtures.virtual_time import textual_in_loop_time
from tests.whole.lives.generate import plan_of
from tests.whole.lives.life import FREE_WITHIN_S, Life
from tests.whole.lives.plan import Plan
from tests.whole.lives.process import Process
from tradetui.ui.application.app import TradeApp
from tradetui.ui.application.run_app import screen_text
from tradetui.ui.settings.ui_settings import ProfileChoice, UiSettings

SIZE = (140, 44)
LEAVES_WITHIN = 8
TO_TYPE = re.compile(r"Type (\S+(?: (?:LONG|SHORT))?) to go on")
TYPED = "typed"
"""In the place of a key: the words that the dialog asks for."""
PIECES: tuple[tuple[str, ...], ...] = (
    ("R",),
    ("tab",),
    ("enter",),
    ("escape",),
    ("tab", "enter"),
    (TYPED, "tab", "enter"),
    (TYPED,),
    ("B", "T", "C"),
    ("pagedown",),
    ("3", "enter"),
    ("0", "full_stop", "5", "enter"),
    ("J",),
    ("L",),
    ("x",),
    ("space",),
    ("down",),
    ("enter", "enter", "enter"),
    ("R", "tab", "enter"),
)
CONFIRMS: tuple[tuple[tuple[str, ...], float], ...] = (
    (("2",), 0.1),
    (("R",), 1.6),
    (("pagedown", "pagedown"), 0.2),
    ((TYPED,), 0.3),
    (("tab",), 1.2),
    (("enter",), 0.2),
)
"""What a trader presses who means it, and how long is waited after each."""


def screen_plan_of(seed: int) -> Plan:
    """The life of a seed with one process that is not killed."""
    plan = plan_of(seed)
    return replace(plan, processes=plan.processes[:1], acts=(), weather_ends_s=75.0)


class ScreenLife(Life):
    """A life whose trader sits at the screen."""

    async def run(self) -> None:
        """From the first paint to the judgement."""
        self._begin()
        process = self._new_process(0)
        app = TradeApp(
            UiSettings(
                environment="LIVE",
                access="TRADE",
                profiles=[ProfileChoice("life", partial(self._open_desk, process))],
            )
        )
        with textual_in_loop_time():
            async with app.run_test(size=SIZE, notifications=True) as pilot:
                self._fate(self._watch_processes())
                await asyncio.sleep(3.0)
                await self._press_keys(pilot)
                await asyncio.sleep(max(0.0, self.plan.weather_ends_s - asyncio.get_running_loop().time()))
                await self._leave(pilot, "before the end")
                self.promises.note("the weather is over")
                self.network.heal()
                self._weather_over = True
                await self._later_fills_seen()
                await self._becomes_free()
                await self._leave(pilot, "in the end")
        await asyncio.sleep(1.0)
        left = [task for task in asyncio.all_tasks() - self._fates if task is not asyncio.current_task()]
        if left:
            self.promises.breaks("f", f"tasks left by the application: {left}")
        self.promises.judge_end()
        self._ending = True
        process.dead = True
        self._conclude()

    async def _becomes_free(self) -> None:
        """(e) In the end the symbol is free, or one deliberate release frees it."""
        loop = asyncio.get_running_loop()
        process, began_s, released = self.processes[0], loop.time(), False
        while loop.time() - began_s < FREE_WITHIN_S:
            if process.ready and not process.unsettled():
                return
            if self.plan.core_only and not released and loop.time() - began_s > FREE_WITHIN_S / 2:
                released = True
                self.verdict.hits["released in the end"] += 1
                self.promises.judge_release_in_the_end(self._ready_since_s.get(process, 0.0))
                await process.release_all()
            await asyncio.sleep(2.0)
        self.promises.breaks("e", f"the program is not free: {process.unsettled()} {process.trouble or ''}")

    def _open_desk(self, process: Process) -> Any:
        desk = process.build()
        execution = process.execution
        follow = execution.follow

        async def following(sent: Any) -> AsyncIterator[Any]:
            async for progress in follow(sent):
                self.promises.progressed(sent.intent, str(progress.state), str(progress.sentence)[:120])
                yield progress

        execution.follow = following  # type: ignore[method-assign]
        return desk

    # Keys

    async def _press_keys(self, pilot: Pilot[None]) -> None:
        random = Random(f"{self.plan.seed}/keys")
        loop = asyncio.get_running_loop()
        until_s = self.plan.weather_ends_s - 12.0
        while loop.time() < until_s:
            draw = random.random()
            if draw < 0.35:
                await self._leave(pilot, "before a reversal")
                for keys, wait_s in CONFIRMS:
                    await self._press(pilot, keys)
                    await asyncio.sleep(wait_s + random.choice((0.0, 0.0, 0.4)))
                await asyncio.sleep(random.choice((0.1, 1.0, 4.0, 12.0)))
            elif draw < 0.85:
                await self._press(pilot, random.choice(PIECES))
                await asyncio.sleep(random.choice((0.0, 0.1, 0.6, 1.5)))
            else:
                await self._leave(pilot, "in between")
                await asyncio.sleep(random.choice((0.2, 2.0)))

    async def _press(self, pilot: Pilot[None], keys: tuple[str, ...]) -> None:
        for key in keys:
            if key == TYPED:
                requested = TO_TYPE.search(screen_text(pilot.app))
                if requested is not None:
                    letters = ["space" if letter == " " else letter for letter in requested.group(1)]
                    await pilot.press(*letters, "enter")
            else:
                await pilot.press(key)
        self.verdict.hits["keys pressed"] += len(keys)

    async def _leave(self, pilot: Pilot[None], when: str) -> None:
        """(d) Every dialog can be left, whatever goes on."""
        self.verdict.hits["times everything was left"] += 1
        for _ in range(LEAVES_WITHIN):
            if len(pilot.app.screen_stack) <= self._base(pilot):
                return
            await pilot.press("escape")
            await asyncio.sleep(0.2)
        names = [type(screen).__name__ for screen in pilot.app.screen_stack]
        self.promises.breaks("d", f"{when} Esc does not leave {names}:\n{screen_text(pilot.app)}")

    def _base(self, pilot: Pilot[None]) -> int:
        """How many screens there are when none is in front of the main one."""
        names = [type(screen).__name__ for screen in pilot.app.screen_stack]
        return names.index("MainScreen") + 1 if "MainScreen" in names else 1
