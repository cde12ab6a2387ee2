"""The estimates of a reversal: the worked account of ten positions, each missing figure, and who checks the formula."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import pytest

from tests.trading.test_reversal import legs, plan
from tradetui.trading.estimates.cost_estimates import Basis, PriceSource, reversal_costs
from tradetui.trading.estimates.reversal_estimates import Estimable, ReversalEstimates, reversal_estimates
from tradetui.trading.holdings import Net
from tradetui.trading.positions import Position, reported
from tradetui.trading.reversal import ReversalPlan, plan_reversal
from tradetui.wire.enums import Side
from tradetui.wire.models.futures import TriggerOrder
from tradetui.wire.models.futures_accounts import FuturesAccount, ReportedPosition
from tradetui.wire.models.public import Contract
from tradetui.wire.product_types import ProductType

USDT = ProductType.USDT_FUTURES
SHORT = plan(legs("0.1214", "0.2934"), "sell")
"""The short leg of BTCUSDT, all of it, beside a long one."""


def leg(side: str, size: str, entry: str, **fields: Any) -> Position:
    """A crossed position of BTCUSDT at the mark of 84,197.0."""
    mark = Decimal(str(fields.pop("markPrice", "84197.0")))
    row = {
        "symbol": "BTCUSDT",
        "marginCoin": "USDT",
        "holdSide": side,
        "total": size,
        "openPriceAvg": entry,
        "leverage": "10",
        "marginMode": "crossed",
        "posMode": "hedge_mode",
        "markPrice": str(mark),
        "marginSize": str(Decimal(size) * mark / 10),
        "liquidationPrice": "183225.8",
        "keepMarginRate": "0.004",
    }
    return reported(USDT, ReportedPosition.from_row({**row, **fields}))


def account(**fields: str) -> FuturesAccount:
    """Crossed margin of 18,044.05 USDT, of which the other contracts keep 796.05."""
    row = {
        "marginCoin": "USDT",
        "accountEquity": "18044.045",
        "crossedMaxAvailable": "4783.20",
        "isolatedMaxAvailable": "4783.20",
        "crossedRiskRate": "0.04959320",
        "assetMode": "single",
    }
    return FuturesAccount.from_row({**row, **fields})


def waiting(leg_name: str, price: str, plan_type: str = "pos_loss", size: str = "0") -> TriggerOrder:
    side = "buy" if leg_name == "long" else "sell"
    return TriggerOrder.from_row(
        {
            "symbol": "BTCUSDT",
            "orderId": price.replace(".", ""),
            "planType": plan_type,
            "side": side,
            "posSide": leg_name,
            "tradeSide": "close",
            "size": size,
            "triggerPrice": price,
            "posMode": "hedge_mode",
        }
    )


CONTRACT = Contract.from_row({"symbol": "BTCUSDT", "takerFeeRate": "0.0006", "baseCoin": "BTC", "quoteCoin": "USDT"})
BASIS = Basis(
    leg("short", "0.2934", "86470.6"),
    Decimal("84197.1"),
    PriceSource.ASK,
    account(),
    CONTRACT,
    other_leg=leg("long", "0.1214", "86752.4"),
)
STOPS = [waiting("long", "82500.0"), waiting("long", "91500.0", "pos_profit"), waiting("short", "87900.0")]


def estimated(basis: Basis = BASIS, plan: ReversalPlan = SHORT, stops: list[TriggerOrder] | None = STOPS) -> Any:
    return reversal_estimates(plan, basis, reversal_costs(plan, basis), stops)


def cents(value: Decimal | None, places: str = "0.01") -> str:
    assert value is not None
    return str(value.quantize(Decimal(places), ROUND_HALF_EVEN))


def test_the_costs_of_the_worked_account() -> None:
    costs = estimated().costs
    assert cents(costs.notional) == "49406.86"
    assert cents(costs.fees) == "-29.64"
    assert cents(costs.realised) == "667.04"
    assert cents(costs.needed) == "2470.34"
    assert cents(costs.freed) == "2470.34"
    # The margin of what is opened counts at the ask, the one of what is closed at the mark.
    assert cents(costs.free_after) == "4753.49"
    assert cents(costs.entry_after, "0.1") == "84945.0"
    assert costs.margin_short is False


def test_the_risks_of_the_worked_account() -> None:
    risks = estimated().risks
    assert risks.estimable is Estimable.YES
    assert cents(risks.ratio, "0.0001") == "0.0496"
    assert cents(risks.ratio_after, "0.0001") == "0.0519"
    assert not risks.ratio_is_most
    assert risks.liquidation == Decimal("183225.8")
    assert f"{risks.liquidation_after:.4g}" == "4.286e+4"


def test_the_result_of_the_nearest_stop_of_the_worked_account() -> None:
    stop = estimated().stop
    assert stop is not None
    assert (stop.price, stop.size, stop.leg_size) == (Decimal("82500.0"), Decimal("0.4148"), Decimal("0.4148"))
    assert (cents(stop.now), cents(stop.afterwards)) == ("-516.24", "-1014.17")


@pytest.mark.parametrize(
    ("basis", "estimable"),
    [
        (
            replace(BASIS, position=leg("short", "0.2934", "86470.6", liquidationPrice="186000")),
            Estimable.DOES_NOT_MEET,
        ),
        (replace(BASIS, position=leg("short", "0.2934", "86470.6", liquidationPrice="0")), Estimable.DOES_NOT_MEET),
        (replace(BASIS, position=leg("short", "0.2934", "86470.6", liquidationPrice="")), Estimable.NOT_REPORTED),
        (
            replace(BASIS, account=account(assetMode="union", unionTotalMargin="18044.045", unionMm="894.86")),
            Estimable.SEVERAL_COINS,
        ),
        (replace(BASIS, position=leg("short", "0.2934", "86470.6", keepMarginRate="")), Estimable.TOO_LITTLE),
        (replace(BASIS, account=account(crossedRiskRate="")), Estimable.TOO_LITTLE),
        (replace(BASIS, account=None), Estimable.TOO_LITTLE),
    ],
)
def test_a_liquidation_price_that_nothing_confirms_is_not_given(basis: Basis, estimable: Estimable) -> None:
    risks = estimated(basis).risks
    assert risks.estimable is estimable
    assert risks.liquidation_after is None
    if estimable in (Estimable.DOES_NOT_MEET, Estimable.SEVERAL_COINS):
        assert cents(risks.ratio_after, "0.0001") == "0.0519", "the ratio is given all the same"
        assert risks.ratio_is_most, "how the legs are counted is not confirmed"


def test_an_exchange_that_counts_both_legs_is_seen_by_the_price_it_reports() -> None:
    """With both legs counted the account is liquidated at 183,011; the ratio then does not grow with the larger leg."""
    both = account(crossedRiskRate=str((Decimal("796.05") + Decimal("0.4148") * 84197 * Decimal("0.04")) / 18044))
    reports = {"keepMarginRate": "0.04", "liquidationPrice": "168600"}
    basis = replace(
        BASIS,
        account=both,
        position=leg("short", "0.2934", "86470.6", **reports),
        other_leg=leg("long", "0.1214", "86752.4", **reports),
    )
    risks = estimated(basis).risks
    assert risks.estimable is Estimable.YES
    assert risks.ratio is not None and risks.ratio_after is not None
    assert abs(risks.ratio_after - risks.ratio) < Decimal("0.0005")


def test_an_isolated_position_is_liquidated_by_its_own_margin() -> None:
    # 2,470.34 of margin behind a short of 0.2934 at 86,470.6, of which 0.4 % is kept.
    reported_price = (Decimal("0.2934") * Decimal("86470.6") + Decimal("2470.34")) / (
        Decimal("0.2934") * Decimal("1.004")
    )
    alone = leg(
        "short", "0.2934", "86470.6", marginMode="isolated", marginRatio="0.03", liquidationPrice=str(reported_price)
    )
    basis = replace(BASIS, position=alone, other_leg=None)
    estimates = estimated(basis, plan(legs("0", "0.2934"), "sell"))
    expected = (Decimal("0.2934") * Decimal("84197.1") - Decimal("2470.343")) / (Decimal("0.2934") * Decimal("0.996"))
    assert estimates.risks.estimable is Estimable.YES
    assert estimates.risks.ratio_is_own
    assert abs(estimates.risks.liquidation_after - expected) < 1
    realised = Decimal("667.0449")
    assert cents(estimates.costs.free_after) == cents(Decimal("4783.20") + realised - Decimal("29.6441"))


def test_an_isolated_position_whose_entry_is_zero_has_no_estimate_of_its_risks() -> None:
    row = {"symbol": "BTCUSD", "marginCoin": "BTC", "holdSide": "long", "total": "1", "openPriceAvg": "0"}
    row |= {"marginMode": "isolated", "leverage": "10", "markPrice": "80000", "marginSize": "0.1"}
    row |= {"keepMarginRate": "0.004", "liquidationPrice": "70000", "posMode": "hedge_mode"}
    held = reported(ProductType.COIN_FUTURES, ReportedPosition.from_row(row))
    coin_plan = replace(SHORT.params, product_type=ProductType.COIN_FUTURES, symbol="BTCUSD", margin_coin="BTC")
    basis = replace(BASIS, position=held, account=account(marginCoin="BTC"), other_leg=None)
    risks = estimated(basis, plan_reversal(replace(coin_plan, held=legs("1"), side=Side.BUY))).risks
    assert (risks.estimable, risks.liquidation_after) == (Estimable.TOO_LITTLE, None)


@pytest.mark.parametrize("word", ["portfolio", "crossed_isolated"])
def test_a_margin_mode_that_nobody_knows_says_nothing_of_what_stands_behind_the_position(word: str) -> None:
    assert BASIS.position is not None
    unclear = replace(BASIS.position, margin_mode=word)
    estimates = estimated(replace(BASIS, position=unclear))
    assert (estimates.costs.free, estimates.costs.free_after, estimates.costs.margin_short) == (None, None, None)
    risks = estimates.risks
    assert (risks.ratio, risks.ratio_after, risks.liquidation_after) == (None, None, None)
    assert risks.estimable is Estimable.UNKNOWN_MODE
    assert risks.liquidation == estimated().risks.liquidation, "what is reported is shown as it came"


def test_without_fees_prices_or_stops_nothing_is_made_up() -> None:
    nothing = estimated(replace(BASIS, price=None, contract=None), stops=None)
    costs = nothing.costs
    assert (costs.notional, costs.fees, costs.realised, costs.needed, costs.free_after) == (None,) * 5
    assert costs.margin_short is None
    assert nothing.stop is None
    assert nothing.risks.ratio_after is None
    assert nothing.risks.liquidation == Decimal("183225.8")


@pytest.mark.parametrize(("free", "short"), [("29.71", False), ("29.70", True), ("0", True)])
def test_margin_is_short_where_free_margin_with_what_closing_frees_does_not_cover_it(free: str, short: bool) -> None:
    # Closing and opening need the same; what is left to pay is the fee and the spread, 29.7028.
    assert estimated(replace(BASIS, account=account(crossedMaxAvailable=free))).costs.margin_short is short


def test_a_leg_without_a_stop_says_which_one_ends_with_the_other_leg() -> None:
    stop = estimated(stops=[waiting("short", "87900.0")]).stop
    assert stop is not None
    assert (stop.price, stop.afterwards, stop.ending) == (None, None, Decimal("87900.0"))
    assert cents(stop.now) == cents(Decimal("0.2934") * (Decimal("86470.6") - Decimal("87900.0")))


def test_a_stop_of_a_part_closes_that_part_and_the_first_to_fire_counts() -> None:
    stop = estimated(stops=[waiting("long", "80000"), waiting("long", "82500", "loss_plan", size="0.1")]).stop
    assert stop is not None
    assert (stop.price, stop.size) == (Decimal("82500"), Decimal("0.1"))
    assert cents(stop.now) == cents(Decimal("0.1") * (Decimal("82500") - Decimal("86752.4")))


def test_a_stop_that_only_the_position_names_counts_and_says_so() -> None:
    protected = replace(BASIS, other_leg=leg("long", "0.1214", "86752.4", stopLoss="82500"))
    stop = estimated(protected, stops=[waiting("short", "87900.0")]).stop
    assert stop is not None
    assert (stop.price, stop.is_only_reported, stop.others_unread) == (Decimal(82500), True, False)
    assert (cents(stop.now), cents(stop.afterwards)) == ("-516.24", "-1014.17")
    unread = estimated(protected, stops=None)
    assert unread.stop is not None and unread.stop.others_unread
    assert unread.rows()[-1].basis.endswith("only the position reports this stop; other waiting stops cannot be read")
    assert not estimated(protected).stop.is_only_reported, "an order of it waits"
    nearer = estimated(protected, stops=[waiting("long", "83000")]).stop
    assert nearer is not None and (nearer.price, nearer.is_only_reported) == (Decimal(83000), False)


def test_a_stop_that_only_the_position_names_ends_with_the_leg_it_was_made_for() -> None:
    stop = estimated(replace(BASIS, position=leg("short", "0.2934", "86470.6", stopLoss="87900")), stops=[]).stop
    assert stop is not None
    assert (stop.price, stop.ending) == (None, Decimal(87900))


def one_way_stop(side: str, price: str, plan_type: str = "pos_loss") -> TriggerOrder:
    row = {"symbol": "BTCUSDT", "orderId": price, "planType": plan_type, "side": side, "size": "0"}
    return TriggerOrder.from_row({**row, "triggerPrice": price, "posMode": "one_way_mode"})


ONE_WAY_BASIS = replace(BASIS, position=leg("short", "0.2934", "86470.6", posMode="one_way_mode"), other_leg=None)
SHORT_NET = plan(Net(Decimal("-0.2934")))


def test_in_one_way_mode_a_stop_belongs_to_the_side_that_it_closes() -> None:
    ending = estimated(ONE_WAY_BASIS, SHORT_NET, [one_way_stop("buy", "87900")]).stop
    assert ending is not None
    assert (ending.leg.upper(), ending.price, ending.ending) == ("LONG", None, Decimal(87900))
    own = estimated(ONE_WAY_BASIS, SHORT_NET, [one_way_stop("buy", "87900"), one_way_stop("sell", "82500")]).stop
    assert own is not None
    assert (own.price, own.size, cents(own.afterwards)) == (Decimal(82500), Decimal("0.2934"), "-497.93")
    trailing = estimated(ONE_WAY_BASIS, SHORT_NET, [one_way_stop("sell", "82500", "moving_plan")]).stop
    assert trailing is not None and trailing.trails


def test_a_result_that_is_uncertain_is_estimated_as_the_larger_one() -> None:
    net = leg("short", "0.2934", "86470.6", posMode="one_way_mode")
    part = plan(Net(Decimal("-0.2934")), size="0.1")
    assert part.uncertain
    assert estimated(replace(BASIS, position=net, other_leg=None), part).costs.traded == Decimal("0.5868")


def test_the_rows_name_the_coins_of_the_contract() -> None:
    estimates: ReversalEstimates = estimated()
    coins = {row.name: row.coin for row in estimates.rows()}
    assert (coins["traded"], coins["notional"], coins["fees"]) == ("BTC", "USDT", "USDT")
