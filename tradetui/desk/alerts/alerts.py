"""The alerts of a session: matches events with rules, shows them here, and delivers what no other session delivers."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Protocol

from tradetui.desk.alerts.claims import AlertClaims, LoggedAlert
from tradetui.desk.alerts.command import Command, CommandFailed, MinuteLimit
from tradetui.desk.alerts.event import Alert, AlertEvent, alert_of, one_sentence
from tradetui.desk.alerts.rules import DEFAULT_RULES, Channel, DesktopSequence, Rule, RuleKind
from tradetui.desk.alerts.threshold_watch import ThresholdWatch
from tradetui.desk.alerts.watch import AlertWatch
from tradetui.desk.feeds.market_context import MarketContext
from tradetui.desk.feeds.polling.health import LinkState
from tradetui.desk.feeds.polling.snapshot import Snapshot
from tradetui.desk.tables.account_totals import totals_of
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange.clock import Clock, Moment
from tradetui.storage.disk_thread import Disk
from tradetui.trading.positions import Position
from tradetui.wire.models.futures import FuturesAccount, FuturesFill, PendingOrder, TriggerOrder

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive
    from tradetui.desk.reversal.progress import Progress, Sent

_log = logging.getLogger(__name__)

OTHERS_WAIT_S: Final = 2.0
"""How long a session leaves desktop and command to the one that was typed into last."""
TYPED_EVERY_S: Final = 2.0
"""Typing is noted at most so often."""
TRIGGERS_AGAIN_S: Final = 10.0
"""At most so often new fills have the trigger orders read at once."""
LIMIT_SAID_EVERY_S: Final = 60.0
"""At most so often it is said that the command is not run, since it would run too often; the log says it each time."""
_IN_MEMORY: Final = 200


class Silences(Protocol):
    """Where the names of silenced rules are kept; both calls block and belong on the disk's thread."""

    def read(self) -> frozenset[str]:
        """The names; none where they cannot be read."""
        ...

    def write(self, names: frozenset[str]) -> None:
        """Keep other names; raises OSError."""
        ...


class MemorySilences:
    """Silences that end with the session."""

    def __init__(self) -> None:
        self._names: frozenset[str] = frozenset()

    def read(self) -> frozenset[str]:
        return self._names

    def write(self, names: frozenset[str]) -> None:
        self._names = names


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSettings:
    """The rules of a profile, where their silences are kept, and the program that alerts are handed to.

    `desktop_sequence` is None where the terminal decides how it is asked for a notification. `profile` and
    `environment` tell a command whose alert it is.
    """

    rules: tuple[Rule, ...] = DEFAULT_RULES
    silences: Silences = field(default_factory=MemorySilences)
    command: Command | None = None
    commands_a_minute: int = 10
    desktop_sequence: DesktopSequence | None = None
    profile: str = ""
    environment: str = ""


class Alerts:
    """What of a session is worth a word. Nothing runs while nothing happens.

    `desktop` shows a sentence outside the program, where there is a terminal that does; `account` is the account's
    name, once it is known. `unseen` counts the alerts shown since the list of them was looked at, `newest` is the last.
    """

    def __init__(
        self,
        settings: AlertSettings,
        clock: Clock,
        disk: Disk,
        owner: str,
        read_triggers: Callable[[], None],
        market: MarketContext | None = None,
    ) -> None:
        """`owner` names this session among those of the account; `read_triggers` has the trigger orders read soon.

        Without a `market` prices are the marks of the positions held.
        """
        self.settings = settings
        self.desktop: Callable[[str], None] | None = None
        self.account = ""
        self.unseen = 0
        self.newest: Alert | None = None
        self.silenced: frozenset[str] = frozenset()
        self._clock = clock
        self._disk = disk
        self._owner = owner
        self._read_triggers = read_triggers
        self._market = market
        self._watch = AlertWatch() if market is None else AlertWatch(market.precision_of)
        self._thresholds = ThresholdWatch(rule.condition for rule in settings.rules)
        self._kinds = {rule.condition.kind for rule in settings.rules}
        self._limit = MinuteLimit(settings.commands_a_minute, clock)
        self._claims: AlertClaims | None = None
        self._shared = False
        self._typed_s = -TYPED_EVERY_S
        self._triggers_read_s = -TRIGGERS_AGAIN_S
        self._listeners: list[Callable[[Alert], None]] = []
        self._failure_listeners: list[Callable[[str], None]] = []
        self._memory: deque[LoggedAlert] = deque(maxlen=_IN_MEMORY)
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._waiting_symbols: set[str] = set()
        self._marks: Mapping[str, Decimal] = {}
        self._limit_said_s = -LIMIT_SAID_EVERY_S

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the profile."""
        return self.settings.rules

    @property
    def looks_at_today(self) -> bool:
        """Whether a rule is about today's result."""
        return RuleKind.TODAY_RESULT_BELOW in self._kinds

    def use_rules(self, rules: tuple[Rule, ...]) -> None:
        """Go by other rules from now on; a level that stays fires no second time for that."""
        self.settings = replace(self.settings, rules=rules)
        self._kinds = {rule.condition.kind for rule in rules}
        self._thresholds.use_conditions(rule.condition for rule in rules)

    def subscribe(self, listener: Callable[[Alert], None]) -> Callable[[], None]:
        """Call the listener for every alert that is not silenced; returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def subscribe_failures(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call the listener with a sentence when an alert could not be delivered; returns what ends it."""
        self._failure_listeners.append(listener)
        return lambda: self._failure_listeners.remove(listener)

    async def attach(self, archive: Archive) -> None:
        """Share desktop and command with the other sessions of the account from now on."""
        self._claims = AlertClaims(archive, self._owner)
        self._shared = not archive.trimmed
        self.silenced = await self._disk.run(self.settings.silences.read)
        await self._disk.run(self._claims.typed, Moment.now(self._clock))

    async def stop(self) -> None:
        """End; what this session claimed and has not done is left to others."""
        if self._timer is not None:
            self._timer.cancel()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        claims, self._claims = self._claims, None
        if claims is not None:
            try:
                await self._disk.run(claims.leave)
            except (sqlite3.Error, OSError) as problem:
                _log.warning("the archive does not take that a session ends (%s)", problem)

    # What the desk brings

    def fills_changed(self, snapshot: Snapshot[ProductRow[FuturesFill]], now_ms: int) -> None:
        """Look at the fills; `now_ms` is the exchange's time."""
        new_fills = self._watch.fills_changed(snapshot, self._clock.monotonic(), now_ms)
        if any(map(self._may_be_of_trigger, new_fills)):
            now_s = self._clock.monotonic()
            if now_s - self._triggers_read_s >= TRIGGERS_AGAIN_S:
                self._triggers_read_s = now_s
                self._read_triggers()
        self._tick()

    def triggers_changed(
        self,
        snapshot: Snapshot[ProductRow[TriggerOrder]],
        waiting: Iterable[ProductRow[TriggerOrder]],
        now_ms: int,
    ) -> None:
        """Look at the trigger orders that ended, and those that wait, where the exchange tells them."""
        self._waiting_symbols = {row.record.symbol.upper() for row in waiting}
        self._publish(self._watch.triggers_changed(snapshot, self._clock.monotonic(), now_ms))
        self._tick()

    def orders_changed(self, snapshot: Snapshot[ProductRow[PendingOrder]]) -> None:
        """Look at the pending orders."""
        self._watch.orders_changed(snapshot, self._clock.monotonic())
        self._tick()

    def positions_changed(self, snapshot: Snapshot[Position]) -> None:
        """Look at the positions."""
        self._watch.positions_changed(snapshot)
        if snapshot.error is None:
            now_s = self._clock.monotonic()
            self._publish(self._thresholds.positions(snapshot.rows, now_s))
            self._marks = {position.symbol: position.mark for position in snapshot.rows if position.mark is not None}
            self.prices_changed()
        self._tick()

    def prices_changed(self) -> None:
        """Look at the prices that rules are about: the market's, or the marks of positions where it has none."""
        prices = {}
        for symbol in self._thresholds.priced_symbols:
            price = self._market.mark_named(symbol) if self._market is not None else None
            price = price or self._marks.get(symbol)
            if price is not None:
                prices[symbol] = price
        self._publish(self._thresholds.prices(prices, self._clock.monotonic()))

    def accounts_changed(self, snapshot: Snapshot[ProductRow[FuturesAccount]], positions: Sequence[Position]) -> None:
        """Look at the margin ratio of accounts and isolated positions."""
        if snapshot.error is None and RuleKind.MARGIN_RATIO_ABOVE in self._kinds:
            ratio = totals_of([row.record for row in snapshot.rows], positions).worst_margin_ratio
            self._publish(self._thresholds.margin_ratio(ratio, self._clock.monotonic()))

    def today_changed(self, usdt: Decimal, part: Decimal | None) -> None:
        """Look at today's result, in USDT and as a fraction of what was there, where that is known."""
        self._publish(self._thresholds.today(usdt, part, self._clock.monotonic()))

    def link_is(self, state: LinkState, sentence: str) -> None:
        """Look at the link."""
        self._publish(self._watch.link_is(state, sentence))

    def reversal_went_on(self, sent: Sent, progress: Progress) -> None:
        """Look at a reversal that was sent."""
        self._publish(self._watch.reversal_went_on(sent, progress))

    def _may_be_of_trigger(self, fill: ProductRow[FuturesFill]) -> bool:
        """Whether a waiting trigger may have made a fill: its sentence is then that of the trigger."""
        return fill.record.symbol.upper() in self._waiting_symbols and not self._watch.is_pending(fill)

    def _tick(self) -> None:
        """Publish what is due, and look again when something may be."""
        self._publish(self._watch.take_due(self._clock.monotonic()))
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due_s = self._watch.next_due_s
        if due_s is not None:
            delay = max(0.0, due_s - self._clock.monotonic())
            self._timer = asyncio.get_running_loop().call_later(delay, self._tick)

    # What a person does

    def typed(self) -> None:
        """A person typed into this session: it delivers first from now on."""
        now_s = self._clock.monotonic()
        if self._claims is not None and self._shared and now_s - self._typed_s >= TYPED_EVERY_S:
            self._typed_s = now_s
            self._start(self._note_typing(self._claims))

    def seen(self) -> None:
        """The list of alerts was looked at."""
        self.unseen = 0

    async def silence(self, name: str, *, on: bool) -> None:
        """Silence a rule, or let it sound again, in every session of the profile; raises OSError."""
        silenced = await self._disk.run(self.settings.silences.read)
        self.silenced = silenced | {name} if on else silenced - {name}
        await self._disk.run(self.settings.silences.write, self.silenced)

    def test(self, rule: Rule) -> None:
        """Send a test through the channels of a rule, silenced or not."""
        now = Moment.now(self._clock)
        event = AlertEvent(
            kinds=frozenset({rule.condition.kind}),
            key=f"test|{self._owner}|{now.monotonic_s}",
            sentence=one_sentence(f"Test of the alert {rule.name}: nothing happened"),
            symbol=rule.condition.symbol,
        )
        self._show(Alert(event, now.at_ms, rule.channels, (rule.name,), test=True))

    async def log(self) -> Sequence[LoggedAlert]:
        """The alerts of the account, newest first; those of this session while its archive is not open."""
        if self._claims is None:
            return tuple(self._memory)
        try:
            return await self._disk.run(self._claims.newest)
        except (sqlite3.Error, OSError):
            return tuple(self._memory)

    # What becomes of an event

    def _publish(self, events: Iterable[AlertEvent]) -> None:
        for event in events:
            alert = alert_of(event, self.rules, self.silenced, self._clock.wall_ms())
            if alert is not None:
                self._show(alert)

    def _show(self, alert: Alert) -> None:
        delivery = ", ".join(sorted(alert.channels)) or "silenced"
        number = self._memory[0].number + 1 if self._memory else 1
        self._memory.appendleft(LoggedAlert(number, alert.at_ms, alert.sentence, ", ".join(alert.rules), delivery))
        if alert.channels:
            self.newest = alert
            self.unseen += 1
            for listener in tuple(self._listeners):
                listener(alert)
        self._start(self._share(alert))

    async def _share(self, alert: Alert) -> None:
        """Write the alert into the log, and deliver what falls to this session."""
        number, first = await self._noted(alert)
        channels = alert.channels if alert.test else await self._sounding(alert.event)
        deliveries = [
            self._deliver(alert, channel, number, first=first or alert.test)
            for channel in (Channel.DESKTOP, Channel.COMMAND)
            if channel in channels and self._reaches(channel)
        ]
        await asyncio.gather(*deliveries)

    async def _sounding(self, event: AlertEvent) -> frozenset[Channel]:
        """The channels of an event as its rules are silenced now: another session may have done so."""
        self.silenced = await self._disk.run(self.settings.silences.read)
        alert = alert_of(event, self.rules, self.silenced, self._clock.wall_ms())
        return alert.channels if alert is not None else frozenset()

    def _reaches(self, channel: Channel) -> bool:
        return (self.desktop if channel is Channel.DESKTOP else self.settings.command) is not None

    async def _noted(self, alert: Alert) -> tuple[int | None, bool]:
        if self._claims is None:
            return None, True
        try:
            return await self._disk.run(self._claims.note, alert, Moment.now(self._clock))
        except (sqlite3.Error, OSError) as problem:
            _log.warning("an alert is delivered without the other sessions: %s", problem)
            return None, True

    async def _deliver(self, alert: Alert, channel: Channel, number: int | None, *, first: bool) -> None:
        """Deliver by one channel, unless another session does; at once where the archive cannot be asked."""
        if not first:
            await asyncio.sleep(OTHERS_WAIT_S)
        while number is not None and self._claims is not None:
            try:
                claim = await self._disk.run(self._claims.claim, number, channel, Moment.now(self._clock))
            except (sqlite3.Error, OSError):
                break
            if claim.done:
                return
            if claim.mine:
                break
            await asyncio.sleep(claim.free_in_s)
        result = await self._handed_over(alert, channel)
        if number is not None and self._claims is not None:
            try:
                await self._disk.run(self._claims.finish, number, channel, result)
            except (sqlite3.Error, OSError) as problem:
                _log.warning("an alert may be delivered again: %s", problem)

    async def _handed_over(self, alert: Alert, channel: Channel) -> str:
        """Deliver, and say what came of it."""
        if channel is Channel.DESKTOP:
            assert self.desktop is not None
            self.desktop(alert.sentence)
            return "sent"
        command = self.settings.command
        assert command is not None
        if not self._limit.take():
            failure = f"not run: {self.settings.commands_a_minute} a minute are allowed"
            if (now_s := self._clock.monotonic()) - self._limit_said_s >= LIMIT_SAID_EVERY_S:
                self._limit_said_s = now_s
                self._say_failure(failure)
        else:
            event = alert.as_json(self.account, self.settings.profile, self.settings.environment)
            try:
                await command.run(f"{json.dumps(event)}\n")
            except CommandFailed as problem:
                failure = str(problem)
                self._say_failure(failure)
            else:
                return "done"
        return f"FAILED, {failure}"

    def _say_failure(self, failure: str) -> None:
        for listener in tuple(self._failure_listeners):
            listener(f"Alert command {failure}")

    async def _note_typing(self, claims: AlertClaims) -> None:
        try:
            await self._disk.run(claims.typed, Moment.now(self._clock))
        except (sqlite3.Error, OSError) as problem:
            _log.warning("the archive does not take that this session is used (%s)", problem)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
