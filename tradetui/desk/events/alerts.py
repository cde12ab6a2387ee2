"""The alerts of a session: matches events with rules, shows them, and delivers them unless another session does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from tradetui.desk.events.delivery import AlertDelivery, FrequencyLimit, LoggedAlert
from tradetui.desk.events.detector import AlertDetector
from tradetui.desk.events.rules import (
    DEFAULT_RULES,
    Alert,
    AlertChoices,
    AlertEvent,
    AlertSettings,
    Channel,
    Condition,
    Rule,
    RuleKind,
    alert_of,
    one_sentence,
    with_made,
)
from tradetui.desk.events.thresholds import ThresholdDetector, sentence_at_level
from tradetui.desk.feeds.market_context import MarketContext
from tradetui.desk.feeds.polling.feed import Snapshot
from tradetui.desk.feeds.polling.session_health import LinkState
from tradetui.desk.publisher import Publisher
from tradetui.desk.reversal.outcome import SearchStage
from tradetui.desk.tables.cells.column import Column, Tone, ranked, text_column, time_column
from tradetui.desk.tables.rows.product_row import ProductRow
from tradetui.exchange.clock import Clock, Moment
from tradetui.storage.disk_thread import Disk
from tradetui.trading.account_totals import totals_of
from tradetui.trading.positions import Position
from tradetui.wire.exchange_time import utc_moment
from tradetui.wire.models.futures import FuturesFill, PendingOrder, TriggerOrder
from tradetui.wire.models.futures_accounts import FuturesAccount

if TYPE_CHECKING:
    from tradetui.desk.archive.database import Archive
    from tradetui.desk.results.today import TodayResult
    from tradetui.desk.reversal.progress import Progress, Sent

TRIGGERS_AGAIN_S: Final = 10.0
"""The shortest time between two extra reads of the trigger orders caused by new fills."""


class Foretold(NamedTuple):
    """The sentence that a new rule would have: now, at its level, or for the newest event of its kind.

    It is empty if no such sentence can be made.
    """

    sentence: str
    fires_at_once: bool = False


class Alerts(Publisher[Alert]):
    """The alerts of one session; those that are not silenced are published.

    It has no task: it works when the desk calls it, or when a timer is due.

    `unseen` counts the alerts shown since their list was last opened, `newest` is the last one. `rules` are those in
    force: the profile's and those made on the screen.
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
        """Create the alerts; `owner` identifies this session within the account.

        `read_triggers` makes the trigger orders be read soon. Without a `market`, prices are the marks of held
        positions.
        """
        super().__init__()
        self.settings = settings
        self.delivery = AlertDelivery(settings, clock, disk, owner)
        self.unseen = 0
        self.newest: Alert | None = None
        self.choices = AlertChoices()
        self._clock = clock
        self._disk = disk
        self._owner = owner
        self._read_triggers = read_triggers
        self._market = market
        self._detector = AlertDetector() if market is None else AlertDetector(market.precision_of)
        self._thresholds = ThresholdDetector(())
        self._trigger_reads = FrequencyLimit(1, TRIGGERS_AGAIN_S, clock)
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False
        self._waiting_symbols: set[str] = set()
        self._marks: Mapping[str, Decimal] = {}
        self._use(self.choices)

    def is_written(self, name: str) -> bool:
        """Whether the configuration has an alert of this name; one made on the screen does not replace it."""
        return any(rule.name == name for rule in self.settings.rules if rule not in DEFAULT_RULES)

    @property
    def looks_at_today(self) -> bool:
        return self._has_rules_of(RuleKind.TODAY_RESULT_BELOW)

    def _has_rules_of(self, kind: RuleKind) -> bool:
        return any(rule.condition.kind is kind for rule in self.rules)

    def use_rules(self, rules: tuple[Rule, ...]) -> None:
        """Use other rules of the profile from now on; a threshold in both does not fire again because of that."""
        self.settings = replace(self.settings, rules=rules)
        self._use(self.choices)

    def _use(self, choices: AlertChoices) -> None:
        self.rules = with_made(self.settings.rules, choices.made)
        self.choices = choices._replace(made=tuple(rule for rule in choices.made if rule in self.rules))
        self._thresholds.use_conditions(rule.condition for rule in self.rules)

    async def attach(self, archive: Archive) -> None:
        """Use the archive shared by the account's sessions, and the silenced rules."""
        self.delivery.attach(archive)
        await self.read_choices()
        await self.delivery.come_first()

    async def read_choices(self) -> None:
        """Read the choices made on the screen of this or another session of the profile."""
        self._use(await self._disk.run(self.settings.choices.read))

    async def stop(self) -> None:
        """Deliver the alerts already begun; after three seconds the rest is left to other sessions."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        await self.delivery.stop()

    def fills_changed(self, snapshot: Snapshot[ProductRow[FuturesFill]], now_ms: int) -> None:
        """Process the fills; `now_ms` is the exchange's time."""
        new_fills = self._detector.fills_changed(snapshot, self._clock.monotonic(), now_ms)
        if any(map(self._may_be_of_trigger, new_fills)) and self._trigger_reads.take():
            self._read_triggers()
        self._publish_due()

    def triggers_changed(
        self, snapshot: Snapshot[ProductRow[TriggerOrder]], waiting: Iterable[ProductRow[TriggerOrder]], now_ms: int
    ) -> None:
        """Process the ended trigger orders, and the waiting ones if the exchange reports them."""
        self._waiting_symbols = {row.record.symbol.upper() for row in waiting}
        self._publish(self._detector.triggers_changed(snapshot, self._clock.monotonic(), now_ms))
        self._publish_due()

    def orders_changed(self, snapshot: Snapshot[ProductRow[PendingOrder]]) -> None:
        self._publish(self._detector.orders_changed(snapshot, self._clock.monotonic()))

    def positions_changed(self, snapshot: Snapshot[Position]) -> None:
        self._detector.positions_changed(snapshot)
        if snapshot.error is None:
            now_s = self._clock.monotonic()
            self._publish(self._thresholds.positions(snapshot.rows, now_s))
            self._marks = {position.symbol: position.mark for position in snapshot.rows if position.mark is not None}
            self.prices_changed()
        self._publish_due()

    def prices_changed(self) -> None:
        """Check the prices in rules: the market's, or the marks of positions if there is no market price."""
        self._publish(self._thresholds.prices(self._price_of, self._clock.monotonic()))

    def _price_of(self, symbol: str) -> Decimal | None:
        price = None if self._market is None else self._market.mark_named(symbol)
        return price or self._marks.get(symbol)

    def accounts_changed(self, snapshot: Snapshot[ProductRow[FuturesAccount]], positions: Sequence[Position]) -> None:
        """Check the margin ratio of accounts and isolated positions."""
        if snapshot.error is None and self._has_rules_of(RuleKind.MARGIN_RATIO_ABOVE):
            ratio = totals_of([row.record for row in snapshot.rows], positions).worst_margin_ratio
            self._publish(self._thresholds.margin_ratio(ratio, self._clock.monotonic()))

    def today_changed(self, usdt: Decimal, part: Decimal | None) -> None:
        """Check today's result, in USDT and as a fraction if known."""
        self._publish(self._thresholds.today(usdt, part, self._clock.monotonic()))

    def link_is(self, state: LinkState, sentence: str) -> None:
        self._publish(self._detector.link_is(state, sentence))

    def reversal_went_on(self, sent: Sent, progress: Progress, zone: tzinfo) -> None:
        alerted = self._publish(self._detector.reversal_went_on(sent, progress, zone))
        if progress.stage is SearchStage.ENDED and not alerted:
            self.delivery.end_shown(sent.intent)

    def _may_be_of_trigger(self, fill: ProductRow[FuturesFill]) -> bool:
        """Whether a waiting trigger may have made a fill, whose sentence is then the trigger's."""
        return fill.record.symbol.upper() in self._waiting_symbols and not self._detector.is_pending(fill)

    def _publish_due(self) -> None:
        self._publish(self._detector.take_due(self._clock.monotonic()))
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due_s = self._detector.next_due_s
        if due_s is not None and not self._stopped:
            delay = max(0.0, due_s - self._clock.monotonic())
            self._timer = asyncio.get_running_loop().call_later(delay, self._publish_due)

    async def silence(self, name: str, *, on: bool) -> None:
        """Silence a rule, or end that, in every session of the profile; raises OSError."""

        def silenced(before: AlertChoices) -> AlertChoices:
            return before._replace(silenced=before.silenced | {name} if on else before.silenced - {name})

        await self._choose(silenced)

    async def add(self, rule: Rule) -> None:
        """Store a rule made on the screen, replacing one of the same name; raises OSError."""

        def added(before: AlertChoices) -> AlertChoices:
            others = (made for made in before.made if made.name != rule.name)
            return before._replace(silenced=before.silenced - {rule.name}, made=(*others, rule))

        await self._choose(added)

    async def delete(self, name: str) -> None:
        """Delete a rule that was made on the screen; raises OSError."""

        def without(before: AlertChoices) -> AlertChoices:
            others = tuple(rule for rule in before.made if rule.name != name)
            return before._replace(silenced=before.silenced - {name}, made=others)

        await self._choose(without)

    async def _choose(self, change: Callable[[AlertChoices], AlertChoices]) -> None:
        """Change the stored choices, read again because another session may have changed them."""
        choices = change(await self._disk.run(self.settings.choices.read))
        await self._disk.run(self.settings.choices.write, choices)
        self._use(choices)

    def foretell(
        self,
        condition: Condition,
        positions: Sequence[Position],
        accounts: Sequence[ProductRow[FuturesAccount]],
        today: TodayResult | None,
    ) -> Foretold:
        """Return the sentence of a rule that is about to be made, from present figures."""
        detector = ThresholdDetector([condition])
        events = [] if today is None else detector.today(today.amount, today.part, 0.0)
        events += detector.positions(positions, 0.0)
        events += detector.prices(self._price_of, 0.0)
        ratio = totals_of([row.record for row in accounts], positions).worst_margin_ratio
        events += detector.margin_ratio(ratio, 0.0)
        if events:
            return Foretold(events[0].sentence, fires_at_once=True)
        if condition.level is None:
            return Foretold(one_sentence(self._detector.example(condition)))
        equity = today.amount / today.part if today is not None and today.part else None
        return Foretold(one_sentence(sentence_at_level(condition, positions, self._price_of(condition.symbol), equity)))

    def test(self, rule: Rule) -> None:
        """Send a test through the channels of a rule, silenced or not."""
        now = Moment.now(self._clock)
        event = AlertEvent(
            kinds=frozenset({rule.condition.kind}),
            key=f"test|{self._owner}|{now.monotonic_s}",
            sentence=one_sentence(f'This is a test of the alert "{rule.name}": nothing has happened'),
            symbol=rule.condition.symbol,
        )
        self._show(Alert(event, now.at_ms, rule.channels, (rule.name,), test=True))

    def _publish(self, events: Iterable[AlertEvent]) -> bool:
        """Show the events that match a rule; False if none did."""
        alerted = False
        for event in events:
            alert = alert_of(event, self.rules, self.choices.silenced, self._clock.wall_ms())
            if alert is not None:
                self._show(alert)
                alerted = True
        return alerted

    def _show(self, alert: Alert) -> None:
        if alert.channels:
            self.newest = alert
            self.unseen += 1
            self._tell(alert)
        self.delivery.begin(alert, lambda: self._sounding(alert.event))

    async def _sounding(self, event: AlertEvent) -> frozenset[Channel]:
        """Return an event's channels by the rules silenced now: another session may have silenced some."""
        await self.read_choices()
        alert = alert_of(event, self.rules, self.choices.silenced, self._clock.wall_ms())
        return alert.channels if alert is not None else frozenset()


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule with its state: silenced or not, and why it cannot fire, if so."""

    rule: Rule
    silenced: bool
    impossible: str
    made_here: bool = False
    """Whether it was made on the screen, where it can be deleted."""

    @property
    def row_id(self) -> str:
        """The rule's name, which is unique in the profile."""
        return self.rule.name

    @property
    def state(self) -> str:
        if self.impossible:
            return f"cannot fire: {self.impossible}"
        return "silenced" if self.silenced else "on"


def channel_names(rule: Rule) -> str:
    return ", ".join(channel for channel in Channel if channel in rule.channels)


def rule_columns(rows: Sequence[RuleRow]) -> tuple[Column[RuleRow], ...]:
    """Return the columns of the list; without the condition if it is already the name of every rule."""
    is_named = any(row.rule.name != row.rule.condition.sentence for row in rows)
    return tuple(column for column in _RULE_COLUMNS if is_named or column.id != "when")


def _state_tone(row: RuleRow) -> Tone:
    if row.impossible:
        return Tone.WARN
    return Tone.MUTED if row.silenced else Tone.PLAIN


def logged_at(row: LoggedAlert) -> datetime:
    return utc_moment(row.at_ms)


_RULE_COLUMNS: Final[tuple[Column[RuleRow], ...]] = ranked(
    text_column("name", "Alert", 34, lambda row: row.rule.name),
    Column("state", "State", 10, lambda row: row.state, lambda row, _: row.state, tone=_state_tone),
    text_column("to", "To", 30, lambda row: channel_names(row.rule)),
    text_column("when", "When", 30, lambda row: row.rule.condition.sentence),
    kept_longest="name,state,to,when",
)
LOG_COLUMNS: Final[tuple[Column[LoggedAlert], ...]] = ranked(
    time_column("at", "Time", logged_at, received=False),
    text_column("sentence", "What happened", 90, lambda row: row.sentence),
    text_column("delivery", "To", 30, lambda row: row.delivery),
    text_column("rules", "Alert", 30, lambda row: row.rules),
    kept_longest="sentence,at,delivery,rules",
)
