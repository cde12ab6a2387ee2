"""Every outcome is told apart by what is held, and the orders that go against it are remembered."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.trading.test_orders_after_reversal import order, stop
from tests.trading.test_reversal import legs, plan
from tradetui.desk.reversal.outcome import (
    LONGEST_READ_S,
    OrdersAgainst,
    Outcome,
    matched_result,
    name_outcome,
)
from tradetui.trading.holdings import Holdings, Net
from tradetui.trading.orders_after_reversal import resting_after


@pytest.mark.parametrize(
    ("held", "outcome"),
    [
        (legs("17", "8"), Outcome.REVERSED),
        (legs("17", "6"), Outcome.SMALLER),
        (legs("17", "5"), Outcome.CLOSED_ONLY),
        (legs("18", "5"), Outcome.REMAINDER),
        (legs("17", "11"), Outcome.LARGER),
        (legs("20", "5"), Outcome.UNCHANGED),
        (legs("20", "8"), Outcome.OTHER),
        (Net(Decimal(17)), Outcome.MODE_CHANGED),
    ],
)
def test_hedge(held: Holdings, outcome: Outcome) -> None:
    made = plan(legs("20", "5"), "buy", "3")
    assert name_outcome(made, held) is outcome
    assert name_outcome(made, held, liquidated=True) is Outcome.LIQUIDATED


@pytest.mark.parametrize(
    ("net", "outcome"),
    [
        ("-10", Outcome.REVERSED),
        ("-4", Outcome.SMALLER),
        ("0", Outcome.CLOSED_ONLY),
        ("4", Outcome.REMAINDER),
        ("-20", Outcome.LARGER),
        ("10", Outcome.UNCHANGED),
        ("15", Outcome.OTHER),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_one_way(net: str, outcome: Outcome, sign: int) -> None:
    made = plan(Net(Decimal(10) * sign))
    assert name_outcome(made, Net(Decimal(net) * sign)) is outcome


def test_the_result_that_came_true_is_named() -> None:
    made = plan(Net(Decimal(10)), None, "3")
    assert "size counts" in (matched_result(made, Net(Decimal(4))) or "")
    assert "ignored" in (matched_result(made, Net(Decimal(-10))) or "")
    assert matched_result(made, Net(Decimal(1))) is None


def test_a_word_that_another_version_wrote_into_the_journal_is_not_as_previewed() -> None:
    assert str(Outcome("other")) == "not as previewed"


def left_by_reversal(now_s: float = 100.0) -> OrdersAgainst:
    """A one-way LONG of 10 was reversed; a stop of it and a sell order add to the SHORT, a buy order does not."""
    made, held = plan(Net(Decimal(10))), Net(Decimal(-10))
    orders = [order("sell", order_id="1"), order("buy", order_id="2", price="90")]
    against = OrdersAgainst()
    resting = resting_after(made, orders, [stop("pos_loss", "sell", price="95")], held)
    against.take("BTCUSDT", resting, now_s)
    return against


SELLS = "BTCUSDT sell 2 at 100.5: ADDS TO THE NEW SHORT"
STOPS = "BTCUSDT stop-loss whole LONG at 95: ADDS TO THE NEW SHORT"


def test_orders_against_a_reversal_are_named_until_a_later_read_lacks_them() -> None:
    against = left_by_reversal()
    assert against.sentence == f"{STOPS}, and 1 more"
    against.drop_gone([], 100.0 + LONGEST_READ_S / 2, in_book=True)
    against.drop_gone(["1"], 200.0, in_book=True)
    against.drop_gone(["8"], 200.0, in_book=False)
    assert against.sentence == f"{STOPS}, and 1 more", "one read began too early, the others have them"
    against.drop_gone([], 200.0, in_book=False)
    assert against.sentence == SELLS
    against.drop_gone(["2"], 200.0, in_book=True)
    assert against.sentence == ""


def test_orders_against_a_reversal_are_named_until_the_next_one_or_until_they_were_seen() -> None:
    against = left_by_reversal()
    against.take("ETHUSDT", (), 200.0)
    assert against.sentence, "that was of another symbol"
    against.take("BTCUSDT", (), 200.0)
    assert against.sentence == ""
    against = left_by_reversal()
    against.note_seen()
    assert against.sentence == ""
