"""Delivers a session's alerts by desktop and command, each once for the account, and keeps the log of them."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar, TypeVarTuple

from tradetui.desk.alerts.alert_event import Alert
from tradetui.desk.alerts.alert_log import AlertLog, LoggedAlert
from tradetui.desk.alerts.rules import AlertSettings, Channel
from tradetui.desk.alerts.user_program import CommandFailed
from tradetui.desk.task_groups import BackgroundTasks
from tradetui.exchange.clock import Clock, Moment
from tradetui.storage.disk_thread import Disk

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive

_log = logging.getLogger(__name__)

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

OTHERS_WAIT_S: Final = 2.0
"""How long a session leaves desktop and command to the one that was typed into last."""
TYPED_EVERY_S: Final = 2.0
"""Typing is noted at most so often."""
LIMIT_NOTICE_EVERY_S: Final = 60.0
"""At most so often it is said that the command is not run, since it would run too often; the log says it each time."""
_IN_MEMORY: Final = 200


class FrequencyLimit:
    """At most so many in so long."""

    def __init__(self, allowed: int, every_s: float, clock: Clock) -> None:
        self._allowed = allowed
        self._every_s = every_s
        self._clock = clock
        self._taken_s: deque[float] = deque()

    def take(self) -> bool:
        """Whether there is room for one more, which is then counted."""
        now_s = self._clock.monotonic()
        while self._taken_s and now_s - self._taken_s[0] >= self._every_s:
            self._taken_s.popleft()
        if len(self._taken_s) >= self._allowed:
            return False
        self._taken_s.append(now_s)
        return True


class AlertDelivery:
    """Delivers a session's alerts outside its screen.

    `desktop` shows a sentence outside the program, where the terminal supports that; `account` is the account's name,
    once it is known.
    """

    def __init__(self, settings: AlertSettings, clock: Clock, disk: Disk, owner: str) -> None:
        self.desktop: Callable[[str], None] | None = None
        self.account = ""
        self._settings = settings
        self._clock = clock
        self._disk = disk
        self._owner = owner
        self._commands = FrequencyLimit(settings.commands_a_minute, 60.0, clock)
        self._limit_notices = FrequencyLimit(1, LIMIT_NOTICE_EVERY_S, clock)
        self._typing = FrequencyLimit(1, TYPED_EVERY_S, clock)
        self._alert_log: AlertLog | None = None
        self._shared = False
        self._failure_listeners: list[Callable[[str], None]] = []
        self._memory: deque[LoggedAlert] = deque(maxlen=_IN_MEMORY)
        self._tasks = BackgroundTasks()

    def subscribe_failures(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call the listener with a sentence when an alert could not be delivered; returns what ends it."""
        self._failure_listeners.append(listener)
        return lambda: self._failure_listeners.remove(listener)

    def attach(self, archive: Archive) -> None:
        """Share desktop and command with the other sessions of the account from now on."""
        self._alert_log = AlertLog(archive, self._owner)
        self._shared = not archive.trimmed

    async def come_first(self) -> None:
        """Deliver before the account's other sessions, as one that was typed into; raises sqlite3.Error."""
        if self._alert_log is not None:
            await self._disk.run(self._alert_log.typed, Moment.now(self._clock))

    async def stop(self) -> None:
        """Deliver what was begun, for as long as others may need to; what is not done then is left to them."""
        try:
            await self._tasks.finish(OTHERS_WAIT_S + 1)
        finally:
            await self._tasks.stop()
        alert_log, self._alert_log = self._alert_log, None
        if alert_log is not None:
            await self._try("the archive does not take that a session ends", alert_log.leave)

    def typed(self) -> None:
        """A person typed into this session: it delivers first from now on."""
        if self._alert_log is not None and self._shared and self._typing.take():
            trouble = "the archive does not take that this session is used"
            self._tasks.begin(self._try(trouble, self._alert_log.typed, Moment.now(self._clock)))

    async def newest(self) -> Sequence[LoggedAlert]:
        """The alerts of the account, newest first; those of this session while its archive is not open."""
        log = self._alert_log
        alerts = None if log is None else await self._try("the log of alerts cannot be read", log.newest)
        return tuple(self._memory) if alerts is None else alerts

    async def unannounced_outcomes(self, settled: frozenset[str]) -> frozenset[str]:
        """Of settled reversals, by intent, those whose end no session has shown; raises sqlite3.Error."""
        if self._alert_log is None:
            return frozenset()
        return await self._disk.run(self._alert_log.unannounced_outcomes, settled, Moment.now(self._clock))

    def end_shown(self, intent: str) -> None:
        """Note for all sessions that the end of a reversal was shown without an alert."""
        if self._alert_log is not None:
            self._tasks.begin(self._disk.run(self._alert_log.end_shown, intent, Moment.now(self._clock)))

    def begin(self, alert: Alert, sounding: Callable[[], Awaitable[frozenset[Channel]]]) -> None:
        """Write an alert into the log, then deliver what falls to this session of the channels that sound by then."""
        delivery = ", ".join(sorted(alert.channels)) or "silenced"
        number = self._memory[0].number + 1 if self._memory else 1
        self._memory.appendleft(LoggedAlert(number, alert.at_ms, alert.sentence, ", ".join(alert.rules), delivery))
        self._tasks.begin(self._share(alert, sounding))

    async def _share(self, alert: Alert, sounding: Callable[[], Awaitable[frozenset[Channel]]]) -> None:
        logged: tuple[int, bool] | None = None
        if self._alert_log is not None:
            trouble, now = "an alert is delivered without the other sessions", Moment.now(self._clock)
            logged = await self._try(trouble, self._alert_log.note, alert, now)
        number, first = logged or (None, True)
        channels = alert.channels if alert.test else await sounding()
        deliveries = [
            self._deliver(alert, channel, number, first=first or alert.test)
            for channel in (Channel.DESKTOP, Channel.COMMAND)
            if channel in channels and self._reaches(channel)
        ]
        await asyncio.gather(*deliveries)

    def _reaches(self, channel: Channel) -> bool:
        return (self.desktop if channel is Channel.DESKTOP else self._settings.command) is not None

    async def _try(self, trouble: str, work: Callable[[*Arguments], Result], *args: *Arguments) -> Result | None:
        """The result of work on the archive; None where that fails, which is logged with its consequence."""
        try:
            return await self._disk.run(work, *args)
        except (sqlite3.Error, OSError) as problem:
            _log.warning("%s: %s", trouble, problem)
            return None

    async def _deliver(self, alert: Alert, channel: Channel, number: int | None, *, first: bool) -> None:
        """Deliver by one channel, unless another session does; at once where the archive cannot be asked."""
        if not first:
            await asyncio.sleep(OTHERS_WAIT_S)
        while number is not None and self._alert_log is not None:
            trouble, now = "an alert is delivered without asking the other sessions", Moment.now(self._clock)
            claim = await self._try(trouble, self._alert_log.claim, number, channel, now)
            if claim is None or claim.mine:
                break
            if claim.done:
                return
            await asyncio.sleep(claim.free_in_s)
        result = await self._handed_over(alert, channel)
        if number is not None and self._alert_log is not None:
            await self._try("an alert may be delivered again", self._alert_log.finish, number, channel, result)

    async def _handed_over(self, alert: Alert, channel: Channel) -> str:
        """Deliver by desktop or command; the result, as the log shows it."""
        if channel is Channel.DESKTOP:
            assert self.desktop is not None
            self.desktop(alert.sentence)
            return "sent"
        assert self._settings.command is not None
        if not self._commands.take():
            failure = f"not run: {self._settings.commands_a_minute} a minute are allowed"
            if self._limit_notices.take():
                self._say_failure(failure)
            return f"FAILED, {failure}"
        event = alert.as_json(self.account, self._settings.profile, self._settings.environment)
        try:
            await self._settings.command.run(f"{json.dumps(event)}\n")
        except CommandFailed as problem:
            self._say_failure(str(problem))
            return f"FAILED, {problem}"
        return "done"

    def _say_failure(self, failure: str) -> None:
        for listener in tuple(self._failure_listeners):
            listener(f"Alert command {failure}")
