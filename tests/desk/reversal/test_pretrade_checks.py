"""Every rule that is asked before a reversal is sent, one by one, on a preview to which no other rule objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.desk.reversal.test_preview_changes import shown
from tests.exchange.scripted_exchange import NoBudget
from tests.trading.position_fills import position
from tests.trading.test_reversal import legs, plan
from tradetui.desk.intents.intents import SendsNothing
from tradetui.desk.reversal.pretrade_checks import RiskContext, blocking_reasons
from tradetui.desk.reversal.preview import EXPIRES_S, Preview
from tradetui.desk.settings import DeskSettings, Environment
from tradetui.exchange.clock import ServerClock, SystemClock
from tradetui.exchange.connection_status import ConnectionStatus
from tradetui.wire.models.public import Contract
from tradetui.wire.product_types import ProductType

CONTRACT = {"symbol": "BTCUSDT", "symbolStatus": "normal", "minTradeNum": "0.01", "sizeMultiplier": "0.01"}
SETTINGS = DeskSettings(
    name="main", environment=Environment.DEMO, product_types=(ProductType.USDT_FUTURES,), read_only=False
)


def context(**more: Any) -> RiskContext:
    clock = SystemClock()
    return RiskContext(
        **{
            "settings": SETTINGS,
            "connection_status": ConnectionStatus(clock, ServerClock(clock), NoBudget()),
            "sends_nothing": (),
            "open_intent": None,
            "journal_trouble": None,
            "now": 0.0,
            **more,
        }
    )


def preview(size: str = "1", contract: Mapping[str, str] = CONTRACT) -> Preview:
    return shown(plan(legs("20"), "buy", size), price="100", contract=Contract.from_row(dict(contract)))


def test_nothing_stands_against_a_preview_that_keeps_every_rule() -> None:
    assert blocking_reasons(preview(), context(), "") == ()


@pytest.mark.parametrize(
    ("contract", "size", "reason"),
    [
        (
            {"symbolStatus": "maintain"},
            "1",
            "The contract's status is maintain; orders are sent only while it is normal.",
        ),
        ({"symbolStatus": "moon"}, "1", "The contract's status is moon; orders are sent only while it is normal."),
        ({"minTradeNum": "2"}, "1", "The size must be at least 2."),
        ({"sizeMultiplier": "0.3"}, "1", "The size must be a multiple of 0.3."),
    ],
)
def test_a_rule_of_the_contract_that_is_broken_is_the_only_reason(
    contract: dict[str, str], size: str, reason: str
) -> None:
    assert blocking_reasons(preview(size, {**CONTRACT, **contract}), context(), "") == (reason,)


@pytest.mark.parametrize("field", ["symbolStatus", "minTradeNum", "sizeMultiplier"])
def test_a_rule_that_the_exchange_does_not_give_forbids_nothing(field: str) -> None:
    contract = {name: value for name, value in CONTRACT.items() if name != field}
    assert blocking_reasons(preview(contract=contract), context(), "") == ()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"symbols": frozenset({"ETHUSDT"})}, "BTCUSDT is not among the profile's symbols"),
        ({"max_reversal_size": Decimal("0.5")}, "The size 1 is above max_reversal_size 0.5."),
        ({"max_reversal_value": Decimal(99)}, "is above max_reversal_value 99."),
        ({"typed_above": Decimal(99)}, "Type BTCUSDT LONG to go on."),
        ({"environment": Environment.LIVE}, "Type BTCUSDT LONG to go on."),
    ],
)
def test_a_limit_of_the_profile_is_the_only_reason(settings: dict[str, Any], reason: str) -> None:
    reasons = blocking_reasons(preview(), context(settings=replace(SETTINGS, **settings)), "")
    assert len(reasons) == 1 and reason in reasons[0]


def test_limits_that_are_met_forbid_nothing() -> None:
    limits: dict[str, Any] = {
        "max_reversal_size": Decimal(1),
        "max_reversal_value": Decimal(1000),
        "symbols": frozenset({"BTCUSDT"}),
    }
    assert blocking_reasons(preview(), context(settings=replace(SETTINGS, **limits)), "") == ()


def test_a_notional_that_is_not_known_cannot_be_held_to_a_limit() -> None:
    unpriced = shown(plan(legs("20"), "buy", "1"))
    limited = replace(SETTINGS, max_reversal_value=Decimal(1000))
    assert blocking_reasons(unpriced, context(settings=limited), "") == (
        "The value is not known, so it cannot be compared with max_reversal_value.",
    )


def test_limits_are_held_to_the_mark_where_an_empty_order_book_gives_a_bid_of_next_to_nothing() -> None:
    reversal = plan(legs("20"), "buy", "1")
    marked = replace(position("long", "20"), mark=Decimal(100))
    limited = replace(SETTINGS, max_reversal_value=Decimal(199))
    reasons = blocking_reasons(shown(reversal, price="0.1", position=marked), context(settings=limited), "")
    assert reasons == ("The value 200.00 is above max_reversal_value 199.",)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"sends_nothing": (SendsNothing.LOCKED,)}, "Trading is locked."),
        ({"open_intent": "of 14:03"}, "An earlier reversal of this symbol is not settled (of 14:03)."),
        ({"journal_trouble": "the disk is full"}, "The journal cannot be used: the disk is full"),
        ({"sends_nothing": (SendsNothing.KEY_READS_ONLY,)}, "This API key can only read"),
        ({"now": EXPIRES_S + 0.1}, "The preview is older than 10 s"),
    ],
)
def test_a_state_of_the_session_is_the_only_reason(state: dict[str, Any], reason: str) -> None:
    reasons = blocking_reasons(preview(), context(**state), "")
    assert len(reasons) == 1 and reason in reasons[0]
