"""The alerts of an account that is a row among others: what a row alone can tell, with the account's name in front."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tradetui.desk.events.detector import AlertDetector
from tradetui.desk.events.rules import Alert, AlertEvent, Rule, RuleKind, alert_of, one_sentence
from tradetui.desk.events.thresholds import ThresholdDetector
from tradetui.desk.feeds.polling.session_health import Health
from tradetui.desk.overview.account_row import AccountRow
from tradetui.exchange.clock import Moment


class RowAlerts:
    """Compares each state of a row with the account's rules: margin, liquidation, results, link and outcomes."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._thresholds = ThresholdDetector(rule.condition for rule in rules)
        self._detector = AlertDetector()
        self._unknown_outcomes: frozenset[str] = frozenset()

    def of(self, row: AccountRow, health: Health, now: Moment) -> list[Alert]:
        """Return the alerts of what has happened since the last state."""
        alerts = []
        for event in self._events(row, health, now.monotonic_s):
            named = event._replace(sentence=one_sentence(f"{row.name}: {event.sentence}"))
            if (alert := alert_of(named, self._rules, frozenset(), now.at_ms)) is not None:
                alerts.append(alert)
        return alerts

    def _events(self, row: AccountRow, health: Health, now_s: float) -> Iterator[AlertEvent]:
        yield from self._detector.link_is(health.state, health.sentence)
        if not row.is_late:
            yield from self._thresholds.margin_ratio(row.margin_ratio, now_s)
            yield from self._thresholds.positions(row.positions or (), now_s)
        if row.unknown_outcomes is None:
            return
        for symbol in set(row.unknown_outcomes) - self._unknown_outcomes:
            sentence = f"Outcome unknown: {symbol} stays locked until it is settled or released; the journal shows it"
            yield AlertEvent(
                kinds=frozenset({RuleKind.OUTCOME_UNKNOWN}),
                key=f"outcome|{symbol}",
                sentence=one_sentence(sentence),
                symbol=symbol,
                recurs=True,
                stays=True,
            )
        self._unknown_outcomes = frozenset(row.unknown_outcomes)
