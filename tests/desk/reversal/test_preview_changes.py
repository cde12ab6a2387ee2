"""What has changed since a preview was shown is data: what, how it was, how it is now."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.trading.position_fills import position
from tests.trading.test_orders_after_reversal import order
from tests.trading.test_reversal import legs, plan
from tradetui.desk.reversal.pretrade_checks import is_typed
from tradetui.desk.reversal.preview import Change, ChangedFact, Preview, Target, changes
from tradetui.trading.estimates.cost_estimates import Basis, PriceSource
from tradetui.trading.holdings import Net
from tradetui.trading.reversal import ReversalPlan
from tradetui.wire.enums import PositionMode
from tradetui.wire.models.futures import PendingOrder
from tradetui.wire.models.futures_accounts import FuturesAccount


def basis(reversal: ReversalPlan | None, price: str | None, free: str) -> Basis | None:
    """What a plan's costs are computed from: a price, and so much free margin."""
    if reversal is None or price is None:
        return None
    account = FuturesAccount.from_row({"marginCoin": "USDT", "accountEquity": "1000", "crossedMaxAvailable": free})
    leg = position(reversal.leg.lower(), str(reversal.held_size))
    return Basis(leg, Decimal(price), PriceSource.ASK, account, None)


def shown(reversal: ReversalPlan | None, *, price: str | None = None, free: str = "1000000", **more: Any) -> Preview:
    values: dict[str, Any] = {
        "target": Target("BTCUSDT"),
        "plan": reversal,
        "mode": None if reversal is None else reversal.params.mode,
        "mode_from": "reported",
        "position": None,
        "positions": (),
        "basis": basis(reversal, price, free),
        "orders": (),
        "requested_at": 0.0,
        "read_at": 0.0,
    }
    return Preview(**{**values, **more})


UNKNOWN_WORD = "holdSide 'net' is not known."
SHORT_LEG = plan(legs("0.1214", "0.0943"), "sell")


def waiting(order_id: str, side: str, size: str) -> PendingOrder:
    return order(side, "open", size=size).model_copy(update={"order_id": order_id})


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (shown(SHORT_LEG), shown(SHORT_LEG), ()),
        (shown(None, doubts=(UNKNOWN_WORD,)), shown(None, doubts=(UNKNOWN_WORD,)), ()),
        (
            shown(SHORT_LEG),
            shown(None, doubts=(UNKNOWN_WORD,)),
            (Change(ChangedFact.NOT_POSSIBLE, SHORT_LEG.title, "holdSide 'net' is not known"),),
        ),
        (
            shown(SHORT_LEG),
            shown(plan(legs("0.1214", "0.2033"), "sell")),
            (Change(ChangedFact.SIZE, "0.0943", "0.2033"),),
        ),
        (
            shown(SHORT_LEG),
            shown(plan(legs("0", "0.0943"), "sell")),
            (Change(ChangedFact.LONG, "0.1214", "0"),),
        ),
        (
            shown(plan(legs("20"), "buy", "3")),
            shown(plan(legs("20"), "buy", "4")),
            (Change(ChangedFact.REQUEST, "3", "4", "size"),),
        ),
        (shown(plan(Net(Decimal(10)))), shown(plan(Net(Decimal(12)))), (Change(ChangedFact.SIZE, "10", "12"),)),
        (
            shown(plan(Net(Decimal(10)))),
            shown(plan(Net(Decimal(-4)))),
            (Change(ChangedFact.HELD, "LONG 10", "SHORT 4"),),
        ),
        (
            shown(SHORT_LEG, orders=(waiting("1", "buy", "1"),)),
            shown(SHORT_LEG, orders=(waiting("2", "sell", "2"),)),
            (
                Change(ChangedFact.ORDER_GONE, "buy 1 at 100.5", "none", "1"),
                Change(ChangedFact.NEW_ORDER, "none", "sell 2 at 100.5", "2"),
            ),
        ),
        (
            shown(SHORT_LEG, price="1000"),
            shown(SHORT_LEG, price="1000", free="0"),
            (Change(ChangedFact.MARGIN, "enough", "short"),),
        ),
        (shown(SHORT_LEG, price="1000"), shown(SHORT_LEG, price="1005"), ()),
        (
            shown(SHORT_LEG, price="1000"),
            shown(SHORT_LEG, price="1005.1"),
            (Change(ChangedFact.NOTIONAL, "188.60", "189.56"),),
        ),
        (
            shown(SHORT_LEG),
            shown(None),
            (
                Change(
                    ChangedFact.NOT_POSSIBLE,
                    "Reverse BTCUSDT SHORT 0.0943 into LONG 0.2157",
                    "nothing is left to reverse",
                ),
            ),
        ),
    ],
)
def test_each_change_has_what_it_was_and_what_it_is(
    before: Preview, now: Preview, expected: tuple[Change, ...]
) -> None:
    assert changes(before, now) == expected


@pytest.mark.parametrize(
    ("margin_mode", "leverage", "sentences"),
    [
        ("crossed", "10", []),
        ("CROSSED", "10.0", []),
        (None, None, []),
        ("isolated", "10", ["margin mode{leg} crossed → isolated"]),
        ("crossed", "50", ["leverage{leg} 10x → 50x"]),
    ],
)
def test_another_margin_mode_or_leverage_of_the_leg_is_a_change(
    margin_mode: str | None, leverage: str | None, sentences: list[str]
) -> None:
    reversed_leg, other_leg = position("short", "0.0943"), position("long", "0.1214")
    for leg, name in ((reversed_leg, ""), (other_leg, " LONG")):
        was = replace(leg, margin_mode="crossed", leverage=Decimal(10))
        now = replace(leg, margin_mode=margin_mode, leverage=None if leverage is None else Decimal(leverage))
        changed = changes(shown(SHORT_LEG, positions=(was,)), shown(SHORT_LEG, positions=(now,)))
        assert list(map(str, changed)) == [sentence.replace("{leg}", name) for sentence in sentences]


def test_a_change_of_mode_is_named() -> None:
    sentences = changes(shown(SHORT_LEG), shown(plan(Net(Decimal("-0.0943")))))
    assert sentences[0] == Change(ChangedFact.MODE, str(PositionMode.HEDGE), str(PositionMode.ONE_WAY))
    assert "held LONG 0.1214 and SHORT 0.0943 → SHORT 0.0943" in map(str, sentences)


def test_a_change_reads_as_a_trader_says_it() -> None:
    assert str(Change(ChangedFact.SIZE, "0.0943", "0.2033")) == "size 0.0943 → 0.2033"
    assert str(Change(ChangedFact.SIZE, "94019", "106723.5")) == "size 94,019 → 106,723.5"
    assert str(Change(ChangedFact.REQUEST, "3", "4", "size")) == "request size 3 → 4"


@pytest.mark.parametrize("typed", ["BTCUSDT SHORT", " btcusdt   short ", "BtcUsdt\tShort\n"])
def test_case_and_space_do_not_matter_in_what_is_typed(typed: str) -> None:
    assert is_typed("BTCUSDT SHORT", typed)


@pytest.mark.parametrize("typed", ["", "BTCUSDT", "BTCUSDT LONG", "BTCUSDTSHORT", "BTCUSDT SHORT 1"])
def test_anything_else_is_not_what_was_asked_for(typed: str) -> None:
    assert not is_typed("BTCUSDT SHORT", typed)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (Change(ChangedFact.NEW_ORDER, "none", "buy 1 at 2", "7"), "new order: buy 1 at 2"),
        (Change(ChangedFact.ORDER_GONE, "buy 1 at 2", "none", "7"), "order gone: buy 1 at 2"),
        (
            Change(ChangedFact.NOT_POSSIBLE, "Reverse BTCUSDT", "No position of BTCUSDT is held"),
            "Reverse BTCUSDT is not possible any more: No position of BTCUSDT is held",
        ),
        (Change(ChangedFact.POSSIBLE_AGAIN, "none", "Reverse BTCUSDT"), "Reverse BTCUSDT is possible again"),
    ],
)
def test_a_change_is_told_in_a_sentence(change: Change, sentence: str) -> None:
    assert str(change) == sentence
