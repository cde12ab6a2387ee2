"""The form of a new alert: its subject, its level and its channels, with the sentence that it would show."""

from __future__ import annotations

from textual.app import ComposeResult

from tradetui.desk.desk import Desk
from tradetui.desk.events.rules import Channel, Condition, Rule, RuleKind
from tradetui.desk.events.typed_rule import (
    CHANNELS,
    RULE_FIELDS,
    RULE_KIND,
    SYMBOL,
    THRESHOLD,
    TypedRule,
    read_rule,
    threshold_rule,
)
from tradetui.ui.dialogs.parameter_form import ParameterForm
from tradetui.ui.safe_text import notify, sanitized

_TITLES = {RULE_KIND: "About", SYMBOL: "Symbol", THRESHOLD: "Threshold", CHANNELS: "Goes to"}
_HINTS = {RULE_KIND: "→ completes", SYMBOL: "every symbol", THRESHOLD: "", CHANNELS: ""}


class NewAlertDialog(ParameterForm[None]):
    """Stores the alert for the profile, besides those of the configuration, which it does not change."""

    def __init__(self, desk: Desk, symbol: str = "") -> None:
        super().__init__(classes="dialog -form")
        self._desk = desk
        self._first_texts = {RULE_KIND: str(RuleKind.LIQUIDATION_NEARER) if symbol else "", SYMBOL: symbol}
        self._first_texts |= {THRESHOLD: "5" if symbol else "", CHANNELS: f"{Channel.LINE}, {Channel.BELL}"}

    def compose(self) -> ComposeResult:
        with self.framed("New alert", "Tab next · Enter makes it · Esc back"):
            for field in RULE_FIELDS:
                text = self._first_texts[field.name]
                yield from self.field_lines(field, _TITLES[field.name], text, _HINTS[field.name])
            yield from self.buttons("Make", harmless=True)

    def _read(self) -> TypedRule:
        alerts = self._desk.alerts
        typed = read_rule(self.texts, has_command=alerts.settings.command is not None)
        if typed.rule is not None and alerts.is_written(typed.rule.name):
            return TypedRule(None, {RULE_KIND: f"the configuration has {typed.rule.name!r}: change it there"})
        return typed

    def check(self) -> None:
        rule, problems = self._read()
        for field in RULE_FIELDS:
            is_open = self.is_typed_in(f"field-{field.name}") or not self.texts[field.name]
            self.show_problem(f"problem-{field.name}", sanitized("" if is_open else problems.get(field.name, "")))
        focused = self.focused_id("field-")
        rules = {field.name: field.rule for field in RULE_FIELDS} | {THRESHOLD: threshold_rule(self.texts[RULE_KIND])}
        if rule is None:
            about = [self.to_correct(_TITLES[name] for name in _TITLES if name in problems)]
        else:
            about = [f"Alert: {rule.name}. {self._what_follows(rule.condition)}"]
            if any(made.name == rule.name for made in self._desk.alerts.choices.made):
                about.append("It replaces the one of this name.")
        if focused in rules:
            about.append(f"{_TITLES[focused]}: {rules[focused]}.")
        self.show_result(acceptable=rule is not None, about=about)

    def _what_follows(self, condition: Condition) -> str:
        """Return the sentence that the alert would have, and whether it comes at once."""
        desk = self._desk
        rows = desk.positions.snapshot.rows, desk.accounts.snapshot.rows
        sentence, fires_at_once = desk.alerts.foretell(condition, *rows, desk.today(alerting=True))
        if fires_at_once:
            return f"It fires at once: {sentence}."
        if not sentence:
            return f"It waits: {'there is no such figure now' if condition.level is not None else 'none was read yet'}."
        return f"{'It says' if condition.level is not None else 'It says, for example'}: {sentence}."

    def confirm(self) -> None:
        rule, _ = self._read()
        if rule is not None:
            self.run_worker(self._keep(rule), exit_on_error=False)

    async def _keep(self, rule: Rule) -> None:
        try:
            await self._desk.alerts.add(rule)
        except OSError as problem:
            self.give_reason(f"The alert could not be kept: {problem}")
            return
        notify(self.app, f"Alert made: {rule.name}.")
        self.dismiss(None)
