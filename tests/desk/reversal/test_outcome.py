"""Every outcome is told apart by what is held."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.trading.test_reversal import legs, plan
from tradetui.desk.reversal.outcome import Outcome, matched_result, name_outcome
from tradetui.trading.holdings import Holdings, Net


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
