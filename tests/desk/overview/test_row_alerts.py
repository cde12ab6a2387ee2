"""Alerts of an account that is a row: each names it, and what stands still is news once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import pytest

from tests.desk.fixtures.several_accounts import SeveralAccounts, silence
from tests.trading.position_fills import position
from tradetui.desk.events.rules import DEFAULT_RULES, Alert, Condition, RuleKind, rule_of
from tradetui.desk.feeds.polling.session_health import Health, LinkState
from tradetui.desk.overview.account_row import AccountRow, RowState
from tradetui.desk.overview.row_alerts import RowAlerts
from tradetui.exchange.clock import Moment

RULES: Final = (
    *DEFAULT_RULES,
    rule_of(Condition(RuleKind.MARGIN_RATIO_ABOVE, level=Decimal(50))),
    rule_of(Condition(RuleKind.LIQUIDATION_NEARER, level=Decimal(5))),
)
CONNECTED: Final = Health(LinkState.CONNECTED)


def row(**changed: Any) -> AccountRow:
    fields: dict[str, Any] = {"state": RowState.READ, "is_late": False, "unknown_outcomes": (), **changed}
    return AccountRow(names=("scalps", "again"), environment="LIVE", **fields)


def sentences(alerts: list[Alert]) -> list[str]:
    return [alert.sentence for alert in alerts]


def test_margin_liquidation_link_and_outcome_are_alerted_once_with_the_name_of_the_account() -> None:
    alerts, now = RowAlerts(RULES), Moment(0)
    near = replace(position("long", "1"), mark=Decimal(100), liquidation=Decimal(97))
    calm = row(margin_ratio=Decimal("0.1"))
    assert alerts.of(calm, CONNECTED, now) == []
    for changed, health, beginning in (
        (row(margin_ratio=Decimal("0.6")), CONNECTED, "scalps: Margin ratio"),
        (row(positions=(near,)), CONNECTED, "scalps: "),
        (row(unknown_outcomes=("BTCUSDT",)), CONNECTED, "scalps: Outcome unknown: BTCUSDT"),
        (calm, Health(LinkState.DOWN, "no answer"), "scalps: Link lost: no answer"),
    ):
        first = sentences(alerts.of(changed, health, now))
        assert len(first) == 1 and first[0].startswith(beginning), first
        assert alerts.of(changed, health, now) == [], "it is no news twice"
    assert sentences(alerts.of(calm, CONNECTED, now)) == ["scalps: Link back: the exchange answers again"]


def test_figures_that_are_late_are_compared_with_no_level() -> None:
    assert RowAlerts(RULES).of(row(margin_ratio=Decimal("0.9"), is_late=True), CONNECTED, Moment(0)) == []


def test_without_a_rule_nothing_is_alerted() -> None:
    assert RowAlerts(()).of(row(unknown_outcomes=("BTCUSDT",)), CONNECTED, Moment(0)) == []


@pytest.mark.looptime
async def test_an_overview_passes_on_the_alerts_of_every_account() -> None:
    several = SeveralAccounts(["hedge", "coin"])
    several.rules = RULES
    alerted: list[tuple[str, str]] = []
    several.overview.alerted = lambda account, alert: alerted.append((account.name, alert.sentence))
    async with several.watched():
        assert alerted == []
        several.apps["coin"] = silence
        await asyncio.sleep(30)
        assert [name for name, _ in alerted] == ["coin"]
        assert alerted[0][1].startswith("coin: Link lost: ")
