"""The reversal plan: the table of rules with its worked cases, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trading.position_fills import USDT
from tradetui.trading.holdings import Holdings, Legs, Net
from tradetui.trading.reversal import CannotReverse, ReversalParams, ReversalPlan, opening_risks, plan_reversal
from tradetui.wire.enums import PositionMode, Side
from tradetui.wire.models.public import Contract

SIZES = st.sampled_from([0, 3, 8]).flatmap(
    lambda places: st.decimals(min_value=Decimal(1).scaleb(-places), max_value=10**12, places=places)
)
NOTHING = st.just(Decimal(0))


def plan(held: Holdings, side: str | None = None, size: str | None = None, **more: Any) -> ReversalPlan:
    mode = PositionMode.HEDGE if isinstance(held, Legs) else PositionMode.ONE_WAY
    params = ReversalParams(
        product_type=USDT,
        symbol="BTCUSDT",
        margin_coin="USDT",
        mode=mode,
        held=held,
        side=None if side is None else Side(side),
        size=None if size is None else Decimal(size),
        **more,
    )
    return plan_reversal(params)


def legs(long: str, short: str = "0") -> Legs:
    return Legs(Decimal(long), Decimal(short))


@pytest.mark.parametrize(
    ("held", "side", "size", "after"),
    [
        (legs("20"), "buy", "3", legs("17", "3")),
        (legs("10"), "buy", "10", legs("0", "10")),
        (legs("10"), "buy", "11", legs("0", "10")),
        (legs("20", "5"), "buy", "3", legs("17", "8")),
        (legs("10"), "buy", None, legs("0", "10")),
        (legs("0", "20"), "sell", "3", legs("3", "17")),
        (legs("0", "10"), "sell", "11", legs("10", "0")),
        (legs("5", "20"), "sell", "3", legs("8", "17")),
    ],
)
def test_hedge_worked_cases(held: Legs, side: str, size: str | None, after: Legs) -> None:
    made = plan(held, side, size)
    assert [result.after for result in made.results] == [after]
    assert not made.uncertain


@pytest.mark.parametrize(
    ("net", "size", "after"),
    [
        ("10", None, ["-10"]),
        ("-10", None, ["10"]),
        ("10", "3", ["4", "-10"]),
        ("-10", "3", ["-4", "10"]),
        ("10", "10", ["-10"]),
        ("10", "11", ["-10"]),
    ],
)
def test_one_way_worked_cases(net: str, size: str | None, after: list[str]) -> None:
    made = plan(Net(Decimal(net)), None, size)
    assert [result.after for result in made.results] == [Net(Decimal(size)) for size in after]
    assert made.uncertain is (len(after) > 1)


def test_hedge_requests_carry_side_trade_side_and_the_whole_size() -> None:
    fields = plan(legs("2.5"), "buy").request_fields()
    assert fields == {
        "symbol": "BTCUSDT",
        "marginCoin": "USDT",
        "productType": "USDT-FUTURES",
        "size": "2.5",
        "side": "buy",
        "tradeSide": "Open",
    }


@pytest.mark.parametrize(
    ("one_way_side", "net", "side"),
    [
        ("omit", "1", None),
        ("held", "1", "buy"),
        ("held", "-1", "sell"),
        ("order", "1", "sell"),
        ("order", "-1", "buy"),
    ],
)
def test_one_way_requests_carry_no_trade_side(one_way_side: str, net: str, side: str | None) -> None:
    fields = plan(Net(Decimal(net)), None, None, one_way_side=one_way_side).request_fields()
    assert "tradeSide" not in fields
    assert "size" not in fields
    assert fields.get("side") == side


@pytest.mark.parametrize(
    ("held", "side", "size"),
    [
        (legs("0", "5"), "buy", None),
        (legs("5"), "sell", None),
        (legs("5"), None, None),
        (Net(), None, None),
        (legs("5"), "buy", "0"),
        (Net(Decimal(5)), None, "-1"),
    ],
)
def test_what_cannot_be_reversed_is_refused_before_anything_is_sent(
    held: Holdings, side: str | None, size: str | None
) -> None:
    with pytest.raises(CannotReverse):
        plan(held, side, size)


@pytest.mark.parametrize(
    ("held", "side", "sentence"),
    [
        (Net(Decimal("0.061")), "sell", "No SHORT of BTCUSDT is held. Held is LONG 0.061"),
        (Net(Decimal("-2")), "buy", "No LONG of BTCUSDT is held. Held is SHORT 2"),
        (legs("0", "5"), "buy", "No LONG of BTCUSDT is held. Held is SHORT 5"),
        (legs("0"), "buy", "No LONG of BTCUSDT is held. There is nothing to reverse"),
        (legs("0"), None, "No position of BTCUSDT is held. There is nothing to reverse"),
        (legs("1", "2"), None, "Both sides of BTCUSDT are held. Name one: BTCUSDT LONG or BTCUSDT SHORT"),
    ],
)
def test_a_leg_that_is_not_held_or_not_named_is_refused_by_name(
    held: Holdings, side: str | None, sentence: str
) -> None:
    with pytest.raises(CannotReverse) as refusal:
        plan(held, side)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(("net", "side"), [("1", "buy"), ("-1", "sell")])
def test_in_one_way_mode_the_side_that_is_held_may_be_named(net: str, side: str) -> None:
    made = plan(Net(Decimal(net)), side)
    assert made.results[0].after == Net(-Decimal(net))
    assert "side" not in made.request_fields()


@given(long=SIZES | NOTHING, short=SIZES | NOTHING, size=SIZES | st.none(), side=st.sampled_from(["buy", "sell"]))
def test_in_hedge_mode_as_much_as_closes_of_the_named_leg_opens_on_the_other(
    long: Decimal, short: Decimal, size: Decimal | None, side: str
) -> None:
    before = {"buy": Fraction(long), "sell": Fraction(short)}
    other = {"buy": "sell", "sell": "buy"}[side]
    size_text = None if size is None else str(size)
    if not before[side]:
        with pytest.raises(CannotReverse):
            plan(Legs(long, short), side, size_text)
        return
    moves = before[side] if size is None or Fraction(size) > before[side] else Fraction(size)
    after = {side: before[side] - moves, other: before[other] + moves}
    made = plan(Legs(long, short), side, size_text)
    (result,) = made.results
    assert isinstance(result.after, Legs)
    assert {"buy": Fraction(result.after.long), "sell": Fraction(result.after.short)} == after
    assert Fraction(result.closed) == Fraction(result.opened) == moves == Fraction(result.traded) / 2
    assert Fraction(made.request_fields()["size"]) == (before[side] if size is None else Fraction(size))
    leg, into = ("LONG", "SHORT") if side == "buy" else ("SHORT", "LONG")
    of_held = "" if moves == before[side] else f" of {exact(before[side])}"
    assert (
        made.title.replace(",", "")
        == f"Reverse BTCUSDT {leg} {exact(moves)}{of_held} into {into} {exact(after[other])}"
    )


@given(held=SIZES, is_long=st.booleans(), size=SIZES | st.none())
def test_in_one_way_mode_the_size_counts_or_all_is_reversed(held: Decimal, is_long: bool, size: Decimal | None) -> None:
    net = held if is_long else -held
    counts = {-Fraction(net)}
    if size is not None and size < held:
        counts.add(Fraction(net) + (-2 if is_long else 2) * Fraction(size))
    made = plan(Net(net), None, None if size is None else str(size))
    assert {Fraction(result.after.net) for result in made.results if isinstance(result.after, Net)} == counts
    assert len(made.results) == len(counts)
    for result in made.results:
        assert isinstance(result.after, Net)
        assert abs(Fraction(result.after.net) - Fraction(net)) == Fraction(result.traded)
        assert result.closed <= held
    assert made.request_fields().get("size") == (None if size is None else f"{size:f}")


def exact(amount: Fraction) -> str:
    """A decimal fraction in digits, without zeros at its end."""
    scale = 0
    while (amount * 10**scale).denominator != 1:
        scale += 1
    digits = str((amount * 10**scale).numerator).zfill(scale + 1)
    return digits if not scale else f"{digits[:-scale]}.{digits[-scale:]}"


def test_every_uncertainty_is_said() -> None:
    made = plan(Net(Decimal(10)), None, "3")
    assert any("not documented" in assumption for assumption in made.assumptions)


@pytest.mark.parametrize(
    ("made", "subject", "title", "meaning"),
    [
        (
            plan(legs("0.1214", "0.2934"), "sell"),
            "BTCUSDT SHORT",
            "Reverse BTCUSDT SHORT 0.2934 into LONG 0.4148",
            "sell = the short leg",
        ),
        (
            plan(legs("20", "5"), "buy", "3"),
            "BTCUSDT LONG",
            "Reverse BTCUSDT LONG 3 of 20 into SHORT 8",
            "buy = the long leg",
        ),
        (plan(Net(Decimal(10))), "BTCUSDT LONG", "Reverse BTCUSDT LONG 10 into SHORT 10", ""),
        (
            plan(Net(Decimal(10)), size="3"),
            "BTCUSDT LONG",
            "Reverse BTCUSDT LONG 3 of 10 into LONG 4 or SHORT 10",
            "",
        ),
        (
            plan(Net(Decimal(-2)), one_way_side="held"),
            "BTCUSDT SHORT",
            "Reverse BTCUSDT SHORT 2 into LONG 2",
            "sell = the short position that is held",
        ),
        (
            plan(Net(Decimal(-2)), one_way_side="order"),
            "BTCUSDT SHORT",
            "Reverse BTCUSDT SHORT 2 into LONG 2",
            "buy = the order that closes the short position",
        ),
    ],
)
def test_the_leg_is_named_and_so_is_what_its_side_means(
    made: ReversalPlan, subject: str, title: str, meaning: str
) -> None:
    assert made.subject == subject
    assert made.title == title
    assert made.side_meaning == meaning


@pytest.mark.parametrize(
    ("held", "price", "limits", "finding"),
    [
        ("0.0004", "80000", {"minTradeNum": "0.001"}, "0.0004 is below the smallest order, 0.001"),
        ("0.001", "80000", {"minTradeNum": "0.001", "minTradeUSDT": "5"}, ""),
        ("1", "2.5", {"minTradeUSDT": "5"}, "its value is below the smallest, 5 USDT"),
        ("1", None, {"minTradeUSDT": "5"}, ""),
        ("20", "80000", {"maxMarketOrderQty": "12"}, "20 is above the largest market order, 12"),
        ("20", "80000", {"maxMarketOrderQty": ""}, ""),
    ],
)
def test_a_limit_that_keeps_the_other_side_from_being_opened_is_said(
    held: str, price: str | None, limits: dict[str, str], finding: str
) -> None:
    contract = Contract.from_row({"symbol": "BTCUSDT", **limits})
    risks = opening_risks(plan(legs(held), "buy"), contract, None if price is None else Decimal(price))
    assert risks == ((f"{finding}: it may be closed and nothing opened",) if finding else ())


@pytest.mark.parametrize(
    ("held", "size", "title"),
    [
        (Legs(short=Decimal("0.477")), None, "Reverse BTCUSDT SHORT 0.4770 into LONG 0.4770"),
        (Legs(short=Decimal("0.47701")), "0.4", "Reverse BTCUSDT SHORT 0.4000 of 0.47701 into LONG 0.4000"),
        (Net(Decimal(-2)), None, "Reverse BTCUSDT SHORT 2.0000 into LONG 2.0000"),
    ],
)
def test_sizes_have_the_zeros_of_the_contract_s_step_and_the_request_has_its_own(
    held: Holdings, size: str | None, title: str
) -> None:
    known = plan(held, "sell", size)
    padded = replace(known, size_places=4)
    assert padded.title == title
    assert padded.request_fields() == known.request_fields()
